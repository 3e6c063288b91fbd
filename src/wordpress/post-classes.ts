import { FORMAT_TAXONOMY, formatOf } from './post-formats.ts';
import type { Post, Term } from './rows.ts';
import { tableOf } from './table.ts';

/** Prefix of the class for a term's slug; for other taxonomies it is the name of the taxonomy. */
const PREFIXES: ReadonlyMap<string, string> = tableOf({ post_tag: 'tag' });

/**
 * Returns the CSS classes of a post (WordPress `get_post_class`, outside of pages): type and status, whether it is
 * locked or has a featured image, and its terms. The Events Calendar adds its categories a second time.
 */
export function postClasses(
  { ID, post_type: type, post_status: status }: Pick<Post, 'ID' | 'post_type' | 'post_status'>,
  { locked, hasPicture, terms }: { locked: boolean; hasPicture: boolean; terms: readonly Term[] },
): string[] {
  const classesOf = (taxonomy: string, prefix: string) =>
    terms.filter((term) => term.taxonomy === taxonomy).map((term) => `${prefix}${classOf(term)}`);
  const taxonomies = ['category', 'post_tag', FORMAT_TAXONOMY, 'tribe_events_cat'];
  return [
    `post-${ID}`,
    type,
    `type-${type}`,
    `status-${status}`,
    // Only blog posts have formats.
    ...(type === 'post' ? [`format-${formatOf(terms)}`] : []),
    ...(locked ? ['post-password-required'] : []),
    ...(hasPicture ? ['has-post-thumbnail'] : []),
    'hentry',
    ...taxonomies.flatMap((taxonomy) => classesOf(taxonomy, `${PREFIXES.get(taxonomy) ?? taxonomy}-`)),
    ...classesOf('tribe_events_cat', 'cat_'),
  ];
}

/** Returns a slug as a class (`sanitize_html_class`), or the term's id if no usable character is left. */
function classOf({ slug, term_id: id }: Term): string {
  const className = slug.replace(/%[0-9a-f]{2}/gi, '').replace(/[^\w-]/g, '');
  return /^\d*$/.test(className) || className.replaceAll('-', '') === '' ? String(id) : className;
}
