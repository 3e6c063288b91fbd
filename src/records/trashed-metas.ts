import type { LookUp } from '../storage/engine/look-up-once.ts';
import { loadMetas } from '../storage/rows/bundle.ts';
import type { Metas, Post } from '../wordpress/rows.ts';

/** The metas of a post in the trash, whose rules go by the status from before; those of other posts need none. */
export async function metasInTrash(lookUp: LookUp, { ID, post_status: status }: Post): Promise<Metas | undefined> {
  return status === 'trash' ? (await lookUp(loadMetas, [ID])).get(ID) : undefined;
}
