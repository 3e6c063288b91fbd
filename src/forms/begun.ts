import { hash } from 'node:crypto';
import { parseJson } from '../wordpress/json.ts';
import type { Shown } from './control.ts';
import { membersIn } from './form-values.ts';

/*
 * What a form began with, so that it is known which of its fields somebody has touched.
 */

/** By this name a form sends it. */
export const BEGUN = 'begun';

const DIGITS = 10;
/** A form has fewer fields. */
const MOST_FIELDS = 1000;

/** Fields with a digest of what each began with, as text. `sent`: of those that a form said already. */
export const begunText = (shown: Readonly<Record<string, Shown>>, sent = ''): string =>
  JSON.stringify({ ...Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, digestOf(value)])), ...begunIn(sent) });

/** The fields that a form holds as it began. */
export function untouched(sent: string, typed: Readonly<Record<string, Shown>>): ReadonlySet<string> {
  const begun = begunIn(sent);
  return new Set(Object.keys(typed).filter((name) => Object.hasOwn(begun, name) && begun[name] === digestOf(typed[name])));
}

function begunIn(sent: string): Readonly<Record<string, unknown>> {
  const reading = parseJson(Buffer.from(sent), MOST_FIELDS);
  return membersIn('value' in reading ? reading.value : undefined);
}

/** The same for values that are the same, in whatever order their members stand. */
const digestOf = (value: Shown): string => hash('sha256', JSON.stringify(value, inOrder) ?? '').slice(0, DIGITS);

const inOrder = (_name: string, value: unknown): unknown =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value;
