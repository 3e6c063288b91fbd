/* The taxonomies in which Polylang stores languages and translations. Relationships of terms refer to the `term_id`. */

/** Taxonomies of the languages, and of the groups of translations, of posts and of terms. */
export const POLYLANG_TAXONOMIES = {
  post: { language: 'language', group: 'post_translations' },
  term: { language: 'term_language', group: 'term_translations' },
} as const;

const { post, term } = POLYLANG_TAXONOMIES;
export const LANGUAGE_TAXONOMIES = [post.language, term.language] as const;
export const GROUP_TAXONOMIES = [post.group, term.group] as const;

/** Post types and taxonomies that Polylang always translates, regardless of its option. */
export const ALWAYS_TRANSLATED: readonly string[] = ['post', 'page', 'category', 'post_tag'];
