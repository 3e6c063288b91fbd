import { once } from 'node:events';
import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { PART } from '../exchange/items/whole-file.ts';
import { BACKUP_ENDING, makeOwnFolder } from '../host/files.ts';
import { runnable } from '../host/runnable.ts';
import { folderFault } from '../media/library.ts';
import type { Site } from '../site.ts';
import { nowUtc } from '../wordpress/time.ts';
import { backUp, type WantedCopy } from './backup.ts';

/*
 * Backups in the folder of the site (`BACKUPS_DIR`): those that `fasti backup` makes, for example on a timer, and those
 * that are made from the desk while the site is in use.
 */

export interface KeptBackup {
  readonly file: string;
  readonly madeAt: Date;
  readonly bytes: number;
  /** Login of the user who made it from the desk; undefined if a command made it. */
  readonly by: string | undefined;
}

export interface KeptBackups {
  /** The latest first. */
  readonly backups: readonly KeptBackup[];
  /** Whether a backup is being made, by any process. */
  readonly going: boolean;
}

/** Whether a file is the part file of a backup that is being written. */
function isPart(name: string): boolean {
  const at = name.lastIndexOf(BACKUP_ENDING);
  return at >= 0 && PART.test(name.slice(at + BACKUP_ENDING.length));
}

/** Part files that were not modified for this long belong to processes that were killed. */
const STALE_MS = 60_000;

/** Returns the backups in the folder; none if the folder does not exist. */
export async function keptBackups({ config: { backupsDir: folder } }: Pick<Site, 'config'>): Promise<KeptBackups> {
  const names = await readdir(folder).catch(() => []);
  const files = await Promise.all(names.filter((name) => name.endsWith(BACKUP_ENDING) || isPart(name)).map((name) => fileOf(folder, name)));
  const found = files.filter((file) => file !== undefined);
  return {
    backups: found.filter(({ file }) => file.endsWith(BACKUP_ENDING)).sort((one, other) => other.madeAt.getTime() - one.madeAt.getTime()),
    going: found.some(({ file, madeAt }) => isPart(file) && Date.now() - madeAt.getTime() < STALE_MS),
  };
}

async function fileOf(folder: string, file: string): Promise<KeptBackup | undefined> {
  const found = await stat(join(folder, file)).catch(() => undefined);
  return found?.isFile() ? { file, madeAt: found.mtime, bytes: found.size, by: BY.exec(file)?.groups?.by } : undefined;
}

type Folders = Pick<Site['config'], 'backupsDir' | 'uploadsDir'>;

const isAmongUploads = ({ backupsDir, uploadsDir }: Folders): boolean => `${resolve(backupsDir)}/`.startsWith(`${resolve(uploadsDir)}/`);

/** Whether backups can be written to their folder, which is created with the first one. */
export const takesBackups = async (folders: Folders): Promise<boolean> =>
  !isAmongUploads(folders) && (await folderFault(folders.backupsDir)) === undefined;

/** Names of backups from the desk: time and login. */
const BY = /^\d{4}-\d\d-\d\d-\d{6}-(?<by>[\w.@ -]+)\.backup$/;

/**
 * Makes a backup in the site's folder without blocking the process: an SQLite file is copied in a separate thread.
 * Returns the number of rows.
 *
 * @throws Error if the folder is not writable, or if its contents are public
 */
export async function backUpNow(site: Site, login: string): Promise<number> {
  const { backupsDir: folder } = site.config;
  if (isAmongUploads(site.config)) throw new Error('BACKUPS_DIR lies within UPLOADS_DIR');
  makeOwnFolder(folder);
  const moment = nowUtc(site.clock()).replace(' ', '-').replaceAll(':', '');
  const file = `${moment}-${login.replace(/[^\w.@ -]/g, '_').slice(0, LONGEST_LOGIN)}${BACKUP_ENDING}`;
  return backUp(site, join(folder, file), undefined, copiedAside);
}

const LONGEST_LOGIN = 60;

/** Copies an SQLite file in a separate thread, since the copy is one long synchronous call. */
async function copiedAside(workerData: WantedCopy): Promise<number> {
  const thread = new Worker(runnable('upkeep/sqlite-copy-thread'), { workerData });
  const [rows] = (await once(thread, 'message')) as [number];
  return rows;
}
