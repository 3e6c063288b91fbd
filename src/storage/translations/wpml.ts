import type { TranslationGroup } from '../../wordpress/translation-group.ts';
import type { Database } from '../engine/database.ts';
import { insertRows } from '../engine/insert.ts';
import { Piece, verbatim } from '../engine/statement.ts';
import { lockNames } from '../rows/locks.ts';
import type { LanguageWriter, Translatable } from './language-writer.ts';
import { reportTranslatables } from './report-translatables.ts';

/*
 * WPML has a row for each record in `icl_translations`. Rows with the same `trid` are a group; the one without a source
 * language is the original. Terms are identified by their `term_taxonomy_id`.
 */

export const wpmlWriter: LanguageWriter = {
  async setLanguage(db, of, id, { code }) {
    reportTranslatables(db, of, [id]);
    const [row] = await rowsOf(db, of, [id]);
    if (row?.code === code) return;
    if (!row) return insertRow(db, of, id, code);
    await deletePlanned(db, row.trid, [code]);
    // Another row of the group may still have this language: that of a deleted term.
    const isTaken = (await rowsOfGroups(db, [row.trid])).some((one) => one.code === code);
    if (isTaken) {
      await moveToOwnGroup(db, row);
      await promoteToOriginal(db, row.trid);
    }
    await db.change`UPDATE {icl_translations} SET language_code = ${code} WHERE ${only(row)}`;
    if (row.source === null && !isTaken)
      await db.change`UPDATE {icl_translations} SET source_language_code = ${code}
        WHERE trid = ${row.trid} AND NOT (${only(row)}) AND source_language_code IS NOT NULL`;
  },

  async assign(db, of, ids, { code }) {
    reportTranslatables(db, of, ids);
    const elements = [...(await elementsOf(db, of, ids)).keys()];
    if (elements.length === 0) return;
    // Records without a language may nevertheless have a row: one without a language code, or one of an earlier record
    // with the same id.
    await db.change`DELETE FROM {icl_translations} WHERE element_type = ${typeOf(of)} AND element_id IN (${elements})`;
    const first = await newGroup(db);
    const rows = elements.map((element_id, index) => ({ element_type: typeOf(of), element_id, trid: first + index, language_code: code }));
    await insertRows(db, 'icl_translations', rows);
  },

  // WPML stores no counts.
  countVisible: async () => undefined,

  async lockGroups(db, of, ids) {
    const ownRows = await rowsOf(db, of, ids);
    const all = await rowsOfGroups(
      db,
      ownRows.map(({ trid }) => trid),
    );
    const names = await idsOf(db, of, all);
    return new Map(
      ownRows.map((row) => {
        const members = all
          .filter(({ trid }) => trid === row.trid)
          .flatMap((one): [string, number][] => {
            const id = names.get(one.element);
            return id === undefined ? [] : [[one.code, id]];
          });
        return [row.id, new Map(members)] as const;
      }),
    );
  },

  async writeGroup(db, of, members) {
    reportTranslatables(db, of, members.values());
    const rows = await rowsOf(db, of, [...members.values()]);
    const before = await rowsOfGroups(
      db,
      rows.map(({ trid }) => trid),
    );
    reportTranslatables(db, of, (await idsOf(db, of, before)).values());
    const [first] = rows.toSorted((one, other) => positionIn(members, one.id) - positionIn(members, other.id));
    if (!first) return;
    const original = rows.find(({ trid, source }) => trid === first.trid && source === null) ?? first;
    await deletePlanned(db, first.trid, [...members.keys()]);
    for (const member of await rowsOfGroups(db, [first.trid]))
      if (member.element > 0 && !rows.some((row) => isSame(row, member))) await moveToOwnGroup(db, member);
    for (const row of rows) {
      const from = row === original ? null : original.code;
      if (row.trid !== first.trid || row.source !== from)
        await db.change`UPDATE {icl_translations} SET trid = ${first.trid}, source_language_code = ${from} WHERE ${only(row)}`;
    }
    for (const trid of new Set(rows.map((row) => row.trid))) if (trid !== first.trid) await promoteToOriginal(db, trid);
  },

  async leaveGroup(db, of, id) {
    reportTranslatables(db, of, await groupOf(db, of, id));
    for (const row of await rowsOf(db, of, [id])) {
      await moveToOwnGroup(db, row);
      await promoteToOriginal(db, row.trid);
    }
  },

  async forget(db, of, id) {
    reportTranslatables(
      db,
      of,
      (await groupOf(db, of, id)).filter((one) => one !== id),
    );
    for (const row of await rowsOf(db, of, [id])) {
      await db.change`DELETE FROM {icl_translations} WHERE ${only(row)}`;
      await promoteToOriginal(db, row.trid);
    }
  },
};

/** Returns the records of the group that a record belongs to. */
const groupOf = async (db: Database, of: Translatable, id: number): Promise<number[]> => [
  ...((await wpmlWriter.lockGroups(db, of, [id])).get(id)?.values() ?? []),
];

/** A row of `icl_translations`. `element`: 0 for a planned translation that does not exist yet. */
interface Row {
  readonly translation: number;
  readonly type: string;
  readonly element: number;
  readonly trid: number;
  readonly code: string;
  readonly source: string | null;
}

const typeOf = ({ is, type }: Translatable): string => `${is === 'post' ? 'post' : 'tax'}_${type}`;

const COLUMNS = verbatim(
  'translation_id AS translation, element_type AS type, COALESCE(element_id, 0) AS element, trid, language_code AS code, source_language_code AS source',
);

const isSame = (one: Row, other: Row): boolean =>
  one.translation === other.translation && one.type === other.type && one.element === other.element;

/** Condition: this row of a record, which a number alone does not name in a table without its primary key. */
const only = ({ translation, type, element }: Row): Piece =>
  new Piece(['translation_id = ? AND element_type = ? AND element_id = ?', [translation, type, element]]);

/** Reads the rows of these records and locks them. */
async function rowsOf(db: Database, of: Translatable, ids: readonly number[]): Promise<(Row & { readonly id: number })[]> {
  if (ids.length === 0) return [];
  const elements = await elementsOf(db, of, ids);
  const rows = await db.rows<Row>`
    SELECT ${COLUMNS} FROM {icl_translations} WHERE element_type = ${typeOf(of)} AND element_id IN (${[...elements.keys()]})
    ORDER BY translation_id ${verbatim(db.dialect.locks.update)}`;
  return rows.map((row) => ({ ...row, id: elements.get(row.element)! }));
}

const rowsOfGroups = async (db: Database, trids: readonly number[]): Promise<Row[]> =>
  trids.length === 0
    ? []
    : db.rows<Row>`
    SELECT ${COLUMNS} FROM {icl_translations} WHERE trid IN (${[...new Set(trids)]})
    ORDER BY source_language_code IS NOT NULL, translation_id ${verbatim(db.dialect.locks.update)}`;

/** Maps WPML's element ids of these records to their own ids. */
async function elementsOf(db: Database, { is, type }: Translatable, ids: readonly number[]): Promise<Map<number, number>> {
  if (is === 'post') return new Map(ids.map((id) => [id, id]));
  const rows = await db.rows<{ row: number; id: number }>`
    SELECT term_taxonomy_id AS ${ROW}, term_id AS id FROM {term_taxonomy} WHERE taxonomy = ${type} AND term_id IN (${[...ids]})`;
  return new Map(rows.map(({ row, id }) => [row, id]));
}

const ROW = verbatim('`row`');

/** Maps the element ids in these rows to the ids of the records. */
async function idsOf(db: Database, { is, type }: Translatable, rows: readonly Row[]): Promise<Map<number, number>> {
  const elements = rows.flatMap(({ element }) => (element > 0 ? [element] : []));
  if (is === 'post') return new Map(elements.map((id) => [id, id]));
  const terms = await db.rows<{ row: number; id: number }>`
    SELECT term_taxonomy_id AS ${ROW}, term_id AS id FROM {term_taxonomy} WHERE taxonomy = ${type} AND term_taxonomy_id IN (${elements})`;
  return new Map(terms.map(({ row, id }) => [row, id]));
}

async function insertRow(db: Database, of: Translatable, id: number, code: string): Promise<void> {
  const [element] = (await elementsOf(db, of, [id])).keys();
  if (element === undefined) return;
  const trid = await newGroup(db);
  await db.insert`INSERT INTO {icl_translations} (element_type, element_id, trid, language_code) VALUES (${typeOf(of)}, ${element}, ${trid}, ${code})`;
}

/**
 * Returns an unused number for a group. WPML takes the number after the highest one that it sees, without a lock, and
 * does not see those of a transaction before its end. The numbers in between are left to it.
 */
async function newGroup(db: Database): Promise<number> {
  await lockNames(db, ['wpml:group']);
  const [row] = await db.rows<{ last: number | null }>`SELECT MAX(trid) AS last FROM {icl_translations}`;
  return Number(row?.last ?? 0) + NUMBERS_LEFT_TO_WPML + 1;
}

/** More groups than WPML usually creates while a transaction lasts. An import of WordPress may create more. */
const NUMBERS_LEFT_TO_WPML = 100;

/** Moves a record to a new group. */
async function moveToOwnGroup(db: Database, row: Row): Promise<void> {
  const trid = await newGroup(db);
  await db.change`UPDATE {icl_translations} SET trid = ${trid}, source_language_code = NULL WHERE ${only(row)}`;
}

/** Deletes the rows of planned translations without a record, so that a record can take their place. */
async function deletePlanned(db: Database, trid: number, codes: readonly string[]): Promise<void> {
  await db.change`DELETE FROM {icl_translations} WHERE trid = ${trid} AND element_id IS NULL AND language_code IN (${[...codes]})`;
}

/** Makes the next member the original of a group that has lost its original. */
async function promoteToOriginal(db: Database, trid: number): Promise<void> {
  const rows = (await rowsOfGroups(db, [trid])).filter(({ element }) => element > 0);
  const [first] = rows;
  if (!first || first.source === null) return;
  for (const row of rows) {
    const from = row === first ? null : first.code;
    await db.change`UPDATE {icl_translations} SET source_language_code = ${from} WHERE ${only(row)}`;
  }
}

const positionIn = (members: TranslationGroup, id: number): number => [...members.values()].indexOf(id);
