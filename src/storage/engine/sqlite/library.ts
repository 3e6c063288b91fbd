import { createRequire } from 'node:module';
import type Better from 'better-sqlite3';

/** The Node-API that version 13 is compiled for; Node 22.14 and later have it, Node 20 does not. */
const COMPILED_FOR = 10;

/**
 * better-sqlite3. Version 13 comes with its compiled code in the package. Node 20 cannot run it and needs version 12,
 * which fetches or compiles its code when it is installed; so does a machine that version 13 was not compiled for.
 */
export const Sqlite: typeof Better = load();

function load(): typeof Better {
  const require = createRequire(import.meta.url);
  if (Number(process.versions.napi) < COMPILED_FOR) return require('better-sqlite3');
  try {
    const compiled: typeof Better = require('better-sqlite3-compiled');
    // The code is loaded with the first database.
    new compiled(':memory:').close();
    return compiled;
  } catch {
    return require('better-sqlite3');
  }
}
