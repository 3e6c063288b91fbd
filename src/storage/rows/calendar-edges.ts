import { CALENDAR_OPTION, type CalendarSettings } from '../../calendar/settings.ts';
import { memoize } from '../../memo.ts';
import { isObject } from '../../objects.ts';
import { serializedMembers, withMembers } from '../../wordpress/php/serialized.ts';
import type { Database } from '../engine/database.ts';
import { calendarEdges, type Edges } from './occurrences.ts';
import { lockOption, readOptions, writeOption } from './options.ts';

/** Start and end of an event (UTC), and its status, which determines whether it is visible. */
export interface EdgeEvent {
  readonly start: string;
  readonly end: string;
  readonly status: string;
}

/**
 * Updates the stored edges right after new events were inserted, given by their ids (`updateEdges`). Events between the
 * first start and the last end according to the loaded settings (`edges`) do not change them.
 */
export async function updateEdgesForNew(
  db: Database,
  edges: CalendarSettings['edges'],
  events: ReadonlyMap<number, EdgeEvent>,
): Promise<void> {
  const outsideEvents = [...events].filter(([, event]) => isVisible(event) && !isWithin(edges, event));
  const [first] = outsideEvents;
  if (!first) return;
  const earliest = outsideEvents.reduce((least, one) => (one[1].start < least[1].start ? one : least), first);
  const latest = outsideEvents.reduce((most, one) => (one[1].end > most[1].end ? one : most), first);
  for (const [id, event] of new Map([earliest, latest])) await updateEdges(db, id, event);
}

const isVisible = ({ status }: EdgeEvent): boolean => ['publish', 'private'].includes(status);

/** Whether an event lies between the edges. */
const isWithin = ({ first, last }: CalendarSettings['edges'], { start, end }: EdgeEvent): boolean =>
  first !== '' && last !== '' && start >= first && end <= last;

/**
 * Updates the calendar's stored first start and last end (`earliest_date`, `latest_date` and the events that mark them)
 * right after a write of this event. The whole calendar is searched only if the event marks an edge. An event beyond
 * the edges becomes the new edge.
 *
 * @param knownEvent the event, if it has just been created; otherwise it is looked up
 */
export async function updateEdges(db: Database, postId: number, knownEvent?: EdgeEvent): Promise<void> {
  const event = knownEvent ?? (await edgeEvent(db, postId));
  if (edgesAfter((await readOptions(db, [CALENDAR_OPTION])).get(CALENDAR_OPTION) ?? '', postId, event) === 'same') return;
  // The option holds all settings of the calendar, so from here on other writers of it have to wait.
  const stored = await lockOption(db, CALENDAR_OPTION);
  const edges = edgesAfter(stored, postId, event);
  if (edges !== 'same') await writeEdges(db, stored, edges === 'unknown' ? await calendarEdges(db) : edges);
}

/** Computes the edges after the write; `unknown`: the whole calendar has to be searched. */
function edgesAfter(stored: string, postId: number, event: EdgeEvent | undefined): Edges | 'same' | 'unknown' {
  const members = membersOf(stored);
  const edgeIds = [members.earliest_date_markers, members.latest_date_markers].some(
    (ids) => isObject(ids) && Object.values(ids).map(Number).includes(postId),
  );
  const edges = { first: String(members.earliest_date || ''), last: String(members.latest_date || '') };
  if (edgeIds || edges.first === '' || edges.last === '') return 'unknown';
  if (!event || !isVisible(event) || isWithin(edges, event)) return 'same';
  return {
    ...(event.start < edges.first ? { earliest: { at: event.start, ids: [postId] } } : {}),
    ...(event.end > edges.last ? { latest: { at: event.end, ids: [postId] } } : {}),
  };
}

async function edgeEvent(db: Database, postId: number): Promise<EdgeEvent | undefined> {
  return (await db
    .from('tec_occurrences', 'o')
    .where('o.post_id', postId)
    .join({ p: db.table('posts') }, 'p.ID', 'o.post_id')
    .groupBy('p.ID', 'p.post_status')
    .select('p.post_status as status')
    .min({ start: 'o.start_date_utc' })
    .max({ end: 'o.end_date_utc' })
    .first()) as EdgeEvent | undefined;
}

/** Recomputes the stored edges after any number of writes. */
export async function recomputeEdges(db: Database): Promise<void> {
  await writeEdges(db, await lockOption(db, CALENDAR_OPTION), await calendarEdges(db));
}

async function writeEdges(db: Database, stored: string, { earliest, latest }: Edges): Promise<void> {
  const newOptions = withMembers(stored, {
    ...(earliest ? { earliest_date: earliest.at, earliest_date_markers: earliest.ids } : {}),
    ...(latest ? { latest_date: latest.at, latest_date_markers: latest.ids } : {}),
  });
  if (newOptions !== undefined && newOptions !== stored) await writeOption(db, CALENDAR_OPTION, newOptions);
}

const membersOf = memoize((stored): Readonly<Record<string, unknown>> => serializedMembers(stored));
