/*
 * Compares the response of a feed with that of the reference. Accepted differences: another notation of the same time,
 * dates for all-day events, correct escaping of texts, and an empty calendar where the reference returns nothing.
 */
import { localFromUnix, parseZone, unixFromLocal } from '../../src/wordpress/zones.ts';
import type { Answer } from './running-site.ts';

/** A value, with its parameters if it has any. */
type Value = string | readonly [Readonly<Record<string, string>>, string];
type Fields = Readonly<Record<string, Value>>;

export interface FeedRecording {
  readonly name: string;
  readonly site: string;
  readonly target: string;
  readonly method?: string;
  /** The time of the recording. */
  readonly at: string;
  readonly status: number;
  readonly location?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Indexes of the events in `FeedRecordings.events`. */
  readonly ical?: readonly number[];
  readonly news?: { readonly kind: string; readonly items: readonly number[] };
  readonly emptyList?: boolean;
  /** Fields in which the reference is wrong. */
  readonly forgive?: readonly { readonly id: string; readonly fields: readonly string[] }[];
}

export interface FeedRecordings {
  readonly events: readonly Fields[];
  readonly recordings: readonly FeedRecording[];
}

/** Describes the differences, one per line. */
export function feedDifferences(recording: FeedRecording, events: readonly Fields[], answer: Answer): string[] {
  const { status, location, ical, news, emptyList, headers = {} } = recording;
  const kind = kindOf(answer);
  if (emptyList && kind === 'ical') return calendarEvents(answer.text).map(() => 'an event where there is none');
  const differences: string[] = [];
  const note = (label: string, expected: unknown, actual: unknown) => {
    if (JSON.stringify(expected) !== JSON.stringify(actual))
      differences.push(`${label}: ${JSON.stringify(expected)}, not ${JSON.stringify(actual)}`);
  };
  const isPage = ical === undefined && news === undefined;
  if (recording.method !== 'HEAD') note('kind', ical ? 'ical' : news ? news.kind : 'none', kind);
  if (!isPage || status !== 200) note('status', status, answer.status);
  note('location', location, answer.headers.location);
  for (const [name, value] of Object.entries(headers)) note(name, value, answer.headers[name]);
  if (differences.length > 0 || recording.method === 'HEAD') return differences;
  const foundEvents = ical ? calendarEvents(answer.text) : newsItems(answer.text, kind);
  const expectedEvents = (ical ?? news?.items ?? []).map((place) => events[place]!);
  const key = ical ? 'UID' : 'link';
  note('events', expectedEvents.map((event) => idOf(event[key])), foundEvents.map((event) => idOf(event[key]))); // biome-ignore format: a pair
  if (differences.length > 0) return differences;
  for (const [index, event] of expectedEvents.entries()) {
    const id = String(idOf(event[key]));
    const forgivenFields = new Set(recording.forgive?.filter((one) => one.id === '*' || one.id === id).flatMap(({ fields }) => fields));
    for (const name of ical ? FIELDS : ITEM_FIELDS) {
      const [one, other] = [event[name], foundEvents[index]![name]];
      if (!forgivenFields.has(name) && !isSame(name, one, other)) note(`${id} ${name}`, one, other);
    }
  }
  return differences;
}

const FIELDS = ['UID', 'DTSTART', 'DTEND', 'SUMMARY', 'URL', 'CATEGORIES'];
const ITEM_FIELDS = ['guid', 'link', 'title', 'pubDate', 'published', 'updated'];

const textOf = (value: Value | undefined): string | undefined => (typeof value === 'string' ? value : value?.[1]);
const idOf = (value: Value | undefined) => textOf(value)?.replace(/^(\d+)-.*@.*$/, '$1');

function isSame(name: string, one: Value | undefined, other: Value | undefined): boolean {
  if (JSON.stringify(one) === JSON.stringify(other)) return true;
  if (one === undefined || other === undefined) return false;
  if (name === 'SUMMARY') return unescaped(one) === unescaped(other);
  return name.startsWith('DT') && (momentOf(one) === momentOf(other) || isSameDay(name, one, other));
}

const unescaped = (value: Value) => textOf(value)?.replace(/\\([;,\\])/g, '$1');

/** Unix seconds of a date with time, whose time zone may be a named one or a UTC offset. */
function momentOf(value: Value): number {
  const text = textOf(value) ?? '';
  const local = text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z?$/, '$1-$2-$3 $4:$5:$6');
  if (local === text) return Number.NaN;
  const zone = parseZone(text.endsWith('Z') || typeof value === 'string' ? 'UTC' : (value[0].TZID ?? 'UTC'));
  return unixFromLocal(local, zone!);
}

/** Whether a date stands for the first and last second of the day in the reference. */
function isSameDay(name: string, one: Value, other: Value): boolean {
  if (typeof other === 'string' || other[0].VALUE !== 'DATE' || (typeof one !== 'string' && one[0].VALUE === 'DATE')) return false;
  const text = textOf(one) ?? '';
  if (name === 'DTSTART') return text === `${other[1]}T000000`;
  const utc = parseZone('UTC')!;
  const after = localFromUnix(momentOf(text) + 1, utc)
    .slice(0, 10)
    .replaceAll('-', '');
  return text.endsWith('T235959') && other[1] === after;
}

// ------------------------------------------------------------------------------------------------- reading
function kindOf({ headers, text }: Answer): string {
  if (/text\/calendar/.test(String(headers['content-type']))) return 'ical';
  return /<rss[\s>]/.test(text) ? 'rss2' : /<rdf:RDF/.test(text) ? 'rdf' : /<feed[\s>]/.test(text) ? 'atom' : 'none';
}

function calendarEvents(text: string): Fields[] {
  const lines = text.replaceAll(/\r\n[ \t]/g, '').split('\r\n');
  const events: Record<string, Value>[] = [];
  for (const line of lines) {
    if (line === 'BEGIN:VEVENT') events.push({});
    const [, name = '', parameters = '', value = ''] = /^([A-Z-]+)((?:;[^:"]*(?:"[^"]*")?)*):(.*)$/.exec(line) ?? [];
    const pairs = parameters.split(';').slice(1);
    const parametersByName = Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));
    const event = events.at(-1);
    if (event && name !== '') event[name] ??= pairs.length === 0 ? value : [parametersByName, value];
  }
  return events;
}

function newsItems(text: string, kind: string): Fields[] {
  const tag = kind === 'atom' ? 'entry' : 'item';
  const items = [...text.matchAll(new RegExp(`<${tag}[ >][\\s\\S]*?</${tag}>`, 'g'))].map(([item]) => item);
  return items.map((item) => {
    const element = (name: string) => decodeReferences(new RegExp(`<${name}(?: [^>]*)?>([\\s\\S]*?)</${name}>`).exec(item)?.[1]);
    const isAtom = kind === 'atom';
    const fields = {
      guid: isAtom ? element('id') : (element('guid') ?? decodeReferences(/rdf:about="([^"]*)"/.exec(item)?.[1])),
      link: isAtom ? decodeReferences(/<link rel="alternate"[^>]*href="([^"]*)"/.exec(item)?.[1]) : element('link'),
      title: element('title'),
      pubDate: element('pubDate') ?? element('dc:date'),
      published: element('published'),
      updated: element('updated'),
    };
    return Object.fromEntries(Object.entries(fields).filter((pair): pair is [string, string] => pair[1] !== undefined));
  });
}

const decodeReferences = (text: string | undefined) => text?.replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
