import type { Command } from 'commander';
import { wouldReplace } from '../exchange/items/atomic-file.ts';
import { isEmptySite } from '../storage/audit/snapshot.ts';
import { isNetwork } from '../storage/rows/options.ts';
import { backUp } from '../upkeep/backup.ts';
import { openBackup } from '../upkeep/backup-read.ts';
import { restore } from '../upkeep/restore.ts';
import { sitePrefix } from '../wordpress/network.ts';
import { CliError } from './io.ts';
import { withExamples } from './options.ts';
import { print, printAboutFile } from './print.ts';
import { clearLine, showLine, showRate } from './rate.ts';
import { configOf, type Session, withNewDatabase, withSite } from './session.ts';

interface Options {
  readonly force?: boolean;
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
    'DATABASE_URL=mysql://user:password@localhost/new fasti restore calendar.backup',
  ])
    .option('--force', say('upkeep:restore.force'))
    .action((file: string, options: Options) => runRestore(session, file, options));
}

/** The file that `-` means, as in other commands. */
const STANDARD_OUTPUT = '/dev/stdout';

async function runBackup(session: Session, target: string, { force }: Options): Promise<void> {
  const { io, say } = session;
  const file = target === '-' ? STANDARD_OUTPUT : target;
  if (!force && (await wouldReplace(file))) throw new CliError('file-exists', { file });
  const rows = await withSite(session, 'read', (site) =>
    backUp(site, file, (count) => showLine(session, say('upkeep:backup.going', { count }))),
  );
  clearLine(session);
  await printAboutFile(io, file, `${say('upkeep:backup.done', { count: rows, file })}\n`);
}

async function runRestore(session: Session, file: string, { force }: Options): Promise<void> {
  const { io, say } = session;
  const { tablePrefix, networkSite } = configOf(session);
  const backup = await openBackup(file, sitePrefix(tablePrefix, networkSite));
  const rows = await withNewDatabase(session, async (site) => {
    // All sites of a network share its users.
    if (await isNetwork(site.db)) throw new CliError('network-in-use');
    if (!force && !(await isEmptySite(site.db))) throw new CliError('database-in-use');
    return restore(site, backup, showRate(session, say('upkeep:restore.going'), backup.rows));
  });
  clearLine(session);
  print(io, `${say('upkeep:restore.done', { count: rows, file })}\n`);
}
