import type { LinkPlace } from './links.ts';
import type { Post, Term } from './rows.ts';

/** The columns of a post of the blog or of a page that its address is made of. */
type Linked = Pick<Post, 'ID' | 'post_date' | 'post_name' | 'post_type'>;

/**
 * The address of a post of the blog, or of a page below others (WordPress `get_permalink`, `get_page_link`). `above`:
 * slugs from the root down to the page's parent. A structure that needs more than the post itself gives the address by
 * id, which WordPress leads to the other one.
 */
export function blogUrl(place: LinkPlace, post: Linked, above: readonly string[] = []): string {
  const { home, permalinkStructure: structure } = place;
  const isPage = post.post_type === 'page';
  if (structure === '') return `${home}/?${isPage ? 'page_id' : 'p'}=${post.ID}`;
  if (isPage) return ending(`${home}${indexOf(structure)}/${[...above, post.post_name].join('/')}`, structure);
  const [year = '', monthnum = '', day = '', hour = '', minute = '', second = ''] = post.post_date.split(/[- :]/);
  const known: Record<string, string> = { year, monthnum, day, hour, minute, second, post_id: String(post.ID), postname: post.post_name };
  const path = structure.replace(/%([a-z_]+)%/g, (token, name: string) => known[name] ?? token);
  return path.includes('%category%') || path.includes('%author%') ? `${home}/?p=${post.ID}` : `${home}${path}`;
}

/**
 * The address of a category of the blog (`get_term_link`). `base`: option `category_base`; `above`: slugs from the root
 * down to its parent.
 */
export function blogCategoryUrl(place: LinkPlace, { slug }: Pick<Term, 'slug'>, base: string, above: readonly string[] = []): string {
  const { home, permalinkStructure: structure } = place;
  if (structure === '') return `${home}/?category_name=${slug}`;
  return ending(`${home}${indexOf(structure)}/${[base || 'category', ...above, slug].join('/')}`, structure);
}

/** Sites without rewriting say `/index.php/...` in their permalink structure. */
const indexOf = (structure: string) => (/^\/?index\.php\//.test(structure) ? '/index.php' : '');
const ending = (address: string, structure: string) => (structure.endsWith('/') ? `${address}/` : address);
