import { blogCategoryUrl } from '../../wordpress/blog-links.ts';
import { coreUrl } from '../../wordpress/links.ts';
import type { Term } from '../../wordpress/rows.ts';
import { tableOf } from '../../wordpress/table.ts';
import { category } from '../category.ts';
import type { PostKind, TermKind } from '../kind.ts';
import type { RenderContext } from '../rendering.ts';
import { tag } from '../tag.ts';
import { termLink, termRecord } from '../term-record.ts';
import { pageIn } from '../translations.ts';
import { CURIES, type Methods, membersInView, VIEW_AND_EDIT, type View } from './view.ts';

type UrlContext = Pick<RenderContext, 'home' | 'namespace' | 'settings'>;

/** Members that are not shown in every context (`WP_REST_Terms_Controller::get_item_schema`). */
const MEMBER_VIEWS: Readonly<Record<string, readonly View[]>> = {
  count: VIEW_AND_EDIT,
  description: VIEW_AND_EDIT,
  parent: VIEW_AND_EDIT,
  meta: VIEW_AND_EDIT,
};

/** A taxonomy as WordPress's own routes describe it. */
export interface CoreTaxonomy extends Pick<TermKind, 'taxonomy' | 'hierarchical' | 'restBase' | 'manage'> {
  /** Its routes do not write. */
  readonly readOnly?: true;
}

/**
 * Categories of the blog. They are not a kind of the calendar: they can be read here, and only WordPress writes them.
 */
export const blogCategory: CoreTaxonomy = {
  taxonomy: 'category',
  hierarchical: true,
  restBase: 'categories',
  manage: ['manage_categories'],
  readOnly: true,
};

/**
 * Returns the kinds of terms that a kind of posts has, in the order of WordPress's own routes: tags before the
 * calendar's categories.
 */
export const coreTerms = ({ terms }: Pick<PostKind, 'terms'>): TermKind[] => [tag, category].filter(({ name }) => terms.includes(name));

/**
 * Returns a term as WordPress's own routes show it. `ancestors`: slugs from the root down to its parent; `methods`:
 * those that the caller may use on it; `language`: code of the term's language, in which its page is shown.
 */
export function coreTerm(
  term: Term,
  taxonomy: CoreTaxonomy,
  ancestors: readonly string[],
  context: UrlContext,
  { view, methods, language }: { view: View; methods: Methods; language: string | null },
): Record<string, unknown> {
  const { url: _, urls: __, ...members } = termRecord(term, taxonomy, ancestors, context);
  const record = { ...members, link: anyTermLink(term, ancestors, context, language) };
  return { ...membersInView(record, view, MEMBER_VIEWS), _links: termLinks(term, taxonomy, context, methods) };
}

/** Returns the URL of a term's page, of the calendar or of the blog, in the term's language (`language`: its code). */
export function anyTermLink(
  term: Term,
  ancestors: readonly string[],
  context: Pick<UrlContext, 'home' | 'settings'>,
  language: string | null,
): string {
  if (term.taxonomy !== blogCategory.taxonomy) return termLink(term, ancestors, context, language);
  const { permalinkStructure, raw } = context.settings;
  return pageIn(context, language, (home) =>
    blogCategoryUrl({ home, permalinkStructure }, term, raw.get('category_base') ?? '', ancestors),
  );
}

/** Routes of the post types that have terms, by taxonomy. */
const ROUTES_BY_TAXONOMY: ReadonlyMap<string, readonly string[]> = tableOf({
  [blogCategory.taxonomy]: ['posts'],
  [tag.taxonomy]: ['posts', 'tribe_events', 'tec_calendar_embed'],
  [category.taxonomy]: ['tribe_events', 'tec_calendar_embed'],
});

/** Returns the links of a term in WordPress's own routes. */
export function termLinks(term: Term, kind: CoreTaxonomy, context: UrlContext, methods: Methods): Record<string, unknown> {
  return {
    self: [{ href: coreUrl(context, `${kind.restBase}/${term.term_id}`), targetHints: { allow: methods } }],
    collection: [{ href: coreUrl(context, kind.restBase) }],
    about: [{ href: coreUrl(context, `taxonomies/${kind.taxonomy}`) }],
    ...(term.parent > 0 ? { up: [{ embeddable: true, href: coreUrl(context, `${kind.restBase}/${term.parent}`) }] } : {}),
    'wp:post_type': (ROUTES_BY_TAXONOMY.get(kind.taxonomy) ?? []).map((type) => ({
      href: coreUrl(context, type, [[kind.restBase, String(term.term_id)]]),
    })),
    curies: CURIES,
  };
}
