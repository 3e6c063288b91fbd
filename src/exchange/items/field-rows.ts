import { ApiError } from '../../errors.ts';
import { DATES as STORED_DATES } from '../../kinds/events/metas.ts';
import type { PostKind, Rows, StoredPost } from '../../kinds/kind.ts';
import type { Field } from '../../kinds/param.ts';
import type { Caller } from '../../records/caller.ts';
import { deriveRows, fieldRows } from '../../records/writes/post-rows.ts';
import type { Post } from '../../wordpress/rows.ts';
import type { PostItem } from './items.ts';

/**
 * Columns and metas in which values of a kind's fields are stored, and the names of fields whose values were refused.
 */
export interface ValueRows extends Pick<PostItem, 'columns' | 'metas'> {
  /** Metas that records with these values do not have. */
  readonly absent: readonly string[];
  /** Metas that get these values only in new records. */
  readonly initial: readonly string[];
  readonly refused: readonly string[];
}

/**
 * Converts field values to the rows that the API would write for a new record, for sources that have fields instead of
 * rows; those that do not follow from the given values are marked as initial. Fields that reference other records,
 * terms or users are skipped, since items have links for those. Fields with a refused value are left out and listed;
 * the dates of an event are left out together. `cleared`: fields that the source states to be empty; other empty values
 * say nothing.
 */
export function rowsOfValues(
  kind: PostKind,
  raw: Readonly<Record<string, unknown>>,
  caller: Caller,
  cleared: readonly string[] = [],
): ValueRows {
  const { values, refused } = readValues(kind, raw, caller);
  const { status: _status, slug: _slug, date: _date, date_utc: _utc, ...storedValues } = values;
  for (;;) {
    try {
      return { ...rowsOfCleared(kind, storedValues, caller, cleared), refused };
    } catch (error) {
      const refusedNames = refusedFields(error).filter((name) => name in storedValues);
      if (refusedNames.length === 0) throw error;
      refused.push(...refusedNames);
      for (const name of refusedNames.flatMap((name) => (DATE_FIELDS.includes(name) ? DATE_FIELDS : [name]))) delete storedValues[name];
    }
  }
}

/** Returns the fields that an error is about. */
const refusedFields = (error: unknown): string[] => (error instanceof ApiError ? [...(error.details.faults?.keys() ?? [])] : []);

/** Parses the fields of a kind; returns the values, and the names of the fields that were refused. */
function readValues(kind: PostKind, raw: Readonly<Record<string, unknown>>, { viewer }: Caller) {
  const values: Record<string, unknown> = {};
  const refused: string[] = [];
  for (const [name, field] of Object.entries<Field>(kind.fields)) {
    const rawValue = raw[name];
    if (rawValue === undefined || rawValue === null || rawValue === '' || !isStoredInRecord(field)) continue;
    const { value, fault, schemaFault } = field.grammar.read(rawValue, viewer.can, raw);
    if (fault || schemaFault) refused.push(name);
    else values[name] = value;
  }
  return { values, refused };
}

/** Whether a field is stored in the row or the metas of the record itself. */
const isStoredInRecord = ({ grammar, place }: Field): boolean => !grammar.refersTo && ['column', 'meta', 'rule'].includes(place.in);

function rowsOf(kind: PostKind, values: Readonly<Record<string, unknown>>, caller: Caller): Omit<ValueRows, 'refused'> {
  const ownRows = fieldRows(kind, values, { isTrusted: true });
  const derivedRows = deriveRows(kind, values, undefined, caller);
  const { post_author: _author, ...columns } = { ...ownRows.columns, ...derivedRows.columns };
  const all = Object.entries({ ...ownRows.metas, ...derivedRows.metas });
  const metas = all.flatMap(([key, list]) => list.map((value) => [key, value] as const));
  const initial = initialMetas(kind, values, derivedRows.metas, caller);
  const empty = all.flatMap(([key, list]) => (list.length === 0 && !initial.includes(key) ? [key] : []));
  return {
    columns,
    metas,
    // A new event lacks metas that only certain events have.
    absent: [...empty, ...(kind.name === 'event' ? [STORED_DATES.allDay, STORED_DATES.duration] : [])],
    initial,
  };
}

/** Returns the rows of values; metas that only the cleared fields would store as empty are absent instead. */
function rowsOfCleared(
  kind: PostKind,
  values: Readonly<Record<string, unknown>>,
  caller: Caller,
  cleared: readonly string[],
): Omit<ValueRows, 'refused'> {
  const stated = rowsOf(kind, values, caller);
  if (cleared.length === 0) return stated;
  const rows = rowsOf(kind, { ...values, ...Object.fromEntries(cleared.map((name) => [name, null])) }, caller);
  const isEmptied = ([key, value]: readonly [string, string]): boolean => value === '' && !stated.metas.some(([name]) => name === key);
  return {
    ...rows,
    metas: rows.metas.filter((meta) => !isEmptied(meta)),
    absent: [...rows.absent, ...rows.metas.filter(isEmptied).map(([key]) => key)],
  };
}

/** A record without values: what does not change with given values there does not follow from them. */
const EMPTY_RECORD: StoredPost = { row: {} as Post, metas: new Map() };

/** Returns the derived metas of a new record that do not follow from its values, but are defaults. */
function initialMetas(kind: PostKind, values: Readonly<Record<string, unknown>>, derived: Rows['metas'], caller: Caller): string[] {
  const changed = deriveRows(kind, values, EMPTY_RECORD, caller).metas;
  // Without a stated zone, the dates are derived in that of the site.
  const isInitial = (key: string) => !Object.hasOwn(changed, key) || (key === STORED_DATES.timezone && !('timezone' in values));
  return Object.keys(derived).filter(isInitial);
}

/** Fields that are only meaningful together. */
const DATE_FIELDS: readonly string[] = ['start_date', 'end_date', 'timezone', 'all_day'];
