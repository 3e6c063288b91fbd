import type { Knex } from 'knex';
import { type EventDates, type Occurrence, occurrence, occurrenceHash } from '../calendar/dates.ts';
import type { Database } from './database.ts';

/**
 * Writes the calendar's own rows of an event (`tec_events`, `tec_occurrences`) after a change of its dates, and gives the occurrence. Inconsistent dates
 * leave the rows as they are: then there is none. The occurrence keeps its id, as the calendar does it. `updatedAt`: UTC.
 */
export async function writeOccurrence(db: Database, postId: number, dates: EventDates, updatedAt: string): Promise<Occurrence | undefined> {
  const row = occurrence(dates);
  if (row === null) return undefined;
  const { duration, ...moments } = row;
  const [events, occurrences] = [db.table('tec_events'), db.table('tec_occurrences')];
  const known = (await db
    .knex(events)
    .where('post_id', postId)
    .select('event_id as id', db.knex.raw("'event' AS what"))
    .unionAll((rows: Knex.QueryBuilder) =>
      rows.from(occurrences).where('post_id', postId).select('occurrence_id as id', db.knex.raw("'occurrence' AS what")),
    )) as { id: number; what: 'event' | 'occurrence' }[];
  const [present] = known.filter(({ what }) => what === 'occurrence').sort((one, other) => one.id - other.id);
  const event = { ...moments, timezone: dates.timezone, duration, updated_at: updatedAt, hash: '' };
  let eventId = known.find(({ what }) => what === 'event')?.id;
  if (eventId === undefined) [eventId] = await db.knex(events).insert({ post_id: postId, ...event });
  else await db.knex(events).where('event_id', eventId).update(event);

  const after = { event_id: eventId, post_id: postId, ...moments, duration, hash: occurrenceHash(postId, row), updated_at: updatedAt };
  if (present) await db.knex(occurrences).where('occurrence_id', present.id).update(after);
  else await db.knex(occurrences).insert(after);
  return row;
}

/** Removes the calendar's rows of an event that is deleted for good. */
export async function removeOccurrence(db: Database, postId: number): Promise<void> {
  for (const table of ['tec_occurrences', 'tec_events'] as const) await db.knex(db.table(table)).where('post_id', postId).delete();
}

/** The first start and the last end (UTC) among published and private events, with the events that mark them. */
export async function calendarEdges(
  db: Database,
): Promise<{ earliest?: { at: string; ids: number[] }; latest?: { at: string; ids: number[] } }> {
  const rows = () =>
    db
      .knex({ o: db.table('tec_occurrences') })
      .join({ p: db.table('posts') }, 'p.ID', 'o.post_id')
      .where('p.post_type', 'tribe_events')
      .whereIn('p.post_status', ['publish', 'private']);
  const edge = async (column: string, pick: 'min' | 'max') => {
    const found = (await rows()[pick]({ at: column }).first()) as { at: string | null } | undefined;
    if (!found?.at) return undefined;
    const ids = (await rows().where(column, found.at).orderBy('p.ID').select('p.ID as id')) as { id: number }[];
    return { at: found.at, ids: ids.map(({ id }) => id) };
  };
  const [earliest, latest] = [await edge('o.start_date_utc', 'min'), await edge('o.end_date_utc', 'max')];
  return { ...(earliest ? { earliest } : {}), ...(latest ? { latest } : {}) };
}
