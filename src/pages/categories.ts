import { termKind } from '../kinds/index.ts';
import type { Caller } from '../records/caller.ts';
import { listTerms } from '../records/terms.ts';
import type { Site } from '../site.ts';
import { i18nFor } from './i18n-for.ts';
import { type NamedLink, nameOf } from './models.ts';

/** A category with the URL of its page. */
export interface Category extends NamedLink {
  readonly id: number;
}

/** Maximum number of categories on a page. */
const MAX_CATEGORIES = 50;

/** Returns the categories that have events, by name. */
export async function usedCategories(site: Site, caller: Caller): Promise<Category[]> {
  const { records } = await listTerms(site, caller, termKind('category'), { per_page: MAX_CATEGORIES, hide_empty: true });
  const i18n = i18nFor(site, caller);
  return records.map((record) => {
    // Lists of terms contain term records, whose names and URLs are texts.
    const { id, name, url } = record as { readonly id: number; readonly name: string; readonly url: string };
    return { id, name: nameOf(name, i18n), href: url };
  });
}
