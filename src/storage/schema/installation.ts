import { prefixesOfInstallations } from '../../wordpress/network.ts';
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

/** The error that there is no site, but sites with other table prefixes, one of which is probably meant. */
export class OtherSites extends Error {
  override readonly name = 'OtherSites';
  readonly prefix: string;
  readonly others: readonly string[];

  constructor(prefix: string, others: readonly string[]) {
    super(`there is no site with the table prefix ${prefix} in this database, but with ${others.join(', ')} (TABLE_PREFIX)`);
    this.prefix = prefix;
    this.others = others;
  }
}

/**
 * Refuses to create a site beside those of others, as a forgotten TABLE_PREFIX would.
 *
 * @throws OtherSites if there is no site, but there are sites with other prefixes
 */
export async function refuseBesideOthers(db: Database): Promise<void> {
  // WordPress alone creates the further sites of a network.
  if (db.prefixOf('users') !== db.prefix || (await findInstallation(db)) === 'site') return;
  const others = prefixesOfInstallations(await db.dialect.tables(db)).filter((prefix) => prefix !== db.prefix);
  if (others.length > 0) throw new OtherSites(db.prefix, others);
}
