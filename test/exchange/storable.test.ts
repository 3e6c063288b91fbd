import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { calendarEntries } from '../../src/exchange/ical/read.ts';
import { importItems } from '../../src/exchange/import/importer.ts';
import type { ImportOptions } from '../../src/exchange/import/options.ts';
import type { Entry, Item, PostItem } from '../../src/exchange/items/items.ts';
import type { Report } from '../../src/exchange/items/report.ts';
import { postKinds } from '../../src/kinds/index.ts';
import type { Site } from '../../src/site.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { describeDatabases, runScript } from '../support/databases.ts';
import { forgetImports, resetSite } from '../support/site.ts';
import { callerOf, metaRows, siteOf, streamOf } from './sites.ts';

/*
 * Tests of tables of an old WordPress, which cannot store emoji. Records with emoji are left out of an import and
 * reported. All others are imported.
 */

const TABLES = ['posts', 'postmeta', 'terms', 'term_taxonomy', 'users', 'usermeta'] as const;
const WIDE = '🎉';

const WHEN = metaRows([
  ['_EventStartDate', '2031-05-01 20:00:00'],
  ['_EventEndDate', '2031-05-01 22:00:00'],
]);

const post = (kind: PostItem['kind'], name: string, more: Partial<PostItem> = {}): PostItem => ({
  kind,
  sourceId: name,
  columns: { post_title: name, post_status: kind === 'attachment' ? 'inherit' : 'publish', post_date: '2026-01-01 10:00:00' },
  metas: kind === 'event' ? WHEN : [],
  links: [],
  terms: [],
  complete: true,
  ...more,
});
const columns = (name: string, more: PostItem['columns']) => ({ columns: { ...post('event', name).columns, ...more } });

/** Items with an emoji in one of their texts, named after that text. */
const wide: readonly Item[] = [
  { kind: 'author', sourceId: 'wide author', login: 'wide', email: 'wide@example.org', displayName: `Wide ${WIDE}`, metas: [] },
  ...(['category', 'tag'] as const).flatMap((kind): Item[] => [
    { kind, sourceId: `wide ${kind}`, name: `wide ${kind} ${WIDE}`, slug: `wide-${kind}`, description: '' },
    { kind, sourceId: `described ${kind}`, name: `described ${kind}`, slug: `described-${kind}`, description: WIDE },
  ]),
  ...postKinds.flatMap(({ name: kind }) => [
    post(kind, `title ${kind}`, columns(`title ${kind} ${WIDE}`, {})),
    post(kind, `content ${kind}`, columns(`content ${kind}`, { post_content: `a ${WIDE}` })),
    post(kind, `excerpt ${kind}`, columns(`excerpt ${kind}`, { post_excerpt: `a ${WIDE}` })),
    post(kind, `meta ${kind}`, { metas: [...post(kind, '').metas, ...metaRows([['_note', `a ${WIDE}`]])] }),
  ]),
  post('attachment', 'a picture', { ...columns(`picture ${WIDE}`, { post_status: 'inherit' }), url: 'https://other.example.org/wide.jpg' }),
];
const plain: readonly Item[] = [
  { kind: 'author', sourceId: 'anna', login: 'anna', email: 'anna@example.org', displayName: 'Anna', metas: [] },
  { kind: 'category', sourceId: 'music', name: 'Plain music', slug: 'plain-music', description: '' },
  post('venue', 'Plain hall'),
  post('attachment', 'plain picture', { url: 'https://other.example.org/plain.jpg' }),
  ...Array.from({ length: 20 }, (_, at) =>
    post('event', `plain ${at}`, { links: [{ key: '_EventVenueID', kind: 'venue', sourceId: 'Plain hall' }] }),
  ),
];
/** An event that waits until the end for a term that the source does not contain. */
const waiting = post('event', 'waiting', {
  terms: [
    { kind: 'category', sourceId: 'nowhere', name: `nowhere ${WIDE}`, slug: 'nowhere' },
    { kind: 'category', sourceId: 'music' },
  ],
});
const skipped: Entry = { kind: 'skipped', what: 'page', count: 3 };

describeDatabases('import of characters that the tables cannot store', (open, engine) => {
  let db: Database;
  let site: Site;
  const isOld = engine === 'MySQL';
  const convert = async (charset: string) => {
    if (!isOld) return;
    for (const table of TABLES)
      await runScript(db, `ALTER TABLE wp_${table} CONVERT TO CHARACTER SET ${charset} COLLATE ${charset}_unicode_520_ci`);
  };
  beforeAll(async () => {
    db = await open();
    site = await siteOf(db);
  });
  beforeEach(async () => {
    await resetSite(db);
    await forgetImports(site.db);
    await convert('utf8mb3');
  });
  afterAll(() => site.close());

  // Alternated, so that each half of a batch contains some of both.
  const mixed: readonly Entry[] = [
    ...Array.from({ length: Math.max(wide.length, plain.length) }, (_, at) =>
      [plain[at], wide[at]].filter((item) => item !== undefined),
    ).flat(),
    waiting,
    skipped,
  ];
  const files = new Set<string>();
  const taken = async (more: Partial<ImportOptions> = {}): Promise<Report> => {
    const fetchFile: ImportOptions['fetchFile'] = async (item) => {
      const name = `2031/${item.sourceId.replaceAll(' ', '-')}.jpg`;
      files.add(name);
      return { item: { ...item, metas: metaRows([['_wp_attached_file', name]]) }, undo: async () => void files.delete(name) };
    };
    return importItems(site, await callerOf(site), streamOf(mixed), { source: 'other.example.org', fetchFile, ...more });
  };
  const titles = async () =>
    new Set(
      await site.db
        .from('posts')
        .whereNotIn('post_type', ['revision'])
        .pluck<string>('post_title')
        .then((all: unknown) => all as string[]),
    );
  const named = (report: Report, reason: string) => report.losses.find((loss) => loss.reason === reason);

  it.each([200, 7])('omits only records with such characters, in batches of %i items', async (itemsAtOnce) => {
    files.clear();
    const report = await taken({ itemsPerBatch: itemsAtOnce });
    const lost = Object.values(report.lost).reduce((sum, number) => sum + number, 0);
    expect([lost, named(report, 'not-storable')?.count]).toEqual(isOld ? [wide.length, wide.length] : [0, undefined]);
    expect(report.skipped).toEqual({ page: 3 });
    const there = await titles();
    expect(plain.flatMap((item) => ('links' in item && !there.has(item.columns.post_title!) ? [item.sourceId] : []))).toEqual([]);
    // A term that could not be created is missing only from this record, which keeps its other terms.
    expect([there.has('waiting'), named(report, 'term-missing')?.examples.map(({ of, detail }) => [of, detail])]).toEqual([
      true,
      isOld ? [['waiting', 'nowhere']] : undefined,
    ]);
    expect([...files].sort()).toEqual(isOld ? ['2031/plain-picture.jpg'] : ['2031/a-picture.jpg', '2031/plain-picture.jpg']);
    const progress = await site.db.from('fasti_imports').first();
    expect([progress?.done, progress?.open]).toEqual([mixed.length, 0]);
  });

  it('imports these records when it runs again on tables that can store them', async () => {
    await taken();
    await convert('utf8mb4');
    const report = await taken();
    expect([report.lost, named(report, 'not-storable')]).toEqual([{}, undefined]);
    const there = await titles();
    const missing = wide.flatMap((item) => ('links' in item && !there.has(item.columns.post_title!) ? [item.columns.post_title] : []));
    expect(missing).toEqual([]);
  });

  it('stops at any other error and removes files whose rows were not written', async () => {
    files.clear();
    const broken: Database = {
      ...site.db,
      transaction: (work) =>
        site.db.transaction(async (tx) => {
          const result = await work(tx);
          if ((await tx.from('posts').where('post_title', 'plain 19').first()) !== undefined) throw new Error('broken');
          return result;
        }),
    };
    const caller = await callerOf(site);
    const importing = importItems({ ...site, db: broken }, caller, streamOf(mixed), {
      source: 'other.example.org',
      fetchFile: async (item) => {
        files.add(item.sourceId);
        return {
          item: { ...item, metas: metaRows([['_wp_attached_file', `${item.sourceId}.jpg`]]) },
          undo: async () => void files.delete(item.sourceId),
        };
      },
    });
    await expect(importing).rejects.toThrow('broken');
    const there = await titles();
    expect([...files].every((file) => there.has(file))).toBe(true);
  });

  it('keeps an event whose newer version cannot be stored apart from a new one that looks the same', async () => {
    const caller = await callerOf(site);
    const times = ['_EventStartDate', '_EventEndDate', '_EventStartDateUTC', '_EventEndDateUTC'];
    const metas = metaRows([...times.map((key) => [key, '2031-05-01 20:00:00'] as const), ['_EventTimezone', 'UTC']]);
    const event = (id: number, text = ''): PostItem => ({
      ...post('event', String(id), columns('Twin', { post_content: text, post_date_gmt: '2026-01-01 10:00:00' })),
      ...{ id, metas, complete: false },
    });
    const imported = (...items: Item[]) => importItems(site, caller, streamOf(items), { source: 'twins.example.org' });
    expect((await imported(event(9038))).created).toEqual({ event: 1 });
    const report = await imported(event(9038, WIDE), event(9039));
    expect([report.created, report.updated, report.lost]).toEqual([{ event: 1 }, ...(isOld ? [{}, { event: 1 }] : [{ event: 1 }, {}])]);
  });

  it('keeps an event whose newer version cannot be stored, and all dates of its series', async () => {
    const caller = await callerOf(site);
    const file = (title: string, exception = '') => {
      const single = ['BEGIN:VEVENT', 'UID:a@x', `SUMMARY:${title}`, 'DTSTART:20270101T190000Z', 'END:VEVENT'];
      const rule = ['DTSTART:20270201T190000Z', 'RRULE:FREQ=DAILY;COUNT=3', ...(exception ? [`EXDATE:${exception}`] : [])];
      const changed = ['BEGIN:VEVENT', 'UID:b@x', 'RECURRENCE-ID:20270203T190000Z', 'DTSTART:20270203T200000Z', `SUMMARY:${title}`];
      const series = ['BEGIN:VEVENT', 'UID:b@x', 'SUMMARY:Course', ...rule, 'END:VEVENT', ...changed, 'END:VEVENT'];
      const text = ['BEGIN:VCALENDAR', ...single, ...series, 'END:VCALENDAR', ''].join('\r\n');
      return async function* () {
        yield Buffer.from(text);
      };
    };
    const imported = (bytes: ReturnType<typeof file>) =>
      importItems(site, caller, calendarEntries(bytes, { file: 'a.ics', settings: caller.settings, now: caller.now }), { source: 'a.ics' });
    expect((await imported(file('Concert'))).created).toEqual({ event: 4 });
    const report = await imported(file(`Concert ${WIDE}`, '20270202T190000Z'));
    expect([report.lost, report.trashed]).toEqual(isOld ? [{ event: 2 }, {}] : [{}, { event: 1 }]);
    const next = await imported(file('Concert', '20270202T190000Z'));
    expect(next.trashed).toEqual(isOld ? { event: 1 } : {});
  });
});
