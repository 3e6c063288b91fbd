import { createRequire } from 'node:module';
import type Better from 'better-sqlite3';

/** The version of Node-API that better-sqlite3 13 is compiled for; Node 22.14 and later have it, Node 20 does not. */
const COMPILED_FOR = 10;

/**
 * The better-sqlite3 library. Version 13 contains compiled code in its package. Node 20 cannot run it and needs version
 * 12, which downloads or compiles its code when it is installed. The same applies to machines that version 13 was not
 * compiled for.
 */
export const Sqlite: typeof Better = load();

function load(): typeof Better {
  const require = createRequire(import.meta.url);
  if (Number(process.versions.napi) < COMPILED_FOR) return require('better-sqlite3');
  try {
    const compiled: typeof Better = require('better-sqlite3-compiled');
    // The compiled code is loaded when the first database is opened.
    new compiled(':memory:').close();
    return compiled;
  } catch {
    return require('better-sqlite3');
  }
}
