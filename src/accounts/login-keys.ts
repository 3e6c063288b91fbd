import { randomBytes } from 'node:crypto';
import type { Keys } from '../config/config.ts';
import type { Site } from '../site.ts';
import { lockNames, USERS_LOCK } from '../storage/rows/locks.ts';
import { readOptions, writeOption } from '../storage/rows/options.ts';

/*
 * The keys and salts by which login cookies and nonces are made: those of the configuration or, without any, those that
 * WordPress keeps in its options where its own configuration has none (`wp_salt`).
 */

const OPTIONS: Readonly<Record<keyof Keys, string>> = {
  loggedInKey: 'logged_in_key',
  loggedInSalt: 'logged_in_salt',
  nonceKey: 'nonce_key',
  nonceSalt: 'nonce_salt',
};

/** As many random bytes as the 64 characters of WordPress's own keys have at most. */
const KEY_BYTES = 48;

const ofDatabases = new WeakMap<object, Keys>();

/** The keys of a site; undefined: it has none yet, so that no cookie and no nonce can be good. */
export async function loginKeys({ config, db }: Pick<Site, 'config' | 'db'>): Promise<Keys | undefined> {
  const known = config.keys ?? ofDatabases.get(db.driver);
  if (known) return known;
  const found = keysIn(await readOptions(db, Object.values(OPTIONS)));
  if (found) ofDatabases.set(db.driver, found);
  return found;
}

/** The same; where there are none yet, they are made. */
export async function requireLoginKeys(site: Pick<Site, 'config' | 'db'>): Promise<Keys> {
  const known = await loginKeys(site);
  if (known) return known;
  return site.db.transaction(async (db) => {
    await lockNames(db, [USERS_LOCK]);
    const stored = await readOptions(db, Object.values(OPTIONS));
    const made = Object.entries(OPTIONS).map(([name, option]) => [name, option, stored.get(option) || newKey()] as const);
    for (const [, option, value] of made) if (stored.get(option) !== value) await writeOption(db, option, value, 'auto');
    // Their names are those of `OPTIONS`, which the compiler does not follow through entries.
    return Object.fromEntries(made.map(([name, , value]) => [name, value])) as unknown as Keys;
  });
}

const newKey = (): string => randomBytes(KEY_BYTES).toString('base64');

function keysIn(stored: ReadonlyMap<string, string>): Keys | undefined {
  const {
    loggedInKey = '',
    loggedInSalt = '',
    nonceKey = '',
    nonceSalt = '',
  } = Object.fromEntries(Object.entries(OPTIONS).map(([name, option]) => [name, stored.get(option)]));
  const keys = { loggedInKey, loggedInSalt, nonceKey, nonceSalt };
  return Object.values(keys).includes('') ? undefined : keys;
}
