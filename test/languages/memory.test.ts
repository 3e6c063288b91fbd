import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type CacheObserver, observeCache } from '../support/cache-observer.ts';
import { describeDatabases } from '../support/databases.ts';
import { loadLanguages } from '../support/languages.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { ROOT } from '../support/site-client.ts';

/*
 * The cache with content in several languages: answers are the same as without the cache, and a write drops no answer
 * that does not show the changed record.
 */

const HEADERS = { Host: '127.0.0.1:8081' };
const ENV = { CACHE_FRESHNESS_MS: '60000', SHARED_WITH_WORDPRESS: 'off' };
const SPAN = 'start_date=2019-01-01&end_date=2035-12-31&per_page=50';
const KINDS = ['events', 'venues', 'organizers', 'categories', 'tags'] as const;
/** An answer without the members that only single records have. */
const withoutOwn = (text: string): Record<string, unknown> =>
  JSON.parse(text, (name, value) => (name === 'json_ld' || name === '_links' ? undefined : value));

type Ids = Readonly<Record<(typeof KINDS)[number], readonly number[]>>;

for (const form of ['polylang', 'wpml'] as const) {
  describeDatabases(`the cache of content in several languages, stored by ${form}`, (open) => {
    let [plain, remembering]: RunningSite[] = [];
    let memory: CacheObserver;
    let ids: Ids;
    beforeAll(async () => {
      const db = await loadLanguages(await open(), form);
      const clock = () => new Date('2026-11-22T21:30:00Z');
      plain = await serveDatabase(db, { env: { ...ENV, CACHE: 'off' }, clock });
      remembering = await serveDatabase(db, { env: ENV, clock });
      memory = observeCache({ ...remembering, send: (method, path) => remembering!.send(method, path, { headers: HEADERS }) });
      const found = await Promise.all(
        KINDS.map(async (kind) => [
          kind,
          await idsOf(`${kind}?translation_language=all&per_page=50${kind === 'events' ? `&${SPAN}` : ''}`),
        ]),
      );
      ids = Object.fromEntries(found) as Ids;
    });
    afterAll(() => Promise.all([plain, remembering].map((site) => site?.close())));

    async function idsOf(path: string): Promise<number[]> {
      const { body } = await plain!.send('GET', `${ROOT}/${path}`, { headers: HEADERS });
      return (Object.values(body).find(Array.isArray) as { id: number }[]).map(({ id }) => id);
    }
    const write = (method: string, path: string, body: object | null) =>
      remembering!.send(method, `${ROOT}/${path}`, { as: 'admin', headers: HEADERS, body });

    it('keeps answers that a write does not affect: of other groups, and of other kinds', async () => {
      const [one, other] = [ids.events[0], ids.events.at(-1)];
      const kept = [`events/${other}`, `venues/${ids.venues[0]}`, 'venues?per_page=50', 'organizers', 'tags', `tags/${ids.tags[0]}`];
      const gone = [`events/${one}`, `events?${SPAN}&translation_language=all`, `events?${SPAN}&lang=en`, `events?${SPAN}&lang=it`];
      const paths = [...kept, ...gone].map((path) => `${ROOT}/${path}`);
      await write('POST', `events/${one}`, { title: 'First' });
      await memory.warm(...paths);
      expect((await write('POST', `events/${one}`, { title: 'Changed alone' })).status).toBe(200);
      // The first answer after a write reads the site's languages again.
      await memory.request(`${ROOT}/categories/${ids.categories[0]}`);
      const asked: [string, boolean][] = [];
      for (const path of [...kept, ...gone]) asked.push([path, (await memory.request(`${ROOT}/${path}`)).remembered]);
      expect(asked).toEqual([...kept.map((path) => [path, true]), ...gone.map((path) => [path, false])]);
    });

    it('assembles a list from its ids and the changed record', async () => {
      const list = `${ROOT}/events?${SPAN}&translation_language=all`;
      await memory.warm(list);
      let most = 0;
      const listening = { on: true };
      await write('POST', `events/${ids.events[0]}`, { title: 'Changed once more' });
      remembering!.site.db.driver.listen(({ sql }: { sql: string }) => {
        const named = /_posts` WHERE ID IN \(([?, ]+)\)/.exec(sql)?.[1];
        if (listening.on && named) most = Math.max(most, named.split(',').length);
      });
      const { answer, remembered } = await memory.request(list);
      listening.on = false;
      expect([remembered, answer.body.events.length]).toEqual([false, ids.events.length]);
      // The event, its venue and organizers with their translations, and the event's translations.
      expect(most).toBeGreaterThan(0);
      expect(most).toBeLessThan(ids.events.length);
    });

    it('gives the same answers as without the cache, whatever is written', async () => {
      const language = fc.constantFrom('en', 'it');
      const idOf = (kind: keyof Ids) => fc.constantFrom(...ids[kind]);
      const text = fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme-ascii' });
      const changeOf = (kind: keyof Ids, name: string) =>
        fc.record({
          path: idOf(kind).map((id) => `${kind}/${id}`),
          body: fc.oneof(
            fc.record({ [name]: text }),
            fc.record({ language }),
            fc.record({ translation_of: idOf(kind) }),
            language.map((code) => ({ translations: { [code]: null } })),
            ...(name === 'name' ? [] : [fc.record({ status: fc.constantFrom('publish', 'draft') })]),
          ),
        });
      const links = fc.record({
        path: idOf('events').map((id) => `events/${id}`),
        body: fc.record({ venue: idOf('venues'), organizer: idOf('organizers'), categories: fc.subarray([...ids.categories]) }),
      });
      const made = fc.record({
        path: fc.constant('events'),
        body: fc.record(
          {
            title: text,
            start_date: fc.constant('2031-05-01'),
            end_date: fc.constant('2031-05-02'),
            translation_of: idOf('events'),
            language,
          },
          { requiredKeys: ['title', 'start_date', 'end_date', 'language'] },
        ),
      });
      const gone = fc.record({ path: idOf('events').map((id) => `events/${id}`), body: fc.constant(null) });
      const writing = fc.oneof(changeOf('events', 'title'), changeOf('venues', 'venue'), changeOf('categories', 'name'), links, made, {
        weight: 1,
        arbitrary: gone,
      });
      const one = fc.oneof(...KINDS.map((kind) => idOf(kind).map((id) => `${ROOT}/${kind}/${id}`)));
      const list = fc
        .tuple(
          fc.constantFrom(...KINDS),
          fc.constantFrom('lang=en', 'lang=it', 'translation_language=all', 'lang=it&language_fallback=true'),
        )
        .map(([kind, chosen]) => `${ROOT}/${kind}?per_page=50&${chosen}${kind === 'events' ? `&${SPAN}` : ''}`);
      const byPlace = fc.constantFrom('Italy', 'Italia').map((country) => `/it${ROOT}/events?${SPAN}&country=${country}`);
      const other = fc.constantFrom(
        '/events/?ical=1',
        '/it/events/?ical=1',
        '/wp-json/wp/v2/tribe_events?_embed',
        `/it${ROOT}/events?${SPAN}`,
      );
      let held = 0;
      await fc.assert(
        fc.asyncProperty(
          writing,
          fc.array(fc.oneof(one, list, byPlace, other), { minLength: 4, maxLength: 10 }),
          async ({ path, body }, paths) => {
            for (const read of paths) await remembering!.send('GET', read, { headers: HEADERS });
            await write(body === null ? 'DELETE' : 'POST', path, body);
            for (const read of paths) {
              const expected = await plain!.send('GET', read, { headers: HEADERS });
              const { answer, remembered } = await memory.request(read);
              expect([read, answer.status, answer.text]).toEqual([read, expected.status, expected.text]);
              if (remembered) held += 1;
            }
          },
        ),
        { numRuns: 60 },
      );
      expect(held).toBeGreaterThan(20);
      await expectSameAlone();
    });

    /** Checks that every record is the same alone and in a list, after all writes. */
    async function expectSameAlone(): Promise<void> {
      let compared = 0;
      for (const kind of KINDS) {
        for (const chosen of ['lang=en', 'lang=it']) {
          const read = (path: string) => plain!.send('GET', `${ROOT}/${path}`, { headers: HEADERS });
          const { text } = await read(`${kind}?per_page=50&${chosen}${kind === 'events' ? `&${SPAN}` : ''}`);
          for (const record of Object.values(withoutOwn(text)).find(Array.isArray) as { id: number }[]) {
            const alone = await read(`${kind}/${record.id}?${chosen}`);
            expect([kind, chosen, record]).toEqual([kind, chosen, withoutOwn(alone.text)]);
            compared += 1;
          }
        }
      }
      expect(compared).toBeGreaterThan(5);
    }
  });
}
