import { chmod, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { OWN_FILE, OWN_FOLDER } from '../../host/files.ts';
import { amongUploads } from '../../media/private-files.ts';
import type { Site } from '../../site.ts';
import { sqlitePath } from '../../storage/audit/snapshot.ts';
import { keptBackups, takesBackups } from '../kept-backups.ts';
import { type Finding, finding } from './findings.ts';

/** Permission bits of all users: read, write, execute. */
const EVERYBODY = 0o007;
/** Suffixes of the files of an SQLite database. */
const ENDINGS = ['', '-wal', '-shm'];

/**
 * Returns findings about access: databases and backups, which contain addresses and password hashes, must not be
 * readable by other users; and backups need a usable folder.
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
 * Returns the finding about files that every user of this machine can read, as older versions created them. Folders
 * only count if they contain nothing else, since other users may need access to a folder that contains the uploads as
 * well.
 */
async function openedFindings(...folders: readonly (readonly string[])[]): Promise<Finding[]> {
  const user = process.getuid?.();
  // Systems without such users have other permissions.
  if (user === undefined) return [];
  const exposed = (await Promise.all(folders.map(exposedAmong))).flat();
  const own = exposed.filter(({ owner }) => owner === user || user === 0);
  const close = async () => {
    for (const { path, isFolder } of own) await chmod(path, isFolder ? OWN_FOLDER : OWN_FILE);
  };
  const paths = exposed.map(({ path }) => path);
  return finding('readable-by-all', 'warning', paths, own.length > 0 ? close : undefined);
}

/**
 * Returns those of some files in one folder that are accessible to everybody, and the folder if it contains only them.
 */
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
