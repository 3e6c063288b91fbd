import { hash } from 'node:crypto';
import { parseJson } from '../wordpress/json.ts';
import type { Shown } from './control.ts';
import { membersIn } from './form-values.ts';

/*
 * The initial values of a form, from which the server determines which fields the user changed.
 */

/** The name of the form field with the initial values. */
export const BEGUN = 'begun';

const DIGITS = 10;
/** Maximum number of fields; forms have fewer. */
const MOST_FIELDS = 1000;

/**
 * Returns the fields with a digest of the initial value of each, as text. `sent`: the text from a form that is shown
 * again, which takes precedence.
 */
export const begunText = (shown: Readonly<Record<string, Shown>>, sent = ''): string =>
  JSON.stringify({ ...Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, digestOf(value)])), ...begunIn(sent) });

/** Returns the fields whose values are still the initial ones. */
export function untouched(sent: string, typed: Readonly<Record<string, Shown>>): ReadonlySet<string> {
  const begun = begunIn(sent);
  return new Set(Object.keys(typed).filter((name) => Object.hasOwn(begun, name) && begun[name] === digestOf(typed[name])));
}

function begunIn(sent: string): Readonly<Record<string, unknown>> {
  const reading = parseJson(Buffer.from(sent), MOST_FIELDS);
  return membersIn('value' in reading ? reading.value : undefined);
}

/** Returns a digest of a value, independent of the order of its members. */
const digestOf = (value: Shown): string => hash('sha256', JSON.stringify(value, inOrder) ?? '').slice(0, DIGITS);

const inOrder = (_name: string, value: unknown): unknown =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value;
