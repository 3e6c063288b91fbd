import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { commandIn, temporaryFolder } from '../cli/command.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';
import { loadLanguages } from '../support/languages.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import type { Json } from '../support/site-client.ts';

/* Tests of importing a running site in two languages. */

const HEADERS = { Host: '127.0.0.1:8081' };
const EVENTS = '/wp-json/tribe/events/v1/events?start_date=2000-01-01&end_date=2100-01-01&per_page=50&translation_language=all';

const folder = temporaryFolder();

/** Starts a server that forwards requests to another one and changes the bodies of responses. */
async function proxyOf(site: RunningSite, change: (text: string) => string): Promise<http.Server> {
  const server = http.createServer(async (req, res) => {
    const { status, text } = await site.send('GET', req.url ?? '/', { headers: HEADERS });
    res.writeHead(status, { 'content-type': 'application/json' }).end(change(text));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return server;
}
const baseOf = (server: http.Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/** Returns a response without the members about languages. */
const unspoken = (text: string): string =>
  JSON.stringify(JSON.parse(text), (name, value) => (['language', 'translations', 'languages'].includes(name) ? undefined : value));

for (const form of ['polylang', 'wpml'] as const) {
  describeDatabases(`running site in two languages, stored by ${form}`, (open) => {
    let original: Database;
    let old: RunningSite;
    const servers: http.Server[] = [];
    beforeAll(async () => {
      original = await loadLanguages(await open(), form);
      old = await serveDatabase(original, { clock: () => new Date('2026-11-22T21:30:00Z') });
    });
    afterAll(async () => {
      for (const server of servers) await new Promise((closed) => server.close(closed));
      await old.close();
    });

    /** Imports the site into an empty one and returns the events of both. */
    async function imported(change: (text: string) => string) {
      const proxy = await proxyOf(old, change);
      servers.push(proxy);
      const copy: Database = await open({ migrated: false });
      const env = { DATABASE_URL: urlOf(copy), UPLOADS_DIR: folder, PORT: '0' };
      const fasti = commandIn(env);
      expect((await fasti('init', '--languages=en,it')).code).toBe(0);
      const { code, err } = await fasti('import', baseOf(proxy), '--rate=1000');
      expect({ code, err: [0, 3].includes(code) ? '' : err }).toEqual({ code: expect.any(Number), err: '' });
      const { out } = await fasti('event', 'list', '--format=json', '--start_date=2000-01-01', '--end_date=2100-01-01');
      const there = await old.send('GET', EVENTS, { headers: HEADERS });
      return { there: there.body.events as Json[], here: JSON.parse(out) as Json[], copy };
    }
    const languagesOf = (events: Json[]) => events.map(({ title, language }) => `${language} ${title}`).sort();
    const groupsOf = (events: Json[]) => {
      const titles = new Map(events.map(({ id, title }) => [id, title]));
      return events.flatMap(({ translations }) => {
        const names = Object.entries<Json>(translations).map(([code, { id }]) => `${code} ${titles.get(id)}`);
        return names.length > 1 ? [names.sort().join()] : [];
      });
    };

    it('is imported with its languages, and each record once', async () => {
      const { there, here } = await imported((text) => text);
      expect(there.filter(({ language }) => language === 'it').length).toBeGreaterThan(3);
      // Records without a language now have the default one.
      const spoken = there.map((event) => ({ ...event, language: event.language ?? 'en' }));
      expect(languagesOf(here)).toEqual(languagesOf(spoken));
      expect(groupsOf(here).length).toBeGreaterThan(1);
      expect(groupsOf(here).sort()).toEqual(groupsOf(there).sort());
    });

    it('is imported with events that are hidden from lists, also if a translation has their slug and their start', async () => {
      const FESTIVAL = [117, 118];
      const before = await original.from('postmeta').whereIn('post_id', FESTIVAL).where('meta_key', '_EventStartDate').select('meta_value');
      expect(new Set(before.map(({ meta_value: start }) => String(start))).size).toBe(1);
      const hidden = { post_id: 118, meta_key: '_EventHideFromUpcoming', meta_value: 'yes' };
      await original.from('postmeta').insert(hidden);
      for (const change of [(text: string) => text, unspoken]) {
        const { copy } = await imported(change);
        const titles = async (db: Database) =>
          (await db.from('posts').whereIn('ID', FESTIVAL).orderBy('ID')).map(({ post_title: title }) => title);
        expect(await titles(copy)).toEqual(await titles(original));
      }
      await original.from('postmeta').where(hidden).delete();
    });

    it('keeps the links that are stored, whatever translations of venues its events show', async () => {
      const { body } = await old.send('GET', '/wp-json/tribe/events/v1/venues?per_page=50&lang=it', { headers: HEADERS });
      const translations = (body.venues as Json[]).map((venue) => venue.translations as Record<string, { id: number }>);
      const [english, italian] = translations.flatMap(({ en, it: other }) => (en && other ? [[en.id, other.id] as const] : []))[0]!;
      const linked = { meta_key: '_EventVenueID', meta_value: String(italian) };
      const [event] = await original.from('postmeta').where(linked);
      await original
        .from('postmeta')
        .where('meta_id', event!.meta_id)
        .update({ meta_value: String(english) });
      const { copy } = await imported((text) => text);
      expect(await copy.from('postmeta').where({ post_id: event!.post_id, meta_key: '_EventVenueID' }).pluck('meta_value')).toEqual([
        String(english),
      ]);
      await original.from('postmeta').where('meta_id', event!.meta_id).update(linked);
    });

    it.each([
      ['paths', unspoken],
      [
        'hosts',
        (text: string) =>
          unspoken(text).replaceAll('://127.0.0.1:8081/it/', '://it.example.org/').replaceAll('127.0.0.1:8081', 'example.org'),
      ],
    ])('is imported with languages derived from its URLs if it states none: by %s', async (_, change) => {
      const { there, here } = await imported(change);
      const spoken = there.map((event) => ({ ...event, language: event.language ?? 'en' }));
      expect(languagesOf(here)).toEqual(languagesOf(spoken));
      expect(groupsOf(here)).toEqual([]);
    });
  });
}
