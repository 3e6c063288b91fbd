import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSettings } from '../../src/calendar/settings.ts';
import { type Entry, isItem, SourceFault } from '../../src/exchange/items/items.ts';
import { openSource, type SourceOptions } from '../../src/exchange/sources.ts';
import { allOf, type TextFunction } from './text-functions.ts';

/** An import of a file with a text in it. `items`: how many items it has with a harmless text. */
export interface FileReader extends TextFunction {
  readonly items: () => Promise<number>;
}

/** Lines of a calendar up to the text, with a harmless text where not every one will do. */
const CALENDAR_LINES: readonly (readonly [line: string, harmless?: string])[] = [
  ['SUMMARY:'],
  ['DESCRIPTION:'],
  ['X-ALT-DESC;FMTTYPE=text/html:<body>'],
  ['LOCATION:'],
  ['ORGANIZER;CN='],
  ['CONTACT:'],
  ['CATEGORIES:'],
  ['ATTACH:'],
  ['URL:'],
  ['RRULE:', 'FREQ=DAILY;COUNT=2'],
  ['EXDATE;TZID='],
  ['GEO:'],
  [''],
];

/** The files of a format of our own, and of WordPress: the head, and the end after so many items. */
const JSON_LINES_HEAD = JSON.stringify({ format: 'fasti', version: 1, home: 'http://a.test' });
const WXR_HEAD = '<?xml version="1.0"?><rss xmlns:wp="urn:a" xmlns:content="urn:b"><channel><wp:wxr_version>1.2</wp:wxr_version>';
const WXR_END = '</channel></rss>';

const jsonLine = (text: string) =>
  JSON.stringify({
    kind: 'event',
    sourceId: '1',
    columns: { post_title: text, post_content: text },
    metas: [
      ['_EventStartDate', '2031-05-01 20:00:00'],
      ['_EventURL', text],
    ],
    links: [{ key: '_EventVenueID', kind: 'venue', name: text }],
    terms: [{ kind: 'tag', sourceId: '2', name: text }],
    complete: true,
  });
const wxrItem = (text: string) =>
  `<item><title>${text}</title><content:encoded>${text}</content:encoded><wp:post_id>1</wp:post_id>` +
  '<wp:post_type>tribe_events</wp:post_type><wp:status>publish</wp:status>' +
  `<category domain="post_tag" nicename="a">${text}</category>` +
  `<wp:postmeta><wp:meta_key>_EventURL</wp:meta_key><wp:meta_value>${text}</wp:meta_value></wp:postmeta></item>`;
const jsonLd = (text: string) =>
  JSON.stringify({
    '@context': 'https://schema.org',
    '@type': 'Event',
    name: text,
    startDate: '2031-05-01T20:00:00Z',
    description: text,
    url: text,
    image: text,
    location: { '@type': 'Place', name: text, address: text },
    organizer: { '@type': 'Organization', name: text, telephone: text },
    offers: { '@type': 'Offer', price: text },
  });
const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
const page = (text: string, data: string) =>
  `<!DOCTYPE html><title>a</title><p>${text}<script type="application/ld+json">${data.replaceAll('<', '\\u003c')}</script>`;

/** Imports of files of all formats with a text in them. The files are written to `folder`. */
export function fileReaders(folder: string): FileReader[] {
  const settings = readSettings(new Map(), 'wp_');
  const options = { caller: { settings, viewer: { can: () => true }, now: new Date('2031-01-01') } } as unknown as SourceOptions;
  const file = (name: string, content: (text: string) => string, harmless = 'a'): FileReader => {
    const read = async (text: string): Promise<Entry[]> => {
      const path = join(folder, name);
      writeFileSync(path, content(text));
      const source = await openSource([path], options);
      return allOf(source.entries());
    };
    return {
      name: `a file ${name}`,
      call: (text) =>
        read(text).catch((error) => {
          // A file may be refused; any other error would hide the cost to measure.
          if (!(error instanceof SourceFault)) throw error;
        }),
      items: async () => (await read(harmless)).filter(isItem).length,
    };
  };
  const calendar = (line: string, harmless?: string): FileReader =>
    file(
      `in ${line.replace(/\W+/g, '-')}.ics`,
      (text) =>
        ['BEGIN:VCALENDAR', 'BEGIN:VEVENT', 'UID:1', 'DTSTART:20310501T200000Z', line + text, 'END:VEVENT', 'END:VCALENDAR', ''].join(
          '\r\n',
        ),
      harmless,
    );
  return [
    ...CALENDAR_LINES.map(([line, harmless]) => calendar(line, harmless)),
    file(
      'events.csv',
      (text) => `Event Name,Event Start Date,Event Description,Event Venue Name\n${quoted(text)},2031-05-01,${quoted(text)},x\n`,
    ),
    file('raw.csv', (text) => `Event Name,Event Start Date\n${text}\n`, 'a,2031-05-01'),
    file('site.xml', (text) => `${WXR_HEAD}${wxrItem(`<![CDATA[${text.replaceAll(']]>', ']]]]><![CDATA[>')}]]>`)}${WXR_END}`),
    file('raw.xml', (text) => `${WXR_HEAD}${wxrItem(text)}${WXR_END}`),
    file('site.jsonl', (text) => `${JSON_LINES_HEAD}\n${jsonLine(text)}\n{"end":true,"items":1}\n`),
    file('raw.jsonl', (text) => `${JSON_LINES_HEAD}\n${text}\n{"end":true,"items":1}\n`, jsonLine('a')),
    file('event.jsonld', jsonLd),
    file('page.html', (text) => page(text, jsonLd(text))),
    file('raw.html', (text) => page('', text), jsonLd('a')),
  ];
}
