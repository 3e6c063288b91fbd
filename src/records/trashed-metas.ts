import type { LookUp } from '../storage/engine/look-up-once.ts';
import { loadMetas } from '../storage/rows/bundle.ts';
import type { Metas, Post } from '../wordpress/rows.ts';

/**
 * Loads the metas of a post in the trash, since its permissions depend on its former status; undefined for other posts.
 */
export async function metasInTrash(lookUp: LookUp, { ID, post_status: status }: Post): Promise<Metas | undefined> {
  return status === 'trash' ? (await lookUp(loadMetas, [ID])).get(ID) : undefined;
}
