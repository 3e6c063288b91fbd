import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, it } from '@jest/globals';
import type { ImportOptions } from '../../src/exchange/import/options.ts';
import { cleanPost } from '../../src/exchange/items/clean.ts';
import type { Item, PostItem } from '../../src/exchange/items/items.ts';
import { openSource } from '../../src/exchange/sources.ts';
import type { Site } from '../../src/site.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { looksSerialized, parseSerialized, textOfStored, toSerialized } from '../../src/wordpress/php/serialized.ts';
import { describeDatabases } from '../support/databases.ts';
import { forgetImports } from '../support/site.ts';
import { callerOf, emptySite, importSource, metaRows, siteOf, streamOf } from './sites.ts';

/*
 * Texts of other people's calendars, tables and pages in the form of serialized values: WordPress would create the
 * objects in them, so they are stored as WordPress stores such a text. Of files that are not trusted, no value with an
 * object is taken over.
 */

const OBJECT = 'O:8:"stdClass":1:{s:1:"a";i:1;}';
const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
const escaped = (text: string) => text.replace(/[;,]/g, '\\$&');
const folder = mkdtempSync(join(tmpdir(), 'fasti-serialized-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const FILES: Readonly<Record<string, string>> = {
  'calendar.ics': [
    'BEGIN:VCALENDAR', 'VERSION:2.0', 'BEGIN:VEVENT', `UID:${escaped(OBJECT)}`, 'SUMMARY:Concert', 'DTSTART:20310501T180000Z',
    `LOCATION:Barn\\, ${escaped(OBJECT)}`, `CONTACT:Ada\\, ${escaped(OBJECT)}`, 'END:VEVENT', 'END:VCALENDAR', '',
  ].join('\r\n'), // biome-ignore format: lines
  'events.csv': `Event Name,Event Start Date,Event Start Time,Event Cost,External ID\nConcert,2031-05-01,18:00,${quoted(OBJECT)},${quoted(OBJECT)}\n`,
  'venues.csv': `Venue Name,Venue Address,Venue City,Venue Phone,External ID\nBarn,${quoted(OBJECT)},${quoted(OBJECT)},${quoted(OBJECT)},${quoted(OBJECT)}\n`,
  'page.html': `<script type="application/ld+json">${JSON.stringify({
    '@context': 'https://schema.org',
    '@type': 'Event',
    name: 'Concert',
    startDate: '2031-05-01T18:00:00Z',
    location: { '@type': 'Place', name: 'Barn', telephone: OBJECT, address: { streetAddress: OBJECT, addressLocality: OBJECT } },
    organizer: { '@type': 'Person', name: 'Ada', telephone: OBJECT, email: OBJECT },
  })}</script>`,
}; // biome-ignore format: one file a row

describeDatabases('text in the form of a serialized value in a file', (open) => {
  let db: Database;
  let site: Site;
  beforeEach(async () => {
    db ??= await open();
    await emptySite(db);
    site ??= await siteOf(db);
  });
  afterAll(() => site.close());

  const rows = async () => {
    const values = [
      ...(await db.from('postmeta').pluck('meta_value')),
      ...(await db.from('usermeta').where('user_id', '>', 1).pluck('meta_value')),
      ...(await db.from('termmeta').pluck('meta_value')),
    ];
    return values.filter((value): value is string => value !== null && looksSerialized(value));
  };
  const imported = (items: readonly Item[], options: Partial<ImportOptions> = {}) =>
    importSource(site, { name: () => 'x', entries: () => streamOf(items) } as never, options);

  it.each(Object.keys(FILES))('is stored as a text: %s', async (name) => {
    writeFileSync(join(folder, name), FILES[name]!);
    const source = await openSource([join(folder, name)], { caller: await callerOf(site), prefix: 'wp_', target: '' });
    await importSource(site, source);
    const stored = await rows();
    expect(stored.length).toBeGreaterThan(0);
    expect(stored.filter((value) => textOfStored(value) !== OBJECT)).toEqual([]);
  });

  it('is recognized when the file is imported again', async () => {
    writeFileSync(join(folder, 'calendar.ics'), FILES['calendar.ics']!);
    const report = async () => {
      const source = await openSource([join(folder, 'calendar.ics')], { caller: await callerOf(site), prefix: 'wp_', target: '' });
      return importSource(site, source);
    };
    await report();
    expect(await report()).toMatchObject({ created: {}, updated: {} });
    // Without what was noted, the UID tells that the event is the same.
    await forgetImports(db);
    expect((await report()).created).not.toHaveProperty('event');
  });

  it('is stored as a text in the profile of an author', async () => {
    const metas: [string, string][] = ['first_name', 'last_name', 'nickname', 'description'].map((key) => [key, OBJECT]);
    const person: Item = { kind: 'author', sourceId: 'eve', login: 'eve', email: 'eve@example.org', displayName: 'Eve', metas };
    await imported([person]);
    expect((await rows()).filter((value) => textOfStored(value) === OBJECT)).toHaveLength(4);
    expect((await rows()).filter((value) => parseSerialized(value) === value)).toEqual([]);
  });

  it('is left out of files that are not trusted if it contains an object, and reported', () => {
    const broken = ['d', 'O:8:"stdClass":1:{s:1:"a";s:8:"<b>x</b>";}', `a:1:{i:0;${OBJECT}}`, 'a:2:{i:0;s:8:"<b>x</b>";i:1;R:2;}'];
    const venue: PostItem = {
      kind: 'venue', sourceId: '1', columns: { post_title: 'Barn' }, links: [], terms: [], complete: true,
      metas: metaRows([...broken.map((value, place) => [`plugin_${place}`, value] as const), ['text', toSerialized(OBJECT)]]),
    }; // biome-ignore format: a record
    const { metas, losses } = cleanPost(venue, { isTrusted: false });
    expect(metas).toEqual([['plugin_0', 'd'], ['text', toSerialized(OBJECT)]]); // biome-ignore format: pairs
    expect(losses.map(({ reason }) => reason)).toEqual(Array(3).fill('value-refused'));
    expect(cleanPost(venue, { isTrusted: true })).toMatchObject({ metas: venue.metas, losses: [] });
  });

  it('does not arise from the removal of markup', () => {
    const venue: PostItem = {
      kind: 'venue', sourceId: '1', columns: { post_title: 'Barn' }, links: [], terms: [], complete: true,
      metas: metaRows([['_VenueCity', `<b></b>${OBJECT}`], ['plugin', `<script></script>${OBJECT}`]]),
    }; // biome-ignore format: a record
    const { metas } = cleanPost(venue, { isTrusted: false });
    expect(metas.map(([key]) => key)).toEqual(['_VenueCity', 'plugin']);
    for (const [, value] of metas) expect(looksSerialized(value) && textOfStored(value) === value).toBe(false);
  });
});
