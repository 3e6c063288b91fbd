import type { Database } from '../../src/storage/database.ts';
import { readOptions, writeOption } from '../../src/storage/options.ts';
import { runScript } from './databases.ts';
import { type Fixture, optionText, readFixture, resetScript } from './site-data.mjs';

/** Empties the tables of the fixture and loads its rows; gives the database. The next post is then 93 and the next term 19, as in the recordings. */
export async function loadSite(db: Database, fixture: Fixture = sample()): Promise<Database> {
  await runScript(db, scriptFor(fixture, db));
  return db;
}

/** Puts the sample site back, quickly enough to do so before each of hundreds of tests. */
export async function resetSite(db: Database): Promise<void> {
  await loadSite(db);
}

/**
 * Changes options of the site: texts and numbers are stored as they are, an object holds members to change within a serialized option
 * (`{ tribe_events_calendar_options: { multiDayCutoff: '06:00' } }`).
 */
export async function setOptions(db: Database, options: Readonly<Record<string, unknown>>): Promise<void> {
  const stored = await readOptions(db, Object.keys(options));
  for (const [name, value] of Object.entries(options)) await writeOption(db, name, await optionText(stored.get(name), value));
  await db.from('fasti_changes').increment('counter');
}

let sampleSite: Fixture | undefined;
const scripts = new WeakMap<Fixture, Map<string, string>>();

function sample(): Fixture {
  sampleSite ??= readFixture();
  return sampleSite;
}

/** The script is long and the same each time. */
function scriptFor(fixture: Fixture, { dialect, prefix }: Database): string {
  const known = scripts.get(fixture) ?? new Map<string, string>();
  scripts.set(fixture, known);
  const key = `${dialect.name} ${prefix}`;
  const script = known.get(key) ?? resetScript(fixture, { engine: dialect.name, prefix });
  known.set(key, script);
  return script;
}
