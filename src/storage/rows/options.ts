import { ADDRESS_RULES_OPTION, changesRules, isRuleSource } from '../../calendar/address-rules.ts';
import {
  NETWORK_OPTIONS,
  NETWORK_WIDE_OPTIONS,
  networkKey,
  SITE_STATE,
  type SiteFlags,
  siteOfPrefix,
  siteStateOf,
} from '../../wordpress/network.ts';
import { type StoredValue, textOfStored } from '../../wordpress/php/serialized.ts';
import { type Database, hasTable } from '../engine/database.ts';
import { type Driver, isWrite, mayWrite } from '../engine/driver.ts';
import { insertedValues, insertRows, upsertRows } from '../engine/insert.ts';
import { verbatim } from '../engine/statement.ts';
import type { OptionRow, SiteMetaRow, TableName } from '../engine/tables.ts';
import { reportOption } from '../journal/reported-changes.ts';
import { lockNames, optionLock } from './locks.ts';

/**
 * Reads those of these options that exist, in one query, plus two for the options of a network: name -> text, or the
 * value as stored if it is none (PHP-serialized).
 */
export async function readOptions(db: Database, names: readonly string[]): Promise<Map<string, string>> {
  if (names.length === 0) return new Map();
  const rows = await db.rows<Pick<OptionRow, 'option_name' | 'option_value'>>`
    SELECT option_name, option_value FROM {options} WHERE option_name IN (${names})`;
  const networkNames = [...NETWORK_OPTIONS, ...NETWORK_WIDE_OPTIONS].filter((name) => names.includes(name));
  const networkValues = networkNames.length > 0 ? await networkOptions(db, networkNames) : undefined;
  const otherNames: readonly string[] = networkValues ? networkNames : NETWORK_OPTIONS;
  const values = new Map<string, string>();
  for (const { option_name: name, option_value: value } of rows) if (!otherNames.includes(name)) values.set(name, textOfStored(value));
  for (const [name, value] of networkValues ?? []) values.set(name, textOfStored(value));
  return values;
}

/**
 * Reads the options of a network of sites, from a table that databases of single sites do not have. Returns all names
 * that only networks have, with an empty text for options without a value, and those of the other names that have a
 * value; undefined if there is no network.
 */
async function networkOptions(db: Database, names: readonly string[]): Promise<[name: string, value: string][] | undefined> {
  if (!(await isNetwork(db))) return undefined;
  const rows = await db.rows<SiteMetaRow>`SELECT meta_key, meta_value FROM {sitemeta} WHERE meta_key IN (${names.map(networkKey)})`;
  const siteState = names.includes(SITE_STATE) ? await readSiteState(db) : '';
  return names.flatMap((name): [string, string][] => {
    if (name === SITE_STATE) return [[name, siteState]];
    const values = rows.filter(({ meta_key: key }) => key === networkKey(name)).map(({ meta_value: value }) => value);
    return values.length === 0 && NETWORK_WIDE_OPTIONS.includes(name) ? [] : [[name, values.join('')]];
  });
}

/** Reads the state of the site (`SiteState`); empty if the network does not list it. */
async function readSiteState(db: Database): Promise<string> {
  if (!(await hasNetworkTable(db, 'blogs'))) return '';
  const number = siteOfPrefix(db.prefixOf('blogs'), db.prefix);
  const [row] = await db.rows<SiteFlags>`SELECT deleted, archived, spam FROM {blogs} WHERE blog_id = ${number}`;
  return row ? siteStateOf(row) : '';
}

/** Whether the database belongs to a network of sites (multisite), whose sites share their users. */
export const isNetwork = (db: Database): Promise<boolean> => hasNetworkTable(db, 'sitemeta');

async function hasNetworkTable(db: Database, name: 'sitemeta' | 'blogs'): Promise<boolean> {
  const known = networkTables[name];
  const result = known.get(db.driver) ?? (await hasTable(db, name));
  known.set(db.driver, result);
  return result;
}

/** Cached results of `hasNetworkTable`. They change only once, when an administrator converts the site. */
const networkTables = { sitemeta: new WeakMap<Driver, boolean>(), blogs: new WeakMap<Driver, boolean>() };

/**
 * Reads an option as stored, and locks it until the end of the transaction. If it does not exist, returns an empty text
 * and locks its name, so that no other caller of this function can create it in the meantime.
 */
export async function lockOption(db: Database, name: string): Promise<string> {
  const locked = () =>
    db.rows<Pick<OptionRow, 'option_value'>>`
      SELECT option_value FROM {options} WHERE option_name = ${name} ${verbatim(db.dialect.locks.update)}`;
  let [row] = await locked();
  if (!row) {
    // A row that does not exist cannot be locked, but its name can. Another transaction may have created the row by
    // now.
    await lockNames(db, [optionLock(name)]);
    [row] = await locked();
  }
  return row?.option_value ?? '';
}

/**
 * Sets an option, as `update_option` does: a new one is inserted; an existing one keeps its `autoload` unless one is
 * given. If WordPress's rules for addresses change with it, they are forgotten. `value`: the text to store. UPDATE is
 * tried before INSERT, since on MySQL each attempted INSERT would use up an id.
 *
 * @param autoload WordPress's value for when to load the option; new options get `auto`, as in WordPress since 6.6
 */
export async function writeOption(
  db: Database,
  name: string,
  value: StoredValue,
  autoload?: 'on' | 'off' | 'auto' | 'yes' | 'no',
): Promise<void> {
  reportOption(db, name);
  if (isRuleSource(name) && changesRules(name, await lockOption(db, name), value)) await forgetAddressRules(db);
  if (NETWORK_WIDE_OPTIONS.includes(name) && (await isNetwork(db))) return writeNetworkOption(db, name, value);
  const newAutoload = autoload === undefined ? verbatim('autoload') : autoload;
  const rowCount = await db.change`UPDATE {options} SET option_value = ${value}, autoload = ${newAutoload} WHERE option_name = ${name}`;
  if (rowCount > 0) return;
  const row = { option_name: name, option_value: value, autoload: autoload ?? 'auto' };
  await upsertRows(
    db,
    'options',
    [row],
    ['option_name'],
    insertedValues(db, autoload === undefined ? ['option_value'] : ['option_value', 'autoload']),
  );
}

/**
 * Makes WordPress forget its rules for addresses, so that it makes them anew for its next visitor
 * (`WP_Rewrite::flush_rules`).
 */
export async function forgetAddressRules(db: Database): Promise<void> {
  await db.change`UPDATE {options} SET option_value = ${''} WHERE option_name = ${ADDRESS_RULES_OPTION}`;
}

/**
 * Locks the options of a network until the end of the transaction, for those who create some. Its sites share them, but
 * not the names that they lock. Does nothing if there is no network.
 */
export async function lockNetworkOptions(db: Database): Promise<void> {
  if (await isNetwork(db)) await db.rows`SELECT meta_id FROM {sitemeta} ORDER BY meta_id LIMIT 1 ${verbatim(db.dialect.locks.update)}`;
}

/** Sets an option of a network. Nearly every database contains at most one network. */
async function writeNetworkOption(db: Database, name: string, value: string): Promise<void> {
  const rowCount = await db.change`UPDATE {sitemeta} SET meta_value = ${value} WHERE meta_key = ${name}`;
  if (rowCount > 0) return;
  const [row] = await db.rows<{ first: number | null }>`SELECT MIN(site_id) AS first FROM {sitemeta}`;
  await insertRows(db, 'sitemeta', [{ site_id: Number(row?.first ?? 1), meta_key: name, meta_value: value }]);
}

/** Deletes an option, if it exists. */
export async function deleteOption(db: Database, name: string): Promise<void> {
  reportOption(db, name);
  await db.from('options').where('option_name', name).del();
}

/** Calls `notify` just before this process writes one of these options of the site or its network, by any statement. */
export function beforeOptionsChange(db: Database, names: readonly string[], notify: () => void): void {
  const watchedNames = new Set<unknown>(names);
  db.driver.listen((query) => {
    if ((query.table !== 'options' && query.table !== 'sitemeta') || !isWrite(query)) return;
    // The name may also be in the text of the statement instead of in its bindings.
    if (query.sql.includes("'") || query.bindings.some((value) => watchedNames.has(value))) notify();
  });
}

/**
 * Calls `notify` just before this process writes to one of these tables, or runs a statement that may write and does
 * not name its table.
 */
export function beforeWritesTo(db: Database, tables: readonly TableName[], notify: () => void): void {
  const watchedTables = new Set<string | undefined>([undefined, ...tables]);
  db.driver.listen((query) => {
    if (watchedTables.has(query.table) && mayWrite(query)) notify();
  });
}
