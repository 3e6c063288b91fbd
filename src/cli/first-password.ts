import { closeSync, existsSync, openSync, writeSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { makeOwnFolder, OWN_FILE, PASSWORD_FILE } from '../host/files.ts';
import { sqlitePath } from '../storage/audit/snapshot.ts';

/**
 * Keeps a text with a password in a new file, readable by its owner alone, beside the data: for where nobody watches
 * and what is printed goes into logs. Returns the path of the file. Throws the error of the file system.
 */
export function keepPassword(config: Config, text: string): string {
  const folder = dataFolder(config);
  makeOwnFolder(folder);
  const path = freeName(folder);
  const file = openSync(path, 'wx', OWN_FILE);
  try {
    writeSync(file, text);
  } finally {
    closeSync(file);
  }
  return path;
}

/**
 * Where the database is, or else the uploads. What WordPress keeps in `wp-content` is served by web servers, and no
 * place for this.
 */
function dataFolder({ databaseUrl, uploadsDir }: Config): string {
  const database = sqlitePath(databaseUrl);
  const folder = dirname(resolve(database ?? uploadsDir));
  return basename(folder) === 'wp-content' ? process.cwd() : folder;
}

function freeName(folder: string): string {
  for (let number = 1; ; number += 1) {
    const path = join(folder, `${PASSWORD_FILE}${number === 1 ? '' : `-${number}`}.txt`);
    if (!existsSync(path)) return path;
  }
}
