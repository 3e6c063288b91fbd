import { beforeAll, describe, expect, it } from '@jest/globals';
import { callerFor } from '../../src/records/caller.ts';
import { updateIndex } from '../../src/records/list-index.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { isIndexUpToDate } from '../../src/storage/index/event-index.ts';
import { hasWrongCounts, reindexEvents } from '../../src/storage/index/event-index-rebuild.ts';
import { noteChange } from '../../src/storage/journal/reported-changes.ts';
import { lockPost, updatePost } from '../../src/storage/rows/posts.ts';
import { ANONYMOUS } from '../../src/wordpress/viewer.ts';
import { describeMysql } from '../support/databases.ts';
import { loadLanguages } from '../support/languages.ts';
import { serveDatabase } from '../support/running-site.ts';
import { until } from '../support/until.mjs';

const NOW = new Date('2026-11-22T21:30:00Z');

describeMysql('an event and its translation that are written at the same time', (open) => {
  describe.each(['polylang', 'wpml'] as const)('in the form of %s', (form) => {
    let db: Database;
    beforeAll(async () => {
      db = await loadLanguages(await open(), form);
    });

    /** Whether a transaction on this database waits for a lock. */
    const isAnyWaiting = async (): Promise<boolean> => {
      const rows = await db.rows`
        SELECT t.trx_id FROM information_schema.innodb_trx t JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id
        WHERE t.trx_state = 'LOCK WAIT' AND p.db = DATABASE()`;
      return rows.length > 0;
    };

    it.each(['the original is written first', 'the translation is written first'])(
      'both have correct rows in the index if %s',
      async (order) => {
        const running = await serveDatabase(db, { env: { SHARED_WITH_WORDPRESS: 'off', CONTENT_LANGUAGES: form }, clock: () => NOW });
        const settings = await running.site.settings();
        const { contentLanguages: languages } = settings;
        await reindexEvents(db, () => NOW, { marksComplete: true, languages });
        const caller = callerFor(running.site, settings, ANONYMOUS, { language: 'en' });
        const { body } = await running.send('GET', '/wp-json/calendar/events/v1/events?lang=it&per_page=50&start_date=2000-01-01', {});
        const translated = body.events.find(({ translations }: { translations?: object }) => Object.keys(translations ?? {}).length > 1);
        const [original, translation] = [translated.translations.en.id ?? translated.translations.en, translated.id].map(Number) as [
          number,
          number,
        ];
        const [first, second] = order.startsWith('the original') ? [original, translation] : [translation, original];

        let letGo = () => {};
        const held = new Promise<void>((resolve) => {
          letGo = resolve;
        });
        let isIndexed = false;
        const write = (id: number, work: (trx: Database) => Promise<unknown>, pause: Promise<void> | undefined) =>
          db.transaction(async (trx) => {
            await lockPost(trx, id);
            await work(trx);
            await updateIndex(trx, caller, [id]);
            isIndexed = true;
            await pause;
            noteChange(trx, { now: NOW });
          });
        const moved = write(first, (trx) => moveDates(trx, first), held);
        await until('the first index rows', () => isIndexed);
        const unpublished = write(second, (trx) => updatePost(trx, second, { post_status: 'draft' }), undefined);
        // The server renews this table only if it has not been read for a tenth of a second.
        await until('the second transaction', isAnyWaiting, { pollMs: 250 });
        letGo();
        await Promise.all([moved, unpublished]);

        expect(await isIndexUpToDate(db, [original, translation], languages)).toBe(true);
        expect(await hasWrongCounts(db)).toBe(false);
        await db.transaction(async (trx) => {
          await updatePost(trx, second, { post_status: 'publish' });
          noteChange(trx, { now: NOW });
        });
        await running.close();
      },
    );
  });
});

const moveDates = (db: Database, id: number) =>
  db.from('tec_occurrences').where('post_id', id).update({ start_date: '2031-10-01 10:00:00', end_date: '2031-10-01 12:00:00' });
