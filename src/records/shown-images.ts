import type { Database } from '../storage/engine/database.ts';
import { loadPosts } from '../storage/rows/bundle.ts';
import { postsWithImages } from '../storage/rows/media.ts';
import type { Post } from '../wordpress/rows.ts';
import type { Viewer } from '../wordpress/viewer.ts';
import { mayRead, mayReadFile } from './visibility.ts';

/**
 * Returns the ids of those rows that are images that the viewer may read, or sees in a readable record, since a record
 * may be sent back as it was shown.
 */
export async function shownImages(db: Database, viewer: Viewer, rows: readonly Post[]): Promise<ReadonlySet<number>> {
  const images = rows.filter(isImage);
  const attachedTo = images.flatMap(({ post_parent: parent }) => (parent > 0 ? [parent] : []));
  const parents = await loadPosts(db, attachedTo);
  const shownIds = new Set(images.filter((row) => mayReadFile(viewer, row, parents.get(row.post_parent))).map(({ ID }) => ID));
  const hiddenIds = images.map(({ ID }) => ID).filter((id) => !shownIds.has(id));
  for (const { image, post } of await postsWithImages(db, hiddenIds)) if (mayRead(viewer, post)) shownIds.add(image);
  return shownIds;
}

/** Like `shownImages`, for rows that are not loaded yet. */
export const shownAmong = async (db: Database, viewer: Viewer, ids: readonly number[]): Promise<ReadonlySet<number>> =>
  shownImages(db, viewer, [...(await loadPosts(db, ids)).values()]);

const isImage = (row: Post) => row.post_type === 'attachment' && /^image\//i.test(row.post_mime_type);
