import { groupedBy } from '../../grouped-by.ts';
import { ALLOWS_SEVERAL } from '../../kinds/events/metas.ts';
import { isLinks, valueIn } from '../../kinds/fields.ts';
import { postKind } from '../../kinds/index.ts';
import type { PostValues, Rows, StoredPost } from '../../kinds/kind.ts';
import type { Place } from '../../kinds/param.ts';
import type { StoredValue } from '../../wordpress/php/serialized.ts';
import type { Post } from '../../wordpress/rows.ts';
import type { Viewer } from '../../wordpress/viewer.ts';
import { mayRead } from '../visibility.ts';
import type { MetasAndTerms } from './metas-and-terms.ts';
import { loadShownLinks } from './shown-links.ts';
import type { WriteContext } from './write-context.ts';

/*
 * Links of an event to venues and organizers that its record does not show to the caller as they are stored: those in
 * the trash, those that the caller may not read (decisions D11, D15), and those in another language, in whose place the
 * record shows their translations. Forms of the desk and the metas of WordPress's own routes show all of them.
 */

/**
 * The lists of links that a caller can send: `all` that are stored; those that are `readable` for the caller; or those
 * that are `shown` as records of this caller show them, with translations in place of readable ones.
 */
export type SentLinks = 'all' | 'readable' | 'shown';

/**
 * Keeps the hidden links of an event when the others change, so that a record can be sent back as it was read. A venue
 * is replaced by another one, hidden or not, since an event takes place there instead. Null, which no record shows,
 * removes all links. Only a change that removes links reads the records that they lead to. `links`: those that the
 * values hold.
 */
export async function withHiddenLinks(
  write: WriteContext,
  before: StoredPost,
  { values, links = 'all' }: { readonly values: PostValues; readonly links?: SentLinks | undefined },
  references: MetasAndTerms,
): Promise<MetasAndTerms> {
  if (links === 'all') return references;
  const changes = Object.entries(write.kind.fields).flatMap(([name, field]): LinkChange[] => {
    const isList = isLinks(field) && Array.isArray(valueIn(values, name, field));
    if (!isList) return [];
    const { place } = field;
    return [{ place, stored: before.metas.get(place.key) ?? [], sent: references.metas[place.key] ?? [] }];
  });
  const removedIds = changes.flatMap(({ stored, sent }) => stored.filter((id) => !sent.includes(id)));
  if (removedIds.length === 0) return references;
  const code = links === 'shown' ? languageOfLinks(write) : undefined;
  const linkedIds = code === undefined ? removedIds : changes.flatMap(({ stored }) => stored);
  const { rows, shownInPlaceOf } = await loadShownLinks(write, linkedIds, code);
  const metas: Rows['metas'] = Object.fromEntries(
    changes.map((change) => [
      change.place.key,
      keptLinks(withStoredIds(change, shownInPlaceOf), shownInPlaceOf, rows, write.caller.viewer),
    ]),
  );
  return { ...references, metas: { ...references.metas, ...metas } };
}

/** Returns the language in which the record of an event shows its links; undefined if it shows them as stored. */
const languageOfLinks = ({ caller, language }: WriteContext): string | undefined =>
  caller.content.code === undefined ? undefined : (language?.before ?? undefined);

/** Replaces the ids of translations that the record shows by the stored ones. */
const withStoredIds = (change: LinkChange, shownInPlaceOf: (id: string) => string): LinkChange => {
  const storedIds = groupedBy(change.stored, shownInPlaceOf);
  return { ...change, sent: [...new Set(change.sent.flatMap((id) => storedIds.get(id) ?? [id]))] };
};

/** A field of links in a change: the ids that are stored, and those that were sent. */
interface LinkChange {
  readonly place: Extract<Place, { readonly in: 'links' }>;
  readonly stored: readonly StoredValue[];
  readonly sent: readonly StoredValue[];
}

/** Returns the ids to store. `rows`: the records whose links would be removed, and those shown in their place. */
function keptLinks(
  { place, stored, sent }: LinkChange,
  shownInPlaceOf: (id: string) => string,
  rows: ReadonlyMap<number, Post>,
  viewer: Viewer,
): readonly StoredValue[] {
  const { postType } = postKind(place.kind);
  const isHidden = (id: StoredValue): boolean => {
    const row = sent.includes(id) ? undefined : rows.get(Number(shownInPlaceOf(id)));
    return row?.post_type === postType && (row.post_status === 'trash' || !mayRead(viewer, row));
  };
  const isAsRead = stored.filter((id) => !isHidden(id)).join() === sent.join();
  if (isAsRead) return stored;
  // A new venue takes the place of the former one.
  return ALLOWS_SEVERAL[place.kind] || sent.length === 0 ? [...sent, ...stored.filter(isHidden)] : sent;
}
