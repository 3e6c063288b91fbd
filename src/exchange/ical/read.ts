import { createHash } from 'node:crypto';
import { addToGroup } from '../../grouped-by.ts';
import { addDays, addDaysTo, textFromUnix, unixFromText } from '../../wordpress/time.ts';
import { localFromDate } from '../../wordpress/zones.ts';
import type { Entry } from '../items/items.ts';
import { asWholeRecord } from '../items/report.ts';
import type { Source } from '../items/source.ts';
import { inCalendar } from './calendar-wide.ts';
import { partsOf } from './components.ts';
import { currentOverrides, currentVersionOf } from './current-versions.ts';
import { type CalendarEvent, isLeftOut, readEvent } from './event.ts';
import { type ItemContext, type ItemName, itemsOf } from './event-items.ts';
import { type CalendarFacts, readCalendarFacts } from './lasting-uids.ts';
import { calendarLines, type Line } from './lines.ts';
import { createLinkedItems } from './linked-items.ts';
import { lossAt, lossOf, lossOfLine } from './losses.ts';
import { datesOfSeries, nameOfFirst, orphanedOverrideDate, positionOf } from './series.ts';
import { type Clocks, type Span, spanOf, unknownZones } from './spans.ts';

export interface CalendarOptions extends Omit<ItemContext, 'places'> {
  /** Name of the source in the ledger; defaults to that of the calendar in the file, or of the file. */
  readonly source?: string | undefined;
  /**
   * Range of days (`YYYY-MM-DD`) for which repeating events are imported; defaults to one year back and two years
   * ahead.
   */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Returns the bytes of a file or feed; each call starts from the beginning. */
export type Bytes = () => AsyncIterable<Uint8Array>;

/** Creates a source of items for a calendar in a file or feed. */
export function calendarSource(bytes: Bytes, options: CalendarOptions): Source {
  const cache: ReadingCache = {};
  return {
    name: () => options.source ?? `ical:${cache.facts?.name || options.file}`,
    entries: () => calendarEntries(bytes, options, cache),
    close: async () => undefined,
  };
}

/** Results that are kept from one reading of a file to the next. */
interface ReadingCache {
  facts?: CalendarFacts;
}

/**
 * Maximum number of repeating events and overrides that are kept in memory until the whole file is read, and of dates
 * of private events.
 */
const MAX_HELD_EVENTS = 50_000;

/** Maximum number of letters of the private events whose dates are kept. */
const MAX_HELD_LETTERS = 20_000_000;

/**
 * Yields the events of a file with their venues, organizers, categories and images. Events are identified by UID, or
 * by its lasting part, so that importing a later file updates them. A repeating event becomes one event for each date,
 * and overrides replace the dates that they change. Private events come last, so that a venue is private only if no
 * public event names it. The file is read twice, since time zones and newer versions of an event may occur anywhere in
 * it.
 *
 * @throws SourceFault if the file is no calendar, is truncated or exceeds a limit
 */
export async function* calendarEntries(bytes: Bytes, options: CalendarOptions, cache: ReadingCache = {}): AsyncGenerator<Entry> {
  const { settings, file } = options;
  const facts = cache.facts ?? (await readCalendarFacts(partsOf(calendarLines(bytes(), file), file), settings.zone));
  cache.facts = facts;
  const reading: Reading = {
    ...options,
    facts,
    places: createLinkedItems(file),
    window: windowOf(options),
    fallbackUid: createFallbackUids(),
    held: { privateDates: [], letters: 0 },
    incompleteNames: new Set(),
  };
  const skipped = new Map<string, number>();
  const skip = (name: string) => skipped.set(name, (skipped.get(name) ?? 0) + 1);
  const heldEvents = new Map<string, HeldEvent[]>();
  const cutUids = new Set<string>();
  const knownNames = new Map<string, string>();
  const noteKnown = (name: string, end: string | undefined) => end !== undefined && knownNames.set(name, end);
  let count = 0;
  for (const { line, id } of facts.unknownZones)
    yield { kind: 'loss', loss: { reason: 'ical-calendar-zone-unknown', kind: 'source', of: id, place: `${file}:${line}` } };
  for await (const part of partsOf(calendarLines(bytes(), file), file)) {
    if (part.is === 'outside') skip('text after the calendar');
    if (part.is !== 'component' || part.name === 'VTIMEZONE') continue;
    if (part.name !== 'VEVENT') {
      skip(part.name);
      continue;
    }
    const parsedEvent = readEvent(part.lines, part.line);
    if (!parsedEvent) {
      yield asWholeRecord(lossOf(reading, 'ical-event-unreadable', part.line, ''));
      continue;
    }
    const event: HeldEvent = {
      ...inCalendar(parsedEvent, part.calendar, facts),
      uid: parsedEvent.uid || reading.fallbackUid(parsedEvent),
      calendar: part.calendar,
    };
    yield* lossesOf(event, reading);
    // A change that cannot be read still says that the date which it names does not take place as in its series.
    if (isLeftOut(event) && event.recurrenceId === undefined) continue;
    if (!mayHaveFurtherParts(event) && !facts.isShared(event.uid)) {
      noteKnown(idOf(event, reading), yield* singleEntries(event, reading));
    } else if (count < MAX_HELD_EVENTS) {
      addToGroup(heldEvents, event.uid, event);
      count += 1;
    } else {
      cutUids.add(event.uid);
      if (!isLeftOut(event)) yield lossOfEvent(reading, 'ical-events-cut', event);
    }
  }
  for (const [uid, events] of heldEvents) {
    // Parts of the event that came too late may change these.
    if (cutUids.has(uid)) for (const event of events) yield lossOfEvent(reading, 'ical-events-cut', event);
    else noteKnown(idOf(events[0]!, reading), yield* seriesEntries(events, reading));
  }
  yield* lastEntries(knownNames, reading);
  for (const [name, number] of skipped) yield { kind: 'skipped', what: name, count: number };
}

/** An event and the index of its calendar in the file. */
type HeldEvent = CalendarEvent & { readonly calendar: number };

/** State of one pass over a file. */
interface Reading extends CalendarOptions, ItemContext {
  readonly facts: CalendarFacts;
  readonly window: readonly [first: number, last: number];
  readonly fallbackUid: (event: CalendarEvent) => string;
  /** Dates of private events, which come last, and the number of letters of these events. */
  readonly held: { readonly privateDates: DatedEvent[]; letters: number };
  /** Source ids of events of which a date cannot be stored. */
  readonly incompleteNames: Set<string>;
}

/** A date of an event, and the source id of the whole event. */
interface DatedEvent {
  readonly event: CalendarEvent;
  readonly span: Span;
  readonly name: ItemName;
  readonly eventId: string;
}

/** Returns the clocks of an event's calendar. */
const clocksOf = ({ calendar }: HeldEvent, { facts }: Reading): Clocks => ({
  calendar: facts.clockOf(calendar),
  find: (id) => facts.find(id, calendar),
});

/** Returns the first and last wall time of the days for which repeating events are imported. */
function windowOf({ from, to, now, settings }: CalendarOptions): readonly [number, number] {
  const today = localFromDate(now, settings.zone).slice(0, 10);
  const first = `${from ?? addDaysTo(today, -366)} 00:00:00`;
  const last = `${to ?? addDaysTo(today, 731)} 23:59:59`;
  return [unixFromText(first), unixFromText(last)];
}

/** Returns the days that lie completely within a window by the clocks of all zones. */
const wholeDaysIn = ([first, last]: Reading['window']): readonly [first: string, last: string] => [
  addDays(textFromUnix(first), 1),
  addDays(textFromUnix(last), -1),
];

/** Whether other parts of the file may belong to this event. */
const mayHaveFurtherParts = ({ rules, dates, exclusionDates, recurrenceId }: CalendarEvent): boolean =>
  rules.length + dates.length + exclusionDates.length > 0 || recurrenceId !== undefined;

/** Reports lines of an event that could not be read properly, and unknown zones. */
function* lossesOf(event: HeldEvent, reading: Reading): Generator<Entry> {
  const toLoss = (reason: string, line: Line) => lossOfLine(reading, reason, event, line);
  const [first, ...rest] = [
    ...event.undated.map((line) => toLoss('ical-dates-unreadable', line)),
    ...event.unsupported.map((line) => toLoss('ical-rule-unknown', line)),
    ...(isLeftOut(event) ? event.cut.map((name) => lossAt(reading, 'ical-exceptions-cut', event, name)) : []),
  ];
  // The event counts as lost once, however many of its lines are unreadable.
  if (first) yield asWholeRecord(first, idOf(event, reading));
  yield* rest;
  for (const name of isLeftOut(event) ? [] : event.cut) yield lossAt(reading, 'ical-dates-cut', event, name);
  for (const line of event.otherRanges) yield toLoss('ical-change-range', line);
  for (const line of event.unreadable) yield toLoss('ical-line-unreadable', line);
  for (const line of event.otherEncoding) yield toLoss(line.encoding === 'damaged' ? 'ical-characters' : 'encoding-assumed', line);
  for (const zone of unknownZones(event, clocksOf(event, reading))) yield lossAt(reading, 'ical-zone-unknown', event, zone);
}

/**
 * Returns a function that makes UIDs for events without one. A UID stays the same in every file as long as start and
 * title do.
 */
function createFallbackUids(): (event: CalendarEvent) => string {
  const counts = new Map<string, number>();
  return ({ start, recurrenceId, summary }) => {
    const name = createHash('sha256')
      .update(JSON.stringify([start, recurrenceId, summary.trim()]))
      .digest('hex')
      .slice(0, 32);
    const number = (counts.get(name) ?? 0) + 1;
    counts.set(name, number);
    return `nameless-${name}${number === 1 ? '' : `-${number}`}`;
  };
}

/** Yields the private dates, and the periods of which all dates are known. `knownNames`: their ends by source id. */
function* lastEntries(knownNames: ReadonlyMap<string, string>, reading: Reading): Generator<Entry> {
  for (const date of reading.held.privateDates) yield* itemsOfDate(date, reading);
  const [first] = wholeDaysIn(reading.window);
  for (const [name, end] of knownNames)
    if (!reading.incompleteNames.has(name) && first <= end) yield { kind: 'dates', name, between: [first, end] };
}

// ------------------------------------------------------------------------------------------------- when
/** Yields the items of a date of an event, or keeps them for the end of the file. */
function* entriesOfDate(date: DatedEvent, reading: Reading): Generator<Entry> {
  // Beyond the limits, a venue comes as private first, and again with a public date.
  if (!date.event.isPrivate || !mayHold(date, reading)) yield* itemsOfDate(date, reading);
  else reading.held.privateDates.push(date);
}

/** Whether the date of a private event may be kept; counts the letters of its event. */
function mayHold({ event }: DatedEvent, { held }: Reading): boolean {
  if (held.privateDates.length >= MAX_HELD_EVENTS) return false;
  // The dates of a series come one after another.
  const letters = held.privateDates.at(-1)?.event === event ? 0 : JSON.stringify(event).length;
  if (held.letters + letters > MAX_HELD_LETTERS) return false;
  held.letters += letters;
  return true;
}

function* itemsOfDate({ event, span, name, eventId }: DatedEvent, reading: Reading): Generator<Entry> {
  if (!(yield* itemsOf(event, span, name, reading))) reading.incompleteNames.add(eventId);
}

/**
 * Yields the items of an event that takes place once. It may have been the first date of a repeating event in an
 * earlier file. Returns the time up to which its dates are known, or undefined if it could not be read.
 */
function* singleEntries(event: HeldEvent, reading: Reading): Generator<Entry, string | undefined> {
  const clocks = clocksOf(event, reading);
  const span = spanOf(event, clocks);
  const eventId = idOf(event, reading);
  const name = { sourceId: eventId, narrowerId: dateId(eventId, nameOfFirst(event, clocks) ?? '') };
  if (span) yield* entriesOfDate({ event, span, name, eventId }, reading);
  else yield lossOfEvent(reading, 'ical-event-unreadable', event, 'DTSTART');
  return span && wholeDaysIn(reading.window)[1];
}

/** Returns the loss of a whole event. */
const lossOfEvent = (reading: Reading, reason: string, event: HeldEvent, detail?: string): Entry =>
  asWholeRecord(lossAt(reading, reason, event, detail), idOf(event, reading));

/** Returns the source id of an event. */
const idOf = ({ uid, calendar }: HeldEvent, { facts }: Reading): string => facts.lastingName(uid, calendar);

/** Returns the source id of a date of a series. */
const dateId = (eventId: string, name: string): string => `${eventId}#${name}`;

/**
 * Yields the events of one UID: each date of the current version as a separate event, and the overrides. Returns the
 * time up to which these are all dates within the window, or undefined if there is none.
 */
function* seriesEntries(events: readonly HeldEvent[], reading: Reading): Generator<Entry, string | undefined> {
  const masters = events.filter(({ recurrenceId }) => recurrenceId === undefined);
  const [master, ...rest] = masters;
  const core = master && currentVersionOf([master, ...rest]);
  const overrides = currentOverrides(
    events.filter(({ recurrenceId }) => recurrenceId !== undefined),
    {
      placeOf: (event) => positionOf(event.recurrenceId!, core?.event, clocksOf(core?.event ?? event, reading)),
      timeOf: (event) => spanOf(event, clocksOf(event, reading)),
    },
  );
  for (const event of [...(core?.conflicts ?? []), ...overrides.flatMap(({ conflicts }) => conflicts)])
    yield lossOfEvent(reading, 'ical-uid-twice', event, event.uid);
  yield* unsupportedIn(
    overrides.map(({ event }) => event).filter((event) => !isLeftOut(event)),
    masters,
    reading,
  );
  if (core && !mayHaveFurtherParts(core.event) && overrides.length === 0) return yield* singleEntries(core.event, reading);
  const times = core
    ? datesOfSeries(core.event, overrides, reading.window, clocksOf(core.event, reading))
    : overrides.flatMap(({ event, isSuperseded }) =>
        isSuperseded || isLeftOut(event) ? [] : [...orphanedOverrideDate(event, reading.window, clocksOf(event, reading))],
      );
  const isWhole = core !== undefined && events.every((event) => !isLeftOut(event) && event.cut.length === 0);
  let knownUntil = isWhole ? wholeDaysIn(reading.window)[1] : undefined;
  const eventId = idOf(events[0]!, reading);
  const first = core && nameOfFirst(core.event, clocksOf(core.event, reading));
  for (const time of times) {
    if ('reason' in time) {
      if (!OUTSIDE.includes(time.reason)) knownUntil = earlier(knownUntil, time.knownUntil);
      const loss = lossAt(reading, time.reason, time.event, time.detail);
      yield time.reason === 'ical-event-unreadable' ? asWholeRecord(loss, eventId) : loss;
      continue;
    }
    const { event, span, name } = time;
    // In an earlier file, this event may not have repeated.
    const itemName = { sourceId: dateId(eventId, name), ...(name === first ? { narrowerId: eventId } : {}) };
    yield* entriesOfDate({ event, span, name: itemName, eventId }, reading);
  }
  return knownUntil;
}

const earlier = (one: string | undefined, other: string | undefined): string | undefined =>
  one === undefined || other === undefined ? undefined : [one, other].sort()[0];

/** Problems that do not concern dates within the window. */
const OUTSIDE: readonly string[] = ['ical-dates-later', 'ical-series-past'];

/** Reports properties of overrides that concern other dates and are not followed. */
function* unsupportedIn(overrides: readonly HeldEvent[], masters: readonly HeldEvent[], reading: Reading): Generator<Entry> {
  // Some programs repeat the rule and the exceptions of the series in each override, which means nothing. Other
  // exceptions have no effect: the series states which dates are left out, and an override concerns one date (RFC 5545,
  // 3.8.4.4 and 3.8.5.1).
  const seriesLines = new Set(masters.flatMap(({ repeating }) => repeating.map(({ text }) => text)));
  const seriesExceptions = new Set(masters.flatMap(({ exclusionDates }) => exclusionDates.map((moment) => JSON.stringify(moment))));
  for (const event of overrides) {
    for (const line of event.repeating) if (!seriesLines.has(line.text)) yield lossOfLine(reading, 'ical-change-rule', event, line);
    const ownExceptions = event.exclusionDates.filter((moment) => !seriesExceptions.has(JSON.stringify(moment)));
    if (ownExceptions.length > 0) yield lossAt(reading, 'ical-change-exception', event, ownExceptions.map(({ wall }) => wall).join(', '));
    if (event.appliesToLaterDates && masters.length === 0) yield lossAt(reading, 'ical-change-alone', event, event.recurrenceId?.wall);
  }
}
