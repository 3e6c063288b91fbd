import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { callerFor } from '../../src/records/caller.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { ANONYMOUS } from '../../src/wordpress/viewer.ts';
import { describeDatabases } from '../support/databases.ts';
import { openEventStream } from '../support/event-stream.ts';
import { loadLanguages, resetLanguages } from '../support/languages.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { setOptions } from '../support/site.ts';
import { expectBody, expectError, type Json, ROOT } from '../support/site-client.ts';

/* Clients that follow the changes in one language end up with the same records as a full reading in that language. */

/** State of a client: the language of each record. */
type Known = Map<string, string | null>;
/** Ways to choose the language: by parameter, by path, and none. */
const CHOICES = {
  en: ['', 'lang=en'],
  it: ['/it', ''],
  all: ['', 'translation_language=all'],
  none: ['', ''],
} as const;
type Choice = keyof typeof CHOICES;

for (const form of ['polylang', 'wpml'] as const) {
  describeDatabases(`changes of content in several languages, stored by ${form}`, (open) => {
    let db: Database;
    let running: RunningSite;
    beforeAll(async () => {
      db = await loadLanguages(await open(), form);
      running = await serveDatabase(db, { clock: () => new Date('2026-11-22T21:30:00Z') });
    });
    afterAll(() => running.close());

    const headers = { Host: '127.0.0.1:8081' };
    const changes = (choice: Choice, more: string) => {
      const [prefix, query] = CHOICES[choice];
      return running.send('GET', `${prefix}${ROOT}/changes?include=records&${query}&${more}`, { headers });
    };
    async function follow(choice: Choice, known: Known = new Map(), since = ''): Promise<{ known: Known; token: string; told: string[] }> {
      const told: string[] = [];
      for (let token = since; ; ) {
        const body = expectBody(await changes(choice, `limit=9${token === '' ? '' : `&since=${token}`}`));
        for (const { kind, id, change, record } of body.changes as Json[]) {
          told.push(`${change} ${kind} ${id}`);
          if (change === 'removed') known.delete(`${kind} ${id}`);
          else known.set(`${kind} ${id}`, record.language ?? null);
        }
        token = String(body.next);
        if (!body.more) return { known, token, told };
      }
    }
    const sorted = ({ known }: { known: Known }) => [...known].sort();
    const write = async (method: string, path: string, body: object | null): Promise<Json> => {
      const answer = await running.send(method, `${ROOT}${path}`, { as: 'admin', headers, body });
      expect({ path, ok: answer.status < 300, ...(answer.status < 300 ? {} : { body: answer.body }) }).toEqual({ path, ok: true });
      return answer.body;
    };

    it('contain the records in the chosen language, or all of them without a choice', async () => {
      const all = (await follow('all')).known;
      expect(new Set(all.values())).toEqual(new Set(['en', 'it', null]));
      expect(sorted(await follow('none'))).toEqual(sorted({ known: all }));
      // With this site's settings of WPML, tags have no language.
      const untranslated = (name: string) => form === 'wpml' && name.startsWith('tag ');
      for (const code of ['en', 'it'] as const) {
        const own = [...all].filter(([name, language]) => language === code || untranslated(name)).sort();
        expect(own.filter(([name]) => name.startsWith('event ')).length).toBeGreaterThan(3);
        expect(sorted(await follow(code))).toEqual(own);
      }
    });

    it('list records that are created in the language, move into it and leave it', async () => {
      await resetLanguages(db, form);
      const before = { en: await follow('en'), it: await follow('it'), all: await follow('all') };
      const dates = { start_date: '2031-05-01 18:00:00', end_date: '2031-05-01 20:00:00' };
      const made = await write('POST', '/events', { title: 'Concerto', language: 'it', ...dates });
      await write('POST', '/events/112', { language: 'it' });
      await write('POST', '/events/110', { title: 'Renamed' });
      await write('DELETE', '/events/111', null);
      const after = {
        en: await follow('en', before.en.known, before.en.token),
        it: await follow('it', before.it.known, before.it.token),
        all: await follow('all', before.all.known, before.all.token),
      };
      expect(after.it.told).toEqual(expect.arrayContaining([`created event ${made.id}`, 'updated event 112', 'removed event 111']));
      expect(after.en.told).toEqual(expect.arrayContaining(['removed event 112', 'updated event 110']));
      expect(after.en.told).not.toContain(`created event ${made.id}`);
      for (const choice of ['en', 'it', 'all'] as const) expect(sorted(after[choice])).toEqual(sorted(await follow(choice)));
    });

    it('have a token that is valid for one language', async () => {
      const { token } = await follow('it');
      expectError(await changes('en', `since=${token}`), 410, 'rest_changes_token_expired');
      expectError(await changes('none', `since=${token}`), 410, 'rest_changes_token_expired');
    });

    if (form === 'wpml')
      it('contain no hidden language in streams, nor for the callers of webhooks', async () => {
        await resetLanguages(db, form);
        await setOptions(db, { icl_sitepress_settings: { hidden_languages: ['it'] } });
        const streams = await Promise.all(
          ['', '&translation_language=en'].map((choice) =>
            openEventStream(`${running.base}${ROOT}/changes/stream?include=records&kinds=event${choice}`, headers),
          ),
        );
        for (const stream of streams) await stream.next();
        for (const title of ['Once', 'Twice']) {
          await write('POST', '/events/110', { title });
          for (const stream of streams) {
            const [{ record }] = (await stream.next()).data.changes;
            expect([record.title, Object.keys(record.translations)]).toEqual([title, ['en']]);
          }
        }
        for (const stream of streams) stream.close();
        const caller = callerFor(running.site, await running.site.settings(), ANONYMOUS, { language: 'en' });
        expect(caller.settings.contentLanguages?.languages.map(({ code }) => code)).toEqual(['en']);
      });
  });
}
