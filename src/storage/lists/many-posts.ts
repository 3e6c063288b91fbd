import { DATES } from '../../kinds/events/metas.ts';
import { taxonomies } from '../../kinds/index.ts';
import type { Post } from '../../wordpress/rows.ts';
import type { Database } from '../engine/database.ts';
import { insertRows } from '../engine/insert.ts';
import type { TableName } from '../engine/tables.ts';
import { postChanged, postMade, taxonomyRowsChanged, termTouched } from '../journal/touched.ts';
import { BLANK, removeCommentsOf } from '../rows/posts.ts';
import { countRows } from '../rows/row-count.ts';
import { raiseCounts } from '../rows/terms.ts';
import type { Visibility } from './post-query.ts';
import { whereVisible } from './post-visibility.ts';

/*
 * Many rows in few statements, for imports and exports. What is written here is new: nothing of it may exist yet.
 */

/** Characters in one statement: servers limit the size of what they are sent. */
const CHARACTERS = 2 ** 20;
const IDS = 1000;

/** What holds these ids: type and guid by id. */
export async function takenPostIds(db: Database, ids: readonly number[]): Promise<Map<number, Pick<Post, 'ID' | 'post_type' | 'guid'>>> {
  const rows: Pick<Post, 'ID' | 'post_type' | 'guid'>[] = await inParts(ids, (some) =>
    db.from('posts').whereIn('ID', some).select('ID', 'post_type', 'guid'),
  );
  return new Map(rows.map((row) => [row.ID, row]));
}

/** Which of these ids (of terms, of rows of taxonomies, of users) are taken. */
export async function takenIds(db: Database, table: 'terms' | 'term_taxonomy' | 'users', ids: readonly number[]): Promise<Set<number>> {
  const column = { terms: 'term_id', term_taxonomy: 'term_taxonomy_id', users: 'ID' }[table];
  const rows: { id: number }[] = await inParts(ids, (some) => db.from(table).whereIn(column, some).select({ id: column }));
  return new Set(rows.map(({ id }) => id));
}

export async function highestPostId(db: Database): Promise<number> {
  const row = (await db.from('posts').max({ id: 'ID' }).first()) as { id: number | null } | undefined;
  return Number(row?.id ?? 0);
}

/** Ids of published posts of a type, the first ones. */
export async function publishedIds(db: Database, type: string, most: number): Promise<number[]> {
  const rows = await db.from('posts').where({ post_type: type, post_status: 'publish' }).orderBy('ID').limit(most).select('ID');
  return rows.map(({ ID }) => ID);
}

/** Posts of any type that have one of these slugs. */
export async function holdersOfSlugs(db: Database, slugs: readonly string[]): Promise<Pick<Post, 'ID' | 'post_type' | 'post_name'>[]> {
  return inParts(slugs, (some) => db.from('posts').whereIn('post_name', some).select('ID', 'post_type', 'post_name'));
}

/** Removes what is left of posts that no longer exist, so that new ones under their ids don't inherit it. */
export async function removeRemains(db: Database, ids: readonly number[], occurrences: boolean): Promise<void> {
  if (ids.length === 0) return;
  for (const id of ids) postChanged(db, id);
  const ours = db.from('term_taxonomy').whereIn('taxonomy', taxonomies).select('term_taxonomy_id');
  await db
    .from('postmeta')
    .whereIn('post_id', [...ids])
    .delete();
  await db
    .from('term_relationships')
    .whereIn('object_id', [...ids])
    .whereIn('term_taxonomy_id', ours)
    .delete();
  await removeCommentsOf(db, ids);
  if (!occurrences) return;
  for (const table of ['tec_occurrences', 'tec_events'] as const)
    await db
      .from(table)
      .whereIn('post_id', [...ids])
      .delete();
}

/** Inserts posts under the ids they carry. */
export async function insertPosts(db: Database, posts: readonly Partial<Post>[]): Promise<void> {
  await insertAll(
    db,
    'posts',
    posts.map((columns) => ({ ...BLANK, ...columns })),
  );
  for (const { ID, ...columns } of posts) if (ID !== undefined) postMade(db, ID, columns);
}

export async function insertMetas(
  db: Database,
  metas: readonly { post_id: number; meta_key: string; meta_value: string }[],
): Promise<void> {
  await insertAll(db, 'postmeta', metas);
  for (const { post_id: id } of metas) postChanged(db, id);
}

/** Links posts to rows of taxonomies. */
export async function insertTermLinks(db: Database, links: readonly { object_id: number; term_taxonomy_id: number }[]): Promise<void> {
  await insertAll(
    db,
    'term_relationships',
    links.map((link) => ({ ...link, term_order: 0 })),
  );
  for (const { object_id: id } of links) postChanged(db, id);
}

/** Adds to the counts of terms, by `term_taxonomy_id`. */
export async function addToCounts(db: Database, more: ReadonlyMap<number, number>): Promise<void> {
  taxonomyRowsChanged(db, more.keys());
  await raiseCounts(db, more);
}

/** Inserts a term under these ids where they are given. Returns its `term_id` and `term_taxonomy_id`. */
export async function insertTermAs(
  db: Database,
  taxonomy: string,
  term: { id: number | undefined; taxonomyId: number | undefined; name: string; slug: string; description: string; parent: number },
): Promise<{ id: number; taxonomyId: number }> {
  const { id, taxonomyId, name, slug, description, parent } = term;
  const named = { name, slug, term_group: 0 };
  const term_id = (await insertRows(db, 'terms', [id === undefined ? named : { ...named, term_id: id }])) || id!;
  const placed = { term_id, taxonomy, description, parent, count: 0 };
  const given = await insertRows(db, 'term_taxonomy', [taxonomyId === undefined ? placed : { ...placed, term_taxonomy_id: taxonomyId }]);
  termTouched(db, { term_id, taxonomy }, 'made');
  return { id: term_id, taxonomyId: given || taxonomyId! };
}

/** Titles of a type outside the trash, with the start where there is one, in pages by id. */
export async function titlesOf(
  db: Database,
  type: string,
  after: number,
  limit: number,
): Promise<{ id: number; title: string; start: string | null }[]> {
  return db
    .from('posts', 'p')
    .leftJoin({ m: db.table('postmeta') }, (on) => on.on('m.post_id', 'p.ID').andOnVal('m.meta_key', DATES.start))
    .where('p.post_type', type)
    .whereNotIn('p.post_status', ['trash', 'auto-draft'])
    .where('p.ID', '>', after)
    .orderBy('p.ID')
    .limit(limit)
    .select({ id: 'p.ID', title: 'p.post_title', start: 'm.meta_value' });
}

/** Ids of posts of a type, whatever their status but unsaved ones, those after an id, in their order. */
export async function idsOfType(db: Database, type: string, after: number, limit: number): Promise<number[]> {
  const rows: { id: number }[] = await db
    .from('posts')
    .where('post_type', type)
    .whereNot('post_status', 'auto-draft')
    .where('ID', '>', after)
    .orderBy('ID')
    .limit(limit)
    .select({ id: 'ID' });
  return rows.map(({ id }) => id);
}

/** How many posts there are of each type, and how many comments on posts of `types`. */
export async function countTypes(
  db: Database,
  types: readonly string[],
): Promise<{ posts: Map<string, number>; comments: number; highestId: number }> {
  const rows: { type: string; number: number | string; highest: number }[] = await db
    .from('posts')
    .whereNot('post_status', 'auto-draft')
    .groupBy('post_type')
    .select({ type: 'post_type' })
    .count({ number: '*' })
    .max({ highest: 'ID' });
  const comments = await countRows(
    db
      .from('comments', 'c')
      .join({ p: db.table('posts') }, 'p.ID', 'c.comment_post_ID')
      .whereIn('p.post_type', [...types]),
  );
  return {
    posts: new Map(rows.map(({ type, number }) => [type, Number(number)])),
    comments,
    highestId: Math.max(0, ...rows.map(({ highest }) => highest)),
  };
}

/** Ids of those who wrote posts of these types. */
export async function authorsOfTypes(db: Database, types: readonly string[]): Promise<number[]> {
  const rows: { id: number }[] = await db
    .from('posts')
    .whereIn('post_type', [...types])
    .distinct({ id: 'post_author' });
  return rows.map(({ id }) => id);
}

/** Ids of those who wrote these posts. */
export async function authorsOfPosts(db: Database, ids: readonly number[]): Promise<Set<number>> {
  const rows: { id: number }[] = await inParts(ids, (some) => db.from('posts').whereIn('ID', some).distinct({ id: 'post_author' }));
  return new Set(rows.map(({ id }) => id));
}

/** What posts name in these metas: the key and the id there. */
export async function linksOfPosts(db: Database, ids: readonly number[], keys: readonly string[]): Promise<{ key: string; id: number }[]> {
  const rows: { key: string; value: string }[] = await inParts(ids, (some) =>
    db
      .from('postmeta')
      .whereIn('post_id', some)
      .whereIn('meta_key', [...keys])
      .distinct({ key: 'meta_key', value: 'meta_value' }),
  );
  return rows.flatMap(({ key, value }) => (/^[1-9]\d{0,14}$/.test(value) ? [{ key, id: Number(value) }] : []));
}

/** Ids of the terms of a taxonomy that these posts carry. */
export async function termsOfPosts(db: Database, ids: readonly number[], taxonomy: string): Promise<Set<number>> {
  const rows: { id: number }[] = await inParts(ids, (some) =>
    db
      .from('term_relationships', 'r')
      .join({ tt: db.table('term_taxonomy') }, 'tt.term_taxonomy_id', 'r.term_taxonomy_id')
      .whereIn('r.object_id', some)
      .where('tt.taxonomy', taxonomy)
      .distinct({ id: 'tt.term_id' }),
  );
  return new Set(rows.map(({ id }) => id));
}

/** Ids of the posts of a type that a caller may see, those after an id, in their order. */
export async function visibleIds(db: Database, type: string, visible: Visibility, after: number, limit: number): Promise<number[]> {
  const rows: { id: number }[] = await db
    .from('posts', 'p')
    .where('p.post_type', type)
    .where('p.ID', '>', after)
    .where((where) => whereVisible(db, where, 'p', visible))
    .orderBy('p.ID')
    .limit(limit)
    .select({ id: 'p.ID' });
  return rows.map(({ id }) => id);
}

/** How many posts of a type a caller may see, by status. `author`: only those of this person. */
export async function countVisible(db: Database, type: string, visible: Visibility, author?: number): Promise<Map<string, number>> {
  const rows: { status: string; number: number | string }[] = await db
    .from('posts', 'p')
    .where('p.post_type', type)
    .modify((builder) => void (author !== undefined && builder.where('p.post_author', author)))
    .where((where) => whereVisible(db, where, 'p', visible))
    .groupBy('p.post_status')
    .select({ status: 'p.post_status' })
    .count({ number: '*' });
  return new Map(rows.map(({ status, number }) => [status, Number(number)]));
}

type Row = Readonly<Record<string, string | number | null>>;

async function insertAll(db: Database, table: TableName, rows: readonly Row[]): Promise<void> {
  for (const part of parts(rows)) await insertRows(db, table, part);
}

/** Rows in statements of no more than this many characters. */
function* parts(rows: readonly Row[]): Generator<Row[]> {
  let part: Row[] = [];
  let size = 0;
  for (const row of rows) {
    part.push(row);
    for (const value of Object.values(row)) size += typeof value === 'string' ? value.length : 8;
    if (size < CHARACTERS) continue;
    yield part;
    part = [];
    size = 0;
  }
  if (part.length > 0) yield part;
}

async function inParts<Value, Found>(values: readonly Value[], ask: (some: Value[]) => PromiseLike<Found[]>): Promise<Found[]> {
  const all = [...new Set(values)];
  const rows: Found[] = [];
  for (let at = 0; at < all.length; at += IDS) rows.push(...(await ask(all.slice(at, at + IDS))));
  return rows;
}
