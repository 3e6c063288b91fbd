import { createApplicationPassword } from '../accounts/application-passwords.ts';
import { createUser } from '../accounts/users.ts';
import { termKind } from '../kinds/index.ts';
import { type Site, withinTransaction } from '../site.ts';
import type { Database } from '../storage/engine/database.ts';
import { enableIndex } from '../storage/index/event-index.ts';
import { noteChange } from '../storage/journal/reported-changes.ts';
import { lockOption, writeOption } from '../storage/rows/options.ts';
import { insertTerm } from '../storage/rows/terms.ts';
import { findInstallation, refuseBesideOthers } from '../storage/schema/installation.ts';
import { migrate } from '../storage/schema/migrate.ts';
import { CliError } from './io.ts';
import { type NewSite, optionsOfNewSite } from './new-site.ts';

export interface Administrator {
  readonly login: string;
  /** Empty if the administrator has none. */
  readonly email: string;
}

export interface InstallOptions {
  /** Name of the administrator's application password. */
  readonly passwordName: string;
  /** Whether the database may contain sites with other table prefixes. */
  readonly besideOthers: boolean;
}

/** Throws CliError `already-installed` if there is a site; OtherSites unless there may be sites of other prefixes. */
export async function requireNoSite(db: Database, besideOthers: boolean): Promise<void> {
  if ((await findInstallation(db)) === 'site') throw new CliError('already-installed');
  if (!besideOthers) await refuseBesideOthers(db);
}

/**
 * Creates a new site in an empty database: all tables, the options and roles of a new WordPress with the calendar, and
 * an administrator with an application password. Returns that password, which is not stored in plain text. Everything
 * after the creation of the tables is one transaction.
 *
 * @throws CliError `already-installed` if there is a site; OtherSites; AccountError for an invalid login or address
 */
export async function installSite(
  site: Site,
  newSite: NewSite,
  administrator: Administrator,
  { passwordName, besideOthers }: InstallOptions,
): Promise<string> {
  await requireNoSite(site.db, besideOthers);
  await migrate(site.db, { besideOthers });
  return site.db.transaction(async (db) => {
    // Two processes may get here at the same time. The second one waits, and finds the site of the first.
    await lockOption(db, 'siteurl');
    if ((await findInstallation(db)) === 'site') throw new CliError('already-installed');
    for (const [name, value, autoload] of optionsOfNewSite(newSite, db.prefix)) await writeOption(db, name, value, autoload);
    await enableIndex(db, undefined);
    // The default category of posts, which WordPress expects to be the first term.
    await insertTerm(
      db,
      { ...termKind('category'), taxonomy: 'category' },
      { name: 'Uncategorized', slug: 'uncategorized', description: '', parent: 0 },
    );
    const transactionSite = withinTransaction(site, db);
    await createUser(transactionSite, { login: administrator.login, email: administrator.email || undefined, role: 'administrator' });
    const { password } = await createApplicationPassword(transactionSite, administrator.login, passwordName);
    noteChange(db, { now: site.clock() });
    return password;
  });
}
