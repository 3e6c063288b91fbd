import { eventDates } from '../../calendar/dates.ts';
import { occurrences, parseRule } from '../../calendar/recurrence-rule.ts';
import type { SiteSettings } from '../../calendar/settings.ts';
import { EVENT } from '../../kinds/event-fields.ts';
import { DATES, EVENT_ORIGIN } from '../../kinds/event-metas.ts';
import { escHtml } from '../../wordpress/entities.ts';
import { ksesPost } from '../../wordpress/kses.ts';
import {
  addDays,
  addSeconds,
  diffSeconds,
  localFromUnix,
  nowLocal,
  textFromUnix,
  toLocal,
  unixFromLocal,
  unixFromText,
  type Zone,
} from '../../wordpress/time.ts';
import type { Entry, PostItem } from '../items/items.ts';
import type { LossEntry } from '../items/report.ts';
import type { Source } from '../items/source.ts';
import { type Line, partsOf } from './components.ts';
import { type CalendarEvent, type Moment, readEvent } from './event.ts';
import { createPlaces } from './places.ts';
import { createZones, type FileZones } from './zones.ts';

export interface CalendarOptions {
  /** What a fault and a report call the file. */
  readonly file: string;
  /** Its name in the ledger; by default that of the calendar in it, or of the file. */
  readonly source?: string | undefined;
  readonly settings: Pick<SiteSettings, 'zone' | 'timezone' | 'calendar'>;
  readonly now: Date;
  /** Days between which repeating events are taken in (`YYYY-MM-DD`); by default from a year ago to two years ahead. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** A calendar in a file or feed, as a source of items. `lines` begins anew each time it is called. */
export function calendarSource(lines: () => AsyncIterable<Line>, options: CalendarOptions): Source {
  let title = '';
  return {
    name: () => options.source ?? `ical:${title || options.file}`,
    entries: () =>
      calendarEntries(lines(), options, (name) => {
        title = name;
      }),
    close: async () => undefined,
  };
}

/** Repeating events and their exceptions are kept until all of them are known; more than this many are no calendar. */
const MOST_HELD = 50_000;
/** How often one event may take place within the window. */
const MOST_TIMES = 2000;

/**
 * The events of a file with their venues, organizers, categories and pictures. A UID is the lasting name of an event, so that a later file updates it; what
 * repeats becomes one event for each time, exceptions in the place of what they replace.
 *
 * @throws SourceFault where the file is no calendar, broken off or beyond all measure
 */
export async function* calendarEntries(
  lines: AsyncIterable<Line>,
  options: CalendarOptions,
  named: (name: string) => void = () => undefined,
): AsyncGenerator<Entry> {
  const { settings, file, now } = options;
  const zones = createZones(settings.zone, now.getUTCFullYear());
  const reading: Reading = { ...options, zones, places: createPlaces(file), zone: settings.zone, ...windowOf(options) };
  const skipped = new Map<string, number>();
  const held: CalendarEvent[] = [];
  for await (const part of partsOf(lines, file)) {
    if (part.is === 'property') {
      const [, name = '', value = ''] = /^([\w-]+)(?:;[^:]*)?:(.*)$/.exec(part.text) ?? [];
      if (/^(X-WR-CALNAME|NAME)$/i.test(name) && value !== '') named(value.replace(/\\(.)/g, '$1').slice(0, 100));
      if (/^X-WR-TIMEZONE$/i.test(name)) reading.zone = zones.find(value.trim()) ?? reading.zone;
      continue;
    }
    if (part.name === 'VTIMEZONE') zones.add(part.lines);
    else if (part.name !== 'VEVENT') skipped.set(part.name, (skipped.get(part.name) ?? 0) + 1);
    else {
      const event = readEvent(part.lines, part.line);
      if (!event) yield lossOf(reading, 'ical-event-unreadable', part.line, '');
      else if (held.length < MOST_HELD && mustWait(event, zones)) held.push(event);
      else yield* single(event, reading);
    }
  }
  yield* repeated(held, reading);
  for (const [what, count] of skipped) yield { kind: 'skipped', what, count };
}

/** What one reading knows. */
interface Reading extends CalendarOptions {
  readonly zones: FileZones;
  readonly places: ReturnType<typeof createPlaces>;
  /** The zone of what names none: the calendar's, else the site's. */
  zone: Zone;
  readonly first: string;
  readonly last: string;
}

function windowOf({ from, to, now, settings }: CalendarOptions): { first: string; last: string } {
  const today = nowLocal(now, settings.zone).slice(0, 10);
  const first = `${from ?? addDays(`${today} 00:00:00`, -366).slice(0, 10)} 00:00:00`;
  return { first, last: `${to ?? addDays(`${today} 00:00:00`, 731).slice(0, 10)} 23:59:59` };
}

/** Whether something that comes later in the file may belong to it: exceptions of what repeats, the rules of its zone. */
const mustWait = ({ rule, dates, recurrenceId, start, end }: CalendarEvent, zones: FileZones): boolean =>
  rule !== undefined ||
  dates.length > 0 ||
  recurrenceId !== undefined ||
  [start, end].some((moment) => moment?.in === 'zone' && zones.find(moment.zone!) === undefined);

const lossOf = ({ file }: Pick<CalendarOptions, 'file'>, reason: string, line: number, of: string, detail?: string): LossEntry => ({
  kind: 'loss',
  loss: { reason, kind: 'event', of, place: `${file}:${line}`, ...(detail === undefined ? {} : { detail }) },
});

// ------------------------------------------------------------------------------------------------- when
/** Where an event stands in time: wall clocks of its zone. */
interface Span {
  readonly start: string;
  readonly end: string;
  readonly zone: Zone;
  readonly allDay: boolean;
}

/** The zone that the times of an event are told in. */
function zoneOf(moment: Moment, { zones, zone }: Reading): Zone {
  return (moment.in === 'zone' ? zones.find(moment.zone!) : undefined) ?? zone;
}

/** A moment on the clock of a zone. */
function wallIn(moment: Moment, zone: Zone, reading: Reading): string {
  if (moment.in === 'day' || moment.in === 'anywhere') return moment.wall;
  if (moment.in === 'utc') return toLocal(moment.wall, zone);
  const own = zoneOf(moment, reading);
  return own.name === zone.name ? moment.wall : localFromUnix(unixFromLocal(moment.wall, own), zone);
}

function spanOf({ start, end, duration }: CalendarEvent, reading: Reading): Span | undefined {
  if (!start) return undefined;
  const zone = zoneOf(start, reading);
  const wall = wallIn(start, zone, reading);
  if (start.in === 'day') {
    const after = end ? end.wall : addSeconds(wall, Math.max(86_400, duration ?? 0));
    const lastDay = addDays(`${after.slice(0, 10)} 00:00:00`, end?.in === 'day' || !end ? -1 : 0);
    return { start: wall, end: [lastDay, wall].sort()[1]!, zone, allDay: true };
  }
  return { start: wall, end: end ? wallIn(end, zone, reading) : addSeconds(wall, duration ?? 0), zone, allDay: false };
}

// ------------------------------------------------------------------------------------------------- one by one
function* single(event: CalendarEvent, reading: Reading): Generator<Entry> {
  const span = spanOf(event, reading);
  if (!span) yield lossOf(reading, 'ical-event-unreadable', event.line, event.summary || event.uid, 'DTSTART');
  else yield* itemsOf(event, span, event.uid, reading);
}

/** What repeats, each time as an event of its own, and the exceptions. */
function* repeated(held: readonly CalendarEvent[], reading: Reading): Generator<Entry> {
  const exceptions = new Map<string, CalendarEvent[]>();
  for (const event of held) if (event.recurrenceId) exceptions.set(event.uid, [...(exceptions.get(event.uid) ?? []), event]);
  for (const event of held) {
    if (event.recurrenceId) continue;
    if (event.rule === undefined && event.dates.length === 0) {
      yield* single(event, reading);
      continue;
    }
    yield* series(event, exceptions.get(event.uid) ?? [], reading);
    exceptions.delete(event.uid);
  }
  // Exceptions of something that is not in the file stand for themselves.
  for (const alone of exceptions.values())
    for (const event of alone) yield* exception(event, zoneOf(event.recurrenceId!, reading), reading);
}

function* series(event: CalendarEvent, exceptions: readonly CalendarEvent[], reading: Reading): Generator<Entry> {
  const span = spanOf(event, reading);
  if (!span) {
    yield lossOf(reading, 'ical-event-unreadable', event.line, event.summary || event.uid, 'DTSTART');
    return;
  }
  const { zone } = span;
  const replaced = new Set(exceptions.map(({ recurrenceId }) => nameOf(wallIn(recurrenceId!, zone, reading), recurrenceId!.in === 'day')));
  const left = new Set(event.exceptDates.map((moment) => nameOf(wallIn(moment, zone, reading), moment.in === 'day')));
  const length = diffSeconds(span.start, span.end);
  const { walls, loss } = timesOf(event, span, reading);
  if (loss !== undefined) yield lossOf(reading, loss, event.line, event.summary || event.uid, event.rule);
  for (const start of walls) {
    const day = start.slice(0, 10).replaceAll('-', '');
    const name = nameOf(start, span.allDay);
    if (left.has(name) || left.has(day) || replaced.has(name) || replaced.has(day)) continue;
    yield* itemsOf(event, { ...span, start, end: addSeconds(start, length) }, `${event.uid}#${name}`, reading);
  }
  for (const other of exceptions) yield* exception(other, zone, reading);
}

function* exception(event: CalendarEvent, zone: Zone, reading: Reading): Generator<Entry> {
  const span = spanOf(event, reading);
  const name = nameOf(wallIn(event.recurrenceId!, zone, reading), event.recurrenceId!.in === 'day');
  if (!span) yield lossOf(reading, 'ical-event-unreadable', event.line, event.summary || event.uid, 'DTSTART');
  else if (span.end >= reading.first && span.start <= reading.last) yield* itemsOf(event, span, `${event.uid}#${name}`, reading);
}

/** `20261120T190000` or `20261120`. */
const nameOf = (wall: string, day: boolean): string => (day ? wall.slice(0, 10) : wall.replace(' ', 'T')).replace(/[-:]/g, '');

/** The wall clocks at which something that repeats begins, within the window, and what could not be followed. */
function timesOf({ rule: text, dates }: CalendarEvent, { start, zone }: Span, reading: Reading): { walls: string[]; loss?: string } {
  const walls = new Set<string>();
  const within = (wall: string) => wall >= reading.first && wall <= reading.last;
  const rule = text === undefined ? undefined : parseRule(text);
  const begin = unixFromText(start);
  let loss = text !== undefined && !rule ? 'ical-rule-unknown' : undefined;
  if (!rule && within(start)) walls.add(start);
  // An end in UTC is one on the event's own clock, which may show another hour by then.
  const until = rule?.until?.endsWith('Z')
    ? unixFromText(toLocal(rule.until.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3 $4:$5:$6'), zone))
    : Number.POSITIVE_INFINITY;
  for (const moment of rule
    ? occurrences(rule, begin, Math.min(unixFromText(reading.last), until), Math.max(begin, unixFromText(reading.first)))
    : []) {
    const wall = textFromUnix(moment);
    if (!within(wall)) continue;
    if (walls.size >= MOST_TIMES) {
      loss = 'ical-rule-cut';
      break;
    }
    walls.add(wall);
  }
  for (const moment of dates) {
    const wall = moment.in === 'day' ? `${moment.wall.slice(0, 10)} ${start.slice(11)}` : wallIn(moment, zone, reading);
    if (within(wall) && walls.size < MOST_TIMES) walls.add(wall);
  }
  return { walls: [...walls].sort(), ...(loss === undefined ? {} : { loss }) };
}

// ------------------------------------------------------------------------------------------------- items
/** The item of an event, after those of its venue, organizers and picture where they are new. */
function* itemsOf(event: CalendarEvent, span: Span, name: string, reading: Reading): Generator<Entry> {
  const { file, settings, now, places } = reading;
  const lose = (reason: string, detail?: string) => lossOf(reading, reason, event.line, event.summary || event.uid, detail);
  for (const { text, line } of event.unreadable)
    yield { kind: 'loss', loss: { ...lose('ical-line-unreadable', text.slice(0, 80)).loss, place: `${file}:${line}` } };
  if (event.uid === '') {
    yield lose('ical-no-uid');
    return;
  }
  const title = event.summary.replace(/\s+/g, ' ').trim();
  if (title === '') {
    yield lose('ical-no-title');
    return;
  }
  const dates = eventDates({ start: span.start, end: span.end, timezone: span.zone.name, allDay: span.allDay }, undefined, {
    siteZone: settings.timezone,
    cutoff: settings.calendar.cutoff,
    now,
  });
  if ('problem' in dates) {
    yield lose('dates-unsound', `${span.start} - ${span.end}`);
    return;
  }
  const { items, links, website } = places.of(event);
  yield* items;
  const url = /^https?:\/\//i.test(event.url) ? event.url : website;
  const metas: [string, string][] = [
    [DATES.start, dates.start],
    [DATES.end, dates.end],
    [DATES.startUtc, dates.startUtc],
    [DATES.endUtc, dates.endUtc],
    [DATES.timezone, dates.timezone],
    [DATES.abbreviation, dates.abbreviation],
    ...(dates.duration === null ? [] : [[DATES.duration, String(dates.duration)] as [string, string]]),
    ...(dates.allDay ? [[DATES.allDay, '1'] as [string, string]] : []),
    [EVENT.website, url],
    [EVENT.show_map, '1'],
    [EVENT.show_map_link, '1'],
    [EVENT_ORIGIN, 'ical'],
    ['_uid', event.uid],
    ...(event.status === 'CANCELLED' ? [['_tribe_events_status', 'canceled'] as [string, string]] : []),
  ];
  const item: PostItem = {
    kind: 'event',
    sourceId: name,
    place: `${file}:${event.line}`,
    columns: {
      post_title: escHtml(title),
      post_content: contentOf(event),
      post_status: event.isPrivate ? 'private' : 'publish',
      ...moments(event),
    },
    metas,
    links,
    terms: event.categories.map((category) => ({ kind: 'category', sourceId: category.toLowerCase(), name: escHtml(category) })),
    complete: false,
  };
  yield item;
}

/** When it was written and changed, in UTC, where the file says so. */
function moments({ created, modified }: CalendarEvent) {
  const sound = (moment: Moment | undefined) => moment?.in === 'utc' && moment.wall >= '1971';
  return {
    ...(sound(created) ? { post_date_gmt: created!.wall } : {}),
    ...(sound(modified) ? { post_modified_gmt: modified!.wall } : {}),
  };
}

/** What stands in the `body` element; the whole text where there is none. */
function bodyOf(html: string): string {
  const [, ...opened] = html.split(/<body[^<>]*>/i);
  const [body, ...closed] = opened.join('').split(/<\/body>/i);
  return body === undefined || closed.length === 0 ? html : body;
}

/** HTML of a calendar is somebody else's, whoever imports it; what is none becomes some. */
function contentOf({ html, description }: CalendarEvent): string {
  const body = bodyOf(html).trim();
  if (body !== '') return ksesPost(body);
  const text = description.trim();
  return /<(a|b|br|p|i|u|ul|ol|li|em|strong|span|div)(\s[^<>]*)?\/?>/i.test(text) ? ksesPost(text) : escHtml(text);
}
