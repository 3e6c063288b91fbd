import { parseSerialized, withMembers } from '../wordpress/serialized.ts';
import type { Database } from './database.ts';
import { calendarEdges } from './occurrences.ts';
import { readOptions, writeOption } from './options.ts';

const OPTION = 'tribe_events_calendar_options';

/**
 * Keeps the calendar's note of its first start and last end (`earliest_date`, `latest_date` and the events that mark them) right after a write
 * of this event. The whole calendar is looked through only when the event marks an edge or lies beyond one.
 */
export async function noteEdges(db: Database, postId: number): Promise<void> {
  const stored = (await readOptions(db, [OPTION])).get(OPTION) ?? '';
  const members = membersOf(stored);
  const row = (await db
    .knex({ o: db.table('tec_occurrences') })
    .where('o.post_id', postId)
    .select('o.start_date_utc as start', 'o.end_date_utc as end')
    .first()) as { start: string; end: string } | undefined;
  const marks = [members.earliest_date_markers, members.latest_date_markers].some(
    (ids) =>
      ids !== null &&
      typeof ids === 'object' &&
      Object.values(ids as object)
        .map(Number)
        .includes(postId),
  );
  const beyond =
    row !== undefined &&
    (!(String(members.earliest_date ?? '') <= row.start && members.earliest_date) || !(String(members.latest_date ?? '') >= row.end));
  if (marks || beyond) await writeEdges(db, stored);
}

/** The same after many writes, whichever they were. */
export async function renewEdges(db: Database): Promise<void> {
  await writeEdges(db, (await readOptions(db, [OPTION])).get(OPTION) ?? '');
}

async function writeEdges(db: Database, stored: string): Promise<void> {
  const { earliest, latest } = await calendarEdges(db);
  const changed = withMembers(stored, {
    ...(earliest ? { earliest_date: earliest.at, earliest_date_markers: earliest.ids } : {}),
    ...(latest ? { latest_date: latest.at, latest_date_markers: latest.ids } : {}),
  });
  if (changed !== undefined && changed !== stored) await writeOption(db, OPTION, changed);
}

function membersOf(stored: string): Record<string, unknown> {
  const value = parseSerialized(stored);
  return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : {};
}
