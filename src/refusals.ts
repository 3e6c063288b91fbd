import type { ApiError, Fault, SentValue } from './errors.ts';
import type { AllowedValues, SettingError } from './host/setting-error.ts';
import type { Say, Words } from './texts.ts';

/** Returns the message of an error, for the person who made the request. */
export function refusalSentence(say: Say, { problem, details }: ApiError): string {
  const { faults, data = {}, values = {} } = details;
  const names = faults ? [...faults.keys()] : Array.isArray(data.params) ? data.params : [];
  return say(`problems:${problem}`, { params: names.join(', '), ...values });
}

/**
 * Returns the sentences about a refused parameter: what is wrong, what was sent and, if its form is wrong, a correct
 * example. Without `sentValue`, they only say what is wrong.
 */
export function faultSentence(say: Say, param: string, fault: Fault, sentValue?: SentValue): string {
  if (sentValue === undefined || isSelfExplanatory(fault)) return sentenceOfFault(say, param, fault, {});
  const valueText = sentValue.text ?? say('reasons:sent-secret');
  const reason = say(`reasons:${sentValue.reason}`, { param, sent: valueText, ...sentValue.values });
  const example = say('reasons:example', { example: sentValue.example });
  if (fault.stage === 'value' && fault.reason === undefined) return `${reason} ${example}`;
  const sentence = sentenceOfFault(say, param, fault, { sent: valueText });
  if (fault.stage === 'type') return `${sentence} ${reason} ${example}`;
  const valueSentences = sentValue.text === undefined || sentence.includes(valueText) ? [] : [say('reasons:received', { sent: valueText })];
  return [sentence, ...valueSentences, ...(fault.stage === 'value' ? [] : [example])].join(' ');
}

/** Returns the sentence about an unknown field in a write. It is ASCII if the names are, because headers contain it. */
export const unknownFieldSentence = (
  say: Say,
  { name, similarName = '' }: { readonly name: string; readonly similarName: string | undefined },
): string => say(`reasons:${similarName === '' ? 'field-unknown' : 'field-misspelt'}`, { name, near: similarName });

/** Returns the sentence about a term in a write that does not exist. It is ASCII if the term is, too. */
export const unknownTermSentence = (say: Say, { param, sent }: { readonly param: string; readonly sent: string }): string =>
  say(`reasons:${TERM_LEFT_OUT}`, { param, sent });
const TERM_LEFT_OUT = 'term-left-out';

/**
 * Whether the sent value would explain nothing: the beginning of a text that is too long, or the id in the request
 * itself.
 */
const isSelfExplanatory = (fault: Fault): boolean => fault.stage === 'value' && SELF_EXPLANATORY_REASONS.has(fault.reason ?? '');
const SELF_EXPLANATORY_REASONS: ReadonlySet<string> = new Set([
  'too-long',
  'too-many',
  'too-many-new',
  'too-many-new-in-batch',
  'id-unknown',
  'slug-unknown',
]);

function sentenceOfFault(say: Say, param: string, fault: Fault, extraValues: Words): string {
  if (fault.stage === 'type') return say('reasons:type', { param, type: fault.type });
  if (fault.stage === 'enum') return say('reasons:enum', { param, values: fault.values });
  if (fault.stage === 'schema') return say(`reasons:${fault.reason}`, { param, ...extraValues, ...fault.values });
  return say([...(fault.reason === undefined ? [] : [`reasons:${fault.reason}`]), 'reasons:invalid'], {
    param,
    ...extraValues,
    ...fault.values,
  });
}

/** Returns the sentence about a setting that cannot be used. */
export const settingSentence = (say: Say, { problem, values, allowed }: SettingError): string =>
  say(`cli:settings.${problem}`, { name: 'DATABASE_URL', ...values, ...(allowed ? { allowed: allowedSentence(say, allowed) } : {}) });

/** Returns the description of the values that a setting may have. */
export const allowedSentence = (say: Say, [key, words = {}]: AllowedValues): string => say(`cli:settings.allowed.${key}`, words);
