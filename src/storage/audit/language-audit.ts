import { groupedBy } from '../../grouped-by.ts';
import { taxonomies as calendarTaxonomies, postTypes } from '../../kinds/index.ts';
import type { ContentLanguages } from '../../wordpress/content-languages.ts';
import { toSerialized, withMembers } from '../../wordpress/php/serialized.ts';
import { GROUP_TAXONOMIES, LANGUAGE_TAXONOMIES, POLYLANG_TAXONOMIES } from '../../wordpress/polylang.ts';
import type { Database } from '../engine/database.ts';
import { insertMissing } from '../engine/insert.ts';
import { pagesOf } from '../engine/pages.ts';
import type { IclTranslationRow } from '../engine/tables.ts';
import { reportTaxonomyRows } from '../journal/reported-changes.ts';
import { membersIn } from '../languages/polylang/group.ts';
import { removeRows } from '../rows/own-numbers.ts';
import { findInLockedTaxonomyRows } from './find-locked.ts';

/*
 * Rows about languages that contradict each other or refer to missing records. Fasti, Polylang and WPML ignore them
 * when reading, but they hide translations and make counts wrong.
 */

export type LanguageFaultName =
  | 'languages-twice'
  | 'translations-twice'
  | 'translations-broken'
  | 'translations-stale'
  | 'language-counts-wrong'
  | 'languages-of-nothing';

export interface LanguageFault {
  readonly name: LanguageFaultName;
  readonly severity: 'error' | 'warning';
  /** Returns the locations of the fault, one line for each. */
  readonly find: (db: Database) => Promise<string[]>;
  /** Must be called in a transaction. */
  readonly fix: (db: Database) => Promise<void>;
}

/** Returns the possible faults in the rows of a language form. Repairs must be made in this order. */
export const languageFaults = ({ form }: Pick<ContentLanguages, 'form'>): readonly LanguageFault[] =>
  form === 'polylang' ? POLYLANG : WPML;

// ------------------------------------------------------------------------------------------------- Polylang
const { post: OF_POSTS, term: OF_TERMS } = POLYLANG_TAXONOMIES;
const KIND_OF_TAXONOMY = {
  [OF_POSTS.language]: 'post',
  [OF_POSTS.group]: 'post',
  [OF_TERMS.language]: 'term',
  [OF_TERMS.group]: 'term',
} as const;
type Taxonomy = keyof typeof KIND_OF_TAXONOMY;
const LANGUAGE_OF = { [OF_POSTS.group]: OF_POSTS.language, [OF_TERMS.group]: OF_TERMS.language } as const;

interface Row {
  readonly taxonomy: Taxonomy;
  readonly row: number;
  readonly term: number;
  readonly slug: string;
  readonly description: string;
  readonly count: number;
}

/** All rows about languages of a site. */
interface LanguageRows {
  readonly rows: readonly Row[];
  /** Ids of objects by the row of `term_taxonomy` that they are related to. */
  readonly objects: ReadonlyMap<number, readonly number[]>;
}

async function loadLanguageRows(db: Database): Promise<LanguageRows> {
  const rows: Row[] = await db
    .from('term_taxonomy', 'tt')
    .join({ t: db.table('terms') }, 't.term_id', 'tt.term_id')
    .whereIn('tt.taxonomy', Object.keys(KIND_OF_TAXONOMY))
    .orderBy('tt.term_taxonomy_id')
    .select({
      taxonomy: 'tt.taxonomy',
      row: 'tt.term_taxonomy_id',
      term: 'tt.term_id',
      slug: 't.slug',
      description: 'tt.description',
      count: 'tt.count',
    });
  const relations: { object: number; row: number }[] = await db
    .from('term_relationships', 'r')
    .join({ tt: db.table('term_taxonomy') }, 'tt.term_taxonomy_id', 'r.term_taxonomy_id')
    .whereIn('tt.taxonomy', Object.keys(KIND_OF_TAXONOMY))
    .orderBy('r.object_id')
    .select({ object: 'r.object_id', row: 'r.term_taxonomy_id' });
  const objects = groupedBy(
    relations,
    ({ row }) => row,
    ({ object }) => object,
  );
  return { rows, objects };
}

/** Returns the objects that have more than one row of a taxonomy, with the rows in order. */
function duplicatesOf(
  { rows, objects }: LanguageRows,
  taxonomies: readonly Taxonomy[],
): { object: number; taxonomy: Taxonomy; rows: number[] }[] {
  const entries = new Map<string, { object: number; taxonomy: Taxonomy; rows: number[] }>();
  for (const { taxonomy, row } of rows.filter((one) => taxonomies.includes(one.taxonomy)))
    for (const object of objects.get(row) ?? []) {
      const key = `${taxonomy} ${object}`;
      const entry = entries.get(key) ?? { object, taxonomy, rows: [] };
      entry.rows.push(row);
      entries.set(key, entry);
    }
  return [...entries.values()].filter((one) => one.rows.length > 1);
}

/** Removes all but the first row, which is the one that counts for Polylang and for Fasti. */
async function keepFirst(db: Database, taxonomies: readonly Taxonomy[]): Promise<void> {
  const find = async () => duplicatesOf(await loadLanguageRows(db), taxonomies);
  for (const { object, rows } of await findInLockedTaxonomyRows(db, find, (duplicate) => duplicate.rows))
    await db.from('term_relationships').where('object_id', object).whereIn('term_taxonomy_id', rows.slice(1)).delete();
}

/** A group with its correct members. */
interface RepairedGroup {
  readonly group: Row;
  readonly members: ReadonlyMap<string, number>;
  readonly relatedIds: readonly number[];
}

/**
 * Returns the groups whose description differs from the records that are related to them and have the language it
 * gives.
 */
async function brokenGroups(db: Database): Promise<RepairedGroup[]> {
  const languageRows = await loadLanguageRows(db);
  const existingTypes = { post: await existingPostTypes(db, languageRows), term: await existingTaxonomies(db, languageRows) };
  const codes = new Map<string, string>();
  for (const { taxonomy, row, slug } of languageRows.rows.toReversed())
    for (const object of languageRows.objects.get(row) ?? []) codes.set(`${taxonomy} ${object}`, slug.replace(/^pll_/, ''));
  return languageRows.rows.flatMap((group) => {
    if (!isGroup(group.taxonomy)) return [];
    const language = LANGUAGE_OF[group.taxonomy];
    const relatedIds = languageRows.objects.get(group.row) ?? [];
    const types = existingTypes[KIND_OF_TAXONOMY[group.taxonomy]];
    const namedMembers = membersIn(group.description);
    const members = new Map<string, number>();
    const namedCodes = new Map([...namedMembers].map(([code, id]) => [id, code]));
    const [first] = [...namedMembers.values(), ...relatedIds].filter((id) => relatedIds.includes(id) && types.has(id));
    // A record that the description names has priority; other related records are added if no member has their
    // language. A record that has lost its language, or whose language was deleted, is kept: once it has a language, it
    // is a translation again.
    for (const id of [...namedMembers.values(), ...relatedIds]) {
      const code = codes.get(`${language} ${id}`) ?? namedCodes.get(id);
      const fits = relatedIds.includes(id) && code !== undefined && types.get(id) === types.get(first ?? 0) && !members.has(code);
      if (fits && ![...members.values()].includes(id)) members.set(code, id);
    }
    const isSame =
      members.size === namedMembers.size &&
      [...members].every(([code, id]) => namedMembers.get(code) === id) &&
      relatedIds.length === members.size;
    return relatedIds.length === 0 || isSame ? [] : [{ group, members, relatedIds }];
  });
}

const isGroup = (taxonomy: Taxonomy): taxonomy is (typeof GROUP_TAXONOMIES)[number] => GROUP_TAXONOMIES.some((one) => one === taxonomy);

/** Returns the types of the posts that the rows refer to. */
async function existingPostTypes(db: Database, languageRows: LanguageRows): Promise<Map<number, string>> {
  const types = new Map<number, string>();
  for (const ids of pagesOf(objectsOf(languageRows, 'post'), BATCH_SIZE)) {
    const rows = await db
      .from('posts')
      .whereIn('ID', [...ids])
      .select('ID', 'post_type');
    for (const { ID, post_type: type } of rows) types.set(ID, type);
  }
  return types;
}

async function existingTaxonomies(db: Database, languageRows: LanguageRows): Promise<Map<number, string>> {
  const types = new Map<number, string>();
  for (const ids of pagesOf(objectsOf(languageRows, 'term'), BATCH_SIZE)) {
    const rows = await db
      .from('term_taxonomy')
      .whereIn('term_id', [...ids])
      .select('term_id', 'taxonomy');
    for (const { term_id: id, taxonomy } of rows) types.set(id, taxonomy);
  }
  return types;
}

const BATCH_SIZE = 500;

const objectsOf = ({ rows, objects }: LanguageRows, is: 'post' | 'term'): number[] => [
  ...new Set(
    rows.flatMap(({ taxonomy, row, description }) =>
      KIND_OF_TAXONOMY[taxonomy] === is ? [...(objects.get(row) ?? []), ...(isGroup(taxonomy) ? membersIn(description).values() : [])] : [],
    ),
  ),
];

async function repairGroup(db: Database, { group, members, relatedIds }: RepairedGroup): Promise<void> {
  const surplusIds = relatedIds.filter((id) => ![...members.values()].includes(id));
  if (surplusIds.length > 0)
    await db.from('term_relationships').where('term_taxonomy_id', group.row).whereIn('object_id', surplusIds).delete();
  const rows = [...members.values()].map((object_id) => ({ object_id, term_taxonomy_id: group.row, term_order: 0 }));
  await insertMissing(db, 'term_relationships', rows, ['object_id', 'term_taxonomy_id']);
  const others = [...membersIn(group.description).keys()].filter((code) => !members.has(code)).map((code) => [code, undefined]);
  const description = withMembers(group.description, Object.fromEntries([...others, ...members])) ?? toSerialized(new Map(members));
  await db.from('term_taxonomy').where('term_taxonomy_id', group.row).update({ description, count: members.size });
}

/** Returns the groups without members, which Polylang sometimes leaves behind. */
const staleGroups = ({ rows, objects }: LanguageRows): Row[] => rows.filter(({ taxonomy, row }) => isGroup(taxonomy) && !objects.has(row));

/** Returns the rows of languages whose counts are wrong. Only published posts count; all terms do. */
async function wrongCounts(db: Database): Promise<{ readonly row: Row; readonly real: number }[]> {
  const { rows, objects } = await loadLanguageRows(db);
  const published = new Map(
    (
      (await db
        .from('term_relationships', 'r')
        .join({ p: db.table('posts') }, 'p.ID', 'r.object_id')
        .whereIn(
          'r.term_taxonomy_id',
          rows.filter(({ taxonomy }) => taxonomy === OF_POSTS.language).map(({ row }) => row),
        )
        .where('p.post_status', 'publish')
        .groupBy('r.term_taxonomy_id')
        .select({ row: 'r.term_taxonomy_id' })
        .count({ real: '*' })) as { row: number; real: number | string }[]
    ).map(({ row, real }) => [row, Number(real)]),
  );
  return rows
    .filter(({ taxonomy }) => LANGUAGE_TAXONOMIES.some((one) => one === taxonomy))
    .map((row) => ({ row, real: row.taxonomy === OF_POSTS.language ? (published.get(row.row) ?? 0) : (objects.get(row.row)?.length ?? 0) }))
    .filter(({ row, real }) => row.count !== real);
}

const POLYLANG: readonly LanguageFault[] = [
  {
    name: 'languages-twice',
    severity: 'warning',
    find: async (db) =>
      duplicatesOf(await loadLanguageRows(db), LANGUAGE_TAXONOMIES).map(
        ({ object, taxonomy }) => `${KIND_OF_TAXONOMY[taxonomy]} ${object}`,
      ),
    fix: (db) => keepFirst(db, LANGUAGE_TAXONOMIES),
  },
  {
    name: 'translations-twice',
    severity: 'warning',
    find: async (db) =>
      duplicatesOf(await loadLanguageRows(db), GROUP_TAXONOMIES).map(({ object, taxonomy }) => `${KIND_OF_TAXONOMY[taxonomy]} ${object}`),
    fix: (db) => keepFirst(db, GROUP_TAXONOMIES),
  },
  {
    name: 'translations-broken',
    severity: 'warning',
    find: async (db) => (await brokenGroups(db)).map(({ group, relatedIds }) => `${group.slug}: ${relatedIds.join(', ')}`),
    fix: async (db) => {
      for (const group of await findInLockedTaxonomyRows(db, brokenGroups, ({ group: { row } }) => [row])) await repairGroup(db, group);
    },
  },
  {
    name: 'translations-stale',
    severity: 'warning',
    find: async (db) => staleGroups(await loadLanguageRows(db)).map(({ slug }) => slug),
    fix: async (db) => {
      const findStale = async () => staleGroups(await loadLanguageRows(db));
      const stale = await findInLockedTaxonomyRows(db, findStale, ({ row }) => [row]);
      for (const batch of pagesOf(stale, BATCH_SIZE)) {
        await db
          .from('term_taxonomy')
          .whereIn(
            'term_taxonomy_id',
            batch.map(({ row }) => row),
          )
          .delete();
        await db
          .from('terms')
          .whereIn(
            'term_id',
            batch.map(({ term }) => term),
          )
          .delete();
      }
    },
  },
  {
    name: 'language-counts-wrong',
    severity: 'warning',
    find: async (db) => (await wrongCounts(db)).map(({ row, real }) => `${row.slug}: ${row.count} / ${real}`),
    fix: async (db) => {
      const wrongRows = await findInLockedTaxonomyRows(db, wrongCounts, ({ row: { row } }) => [row]);
      for (const { row, real } of wrongRows) await db.from('term_taxonomy').where('term_taxonomy_id', row.row).update({ count: real });
      reportTaxonomyRows(
        db,
        wrongRows.map(({ row }) => row.row),
      );
    },
  },
];

// ------------------------------------------------------------------------------------------------- WPML
/** Returns WPML's rows of our records, and of files of the library, that no longer exist. */
async function orphanedRows(db: Database): Promise<OrphanedRow[]> {
  return [
    ...(await rowsWithout(
      db,
      [...postTypes, 'attachment'].map((type) => `post_${type}`),
      ['posts', 'ID'],
    )),
    ...(await rowsWithout(
      db,
      calendarTaxonomies.map((taxonomy) => `tax_${taxonomy}`),
      ['term_taxonomy', 'term_taxonomy_id'],
    )),
  ];
}

type OrphanedRow = Pick<IclTranslationRow, 'translation_id' | 'element_type' | 'element_id'>;

/** Returns WPML's rows of these types whose elements a table does not have in a column. */
const rowsWithout = (
  db: Database,
  types: readonly string[],
  [table, column]: readonly ['posts' | 'term_taxonomy', string],
): PromiseLike<OrphanedRow[]> =>
  db
    .from('icl_translations', 'w')
    .whereIn('w.element_type', types)
    .whereNotNull('w.element_id')
    .whereNotExists(
      (sub) =>
        void sub
          .select(db.raw('1'))
          .from({ o: db.table(table) })
          .where(`o.${column}`, db.ref('w.element_id')),
    )
    .select('w.translation_id', 'w.element_type', 'w.element_id');

const WPML: readonly LanguageFault[] = [
  {
    name: 'languages-of-nothing',
    severity: 'warning',
    find: async (db) => (await orphanedRows(db)).map((row) => `${row.element_type} ${row.element_id}`),
    fix: async (db) => removeRows(db, 'icl_translations', await orphanedRows(db)),
  },
];
