import { ApiError } from '../../errors.ts';
import { DATES as STORED_DATES } from '../../kinds/events/metas.ts';
import type { PostKind } from '../../kinds/kind.ts';
import type { Field } from '../../kinds/param.ts';
import type { Caller } from '../../records/caller.ts';
import { fieldRows, followingRows } from '../../records/writes/post-rows.ts';
import type { PostItem } from './items.ts';

/** Columns and metas in which values of a kind's fields are stored, and the fields whose value was refused. */
export interface ValueRows extends Pick<PostItem, 'columns' | 'metas'> {
  /** Metas that records with these values do not have. */
  readonly absent: readonly string[];
  readonly refused: readonly string[];
}

/**
 * What the API would make of these values of a new record, for sources that say fields rather than rows. Fields that
 * name other records, terms or people are passed over: items have links for those. A value that is refused is left out
 * and named, the dates of an event all together.
 */
export function rowsOfValues(kind: PostKind, raw: Readonly<Record<string, unknown>>, caller: Caller): ValueRows {
  const { values, refused } = readValues(kind, raw, caller);
  const { status: _status, slug: _slug, date: _date, date_utc: _utc, ...settled } = values;
  for (;;) {
    try {
      return { ...rowsOf(kind, settled, caller), refused };
    } catch (error) {
      const wrong = refusedIn(error).filter((name) => name in settled);
      if (wrong.length === 0) throw error;
      refused.push(...wrong);
      for (const name of wrong.flatMap((name) => (DATES.includes(name) ? DATES : [name]))) delete settled[name];
    }
  }
}

/** The fields that an error is about. */
const refusedIn = (error: unknown): string[] => (error instanceof ApiError ? [...(error.details.faults?.keys() ?? [])] : []);

/** The values that the fields of a kind read, and the names of those that they refuse. */
function readValues(kind: PostKind, raw: Readonly<Record<string, unknown>>, { viewer }: Caller) {
  const values: Record<string, unknown> = {};
  const refused: string[] = [];
  for (const [name, field] of Object.entries<Field>(kind.fields)) {
    const given = raw[name];
    if (given === undefined || given === null || given === '' || !isOwn(field)) continue;
    const { value, fault, late } = field.grammar.read(given, viewer.can, raw);
    if (fault || late) refused.push(name);
    else values[name] = value;
  }
  return { values, refused };
}

/** Whether a field is stored in the row and the metas of the record itself. */
const isOwn = ({ grammar, place }: Field): boolean => !grammar.refers && ['column', 'meta', 'rule'].includes(place.in);

function rowsOf(kind: PostKind, values: Readonly<Record<string, unknown>>, caller: Caller): Omit<ValueRows, 'refused'> {
  const own = fieldRows(kind, values, { trusted: true });
  const follows = followingRows(kind, values, undefined, caller);
  const { post_author: _author, ...columns } = { ...own.columns, ...follows.columns };
  const all = Object.entries({ ...own.metas, ...follows.metas });
  const metas = all.flatMap(([key, list]) => list.map((value) => [key, value] as const));
  const empty = all.flatMap(([key, list]) => (list.length === 0 ? [key] : []));
  // Of a new event nothing is said of what only other ones have.
  return { columns, metas, absent: [...empty, ...(kind.name === 'event' ? [STORED_DATES.allDay, STORED_DATES.duration] : [])] };
}

/** Without one of them the others say nothing. */
const DATES: readonly string[] = ['start_date', 'end_date', 'timezone', 'all_day'];
