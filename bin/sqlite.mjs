/**
 * Chooses the SQLite package for this Node. Version 13 of better-sqlite3 is precompiled for Node-API 10 (Node 22.14 and
 * later); version 12 is fetched or compiled when it is installed. src/storage/engine/sqlite/library.ts makes the same
 * choice. This file needs only Node.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const loaderIn = (folder) => createRequire(join(folder, 'package.json'));
const COMPILED_FOR = 10;

/** The package whose code has to be fetched or compiled. */
export const NATIVE = 'better-sqlite3';
/** The precompiled package, which npm leaves out if Node is too old for it. */
export const COMPILED = 'better-sqlite3-compiled';
export const isNewEnough = Number(process.versions.napi) >= COMPILED_FOR;

/** Whether this package, installed in this folder, can open a database. */
export function opens(name, folder = ROOT) {
  try {
    new (loaderIn(folder)(name))(':memory:').close();
    return true;
  } catch {
    return false;
  }
}

/** Loads the better-sqlite3 package that the service uses on this machine. */
export const loadSqlite = () => loaderIn(ROOT)(isNewEnough && opens(COMPILED) ? COMPILED : NATIVE);
