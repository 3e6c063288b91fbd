import type { ApiError, Fault, SentValue } from './errors.ts';
import type { Say, Words } from './texts.ts';

/** Returns the message of an error, for the person who made the request. */
export function refusalSentence(say: Say, { problem, details }: ApiError): string {
  const { faults, data = {}, values = {} } = details;
  const names = faults ? [...faults.keys()] : Array.isArray(data.params) ? data.params : [];
  return say(`problems:${problem}`, { params: names.join(', '), ...values });
}

/**
 * Returns the sentences about a refused parameter: what is wrong, what was sent and, if its form is wrong, a correct
 * example. Without `sent`, they only say what is wrong.
 */
export function faultSentence(say: Say, param: string, fault: Fault, sent?: SentValue): string {
  if (sent === undefined || isSelfExplanatory(fault)) return sentenceOfFault(say, param, fault, {});
  const shown = sent.shown ?? say('reasons:sent-secret');
  const refused = say(`reasons:${sent.reason}`, { param, sent: shown, ...sent.values });
  const example = say('reasons:example', { example: sent.example });
  if (fault.stage === 'value' && fault.reason === undefined) return `${refused} ${example}`;
  const what = sentenceOfFault(say, param, fault, { sent: shown });
  if (fault.stage === 'type') return `${what} ${refused} ${example}`;
  const received = sent.shown === undefined || what.includes(shown) ? [] : [say('reasons:received', { sent: shown })];
  return [what, ...received, ...(fault.stage === 'value' ? [] : [example])].join(' ');
}

/** Returns the sentence about an unknown field in a write. It is ASCII if the names are, because headers contain it. */
export const unknownFieldSentence = (say: Say, { name, near = '' }: { readonly name: string; readonly near: string | undefined }): string =>
  say(`reasons:${near === '' ? 'field-unknown' : 'field-misspelt'}`, { name, near });

/**
 * Whether the sent value would explain nothing: the beginning of a text that is too long, or the id in the request
 * itself.
 */
const isSelfExplanatory = (fault: Fault): boolean => fault.stage === 'value' && SELF_EXPLANATORY_REASONS.has(fault.reason ?? '');
const SELF_EXPLANATORY_REASONS: ReadonlySet<string> = new Set(['too-long', 'too-many', 'id-unknown', 'slug-unknown']);

function sentenceOfFault(say: Say, param: string, fault: Fault, more: Words): string {
  if (fault.stage === 'type') return say('reasons:type', { param, type: fault.type });
  if (fault.stage === 'enum') return say('reasons:enum', { param, values: fault.values });
  if (fault.stage === 'schema') return say(`reasons:${fault.reason}`, { param, ...more, ...fault.values });
  return say([...(fault.reason === undefined ? [] : [`reasons:${fault.reason}`]), 'reasons:invalid'], { param, ...more, ...fault.values });
}
