import fc from 'fast-check';
import type { AuthorItem, Item, PostItem, TermItem } from '../../src/exchange/items/items.ts';
import { sanitizeTitle } from '../../src/wordpress/slug.ts';
import { metaRows } from './sites.ts';

/*
 * Arbitrary calendars: items that refer to each other, with texts in many scripts and with characters that could break
 * a format.
 */

/**
 * Arbitrary texts with parts that CDATA, XML, CSV and spreadsheets could misread, without unpaired surrogates.
 * `control`: also control characters that XML forbids.
 */
export const text = (control = false) =>
  fc
    .array(
      fc.oneof(
        fc.string({ unit: 'grapheme', maxLength: 8 }),
        fc.constantFrom(
          ']]>',
          '<![CDATA[',
          '&amp;',
          '&',
          '<b>',
          '"',
          "'",
          "'=",
          '=1+1',
          '+',
          '-',
          '@',
          ',',
          ';',
          '\r\n',
          '\n',
          '\t',
          '\r',
          'è',
          '日本',
          '🎉',
          'a:1:{i:0;s:1:"x";}',
          'O:8:"stdClass":0:{}',
        ),
        ...(control ? [fc.constantFrom('\x01', '\x1f', '\ufffe')] : []),
      ),
      { maxLength: 5 },
    )
    .map((parts) => parts.join(''))
    .map((joined) => (control ? joined : joined.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]/g, '')).replace(/\p{Cs}/gu, ''));

const word = fc.stringMatching(/^[a-z]{3,8}$/);
const day = fc.integer({ min: 0, max: 20_000 }).map((days) => new Date(Date.UTC(2000, 0, 1 + days)).toISOString().slice(0, 10));
const moment = fc
  .tuple(day, fc.integer({ min: 0, max: 86_399 }))
  .map(([date, seconds]) => `${date} ${new Date(seconds * 1000).toISOString().slice(11, 19)}`);
const status = fc.constantFrom('publish', 'draft', 'pending', 'private', 'future', 'trash');

const later = (start: string, seconds: number): string =>
  new Date(Date.parse(`${start.replace(' ', 'T')}Z`) + seconds * 1000).toISOString().slice(0, 19).replace('T', ' ');

const dates = fc.tuple(moment, fc.integer({ min: 0, max: 200_000 })).map(([start, seconds]): [string, string][] => [
  ['_EventStartDate', start],
  ['_EventEndDate', later(start, seconds)],
  ['_EventStartDateUTC', start],
  ['_EventEndDateUTC', later(start, seconds)],
  ['_EventDuration', String(seconds)],
  ['_EventTimezone', 'UTC'],
  ['_EventTimezoneAbbr', 'UTC'],
]);

interface Plain {
  readonly title: string;
  readonly content: string;
  readonly excerpt: string;
  readonly status: string;
  readonly date: string;
  readonly password: string;
  readonly order: number;
  readonly metas: [string, string][];
  readonly names: number[];
}

const plain = fc.record({
  title: text(),
  content: text(),
  excerpt: text(),
  status,
  date: moment,
  password: fc.oneof(fc.constant(''), word),
  order: fc.constantFrom(0, -1, 5),
  metas: fc.array(fc.tuple(fc.constantFrom('note', '_VenueCity', '_EventCost', 'Ünïcode'), text()), { maxLength: 4 }),
  names: fc.array(fc.nat(20), { minLength: 3, maxLength: 6 }),
});

/**
 * An arbitrary calendar: authors, terms, venues, organizers and events, in that order. Items refer only to existing
 * items. IDs start at 1000 and so are unused.
 */
export const calendar: fc.Arbitrary<Item[]> = fc
  .record({
    authors: fc.uniqueArray(word, { minLength: 1, maxLength: 3 }),
    terms: fc.uniqueArray(word, { minLength: 1, maxLength: 5 }),
    venues: fc.array(plain, { minLength: 1, maxLength: 3 }),
    organizers: fc.array(plain, { minLength: 1, maxLength: 3 }),
    events: fc.array(fc.tuple(plain, dates), { minLength: 1, maxLength: 5 }),
  })
  .map(({ authors, terms, venues, organizers, events }) => {
    const people: AuthorItem[] = authors.map((login, place) => ({
      kind: 'author',
      sourceId: login,
      id: 1000 + place,
      login,
      email: `${login}@example.org`,
      displayName: login,
      metas: [],
    }));
    const termItems: TermItem[] = terms.map((slug, place) => ({
      kind: place % 2 === 0 ? 'category' : 'tag',
      sourceId: slug,
      id: 1000 + place,
      taxonomyId: 1000 + place,
      name: slug,
      slug,
      description: '',
      ...(place >= 2 && place % 2 === 0 ? { parent: terms[place - 2]! } : {}),
      ...(place % 2 === 1
        ? {
            metas: metaRows([
              ['colour', slug],
              ['colour', ''],
              ['icon', `${slug} ${place}`],
            ]),
          }
        : {}),
    }));
    let id = 1000;
    const post = (
      kind: 'venue' | 'organizer' | 'event',
      { title, content, excerpt, status, date, password, order, metas, names }: Plain,
      more: Partial<PostItem> = {},
    ): PostItem => {
      id += 1;
      return {
        kind,
        sourceId: String(id),
        id,
        columns: {
          post_date: date,
          post_date_gmt: date,
          post_content: content,
          post_title: title,
          post_excerpt: excerpt,
          post_status: status,
          comment_status: 'closed',
          ping_status: 'closed',
          post_password: password,
          post_name: sanitizeTitle(`${kind}-${id}`),
          to_ping: '',
          pinged: '',
          post_modified: date,
          post_modified_gmt: date,
          post_content_filtered: '',
          guid: `https://source.example.org/?p=${id}`,
          menu_order: order,
          post_mime_type: '',
        },
        author: authors[names[0]! % authors.length]!,
        metas: metaRows(metas),
        links: [],
        terms: [],
        complete: true,
        ...more,
      };
    };
    const venueItems = venues.map((venue) => post('venue', venue));
    const organizerItems = organizers.map((organizer) => post('organizer', organizer));
    const pick = <Value>(values: readonly Value[], number: number): Value => values[number % values.length]!;
    const eventItems = events.map(([event, when]) => {
      const carried = [...new Set(event.names.slice(2).map((number) => pick(termItems, number)))];
      return post('event', event, {
        metas: metaRows([...event.metas.filter(([key]) => key === 'note' || key === 'Ünïcode'), ...when]),
        links: [
          { key: '_EventVenueID', kind: 'venue', sourceId: pick(venueItems, event.names[1]!).sourceId },
          ...[...new Set(event.names.slice(0, 2).map((number) => pick(organizerItems, number).sourceId))].map(
            (sourceId) => ({ key: '_EventOrganizerID', kind: 'organizer', sourceId }) as const,
          ),
        ],
        terms: carried.map(({ kind, sourceId, name, slug }) => ({ kind, sourceId, name, slug })),
      });
    });
    return [...people, ...termItems, ...venueItems, ...organizerItems, ...eventItems];
  });

/** Returns items in a form that does not depend on the order of their metas, links and terms. */
export const settled = (items: readonly Item[]): Item[] =>
  items.map((item) => {
    if (!('links' in item)) return item;
    const byKey = (one: readonly [string, string], other: readonly [string, string]) =>
      one[0] < other[0] ? -1 : Number(one[0] > other[0]);
    const byName = (one: { kind: string; sourceId: string }, other: { kind: string; sourceId: string }) =>
      `${one.kind} ${one.sourceId}` < `${other.kind} ${other.sourceId}` ? -1 : 1;
    const byLink = (one: { key: string }, other: { key: string }) => byKey([one.key, ''], [other.key, '']);
    return {
      ...item,
      metas: [...item.metas].sort(byKey),
      links: [...item.links].sort(byLink),
      terms: [...(item.terms ?? [])].sort(byName),
    };
  });
