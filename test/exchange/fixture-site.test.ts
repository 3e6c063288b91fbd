import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { exportEntries, itemsOf } from '../../src/exchange/exporter.ts';
import { openJsonLines, writeJsonLines } from '../../src/exchange/items/json-lines.ts';
import { isIncomplete } from '../../src/exchange/items/report.ts';
import type { Source } from '../../src/exchange/items/source.ts';
import { openWordpressDatabase } from '../../src/exchange/wordpress-database.ts';
import { openWxr } from '../../src/exchange/wxr/read.ts';
import { writeWxr } from '../../src/exchange/wxr/write.ts';
import type { Site } from '../../src/site.ts';
import { type Database, openDatabase } from '../../src/storage/engine/database.ts';
import { readOptions } from '../../src/storage/rows/options.ts';
import { migrate } from '../../src/storage/schema/migrate.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';
import { loadSite } from '../support/site.ts';
import { bareSite, calendarOf, callerOf, importSource, loadInto, NOW, siteOf, textOfAll } from './sites.ts';

const folder = mkdtempSync(join(tmpdir(), 'fasti-exchange-'));

/** Exports a site to a file and returns its path. */
async function exported(site: Site, format: 'wxr' | 'jsonl'): Promise<string> {
  const caller = await callerOf(site);
  const stayed: unknown[] = [];
  const items = itemsOf(exportEntries(site, caller), (entry) => stayed.push(entry));
  const home = caller.settings.home;
  const head = { home, title: 'Sample', description: '', language: 'en', now: NOW };
  const file = join(folder, `${site.db.dialect.name}.${format === 'wxr' ? 'xml' : 'jsonl'}`);
  writeFileSync(file, await textOfAll(format === 'wxr' ? writeWxr(head, items) : writeJsonLines(home, items)));
  expect(stayed).toEqual([]);
  return file;
}

/** Removes data that files do not contain: passwords and roles. New users get the default role of the site. */
function withoutSecrets({ users, roles, ...rest }: Record<string, unknown[]>) {
  const known = (users as { ID: number }[]).map(({ ID, ...row }) => ({ ID, ...row, user_pass: '', user_registered: '', user_url: '' }));
  return { ...rest, users: known, roles: (roles as { user_id: number }[]).map(({ user_id }) => user_id) };
}

describeDatabases('import of the sample site', (open, engine) => {
  let original: Database;
  let site: Site;
  let everything: Record<string, unknown[]>;
  beforeAll(async () => {
    original = await open();
    await loadSite(original);
    site = await siteOf(original);
    everything = await calendarOf(original);
    // Users without content and without the right to write are not imported.
    const stays = [5];
    everything.users = (everything.users as { ID: number }[]).filter(({ ID }) => !stays.includes(ID));
    everything.roles = (everything.roles as { user_id: number }[]).filter(({ user_id }) => !stays.includes(user_id));
  });
  afterAll(() => site.close());

  const CREATED = { attachment: 2, author: 3, category: 9, event: 53, organizer: 8, tag: 8, venue: 11 };

  it('copies all rows from its database, with its users', async () => {
    const target = await bareSite(await open());
    const source = await openWordpressDatabase({ url: urlOf(original), prefix: 'wp_' });
    const report = await importSource(target, source);
    expect(report).toMatchObject({
      source: '127.0.0.1:8081',
      created: CREATED,
      updated: {},
      unchanged: { author: 1 },
      lost: {},
      losses: [],
    });
    expect(report.skipped).toEqual({ page: 1, post: 1, revision: 9 });
    expect(await calendarOf(target.db)).toEqual(everything);
    await source.close();
    await target.close();
  });

  it.each([
    ['WXR', 'wxr', openWxr],
    ['JSON lines', 'jsonl', openJsonLines],
  ] as const)('copies all rows from %s, without passwords and roles', async (_name, format, read) => {
    const target = await bareSite(await open());
    const report = await importSource(target, read([await exported(site, format)]));
    expect(report.created).toEqual(created(format));
    expect(report.lost).toEqual({});
    expect(report.losses.map(({ reason, count }) => [reason, count])).toEqual([['author-without-role', report.created.author]]);
    expect(isIncomplete(report)).toBe(false);
    expect(withoutSecrets(await calendarOf(target.db))).toEqual(withoutSecrets(wroteSomething(everything)));
    await target.close();
  });

  /** Removes users who are not authors, since exports contain only authors. */
  const wroteSomething = ({ users, roles, ...rest }: Record<string, unknown[]>) => {
    const authors = new Set([1, ...(rest.posts as { post_author: number }[]).map(({ post_author: id }) => id)]);
    return {
      ...rest,
      users: (users as { ID: number }[]).filter(({ ID }) => authors.has(ID)),
      roles: (roles as { user_id: number }[]).filter(({ user_id }) => authors.has(user_id)),
    };
  };
  const created = (_format: string) => ({
    ...CREATED,
    author: new Set((everything.posts as { post_author: number }[]).map((row) => row.post_author).filter((id) => id !== 1)).size,
  });

  it('updates the range of the calendar, the counts of terms and the change counter', async () => {
    const target = await bareSite(await open());
    const before = (await target.db.from('fasti_changes').first())?.counter ?? 0;
    const source = await openWordpressDatabase({ url: urlOf(original), prefix: 'wp_' });
    await importSource(target, source);
    const edges = async (db: Database) => (await readOptions(db, ['tribe_events_calendar_options'])).get('tribe_events_calendar_options');
    expect(await edges(target.db)).toBe(await edges(original));
    expect((await target.db.from('fasti_changes').first())?.counter).toBeGreaterThan(before);
    await source.close();
    await target.close();
  });

  it('changes nothing the second time', async () => {
    const target = await bareSite(await open());
    const source = await openWordpressDatabase({ url: urlOf(original), prefix: 'wp_' });
    await importSource(target, source);
    const again = await importSource(target, source);
    expect(again.created).toEqual({});
    expect(again.updated).toEqual({});
    expect(again.unchanged).toEqual({ ...CREATED, author: 4 });
    expect(await calendarOf(target.db)).toEqual(everything);
    await source.close();
    await target.close();
  });

  it('recognizes records on the site that exported them', async () => {
    const copy = await open();
    await loadSite(copy);
    const target = await siteOf(copy);
    const report = await importSource(target, openWxr([await exported(site, 'wxr')]));
    expect(report.created).toEqual({});
    expect(report.updated).toEqual({});
    expect(await calendarOf(copy)).toEqual(await calendarOf(original));
    await target.close();
  });

  it('writes nothing in a dry run, with the same report', async () => {
    const target = await bareSite(await open());
    const before = await calendarOf(target.db);
    const source: Source = openWxr([await exported(site, 'wxr')]);
    const rehearsal = await importSource(target, source, { dryRun: true });
    expect(await calendarOf(target.db)).toEqual(before);
    expect(await target.db.from('fasti_imports')).toEqual([]);
    const real = await importSource(target, source);
    expect({ ...rehearsal, dryRun: false }).toEqual(real);
    await target.close();
  });

  if (engine === 'MySQL') {
    it('copies all rows from MySQL to SQLite', async () => {
      const file = `sqlite:${join(folder, 'from-mysql.sqlite')}`;
      const db = await openDatabase({ url: file, prefix: 'wp_' });
      await migrate(db);
      await loadInto(file);
      const target = await siteOf(db, file);
      const source = await openWordpressDatabase({ url: urlOf(original), prefix: 'wp_' });
      await importSource(target, source);
      expect(await calendarOf(target.db)).toEqual(everything);
      await source.close();
      await target.close();
      await db.close();
    });
  }
});

describe('database without WordPress', () => {
  it('is refused with the name of the missing table', async () => {
    writeFileSync(join(folder, 'empty.sqlite'), '');
    await expect(openWordpressDatabase({ url: `sqlite:${join(folder, 'empty.sqlite')}`, prefix: 'wp_' })).rejects.toMatchObject({
      fault: 'no-wordpress',
      values: { table: 'wp_posts' },
    });
  });
});
