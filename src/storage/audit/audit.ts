import { INDEX_OPTION } from '../../calendar/settings.ts';
import { postTypes, taxonomies } from '../../kinds/index.ts';
import { typedEntries } from '../../typed-keys.ts';
import type { ContentLanguages } from '../../wordpress/content-languages.ts';
import { holdsObject } from '../../wordpress/php/serialized.ts';
import { isBrokenArray } from '../../wordpress/php/serialized-repair.ts';
import type { QueryBuilder } from '../engine/builder.ts';
import { type Database, DatabaseUnavailable } from '../engine/database.ts';
import type { Inspection, TableDefinition } from '../engine/dialect.ts';
import { pagesById } from '../engine/pages.ts';
import type { TableName } from '../engine/tables.ts';
import { lockChanges } from '../freshness/foreign-changes.ts';
import { indexLayout, isIndexUpToDate, unindexableAmong } from '../index/event-index.ts';
import { coversAllEvents } from '../index/event-index-cover.ts';
import { hasWrongCounts } from '../index/event-index-rebuild.ts';
import { idsOfType } from '../lists/posts-of-type.ts';
import { readOptions } from '../rows/options.ts';
import { tableDefinitions } from '../schema/migrate.ts';

/* Checks whether the tables are sound. The functions only read, unless their comment says otherwise. */

const BATCH_SIZE = 1000;

/** Returns the database's information about itself and about the existing tables. */
export const inspectDatabase = (db: Database): Promise<Inspection> =>
  db.dialect.inspect(
    db,
    tableDefinitions().map(({ name }) => db.table(name)),
  );

/** A key that a table should have. */
export interface MissingKey {
  readonly table: string;
  readonly columns: readonly string[];
  /** The statement that creates it. */
  readonly statement: string;
}

/** Keys of WordPress's tables that only its recent versions create. The tables of older ones lack nothing. */
const RECENT_KEYS: ReadonlySet<string> = new Set(['type_status_author']);

/** Returns the keys of our table definitions that are missing: no key of the table begins with their columns. */
export const missingKeys = (db: Database, inspection: Inspection): MissingKey[] =>
  existingTables(db, inspection).flatMap(({ definition, table, hasKey }) =>
    Object.entries({ ...definition.unique, ...definition.keys }).flatMap(([label, columns]) =>
      RECENT_KEYS.has(label) || hasKey(columns)
        ? []
        : [{ table, columns: columnsOf(columns), statement: db.dialect.addKey(definition, label, db.prefixOf(definition.name)) }],
    ),
  );

/** A primary key that a table lacks, or whose numbers the database does not assign. */
export interface MissingPrimaryKey extends Omit<MissingKey, 'statement'> {
  /** The statement that creates it; absent if the database has none. */
  readonly statement?: string;
  /** The column of the number by which other tables know the rows; absent if no table does. */
  readonly namedBy?: string;
}

/** Tables whose rows are known by their numbers in other tables. */
const RECORD_TABLES: ReadonlySet<TableName> = new Set(['posts', 'terms', 'term_taxonomy', 'users', 'comments', 'tec_events']);

/** Returns the missing primary keys. The dump of a database adds them at its end, which was not reached. */
export const missingPrimaryKeys = (db: Database, inspection: Inspection): MissingPrimaryKey[] =>
  existingTables(db, inspection).flatMap(({ definition, table, hasKey }) => {
    const { name, columns, primary } = definition;
    const isNumbered = inspection.numbered.has(table) || !Object.values(columns).some((type) => type.includes('AUTO_INCREMENT'));
    if (hasKey(primary) && isNumbered) return [];
    const statement = db.dialect.addPrimaryKey(definition, db.prefixOf(name), hasKey(primary));
    const [namedBy] = RECORD_TABLES.has(name) ? primary : [];
    return [{ table, columns: columnsOf(primary), ...(statement ? { statement } : {}), ...(namedBy ? { namedBy } : {}) }];
  });

/** Our definitions of the tables that exist. `hasKey`: whether a key of the table begins with these columns. */
const existingTables = (db: Database, { keys }: Inspection) =>
  tableDefinitions().flatMap((definition: TableDefinition) => {
    const table = db.table(definition.name);
    const tableKeys = keys.get(table);
    const hasKey = (columns: readonly string[]): boolean =>
      tableKeys?.some((key) => columnsOf(columns).every((column, index) => key[index]?.toLowerCase() === column)) === true;
    return tableKeys ? [{ definition, table, hasKey }] : [];
  });

const columnsOf = (key: readonly string[]): string[] => key.map((column) => column.replace(/\(\d+\)$/, '').toLowerCase());

/** Adds a key. Throws the driver's error if existing rows violate a unique key. */
export async function addKey(db: Database, { statement }: MissingKey): Promise<void> {
  await db.ask(statement);
}

/**
 * Adds a primary key. MySQL gives a row with the number 0 a new one. For a record, a person has to decide first which
 * rows of other tables belong to it: they all have the number 0.
 *
 * @throws Error if there are such records; the driver's error if several rows have the same number
 */
export async function addPrimaryKey(db: Database, { table, statement, namedBy }: MissingPrimaryKey): Promise<void> {
  if (statement === undefined) return;
  const hasZero =
    namedBy !== undefined && (await db.ask(`SELECT 1 AS found FROM \`${table}\` WHERE \`${namedBy}\` = 0 LIMIT 1`)).length > 0;
  if (hasZero) throw new Error(`${table} has rows whose ${namedBy} is 0`);
  await db.ask(statement);
}

// ------------------------------------------------------------------------------------------------- terms
export interface WrongCount {
  readonly termTaxonomyId: number;
  readonly name: string;
  readonly count: number;
  readonly actual: number;
}

/** Returns the terms whose count differs from the number of published posts that have them. */
export async function wrongCounts(db: Database): Promise<WrongCount[]> {
  const rows: { id: number; name: string; count: number }[] = await db
    .from('term_taxonomy', 'tt')
    .join({ t: db.table('terms') }, 't.term_id', 'tt.term_id')
    .whereIn('tt.taxonomy', taxonomies)
    .select('tt.term_taxonomy_id as id', 't.name as name', 'tt.count as count');
  const countRows: { id: number; real: number | string }[] = await db
    .from('term_relationships', 'r')
    .join({ p: db.table('posts') }, 'p.ID', 'r.object_id')
    .where('p.post_status', 'publish')
    .groupBy('r.term_taxonomy_id')
    .select('r.term_taxonomy_id as id')
    .count({ real: '*' });
  const real = new Map(countRows.map((row) => [Number(row.id), Number(row.real)]));
  return rows.flatMap(({ id, name, count }) =>
    Number(count) === (real.get(id) ?? 0) ? [] : [{ termTaxonomyId: id, name, count: Number(count), actual: real.get(id) ?? 0 }],
  );
}

// ------------------------------------------------------------------------------------------------- values
/** A stored value that PHP can't unserialize. */
export interface BrokenValue {
  readonly table: 'postmeta' | 'options' | 'usermeta';
  readonly id: number;
  readonly of: string;
  readonly value: string;
}

const SERIALIZED_COLUMNS = {
  postmeta: { id: 'meta_id', value: 'meta_value', name: 'meta_key', owner: 'post_id' },
  options: { id: 'option_id', value: 'option_value', name: 'option_name', owner: undefined },
  usermeta: { id: 'umeta_id', value: 'meta_value', name: 'meta_key', owner: 'user_id' },
} as const;

/**
 * Yields unreadable serialized arrays in options and in metas of posts and users. `isUtf8`: whether the column is in
 * UTF-8. An old WordPress with `DB_CHARSET` latin1 stores the bytes of UTF-8 in columns of that character set: it reads
 * a value with the right lengths, while other programs see two characters for one.
 */
export async function* brokenValues(db: Database): AsyncGenerator<BrokenValue & { readonly isUtf8: boolean }> {
  for (const [table, { id, value, name, owner }] of typedEntries(SERIALIZED_COLUMNS)) {
    const read = (
      after: number,
      size: number,
    ): PromiseLike<{ id: number; value: string; name: string; owner: number; is_utf8: number }[]> =>
      db
        .from(table)
        .where(id, '>', after)
        .where(value, 'like', 'a:%')
        .orderBy(id)
        .limit(size)
        .select({ id, value, name, owner: owner ?? id, is_utf8: db.raw(...db.dialect.isUtf8(value)) });
    for await (const rows of pagesById(BATCH_SIZE, read)) {
      for (const row of rows)
        if (isBrokenArray(row.value))
          yield {
            table,
            id: row.id,
            of: owner ? `${row.owner} ${row.name}` : row.name,
            value: row.value,
            isUtf8: Number(row.is_utf8) === 1,
          };
    }
  }
}

/** Yields the values of these metas of posts in which WordPress would find a PHP object, and create it. */
export async function* objectsInMetas(db: Database, keys: readonly string[]): AsyncGenerator<BrokenValue> {
  const read = (after: number, size: number): PromiseLike<{ id: number; value: string; name: string; owner: number }[]> =>
    db
      .from('postmeta')
      .where('meta_id', '>', after)
      .whereIn('meta_key', keys)
      .where((any: QueryBuilder) =>
        any.where('meta_value', 'like', '%O:%').orWhere('meta_value', 'like', '%C:%').orWhere('meta_value', 'like', '%E:%'),
      )
      .orderBy('meta_id')
      .limit(size)
      .select({ id: 'meta_id', value: 'meta_value', name: 'meta_key', owner: 'post_id' });
  for await (const rows of pagesById(BATCH_SIZE, read)) {
    for (const { id, value, name, owner } of rows) if (holdsObject(value)) yield { table: 'postmeta', id, of: `${owner} ${name}`, value };
  }
}

/** Writes a repaired value, unless the value has changed in the meantime. */
export async function repairValue(db: Database, { table, id, value }: BrokenValue, repaired: string): Promise<void> {
  const columns = SERIALIZED_COLUMNS[table];
  await db
    .from(table)
    .where({ [columns.id]: id, [columns.value]: value })
    .update({ [columns.value]: repaired });
}

// ------------------------------------------------------------------------------------------------- terms and posts
/** Returns the terms of a taxonomy that share their slug with another term of it. */
export const termsOfSharedSlugs = (db: Database, taxonomy: string): Promise<{ id: number; slug: string }[]> =>
  db.rows<{ id: number; slug: string }>`
    SELECT t.term_id AS id, t.slug FROM {terms} t JOIN {term_taxonomy} tt ON tt.term_id = t.term_id
    WHERE tt.taxonomy = ${taxonomy} AND t.slug IN (
      SELECT x.slug FROM {terms} x JOIN {term_taxonomy} y ON y.term_id = x.term_id
      WHERE y.taxonomy = ${taxonomy} AND x.slug <> '' GROUP BY x.slug HAVING COUNT(*) > 1)
    ORDER BY t.term_id`;

/**
 * Returns the records of the calendar whose author no longer exists. Records suggested by visitors never had an author.
 */
export async function postsWithMissingAuthor(db: Database): Promise<number[]> {
  const rows: { id: number }[] = await db
    .from('posts', 'p')
    .whereIn('p.post_type', postTypes)
    .where('p.post_author', '<>', 0)
    .whereNotExists((sub) =>
      sub
        .select(db.raw('1'))
        .from({ u: db.table('users') })
        .where('u.ID', db.ref('p.post_author')),
    )
    .orderBy('p.ID')
    .select('p.ID as id');
  return rows.map(({ id }) => id);
}

/** Yields the files of the library: the ids of attachments and their paths below the folder of uploads. */
export async function* attachedFiles(db: Database): AsyncGenerator<{ id: number; file: string }> {
  const read = (after: number, size: number): PromiseLike<{ id: number; file: string | null }[]> =>
    db
      .from('postmeta', 'm')
      .join({ p: db.table('posts') }, 'p.ID', 'm.post_id')
      .where('p.post_type', 'attachment')
      .where('m.meta_key', '_wp_attached_file')
      .where('p.ID', '>', after)
      .orderBy('p.ID')
      .limit(size)
      .select('p.ID as id', 'm.meta_value as file');
  for await (const rows of pagesById(BATCH_SIZE, read)) for (const { id, file } of rows) yield { id, file: file ?? '' };
}

// ------------------------------------------------------------------------------------------------- bookkeeping
export type IndexState = 'trusted' | 'off' | 'wrong';

/**
 * Determines whether lists are read from the index, and if so, whether it matches the tables for each event, each day
 * and each month.
 */
export async function indexState(db: Database, languages: ContentLanguages | undefined): Promise<IndexState> {
  if ((await readOptions(db, [INDEX_OPTION])).get(INDEX_OPTION) !== indexLayout(languages)) return 'off';
  if (!(await coversAllEvents(db))) return 'wrong';
  for await (const ids of pagesById(EVENTS_PER_STEP, (after, size) => idsOfType(db, 'tribe_events', after, size)))
    if (await failsAlone(db, async (reader) => !(await isIndexUpToDate(reader, ids, languages)))) return 'wrong';
  return (await hasWrongCounts(db, undefined, (check) => failsAlone(db, check))) ? 'wrong' : 'trusted';
}

/**
 * Whether a check of several queries fails. Other processes may write between the queries, so one that has failed is
 * repeated while they wait. A user who may only read cannot make them wait, and repeats it without that.
 */
async function failsAlone(db: Database, check: (db: Database) => Promise<boolean>): Promise<boolean> {
  if (!(await check(db))) return false;
  try {
    return await db.transaction(async (trx) => {
      await lockChanges(trx);
      return check(trx);
    });
  } catch (error) {
    if (error instanceof DatabaseUnavailable && error.reason === 'read-only') return check(db);
    throw error;
  }
}

/**
 * Returns the events whose dates or links cannot be indexed, so that lists work without the index even after a rebuild.
 */
export async function unindexableEvents(db: Database, languages: ContentLanguages | undefined): Promise<number[]> {
  const unindexable: number[] = [];
  for await (const ids of pagesById(EVENTS_PER_STEP, (after, size) => idsOfType(db, 'tribe_events', after, size)))
    unindexable.push(...(await unindexableAmong(db, ids, languages)));
  return unindexable;
}

/** Number of events whose rows are compared at once. */
const EVENTS_PER_STEP = 200;

/** Returns the sources whose import was not finished. */
export async function openImports(db: Database): Promise<string[]> {
  return (await db.from('fasti_imports').where('open', 1).select('source')).map(({ source }) => source);
}
