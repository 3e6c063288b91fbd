import { termKind } from '../kinds/index.ts';
import type { Caller } from '../records/caller.ts';
import { listTerms } from '../records/terms.ts';
import { type Site, withMaxPerPage } from '../site.ts';
import { i18nFor } from './i18n-for.ts';
import { type NamedLink, nameOf } from './models.ts';

/** A category with the URL of its page. */
export interface Category extends NamedLink {
  readonly id: number;
}

/** Maximum number of categories on a page. */
const MAX_CATEGORIES = 50;

/** Returns the categories that have events, by name: the first ones, as many as a page shows. */
export const usedCategories = async (site: Site, caller: Caller): Promise<Category[]> =>
  (await someUsedCategories(site, caller, MAX_CATEGORIES, 0)).categories;

/** Returns a slice of the categories that have events, by name, and their total number. */
export async function someUsedCategories(
  site: Site,
  caller: Caller,
  limit: number,
  offset: number,
): Promise<{ readonly categories: Category[]; readonly total: number }> {
  const values = { per_page: limit, hide_empty: true };
  const { records, total } = await listTerms(withMaxPerPage(site, limit), caller, termKind('category'), values, offset);
  const i18n = i18nFor(site, caller);
  return { categories: records.map(({ id, name, url }) => ({ id, name: nameOf(name, i18n), href: url })), total };
}
