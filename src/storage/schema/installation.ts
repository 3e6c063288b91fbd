import { type Database, hasTable } from '../engine/database.ts';
import { readOptions } from '../rows/options.ts';

/** The contents of a database: no tables of WordPress, tables without a site in them, or a site. */
export type Installation = 'none' | 'empty' | 'site';

/**
 * Checks whether there is a site in the database, as WordPress does before it installs itself (`is_blog_installed`:
 * option `siteurl`).
 *
 * @throws DatabaseUnavailable
 */
export async function findInstallation(db: Database): Promise<Installation> {
  if (!(await hasTable(db, 'options'))) return 'none';
  return (await readOptions(db, ['siteurl'])).get('siteurl') ? 'site' : 'empty';
}
