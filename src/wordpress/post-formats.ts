import type { Term } from './rows.ts';

/*
 * Formats of blog posts, stored as terms of a taxonomy. A post without such a term has the default format.
 */

export const FORMAT_TAXONOMY = 'post_format';
export const DEFAULT_FORMAT = 'standard';
/** All formats (WordPress `get_post_format_slugs`). */
export const POST_FORMATS = [DEFAULT_FORMAT, 'aside', 'chat', 'gallery', 'link', 'image', 'quote', 'status', 'video', 'audio'] as const;

const PREFIX = 'post-format-';

/** Returns the slug of the term for a format. */
export const formatSlug = (format: string): string => `${PREFIX}${format}`;

/** Returns the format of a post with these terms (`get_post_format`). */
export function formatOf(terms: readonly Pick<Term, 'taxonomy' | 'slug'>[]): string {
  const term = terms.find(({ taxonomy }) => taxonomy === FORMAT_TAXONOMY);
  return term ? term.slug.replace(PREFIX, '') : DEFAULT_FORMAT;
}
