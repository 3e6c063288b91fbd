import type { Term } from './rows.ts';

/*
 * Formats of posts of the blog: terms of a taxonomy of their own. A post without any is in the usual one.
 */

export const FORMAT_TAXONOMY = 'post_format';
export const USUAL_FORMAT = 'standard';
/** All there are (WordPress `get_post_format_slugs`). */
export const POST_FORMATS = [USUAL_FORMAT, 'aside', 'chat', 'gallery', 'link', 'image', 'quote', 'status', 'video', 'audio'] as const;

const PREFIX = 'post-format-';

/** The slug of the term that stands for a format. */
export const formatSlug = (format: string): string => `${PREFIX}${format}`;

/** The format of a post with these terms (`get_post_format`). */
export function formatOf(terms: readonly Pick<Term, 'taxonomy' | 'slug'>[]): string {
  const term = terms.find(({ taxonomy }) => taxonomy === FORMAT_TAXONOMY);
  return term ? term.slug.replace(PREFIX, '') : USUAL_FORMAT;
}
