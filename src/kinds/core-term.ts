import { restUrl } from '../wordpress/links.ts';
import type { Term } from '../wordpress/rows.ts';
import { category } from './category.ts';
import { CURIES, inView, type Methods, type View, WHOLE } from './core-view.ts';
import type { PostKind, TermKind } from './kind.ts';
import type { RenderContext } from './rendering.ts';
import { tag } from './tag.ts';
import { termRecord } from './term-record.ts';

type UrlContext = Pick<RenderContext, 'home' | 'namespace' | 'settings'>;

/** Members that are not in every context (`WP_REST_Terms_Controller::get_item_schema`). */
const SHOWN: Readonly<Record<string, readonly View[]>> = { count: WHOLE, description: WHOLE, parent: WHOLE, meta: WHOLE };

/**
 * The kinds of terms that a kind of posts carries, in the order of WordPress's own routes: its tags before the
 * calendar's categories.
 */
export const coreTerms = ({ terms }: Pick<PostKind, 'terms'>): TermKind[] => [tag, category].filter(({ name }) => terms.includes(name));

/**
 * A term as WordPress's own routes show it. `ancestors`: slugs from the root down to its parent; `methods`: those that
 * the caller may use on it.
 */
export function coreTerm(
  term: Term,
  kind: TermKind,
  ancestors: readonly string[],
  place: UrlContext,
  { view, methods }: { view: View; methods: Methods },
): Record<string, unknown> {
  const { url: link, urls: _, ...members } = termRecord(term, kind, ancestors, place);
  return { ...inView({ ...members, link }, view, SHOWN), _links: termLinks(term, kind, place, methods) };
}

/** Links of WordPress's own routes about a term. */
export function termLinks(term: Term, kind: TermKind, place: UrlContext, methods: Methods): Record<string, unknown> {
  const core = (route: string, query: [string, string][] = []) => restUrl(place, `wp/v2/${route}`, query);
  const types = kind.name === 'category' ? ['tribe_events', 'tec_calendar_embed'] : ['posts', 'tribe_events', 'tec_calendar_embed'];
  return {
    self: [{ href: core(`${kind.restBase}/${term.term_id}`), targetHints: { allow: methods } }],
    collection: [{ href: core(kind.restBase) }],
    about: [{ href: core(`taxonomies/${kind.taxonomy}`) }],
    ...(term.parent > 0 ? { up: [{ embeddable: true, href: core(`${kind.restBase}/${term.parent}`) }] } : {}),
    'wp:post_type': types.map((type) => ({ href: core(type, [[kind.restBase, String(term.term_id)]]) })),
    curies: CURIES,
  };
}
