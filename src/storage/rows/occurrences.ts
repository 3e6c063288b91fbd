import { type EventDates, type Occurrence, occurrence, occurrenceHash } from '../../calendar/dates.ts';
import type { RecurrenceSettings } from '../../calendar/settings.ts';
import { fail } from '../../errors.ts';
import { typedKeys } from '../../typed-keys.ts';
import { type Database, DatabaseUnavailable } from '../engine/database.ts';
import { insertRows } from '../engine/insert.ts';
import { DATES_PART } from '../journal/own-changes.ts';
import { reportPostChanged } from '../journal/reported-changes.ts';
import { isRecurringEvent } from './recurring-events.ts';

/** Parameters for writing the rows of an event; `recurrence`: from the settings. */
interface Writing {
  readonly updatedAt: string;
  readonly recurrence: RecurrenceSettings | undefined;
}

/**
 * Writes the calendar's own rows of an event (`tec_events`, `tec_occurrences`) after a change of its dates, and returns
 * the occurrence. If the dates are inconsistent, the rows are left unchanged and the result is undefined. As in the
 * calendar, the occurrence keeps its id. `updatedAt`: UTC. The rows of a recurring event are determined by its rule and
 * are not written.
 *
 * @throws recurring-event-dates if the event recurs and these are not its current dates; DatabaseUnavailable `busy`, so
 * that the transaction runs again, if WordPress has replaced the rows since they were read
 */
export async function writeOccurrence(
  db: Database,
  postId: number,
  dates: EventDates,
  { updatedAt, recurrence }: Writing,
): Promise<Occurrence | undefined> {
  const rows = calendarRows(postId, dates, updatedAt);
  if (rows === undefined) return undefined;
  if (recurrence && (await isRecurringEvent(db, postId))) return keptDates(db, postId, rows.moments);
  const knownRows = await db.rows<{ id: number; what: 'event' | 'occurrence' }>`
    SELECT event_id AS id, 'event' AS what FROM {tec_events} WHERE post_id = ${postId}
    UNION ALL SELECT occurrence_id, 'occurrence' FROM {tec_occurrences} WHERE post_id = ${postId}`;
  const [occurrenceRow] = knownRows.filter(({ what }) => what === 'occurrence').sort((one, other) => one.id - other.id);
  let eventId = knownRows.find(({ what }) => what === 'event')?.id;
  if (eventId === undefined) eventId = await insertRows(db, 'tec_events', [rows.event]);
  else if ((await db.from('tec_events').where({ event_id: eventId, post_id: postId }).update(rows.event)) === 0)
    throw new DatabaseUnavailable('busy');
  const occurrence = { ...rows.occurrence, event_id: eventId };
  if (!occurrenceRow) await insertRows(db, 'tec_occurrences', [occurrence]);
  else if ((await db.from('tec_occurrences').where({ occurrence_id: occurrenceRow.id, post_id: postId }).update(occurrence)) === 0)
    throw new DatabaseUnavailable('busy');
  reportPostChanged(db, postId, [DATES_PART]);
  return rows.moments;
}

/**
 * Writes the rows of events that have just been created, by their ids; events with inconsistent dates are left out. If
 * old rows exist under one of the ids, they are reused for the event.
 */
export async function writeFirstOccurrences(
  db: Database,
  events: ReadonlyMap<number, EventDates>,
  writing: Writing,
): Promise<Map<number, Occurrence>> {
  try {
    return await insertOccurrences(db, events, writing.updatedAt);
  } catch (error) {
    if (!db.dialect.isDuplicate(error)) throw error;
    const occurrences = new Map<number, Occurrence>();
    for (const [id, dates] of events) {
      const moments = await writeOccurrence(db, id, dates, writing);
      if (moments) occurrences.set(id, moments);
    }
    return occurrences;
  }
}

/** Inserts the calendar's rows of events that have none. Returns their occurrences, except for inconsistent dates. */
export async function insertOccurrences(
  db: Database,
  events: ReadonlyMap<number, EventDates>,
  updatedAt: string,
): Promise<Map<number, Occurrence>> {
  const rows = Array.from(events, ([id, dates]) => calendarRows(id, dates, updatedAt)).filter((row) => row !== undefined);
  const insertedId = await insertRows(
    db,
    'tec_events',
    rows.map(({ event }) => event),
  );
  const ids = rows.map(({ event }) => event.post_id);
  const eventIds = ids.length > 1 ? await eventIdsOf(db, ids) : new Map(ids.map((id) => [id, insertedId]));
  await insertRows(
    db,
    'tec_occurrences',
    rows.map(({ occurrence: row }) => ({ ...row, event_id: eventIds.get(row.post_id)! })),
  );
  for (const id of ids) reportPostChanged(db, id);
  return new Map(rows.map(({ event, moments }) => [event.post_id, moments]));
}

async function eventIdsOf(db: Database, ids: readonly number[]): Promise<Map<number, number>> {
  const rows = await db.rows<{
    id: number;
    post: number;
  }>`SELECT event_id AS id, post_id AS post FROM {tec_events} WHERE post_id IN (${ids})`;
  return new Map(rows.map(({ id, post }) => [post, id]));
}

/** Returns the given dates of a recurring event if they are the ones it has; otherwise throws. */
async function keptDates(db: Database, postId: number, moments: Occurrence): Promise<Occurrence> {
  const [first] = await db.rows<Omit<Occurrence, 'duration'>>`
    SELECT start_date, start_date_utc, end_date, end_date_utc FROM {tec_events} WHERE post_id = ${postId}`;
  const isSame = first && typedKeys(first).every((name) => first[name] === moments[name]);
  return isSame ? moments : fail('recurring-event-dates');
}

/** Returns the rows for dates; undefined if they are inconsistent. */
function calendarRows(postId: number, dates: EventDates, updatedAt: string) {
  const moments = occurrence(dates);
  if (moments === null) return undefined;
  return {
    moments,
    event: { post_id: postId, ...moments, timezone: dates.timezone, updated_at: updatedAt, hash: '' },
    occurrence: { post_id: postId, ...moments, updated_at: updatedAt, hash: occurrenceHash(postId, moments) },
  };
}

/** Deletes the calendar's rows of an event that is deleted permanently, and removes the event from its series. */
export async function removeOccurrence(db: Database, postId: number, recurrence: RecurrenceSettings | undefined): Promise<void> {
  if (recurrence?.series) await db.change`DELETE FROM {tec_series_relationships} WHERE event_post_id = ${postId}`;
  for (const table of ['tec_occurrences', 'tec_events'] as const) await db.from(table).where('post_id', postId).delete();
  reportPostChanged(db, postId);
}

/** The first start and the last end (UTC) of a calendar, with the events that mark them. */
export interface Edges {
  readonly earliest?: { readonly at: string; readonly ids: number[] };
  readonly latest?: { readonly at: string; readonly ids: number[] };
}

/** Computes the edges of the calendar from published and private events. */
export async function calendarEdges(db: Database): Promise<Edges> {
  const rows = () =>
    db
      .from('tec_occurrences', 'o')
      .join({ p: db.table('posts') }, 'p.ID', 'o.post_id')
      .where('p.post_type', 'tribe_events')
      .whereIn('p.post_status', ['publish', 'private']);
  const edge = async (column: string, pick: 'min' | 'max') => {
    const row: { at?: string | null } | undefined = await rows()[pick]({ at: column }).first();
    if (!row?.at) return undefined;
    const ids: { id: number }[] = await rows().where(column, row.at).orderBy('p.ID').select('p.ID as id');
    return { at: row.at, ids: ids.map(({ id }) => id) };
  };
  const [earliest, latest] = [await edge('o.start_date_utc', 'min'), await edge('o.end_date_utc', 'max')];
  return { ...(earliest ? { earliest } : {}), ...(latest ? { latest } : {}) };
}
