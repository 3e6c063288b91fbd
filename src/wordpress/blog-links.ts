import { indexPath, type LinkPlace } from './links.ts';
import type { Post, Term } from './rows.ts';

/** Columns of a blog post or page that its URL is made from. */
type Linked = Pick<Post, 'ID' | 'post_date' | 'post_name' | 'post_type'>;

/**
 * Returns the URL of a blog post or page (WordPress `get_permalink`, `get_page_link`). `ancestors`: slugs of the page's
 * ancestors from the root to its parent. If the permalink structure needs more than the post itself, the URL contains
 * the id, and WordPress redirects it to the permalink.
 */
export function blogUrl(place: LinkPlace, post: Linked, ancestors: readonly string[] = []): string {
  const { home, permalinkStructure: structure } = place;
  const isPage = post.post_type === 'page';
  if (structure === '') return `${home}/?${isPage ? 'page_id' : 'p'}=${post.ID}`;
  if (isPage) return withEnding(`${home}${indexPath(structure)}/${[...ancestors, post.post_name].join('/')}`, structure);
  const [year = '', monthnum = '', day = '', hour = '', minute = '', second = ''] = post.post_date.split(/[- :]/);
  const values = new Map(Object.entries({ year, monthnum, day, hour, minute, second, post_id: String(post.ID), postname: post.post_name }));
  const path = structure.replace(/%([a-z_]+)%/g, (token, name: string) => values.get(name) ?? token);
  return path.includes('%category%') || path.includes('%author%') ? `${home}/?p=${post.ID}` : `${home}${path}`;
}

/**
 * Returns a blog category's URL (`get_term_link`). `base`: option `category_base`; `ancestors`: slugs from the root
 * down to its parent.
 */
export function blogCategoryUrl(place: LinkPlace, { slug }: Pick<Term, 'slug'>, base: string, ancestors: readonly string[]): string {
  const { home, permalinkStructure: structure } = place;
  if (structure === '') return `${home}/?category_name=${slug}`;
  return withEnding(`${home}${indexPath(structure)}/${[base || 'category', ...ancestors, slug].join('/')}`, structure);
}

const withEnding = (address: string, structure: string) => (structure.endsWith('/') ? `${address}/` : address);
