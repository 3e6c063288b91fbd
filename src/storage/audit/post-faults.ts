import { groupedBy } from '../../grouped-by.ts';
import { EXTERNAL_ID } from '../../kinds/external-id.ts';
import { postTypes, taxonomies, termKind } from '../../kinds/index.ts';
import type { Post, Term } from '../../wordpress/rows.ts';
import { sanitizeTitle, uniqueSlug } from '../../wordpress/slug.ts';
import { DATED_STATUSES } from '../../wordpress/status.ts';
import type { Zone } from '../../wordpress/zones.ts';
import type { Database } from '../engine/database.ts';
import { verbatim } from '../engine/statement.ts';
import { lockNames, slugLock, termSlugLock, termTreeLock } from '../rows/locks.ts';
import { removeRows } from '../rows/own-numbers.ts';
import { slugsLike, updatePost } from '../rows/posts.ts';
import { takenTermSlugs } from '../rows/terms.ts';
import { findInLockedPosts, findInLockedTerms } from './find-locked.ts';
import { categoryLoops, postLoops } from './loops.ts';
import { changeOf, contradictions, datesOf, type RepairContext, withoutChange, withoutDate } from './post-dates.ts';
import { isSame, repeatedLinks, repeatedMetas, surplusRows } from './repeated-metas.ts';

/*
 * Faults in posts and terms that WordPress itself would not write: an empty slug, a parent below its own child, two
 * rows instead of one.
 */

export interface RowFault {
  readonly name: RowFaultName;
  /** A note may be intended. */
  readonly severity: 'error' | 'warning' | 'note';
  /** Returns the locations of the fault, one line for each. `zone`: of the site; undefined if it is unknown. */
  readonly find: (db: Database, zone: Zone | undefined) => Promise<string[]>;
  /**
   * Repairs the fault if there is only one possible repair; absent if a person has to decide. Must be called in a
   * transaction.
   */
  readonly fix?: (db: Database, context: RepairContext) => Promise<void>;
}

export type RowFaultName =
  | 'categories-below-themselves'
  | 'posts-below-themselves'
  | 'slugs-empty'
  | 'post-dates-missing'
  | 'modified-dates-missing'
  | 'post-dates-contradict'
  | 'post-dates-of-other-zone'
  | 'metas-twice'
  | 'metas-contradict'
  | 'external-ids-shared'
  | 'links-twice'
  | 'term-slugs-empty'
  | 'term-names-empty';

export const ROW_FAULTS: readonly RowFault[] = [
  {
    name: 'categories-below-themselves',
    severity: 'error',
    find: async (db) => (await categoryLoops(db)).map((ids) => ids.join(' - ')),
    fix: async (db) => {
      await lockNames(db, [termTreeLock(termKind('category').taxonomy)]);
      for (const [id] of await categoryLoops(db))
        await db
          .from('term_taxonomy')
          .where({ taxonomy: termKind('category').taxonomy, term_id: id! })
          .update({ parent: 0 });
    },
  },
  {
    name: 'posts-below-themselves',
    severity: 'warning',
    find: async (db) => (await postLoops(db)).map((ids) => ids.join(' - ')),
    fix: async (db) => {
      for (const [id] of await findInLockedPosts(db, postLoops, (ids) => ids)) await updatePost(db, id!, { post_parent: 0 });
    },
  },
  {
    name: 'slugs-empty',
    severity: 'error',
    find: async (db) => (await withoutSlug(db)).map(({ ID, post_title: title }) => `${ID} ${title}`),
    fix: async (db) => {
      const posts = (await findInLockedPosts(db, withoutSlug, idsOf)).map(({ ID: id, post_type: type, post_title: title }) => {
        const base = sanitizeTitle(title) || String(id);
        return { id, type, base, lock: slugLock(type, base) };
      });
      await lockNames(
        db,
        posts.map(({ lock }) => lock),
      );
      for (const { id, type, base } of posts)
        await updatePost(db, id, { post_name: uniqueSlug(base, await slugsLike(db, type, base, id)) });
    },
  },
  {
    name: 'post-dates-missing',
    severity: 'error',
    find: async (db) => (await withoutDate(db)).map(({ ID, post_title: title }) => `${ID} ${title}`),
    fix: async (db, context) => {
      for (const post of await findInLockedPosts(db, withoutDate, idsOf)) await updatePost(db, post.ID, datesOf(post, context));
    },
  },
  {
    name: 'modified-dates-missing',
    severity: 'warning',
    find: async (db) => (await withoutChange(db)).map(({ ID, post_title: title }) => `${ID} ${title}`),
    fix: async (db, context) => {
      for (const post of await findInLockedPosts(db, withoutChange, idsOf)) await updatePost(db, post.ID, changeOf(post, context));
    },
  },
  {
    name: 'post-dates-contradict',
    severity: 'warning',
    find: async (db, zone) => (await contradictions(db, zone)).filter(({ isOffset }) => !isOffset).map(({ line }) => line),
  },
  {
    name: 'post-dates-of-other-zone',
    severity: 'note',
    find: async (db, zone) => (await contradictions(db, zone)).filter(({ isOffset }) => isOffset).map(({ line }) => line),
  },
  {
    name: 'metas-twice',
    severity: 'warning',
    find: async (db) => (await repeatedMetas(db)).filter(isSame).map(({ of, key }) => `${of} ${key}`),
    fix: async (db) => {
      const repeated = (await findInLockedPosts(db, repeatedMetas, ({ of }) => [of])).filter(isSame);
      await removeRows(db, 'postmeta', repeated.flatMap(surplusRows));
    },
  },
  {
    name: 'metas-contradict',
    severity: 'warning',
    find: async (db) =>
      (await repeatedMetas(db)).filter((meta) => !isSame(meta)).map(({ of, key, values }) => `${of} ${key}: ${values.join(' / ')}`),
  },
  { name: 'external-ids-shared', severity: 'warning', find: sharedExternalIds },
  {
    name: 'links-twice',
    severity: 'warning',
    find: async (db) => (await repeatedLinks(db)).map(({ of, key, value }) => `${of} ${key} ${value}`),
    fix: async (db) => {
      const repeated = (await findInLockedPosts(db, repeatedLinks, ({ of }) => [of])).filter(({ hasOwnNumber }) => hasOwnNumber);
      await removeRows(
        db,
        'postmeta',
        repeated.map(({ id, of, key }) => ({ meta_id: id, post_id: of, meta_key: key })),
      );
    },
  },
  {
    name: 'term-slugs-empty',
    severity: 'error',
    find: async (db) => (await withoutTermSlug(db)).map(({ term_id: id, name }) => `${id} ${name}`),
    fix: async (db) => {
      const terms = (await findInLockedTerms(db, withoutTermSlug, ({ term_id: id }) => [id])).map(({ term_id: id, name }) => {
        const base = sanitizeTitle(name) || String(id);
        return { id, base, lock: termSlugLock(base) };
      });
      await lockNames(
        db,
        terms.map(({ lock }) => lock),
      );
      for (const { id, base } of terms) {
        const takenSlugs = (await takenTermSlugs(db, base, id)).map(({ slug }) => slug);
        await db
          .from('terms')
          .where('term_id', id)
          .update({ slug: uniqueSlug(base, new Set(takenSlugs)) });
      }
    },
  },
  {
    name: 'term-names-empty',
    severity: 'error',
    find: async (db) => (await withoutTermName(db)).map(({ term_id: id, slug }) => `${id} ${slug}`),
    fix: async (db) => {
      for (const { term_id: id, slug } of await findInLockedTerms(db, withoutTermName, ({ term_id }) => [term_id]))
        await db.from('terms').where('term_id', id).update({ name: slug });
    },
  },
];

const idsOf = ({ ID: id }: Pick<Post, 'ID'>): number[] => [id];

type Titled = Pick<Post, 'ID' | 'post_type' | 'post_title'>;

const withoutSlug = (db: Database): Promise<Titled[]> =>
  db.rows<Titled>`SELECT ID, post_type, post_title FROM {posts}
    WHERE post_type IN (${postTypes}) AND post_status IN (${DATED_STATUSES}) AND post_name = '' ORDER BY ID`;

/** Returns the categories and tags without a name or a slug. */
const termsWithout = (db: Database, column: 'name' | 'slug'): Promise<Pick<Term, 'term_id' | 'name' | 'slug'>[]> =>
  db.rows<Pick<Term, 'term_id' | 'name' | 'slug'>>`SELECT DISTINCT t.term_id, t.name, t.slug FROM {terms} t
    JOIN {term_taxonomy} tt ON tt.term_id = t.term_id
    WHERE tt.taxonomy IN (${taxonomies}) AND TRIM(${verbatim(`t.${column}`)}) = '' ORDER BY t.term_id`;

const withoutTermSlug = (db: Database) => termsWithout(db, 'slug');
const withoutTermName = (db: Database) => termsWithout(db, 'name');

/** Returns the external ids that several records of one kind have, with the ids of these. They are compared exactly. */
async function sharedExternalIds(db: Database): Promise<string[]> {
  // A database may take texts for the same that differ in case.
  const rows = await db.rows<{ type: string; value: string; id: number }>`
    SELECT DISTINCT p.post_type AS type, m.meta_value AS value, p.ID AS id FROM {postmeta} m JOIN {posts} p ON p.ID = m.post_id
    WHERE m.meta_key = ${EXTERNAL_ID} AND p.post_type IN (${postTypes}) AND m.meta_value IN (
      SELECT x.meta_value FROM {postmeta} x JOIN {posts} y ON y.ID = x.post_id
      WHERE x.meta_key = ${EXTERNAL_ID} AND x.meta_value <> '' AND y.post_type IN (${postTypes})
      GROUP BY x.meta_value HAVING COUNT(DISTINCT y.ID) > 1) ORDER BY p.ID`;
  return [...groupedBy(rows, ({ type, value }) => `${type} ${value}`)].flatMap(([name, alike]) =>
    alike.length > 1 ? [`${name}: ${alike.map(({ id }) => id).join(', ')}`] : [],
  );
}
