import { randomBytes } from 'node:crypto';
import type { SiteSettings } from '../calendar/settings.ts';
import type { Keys } from '../config/config.ts';
import type { Site } from '../site.ts';
import { lockNames, USERS_LOCK } from '../storage/rows/locks.ts';
import { lockNetworkOptions, readOptions, writeOption } from '../storage/rows/options.ts';
import { LOGIN_KEY_OPTIONS } from '../wordpress/cookies.ts';
import { storedText } from '../wordpress/php/serialized.ts';

/*
 * The keys and salts for login cookies and nonces: those of the configuration or, if there are none, those that
 * WordPress stores in its options, or in those of the network, if its own configuration has none (`wp_salt`).
 */

/** Random bytes that correspond to at most the 64 characters of WordPress's own keys. */
const KEY_BYTES = 48;

const OPTION_NAMES = Object.values(LOGIN_KEY_OPTIONS);

/**
 * Returns the keys of a site; undefined if it has none yet, so that no cookie and no nonce can be valid. They are as
 * new as the settings: other keys, such as those of a restored database, end all sessions. If the settings have none,
 * the options are read, since another process may have created them a moment ago: the first login of a site must hold
 * at every process.
 */
export async function loginKeys(
  { config, db }: Pick<Site, 'config' | 'db'>,
  { raw }: Pick<SiteSettings, 'raw'>,
): Promise<Keys | undefined> {
  return config.keys ?? keysIn(raw) ?? keysIn(await readOptions(db, OPTION_NAMES));
}

/** Returns the keys of a site, and creates them if there are none yet. */
export async function requireLoginKeys(site: Pick<Site, 'config' | 'db'>, settings: Pick<SiteSettings, 'raw'>): Promise<Keys> {
  const keys = await loginKeys(site, settings);
  if (keys) return keys;
  return site.db.transaction(async (db) => {
    await lockNames(db, [USERS_LOCK]);
    await lockNetworkOptions(db);
    const options = await readOptions(db, OPTION_NAMES);
    const entries = Object.entries(LOGIN_KEY_OPTIONS).map(([name, option]) => [name, option, options.get(option) || newKey()] as const);
    for (const [, option, value] of entries) if (options.get(option) !== value) await writeOption(db, option, storedText(value), 'auto');
    // The type holds: the names are those of `LOGIN_KEY_OPTIONS`, which the compiler cannot infer from entries.
    return Object.fromEntries(entries.map(([name, , value]) => [name, value])) as unknown as Keys;
  });
}

const newKey = (): string => randomBytes(KEY_BYTES).toString('base64');

function keysIn(options: ReadonlyMap<string, string>): Keys | undefined {
  const {
    loggedInKey = '',
    loggedInSalt = '',
    nonceKey = '',
    nonceSalt = '',
  } = Object.fromEntries(Object.entries(LOGIN_KEY_OPTIONS).map(([name, option]) => [name, options.get(option)]));
  const keys = { loggedInKey, loggedInSalt, nonceKey, nonceSalt };
  return Object.values(keys).includes('') ? undefined : keys;
}
