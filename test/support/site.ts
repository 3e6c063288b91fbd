import type { Database } from '../../src/storage/engine/database.ts';
import { readOptions, writeOption } from '../../src/storage/rows/options.ts';
import { runScript } from './databases.ts';
import { type Fixture, optionText, readFixture, resetScript } from './site-data.mjs';

/**
 * Empties the tables of the fixture and loads its rows; gives the database. The next post is then 93 and the next term
 * 19, as in the recordings.
 */
export async function loadSite(db: Database, fixture: Fixture = sample()): Promise<Database> {
  await runScript(db, scriptFor(fixture, db));
  if (db.dialect.name === 'mysql' && fixture === sampleSite) checksums.set(db, await checksumsOf(db, fixture));
  return db;
}

/**
 * Puts the sample site back, quickly enough to do so before each of hundreds of tests: on MySQL only those tables that
 * have changed are filled anew.
 */
export async function resetSite(db: Database): Promise<void> {
  const known = checksums.get(db);
  if (!known) return void (await loadSite(db));
  const fixture = sample();
  const now = await checksumsOf(db, fixture);
  const tables = Object.keys(fixture).filter((name) => now.get(name) !== known.get(name));
  await runScript(db, scriptFor(fixture, db, tables));
}

/**
 * Of each table of the fixture a number that changes with its rows, for databases that the sample site was loaded into.
 */
const checksums = new WeakMap<Database, ReadonlyMap<string, number>>();

async function checksumsOf(db: Database, fixture: Fixture): Promise<ReadonlyMap<string, number>> {
  const names = Object.keys(fixture);
  const [rows] = (await db.knex.raw(`CHECKSUM TABLE ${names.map((name) => `\`${db.prefix}${name}\``).join(', ')}`)) as [
    { Checksum: number }[],
  ];
  return new Map(names.map((name, at) => [name, rows[at]!.Checksum]));
}

/**
 * Changes options of the site: texts and numbers are stored as they are, an object holds members to change within a
 * serialized option (`{ tribe_events_calendar_options: { multiDayCutoff: '06:00' } }`).
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

/** The script is long, and few different ones are needed. */
function scriptFor(fixture: Fixture, { dialect, prefix }: Database, tables = Object.keys(fixture)): string {
  const known = scripts.get(fixture) ?? new Map<string, string>();
  scripts.set(fixture, known);
  const key = `${dialect.name} ${prefix} ${tables}`;
  const script = known.get(key) ?? resetScript(fixture, { engine: dialect.name, prefix, tables });
  known.set(key, script);
  return script;
}
