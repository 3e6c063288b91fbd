import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { languageFaults } from '../../src/storage/audit/language-audit.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { commandIn, type Fasti, temporaryFolder } from '../cli/command.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';
import { loadLanguages } from '../support/languages.ts';
import { addRecurringEvents } from '../support/recurring-site.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import type { Json } from '../support/site-client.ts';

/* Recurring events in two languages, in formats in which each of their dates is a separate event. */

const NOW = new Date('2030-12-31T12:00:00Z');
const EVENTS = '/wp-json/tribe/events/v1/events';
/** An event on Tuesdays and Thursdays. One of its dates, and the last one, are left out in the translation. */
const CHOIR = 502;
const ONLY_ENGLISH = ['2031-01-21 18:30:00', '2031-02-27 18:30:00'];

const folder = temporaryFolder();

/** Names of the faults of languages that are errors. */
async function languageFaultsIn({ site: { db, settings } }: RunningSite): Promise<string[]> {
  const { contentLanguages } = await settings();
  const names: string[] = [];
  for (const { name, find } of languageFaults(contentLanguages!))
    if (/twice|broken/.test(name) && (await find(db)).length > 0) names.push(name);
  return names;
}

/** Loads a site with languages and recurring events. */
async function loadBoth(empty: Database): Promise<Database> {
  const db = await loadLanguages(empty, 'polylang');
  // The recurring events have fixed ids, so the existing rows must not use them.
  await db.change`UPDATE {tec_events} SET event_id = event_id + 5000`;
  await db.change`UPDATE {tec_occurrences} SET occurrence_id = occurrence_id + 5000, event_id = event_id + 5000`;
  return addRecurringEvents(db);
}

/** Returns an event as WordPress exports it. `group`: that of its translations, if any. */
function exported({ id, title, language, group }: { id: number; title: string; language: string; group: string }): string {
  const metas = {
    ...{ _EventStartDate: '2031-05-01 10:00:00', _EventEndDate: '2031-05-01 11:00:00', _EventTimezone: 'Europe/Rome' },
    ...{ _EventStartDateUTC: '2031-05-01 08:00:00', _EventEndDateUTC: '2031-05-01 09:00:00' },
  };
  const metaElements = Object.entries(metas).map(
    ([key, value]) => `<wp:postmeta><wp:meta_key>${key}</wp:meta_key><wp:meta_value>${value}</wp:meta_value></wp:postmeta>`,
  );
  return (
    `<item><title>${title}</title><wp:post_id>${id}</wp:post_id><wp:post_type>tribe_events</wp:post_type><wp:status>publish</wp:status>` +
    `${metaElements.join('')}<category domain="language" nicename="${language}"/>` +
    `${group && `<category domain="post_translations" nicename="${group}"/>`}</item>`
  );
}

describeDatabases('dates of a recurring event in two languages', (open) => {
  let site: RunningSite;
  beforeAll(async () => {
    const db = await loadBoth(await open());
    site = await serveDatabase(db, { env: { SHARED_WITH_WORDPRESS: 'off' }, clock: () => NOW });
    await write('POST', `${EVENTS}/${CHOIR}`, { language: 'en' });
    await write('POST', EVENTS, { translation_of: CHOIR, language: 'it', title: 'Coro' });
    const { events } = await write('GET', `${EVENTS}?start_date=2031-01-01&search=coro&per_page=50&lang=it`);
    const gone = (events as Json[]).filter(({ start_date: start }) => ONLY_ENGLISH.includes(start));
    expect(gone).toHaveLength(ONLY_ENGLISH.length);
    expect((events as Json[]).at(-1).start_date).toBe(ONLY_ENGLISH.at(-1));
    for (const { id } of gone) await write('DELETE', `${EVENTS}/${id}?scope=date`);
    source = commandIn({ DATABASE_URL: urlOf(db), UPLOADS_DIR: folder, PORT: '0' }, { now: NOW });
  });
  afterAll(() => site.close());
  let source: Fasti;

  const write = async (method: string, path: string, body?: object): Promise<Json> => {
    const answer = await site.send(method, path, { as: 'admin', ...(body ? { body } : {}) });
    expect([path, answer.status < 300, answer.status < 300 || answer.text]).toEqual([path, true, true]);
    return answer.body;
  };

  it.each([
    ['', []],
    [' with the events of one language', ['--search=Choir']],
  ])('are recognized in a CSV file of the site itself%s, as are other events, in their language', async (_, filters) => {
    const file = join(folder, `own-${filters.length}-${site.base.replace(/\D/g, '')}.csv`);
    expect(await source('export', file, '--kind=event', ...filters)).toMatchObject({ code: 0 });
    const events = async () => {
      const rows = await site.site.db
        .from('posts')
        .where('post_type', 'tribe_events')
        .orderBy('ID')
        .select('ID', 'post_title', 'post_status');
      return rows.map(({ ID, post_title: title, post_status: status }) => [ID, title, status]);
    };
    /** The records with translations. */
    const groups = async () => {
      const { events: listed } = await write('GET', `${EVENTS}?start_date=2000-01-01&per_page=50&lang=all`);
      return (listed as Json[]).flatMap(({ id, translations }) => {
        const members = Object.values<Json>(translations).map((one) => one.id);
        return members.length > 1 ? [[id, members]] : [];
      });
    };
    const before = [await events(), await groups()];
    expect(before[1]!.length).toBeGreaterThan(20);
    for (const how of [['--dry-run'], []]) {
      const { out } = await source('import', file, ...how);
      expect([how, /^ +events +(\d+)/m.exec(out)?.[1]]).toEqual([how, '0']);
    }
    expect([await events(), await groups()]).toEqual(before);
    expect(await languageFaultsIn(site)).toEqual([]);
  });

  it('leave an event that recurs here its translations in a WordPress export file, which has one item for it', async () => {
    const copy = await loadBoth(await open());
    const fasti = commandIn({ DATABASE_URL: urlOf(copy), UPLOADS_DIR: folder, PORT: '0' }, { now: NOW });
    const file = join(folder, `${copy.dialect.name}-market.xml`);
    const importOf = async (...events: string[]) => {
      writeFileSync(
        file,
        `<rss xmlns:wp="http://wordpress.org/export/1.2/"><channel><wp:wxr_version>1.2</wp:wxr_version>${events.join('')}</channel></rss>`,
      );
      const { out } = await fasti('import', file, '--format=json');
      expect(JSON.parse(out)).toMatchObject({ losses: [] });
    };
    const market = { id: 9301, title: 'Village market', language: 'en' };
    await importOf(exported({ ...market, group: '' }));
    const [row] = await copy.from('posts').where({ post_title: market.title }).select('ID');
    await copy.from('tec_occurrences').where({ post_id: row!.ID }).update({ has_recurrence: 1 });
    const linked = async () => {
      const { out } = await fasti('event', 'list', '--format=json', '--start_date=2031-05-01', '--end_date=2031-05-01');
      return (JSON.parse(out) as Json[]).map(({ title, translations }) => `${title}: ${Object.keys(translations).sort().join(' ')}`).sort();
    };
    const translation = { id: 9302, title: 'Mercato', language: 'it' };
    await importOf(exported({ ...market, group: 'pll_m' }), exported({ ...translation, group: 'pll_m' }));
    expect(await linked()).toEqual(['Mercato: en it', 'Village market: en it']);
    // The source has separated them.
    await importOf(exported({ ...market, group: '' }), exported({ ...translation, group: '' }));
    expect(await linked()).toEqual(['Mercato: it', 'Village market: en']);
  });

  it.each<[string, () => Promise<string>]>([
    ['the address of the site', async () => site.base],
    [
      'a CSV file',
      async () => {
        const file = join(folder, `${site.base.replace(/\D/g, '')}.csv`);
        expect(await source('export', file, '--kind=event')).toMatchObject({ code: 0 });
        return file;
      },
    ],
  ])('are translations of each other after an import from %s', async (_, exported) => {
    const copy = await open({ migrated: false });
    const fasti = commandIn({ DATABASE_URL: urlOf(copy), UPLOADS_DIR: folder, PORT: '0' }, { now: NOW });
    expect((await fasti('init', '--languages=en,it')).code).toBe(0);
    const { out } = await fasti('import', await exported(), '--rate=1000');
    expect(out).not.toContain('could not be linked to its translations');
    const listed = await fasti('event', 'list', '--format=json', '--start_date=2031-01-01', '--end_date=2031-12-31');
    const events = (JSON.parse(listed.out) as Json[]).filter(({ title }) => /^(Choir|Coro)/.test(title));
    const startOf = new Map(events.map(({ id, start_date: start }) => [id, start]));
    expect(events.map(({ language }) => language).sort()).toEqual([...Array(13).fill('en'), ...Array(11).fill('it')]);
    for (const { start_date: start, translations } of events) {
      const starts = Object.values<Json>(translations).map(({ id }) => startOf.get(id));
      expect([start, starts]).toEqual([start, ONLY_ENGLISH.includes(start) ? [start] : [start, start]]);
    }
  });
});
