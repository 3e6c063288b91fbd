import { postTypes } from '../../kinds/index.ts';
import type { Post } from '../../wordpress/rows.ts';
import { DATED_STATUSES } from '../../wordpress/status.ts';
import { diffSeconds, isRealDate, toFullDate, utcFromDate } from '../../wordpress/time.ts';
import { toLocal, toUtc, type Zone } from '../../wordpress/zones.ts';
import type { Database } from '../engine/database.ts';
import { pagesById } from '../engine/pages.ts';

/** The parameters of repairs. `zone`: of the site. */
export interface RepairContext {
  readonly zone: Zone;
  readonly now: Date;
}

type Dated = Pick<Post, 'ID' | 'post_title' | 'post_date' | 'post_date_gmt' | 'post_modified'>;

/**
 * Returns posts without a valid date. Zero dates sort below every date, and neither database treats them as a date. An
 * SQLite file may contain any text instead of a date.
 */
export const withoutDate = (db: Database): Promise<Dated[]> =>
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
export function datesOf(post: Dated, { zone, now }: RepairContext): Pick<Post, 'post_date' | 'post_date_gmt'> {
  const [date, gmt, modified] = [post.post_date, post.post_date_gmt, post.post_modified].map(toFullDate) as [string, string, string];
  if (isRealDate(date)) return { post_date: date, post_date_gmt: toUtc(date, zone) };
  if (isRealDate(gmt)) return { post_date: toLocal(gmt, zone), post_date_gmt: gmt };
  const local = isRealDate(modified) ? modified : toLocal(utcFromDate(now), zone);
  return { post_date: local, post_date_gmt: toUtc(local, zone) };
}

/** Returns the published records one of whose two dates of change is not a date. */
export const withoutChange = (db: Database): Promise<Changed[]> =>
  db.rows<Changed>`SELECT ID, post_title, post_date, post_date_gmt, post_modified, post_modified_gmt FROM {posts}
    WHERE post_type IN (${postTypes}) AND post_status IN (${DATED_STATUSES}) AND (post_modified < ${FIRST_DATE} OR post_modified_gmt < ${FIRST_DATE}
      OR post_modified > ${LAST_DATE} OR post_modified_gmt > ${LAST_DATE} OR post_modified NOT LIKE ${FORM}
      OR post_modified_gmt NOT LIKE ${FORM}) ORDER BY ID`;

type Changed = Dated & Pick<Post, 'post_modified_gmt'>;

/**
 * Returns the dates of the last change of a post. A missing one of the two is computed from the other; if both are
 * missing, they are those of publication.
 */
export function changeOf(post: Changed, context: RepairContext): Pick<Post, 'post_modified' | 'post_modified_gmt'> {
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
export async function contradictions(db: Database, zone: Zone | undefined): Promise<Contradiction[]> {
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
