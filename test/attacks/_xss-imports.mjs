/** Files to import, with a text in each place where a file can contain one: CSV, iCalendar and WXR. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { fasti } from '../bench/service.mjs';

/**
 * Exports the sample site in every format and writes each text into each place of copies of one record. `write(place,
 * number)` returns the next text for a place. Returns the paths of the files.
 */
export function writeImports(folder, env, texts) {
  const exported = (name, ...options) => {
    const path = join(folder, name);
    fasti(['export', path, '--force', ...options], env);
    return readFileSync(path, 'utf8');
  };
  const written = (name, content) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  return [
    ...['event', 'venue', 'organizer'].map((kind) =>
      written(`hostile-${kind}.csv`, csv(kind, exported(`${kind}.csv`, `--kind=${kind}`), texts)),
    ),
    written('hostile.ics', ical(texts)),
    written('hostile.xml', wxr(exported('calendar.xml'), texts)),
  ];
}

/** A row for each column and text. */
function csv(kind, sample, texts) {
  const [columns, ...rows] = parse(sample, { bom: true });
  const model = rows.find((row) => row[0] !== '');
  const name = columns[0];
  const copies = columns.flatMap((column, place) =>
    // An invalid date would make the import refuse the whole file.
    / (?:Date|Time)$/.test(column)
      ? []
      : texts(`CSV, ${column}`).map(({ text, number }) => {
          const row = model.map((value, at) => (columns[at] === name ? `${kind} ${number}` : value));
          row[place] = text;
          return row;
        }),
  );
  return stringify([columns, ...copies]);
}

const LINE = /[\\;,]/g;
const escaped = (text) => text.replace(LINE, (sign) => `\\${sign}`).replace(/\r\n|\r|\n/g, '\\n');
const PROPERTIES = [
  'SUMMARY',
  'DESCRIPTION',
  'LOCATION',
  'URL',
  'CATEGORIES',
  'CONTACT',
  'COMMENT',
  'UID',
  'STATUS',
  'GEO',
  'X-ALT-DESC;FMTTYPE=text/html',
  'X-COST',
  'ATTACH',
];

/** An event for each property and text. */
function ical(texts) {
  const events = [...PROPERTIES, 'ORGANIZER'].flatMap((property) =>
    texts(`iCalendar, ${property}`).map(({ text, number }) => {
      const line =
        property === 'ORGANIZER' ? `ORGANIZER;CN="${text.replace(/["\r\n]/g, "'")}":mailto:a@example.org` : `${property}:${escaped(text)}`;
      return [
        'BEGIN:VEVENT',
        ...(property === 'UID' ? [] : [`UID:${number}@example.org`]),
        'DTSTAMP:20260101T000000Z',
        'DTSTART:20310601T100000Z',
        'DTEND:20310601T110000Z',
        ...(property === 'SUMMARY' ? [] : [`SUMMARY:Event ${number}`]),
        line,
        'END:VEVENT',
      ].join('\r\n');
    }),
  );
  return `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//x//EN\r\n${events.join('\r\n')}\r\nEND:VCALENDAR\r\n`;
}

/** An item for each element that contains a text, including each meta, and text. */
function wxr(sample, texts) {
  const [head] = sample.split('\t<item>');
  const items = sample.match(/\t<item>[\s\S]*?<\/item>\n/g);
  const kinds = ['tribe_events', 'tribe_venue', 'tribe_organizer'];
  const copies = kinds.flatMap((kind) => {
    const model = items.find(
      (item) => item.includes(`<wp:post_type><![CDATA[${kind}]]>`) && item.includes('<wp:status><![CDATA[publish]]>'),
    );
    const places = [...model.matchAll(/<!\[CDATA\[([\s\S]*?)\]\]>/g)].map(({ index, 0: whole }) => ({ index, whole }));
    return places.flatMap(({ index, whole }) => {
      const before = model.slice(0, index);
      const tag = /<([\w:]+)[^<]*$/.exec(before)?.[1] ?? '';
      const key = tag === 'wp:meta_value' ? (/<wp:meta_key><!\[CDATA\[(.*?)\]\]>[^[]*$/.exec(before)?.[1] ?? '') : '';
      if (/^wp:(?:post_type|status|meta_key|post_date|post_modified|comment_status|ping_status)/.test(tag) || /Date|Duration/.test(key))
        return [];
      return texts(`WXR, ${kind}, ${tag}${key && ` ${key}`}`).map(({ text, number }) =>
        numbered(before + cdata(text) + model.slice(index + whole.length), number),
      );
    });
  });
  const people = textsWithin(/<wp:author>.*?<\/wp:author>/.exec(head)[0], 'author', texts, (author, number) =>
    author
      .replace(/<wp:author_id>\d+/, `<wp:author_id>${100_000 + number}`)
      .replace('[admin]', `[person${number}]`)
      .replace('[admin@', `[person${number}@`),
  );
  const terms = textsWithin(/<wp:term>.*?<\/wp:term>/.exec(head)[0], 'term', texts, (term, number) =>
    term.replace(/<wp:term_id>\d+/, `<wp:term_id>${100_000 + number}`).replace('[music]', `[term-${number}]`),
  );
  return `${head}${people.join('')}${terms.join('')}${copies.join('')}</channel>\n</rss>\n`;
}

/** Copies of a part of the file's head, with a text in each of its places. */
function textsWithin(model, name, texts, numbered) {
  return [...model.matchAll(/<([\w:]+)><!\[CDATA\[(.*?)\]\]>/g)].flatMap(({ index, 0: whole, 1: tag }) =>
    texts(`WXR, ${name}, ${tag}`).map(
      ({ text, number }) =>
        `${numbered(model.slice(0, index), number)}<${tag}>${cdata(text)}${numbered(model.slice(index + whole.length), number)}`,
    ),
  );
}

const cdata = (text) => `<![CDATA[${text.replace(/[\0-\x08\x0b\x0c\x0e-\x1f]/g, '').replaceAll(']]>', ']]]]><![CDATA[>')}]]>`;

/** Makes the item a separate record: with another id, and another title unless the title is the text under test. */
const numbered = (item, number) =>
  item
    .replace(/<wp:post_id>\d+</, `<wp:post_id>${100_000 + number}<`)
    .replace(/(<guid[^>]*>)[^<]*/, `$1http://127.0.0.1/?p=${100_000 + number}`);
