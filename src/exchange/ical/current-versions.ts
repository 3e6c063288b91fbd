import type { CalendarEvent } from './event.ts';

/**
 * The current version of an event, and other events with the same UID that differ without being older versions of it.
 */
export interface CurrentVersion<Event> {
  readonly event: Event;
  readonly conflicts: readonly Event[];
}

/**
 * Picks the current version among events of one UID: the one with the highest SEQUENCE, else the one written last, else
 * the first (RFC 5546, 2.1.5). Events with a lower SEQUENCE are older versions. Events of the same SEQUENCE that differ
 * are conflicts, since some programs give different events the same UID. `timeOf` returns the time that is compared; by
 * default the times as they are written.
 */
export function currentVersionOf<Event extends CalendarEvent>(
  events: readonly [Event, ...Event[]],
  timeOf: (event: Event) => unknown = writtenTime,
): CurrentVersion<Event> {
  const event = events.reduce((best, other) => (isNewer(other, best) ? other : best));
  const content = contentOf(event, timeOf(event));
  const isOther = (other: Event) => contentOf(other, timeOf(other)) !== content;
  return { event, conflicts: events.filter((other) => other !== event && other.sequence === event.sequence && isOther(other)) };
}

/**
 * An override of a date of a series: its position, and whether another override of exactly that date takes precedence
 * there.
 */
export interface Override<Event> extends CurrentVersion<Event> {
  readonly position: number;
  readonly isSuperseded: boolean;
}

/**
 * Picks the current version of each override. For each date there may be one for that date alone and one for all later
 * dates too; at its own date, the first one takes precedence. `placeOf` returns the date that an override changes,
 * `timeOf` when it takes place, both independent of how the file writes them.
 */
export function currentOverrides<Event extends CalendarEvent>(
  events: readonly Event[],
  { placeOf, timeOf }: { placeOf: (event: Event) => number; timeOf: (event: Event) => unknown },
): Override<Event>[] {
  const [forOneDate, forLaterDates] = [new Map<number, [Event, ...Event[]]>(), new Map<number, [Event, ...Event[]]>()];
  for (const event of events) {
    const [places, position] = [event.appliesToLaterDates ? forLaterDates : forOneDate, placeOf(event)];
    const versions = places.get(position);
    if (versions) versions.push(event);
    else places.set(position, [event]);
  }
  return [forOneDate, forLaterDates].flatMap((places) =>
    Array.from(places, ([position, versions]) => ({
      ...currentVersionOf(versions, timeOf),
      position,
      isSuperseded: places === forLaterDates && forOneDate.has(position),
    })),
  );
}

function isNewer(one: CalendarEvent, other: CalendarEvent): boolean {
  if (one.sequence !== other.sequence) return one.sequence > other.sequence;
  const [oneTime, otherTime] = [one, other].map(({ madeAt, modified }) => `${madeAt?.wall ?? ''} ${modified?.wall ?? ''}`) as [
    string,
    string,
  ];
  return oneTime > otherTime;
}

/** Returns the content in which two events must differ to be different for visitors. */
const contentOf = ({ summary, rules, dates, exclusionDates, location }: CalendarEvent, time: unknown): string =>
  JSON.stringify([summary, time, rules, dates, exclusionDates, location]);

const writtenTime = ({ start, end, length }: CalendarEvent) => [start, end, length];
