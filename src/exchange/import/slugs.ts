import { postsHoldingSlugs } from '../../storage/rows/ids-in-use.ts';
import { lockNames, slugLock } from '../../storage/rows/locks.ts';
import { slugsLike } from '../../storage/rows/posts.ts';
import { sanitizeTitle, uniqueSlug } from '../../wordpress/slug.ts';
import { isFloating } from '../../wordpress/status.ts';
import type { CleanPost } from '../items/clean.ts';
import { nameOf, type PostItem } from '../items/items.ts';
import { addLoss } from '../items/report.ts';
import { typeOf } from '../items/site-items.ts';
import type { Work } from './run.ts';

/** A slug for a post. `isOther`: whether another post has the slug of the source, so that it got a different one. */
export interface Slug {
  readonly slug: string;
  readonly isOther: boolean;
}

/**
 * Returns the slug of each new post: the given one, sanitized and made unique within its type. Drafts and pending posts
 * may share a slug. `exceptId`: the id of an existing post, which may keep its own slug.
 */
export async function slugsFor<Arrival extends { readonly item: PostItem; readonly clean: CleanPost }>(
  { run, db, tally }: Work,
  arrivals: readonly Arrival[],
  exceptId = 0,
): Promise<Map<Arrival, Slug>> {
  const slugPlans = arrivals.map((arrival) => {
    const { post_name: sourceSlug = '', post_title: title = '', post_status: status = 'publish' } = arrival.clean.columns;
    const mayShareSlug = isFloating(status) && arrival.item.kind !== 'attachment';
    return {
      arrival,
      floating: mayShareSlug,
      sourceSlug,
      wantedSlug: sourceSlug === '' ? (mayShareSlug ? '' : sanitizeTitle(title)) : sanitizeTitle(sourceSlug, 'query'),
    };
  });
  const unique = slugPlans.filter(({ floating, wantedSlug }) => !floating && wantedSlug !== '');
  if (!run.isDryRun) {
    await lockNames(
      db,
      unique.map(({ arrival, wantedSlug }) => slugLock(typeOf(arrival.item.kind), wantedSlug)),
    );
  }
  const holders = new Map<string, Set<string>>();
  const hold = (slug: string, type: string, by = holders) => by.set(slug, (by.get(slug) ?? new Set()).add(type));
  for (const { ID, post_name: slug, post_type: type } of await postsHoldingSlugs(
    db,
    unique.map(({ wantedSlug }) => wantedSlug),
  ))
    if (ID !== exceptId) hold(slug, type);

  const slugs = new Map<Arrival, Slug>();
  const expandedSlugs = new Set<string>();
  for (const { arrival, floating, sourceSlug, wantedSlug } of slugPlans) {
    const { item } = arrival;
    const type = typeOf(item.kind);
    // Slugs of attachments are unique across all post types.
    const isTaken = (slug: string) =>
      [holders, run.drySlugs].some((by) => (type === 'attachment' ? by.has(slug) : (by.get(slug)?.has(type) ?? false)));
    let slug = wantedSlug;
    if (!floating && wantedSlug !== '') {
      if (uniqueSlug(wantedSlug, isTaken) !== wantedSlug && !expandedSlugs.has(`${type} ${wantedSlug}`)) {
        expandedSlugs.add(`${type} ${wantedSlug}`);
        for (const takenSlug of await slugsLike(db, type, wantedSlug, exceptId)) hold(takenSlug, type);
      }
      slug = uniqueSlug(wantedSlug, isTaken);
      hold(slug, type);
      if (run.isDryRun) hold(slug, type, run.drySlugs);
    }
    const isOther = sourceSlug !== '' && slug !== wantedSlug;
    if (sourceSlug !== '' && slug !== sourceSlug && !isOther)
      addLoss(tally, { reason: 'slug-taken', kind: item.kind, of: nameOf(item), place: item.place, detail: `${sourceSlug} -> ${slug}` });
    slugs.set(arrival, { slug, isOther });
  }
  return slugs;
}
