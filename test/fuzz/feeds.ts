import fc, { type Arbitrary } from 'fast-check';
import { SaxesParser } from 'saxes';
import { feedFilters } from '../../src/kinds/feed-list.ts';
import { encoded } from './bodies.ts';
import type { Known } from './plausible.ts';
import type { Target } from './requests.ts';
import { often, text } from './values.ts';

/** The pages of the calendar as feeds: they accept the filters of the list. */
export const feeds: Target = {
  name: 'GET feeds',
  method: 'GET',
  namespace: '',
  pattern: '',
  params: feedFilters,
  kind: undefined,
  place: placeOf,
};

// biome-ignore format: list
const PAGES = [
  '/events/', '/events/list/', '/event/{event}/', '/events/category/{category}/', '/events/category/music/{category}/list/',
  '/events/month/2030-06/', '/events/2030-08-05/', '/events/list/page/2/', '/events/featured/', '/venue/{event}/',
  '/events/tag/{tag}/', '/tag/{tag}/', '/', '/event/', '/events/category/', '/events/{event}/{tag}/',
];
// biome-ignore format: list
const FORMS = [
  'ical/', 'feed/', 'feed/rss2', '?ical=1', '?outlook-ical=1', '?ical', '?format=jsonld', '?feed=rss2', 'ical/?eventDisplay=past',
  '?post_type=tribe_events&ical=1', '?tribe_events={event}&ical=1', '?tribe_events={event}&format=jsonld',
  '?tribe_events_cat={category}&feed=rss2', '?ical[]=1', 'feed/atom/', '?feed=rdf', '?ical=1&event_ids={event}', '?ical=1&eventDisplay={tag}',
  '?ical=1&tribe-bar-date={event}', '?ical=1&eventDisplay=day&eventDate={event}', '?ical=1&paged={tag}', '?ical=1&per_page=1000',
];

function placeOf({ names }: Known): Arbitrary<string> {
  const slug = (of: 'event' | 'category' | 'tag') => often(6, fc.constantFrom(...names[of]), text.map(encoded));
  return fc
    .tuple(
      often(5, fc.constant(''), fc.constantFrom('/en', '/it', '/index.php', '/fr', '//')),
      fc.constantFrom(...PAGES),
      fc.constantFrom(...FORMS),
      fc.record({ event: slug('event'), category: slug('category'), tag: slug('tag') }),
    )
    .map(([prefix, page, form, slugs]) =>
      `${prefix}${page}${form}`.replace(/\{(event|category|tag)\}/g, (_, of: keyof typeof slugs) => slugs[of]),
    );
}

/** URLs of the feeds that contain an event. */
export const feedsOf = (id: number, slug: string): string[] => [
  `/?ical=1&event_ids=${id}`,
  `/events/feed/?search=${id}`,
  ...(slug === '' ? [] : [`/event/${slug}/?ical=1`, `/event/${slug}/?format=jsonld`]),
];

/** Format errors of a feed; undefined if it is not a feed. */
export function feedFaults(type: string, body: string): string[] | undefined {
  if (type.startsWith('text/calendar')) return calendarFaults(body);
  if (/^application\/(rss|atom|rdf)\+xml/.test(type)) return xmlFaults(body);
  return undefined;
}

/** RFC 5545: content lines of at most 75 bytes that end in CRLF, closed blocks, no control characters. */
function calendarFaults(body: string): string[] {
  const lines = body.split('\r\n');
  const open: string[] = [];
  const faults: string[] = [];
  const unfolded = lines.join('\n').replace(/\n[ \t]/g, '');
  for (const line of unfolded.split('\n')) {
    const [, word, name] = /^(BEGIN|END):(.*)$/.exec(line) ?? [];
    if (word === 'BEGIN') open.push(name!);
    else if (word === 'END' && open.pop() !== name) faults.push('a calendar with blocks that cross');
    else if (line !== '' && !/^[A-Z-]+[;:]/.test(line)) faults.push(`a calendar with the line ${line.slice(0, 60)}`);
  }
  if (open.length > 0 || lines.at(-1) !== '') faults.push('a calendar that does not end');
  if (lines.some((line) => Buffer.byteLength(line) > 75)) faults.push('a calendar with long lines');
  if (/[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|[^\r]\n|\r[^\n]/.test(body)) faults.push('a calendar with control characters');
  return faults;
}

function xmlFaults(body: string): string[] {
  const faults: string[] = [];
  const parser = new SaxesParser({ xmlns: true });
  parser.on('error', (error) => faults.push(`XML that is not well-formed: ${error.message}`));
  parser.write(body).close();
  return faults.slice(0, 1);
}
