import { ALLOWS_SEVERAL } from '../../kinds/events/metas.ts';
import { isLinks, valueIn } from '../../kinds/fields.ts';
import { postKind } from '../../kinds/index.ts';
import type { PostValues, Rows, StoredPost } from '../../kinds/kind.ts';
import type { Place } from '../../kinds/param.ts';
import { loadPosts } from '../../storage/rows/bundle.ts';
import type { Post } from '../../wordpress/rows.ts';
import type { Viewer } from '../../wordpress/viewer.ts';
import { mayRead } from '../visibility.ts';
import type { MetasAndTerms } from './metas-and-terms.ts';
import type { WriteContext } from './write-context.ts';

/*
 * Links of an event to venues and organizers that its record does not show to the caller: those in the trash, and those
 * that the caller may not read (decisions D11, D15). Forms of the desk and the metas of WordPress's own routes show
 * them.
 */

/**
 * Keeps the hidden links of an event when the others change, so that a record can be sent back as it was read. A venue
 * is replaced by another one, hidden or not, since an event takes place there instead. Null, which no record shows,
 * removes all links. Only a change that removes links reads the records that they lead to.
 */
export async function withHiddenLinks(
  write: WriteContext,
  before: StoredPost,
  values: PostValues,
  references: MetasAndTerms,
): Promise<MetasAndTerms> {
  const changes = Object.entries(write.kind.fields).flatMap(([name, field]): LinkChange[] => {
    const isList = isLinks(field) && Array.isArray(valueIn(values, name, field));
    if (!isList) return [];
    const { place } = field;
    return [{ place, stored: before.metas.get(place.key) ?? [], sent: references.metas[place.key] ?? [] }];
  });
  const removedIds = changes.flatMap(({ stored, sent }) => stored.filter((id) => !sent.includes(id)));
  if (removedIds.length === 0) return references;
  const rows = await loadPosts(write.db, removedIds.map(Number).filter(Number.isSafeInteger));
  const metas: Rows['metas'] = Object.fromEntries(
    changes.map((change) => [change.place.key, keptLinks(change, rows, write.caller.viewer)]),
  );
  return { ...references, metas: { ...references.metas, ...metas } };
}

/** A field of links in a change: the ids that are stored, and those that were sent. */
interface LinkChange {
  readonly place: Extract<Place, { readonly in: 'links' }>;
  readonly stored: readonly string[];
  readonly sent: readonly string[];
}

/** Returns the ids to store. `rows`: the records whose links would be removed. */
function keptLinks({ place, stored, sent }: LinkChange, rows: ReadonlyMap<number, Post>, viewer: Viewer): readonly string[] {
  const { postType } = postKind(place.kind);
  const isHidden = (id: string): boolean => {
    const row = sent.includes(id) ? undefined : rows.get(Number(id));
    return row?.post_type === postType && (row.post_status === 'trash' || !mayRead(viewer, row));
  };
  const isAsRead = stored.filter((id) => !isHidden(id)).join() === sent.join();
  if (isAsRead) return stored;
  // A new venue takes the place of the former one.
  return ALLOWS_SEVERAL[place.kind] || sent.length === 0 ? [...sent, ...stored.filter(isHidden)] : sent;
}
