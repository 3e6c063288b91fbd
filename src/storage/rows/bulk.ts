import { type EventDates, occurrence, occurrenceHash } from '../../calendar/dates.ts';
import type { Post } from '../../wordpress/rows.ts';
import type { Database } from '../engine/database.ts';
import { insertRows } from '../engine/insert.ts';
import { postChanged, postMade } from '../journal/touched.ts';
import { BLANK } from './posts.ts';

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
 * Inserts many events with a few statements for each table, and returns their ids in order. Counts of terms, the
 * calendar's edges and the change counter are left to the caller. Call it in a transaction.
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
  for (const [place, { columns }] of events.entries()) postMade(db, ids[place]!, columns);

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

/**
 * Writes the calendar's rows of events that have none yet. Inconsistent dates get none; returns the ids of those
 * events.
 */
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
  for (const { post_id: id } of rows) postChanged(db, id);
  return unsound;
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
