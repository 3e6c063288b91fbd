import type { EventPage } from '../kinds/calendar-page.ts';
import { postKind } from '../kinds/index.ts';
import type { PostKindName } from '../kinds/kind-names.ts';
import type { Site } from '../site.ts';
import { findByOldSlug } from '../storage/rows/posts.ts';
import { slugPathForQuery } from '../wordpress/slug.ts';
import type { Caller } from './caller.ts';
import { inOrderOfLanguage } from './content-lists.ts';
import { recordOfDate } from './occurrences.ts';
import { readablePosts } from './posts.ts';

/** Maximum number of records with this former slug that are examined. */
const MAX_POSTS = 10;

/**
 * Returns the address of the published record that had this slug last (`wp_old_slug_redirect`), one in the requested
 * language before others. WordPress takes any of them; with the first one, a user could publish and rename a record so
 * that all later ones of this slug were lost.
 * `occurrence`: the page of one of its dates.
 */
export async function urlByOldSlug(
  site: Site,
  caller: Caller,
  name: PostKindName,
  { slug, occurrence }: Pick<EventPage, 'occurrence'> & { readonly slug: string },
): Promise<string | undefined> {
  const kind = postKind(name);
  const storedSlug = slugPathForQuery(encodeURIComponent(slug)).at(-1) ?? '';
  const found = storedSlug === '' ? [] : await findByOldSlug(site.db, kind.postType, storedSlug);
  const posts = await inOrderOfLanguage(site.db, caller, kind, found);
  for (const post of posts.slice(0, MAX_POSTS)) {
    const id = occurrence ? await recordOfDate(site.db, caller, post, occurrence) : post;
    const [record] = id === undefined ? [] : (await readablePosts(site, caller, kind, [id])).records;
    if (record) return String(record.url);
  }
  return undefined;
}
