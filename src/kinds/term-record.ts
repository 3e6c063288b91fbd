import { restUrl, termUrl } from '../wordpress/links.ts';
import type { Term } from '../wordpress/rows.ts';
import { category } from './category.ts';
import type { TermKind } from './kind.ts';
import type { RenderContext } from './rendering.ts';
import type { TermRecord } from './shapes.ts';
import { tag } from './tag.ts';
import { pageIn } from './translations.ts';

const PATHS = new Map<string, string>([category, tag].map(({ taxonomy, path }) => [taxonomy, path]));

type UrlContext = Pick<RenderContext, 'home' | 'namespace' | 'settings'>;

/** Returns a term as embedded in events. */
export function embeddedTermRecord(term: Term, context: UrlContext) {
  const { name, slug, term_group, term_taxonomy_id, taxonomy, description, parent, count } = term;
  return {
    name,
    slug,
    term_group,
    term_taxonomy_id,
    taxonomy,
    description,
    parent,
    count,
    filter: 'raw' as const,
    id: term.term_id,
    urls: termUrls(term, context),
  };
}

/**
 * Returns a term as its own routes show it. `ancestors`: slugs from the root down to its parent; `code`: its language,
 * if it has one.
 */
export function termRecord(
  term: Term,
  kind: Pick<TermKind, 'hierarchical'>,
  ancestors: readonly string[],
  context: UrlContext,
  code?: string | null,
): TermRecord {
  return {
    id: term.term_id,
    count: term.count,
    description: term.description,
    name: term.name,
    slug: term.slug,
    taxonomy: term.taxonomy,
    ...(kind.hierarchical ? { parent: term.parent } : {}),
    meta: [],
    url: termLink(term, ancestors, context, code),
    urls: termUrls(term, context),
  };
}

/** Returns the URL of a term's page, in the language of the term. */
export function termLink(
  term: Pick<Term, 'taxonomy' | 'slug'>,
  ancestors: readonly string[],
  context: Pick<UrlContext, 'home' | 'settings'>,
  code?: string | null,
): string {
  const { permalinkStructure, calendar, tagBase } = context.settings;
  return pageIn(context, code, (home) => termUrl({ home, permalinkStructure, eventsSlug: calendar.eventsSlug, tagBase }, term, ancestors));
}

function termUrls(term: Term, context: UrlContext) {
  const route = `${context.namespace}/${PATHS.get(term.taxonomy)}`;
  return {
    self: restUrl(context, `${route}/${term.term_id}`),
    collection: restUrl(context, route),
    ...(term.parent > 0 ? { up: restUrl(context, `${route}/${term.parent}`) } : {}),
  };
}
