import type { EventDates } from '../../calendar/dates.ts';
import type { StoredValue } from '../../wordpress/php/serialized.ts';
import type { Post } from '../../wordpress/rows.ts';
import type { Database } from '../engine/database.ts';
import { insertRows } from '../engine/insert.ts';
import { reportPostCreated } from '../journal/reported-changes.ts';
import { insertOccurrences } from './occurrences.ts';
import { DEFAULT_COLUMNS, insertMetas } from './posts.ts';

/** An event to be inserted together with many others. Its slug must be unique. */
export interface NewEvent {
  /** Columns that are not given get WordPress's defaults. All events must give the same columns. */
  readonly columns: Partial<Omit<Post, 'ID'>> & Pick<Post, 'post_name'>;
  readonly metas: Readonly<Record<string, readonly StoredValue[]>>;
  /** Ids of rows in `term_taxonomy`. */
  readonly terms: readonly number[];
  readonly dates: EventDates;
}

/**
 * Inserts many events with a few statements for each table, and returns their ids in order. The caller is responsible
 * for the counts of terms, the calendar's edges and the change counter. Must be called in a transaction.
 */
export async function insertEvents(db: Database, events: readonly NewEvent[], updatedAt: string): Promise<number[]> {
  if (events.length === 0) return [];
  await insertRows(
    db,
    'posts',
    events.map(({ columns }) => ({ ...DEFAULT_COLUMNS, ...columns })),
  );
  const bySlug = await idsBySlug(db, events);
  const ids = events.map(({ columns }) => bySlug.get(columns.post_name)!);
  for (const [index, { columns }] of events.entries()) reportPostCreated(db, ids[index]!, columns);

  await insertMetas(db, new Map(events.map(({ metas }, index) => [ids[index]!, metas])));
  const links = events.flatMap((event, index) =>
    event.terms.map((term_taxonomy_id) => ({ object_id: ids[index]!, term_taxonomy_id, term_order: 0 })),
  );
  await insertRows(db, 'term_relationships', links);

  await insertOccurrences(db, new Map(events.map(({ dates }, index) => [ids[index]!, dates])), updatedAt);
  return ids;
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
