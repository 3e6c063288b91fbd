import { isoWithOffset, isZeroDate, parseZone, UTC, unixFromText } from '../wordpress/time.ts';
import { type EventRecord, placeOf, plainLine, venuesOf, webAddress } from './items/event-record.ts';

/** What a feed says of itself. */
export interface FeedHead {
  readonly title: string;
  readonly description: string;
  /** Address of the page it shows, and its own. */
  readonly url: string;
  readonly self: string;
  readonly language: string;
  /** Home address of the site, of which the names of events are made. */
  readonly home: string;
}

/**
 * Events as an RSS 2.0 feed, dates and places besides in the terms of the event module of RSS 1.0. The names (`guid`) are those that WordPress gives, which
 * stay when an address changes.
 */
export function writeRss(records: readonly EventRecord[], head: FeedHead): string {
  const { title, description, url, self, language } = head;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:ev="http://purl.org/rss/1.0/modules/event/">',
    '<channel>',
    element('title', plainLine(title)),
    element('link', url),
    `<atom:link href="${xml(self)}" rel="self" type="application/rss+xml"/>`,
    element('description', asHtml(plainLine(description) || plainLine(title))),
    element('language', language),
    element('generator', 'Fasti'),
    ...latest(records).map((date) => element('lastBuildDate', date)),
    ...records.map((record) => item(record, head)),
    '</channel>',
    '</rss>',
    '',
  ].join('\n');
}

function item(record: EventRecord, { home }: FeedHead): string {
  const venues = venuesOf(record);
  const image = record.image === false ? undefined : webAddress(record.image.url);
  return [
    '<item>',
    element('title', plainLine(record.title)),
    element('link', record.url),
    element('guid', `${home}/?post_type=tribe_events&p=${record.id}`, ' isPermaLink="false"'),
    ...(isZeroDate(record.date_utc) ? [] : [element('pubDate', rfc822(record.date_utc))]),
    element('description', asHtml(plainLine(record.excerpt || record.description))),
    ...(record.description === '' ? [] : [element('content:encoded', record.description)]),
    ...[...record.categories, ...record.tags].map(({ name }) => element('category', plainLine(name))),
    ...(image === undefined ? [] : [`<enclosure url="${xml(image)}" length="0" type="${imageType(image)}"/>`]),
    element('ev:startdate', moment(record.start_date, record.timezone, record.all_day)),
    element('ev:enddate', moment(record.end_date, record.timezone, record.all_day)),
    ...(venues.length === 0 ? [] : [element('ev:location', venues.map(placeOf).join('; '))]),
    ...(record.organizer.length === 0
      ? []
      : [element('ev:organizer', record.organizer.map(({ organizer }) => plainLine(organizer)).join(', '))]),
    '</item>',
  ].join('\n');
}

/** ISO 8601: a day, or a moment with the offset of the event's zone. */
const moment = (local: string, timezone: string, allDay: boolean | null): string =>
  allDay ? local.slice(0, 10) : isoWithOffset(local, parseZone(timezone) ?? UTC);

const rfc822 = (utc: string): string => new Date(unixFromText(utc) * 1000).toUTCString().replace('GMT', '+0000');

/** The last change of any of the events. */
function latest(records: readonly EventRecord[]): string[] {
  const dates = records.map(({ modified_utc: date }) => date).filter((date) => !isZeroDate(date));
  return dates.length === 0 ? [] : [rfc822(dates.sort().at(-1)!)];
}

function imageType(url: string): string {
  const extension = (/\.(\w+)(?:[?#]|$)/.exec(url)?.[1] ?? '').toLowerCase();
  return `image/${extension === 'png' || extension === 'gif' || extension === 'webp' || extension === 'avif' ? extension : 'jpeg'}`;
}

const element = (name: string, text: string, attributes = ''): string => `<${name}${attributes}>${xml(text)}</${name}>`;

/** Plain text as HTML, which a description is for every reader of feeds; titles, categories and places are plain text. */
const asHtml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** A text inside XML 1.0, in which no other characters may stand (2.2). Entities of HTML mean nothing there: their `&` is one like any other. */
const xml = (text: string): string =>
  text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
