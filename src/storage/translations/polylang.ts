import { randomBytes } from 'node:crypto';
import { toSerialized, withMembers } from '../../wordpress/php/serialized.ts';
import { POLYLANG_TAXONOMIES } from '../../wordpress/polylang.ts';
import type { TranslationGroup } from '../../wordpress/translation-group.ts';
import type { Database } from '../engine/database.ts';
import { insertMissing, insertRows } from '../engine/insert.ts';
import { verbatim } from '../engine/statement.ts';
import { membersIn } from '../languages/polylang/group.ts';
import type { LanguageWriter } from './language-writer.ts';
import { reportTranslatables } from './report-translatables.ts';

/*
 * Polylang stores languages and groups as terms. The language of a post is a term of `language`, that of a term is a
 * term of `term_language`; relationships refer to the id of the post or term. A group is a term of `post_translations`
 * or `term_translations` whose description is a serialized array from codes to ids.
 */

export const polylangWriter: LanguageWriter = {
  async setLanguage(db, of, id, { onPosts, onTerms }) {
    const { is } = of;
    const languageRow = is === 'post' ? onPosts : onTerms;
    reportTranslatables(db, of, [id]);
    const before = (await termsHeld(db, POLYLANG_TAXONOMIES[is].language, [id])).map(({ row }) => row);
    const goneRows = before.filter((row) => row !== languageRow);
    await removeTerms(db, [id], goneRows);
    await addTerm(db, [id], languageRow);
    // A post is counted for its language only while it is published: see `countVisible`.
    if (is === 'term') await shiftCounts(db, goneRows, before.includes(languageRow) ? [] : [languageRow]);
  },

  async assign(db, of, ids, { code, onPosts, onTerms }, visible) {
    const { is } = of;
    reportTranslatables(db, of, ids);
    const [row, increment] = is === 'post' ? [onPosts, visible] : [onTerms, ids.length];
    await addTerm(db, ids, row);
    if (increment > 0) await db.change`UPDATE {term_taxonomy} SET count = count + ${increment} WHERE term_taxonomy_id = ${row}`;
    if (is === 'post') return;
    for (const id of ids) {
      const group = await insertGroup(db, POLYLANG_TAXONOMIES.term.group);
      await addTerm(db, [id], group);
      await writeMembers(db, group, '', new Map([[code, id]]));
    }
  },

  async countVisible(db, id, change) {
    const rows = (await termsHeld(db, POLYLANG_TAXONOMIES.post.language, [id])).map(({ row }) => row);
    await (change === 'shown' ? shiftCounts(db, [], rows) : shiftCounts(db, rows, []));
  },

  async lockGroups(db, { is }, ids) {
    const groups = new Map<number, TranslationGroup>();
    for (const { id, description } of (await termsHeld(db, POLYLANG_TAXONOMIES[is].group, ids)).toReversed()) {
      const members = membersIn(description);
      if ([...members.values()].includes(id)) groups.set(id, members);
    }
    return groups;
  },

  async writeGroup(db, of, members) {
    const { is } = of;
    const ids = [...members.values()];
    reportTranslatables(db, of, ids);
    const { group: taxonomy } = POLYLANG_TAXONOMIES[is];
    const before = await termsHeld(db, taxonomy, ids);
    const [ownGroup] = before;
    if (!ownGroup && is === 'post' && ids.length < 2) return;
    const row = ownGroup?.row ?? (await insertGroup(db, taxonomy));
    for (const otherRow of new Set(before.map((term) => term.row)))
      if (otherRow !== row) reportTranslatables(db, of, await leaveGroup(db, otherRow, ids));
    const removedIds = (await recordsWithTerm(db, row)).filter((id) => !ids.includes(id));
    reportTranslatables(db, of, removedIds);
    await removeTerms(db, removedIds, [row]);
    await addTerm(db, ids, row);
    await writeMembers(db, row, ownGroup?.description ?? '', members);
  },

  async leaveGroup(db, of, id) {
    reportTranslatables(db, of, [id]);
    for (const { row } of await termsHeld(db, POLYLANG_TAXONOMIES[of.is].group, [id]))
      reportTranslatables(db, of, await leaveGroup(db, row, [id]));
  },

  async forget(db, of, id) {
    await polylangWriter.leaveGroup(db, of, id);
    const rows = (await termsHeld(db, POLYLANG_TAXONOMIES[of.is].language, [id])).map(({ row }) => row);
    await removeTerms(db, [id], rows);
    if (of.is === 'term') await shiftCounts(db, rows, []);
  },
};

/** A term that a record has: its `term_taxonomy_id` and its description. */
interface HeldTerm {
  readonly id: number;
  readonly row: number;
  readonly description: string;
}

/** Reads the terms of a taxonomy that these records have, and locks them, always in the same order. */
async function termsHeld(db: Database, taxonomy: string, ids: readonly number[]): Promise<HeldTerm[]> {
  if (ids.length === 0) return [];
  return db.rows<HeldTerm>`
    SELECT r.object_id AS id, tt.term_taxonomy_id AS ${verbatim('`row`')}, tt.description
    FROM {term_taxonomy} tt JOIN {term_relationships} r ON r.term_taxonomy_id = tt.term_taxonomy_id
    WHERE r.object_id IN (${[...new Set(ids)]}) AND tt.taxonomy = ${taxonomy}
    ORDER BY tt.term_taxonomy_id, r.object_id ${verbatim(db.dialect.locks.update)}`;
}

async function recordsWithTerm(db: Database, row: number): Promise<number[]> {
  const rows = await db.rows<{ id: number }>`SELECT object_id AS id FROM {term_relationships} WHERE term_taxonomy_id = ${row}`;
  return rows.map(({ id }) => id);
}

async function addTerm(db: Database, ids: readonly number[], row: number): Promise<void> {
  const rows = ids.map((object_id) => ({ object_id, term_taxonomy_id: row, term_order: 0 }));
  await insertMissing(db, 'term_relationships', rows, ['object_id', 'term_taxonomy_id']);
}

/**
 * Decreases and increases the counts of languages. The rows of languages are not shown as terms, so the journal does
 * not record this.
 */
async function shiftCounts(db: Database, goneRows: readonly number[], newRows: readonly number[]): Promise<void> {
  if (goneRows.length > 0)
    await db.change`UPDATE {term_taxonomy} SET count = count - 1 WHERE term_taxonomy_id IN (${goneRows}) AND count > 0`;
  if (newRows.length > 0) await db.change`UPDATE {term_taxonomy} SET count = count + 1 WHERE term_taxonomy_id IN (${newRows})`;
}

async function removeTerms(db: Database, ids: readonly number[], rows: readonly number[]): Promise<void> {
  if (ids.length === 0 || rows.length === 0) return;
  await db.change`DELETE FROM {term_relationships} WHERE object_id IN (${ids}) AND term_taxonomy_id IN (${rows})`;
}

/** Inserts a new group, named in the same way as by Polylang: with `uniqid`, which has 13 hexadecimal digits. */
async function insertGroup(db: Database, taxonomy: string): Promise<number> {
  const name = `pll_${randomBytes(7).toString('hex').slice(0, 13)}`;
  const term_id = await insertRows(db, 'terms', [{ name, slug: name, term_group: 0 }]);
  return insertRows(db, 'term_taxonomy', [{ term_id, taxonomy, description: '', parent: 0, count: 0 }]);
}

/** Removes records from a group, and deletes the group if it has no members left. Returns the remaining members. */
async function leaveGroup(db: Database, row: number, ids: readonly number[]): Promise<readonly number[]> {
  await removeTerms(db, ids, [row]);
  const remainingIds = await recordsWithTerm(db, row);
  const [group] = await db.rows<{ term_id: number; description: string }>`
    SELECT term_id, description FROM {term_taxonomy} WHERE term_taxonomy_id = ${row}`;
  if (!group) return remainingIds;
  if (remainingIds.length > 0) {
    await writeMembers(
      db,
      row,
      group.description,
      new Map([...membersIn(group.description)].filter(([, id]) => remainingIds.includes(id))),
    );
    return remainingIds;
  }
  await db.change`DELETE FROM {term_taxonomy} WHERE term_taxonomy_id = ${row}`;
  await db.change`DELETE FROM {terms} WHERE term_id = ${group.term_id}`;
  return remainingIds;
}

/** Writes the members of a group. Other data in its description are kept if it can be read. */
async function writeMembers(db: Database, row: number, before: string, members: TranslationGroup): Promise<void> {
  const goneMembers = [...membersIn(before).keys()].filter((code) => !members.has(code)).map((code) => [code, undefined]);
  const changes = Object.fromEntries([...goneMembers, ...members]);
  const description = withMembers(before, changes) ?? toSerialized(new Map(members));
  await db.change`UPDATE {term_taxonomy} SET description = ${description}, count = ${members.size} WHERE term_taxonomy_id = ${row}`;
}
