import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Number of times that a file is read which changes in the meantime. */
const ATTEMPTS = 3;
/** The bytes of a file's header that say whether writes go to a log first, and their value if they do not. */
const JOURNAL_VERSIONS = { from: 18, to: 20, withoutLog: 1 };

/**
 * Returns the content of a database that this user may read, but not write, or whose folder is closed to them. SQLite
 * cannot open such a file unless a program is using it: it would have to create two more files beside it. They could
 * also stay behind, and keep the owner from writing. Undefined: SQLite can open the file itself, or only SQLite can
 * read it, since there is a log of unfinished writes.
 */
export function readUnwritable(filename: string): Buffer | undefined {
  if (isWritable(filename) && isWritable(dirname(filename))) return undefined;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const before = stateOf(filename);
    if (before === undefined) return undefined;
    const content = readFileSync(filename);
    // The copy belongs to no file, so that it cannot have a log.
    if (stateOf(filename) === before) return content.fill(JOURNAL_VERSIONS.withoutLog, JOURNAL_VERSIONS.from, JOURNAL_VERSIONS.to);
  }
  return undefined;
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns a text that differs after each write; undefined if there are unfinished writes or there is no file. */
function stateOf(filename: string): string | undefined {
  if (['-wal', '-journal'].some((ending) => existsSync(filename + ending))) return undefined;
  const found = statSync(filename, { bigint: true, throwIfNoEntry: false });
  return found && found.size > 0n ? `${found.ino} ${found.size} ${found.mtimeNs}` : undefined;
}
