import { once } from 'node:events';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { isPartOfBackup } from '../exchange/items/atomic-file.ts';
import { entryPointUrl } from '../host/entry-point.ts';
import { BACKUP_EXTENSION, makePrivateFolder, realPathOf } from '../host/files.ts';
import { findFolderFault } from '../media/library.ts';
import type { Site } from '../site.ts';
import { utcFromDate } from '../wordpress/time.ts';
import { backUp, type CopyRequest } from './backup.ts';

/*
 * Backups in the folder of the site (`BACKUPS_DIR`): those that `fasti backup` makes, for example on a timer, and those
 * that are made from the desk while the site is in use.
 */

export interface StoredBackup {
  readonly file: string;
  readonly madeAt: Date;
  readonly bytes: number;
  /** Login of the user who made it from the desk; undefined if a command made it. */
  readonly madeBy: string | undefined;
}

export interface StoredBackups {
  /** The latest first. */
  readonly backups: readonly StoredBackup[];
  /** Whether a backup is being made, by any process. */
  readonly isRunning: boolean;
}

/** Part files that were not modified for this long belong to processes that were killed. */
const STALE_MS = 60_000;

/** Returns the backups in the folder; none if the folder does not exist. */
export async function listBackups({ config: { backupsDir: folder } }: Pick<Site, 'config'>): Promise<StoredBackups> {
  const names = await readdir(folder).catch(() => []);
  const files = await Promise.all(
    names.filter((name) => name.endsWith(BACKUP_EXTENSION) || isPartOfBackup(name)).map((name) => readBackupFile(folder, name)),
  );
  const storedFiles = files.filter((file) => file !== undefined);
  return {
    backups: storedFiles
      .filter(({ file }) => file.endsWith(BACKUP_EXTENSION))
      .sort((one, other) => other.madeAt.getTime() - one.madeAt.getTime()),
    isRunning: storedFiles.some(({ file, madeAt }) => isPartOfBackup(file) && Date.now() - madeAt.getTime() < STALE_MS),
  };
}

async function readBackupFile(folder: string, file: string): Promise<StoredBackup | undefined> {
  const stats = await stat(join(folder, file)).catch(() => undefined);
  return stats?.isFile() ? { file, madeAt: stats.mtime, bytes: stats.size, madeBy: DESK_BACKUP_NAME.exec(file)?.groups?.by } : undefined;
}

type Folders = Pick<Site['config'], 'backupsDir' | 'uploadsDir'>;

/** Whether backups can be written to their folder, which is created with the first one. */
export const canStoreBackups = async (folders: Folders): Promise<boolean> =>
  !(await isInUploads(folders)) && (await findFolderFault(folders.backupsDir)) === undefined;

/** Whether the folder of backups lies in that of uploads, whose files are served to everybody. Either may be a link. */
async function isInUploads({ backupsDir, uploadsDir }: Folders): Promise<boolean> {
  const [backups, uploads] = await Promise.all([realPathOf(backupsDir), realPathOf(uploadsDir)]);
  return `${backups}/`.startsWith(`${uploads}/`);
}

/** Names of backups from the desk: time and login. */
const DESK_BACKUP_NAME = /^\d{4}-\d\d-\d\d-\d{6}-(?<by>[\w.@ -]+)\.backup$/;

/**
 * Makes a backup in the site's folder without blocking the process: an SQLite file is copied in a separate thread.
 * Returns the number of rows.
 *
 * @throws Error if the folder is not writable, or if its contents are public
 */
export async function backUpNow(site: Site, login: string): Promise<number> {
  const { backupsDir: folder } = site.config;
  if (await isInUploads(site.config)) throw new Error('BACKUPS_DIR lies within UPLOADS_DIR');
  makePrivateFolder(folder);
  const moment = utcFromDate(site.clock()).replace(' ', '-').replaceAll(':', '');
  const file = `${moment}-${login.replace(/[^\w.@ -]/g, '_').slice(0, MAX_LOGIN_LENGTH)}${BACKUP_EXTENSION}`;
  return backUp(site, join(folder, file), undefined, copyInThread);
}

const MAX_LOGIN_LENGTH = 60;

/** Copies an SQLite file in a separate thread, since the copy is one long synchronous call. */
async function copyInThread(workerData: CopyRequest): Promise<number> {
  const thread = new Worker(entryPointUrl('upkeep/sqlite-copy-thread'), { workerData });
  const [rows] = (await once(thread, 'message')) as [number];
  return rows;
}
