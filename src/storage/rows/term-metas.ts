import { isDeepStrictEqual } from 'node:util';
import { groupedBy } from '../../grouped-by.ts';
import { asStored, type StoredValue } from '../../wordpress/php/serialized.ts';
import type { Term } from '../../wordpress/rows.ts';
import { type Database, hasTable } from '../engine/database.ts';
import { insertRows } from '../engine/insert.ts';
import { readInParts } from '../engine/pages.ts';
import type { TermMetaRow } from '../engine/tables.ts';
import { reportTerm } from '../journal/reported-changes.ts';

/*
 * Metas that plugins store for categories and tags. Fasti does not show them; they are only imported and exported.
 * WordPress has had the table since version 4.4.
 */

/** Metas of a term, with a separate entry for each value of a key. */
export type TermMetas = readonly (readonly [key: string, value: StoredValue])[];

/** Reads the metas of terms by term id, in the order of their rows. */
export async function loadTermMetas(db: Database, ids: readonly number[]): Promise<Map<number, TermMetas>> {
  return (await loadIfStored(db, ids)) ?? new Map();
}

/** Undefined if there is no table. */
async function loadIfStored(db: Database, ids: readonly number[]): Promise<Map<number, TermMetas> | undefined> {
  const read = (page: number[]) =>
    db.rows<TermMetaRow>`SELECT term_id, meta_key, meta_value FROM {termmeta} WHERE term_id IN (${page}) ORDER BY meta_id`;
  const rows = await unlessMissing(db, undefined, () => readInParts(ids, read));
  return (
    rows &&
    groupedBy(
      rows,
      ({ term_id: id }) => id,
      ({ meta_key: key, meta_value: value }): [string, StoredValue] => [key ?? '', asStored(value ?? '')],
    )
  );
}

/**
 * Returns those of these metas whose values differ from the stored ones, with all values of their keys; undefined if
 * there is no table to store them in.
 */
export async function differingTermMetas(db: Database, id: number, metas: TermMetas): Promise<TermMetas | undefined> {
  const byKey = (pairs: TermMetas) =>
    groupedBy(
      pairs,
      ([key]) => key,
      ([, value]) => value,
    );
  const stored = await loadIfStored(db, [id]);
  if (!stored) return undefined;
  const before = byKey(stored.get(id) ?? []);
  return [...byKey(metas)].flatMap(([key, values]) =>
    isDeepStrictEqual(before.get(key), values) ? [] : values.map((value): [string, StoredValue] => [key, value]),
  );
}

/** Replaces all metas of a term with the keys of these metas by these metas. The table must exist. */
export async function writeTermMetas(db: Database, term: Pick<Term, 'term_id' | 'taxonomy'>, metas: TermMetas): Promise<void> {
  if (metas.length === 0) return;
  const { term_id } = term;
  const keys = [...new Set(metas.map(([key]) => key))];
  await db.from('termmeta').where('term_id', term_id).whereIn('meta_key', keys).delete();
  await insertRows(
    db,
    'termmeta',
    metas.map(([meta_key, meta_value]) => ({ term_id, meta_key, meta_value })),
  );
  reportTerm(db, term, 'changed');
}

/** Deletes all metas of a term that is deleted. */
export async function removeTermMetas(db: Database, term: number): Promise<void> {
  await unlessMissing(db, 0, () => db.from('termmeta').where('term_id', term).delete());
}

/**
 * Works with the table. If that fails because there is none, the result is `otherwise`; asking first would take another
 * query each time.
 */
async function unlessMissing<Result>(db: Database, otherwise: Result, work: () => PromiseLike<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (await hasTable(db, 'termmeta')) throw error;
    return otherwise;
  }
}
