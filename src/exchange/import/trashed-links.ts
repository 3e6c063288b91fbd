import { loadMetas } from '../../storage/rows/bundle.ts';
import { trashedPosts } from '../../storage/rows/posts.ts';
import type { Link } from '../items/items.ts';
import { addLoss } from '../items/report.ts';
import { inLanguageOf } from './in-language.ts';
import type { Work } from './run.ts';
import { areDifferentRecords } from './same-named.ts';

/**
 * Finds the venues and organizers among these links that an earlier import brought and that are in the trash here.
 * Events get the other record of the same name and language instead, if there is one; otherwise this is reported, since
 * they would be shown without their venue.
 */
export async function noteTrashedLinks(work: Work, links: readonly Link[]): Promise<void> {
  const { run, db, ledger, tally, replaced } = work;
  const kinds = new Map<number, 'venue' | 'organizer'>();
  for (const link of links) {
    const id = link.kind !== 'attachment' && 'sourceId' in link ? ledger.target('post', link.sourceId) : undefined;
    if (id !== undefined && id > 0 && !replaced.has(id) && link.kind !== 'attachment') kinds.set(id, link.kind);
  }
  for (const { ID, post_title: title } of await trashedPosts(db, [...kinds.keys()])) {
    const kind = kinds.get(ID)!;
    const namesakes = (await run.names.findUsable(db, kind, title)).filter((id) => id > 0 && id !== ID);
    const ids = await inLanguageOf(work, kind, namesakes, ID);
    const metas = await loadMetas(db, [ID, ...ids]);
    const other = ids.find((id) => !areDifferentRecords(metas.get(ID) ?? new Map(), metas.get(id) ?? new Map()));
    replaced.set(ID, other ?? ID);
    if (other === undefined) addLoss(tally, { reason: 'link-in-trash', kind, of: title });
  }
}
