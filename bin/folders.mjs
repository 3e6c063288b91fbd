/** Replacement of a folder that a running service uses. This module uses only Node. */
import { existsSync, renameSync } from 'node:fs';

/**
 * Puts one folder in the place of another, which gets the name `former`. Throws if one of them cannot be renamed, such
 * as a volume or, on Windows, a folder that is in use; the other one is still in its place then.
 */
export function replaceFolder(target, fresh, former) {
  try {
    if (existsSync(target)) renameSync(target, former);
    renameSync(fresh, target);
  } catch (error) {
    putBack(target, former);
    throw error;
  }
}

/** Gives a folder its name back, if nothing has taken that. */
export function putBack(target, former) {
  if (existsSync(former) && !existsSync(target)) renameSync(former, target);
}
