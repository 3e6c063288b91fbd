import type { EventPage } from '../kinds/calendar-page.ts';
import { postKind } from '../kinds/index.ts';
import type { PostKindName } from '../kinds/kind-names.ts';
import type { Site } from '../site.ts';
import { findByOldSlug } from '../storage/rows/posts.ts';
import { slugPathForQuery } from '../wordpress/slug.ts';
import type { Caller } from './caller.ts';
import { recordOfDate } from './occurrences.ts';
import { readablePosts } from './posts.ts';

/** Maximum number of records with this former slug, of any kind, that are examined. */
const MAX_POSTS = 10;

/**
 * Returns the address of a record that formerly had this slug (`wp_old_slug_redirect`), if the caller may see it.
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
  const posts = storedSlug === '' ? [] : await findByOldSlug(site.db, storedSlug);
  for (const post of posts.slice(0, MAX_POSTS)) {
    const id = occurrence ? await recordOfDate(site.db, caller, post, occurrence) : post;
    const [record] = id === undefined ? [] : (await readablePosts(site, caller, kind, [id])).records;
    if (record) return String(record.url);
  }
  return undefined;
}
