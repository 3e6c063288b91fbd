import { ApiError, type SentValue } from '../errors.ts';
import type { Params } from '../kinds/param.ts';

/** Maximum number of characters shown of a value. */
const MAX_SHOWN_LENGTH = 100;

/**
 * Names of parameters whose values are never shown, not even to their sender, since answers are logged and forwarded.
 */
const SECRET = /pass|secret|token|nonce/i;

/**
 * Does work with accepted parameters. If one of them is refused by the work, the error is extended by the value sent
 * and by the accepted values.
 *
 * @throws the errors of `work`
 */
export async function withExplainedErrors<Result>(
  params: Params,
  raw: Readonly<Record<string, unknown>>,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw withExplanations(error, params, raw);
  }
}

/** Returns an error extended by the values sent for the parameters that it is about; any other error as it is. */
export function withExplanations<Thrown>(error: Thrown, params: Params, raw: Readonly<Record<string, unknown>>): Thrown | ApiError {
  if (!(error instanceof ApiError) || !error.details.faults || error.details.sentValues) return error;
  return new ApiError(error.problem, { ...error.details, sentValues: sentValues(params, raw, [...error.details.faults.keys()]) });
}

/**
 * Returns the values sent for these parameters, with the descriptions from their grammars. Parameters that are
 * undeclared or were not sent are left out.
 */
export function sentValues(
  params: Params,
  raw: Readonly<Record<string, unknown>>,
  names: readonly string[],
): ReadonlyMap<string, SentValue> {
  const entries = names.flatMap((name) => {
    const hint = Object.hasOwn(params, name) ? params[name]?.grammar.hint : undefined;
    if (hint === undefined || !Object.hasOwn(raw, name)) return [];
    const { reason, values = {}, example } = hint;
    return [[name, { text: shownValue(name, raw[name]), reason, values, example: exampleText(example) }] as const];
  });
  return new Map<string, SentValue>(entries);
}

/**
 * Formats a value on one line, shortened: texts in quotation marks, other values as JSON. Angle brackets are replaced,
 * because some clients show messages as HTML. Undefined if it is a secret.
 */
export function shownValue(name: string, value: unknown): string | undefined {
  if (SECRET.test(name)) return undefined;
  const hideSecret = (member: string, memberValue: unknown) => (SECRET.test(member) ? '…' : memberValue);
  return typeof value === 'string' ? `"${shorten(value)}"` : shorten(JSON.stringify(value, hideSecret) ?? '');
}

/** Returns the beginning of a text, without control characters and markup. */
export function shorten(text: string): string {
  const start = text.slice(0, 4 * MAX_SHOWN_LENGTH);
  const characters = [
    ...start
      .replace(/[\p{C}\s]+/gu, ' ')
      .replaceAll('<', '‹')
      .replaceAll('>', '›'),
  ];
  const isWhole = characters.length <= MAX_SHOWN_LENGTH && start.length === text.length;
  return isWhole ? characters.join('') : `${characters.slice(0, MAX_SHOWN_LENGTH - 1).join('')}…`;
}

const exampleText = (example: unknown): string => (typeof example === 'string' ? example : JSON.stringify(example));
