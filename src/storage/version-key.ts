import { randomBytes } from 'node:crypto';
import { VERSION_KEY_OPTION } from '../calendar/settings.ts';
import type { Database } from './database.ts';
import { upsertRows } from './insert.ts';
import { readOptions } from './options.ts';

/**
 * Gives a site the secret that versions of its records are made with, where it has none yet. It is an option, so that all processes and backups have the same
 * one. Several processes may do so at once: the first one's stays.
 */
export async function keepVersionKey(db: Database): Promise<void> {
  const options = await readOptions(db, ['siteurl', VERSION_KEY_OPTION]);
  if (!options.get('siteurl') || options.has(VERSION_KEY_OPTION)) return;
  const row = { option_name: VERSION_KEY_OPTION, option_value: randomBytes(32).toString('base64url'), autoload: 'off' };
  await upsertRows(db, 'options', [row], ['option_name'], { option_name: 'option_name' });
}
