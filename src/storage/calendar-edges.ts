import type { CalendarSettings } from '../calendar/settings.ts';
import { remembered } from '../wordpress/remembered.ts';
import { parseSerialized, withMembers } from '../wordpress/serialized.ts';
import type { Database } from './database.ts';
import { calendarEdges } from './occurrences.ts';
import { readOptions, writeOption } from './options.ts';

const OPTION = 'tribe_events_calendar_options';

/** When an event begins and ends (UTC), and whether it is to be seen. */
export interface EdgeEvent {
  readonly start: string;
  readonly end: string;
  readonly status: string;
}

/** Whether a new event leaves the note as it is: it lies between its first start and its last end, as they stood when the settings were read. */
export const isWithin = ({ first, last }: CalendarSettings['span'], { start, end }: EdgeEvent): boolean =>
  first !== '' && last !== '' && start >= first && end <= last;

/**
 * Keeps the calendar's note of its first start and last end (`earliest_date`, `latest_date` and the events that mark them) right after a write
 * of this event. The whole calendar is looked through only when the event marks an edge; one that lies beyond is the edge itself.
 *
 * @param known the event, where it has just been made; else it is looked up
 */
export async function noteEdges(db: Database, postId: number, known?: EdgeEvent): Promise<void> {
  const stored = (await readOptions(db, [OPTION])).get(OPTION) ?? '';
  const members = membersOf(stored);
  const event = known ?? (await edgeEvent(db, postId));
  const marks = [members.earliest_date_markers, members.latest_date_markers].some(
    (ids) =>
      ids !== null &&
      typeof ids === 'object' &&
      Object.values(ids as object)
        .map(Number)
        .includes(postId),
  );
  const [first, last] = [String(members.earliest_date || ''), String(members.latest_date || '')];
  if (marks || first === '' || last === '') await writeEdges(db, stored, await calendarEdges(db));
  else if (event && ['publish', 'private'].includes(event.status) && (event.start < first || event.end > last))
    await writeEdges(db, stored, {
      ...(event.start < first ? { earliest: { at: event.start, ids: [postId] } } : {}),
      ...(event.end > last ? { latest: { at: event.end, ids: [postId] } } : {}),
    });
}

async function edgeEvent(db: Database, postId: number): Promise<EdgeEvent | undefined> {
  return (await db
    .knex({ o: db.table('tec_occurrences') })
    .where('o.post_id', postId)
    .join({ p: db.table('posts') }, 'p.ID', 'o.post_id')
    .orderBy('o.start_date_utc')
    .select('o.start_date_utc as start', 'o.end_date_utc as end', 'p.post_status as status')
    .first()) as EdgeEvent | undefined;
}

/** The same after many writes, whichever they were. */
export async function renewEdges(db: Database): Promise<void> {
  await writeEdges(db, (await readOptions(db, [OPTION])).get(OPTION) ?? '', await calendarEdges(db));
}

async function writeEdges(db: Database, stored: string, { earliest, latest }: Awaited<ReturnType<typeof calendarEdges>>): Promise<void> {
  const changed = withMembers(stored, {
    ...(earliest ? { earliest_date: earliest.at, earliest_date_markers: earliest.ids } : {}),
    ...(latest ? { latest_date: latest.at, latest_date_markers: latest.ids } : {}),
  });
  if (changed !== undefined && changed !== stored) await writeOption(db, OPTION, changed);
}

const membersOf = remembered((stored): Readonly<Record<string, unknown>> => {
  const value = parseSerialized(stored);
  return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : {};
});
