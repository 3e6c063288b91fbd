import type { Command } from 'commander';
import { wouldReplace } from '../exchange/items/atomic-file.ts';
import type { Site } from '../site.ts';
import { isEmptySite, unknownTables } from '../storage/audit/snapshot.ts';
import type { Database } from '../storage/engine/database.ts';
import { sqlitePath } from '../storage/engine/sqlite/connection.ts';
import { isNetwork } from '../storage/rows/options.ts';
import { refuseBesideOthers } from '../storage/schema/installation.ts';
import { backUp, backUpTo } from '../upkeep/backup.ts';
import { openBackup } from '../upkeep/backup-read.ts';
import { restore } from '../upkeep/restore.ts';
import { listHooks } from '../webhooks/hooks.ts';
import { sitePrefix } from '../wordpress/network.ts';
import { CliError } from './io.ts';
import { shownPath, withLocalFiles } from './local-files.ts';
import { withExamples } from './options.ts';
import { print, printAboutFile } from './print.ts';
import { clearLine, showLine, showRate } from './rate.ts';
import { configOf, type Session, withNewDatabase, withSite } from './session.ts';

interface Options {
  readonly force?: boolean;
  readonly pauseWebhooks?: boolean;
}

/** Adds `backup` and `restore`. */
export function addBackupCommands(program: Command, session: Session): void {
  const { say } = session;
  withExamples(program.command('backup <file>').description(say('upkeep:backup.about')), say, [
    'fasti backup calendar.backup',
    'fasti backup "calendar-$(date +%F).backup"',
  ])
    .option('--force', say('upkeep:backup.force'))
    .action((file: string, options: Options) => runBackup(session, file, options));
  withExamples(program.command('restore <file>').description(say('upkeep:restore.about')), say, [
    'fasti restore calendar.backup',
    'ssh old.example fasti backup - | fasti restore -',
    'DATABASE_URL=mysql://user:password@localhost/new fasti restore calendar.backup --pause-webhooks',
  ])
    .option('--force', say('upkeep:restore.force'))
    .option('--pause-webhooks', say('upkeep:restore.pause-webhooks'))
    .action((file: string, options: Options) => runRestore(session, file, options));
}

/** The name that means standard output, as in other commands, and its name in messages. */
const STANDARD_OUTPUT = '-';
const STANDARD_OUTPUT_NAME = '/dev/stdout';

async function runBackup(session: Session, file: string, { force }: Options): Promise<void> {
  const { io, say } = session;
  const onProgress = (count: number): void => showLine(session, say('upkeep:backup.going', { count }));
  if (file === STANDARD_OUTPUT) {
    // It is not opened again by its name, which is impossible for a socket, and for files of other users.
    const output = { stream: io.output?.() ?? process.stdout, name: STANDARD_OUTPUT_NAME };
    const { rows, unknown } = await withSite(session, 'read', async (site) => ({
      rows: await backUpTo(site, output, onProgress),
      unknown: await tablesLeftOut(site),
    }));
    clearLine(session);
    io.err(`${say('upkeep:backup.done', { count: rows, file: output.name })}\n`);
    nameTables(session, 'upkeep:backup.left-out', unknown);
    return;
  }
  if (!force && (await wouldReplace(file))) throw new CliError('file-exists', { file });
  const { rows, unknown } = await withSite(session, 'read', async (site) => ({
    rows: await backUp(site, file, onProgress),
    unknown: await tablesLeftOut(site),
  }));
  clearLine(session);
  await printAboutFile(io, file, `${say('upkeep:backup.done', { count: rows, file })}\n`);
  nameTables(session, 'upkeep:backup.left-out', unknown);
}

/** Returns the tables that are not in a backup. That of an SQLite file is a copy of all of it. */
const tablesLeftOut = async ({ db, config }: Site): Promise<string[]> =>
  sqlitePath(config.databaseUrl) === undefined ? unknownTables(db) : [];

/** Says on standard error that these tables of other plugins were not touched. */
function nameTables({ io, say }: Session, key: string, tables: readonly string[]): void {
  if (tables.length > 0) io.err(`${say(key, { tables: tables.join(', ') })}\n`);
}

const runRestore = (session: Session, file: string, options: Options): Promise<void> =>
  withLocalFiles(session.io, [file], undefined, ([copy = file]) => restoreFile(session, copy, options));

async function restoreFile(session: Session, file: string, { force, pauseWebhooks }: Options): Promise<void> {
  const { io, say } = session;
  const { tablePrefix, networkSite } = configOf(session);
  const backup = await openBackup(file, sitePrefix(tablePrefix, networkSite));
  const { rows, hooks, unknown } = await withNewDatabase(session, async (site) => {
    // All sites of a network share its users.
    if (await isNetwork(site.db)) throw new CliError('network-in-use');
    if (!force) await requireEmpty(site.db);
    if (!force) await refuseBesideOthers(site.db);
    const onProgress = showRate(session, say('upkeep:restore.going'), backup.rows);
    const restoredRows = await restore(site, backup, {
      pauseWebhooks,
      besideOthers: force,
      check: force ? undefined : requireEmpty,
      onProgress,
    });
    return { rows: restoredRows, hooks: await listHooks(site), unknown: await unknownTables(site.db) };
  });
  clearLine(session);
  print(io, `${say('upkeep:restore.done', { count: rows, file: shownPath(file) })}\n`);
  nameTables(session, 'upkeep:restore.left-alone', unknown);
  const activeHooks = hooks.filter(({ state }) => state === 'active').length;
  if (activeHooks > 0) print(io, `${say('upkeep:restore.active-webhooks', { count: activeHooks })}\n`);
}

/** Throws CliError `database-in-use` if there is anything in the tables of the site. */
async function requireEmpty(db: Database): Promise<void> {
  if (!(await isEmptySite(db))) throw new CliError('database-in-use');
}
