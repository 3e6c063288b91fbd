import { ALLOWS_SEVERAL, ORGANIZER_LINK, VENUE_LINK } from '../../kinds/events/metas.ts';
import { loadPosts } from '../../storage/rows/bundle.ts';
import { idsIn } from '../../wordpress/rows.ts';
import { hiddenByImport } from './hidden-records.ts';
import type { Work } from './run.ts';

const isId = (value: string): boolean => Number(value) > 0;

/** Metas of links to records that may be hidden -> whether an event may have several of them. */
const HIDEABLE_LINKS = new Map([
  [VENUE_LINK, ALLOWS_SEVERAL.venue],
  [ORGANIZER_LINK, ALLOWS_SEVERAL.organizer],
]);

/**
 * Returns the links that an update stores: those that the source states, and stored ones to venues and organizers that
 * are not published or have a password. Fasti does not name these to visitors (D15), so that a missing link to them
 * means nothing. The reference does, so that one which was removed there stays; a stated venue takes the place of a
 * hidden one. A record that the same import has hidden is named by its source. `stated`: link meta -> the stated ids.
 */
export async function withHiddenLinks(
  { run, db }: Pick<Work, 'run' | 'db'>,
  stated: ReadonlyMap<string, readonly string[]>,
  before: ReadonlyMap<string, readonly string[]>,
): Promise<Map<string, readonly string[]>> {
  const removedOf = (key: string): string[] =>
    HIDEABLE_LINKS.has(key) ? (before.get(key) ?? []).filter((id) => isId(id) && !stated.get(key)?.includes(id)) : [];
  const posts = await loadPosts(db, idsIn([...stated.keys()].flatMap(removedOf)));
  const namedIds = await hiddenByImport(db, [...posts.keys()], run.importId);
  const isHidden = (id: string): boolean => {
    const post = namedIds.has(Number(id)) ? undefined : posts.get(Number(id));
    return post !== undefined && (post.post_status !== 'publish' || post.post_password !== '');
  };
  return new Map(
    Array.from(stated, ([key, ids]) => {
      const storedIds = (before.get(key) ?? []).filter(isId);
      const hiddenIds = removedOf(key).filter(isHidden);
      if (hiddenIds.length === 0) return [key, ids];
      const isAsStored = storedIds.filter((id) => !hiddenIds.includes(id)).join() === ids.join();
      if (isAsStored) return [key, storedIds];
      return [key, HIDEABLE_LINKS.get(key) || ids.length === 0 ? [...ids, ...hiddenIds] : ids];
    }),
  );
}
