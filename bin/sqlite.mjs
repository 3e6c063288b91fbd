/**
 * Which package of SQLite there is for this Node: version 13 of better-sqlite3 comes compiled, for the Node-API 10
 * (Node 22.14 and later); version 12 is fetched or compiled when it is installed. src/storage/engine/sqlite/library.ts
 * chooses as this does. Nothing but Node is needed to load this file.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const load = createRequire(join(ROOT, 'package.json'));
const COMPILED_FOR = 10;

/** The package whose code has to be fetched or compiled. */
export const NATIVE = 'better-sqlite3';
/** The package that comes compiled, which npm leaves out where Node is too old for it. */
export const COMPILED = 'better-sqlite3-compiled';
export const isNewEnough = Number(process.versions.napi) >= COMPILED_FOR;

/** Whether a database can be opened with a package. */
export function opens(name) {
  try {
    new (load(name))(':memory:').close();
    return true;
  } catch {
    return false;
  }
}

/** better-sqlite3, as the service uses it on this machine. */
export const loadSqlite = () => load(isNewEnough && opens(COMPILED) ? COMPILED : NATIVE);
