import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { describeDatabases } from '../support/databases.ts';
import { type FeedRecordings, feedDifferences } from '../support/feed-comparison.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite, setOptions } from '../support/site.ts';
import { type Fixture, readFixture } from '../support/site-data.mjs';

/*
 * Recorded responses of The Events Calendar for its feeds, on the sample site and on one with more events under several
 * settings. Errors of the reference itself are left out of the recordings.
 */

const read = (name: string) => JSON.parse(readFileSync(new URL(`../fixtures/feeds/${name}`, import.meta.url), 'utf8'));
const { events, recordings } = read('recordings.json') as FeedRecordings;

const offset = (hours: string) => ({ timezone_string: '', gmt_offset: hours });
const calendar = (members: Readonly<Record<string, string>>) => ({ tribe_events_calendar_options: members });
const SITE_ZONE = { tribe_events_timezone_mode: 'site' };

/** Settings of the recorded sites: `fixture` is the sample site, the others have more events. */
const SITES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  fixture: {},
  extra: {},
  'extra-utc-5': offset('-5'),
  'extra-utc+5:30': offset('5.5'),
  'extra-plain': { permalink_structure: '', rewrite_rules: '' },
  'extra-rss3': { posts_per_rss: '3', rss_use_excerpt: '1' },
  'extra-sitezone-4perpage': calendar({ ...SITE_ZONE, postsPerPage: '4' }),
  'extra-utc-5-sitezone': { ...offset('-5'), ...calendar(SITE_ZONE) },
  'extra-utc+5:30-sitezone': { ...offset('5.5'), ...calendar(SITE_ZONE) },
  'extra-month-default': calendar({ viewOption: 'month' }),
};

/** Recordings from which the feeds differ on purpose, with the reasons. */
const DIFFERENT: Readonly<Record<string, string>> = {
  'events-rss': 'RSS 2.0 instead of 0.92, which knows neither names nor dates of items',
  'extra-sitezone-4perpage: page2': 'whole days stay days where the clock of the site is shown',
  'extra-utc+5:30-sitezone: events': 'whole days stay days where the clock of the site is shown',
};

/** The sample site with additional rows, which replace rows with the same key. */
function withRows(site: Fixture, more: Fixture): Fixture {
  const keyOf = (table: string, row: readonly unknown[]) => String(table === 'term_relationships' ? row.slice(0, 2) : row[0]);
  return Object.fromEntries(
    Object.entries(site).map(([table, { columns, rows }]) => {
      const added = more[table]?.rows ?? [];
      const keys = new Set(added.map((row) => keyOf(table, row)));
      return [table, { columns, rows: [...rows.filter((row) => !keys.has(keyOf(table, row))), ...added] }];
    }),
  );
}

const EXTRA = withRows(readFixture(), read('extra.json') as Fixture);

describeDatabases('recorded feeds of The Events Calendar', (open) => {
  describe.each(Object.keys(SITES))('on the site %s', (name) => {
    let db: Database;
    let running: RunningSite;
    let now = new Date(0);
    beforeAll(async () => {
      db = await loadSite(await open(), name === 'fixture' ? readFixture() : EXTRA);
      await setOptions(db, SITES[name]!);
      running = await serveDatabase(db, { clock: () => now });
    });
    afterAll(() => running.close());

    it.each(recordings.filter(({ site }) => site === name).map((recording) => [recording.name, recording] as const))(
      'match the recording %s',
      async (_, recording) => {
        now = new Date(recording.at);
        const answer = await running.send(recording.method ?? 'GET', recording.target);
        const differences = feedDifferences(recording, events, answer);
        if (recording.name in DIFFERENT) expect(differences).not.toEqual([]);
        else expect(differences).toEqual([]);
      },
    );
  });
});
