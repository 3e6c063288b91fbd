import { postKind, postKinds, postTypes, taxonomies, termKind } from '../../kinds/index.ts';
import type { QueryBuilder, RawSql } from '../engine/builder.ts';
import { type Database, hasTable } from '../engine/database.ts';
import { asId } from '../engine/expressions.ts';
import { countRows } from '../rows/row-count.ts';

/*
 * Orphaned rows: the record they refer to was deleted without them. WordPress ignores them, but they cost space and
 * time, and some of them show as a name without a record.
 */

/** A kind of orphaned rows. */
export interface Orphans {
  readonly name: OrphanName;
  /** Returns their number and the first examples. */
  readonly find: (db: Database) => Promise<FoundRows>;
  /** Deletes them, or clears their reference. Must be called in a transaction. */
  readonly fix: (db: Database) => Promise<void>;
}

export interface FoundRows {
  readonly count: number;
  readonly examples: readonly string[];
}

export type OrphanName =
  | 'metas-without-post'
  | 'links-without-post'
  | 'links-without-term'
  | 'taxonomies-without-term'
  | 'terms-without-taxonomy'
  | 'rows-without-event'
  | 'links-to-nothing'
  | 'images-gone'
  | 'comments-without-post'
  | 'comment-metas-without-comment'
  | 'term-metas-without-term'
  | 'user-metas-without-user'
  | 'attachments-of-nothing'
  | 'parents-gone';

const MAX_EXAMPLES = 10;
/** Number of rows that one statement deletes. */
const BATCH_SIZE = 500;

type Query = QueryBuilder;

/**
 * A rule for one table: the condition for orphans, the description of a row, and the columns that name it: the key of
 * the table and the columns of the condition, so that a row with the same number that is no orphan is left alone.
 */
interface Rule {
  readonly name: OrphanName;
  readonly table: Parameters<Database['from']>[0];
  readonly key: readonly string[];
  readonly orphans: (db: Database, rows: Query) => void;
  readonly describe: (row: Record<string, unknown>) => string;
  /** If given, rows are updated with these values instead of deleted. */
  readonly set?: Readonly<Record<string, unknown>>;
}

const whereMissing = (
  db: Database,
  rows: Query,
  [table, column]: readonly [table: Parameters<Database['from']>[0], column: string],
  ownValue: RawSql | string,
  narrow: (query: Query) => void = () => undefined,
): void => {
  rows.whereNotExists((sub: Query) => {
    sub.select(db.raw('1')).from({ x: db.table(table) });
    if (typeof ownValue === 'string') sub.where(`x.${column}`, db.ref(ownValue));
    else sub.where(`x.${column}`, ownValue);
    narrow(sub);
  });
};

const RULES: readonly Rule[] = [
  {
    name: 'metas-without-post',
    table: 'postmeta',
    key: ['meta_id', 'post_id'],
    orphans: (db, rows) => whereMissing(db, rows, ['posts', 'ID'], 'o.post_id'),
    describe: ({ post_id, meta_key }) => `${String(post_id)} ${String(meta_key)}`,
  },
  {
    name: 'links-without-post',
    table: 'term_relationships',
    key: ['object_id', 'term_taxonomy_id'],
    orphans: (db, rows) => {
      // Objects of other taxonomies need not be posts.
      rows.whereIn('o.term_taxonomy_id', (sub: Query) =>
        sub.select('term_taxonomy_id').from(db.table('term_taxonomy')).whereIn('taxonomy', taxonomies),
      );
      whereMissing(db, rows, ['posts', 'ID'], 'o.object_id');
    },
    describe: ({ object_id, term_taxonomy_id }) => `${String(object_id)} - ${String(term_taxonomy_id)}`,
  },
  {
    name: 'links-without-term',
    table: 'term_relationships',
    key: ['object_id', 'term_taxonomy_id'],
    orphans: (db, rows) => {
      rows.whereIn('o.object_id', (sub: Query) => sub.select('ID').from(db.table('posts')).whereIn('post_type', postTypes));
      whereMissing(db, rows, ['term_taxonomy', 'term_taxonomy_id'], 'o.term_taxonomy_id');
    },
    describe: ({ object_id, term_taxonomy_id }) => `${String(object_id)} - ${String(term_taxonomy_id)}`,
  },
  {
    name: 'taxonomies-without-term',
    table: 'term_taxonomy',
    key: ['term_taxonomy_id', 'taxonomy', 'term_id'],
    orphans: (db, rows) => {
      rows.whereIn('o.taxonomy', taxonomies);
      whereMissing(db, rows, ['terms', 'term_id'], 'o.term_id');
    },
    describe: ({ taxonomy, term_id }) => `${String(taxonomy)} ${String(term_id)}`,
  },
  {
    name: 'terms-without-taxonomy',
    table: 'terms',
    key: ['term_id'],
    orphans: (db, rows) => whereMissing(db, rows, ['term_taxonomy', 'term_id'], 'o.term_id'),
    describe: ({ term_id, name }) => `${String(term_id)} ${String(name)}`,
  },
  ...(['tec_events', 'tec_occurrences'] as const).map(
    (table): Rule => ({
      name: 'rows-without-event',
      table,
      key: [table === 'tec_events' ? 'event_id' : 'occurrence_id', 'post_id'],
      orphans: (db, rows) =>
        whereMissing(db, rows, ['posts', 'ID'], 'o.post_id', (sub) => sub.where('x.post_type', postKind('event').postType)),
      describe: ({ post_id }) => `${table} ${String(post_id)}`,
    }),
  ),
  ...postKinds
    .flatMap(({ links }) => Object.entries(links))
    .map(
      ([key, kind]): Rule => ({
        name: 'links-to-nothing',
        table: 'postmeta',
        key: ['meta_id', 'post_id', 'meta_key', 'meta_value'],
        orphans: (db, rows) => {
          rows.where('o.meta_key', key).whereNotIn('o.meta_value', ['', '0']);
          whereMissing(db, rows, ['posts', 'ID'], asId(db, 'o.meta_value'), (sub) => sub.where('x.post_type', postKind(kind).postType));
        },
        describe: ({ post_id, meta_value }) => `${String(post_id)} ${key} ${String(meta_value)}`,
      }),
    ),
  {
    name: 'images-gone',
    table: 'postmeta',
    key: ['meta_id', 'post_id', 'meta_key', 'meta_value'],
    orphans: (db, rows) => {
      rows.where('o.meta_key', '_thumbnail_id').whereNotIn('o.meta_value', ['', '0']);
      rows.whereIn('o.post_id', (sub: Query) => sub.select('ID').from(db.table('posts')).whereIn('post_type', postTypes));
      whereMissing(db, rows, ['posts', 'ID'], asId(db, 'o.meta_value'), (sub) => sub.where('x.post_type', 'attachment'));
    },
    describe: ({ post_id, meta_value }) => `${String(post_id)} - ${String(meta_value)}`,
  },
  {
    name: 'comments-without-post',
    table: 'comments',
    key: ['comment_ID', 'comment_post_ID'],
    orphans: (db, rows) => {
      // Some plugins store notes that do not belong to a post.
      rows.where('o.comment_post_ID', '>', 0);
      whereMissing(db, rows, ['posts', 'ID'], 'o.comment_post_ID');
    },
    describe: ({ comment_ID, comment_post_ID }) => `${String(comment_ID)} - ${String(comment_post_ID)}`,
  },
  {
    name: 'comment-metas-without-comment',
    table: 'commentmeta',
    key: ['meta_id', 'comment_id'],
    orphans: (db, rows) => whereMissing(db, rows, ['comments', 'comment_ID'], 'o.comment_id'),
    describe: ({ comment_id, meta_key }) => `${String(comment_id)} ${String(meta_key)}`,
  },
  {
    name: 'term-metas-without-term',
    table: 'termmeta',
    key: ['meta_id', 'term_id'],
    orphans: (db, rows) => whereMissing(db, rows, ['terms', 'term_id'], 'o.term_id'),
    describe: ({ term_id, meta_key }) => `${String(term_id)} ${String(meta_key)}`,
  },
  {
    name: 'user-metas-without-user',
    table: 'usermeta',
    key: ['umeta_id', 'user_id'],
    orphans: (db, rows) => whereMissing(db, rows, ['users', 'ID'], 'o.user_id'),
    describe: ({ user_id, meta_key }) => `${String(user_id)} ${String(meta_key)}`,
  },
  {
    name: 'attachments-of-nothing',
    table: 'posts',
    key: ['ID', 'post_type', 'post_parent'],
    orphans: (db, rows) => {
      rows.where('o.post_type', 'attachment').where('o.post_parent', '>', 0);
      whereMissing(db, rows, ['posts', 'ID'], 'o.post_parent');
    },
    describe: ({ ID, post_parent }) => `${String(ID)} - ${String(post_parent)}`,
    set: { post_parent: 0 },
  },
  {
    name: 'parents-gone',
    table: 'term_taxonomy',
    key: ['term_taxonomy_id', 'taxonomy', 'parent'],
    orphans: (db, rows) => {
      const { taxonomy } = termKind('category');
      rows.where('o.taxonomy', taxonomy).where('o.parent', '>', 0);
      whereMissing(db, rows, ['term_taxonomy', 'term_id'], 'o.parent', (sub) => sub.where('x.taxonomy', taxonomy));
    },
    describe: ({ term_id, parent }) => `${String(term_id)} - ${String(parent)}`,
    set: { parent: 0 },
  },
];

/** All kinds, ordered so that a kind comes before those that its repair may create. */
export const ORPHANS: readonly Orphans[] = [...new Set(RULES.map(({ name }) => name))].map((name) => {
  const rules = RULES.filter((rule) => rule.name === name);
  return {
    name,
    find: async (db) => {
      const results = await Promise.all((await applicable(db, rules)).map((rule) => foundBy(db, rule)));
      return {
        count: results.reduce((sum, { count }) => sum + count, 0),
        examples: results.flatMap(({ examples }) => examples).slice(0, MAX_EXAMPLES),
      };
    },
    fix: async (db) => {
      for (const rule of await applicable(db, rules)) await fixBy(db, rule);
    },
  };
});

/** Returns the rules whose tables exist: not every site has the calendar's own tables. */
async function applicable(db: Database, rules: readonly Rule[]): Promise<readonly Rule[]> {
  const tableExists = await Promise.all(rules.map(({ table }) => hasTable(db, table)));
  return rules.filter((_, index) => tableExists[index]);
}

function rowsOf(db: Database, { table, orphans }: Rule): Query {
  const rows: Query = db.from(table, 'o');
  orphans(db, rows);
  return rows;
}

async function foundBy(db: Database, rule: Rule): Promise<FoundRows> {
  const count = await countRows(rowsOf(db, rule));
  const rows: Record<string, unknown>[] = count === 0 ? [] : await rowsOf(db, rule).select('o.*').limit(MAX_EXAMPLES);
  return { count, examples: rows.map(rule.describe) };
}

/**
 * Repairs orphans in batches, by their keys: neither database can delete from a table that the condition also reads.
 */
async function fixBy(db: Database, rule: Rule): Promise<void> {
  for (let before = ''; ; ) {
    const rows: Keys[] = await rowsOf(db, rule)
      .select(rule.key.map((column) => `o.${column}`))
      .limit(BATCH_SIZE);
    // A text with broken bytes is read as another one, which no row has.
    const read = JSON.stringify(rows);
    if (rows.length === 0 || read === before) return;
    before = read;
    const orphanedRows = await lockOrphans(db, rule, rows);
    if (orphanedRows.length === 0) continue;
    const batch = db.from(rule.table).where((any: Query) => isAny(any, rule, orphanedRows));
    await (rule.set ? batch.update(rule.set) : batch.delete());
  }
}

type Keys = Readonly<Record<string, string | number>>;

/** Selects rows by their keys. `table`: the alias of the table with a dot, if it has one. */
function isAny(query: Query, { key }: Rule, rows: readonly Keys[], table = ''): void {
  for (const row of rows) query.orWhere(Object.fromEntries(key.map((column) => [`${table}${column}`, row[column]!])));
}

/**
 * Locks rows until the end of the transaction, and returns those that are still orphaned: since they were read, another
 * transaction may have given one of them an existing record.
 */
async function lockOrphans(db: Database, rule: Rule, rows: readonly Keys[]): Promise<readonly Keys[]> {
  if (db.dialect.maxWriters === 1) return rows;
  await db
    .from(rule.table)
    .where((any: Query) => isAny(any, rule, rows))
    .select(...rule.key)
    .forUpdate();
  return rowsOf(db, rule)
    .where((any: Query) => isAny(any, rule, rows, 'o.'))
    .select(rule.key.map((column) => `o.${column}`));
}
