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
 * The backups in the folder of the site (`BACKUPS_DIR`): those that a timer makes with `fasti backup`, and those that
 * are made at the desk while the site is in use.
 */

export interface KeptBackup {
  readonly file: string;
  readonly madeAt: Date;
  readonly bytes: number;
  /** The login of who made it at the desk; undefined: it was made by a command. */
  readonly by: string | undefined;
}

export interface KeptBackups {
  /** The latest first. */
  readonly backups: readonly KeptBackup[];
  /** Whether one is being made at this moment, by whatever process. */
  readonly going: boolean;
}

/** Whether a file is the part of a backup that is being written. */
function isPart(name: string): boolean {
  const at = name.lastIndexOf(BACKUP_ENDING);
  return at >= 0 && PART.test(name.slice(at + BACKUP_ENDING.length));
}

/** A file untouched for this long is what remains of a process that was ended. */
const STALE_MS = 60_000;

/** What there is in the folder; nothing where the folder is not there. */
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

/** Whether backups can be put into their folder, which is made with the first of them. */
export const takesBackups = async (folders: Folders): Promise<boolean> =>
  !isAmongUploads(folders) && (await folderFault(folders.backupsDir)) === undefined;

/** As the desk names them: when, and by whom. */
const BY = /^\d{4}-\d\d-\d\d-\d{6}-(?<by>[\w.@ -]+)\.backup$/;

/**
 * Backs the site up into its folder, without keeping others waiting: an SQLite file is copied in a thread of its own.
 * Returns the number of rows.
 *
 * @throws Error where the folder cannot be written to, or where what is in it can be read by everybody
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

/** Copies an SQLite file in a thread: the copy is made in one step, which keeps the one that makes it busy. */
async function copiedAside(workerData: WantedCopy): Promise<number> {
  const thread = new Worker(runnable('upkeep/sqlite-copy-thread'), { workerData });
  const [rows] = (await once(thread, 'message')) as [number];
  return rows;
}
