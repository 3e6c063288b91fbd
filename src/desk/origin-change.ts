import { isDeepStrictEqual } from 'node:util';
import type { FormValue } from '../forms/control.ts';
import { textIn } from '../forms/form-values.ts';
import { encodeInitialValues, INITIAL_FIELD, unchangedFields } from '../forms/initial-values.ts';
import type { Submission } from './visit.ts';

/*
 * A new record takes more from the record that it copies or translates than its form shows: the dates of a series, and
 * the password. If that has changed since the form was opened, the user is told before anything is saved.
 */

/** The fields of an event on which its series depends. */
export const SERIES_FIELDS: readonly string[] = ['start_date', 'end_date', 'all_day', 'timezone'];

/** Name of the field that says that the new record was to have the password of its original. */
export const SHARES_PASSWORD_FIELD = 'shares_password';

type FormValues = Readonly<Record<string, FormValue>>;

/** The record that a new one copies or translates, as it is now. */
export interface Origin {
  /** Whether it is there and protected by a password. */
  readonly isProtected: boolean;
  /** The values of its dates as the form shows them; undefined: it has no series. */
  readonly series: FormValues | undefined;
}

/** A change that the user has to know of. `notices`: keys of the sentences. */
export interface OriginChange {
  readonly notices: readonly string[];
  /** The values that the form gets instead of those that the user has left as they were. */
  readonly input: FormValues;
  readonly initialDigests: string;
}

/** Returns how the original has changed since the form was opened; undefined: not in a way that matters. */
export function originChange({ fields }: Submission, input: FormValues, { isProtected, series }: Origin): OriginChange | undefined {
  const begunDigests = textIn(fields, INITIAL_FIELD);
  const untouched = unchangedFields(begunDigests, input);
  const wasToRecur = SERIES_FIELDS.every((name) => untouched.has(name));
  const newDates =
    wasToRecur && series && !SERIES_FIELDS.every((name) => isDeepStrictEqual(series[name], input[name])) ? series : undefined;
  const notices = [
    ...(newDates ? ['desk:dates.origin-moved'] : []),
    ...(wasToRecur && !series ? ['desk:dates.origin-lost'] : []),
    ...(textIn(fields, SHARES_PASSWORD_FIELD) === '1' && !isProtected ? ['desk:protected.lost'] : []),
  ];
  if (notices.length === 0) return undefined;
  return {
    notices: ['desk:form.nothing-saved', ...notices],
    input: newDates ?? {},
    initialDigests: newDates ? encodeInitialValues(newDates) : begunDigests,
  };
}
