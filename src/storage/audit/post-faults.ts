import { groupedBy } from '../../grouped-by.ts';
import { DATES } from '../../kinds/events/metas.ts';
import { postKinds, postTypes, taxonomies, termKind } from '../../kinds/index.ts';
import { EXTERNAL_ID } from '../../kinds/post-fields.ts';
import type { Post, Term } from '../../wordpress/rows.ts';
import { sanitizeTitle, uniqueSlug } from '../../wordpress/slug.ts';
import { diffSeconds, isRealDate, toFullDate, utcFromDate } from '../../wordpress/time.ts';
import { toLocal, toUtc, type Zone } from '../../wordpress/zones.ts';
import type { Database } from '../engine/database.ts';
import { pagesById, pagesOf } from '../engine/pages.ts';
import { verbatim } from '../engine/statement.ts';
import { lockNames, slugLock, termSlugLock } from '../rows/locks.ts';
import { slugsLike, updatePost } from '../rows/posts.ts';
import { takenTermSlugs } from '../rows/terms.ts';

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

/** The parameters of repairs. `zone`: of the site. */
export interface RepairContext {
  readonly zone: Zone;
  readonly now: Date;
}

/** Number of rows that are read or deleted at once. */
const BATCH_SIZE = 500;

export const ROW_FAULTS: readonly RowFault[] = [
  {
    name: 'categories-below-themselves',
    severity: 'error',
    find: async (db) => (await categoryLoops(db)).map((ids) => ids.join(' - ')),
    fix: async (db) => {
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
      for (const [id] of await postLoops(db)) await updatePost(db, id!, { post_parent: 0 });
    },
  },
  {
    name: 'slugs-empty',
    severity: 'error',
    find: async (db) => (await withoutSlug(db)).map(({ ID, post_title: title }) => `${ID} ${title}`),
    fix: async (db) => {
      const posts = (await withoutSlug(db)).map(({ ID: id, post_type: type, post_title: title }) => {
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
      for (const post of await withoutDate(db)) await updatePost(db, post.ID, datesOf(post, context));
    },
  },
  {
    name: 'modified-dates-missing',
    severity: 'warning',
    find: async (db) => (await withoutChange(db)).map(({ ID, post_title: title }) => `${ID} ${title}`),
    fix: async (db, context) => {
      for (const post of await withoutChange(db)) await updatePost(db, post.ID, changeOf(post, context));
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
      const surplusIds = (await repeatedMetas(db)).filter(isSame).flatMap(({ ids }) => ids.slice(1));
      for (const ids of pagesOf(surplusIds, BATCH_SIZE)) await db.from('postmeta').whereIn('meta_id', ids).delete();
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
      const surplusIds = (await repeatedLinks(db)).map(({ id }) => id);
      for (const ids of pagesOf(surplusIds, BATCH_SIZE)) await db.from('postmeta').whereIn('meta_id', ids).delete();
    },
  },
  {
    name: 'term-slugs-empty',
    severity: 'error',
    find: async (db) => (await termsWithout(db, 'slug')).map(({ term_id: id, name }) => `${id} ${name}`),
    fix: async (db) => {
      const terms = (await termsWithout(db, 'slug')).map(({ term_id: id, name }) => {
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
    find: async (db) => (await termsWithout(db, 'name')).map(({ term_id: id, slug }) => `${id} ${slug}`),
    fix: async (db) => {
      for (const { term_id: id, slug } of await termsWithout(db, 'name'))
        await db.from('terms').where('term_id', id).update({ name: slug });
    },
  },
];

// ------------------------------------------------------------------------------------------------- loops
const categoryLoops = async (db: Database): Promise<number[][]> =>
  loopsOf(
    await db.rows<ChildRow>`SELECT term_id AS id, parent FROM {term_taxonomy} WHERE taxonomy = ${termKind('category').taxonomy} AND parent > 0`,
  );

const postLoops = async (db: Database): Promise<number[][]> =>
  loopsOf(
    await db.rows<ChildRow>`SELECT ID AS id, post_parent AS parent FROM {posts} WHERE post_type IN (${postTypes}) AND post_parent > 0`,
  );

interface ChildRow {
  readonly id: number;
  readonly parent: number;
}

/** Returns the cycles in which each id is a child of the next one. The lowest id of a cycle comes first. */
function loopsOf(rows: readonly ChildRow[]): number[][] {
  const parents = new Map(rows.map(({ id, parent }) => [Number(id), Number(parent)]));
  const seen = new Set<number>();
  const loops: number[][] = [];
  for (const start of parents.keys()) {
    const path: number[] = [];
    let id: number | undefined = start;
    for (; id !== undefined && !seen.has(id); id = parents.get(id)) {
      seen.add(id);
      path.push(id);
    }
    const place = id === undefined ? -1 : path.indexOf(id);
    if (place >= 0) loops.push(lowestFirst(path.slice(place)));
  }
  return loops;
}

function lowestFirst(ring: readonly number[]): number[] {
  const place = ring.indexOf(ring.reduce((lowest, id) => Math.min(lowest, id)));
  return [...ring.slice(place), ...ring.slice(0, place)];
}

// ------------------------------------------------------------------------------------------------- columns
type Titled = Pick<Post, 'ID' | 'post_type' | 'post_title'>;

const withoutSlug = (db: Database): Promise<Titled[]> =>
  db.rows<Titled>`SELECT ID, post_type, post_title FROM {posts}
    WHERE post_type IN (${postTypes}) AND post_status IN (${DATED_STATUSES}) AND post_name = '' ORDER BY ID`;

/** Statuses in which WordPress assigns a slug and a date to a post. */
const DATED_STATUSES = ['publish', 'private', 'future'];

type Dated = Pick<Post, 'ID' | 'post_title' | 'post_date' | 'post_date_gmt' | 'post_modified'>;

/**
 * Returns posts without a valid date. Zero dates sort below every date, and neither database treats them as a date. An
 * SQLite file may contain any text instead of a date.
 */
const withoutDate = (db: Database): Promise<Dated[]> =>
  db.rows<Dated>`SELECT ID, post_title, post_date, post_date_gmt, post_modified FROM {posts}
    WHERE post_type IN (${postTypes}) AND post_status IN (${DATED_STATUSES}) AND (post_date < ${FIRST_DATE} OR post_date_gmt < ${FIRST_DATE}
      OR post_date > ${LAST_DATE} OR post_date_gmt > ${LAST_DATE} OR post_date NOT LIKE ${FORM} OR post_date_gmt NOT LIKE ${FORM}) ORDER BY ID`;

const FIRST_DATE = '1000-01-01 00:00:00';
const LAST_DATE = '9999-12-31 23:59:59';
const FORM = '____-__-__ __:__:__';

/**
 * Returns the dates of a post. A missing one of the two is computed from the other; if both are missing, they are the
 * time of the last change, or now.
 */
function datesOf(post: Dated, { zone, now }: RepairContext): Pick<Post, 'post_date' | 'post_date_gmt'> {
  const [date, gmt, modified] = [post.post_date, post.post_date_gmt, post.post_modified].map(toFullDate) as [string, string, string];
  if (isRealDate(date)) return { post_date: date, post_date_gmt: toUtc(date, zone) };
  if (isRealDate(gmt)) return { post_date: toLocal(gmt, zone), post_date_gmt: gmt };
  const local = isRealDate(modified) ? modified : toLocal(utcFromDate(now), zone);
  return { post_date: local, post_date_gmt: toUtc(local, zone) };
}

/** Returns the published records one of whose two dates of change is not a date. */
const withoutChange = (db: Database): Promise<Changed[]> =>
  db.rows<Changed>`SELECT ID, post_title, post_date, post_date_gmt, post_modified, post_modified_gmt FROM {posts}
    WHERE post_type IN (${postTypes}) AND post_status IN (${DATED_STATUSES}) AND (post_modified < ${FIRST_DATE} OR post_modified_gmt < ${FIRST_DATE}
      OR post_modified > ${LAST_DATE} OR post_modified_gmt > ${LAST_DATE} OR post_modified NOT LIKE ${FORM}
      OR post_modified_gmt NOT LIKE ${FORM}) ORDER BY ID`;

type Changed = Dated & Pick<Post, 'post_modified_gmt'>;

/**
 * Returns the dates of the last change of a post. A missing one of the two is computed from the other; if both are
 * missing, they are those of publication.
 */
function changeOf(post: Changed, context: RepairContext): Pick<Post, 'post_modified' | 'post_modified_gmt'> {
  const [local, utc] = [toFullDate(post.post_modified), toFullDate(post.post_modified_gmt)];
  if (isRealDate(local)) return { post_modified: local, post_modified_gmt: toUtc(local, context.zone) };
  if (isRealDate(utc)) return { post_modified: toLocal(utc, context.zone), post_modified_gmt: utc };
  const { post_date: date, post_date_gmt: gmt } = datesOf(post, context);
  return { post_modified: date, post_modified_gmt: gmt };
}

/** A record with two dates that should be the same moment. `isOffset`: another time zone explains the difference. */
interface Contradiction {
  readonly line: string;
  readonly isOffset: boolean;
}

/**
 * Returns the published records whose dates by the site's clock and in UTC are different moments. WordPress keeps both
 * dates when the zone of a site changes.
 */
async function contradictions(db: Database, zone: Zone | undefined): Promise<Contradiction[]> {
  if (!zone) return [];
  const found: Contradiction[] = [];
  const read = async (after: number, size: number) =>
    (
      await db.rows<Stamps>`SELECT ID AS id, post_date, post_date_gmt, post_modified, post_modified_gmt FROM {posts}
        WHERE ID > ${after} AND post_type IN (${postTypes}) AND post_status IN (${DATED_STATUSES}) ORDER BY ID LIMIT ${size}`
    ).map((row) => ({ ...row, id: Number(row.id) }));
  for await (const rows of pagesById(ROWS_PER_QUERY, read))
    for (const row of rows) {
      const wrong = stampsOf(row).find(([local, utc]) => toUtc(local, zone) !== utc && toLocal(utc, zone) !== local);
      if (wrong) found.push({ line: `${row.id} ${wrong[0]} / ${wrong[1]} UTC`, isOffset: isOffset(diffSeconds(wrong[1], wrong[0])) });
    }
  return found;
}

type Stamps = { readonly id: number } & Pick<Post, 'post_date' | 'post_date_gmt' | 'post_modified' | 'post_modified_gmt'>;

/** Returns the valid pairs of dates of a record, those of publication first. */
const stampsOf = (row: Stamps): (readonly [local: string, utc: string])[] =>
  [[row.post_date, row.post_date_gmt] as const, [row.post_modified, row.post_modified_gmt] as const].filter((pair) =>
    pair.every(isRealDate),
  );

/** Whether a time zone can be this far from UTC. */
const isOffset = (seconds: number): boolean => seconds % QUARTER_HOUR === 0 && seconds >= LEAST_OFFSET && seconds <= GREATEST_OFFSET;

const ROWS_PER_QUERY = 2000;
const QUARTER_HOUR = 900;
const [LEAST_OFFSET, GREATEST_OFFSET] = [-12 * 3600, 14 * 3600];

/** Returns the categories and tags without a name or a slug. */
const termsWithout = (db: Database, column: 'name' | 'slug'): Promise<Pick<Term, 'term_id' | 'name' | 'slug'>[]> =>
  db.rows<Pick<Term, 'term_id' | 'name' | 'slug'>>`SELECT DISTINCT t.term_id, t.name, t.slug FROM {terms} t
    JOIN {term_taxonomy} tt ON tt.term_id = t.term_id
    WHERE tt.taxonomy IN (${taxonomies}) AND TRIM(${verbatim(`t.${column}`)}) = '' ORDER BY t.term_id`;

// ------------------------------------------------------------------------------------------------- metas
/** A meta for which a record has several rows but should have one. */
interface RepeatedMeta {
  readonly of: number;
  readonly key: string;
  readonly ids: readonly number[];
  readonly values: readonly string[];
}

const isSame = ({ values }: RepeatedMeta): boolean => values.every((value) => value === values[0]);

/** Metas that a record has only once: those that store a field, and the dates of events. */
const SINGLE_METAS: readonly string[] = [
  ...new Set([
    ...Object.values(DATES),
    ...postKinds.flatMap(({ fields }) => Object.values(fields).flatMap(({ place }) => (place.in === 'meta' ? [place.key] : []))),
  ]),
].filter((key) => !postKinds.some(({ links }) => key in links));

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

const repeatedMetas = (db: Database): Promise<RepeatedMeta[]> => metasSeveralTimes(db, SINGLE_METAS);

/** Metas that link to other records: a record may have several, with different targets. */
const LINKS: readonly string[] = postKinds.flatMap(({ links }) => Object.keys(links));

/** Returns the rows that link to the same target as an earlier row of the same record. */
const repeatedLinks = async (db: Database): Promise<{ of: number; key: string; id: number; value: string }[]> =>
  (await metasSeveralTimes(db, LINKS)).flatMap(({ of, key, ids, values }) =>
    ids.flatMap((id, place) => {
      const value = values[place]!;
      return values.indexOf(value) < place ? [{ of, key, id, value }] : [];
    }),
  );

async function metasSeveralTimes(db: Database, keys: readonly string[]): Promise<RepeatedMeta[]> {
  const rows = await db.rows<{ post_id: number; meta_key: string; meta_id: number; meta_value: string | null }>`
    SELECT m.post_id, m.meta_key, m.meta_id, m.meta_value FROM {postmeta} m
    JOIN (SELECT post_id, meta_key FROM {postmeta} WHERE meta_key IN (${keys}) GROUP BY post_id, meta_key HAVING COUNT(*) > 1) r
      ON r.post_id = m.post_id AND r.meta_key = m.meta_key
    JOIN {posts} p ON p.ID = m.post_id WHERE p.post_type IN (${postTypes}) ORDER BY m.post_id, m.meta_key, m.meta_id`;
  const metas = new Map<string, { of: number; key: string; ids: number[]; values: string[] }>();
  for (const { post_id: of, meta_key: key, meta_id: id, meta_value: value } of rows) {
    const meta = metas.get(`${of} ${key}`) ?? { of, key, ids: [], values: [] };
    metas.set(`${of} ${key}`, meta);
    meta.ids.push(id);
    meta.values.push(value ?? '');
  }
  return [...metas.values()];
}
