import { withMoments } from '../calendar/shown-times.ts';
import { imageMimeOf } from '../media/image-type.ts';
import { isZeroDate, textFromUnix, unixFromText } from '../wordpress/time.ts';
import { isoAt, parseZone, unixFromLocal, type Zone } from '../wordpress/zones.ts';
import { type FeedRecord, placeOf, plainLine, venuesOf, webAddress } from './items/event-record.ts';

/** Metadata of a news feed. */
export interface FeedHead {
  readonly title: string;
  readonly description: string;
  /** Home address of the site, and URL of the feed. */
  readonly home: string;
  readonly self: string;
  /** Language of the events' texts. */
  readonly language: string;
  /** Zone of the site; undefined if it is only an offset. */
  readonly zone: Zone | undefined;
  /** Zone of the site, used for events without a zone. */
  readonly clock: Zone;
  /** Time of the last change of the site in UTC, if it is known; used for a feed without events. */
  readonly changed: string | undefined;
}

/** An event with the additional data that a news feed shows. */
export interface NewsEvent {
  readonly record: FeedRecord;
  /** The displayed title, in HTML. */
  readonly title: string;
  /** Permanent id, which stays the same if URLs change. */
  readonly guid: string;
  readonly author: string;
  /** The start that pages show, `YYYY-MM-DD HH:MM:SS`. */
  readonly start: string;
  readonly tags: readonly { readonly name: string }[];
  readonly excerpt: string;
  /** Absent if the feed contains only excerpts. */
  readonly content?: string;
}

export type NewsFormat = 'rss2' | 'atom' | 'rdf';

/** The formats of news feeds: their media types and writers. */
export const NEWS_FORMATS: Readonly<
  Record<NewsFormat, { readonly type: string; readonly write: (events: readonly NewsEvent[], head: FeedHead) => string }>
> = {
  rss2: { type: 'application/rss+xml', write: writeRss },
  atom: { type: 'application/atom+xml', write: writeAtom },
  rdf: { type: 'application/rdf+xml', write: writeRdf },
};

const XML = '<?xml version="1.0" encoding="UTF-8"?>';
const DC = 'xmlns:dc="http://purl.org/dc/elements/1.1/"';
const CONTENT = 'xmlns:content="http://purl.org/rss/1.0/modules/content/"';
const SY = 'xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"';
const ATOM = 'http://www.w3.org/2005/Atom';

// ------------------------------------------------------------------------------------------------- RSS 2.0
/**
 * Writes RSS 2.0 as WordPress does for events: `pubDate` is the displayed start, read in the site's zone, as in the
 * plugin's feeds. The exact moment and the place are added with elements of the event module of RSS 1.0.
 */
function writeRss(events: readonly NewsEvent[], head: FeedHead): string {
  const { title, description, home, self, language } = head;
  return [
    XML,
    `<rss version="2.0" xmlns:atom="${ATOM}" ${CONTENT} ${DC} ${SY} xmlns:ev="http://purl.org/rss/1.0/modules/event/">`,
    '<channel>',
    element('title', plainLine(title)),
    `<atom:link href="${escapeXml(self)}" rel="self" type="application/rss+xml"/>`,
    element('link', home),
    element('description', asHtml(plainLine(description) || plainLine(title))),
    ...latest(events, head).map((date) => element('lastBuildDate', toRfc822(unixFromText(date)))),
    element('language', language),
    ...UPDATE_ELEMENTS,
    element('generator', 'Fasti'),
    ...events.map((event) => rssItem(event, head)),
    '</channel>',
    '</rss>',
    '',
  ].join('\n');
}

const UPDATE_ELEMENTS = ['<sy:updatePeriod>hourly</sy:updatePeriod>', '<sy:updateFrequency>1</sy:updateFrequency>'];

function rssItem({ record, title, guid, author, start, tags, excerpt, content }: NewsEvent, { zone, clock }: FeedHead): string {
  const published = zone ? unixFromLocal(start, zone) : unixFromText(start);
  return [
    '<item>',
    element('title', plainLine(title)),
    element('link', record.url),
    ...(author === '' ? [] : [element('dc:creator', author)]),
    ...(Number.isNaN(published) ? [] : [element('pubDate', toRfc822(published))]),
    ...tags.map(({ name }) => element('category', plainLine(name))),
    element('guid', guid, ' isPermaLink="false"'),
    element('description', excerpt),
    ...(content === undefined ? [] : [element('content:encoded', content)]),
    ...enclosure(record.image),
    ...dateElements(record, clock),
    ...namesElement('ev:location', venuesOf(record).map(placeOf), '; '),
    ...namesElement(
      'ev:organizer',
      record.organizer.map(({ organizer }) => plainLine(organizer)),
      ', ',
    ),
    '</item>',
  ].join('\n');
}

/** Returns an element with the names that are not empty, or nothing if all are empty. */
function namesElement(name: string, names: readonly string[], separator: string): string[] {
  const filledNames = names.filter((one) => one !== '');
  return filledNames.length === 0 ? [] : [element(name, filledNames.join(separator))];
}

/** Returns the image. An unknown length is written as 0, since the attribute is required, as is the type. */
function enclosure(image: FeedRecord['image']): string[] {
  const url = image === false ? undefined : webAddress(image.url);
  const type = url === undefined ? undefined : imageMimeOf(url);
  if (image === false || url === undefined || type === undefined) return [];
  return [`<enclosure url="${escapeXml(url)}" length="${Number(image.filesize) || 0}" type="${type}"/>`];
}

/**
 * Returns the elements with start and end in ISO 8601: days, or moments with the offset of the event's zone; none for a
 * date that the event lacks.
 */
function dateElements(record: FeedRecord, clock: Zone): string[] {
  const { start_date, end_date, utc_start_date, utc_end_date, timezone, all_day: allDay } = withMoments(record, clock);
  const zone = parseZone(timezone) ?? clock;
  const dates = [
    ['ev:startdate', start_date, utc_start_date],
    ['ev:enddate', end_date, utc_end_date],
  ] as const;
  return dates.flatMap(([name, local, utc]) =>
    Number.isNaN(unixFromText(local)) ? [] : [element(name, allDay ? local.slice(0, 10) : isoAt(unixFromText(utc), zone))],
  );
}

const toRfc822 = (unix: number): string => new Date(unix * 1000).toUTCString().replace('GMT', '+0000');

// ------------------------------------------------------------------------------------------------- Atom, RDF
/** Writes Atom 1.0 (RFC 4287). */
function writeAtom(events: readonly NewsEvent[], head: FeedHead): string {
  const { title, description, home, self, language } = head;
  return [
    XML,
    `<feed xmlns="${ATOM}" xml:lang="${escapeXml(language)}">`,
    element('title', plainLine(title), ' type="text"'),
    element('subtitle', plainLine(description), ' type="text"'),
    element('updated', toIso(latest(events, head)[0] ?? EPOCH)),
    `<link rel="alternate" type="text/html" href="${escapeXml(home)}"/>`,
    element('id', self),
    `<link rel="self" type="application/atom+xml" href="${escapeXml(self)}"/>`,
    element('generator', 'Fasti'),
    ...events.map((event) => atomEntry(event, head)),
    '</feed>',
    '',
  ].join('\n');
}

function atomEntry({ record, title, guid, author, start, tags, excerpt, content }: NewsEvent, { home, title: site }: FeedHead): string {
  return [
    '<entry>',
    // Atom requires an author with a name for each entry; the original author may have been deleted.
    `<author><name>${escapeXml(author || plainLine(site))}</name></author>`,
    element('title', asHtml(plainLine(title)), ' type="html"'),
    `<link rel="alternate" type="text/html" href="${escapeXml(record.url)}"/>`,
    element('id', guid),
    element('updated', toIso(isZeroDate(record.modified_utc) ? record.date_utc : record.modified_utc)),
    ...(Number.isNaN(unixFromText(start)) ? [] : [element('published', toIso(textFromUnix(unixFromText(start))))]),
    ...tags.map(({ name }) => `<category scheme="${escapeXml(home)}" term="${escapeXml(plainLine(name))}"/>`),
    element('summary', excerpt, ' type="html"'),
    ...(content === undefined ? [] : [element('content', content, ' type="html"')]),
    '</entry>',
  ].join('\n');
}

/** Writes RSS 1.0, which is RDF. */
function writeRdf(events: readonly NewsEvent[], head: FeedHead): string {
  const { title, description, home } = head;
  return [
    XML,
    `<rdf:RDF xmlns="http://purl.org/rss/1.0/" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" ${DC} ${SY} ${CONTENT}>`,
    `<channel rdf:about="${escapeXml(home)}">`,
    element('title', plainLine(title)),
    element('link', home),
    element('description', plainLine(description)),
    element('dc:date', toIso(latest(events, head)[0] ?? EPOCH)),
    ...UPDATE_ELEMENTS,
    `<items><rdf:Seq>${events.map(({ record }) => `<rdf:li rdf:resource="${escapeXml(record.url)}"/>`).join('')}</rdf:Seq></items>`,
    '</channel>',
    ...events.map(rdfItem),
    '</rdf:RDF>',
    '',
  ].join('\n');
}

function rdfItem({ record, title, author, tags, excerpt, content }: NewsEvent): string {
  return [
    `<item rdf:about="${escapeXml(record.url)}">`,
    element('title', plainLine(title)),
    element('link', record.url),
    element('dc:creator', author),
    element('dc:date', toIso(record.date_utc)),
    ...tags.map(({ name }) => element('dc:subject', plainLine(name))),
    element('description', excerpt),
    ...(content === undefined ? [] : [element('content:encoded', content)]),
    '</item>',
  ].join('\n');
}

// ------------------------------------------------------------------------------------------------- texts
/**
 * Returns the time of the last change of any of the events in UTC; without events, that of the site
 * (`get_feed_build_date`).
 */
function latest(events: readonly NewsEvent[], { changed }: FeedHead): string[] {
  const dates = events.map(({ record }) => record.modified_utc).filter((date) => !isZeroDate(date));
  return dates.length === 0 ? [changed ?? []].flat() : [dates.sort().at(-1)!];
}

const EPOCH = '1970-01-01 00:00:00';

/** Formats a UTC time in ISO 8601. */
const toIso = (utc: string): string => `${(isZeroDate(utc) ? EPOCH : utc).replace(' ', 'T')}Z`;

const element = (name: string, text: string, attributes = ''): string => `<${name}${attributes}>${escapeXml(text)}</${name}>`;

/**
 * Converts plain text to HTML, as which feed readers read descriptions; titles, categories and places are plain text.
 */
export const asHtml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/**
 * Escapes a text for XML 1.0 and removes characters that it does not allow (2.2). HTML entities mean nothing in XML, so
 * that their `&` is escaped as well.
 */
const escapeXml = (text: string): string =>
  // `&` first, since the references contain it.
  ['&', '<', '>', '"', "'"].reduce(
    (escaped, character) => escaped.replaceAll(character, `&#${character.charCodeAt(0)};`),
    text.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, ''),
  );
