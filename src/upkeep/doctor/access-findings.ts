import { chmod, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { OWNER_ONLY_FILE_MODE, OWNER_ONLY_FOLDER_MODE, SQLITE_SUFFIXES } from '../../host/files.ts';
import { privateFilesInUploads } from '../../media/private-files.ts';
import type { Site } from '../../site.ts';
import { sqlitePath } from '../../storage/engine/sqlite/connection.ts';
import { canStoreBackups, listBackups } from '../backup-folder.ts';
import { type Finding, finding } from './findings.ts';

/** Permission bits of all users: read, write, execute. */
const OTHERS_PERMISSIONS = 0o007;

/**
 * Returns findings about access: databases and backups, which contain addresses and password hashes, must not be
 * readable by other users; and backups need a usable folder.
 */
export async function accessFindings({ config }: Pick<Site, 'config'>): Promise<Finding[]> {
  const file = sqlitePath(config.databaseUrl);
  const database = file === undefined ? [] : [file];
  const { backups } = await listBackups({ config });
  const backupPaths = backups.map((backup) => join(config.backupsDir, backup.file));
  return [
    ...(await readableByAllFindings(
      database.flatMap((path) => SQLITE_SUFFIXES.map((ending) => path + ending)),
      backupPaths,
    )),
    ...finding('backups-refused', 'warning', (await canStoreBackups(config)) ? [] : [config.backupsDir]),
    ...finding('among-uploads', 'warning', await privateFilesInUploads(config, [...database, ...backupPaths])),
  ];
}

/**
 * Returns the finding about files that every user of this machine can read, as older versions created them. Folders
 * only count if they contain nothing else, since other users may need access to a folder that contains the uploads as
 * well.
 */
async function readableByAllFindings(...folders: readonly (readonly string[])[]): Promise<Finding[]> {
  const user = process.getuid?.();
  // Systems without such users have other permissions.
  if (user === undefined) return [];
  const exposedEntries = (await Promise.all(folders.map(findExposed))).flat();
  const ownEntries = exposedEntries.filter(({ owner }) => owner === user || user === 0);
  const close = async () => {
    for (const { path, isFolder } of ownEntries) await chmod(path, isFolder ? OWNER_ONLY_FOLDER_MODE : OWNER_ONLY_FILE_MODE);
  };
  const paths = exposedEntries.map(({ path }) => path);
  return finding('readable-by-all', 'warning', paths, ownEntries.length > 0 ? close : undefined);
}

/**
 * Returns those of some files in one folder that are accessible to everybody, and the folder if it contains only them.
 */
async function findExposed(files: readonly string[]): Promise<Entry[]> {
  const [first] = files;
  if (first === undefined) return [];
  const names = new Set(files.map((file) => basename(file)));
  const folderNames = await readdir(dirname(first)).catch(() => []);
  const isOwn = folderNames.length > 0 && folderNames.every((name) => names.has(name));
  const entries = await Promise.all([...files, ...(isOwn ? [dirname(first)] : [])].map(readEntry));
  return entries.filter((entry) => entry !== undefined).filter(({ mode }) => (mode & OTHERS_PERMISSIONS) !== 0);
}

interface Entry {
  readonly path: string;
  readonly mode: number;
  readonly owner: number;
  readonly isFolder: boolean;
}

async function readEntry(path: string): Promise<Entry | undefined> {
  const stats = await stat(path).catch(() => undefined);
  return stats && { path, mode: stats.mode, owner: stats.uid, isFolder: stats.isDirectory() };
}
