import { postKind } from '../../kinds/index.ts';
import type { Database } from '../engine/database.ts';
import { verbatim } from '../engine/statement.ts';
import { ALL_EVENTS, STATUSES } from './event-index-rows.ts';

/**
 * Whether the index contains every event, under its status and its first start. Both sides are counted, so that this
 * takes much less time than a comparison of all rows. They differ if WordPress's tables were replaced by older ones, or
 * ours by those of another database. One statement counts both, as they are at one moment: other processes may write.
 */
export async function coversAllEvents(db: Database): Promise<boolean> {
  const sums = await db.rows<Summary>`
    SELECT post_status, NULL AS status, COUNT(*) AS n, SUM(moment % ${MODULUS}) AS checksum
    FROM (
      SELECT p.ID, p.post_status, MIN(${START}) AS moment FROM {tec_occurrences} o JOIN {posts} p ON p.ID = o.post_id
      WHERE p.post_type = ${postKind('event').postType} AND p.post_status IN (${[...STATUSES.keys()]})
      GROUP BY p.ID, p.post_status
    ) e GROUP BY post_status
    UNION ALL
    SELECT NULL, status, COUNT(*), SUM(moment % ${MODULUS})
    FROM (
      SELECT post_id, status, MIN(start_at) AS moment FROM {fasti_entries} WHERE facet = ${ALL_EVENTS} GROUP BY post_id, status
    ) i GROUP BY status`;
  const [entries, events] = [sums.filter((sum) => sum.post_status === null), sums.filter((sum) => sum.post_status !== null)];
  return textOf(events) === textOf(entries);
}

/** A start as a number of 14 digits, as in the index. SQLite reads the name of the type as a number, too. */
const START = verbatim("CAST(REPLACE(REPLACE(REPLACE(o.start_date, '-', ''), ' ', ''), ':', '') AS SIGNED)");

/** Number of events of a status, as WordPress or the index stores it, and a checksum of their first starts. */
interface Summary {
  readonly post_status: string | null;
  readonly status: number | null;
  readonly n: number | string;
  readonly checksum: number | string;
}

/** A prime number that keeps sums of moments, which have 14 digits, below the largest integer of SQLite. */
const MODULUS = 1_000_003;

const textOf = (sums: readonly Summary[]): string =>
  sums
    .map(({ post_status, status, n, checksum }) => `${STATUSES.get(post_status ?? '') ?? status ?? 0}: ${Number(n)} ${Number(checksum)}`)
    .sort()
    .join();
