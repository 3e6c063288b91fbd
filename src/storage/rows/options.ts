import { NETWORK_OPTIONS, networkKey } from '../../wordpress/network.ts';
import { type Database, hasTable } from '../engine/database.ts';
import { type Driver, isWrite, mayWrite } from '../engine/driver.ts';
import { insertedValues, upsertRows } from '../engine/insert.ts';
import { verbatim } from '../engine/statement.ts';
import type { OptionRow, SiteMetaRow, TableName } from '../engine/tables.ts';
import { optionTouched } from '../journal/touched.ts';
import { lockNames, optionLock } from './locks.ts';

/**
 * The options of these names that exist, in one query, and one more for those of a network: name -> text as it is
 * stored (PHP-serialized where WordPress serializes).
 */
export async function readOptions(db: Database, names: readonly string[]): Promise<Map<string, string>> {
  if (names.length === 0) return new Map();
  const rows = await db.rows<Pick<OptionRow, 'option_name' | 'option_value'>>`
    SELECT option_name, option_value FROM {options} WHERE option_name IN (${names})`;
  const wanted = NETWORK_OPTIONS.filter((name) => names.includes(name));
  const found = rows.filter(({ option_name: name }) => !NETWORK_OPTIONS.includes(name));
  return new Map([
    ...found.map((row) => [row.option_name, row.option_value] as const),
    ...(wanted.length > 0 ? await networkOptions(db, wanted) : []),
  ]);
}

/**
 * What a network of sites keeps for all of them, in a table that databases of single sites do not have: each of these
 * names, with an empty text where there is nothing, or none of them.
 */
async function networkOptions(db: Database, names: readonly string[]): Promise<[name: string, value: string][]> {
  if (!(await isNetwork(db))) return [];
  const rows = await db.rows<SiteMetaRow>`SELECT meta_key, meta_value FROM {sitemeta} WHERE meta_key IN (${names.map(networkKey)})`;
  return names.map((name) => [
    name,
    rows
      .filter(({ meta_key: key }) => key === networkKey(name))
      .map(({ meta_value: value }) => value)
      .join(''),
  ]);
}

/** Whether a database is that of a network of sites (multisite), which have their users in common. */
export async function isNetwork(db: Database): Promise<boolean> {
  const known = networks.get(db.driver) ?? (await hasTable(db, 'sitemeta'));
  networks.set(db.driver, known);
  return known;
}

/** It becomes one once, by hand. */
const networks = new WeakMap<Driver, boolean>();

/**
 * One option as it is stored, kept from other writers until the end of the transaction; an empty text where there is
 * none, and then nobody else who asks like this makes it meanwhile.
 */
export async function lockOption(db: Database, name: string): Promise<string> {
  const locked = () =>
    db.rows<Pick<OptionRow, 'option_value'>>`
      SELECT option_value FROM {options} WHERE option_name = ${name} ${verbatim(db.dialect.locks.update)}`;
  let [row] = await locked();
  if (!row) {
    // A row that is not there cannot be locked, but its name can. Whoever was first may have made it by now.
    await lockNames(db, [optionLock(name)]);
    [row] = await locked();
  }
  return row?.option_value ?? '';
}

/**
 * Sets an option, as `update_option` does: a new one is made, an old one keeps its `autoload` unless one is given.
 * `value` is the text to store. One that is there is not inserted first: MySQL would use up an id each time.
 *
 * @param autoload WordPress's word for when to load it; new options get `auto`, as WordPress has it since 6.6
 */
export async function writeOption(
  db: Database,
  name: string,
  value: string,
  autoload?: 'on' | 'off' | 'auto' | 'yes' | 'no',
): Promise<void> {
  optionTouched(db, name);
  const kept = autoload === undefined ? verbatim('autoload') : autoload;
  const met = await db.change`UPDATE {options} SET option_value = ${value}, autoload = ${kept} WHERE option_name = ${name}`;
  if (met > 0) return;
  const row = { option_name: name, option_value: value, autoload: autoload ?? 'auto' };
  await upsertRows(
    db,
    'options',
    [row],
    ['option_name'],
    insertedValues(db, autoload === undefined ? ['option_value'] : ['option_value', 'autoload']),
  );
}

/** Removes an option; one that does not exist is no fault. */
export async function deleteOption(db: Database, name: string): Promise<void> {
  optionTouched(db, name);
  await db.from('options').where('option_name', name).del();
}

/** Has `notify` called just before this process writes one of these options, in whatever way. */
export function beforeOptionsChange(db: Database, names: readonly string[], notify: () => void): void {
  const wanted = new Set<unknown>(names);
  db.driver.listen((query) => {
    if (query.table !== 'options' || !isWrite(query)) return;
    // A name may also stand in the text of the statement.
    if (query.sql.includes("'") || query.bindings.some((value) => wanted.has(value))) notify();
  });
}

/**
 * Has `notify` called just before this process writes to one of these tables, or runs a statement that does not name
 * the table that it writes to.
 */
export function beforeWritesTo(db: Database, tables: readonly TableName[], notify: () => void): void {
  const wanted = new Set<string | undefined>([undefined, ...tables]);
  db.driver.listen((query) => {
    if (wanted.has(query.table) && mayWrite(query)) notify();
  });
}
