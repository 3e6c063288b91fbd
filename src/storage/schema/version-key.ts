import { randomBytes } from 'node:crypto';
import { VERSION_KEY_OPTION } from '../../calendar/settings.ts';
import type { Database } from '../engine/database.ts';
import { upsertRows } from '../engine/insert.ts';
import { readOptions } from '../rows/options.ts';

/**
 * Creates the secret that record versions are made with, if the site has none yet. It is an option, so that all
 * processes and backups share it. Several processes may do this at once: the first one wins.
 */
export async function ensureVersionKey(db: Database): Promise<void> {
  const options = await readOptions(db, ['siteurl', VERSION_KEY_OPTION]);
  if (!options.get('siteurl') || options.has(VERSION_KEY_OPTION)) return;
  const row = { option_name: VERSION_KEY_OPTION, option_value: randomBytes(32).toString('base64url'), autoload: 'off' };
  await upsertRows(db, 'options', [row], ['option_name'], { option_name: 'option_name' });
}
