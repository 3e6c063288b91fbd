import { readFileSync } from 'node:fs';
import type { Database } from '../../src/storage/engine/database.ts';
import { createRecurrenceTables } from '../../src/storage/schema/recurrence-tables.ts';
import { runScript } from './databases.ts';
import { loadSite } from './site.ts';
import { FIXTURES, readFixture, resetScript } from './site-data.mjs';

/** One date of a recurring event in `recurrence.json`. `form`: a row in the occurrence tables, or a separate post. */
export interface ExpectedDate {
  readonly form: 'tables' | 'posts';
  readonly post_id: number;
  readonly post_parent?: number;
  readonly occurrence_id: number | null;
  readonly provisional_id: number | null;
  readonly slug: string;
  readonly path: string;
  readonly start_date: string;
  readonly end_date: string;
  readonly utc_start_date: string;
  readonly utc_end_date: string;
  readonly timezone: string;
  readonly all_day: boolean;
}

export const EXPECTED_DATES: readonly ExpectedDate[] = readFileSync(new URL('recurrence-expected.jsonl', FIXTURES), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as ExpectedDate);

/**
 * Loads the sample site with recurring events as the paid extension stores them: in the occurrence tables, and as a
 * post per date.
 */
export async function loadRecurringSite(db: Database): Promise<Database> {
  await loadSite(db);
  return addRecurringEvents(db);
}

/** Adds the same events to another site. */
export async function addRecurringEvents(db: Database): Promise<Database> {
  await createRecurrenceTables(db);
  await db.from('tec_series_relationships').delete();
  const fixture = readFixture(new URL('recurrence.json', FIXTURES));
  await runScript(db, resetScript(fixture, { engine: db.dialect.name, prefix: db.prefix, emptied: false }));
  return db;
}
