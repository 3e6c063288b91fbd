import { closeSync, existsSync, openSync, writeSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { makePrivateFolder, OWNER_ONLY_FILE_MODE, PASSWORD_FILE_PREFIX } from '../host/files.ts';
import { sqlitePath } from '../storage/engine/sqlite/connection.ts';

/**
 * Writes a text with a password to a new file next to the data, readable by its owner only. Used without a terminal,
 * when output ends up in logs. Returns the path of the file. Throws the error of the file system.
 */
export function writePasswordFile(config: Config, text: string): string {
  const folder = dataFolder(config);
  makePrivateFolder(folder);
  const path = unusedFileName(folder);
  const file = openSync(path, 'wx', OWNER_ONLY_FILE_MODE);
  try {
    writeSync(file, text);
  } finally {
    closeSync(file);
  }
  return path;
}

/**
 * Returns the folder of the database, or else the one that contains the uploads. Never `wp-content`, which web servers
 * serve.
 */
function dataFolder({ databaseUrl, uploadsDir }: Config): string {
  const database = sqlitePath(databaseUrl);
  const folder = dirname(resolve(database ?? uploadsDir));
  return basename(folder) === 'wp-content' ? process.cwd() : folder;
}

function unusedFileName(folder: string): string {
  for (let number = 1; ; number += 1) {
    const path = join(folder, `${PASSWORD_FILE_PREFIX}${number === 1 ? '' : `-${number}`}.txt`);
    if (!existsSync(path)) return path;
  }
}
