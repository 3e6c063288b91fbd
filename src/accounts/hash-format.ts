import type { SiteSettings } from '../calendar/settings.ts';
import type { HashFormat } from '../wordpress/passwords.ts';

/** Tables of WordPress 6.8 (`$wp_db_version`), the first version that understands `$wp$` and `$generic$`. */
const CURRENT_SINCE = 60_421;

/**
 * Returns the format of new hashes: the one that a WordPress on the same database understands (option `db_version`), so
 * that people can sign in there, too.
 */
export function hashFormatOf({ shared, raw }: Pick<SiteSettings, 'shared' | 'raw'>): HashFormat {
  const version = Number(raw.get('db_version') || Number.NaN);
  return shared && version < CURRENT_SINCE ? 'phpass' : 'current';
}
