import type { CalendarEvent } from './event.ts';

/** The version of an event that counts, and others that say something else without being older ones of it. */
export interface Chosen<Event> {
  readonly event: Event;
  readonly conflicts: readonly Event[];
}

/**
 * Of several events of one name the one that counts: that of the highest SEQUENCE, else the one written last, else the
 * first (RFC 5546, 2.1.5). Those of a lower SEQUENCE are older versions; what differs without that is a conflict, since
 * programs give different events one UID. `timeOf`: what makes their times different, by default how they are written.
 */
export function newestOf<Event extends CalendarEvent>(
  events: readonly [Event, ...Event[]],
  timeOf: (event: Event) => unknown = writtenTime,
): Chosen<Event> {
  const event = events.reduce((best, other) => (isNewer(other, best) ? other : best));
  const content = contentOf(event, timeOf(event));
  const isOther = (other: Event) => contentOf(other, timeOf(other)) !== content;
  return { event, conflicts: events.filter((other) => other !== event && other.sequence === event.sequence && isOther(other)) };
}

/** A change of a time of a series: where in it, and whether at that time itself another change stands before it. */
export interface Override<Event> extends Chosen<Event> {
  readonly at: number;
  readonly isOutdone: boolean;
}

/**
 * Of each time that is changed the version that counts: one for that time alone, and one that holds for later times
 * too, which at its own time comes second. `placeOf`, `timeOf`: which time a change is of, and when it takes place, in
 * whatever form that is written.
 */
export function overridesOf<Event extends CalendarEvent>(
  events: readonly Event[],
  { placeOf, timeOf }: { placeOf: (event: Event) => number; timeOf: (event: Event) => unknown },
): Override<Event>[] {
  const [alone, andFuture] = [new Map<number, [Event, ...Event[]]>(), new Map<number, [Event, ...Event[]]>()];
  for (const event of events) {
    const [places, at] = [event.andFuture ? andFuture : alone, placeOf(event)];
    const same = places.get(at);
    if (same) same.push(event);
    else places.set(at, [event]);
  }
  return [alone, andFuture].flatMap((places) =>
    Array.from(places, ([at, same]) => ({ ...newestOf(same, timeOf), at, isOutdone: places === andFuture && alone.has(at) })),
  );
}

function isNewer(one: CalendarEvent, other: CalendarEvent): boolean {
  if (one.sequence !== other.sequence) return one.sequence > other.sequence;
  const [written, before] = [one, other].map(({ stamp, modified }) => `${stamp?.wall ?? ''} ${modified?.wall ?? ''}`) as [string, string];
  return written > before;
}

/** What makes two events different to those who go there. */
const contentOf = ({ summary, rules, dates, exceptDates, location }: CalendarEvent, time: unknown): string =>
  JSON.stringify([summary, time, rules, dates, exceptDates, location]);

const writtenTime = ({ start, end, length }: CalendarEvent) => [start, end, length];
