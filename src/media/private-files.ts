import { realpath } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { BACKUP_ENDING, PASSWORD_FILE } from '../host/files.ts';
import { sqlitePath } from '../storage/audit/snapshot.ts';
import { leadsOutside } from './library.ts';

type Places = Pick<Config, 'databaseUrl' | 'uploadsDir'>;

/**
 * Whether a path below the folder of uploads, which everybody may read, leads to what nobody may: the database and what
 * SQLite keeps beside it, a backup, the administrator's first password. They are there where a setting says that
 * everything belongs into one folder.
 */
export async function isPrivateFile({ databaseUrl, uploadsDir }: Places, path: string): Promise<boolean> {
  const file = await realpath(join(uploadsDir, path)).catch(() => undefined);
  if (file === undefined) return false;
  if (isPrivateName(basename(file).toLowerCase())) return true;
  const database = sqlitePath(databaseUrl);
  return database !== undefined && file.startsWith(await realpath(database).catch(() => resolve(database)));
}

function isPrivateName(name: string): boolean {
  if (name.startsWith(PASSWORD_FILE) && name.endsWith('.txt')) return true;
  const ending = name.lastIndexOf(BACKUP_ENDING);
  return ending >= 0 && BACKUP_REST.test(name.slice(ending + BACKUP_ENDING.length));
}

/** What may follow in the name of a backup: what is written of one before it has its name is called a part. */
const BACKUP_REST = /^(?:$|\.[0-9a-f]{8}\.part)/;

/** Those of some files, which are there, that lie in the folder of uploads; none where that is not there. */
export async function amongUploads({ uploadsDir }: Places, files: readonly string[]): Promise<string[]> {
  const folder = await realpath(uploadsDir).catch(() => undefined);
  if (folder === undefined) return [];
  const outside = await Promise.all(files.map((file) => leadsOutside(folder, relative(folder, file))));
  return files.filter((_, at) => !outside[at]);
}
