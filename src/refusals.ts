import type { ApiError, Fault } from './errors.ts';
import type { Words } from './texts.ts';

/** Says a text by its key, of several the first that there is, in one language. */
export type Say = (key: string | readonly string[], values?: Words) => string;

/** The sentence about a refusal, for whoever is told of it. */
export function refusalSentence(say: Say, { problem, details }: ApiError): string {
  const { faults, data = {}, values = {} } = details;
  const names = faults ? [...faults.keys()] : Array.isArray(data.params) ? (data.params as string[]) : [];
  return say(`problems:${problem}`, { params: names.join(', '), ...values });
}

/** The sentence about one parameter that was refused. */
export function faultSentence(say: Say, param: string, fault: Fault): string {
  if (fault.stage === 'type') return say('reasons:type', { param, type: fault.type });
  if (fault.stage === 'enum') return say('reasons:enum', { param, values: fault.values });
  if (fault.stage === 'schema') return say(`reasons:${fault.reason}`, { param, ...fault.values });
  return say([...(fault.reason === undefined ? [] : [`reasons:${fault.reason}`]), 'reasons:invalid'], { param, ...fault.values });
}
