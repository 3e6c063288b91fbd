import { existsSync } from 'node:fs';
import { firstAdministrator, requireUser, userReference } from '../accounts/users.ts';
import { loadViewer } from '../accounts/viewer.ts';
import { type Config, ConfigError, readConfig } from '../config/config.ts';
import { SettingError } from '../host/setting-error.ts';
import { createLog } from '../log.ts';
import { type Caller, callerFor } from '../records/caller.ts';
import { openSite, type Site } from '../site.ts';
import { mysqlServers } from '../storage/engine/mysql/address.ts';
import { sqlitePath } from '../storage/engine/sqlite/connection.ts';
import { findInstallation, refuseBesideOthers } from '../storage/schema/installation.ts';
import { migrate } from '../storage/schema/migrate.ts';
import type { Say } from '../texts.ts';
import { CliError, type Io } from './io.ts';
import { noProgress, type Progress, showProgress } from './progress.ts';

/** One run of the command. */
export interface Session {
  readonly io: Io;
  readonly language: string;
  readonly say: Say;
}

/** Returns the settings of the environment. Throws ConfigError, also for a MySQL address that names no database. */
export function configOf({ io }: Session): Config {
  const config = readConfig(io.env);
  checkAddress('DATABASE_URL', config.databaseUrl);
  checkAddress('DATABASE_READ_URL', config.databaseReadUrl);
  return config;
}

function checkAddress(setting: string, address = ''): void {
  if (!address.startsWith('mysql:')) return;
  try {
    mysqlServers(address);
  } catch (error) {
    throw error instanceof SettingError ? new ConfigError(error.problem, { name: setting, ...error.values }) : error;
  }
}

/** Page size for the command, to which the limit of the API does not apply. */
const MAX_PAGE_SIZE = 500;

/** Opens a database for writing, as `withDatabase` does, but allows it to be new. */
export function withNewDatabase<T>(session: Session, work: (site: Site) => Promise<T>): Promise<T> {
  session.io.onFirstChange?.();
  return withOpenSite(session, configOf(session), 'write', work);
}

/** The purpose for which a database is opened. */
export type Use = 'read' | 'write';

/**
 * Opens the database, whatever it contains, and closes it at the end. Log entries go to standard error. A missing file
 * is not created, since its name may be misspelt.
 *
 * @throws CliError `no-database`
 */
export async function withDatabase<T>(session: Session, use: Use, work: (site: Site) => Promise<T>): Promise<T> {
  const config = configOf(session);
  const file = sqlitePath(config.databaseUrl);
  if (file !== undefined && !existsSync(file)) throw new CliError('no-database', { file });
  return withOpenSite(session, config, use, work);
}

async function withOpenSite<T>({ io }: Session, config: Config, use: Use, work: (site: Site) => Promise<T>): Promise<T> {
  const log = createLog({ logLevel: config.logLevel === 'info' ? 'warn' : config.logLevel }, { write: io.err });
  const site = await openSite(
    { ...config, maxPerPage: Math.max(config.maxPerPage, MAX_PAGE_SIZE) },
    { log, use, ...(io.clock ? { clock: io.clock } : {}) },
  );
  try {
    return await work(site);
  } finally {
    await site.close();
  }
}

/**
 * Returns the error that there is no site in the database.
 *
 * @throws OtherSites if there are sites with other prefixes
 */
export async function notInstalled({ db, config: { networkSite: number } }: Site): Promise<CliError> {
  await refuseBesideOthers(db);
  return new CliError(number > 1 ? 'no-network-site' : 'not-installed', { prefix: db.prefix, number });
}

/**
 * Opens a database that must contain a site. Before a write, missing tables of our own are created.
 *
 * @throws CliError `no-database`, `not-installed`, `no-network-site`; OtherSites
 */
export function withSite<T>(session: Session, use: Use, work: (site: Site) => Promise<T>): Promise<T> {
  if (use === 'write') session.io.onFirstChange?.();
  return withDatabase(session, use, async (site) => {
    if ((await findInstallation(site.db)) !== 'site') throw await notInstalled(site);
    if (use === 'write') await migrate(site.db);
    return work(site);
  });
}

/**
 * Returns the acting caller: the user with this id, login or email address, or else the first administrator.
 *
 * @throws AccountError `user-unknown`, CliError `no-administrator`
 */
export async function actingCaller(site: Site, { language }: Pick<Session, 'language'>, user: string | undefined): Promise<Caller> {
  const settings = await site.settings();
  const id =
    user === undefined
      ? ((await firstAdministrator(site))?.id ?? throwMissing())
      : (await requireUser(site.db, userReference(user), [])).row.ID;
  const viewer = await loadViewer(site.db, settings, id);
  return callerFor(site, settings, viewer ?? throwMissing(), { language });
}

/** Returns the progress display for this session: a bar if the output is a terminal. */
export const progressOf = ({ io }: Session): Progress => (io.isTerminal ? showProgress : noProgress);

const throwMissing = (): never => {
  throw new CliError('no-administrator');
};
