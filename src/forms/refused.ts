import type { ApiError } from '../errors.ts';
import type { PostKind } from '../kinds/kind.ts';
import { faultSentence, refusalSentence } from '../refusals.ts';
import type { FormContext } from './form-context.ts';
import { labelOf } from './labels.ts';

/*
 * What forms say about values that were refused.
 */

/** The sentence about an error. */
export const sentenceOf = ({ speech }: Pick<FormContext, 'speech'>, error: ApiError): string => refusalSentence(sayOf({ speech }), error);

/** Says a text by its key, of several the first that there is. */
export const sayOf =
  ({ speech }: Pick<FormContext, 'speech'>) =>
  (key: string | readonly string[], values?: Parameters<typeof speech.say>[1]): string =>
    speech.say(typeof key === 'string' ? key : (key.find(speech.has) ?? key[0] ?? ''), values);

/** What is wrong with each field, in words. */
export function fieldErrors(context: FormContext, kind: PostKind, { problem, details }: ApiError): [name: string, sentence: string][] {
  const { speech } = context;
  const missing = Array.isArray(details.data?.params) ? (details.data.params as string[]) : [];
  const untitled = problem === kind.problems.noTitle || problem === 'title-without-text' ? [kind.titleField] : [];
  return [
    ...[...missing, ...untitled].map((name): [string, string] => [name, speech.say('desk:form.required')]),
    ...[...(details.faults ?? [])].map(([name, fault]): [string, string] => [
      name,
      faultSentence(sayOf(context), labelOf(speech, kind.name, name), fault, details.sent?.get(name)),
    ]),
  ].filter(([name]) => name in kind.fields);
}
