import { lstat, mkdir } from 'node:fs/promises';
import { OWNER_ONLY_FOLDER_MODE } from '../../host/files.ts';
import { SourceFault } from './items.ts';

/**
 * Creates a folder that only this user can access, and checks that it is. In a shared place, such as that for temporary
 * files, somebody else may have created a folder or a link of this name.
 *
 * @throws SourceFault `folder-not-private` if the folder belongs to another user, or is accessible to others
 */
export async function ensurePrivateFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: OWNER_ONLY_FOLDER_MODE });
  const place = await lstat(path);
  // A container may run as a user whose name the system does not know.
  const user = process.geteuid?.();
  // File systems without owners have no such modes either.
  const isOwn = user === undefined || (place.uid === user && (place.mode & GROUP_AND_OTHERS) === 0);
  if (!place.isDirectory() || !isOwn) throw new SourceFault('folder-not-private', { file: path });
}

/** Permission bits for group and others. */
const GROUP_AND_OTHERS = 0o077;
