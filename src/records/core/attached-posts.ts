import { BLOG_TYPES } from '../../kinds/core/blog.ts';
import { postKinds } from '../../kinds/index.ts';
import type { Site } from '../../site.ts';
import { loadPosts } from '../../storage/rows/bundle.ts';
import type { Caller } from '../caller.ts';
import { embeddedBlogPosts } from './blog-posts.ts';
import type { CoreRecord } from './lists.ts';
import { embeddedPosts } from './posts.ts';

/**
 * Returns the posts that files are attached to in their embedded form, by id of the file. Posts that the caller may not
 * read are left out: a caller may read the own file although it is attached to somebody else's draft.
 */
export async function attachedPosts(site: Site, caller: Caller, fileIds: readonly number[]): Promise<Map<number, CoreRecord>> {
  if (fileIds.length === 0) return new Map();
  const files = [...(await loadPosts(site.db, fileIds)).values()];
  const rows = await loadPosts(site.db, [...new Set(files.map((file) => file.post_parent).filter((parent) => parent > 0))]);
  const idsOf = (type: string) => [...rows.values()].filter((row) => row.post_type === type).map((row) => row.ID);
  const recordsByType = await Promise.all([
    ...postKinds.map((kind) => embeddedPosts(site, caller, kind, idsOf(kind.postType))),
    ...BLOG_TYPES.map((type) => embeddedBlogPosts(site, caller, type, idsOf(type))),
  ]);
  const records = new Map(recordsByType.flatMap((ofType) => [...ofType]));
  return new Map(
    files.flatMap(({ ID, post_parent: parent }) => {
      const record = records.get(parent);
      return record ? [[ID, record] as const] : [];
    }),
  );
}
