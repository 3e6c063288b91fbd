import { ApiError, type SentValue } from '../errors.ts';
import type { Params } from '../kinds/param.ts';

/** The most characters of a value that are shown. */
const LONGEST_SHOWN = 100;

/** Names of what nobody is shown, not even whoever sent it: answers are logged and forwarded. */
const SECRET = /pass|secret|token|nonce/i;

/**
 * Does some work with parameters that were accepted. If one of them is refused after all, the error says what was sent
 * and what would be accepted.
 *
 * @throws what `work` throws
 */
export async function explaining<Result>(
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

function withExplanations(error: unknown, params: Params, raw: Readonly<Record<string, unknown>>): unknown {
  if (!(error instanceof ApiError) || !error.details.faults || error.details.sent) return error;
  return new ApiError(error.problem, { ...error.details, sent: sentValues(params, raw, [...error.details.faults.keys()]) });
}

/**
 * What was sent of the parameters of these names, as far as they are declared and were sent, and what their grammars
 * say of it.
 */
export function sentValues(
  params: Params,
  raw: Readonly<Record<string, unknown>>,
  names: readonly string[],
): ReadonlyMap<string, SentValue> {
  const found = names.flatMap((name) => {
    const hint = Object.hasOwn(params, name) ? params[name]?.grammar.hint : undefined;
    if (hint === undefined || !Object.hasOwn(raw, name)) return [];
    const { reason, values = {}, example } = hint;
    return [[name, { shown: shownValue(name, raw[name]), reason, values, example: exampleText(example) }] as const];
  });
  return new Map<string, SentValue>(found);
}

/**
 * A value on one line, shortened: texts in quotation marks, all else as JSON. Angle brackets are replaced, because some
 * clients show messages as HTML. Undefined: it is a secret.
 */
export function shownValue(name: string, value: unknown): string | undefined {
  if (SECRET.test(name)) return undefined;
  const hidden = (member: string, inner: unknown) => (SECRET.test(member) ? '…' : inner);
  return typeof value === 'string' ? `"${shortened(value)}"` : shortened(JSON.stringify(value, hidden) ?? '');
}

/** The first characters of a text, without control characters and markup. */
export function shortened(text: string): string {
  const start = text.slice(0, 4 * LONGEST_SHOWN);
  const plain = [
    ...start
      .replace(/[\p{C}\s]+/gu, ' ')
      .replaceAll('<', '‹')
      .replaceAll('>', '›'),
  ];
  const isWhole = plain.length <= LONGEST_SHOWN && start.length === text.length;
  return isWhole ? plain.join('') : `${plain.slice(0, LONGEST_SHOWN - 1).join('')}…`;
}

const exampleText = (example: unknown): string => (typeof example === 'string' ? example : JSON.stringify(example));
