import { chmod, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { OWN_FILE, OWN_FOLDER } from '../../host/files.ts';
import { amongUploads } from '../../media/private-files.ts';
import type { Site } from '../../site.ts';
import { sqlitePath } from '../../storage/audit/snapshot.ts';
import { keptBackups, takesBackups } from '../kept-backups.ts';
import { type Finding, finding } from './findings.ts';

/** What everybody on the machine may do: read, write, run, or see what is in a folder. */
const EVERYBODY = 0o007;
/** The database, and what SQLite keeps beside it. */
const ENDINGS = ['', '-wal', '-shm'];

/**
 * What others may read that holds addresses and hashes of passwords: databases and backups. And whether there is a
 * place for backups.
 */
export async function accessFindings({ config }: Pick<Site, 'config'>): Promise<Finding[]> {
  const file = sqlitePath(config.databaseUrl);
  const database = file === undefined ? [] : [file];
  const { backups } = await keptBackups({ config });
  const kept = backups.map((backup) => join(config.backupsDir, backup.file));
  return [
    ...(await openedFindings(
      database.flatMap((path) => ENDINGS.map((ending) => path + ending)),
      kept,
    )),
    ...finding('backups-refused', 'warning', (await takesBackups(config)) ? [] : [config.backupsDir]),
    ...finding('among-uploads', 'warning', await amongUploads(config, [...database, ...kept])),
  ];
}

/**
 * Those that everybody on this machine may read, as older versions made them. A folder counts where there is nothing
 * else in it: others may have to go through one that holds the uploads as well.
 */
async function openedFindings(...folders: readonly (readonly string[])[]): Promise<Finding[]> {
  const user = process.getuid?.();
  // Systems without such users have rights of another kind.
  if (user === undefined) return [];
  const exposed = (await Promise.all(folders.map(exposedAmong))).flat();
  const own = exposed.filter(({ owner }) => owner === user || user === 0);
  const close = async () => {
    for (const { path, isFolder } of own) await chmod(path, isFolder ? OWN_FOLDER : OWN_FILE);
  };
  const paths = exposed.map(({ path }) => path);
  return finding('readable-by-all', 'warning', paths, own.length > 0 ? close : undefined);
}

/** Those of some files in one folder, and the folder if it holds only them, that are open to everybody. */
async function exposedAmong(files: readonly string[]): Promise<Entry[]> {
  const [first] = files;
  if (first === undefined) return [];
  const names = new Set(files.map((file) => basename(file)));
  const present = await readdir(dirname(first)).catch(() => []);
  const isOwn = present.length > 0 && present.every((name) => names.has(name));
  const entries = await Promise.all([...files, ...(isOwn ? [dirname(first)] : [])].map(entryAt));
  return entries.filter((entry) => entry !== undefined).filter(({ mode }) => (mode & EVERYBODY) !== 0);
}

interface Entry {
  readonly path: string;
  readonly mode: number;
  readonly owner: number;
  readonly isFolder: boolean;
}

async function entryAt(path: string): Promise<Entry | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found && { path, mode: found.mode, owner: found.uid, isFolder: found.isDirectory() };
}
