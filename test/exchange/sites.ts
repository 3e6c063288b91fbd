import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { loadViewer } from '../../src/accounts/viewer.ts';
import { readConfig } from '../../src/config/config.ts';
import { importItems } from '../../src/exchange/import/importer.ts';
import { ledgerKey } from '../../src/exchange/import/ledger.ts';
import type { ImportOptions } from '../../src/exchange/import/options.ts';
import { highestIdFor } from '../../src/exchange/import/recurrence.ts';
import type { Entry, Item, MetaPair, PostItem } from '../../src/exchange/items/items.ts';
import type { Report } from '../../src/exchange/items/report.ts';
import { type Source, surveySource } from '../../src/exchange/items/source.ts';
import { digest, latestVersions } from '../../src/exchange/items/versions.ts';
import { openWordpressDatabase } from '../../src/exchange/wordpress-database.ts';
import { type Caller, callerFor } from '../../src/records/caller.ts';
import { openSite, type Site } from '../../src/site.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { Sqlite } from '../../src/storage/engine/sqlite/library.ts';
import { asStored } from '../../src/wordpress/php/serialized.ts';
import { urlOf } from '../support/databases.ts';
import { forgetImports, loadSite } from '../support/site.ts';
import { type Fixture, readFixture, resetScript } from '../support/site-data.mjs';

/** Current time in these tests: a day after the sample site was created. */
export const NOW = new Date('2026-11-21T09:00:00Z');

/** Returns the sample site without anything that an import would create. Settings and the administrator remain. */
export function bareFixture(): Fixture {
  const fixture = structuredClone(readFixture());
  for (const [name, table] of Object.entries(fixture)) {
    if (name === 'options') continue;
    if (name === 'users') table.rows = table.rows.filter(([id]) => id === 1);
    else if (name === 'usermeta') table.rows = table.rows.filter(([, user]) => user === 1);
    else table.rows = [];
  }
  return fixture;
}

/** Returns the sample site as on an old WordPress, where term_taxonomy_id differs from term_id. */
export function withOtherRows(): Fixture {
  const fixture = structuredClone(readFixture());
  for (const name of ['term_taxonomy', 'term_relationships'] as const) {
    const { columns, rows } = fixture[name]!;
    const place = columns.indexOf('term_taxonomy_id');
    for (const row of rows) row[place] = Number(row[place]) + ROWS_APART;
  }
  return fixture;
}

const ROWS_APART = 7;

/** Puts a database back to the site of `bareFixture`, as before any import. */
export async function emptySite(db: Database): Promise<void> {
  await loadSite(db, bareFixture());
  await forgetImports(db);
}

/** Loads a site without records, ready to import into. */
export async function bareSite(db: Database): Promise<Site> {
  await loadSite(db, bareFixture());
  return siteOf(db);
}

export async function siteOf(db: Database, url = urlOf(db)): Promise<Site> {
  const config = readConfig({
    DATABASE_URL: url,
    LOG_LEVEL: 'silent',
    TABLE_PREFIX: db.prefix,
    UPLOADS_DIR: mkdtempSync(join(tmpdir(), 'fasti-uploads-')),
  });
  return openSite(config, { clock: () => NOW, watched: true });
}

/** Returns a user of the site as caller. User 1 is the administrator, 0 is anonymous. */
export async function callerOf(site: Site, user = 1): Promise<Caller> {
  const settings = await site.settings();
  const viewer = user === 0 ? { id: 0, login: '', can: () => false } : await loadViewer(site.db, settings, user);
  return callerFor(site, settings, viewer!, { language: 'en' });
}

/** Imports a source as the command does: surveyed first, then imported. */
export async function importSource(site: Site, source: Source, options: Partial<ImportOptions> = {}): Promise<Report> {
  const caller = await callerOf(site);
  const { highestId, versions } = await surveySource(source, highestIdFor(caller.settings));
  return importItems(site, caller, latestVersions(source.entries(), versions), {
    source: source.name(),
    highestId,
    ...(source.trustedAccounts ? { trustedAccounts: true } : {}),
    ...options,
  });
}

/** Imports the database of another site. */
export async function importDatabase(site: Site, original: Database, options: Partial<ImportOptions> = {}): Promise<Report> {
  const source = await openWordpressDatabase({ url: urlOf(original), prefix: 'wp_' });
  try {
    return await importSource(site, source, options);
  } finally {
    await source.close();
  }
}

export async function* streamOf<Value extends Entry>(entries: Iterable<Value>): AsyncGenerator<Value> {
  yield* entries;
}

export async function allOf<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const all: Value[] = [];
  for await (const value of values) all.push(value);
  return all;
}

export const textOfAll = async (pieces: AsyncIterable<string>): Promise<string> => (await allOf(pieces)).join('');

/**
 * Stores the digests of imported records as earlier versions computed them. `before`: the members of a record that they
 * did not state, or stated otherwise.
 */
export async function storeFormerDigests(site: Site, items: readonly PostItem[], before: (item: PostItem) => object): Promise<void> {
  for (const item of items) {
    const stated = { ...item, ...before(item), place: undefined, narrowerId: undefined, initial: undefined, unshown: undefined };
    const former = { digest: digest(JSON.stringify(stated)) };
    expect(await site.db.from('fasti_import_ids').where('item', ledgerKey('post', item.sourceId)).update(former)).toBe(1);
  }
}

/** Returns items without their place in the source. */
export const placeless = (items: readonly Item[]): Item[] => items.map(({ place: _place, ...item }) => item as Item);

const TYPES = ['attachment', 'tribe_venue', 'tribe_organizer', 'tribe_events'];

/**
 * Returns everything that makes up a calendar, in an order that does not depend on how it was imported. Omitted are IDs
 * of metas and occurrences, the time of writing, and metas of WordPress's editor.
 */
export async function calendarOf(db: Database): Promise<Record<string, unknown[]>> {
  const posts = await db.from('posts').whereIn('post_type', TYPES).orderBy('ID');
  const ids = () => db.from('posts').whereIn('post_type', TYPES).select('ID');
  const metas = (await db.from('postmeta').whereIn('post_id', ids()).orderBy(['post_id', 'meta_id']))
    .filter(({ meta_key: key }) => !['_edit_lock', '_edit_last'].includes(key ?? ''))
    .sort((one, other) => one.post_id - other.post_id || (one.meta_key! < other.meta_key! ? -1 : Number(one.meta_key! > other.meta_key!)));
  const terms = await db
    .knex({ tt: db.table('term_taxonomy') })
    .join({ t: db.table('terms') }, 't.term_id', 'tt.term_id')
    .whereIn('tt.taxonomy', ['tribe_events_cat', 'post_tag'])
    .orderBy('tt.term_taxonomy_id');
  const relationships = await db
    .from('term_relationships')
    .whereIn('object_id', ids())
    .whereIn(
      'term_taxonomy_id',
      terms.map((term) => term.term_taxonomy_id),
    )
    .orderBy(['object_id', 'term_taxonomy_id']);
  const users = await db.from('users').orderBy('ID');
  const strip = (row: object, ...names: string[]) => Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));
  return {
    posts: posts.map((row) => strip(row)),
    metas: metas.map((row) => strip(row, 'meta_id')),
    terms,
    relationships: relationships.map((row) => strip(row)),
    events: (await db.from('tec_events').orderBy('post_id')).map((row) => strip(row, 'event_id', 'updated_at')),
    occurrences: (await db.from('tec_occurrences').orderBy('post_id')).map((row) => strip(row, 'occurrence_id', 'event_id', 'updated_at')),
    users: users.map((row) => strip(row)),
    roles: (await db.from('usermeta').where('meta_key', `${db.prefix}capabilities`).orderBy('user_id')).map((row) =>
      strip(row, 'umeta_id'),
    ),
  };
}

/** Loads the bare site into an SQLite file that no other connection uses. */
export async function loadInto(address: string): Promise<void> {
  const own = new Sqlite(address.replace(/^sqlite:/, ''));
  own.exec(resetScript(bareFixture(), { engine: 'sqlite', prefix: 'wp_' }));
  own.close();
}

/** Returns metas whose values are these, as the rows of a site hold them. */
export const metaRows = (pairs: readonly (readonly [key: string, value: string])[]): MetaPair[] =>
  pairs.map(([key, value]) => [key, asStored(value)]);
