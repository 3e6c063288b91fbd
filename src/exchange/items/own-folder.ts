import { lstat, mkdir } from 'node:fs/promises';
import { OWN_FOLDER } from '../../host/files.ts';
import { SourceFault } from './items.ts';

/**
 * Makes sure that a folder is there that only this user can read and change. Where everybody may make folders, such as
 * for temporary files, somebody else may have made one of this name, or a link.
 *
 * @throws SourceFault `unreadable` if it is not this user's, or open to others
 */
export async function ensureOwnFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: OWN_FOLDER });
  const place = await lstat(path);
  // A container may run as a user whose name the system does not know.
  const user = process.geteuid?.();
  // Where files have no owners, they have no such modes either.
  const isOwn = user === undefined || (place.uid === user && (place.mode & OTHERS) === 0);
  if (!place.isDirectory() || !isOwn) throw new SourceFault('unreadable', { file: path, what: 'EPERM' });
}

/** The bits of a mode by which others may do something. */
const OTHERS = 0o077;
