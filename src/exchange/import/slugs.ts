import { lockNames, slugLock } from '../../storage/rows/locks.ts';
import { slugsLike } from '../../storage/rows/posts.ts';
import { holdersOfSlugs } from '../../storage/rows/taken.ts';
import { sanitizeTitle, uniqueSlug } from '../../wordpress/slug.ts';
import { isFloating } from '../../wordpress/status.ts';
import type { CleanPost } from '../items/clean.ts';
import { nameOf, type PostItem } from '../items/items.ts';
import { lose } from '../items/report.ts';
import { typeOf } from '../items/site-items.ts';
import type { Work } from './run.ts';

/**
 * Returns the slug of each new post: the given one, sanitized and made unique within its type. Drafts and pending posts
 * may share a slug. `except`: the id of an existing post, which may keep its own slug.
 */
export async function slugsFor<Arrival extends { readonly item: PostItem; readonly clean: CleanPost }>(
  { run, db, tally }: Work,
  arrivals: readonly Arrival[],
  except = 0,
): Promise<Map<Arrival, string>> {
  const wishes = arrivals.map((arrival) => {
    const { post_name: given = '', post_title: title = '', post_status: status = 'publish' } = arrival.clean.columns;
    const floating = isFloating(status) && arrival.item.kind !== 'attachment';
    return { arrival, floating, given, wish: given === '' ? (floating ? '' : sanitizeTitle(title)) : sanitizeTitle(given, 'query') };
  });
  const unique = wishes.filter(({ floating, wish }) => !floating && wish !== '');
  if (!run.dry) {
    await lockNames(
      db,
      unique.map(({ arrival, wish }) => slugLock(typeOf(arrival.item.kind), wish)),
    );
  }
  const holders = new Map<string, Set<string>>();
  const hold = (slug: string, type: string, by = holders) => by.set(slug, (by.get(slug) ?? new Set()).add(type));
  for (const { ID, post_name: slug, post_type: type } of await holdersOfSlugs(
    db,
    unique.map(({ wish }) => wish),
  ))
    if (ID !== except) hold(slug, type);

  const slugs = new Map<Arrival, string>();
  const expanded = new Set<string>();
  for (const { arrival, floating, given, wish } of wishes) {
    const { item } = arrival;
    const type = typeOf(item.kind);
    // Slugs of attachments are unique across all post types.
    const isTaken = (slug: string) =>
      [holders, run.overlaySlugs].some((by) => (type === 'attachment' ? by.has(slug) : (by.get(slug)?.has(type) ?? false)));
    let slug = wish;
    if (!floating && wish !== '') {
      if (uniqueSlug(wish, isTaken) !== wish && !expanded.has(`${type} ${wish}`)) {
        expanded.add(`${type} ${wish}`);
        for (const other of await slugsLike(db, type, wish, except)) hold(other, type);
      }
      slug = uniqueSlug(wish, isTaken);
      hold(slug, type);
      if (run.dry) hold(slug, type, run.overlaySlugs);
    }
    if (given !== '' && slug !== given)
      lose(tally, { reason: 'slug-taken', kind: item.kind, of: nameOf(item), place: item.place, detail: `${given} -> ${slug}` });
    slugs.set(arrival, slug);
  }
  return slugs;
}
