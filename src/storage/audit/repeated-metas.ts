import { DATES } from '../../kinds/events/metas.ts';
import { postKinds, postTypes } from '../../kinds/index.ts';
import type { Database } from '../engine/database.ts';

/** A meta for which a record has several rows but should have one. */
interface RepeatedMeta {
  readonly of: number;
  readonly key: string;
  readonly ids: readonly number[];
  readonly values: readonly string[];
}

/** Whether all rows of a repeated meta have the same value. */
export const isSame = ({ values }: RepeatedMeta): boolean => values.every((value) => value === values[0]);

/** Returns all rows of a repeated meta except the first, which stays. */
export const surplusRows = ({ of, key, ids }: RepeatedMeta): { meta_id: number; post_id: number; meta_key: string }[] =>
  ids.flatMap((id) => (id === ids[0] ? [] : [{ meta_id: id, post_id: of, meta_key: key }]));

/** Metas that a record has only once: those that store a field, and the dates of events. */
const SINGLE_METAS: readonly string[] = [
  ...new Set([
    ...Object.values(DATES),
    ...postKinds.flatMap(({ fields }) => Object.values(fields).flatMap(({ place }) => (place.in === 'meta' ? [place.key] : []))),
  ]),
].filter((key) => !postKinds.some(({ links }) => key in links));

/** Returns the metas that a record should have once and has several times. */
export const repeatedMetas = (db: Database): Promise<RepeatedMeta[]> => metasSeveralTimes(db, SINGLE_METAS);

/** Metas that link to other records: a record may have several, with different targets. */
const LINKS: readonly string[] = postKinds.flatMap(({ links }) => Object.keys(links));

/** A row that links to the same target as an earlier row. `hasOwnNumber`: whether no other link has the same `id`. */
interface RepeatedLink {
  readonly of: number;
  readonly key: string;
  readonly id: number;
  readonly value: string;
  readonly hasOwnNumber: boolean;
}

/** Returns the rows that link to the same target as an earlier row of the same record. */
export const repeatedLinks = async (db: Database): Promise<RepeatedLink[]> =>
  (await metasSeveralTimes(db, LINKS)).flatMap(({ of, key, ids, values }) =>
    ids.flatMap((id, index) => {
      const value = values[index]!;
      return values.indexOf(value) < index ? [{ of, key, id, value, hasOwnNumber: ids.indexOf(id) === ids.lastIndexOf(id) }] : [];
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
