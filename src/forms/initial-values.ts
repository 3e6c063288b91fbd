import { hash } from 'node:crypto';
import { isRecord } from '../objects.ts';
import { parseJson } from '../wordpress/json.ts';
import type { FormValue } from './control.ts';
import { membersIn } from './form-values.ts';

/*
 * The initial values of a form, from which the server determines which fields the user changed.
 */

/** The name of the form field with the initial values. */
export const INITIAL_FIELD = 'begun';

const DIGEST_LENGTH = 10;
/** Maximum number of fields; forms have fewer. */
const MAX_FIELDS = 1000;

/**
 * Returns the fields with a digest of the initial value of each, as text. `digestsText`: the text from a form that is
 * shown again, which takes precedence.
 */
export const encodeInitialValues = (formValues: Readonly<Record<string, FormValue>>, digestsText = ''): string =>
  JSON.stringify({
    ...Object.fromEntries(Object.entries(formValues).map(([name, value]) => [name, digestOf(value)])),
    ...parseInitialDigests(digestsText),
  });

/** Returns the fields whose values are still the initial ones. */
export function unchangedFields(digestsText: string, input: Readonly<Record<string, FormValue>>): ReadonlySet<string> {
  const initialDigests = parseInitialDigests(digestsText);
  return new Set(
    Object.keys(input).filter((name) => Object.hasOwn(initialDigests, name) && initialDigests[name] === digestOf(input[name])),
  );
}

function parseInitialDigests(text: string): Readonly<Record<string, unknown>> {
  const result = parseJson(Buffer.from(text), MAX_FIELDS);
  return membersIn('value' in result ? result.value : undefined);
}

/** Returns a digest of a value, independent of the order of its members. */
const digestOf = (value: FormValue): string => hash('sha256', JSON.stringify(value, sortMembers) ?? '').slice(0, DIGEST_LENGTH);

const sortMembers = (_name: string, value: unknown): unknown =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))) : value;
