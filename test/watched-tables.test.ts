import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { settingNames } from '../src/calendar/settings.ts';
import type { Database } from '../src/storage/engine/database.ts';
import { WATCHED, watchedNames } from '../src/storage/freshness/watched-tables.ts';
import { createWpmlTables } from '../src/storage/schema/wpml-tables.ts';
import { describeDatabases } from './support/databases.ts';
import { finiteNamespaces } from './support/finite-routes.ts';
import { recordedHeaders, recordingsIn } from './support/replay.ts';
import { type RunningSite, serveDatabase } from './support/running-site.ts';
import { loadSite } from './support/site.ts';

/*
 * Cached answers are dropped when one of the watched tables changes. So all data in answers to anonymous callers must
 * be from watched tables or be read with every look; otherwise the answers must not be cached.
 */

/** Tables that are read with every look, or written only by Fasti, which counts its changes. */
const READ_WITH_EACH_LOOK = ['options', 'fasti_changes', 'fasti_journal_inbox'];
const OURS = ['fasti_entries', 'fasti_days', 'fasti_journal'];

interface Recorded {
  readonly as: string | null;
  readonly request: { readonly method: string; readonly path: string; readonly query?: string; readonly headers?: Record<string, string> };
}

/** Everything of a request but its method. */
interface Address {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Pages and feeds. */
// biome-ignore format: list
const PAGES = [
  '/events/?ical=1', '/events/feed/', '/events/list/?ical=1', '/event/new-year-concert/?ical=1',
  '/event/new-year-concert/?outlook-ical=1', '/events/', '/events/list/', '/events/month/2027-01/', '/events/2027-01-01/',
  '/events/category/music/', '/events/tag/free/', '/event/new-year-concert/', '/venue/teatro-rossi/', '/organizer/acme-events/',
  '/sitemap.xml', '/robots.txt',
];

/** Requests of every kind that need no rights: recorded ones, every route, pages and feeds. */
function addresses(routes: readonly string[]): Address[] {
  const recorded = ['recordings', 'recordings-companion'].flatMap((folder) =>
    readdirSync(recordingsIn(folder)).flatMap((file) =>
      readFileSync(join(recordingsIn(folder), file), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Recorded)
        .filter(({ as, request }) => !as && request.method === 'GET')
        .map(({ request: { path, query, headers } }) => ({ path: query ? `${path}?${query}` : path, headers: recordedHeaders(headers) })),
    ),
  );
  const others = [...routes.flatMap((route) => [route, `${route}?_embed=1`]), ...PAGES].map((path) => ({ path, headers: {} }));
  return [...new Map([...recorded, ...others].map((address) => [JSON.stringify(address), address])).values()];
}

/** Records of the sample site, by a word in the route that shows them. */
const EXAMPLES = { venue: 12, organizer: 24, categor: 3, events_cat: 3, tags: 5, media: 10, users: 1, event: 44 };

const exampleOf = (pattern: string): string =>
  pattern.replace(/\(\?P<(\w+)>[^)]*\)/g, (_, name) =>
    name === 'slug' ? 'new-year-concert' : String(Object.entries(EXAMPLES).find(([word]) => pattern.includes(word))?.[1] ?? 44),
  );

describeDatabases('the data of cached answers', (open) => {
  let db: Database;
  let running: RunningSite;
  let now = new Date('2026-11-20T12:00:00Z');
  beforeAll(async () => {
    db = await loadSite(await open());
    running = await serveDatabase(db, {
      clock: () => now,
      env: { CACHE_FRESHNESS_MS: '60000', SHARED_WITH_WORDPRESS: 'off', PAGES: 'on' },
    });
  });
  afterAll(() => running.close());

  it('comes from watched tables and options, or the answers are not cached', async () => {
    const served = finiteNamespaces('tribe/events/v1', running.site.texts.languages);
    const routes = [...served].flatMap(([namespace, all]) => all.map(({ pattern }) => `/wp-json/${namespace}${exampleOf(pattern)}`));
    let read = new Set<string>();
    const known = new Set<unknown>(settingNames(db.prefix));
    running.site.db.driver.listen(({ sql, bindings }) => {
      for (const [, table] of sql.matchAll(/`wp_(\w+)`/g)) read.add(table!);
      if (/^\s*select\b/i.test(sql) && sql.includes('`wp_options`'))
        for (const name of bindings) if (!known.has(name)) read.add(`option ${name}`);
    });
    const ask = async ({ path, headers }: Address) => {
      read = new Set();
      const { status } = await running.send('GET', path, { headers });
      return { status, read };
    };
    const seen = new Set<string>();
    const wrong: string[] = [];
    let newer = 0;
    for (const address of addresses(routes)) {
      const first = await ask(address);
      if (PAGES.includes(address.path) && first.status !== 200) wrong.push(`${address.path}: ${first.status}`);
      if (address.path.includes('/tec/v1/') && first.status === 200) newer += 1;
      for (const table of first.read) seen.add(table);
      const unwatched = [...first.read].filter((table) => ![...watchedNames, ...READ_WITH_EACH_LOOK, ...OURS].includes(table));
      if (unwatched.length === 0) continue;
      now = new Date(now.getTime() + 1000);
      const again = await ask(address);
      if (!unwatched.every((table) => again.read.has(table))) wrong.push(`${address.path}: ${unwatched.join()}`);
    }
    expect(wrong).toEqual([]);
    expect(newer).toBeGreaterThan(50);
    // All watched tables were read at least once. This site has no languages.
    const watched = watchedNames.filter((name) => name !== 'icl_translations');
    expect([...seen]).toEqual(expect.arrayContaining([...watched, 'users', 'usermeta']));
  });

  it('comes from tables that are compared in all their columns', async () => {
    await createWpmlTables(db);
    for (const name of watchedNames) {
      const columns = await db.dialect.columns(db, db.table(name));
      expect([name, [...WATCHED[name].plain, ...WATCHED[name].texts].sort()]).toEqual([name, columns.sort()]);
    }
  });
});
