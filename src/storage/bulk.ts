import { type EventDates, occurrence, occurrenceHash } from '../calendar/dates.ts';
import type { Post } from '../wordpress/rows.ts';
import type { Database } from './database.ts';
import { BLANK } from './posts.ts';
import type { TableName } from './tables.ts';

/** An event to be inserted with many others. Its slug must be its own. */
export interface NewEvent {
  /** Columns that are not named get WordPress's defaults; each event names the same. */
  readonly columns: Partial<Omit<Post, 'ID'>> & Pick<Post, 'post_name'>;
  readonly metas: Readonly<Record<string, readonly string[]>>;
  /** Rows of `term_taxonomy`. */
  readonly terms: readonly number[];
  readonly dates: EventDates;
}

/**
 * Inserts many events with a few statements for each table, and gives their ids in order. Counts of terms, the calendar's edges and the change
 * counter are left to the caller. Call it in a transaction.
 */
export async function insertEvents(db: Database, events: readonly NewEvent[], updatedAt: string): Promise<number[]> {
  if (events.length === 0) return [];
  await insertRows(
    db,
    'posts',
    events.map(({ columns }) => ({ ...BLANK, ...columns })),
  );
  const bySlug = await idsBySlug(db, events);
  const ids = events.map(({ columns }) => bySlug.get(columns.post_name)!);

  const metas = events.flatMap((event, place) =>
    Object.entries(event.metas).flatMap(([meta_key, values]) =>
      values.map((meta_value) => ({ post_id: ids[place]!, meta_key, meta_value })),
    ),
  );
  await insertRows(db, 'postmeta', metas);
  const links = events.flatMap((event, place) =>
    event.terms.map((term_taxonomy_id) => ({ object_id: ids[place]!, term_taxonomy_id, term_order: 0 })),
  );
  await insertRows(db, 'term_relationships', links);

  await insertOccurrences(db, new Map(events.map(({ dates }, place) => [ids[place]!, dates])), updatedAt);
  return ids;
}

/** Writes the calendar's rows of events that have none yet. Inconsistent dates get none; gives the ids of those events. */
export async function insertOccurrences(db: Database, events: ReadonlyMap<number, EventDates>, updatedAt: string): Promise<number[]> {
  const unsound: number[] = [];
  const rows = [...events].flatMap(([post_id, dates]) => {
    const row = occurrence(dates);
    if (row === null) unsound.push(post_id);
    return row === null ? [] : [{ row, post_id, timezone: dates.timezone }];
  });
  await insertRows(
    db,
    'tec_events',
    rows.map(({ row, post_id, timezone }) => ({ post_id, timezone, ...row, updated_at: updatedAt, hash: '' })),
  );
  const eventIds = await numbersBy(
    db,
    'tec_events',
    'post_id',
    'event_id',
    rows.map(({ post_id }) => post_id),
  );
  await insertRows(
    db,
    'tec_occurrences',
    rows.map(({ row, post_id }) => ({
      event_id: eventIds.get(post_id)!,
      post_id,
      ...row,
      hash: occurrenceHash(post_id, row),
      updated_at: updatedAt,
    })),
  );
  return unsound;
}

/** SQLite takes 32,766 values in a statement; a tenth of that compiles faster. */
const MOST_VALUES = 3000;

/**
 * Inserts many rows that all name the columns of the first. knex writes many rows as a UNION for SQLite, which is slow and bounded; a list of VALUES
 * is understood by both databases.
 */
export async function insertRows(
  db: Database,
  name: TableName,
  rows: readonly Readonly<Record<string, string | number | null>>[],
): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  const most = Math.max(1, Math.floor(MOST_VALUES / columns.length));
  const names = columns.map(() => '??').join(', ');
  const row = `(${columns.map(() => '?').join(', ')})`;
  for (let first = 0; first < rows.length; first += most) {
    const chunk = rows.slice(first, first + most);
    const values = chunk.flatMap((one) => columns.map((column) => one[column] ?? null));
    await db.knex.raw(`INSERT INTO ?? (${names}) VALUES ${chunk.map(() => row).join(', ')}`, [
      db.table(name),
      ...columns,
      ...values,
    ] as never[]);
  }
}

async function idsBySlug(db: Database, events: readonly NewEvent[]): Promise<Map<string, number>> {
  const rows = await db
    .from('posts')
    .whereIn(
      'post_name',
      events.map(({ columns }) => columns.post_name),
    )
    .where('post_type', 'tribe_events')
    .select('ID', 'post_name');
  return new Map(rows.map((row) => [row.post_name, row.ID]));
}

async function numbersBy(
  db: Database,
  name: 'tec_events',
  key: 'post_id',
  value: 'event_id',
  keys: readonly number[],
): Promise<Map<number, number>> {
  const rows = await db
    .from(name)
    .whereIn(key, [...keys])
    .select(key, value);
  return new Map(rows.map((row) => [row[key], row[value]]));
}
