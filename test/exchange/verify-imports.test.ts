import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { commandIn, type Fasti } from '../cli/command.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';
import { passwordOf, type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';
import { compared, type ReportedDifference } from './difference-places.ts';
import { CSV, DATABASE, ICAL, JSON_LINES, type Losses, SITE, SITE_FOR_ANYBODY, WXR } from './losses.ts';
import { giveOriginalIds } from './original-ids.ts';
import { bareFixture, NOW, withOtherRows } from './sites.ts';

const folder = mkdtempSync(join(tmpdir(), 'fasti-ways-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const admin = `admin:${passwordOf('admin')}`;

/** Options for fast requests to two sites on one machine. */
const FAST = ['--rate=100000', '--concurrency=4'];
const AS_ADMIN = [`--old-user=${admin}`, `--new-user=${admin}`];

describeDatabases('sample site', (open) => {
  let original: Database;
  let old: RunningSite;
  beforeAll(async () => {
    original = await open();
    await loadSite(original, withOtherRows());
    old = await serveDatabase(original, { clock: () => NOW, uncompressed: true });
  });
  afterAll(() => old.close());

  const of = (db: Database): Fasti =>
    commandIn({ DATABASE_URL: urlOf(db), LOG_LEVEL: 'silent', UPLOADS_DIR: join(folder, 'uploads') }, { now: NOW });

  /** Exports a file from the original and returns its path for `fasti import`. */
  const file = async (name: string, ...options: string[]): Promise<string> => {
    const path = join(folder, name);
    expect((await of(original)('export', path, '--force', ...options)).code).toBe(0);
    return path;
  };
  const files = async (): Promise<string[]> => [
    await file('venues.csv', '--kind=venue'),
    await file('organizers.csv', '--kind=organizer'),
    await file('events.csv', '--kind=event'),
  ];

  interface Way {
    readonly name: string;
    readonly from: () => Promise<readonly string[]>;
    readonly losses: Losses;
    /** Options of `fasti verify` for each comparison. */
    readonly plans: readonly (readonly string[])[];
    readonly withoutIds?: boolean;
  }
  /** Everything for anonymous visitors, and every list with all of its records for an administrator. */
  const WHOLE = [[], ['--no-filters', '--sample=1', ...AS_ADMIN]];
  const PUBLIC = [[]];
  const RECORDS = [['--no-filters']];
  const WAYS: readonly Way[] = [
    { name: 'its database', from: async () => [urlOf(original)], losses: DATABASE, plans: WHOLE },
    { name: 'WXR', from: async () => [await file('calendar.xml')], losses: WXR, plans: WHOLE },
    { name: 'JSON lines', from: async () => [await file('calendar.jsonl')], losses: JSON_LINES, plans: WHOLE },
    {
      name: 'its address, with an application password',
      from: async () => [old.base, '--rate=100000', `--remote-user=${admin}`],
      losses: SITE,
      plans: WHOLE,
    },
    {
      name: 'its address',
      from: async () => [old.base, '--rate=100000'],
      losses: { ...SITE, ...SITE_FOR_ANYBODY },
      plans: PUBLIC,
    },
    { name: 'CSV', from: files, losses: CSV, plans: RECORDS, withoutIds: true },
    {
      name: 'iCalendar',
      from: async () => [await file('calendar.ics'), '--from=1900-01-01', '--to=2999-12-31'],
      losses: ICAL,
      plans: RECORDS,
      withoutIds: true,
    },
  ];

  it.each(WAYS)('imported from $name answers like the original, except for the listed losses', async (way) => {
    const db = await open();
    await loadSite(db, bareFixture());
    expect([0, 3]).toContain((await of(db)('import', ...(await way.from()))).code);
    if (way.withoutIds) await giveOriginalIds(db, original);
    const imported = await serveDatabase(db, { clock: () => NOW, uncompressed: true });
    const findings: ReportedDifference[] = [];
    try {
      for (const plan of way.plans) {
        const { code, out } = await of(db)('verify', old.base, imported.base, ...FAST, '--format=json', ...plan);
        const told = JSON.parse(out);
        findings.push(...told.findings);
        expect(told.compared).toBeGreaterThanOrEqual(plan.includes('--sample=1') ? 15 : plan.length > 0 ? 120 : 400);
        expect(told.records.events.old).toBeGreaterThanOrEqual(44);
        expect(code).toBe(told.differences === 0 ? 0 : 1);
      }
    } finally {
      await imported.close();
    }
    expect(compared(findings, Object.values(way.losses).flat())).toEqual({ unexplained: [], unseen: [] });
  });
});

describe('migration guide', () => {
  const guide = readFileSync(new URL('../../docs/migrating.md', import.meta.url), 'utf8');
  /** Returns the items of the lists after the word "Lost" in a section. */
  const told = (section: string): string[] => {
    const [, text = ''] = guide.split(`\n## ${section}\n`);
    const lists = text
      .split('\n## ')[0]!
      .split(/\nLost[^\n]*:\n\n/)
      .slice(1);
    return lists.flatMap((list) =>
      list
        .split('\n\n')[0]!
        .split('\n- ')
        .map((line) => line.replace(/^- /, '').trim()),
    );
  };
  it.each([
    ['From a WordPress database', DATABASE],
    ['From an export file of WordPress (WXR)', WXR],
    ['From CSV files of the plugin', CSV],
    ['From a running site', { ...SITE, ...SITE_FOR_ANYBODY }],
    ['From iCalendar files and feeds', ICAL],
    ['From JSON lines', JSON_LINES],
  ] as const)('lists exactly the losses that are found (%s)', (section, losses) => expect(told(section)).toEqual(Object.keys(losses)));
});
