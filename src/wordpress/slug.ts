import { removeAccents } from './accents.ts';
import { escHtml } from './content/entities.ts';
import { forwardSearch } from './content/html-pieces.ts';
import { stripTags } from './content/plain-text.ts';
import { isFloating } from './status.ts';
import { trimEndOf, trimOf } from './trim.ts';

/** Maximum length of a slug in bytes (`posts.post_name`, `terms.slug`). */
const SLUG_BYTES = 200;
const TRASHED_SUFFIX = '__trashed';
const TRASHED_END = /__trashed(?:-\d+)?$/;

/** Slugs reserved for feeds and embeds of a page, which a post cannot have (`wp_unique_post_slug`). */
export const RESERVED_SLUGS: ReadonlySet<string> = new Set(['feed', 'rdf', 'rss', 'rss2', 'atom', 'embed']);

/**
 * Invisible characters and quotation marks that are removed from slugs, percent-encoded (`sanitize_title_with_dashes`).
 */
const DROPPED_CHARACTERS = new RegExp(
  '%c2%(?:ad|a1|bf|ab|bb|a9|ae|b0|b4)|%cb%8a|%cc%8[0148c]|%cd%81' +
    '|%e2%80%(?:b9|ba|9[89abcdef]|a2|a6|8[bcdef]|a[abcde])|%e2%84%a2|%ef%bb%bf|%ef%bf%bc',
  'g',
);
/** Spaces and dashes that become hyphens, percent-encoded. */
const HYPHENS = /%c2%a0|%e2%80%(?:9[34]|8[0-9a]|a[89f])|&(?:nbsp|#160|ndash|#8211|mdash|#8212);|\//g;

/**
 * Returns a text as a slug: lower case, words joined by hyphens, accents spelled out, other scripts percent-encoded, at
 * most 200 bytes (WordPress `sanitize_title`, `sanitize_title_with_dashes`). `query` gives the form for looking a slug
 * up: accents are not spelled out, and dashes and quotation marks are not treated specially. Empty if the text contains
 * no character allowed in a slug.
 */
export function sanitizeTitle(raw: string, context: 'save' | 'query' = 'save', locale?: string): string {
  let slug = stripTags(context === 'save' ? removeAccents(raw, locale) : raw);
  slug = slug.replace(/%(?![a-f0-9]{2})/gi, '');
  slug = encode(Array.from(slug, (letter) => letter.toLowerCase()).join(''), SLUG_BYTES);
  if (context === 'save') slug = slug.replace(HYPHENS, '-').replace(DROPPED_CHARACTERS, '').replaceAll('%c3%97', 'x');
  slug = withoutEntities(slug)
    .replaceAll('.', '-')
    .replace(/[^%a-z0-9 _-]/g, '')
    .replace(/[ -]+/g, '-');
  return trimOf(slug, '-');
}

/**
 * Returns the slugs in a path that names a post by slug, outermost first: `parent/child` for a child post (WordPress
 * `get_page_by_path`). `raw`: the part of the path as in the URL, still percent-encoded; it is decoded once here. The
 * last slug is the post's own; a post with a parent is only found by its whole path. Empty if the path is empty.
 */
export function slugPathForQuery(raw: string): string[] {
  const encoded = rawUrlEncode(urlDecode(raw)).replaceAll('%2F', '/').replaceAll('%20', ' ');
  const path = trimOf(encoded, '/');
  return path === '' ? [] : path.split('/').map((part) => sanitizeTitle(part, 'query'));
}

/**
 * Returns the first free form of a post's slug: the slug itself, or with the suffix `-2`, `-3` and so on, cut to fit
 * into its column (WordPress `wp_unique_post_slug`). `takenSlugs`: slugs of other posts of the type, in any status.
 * `bytes`: length of the column.
 */
export function uniqueSlug(base: string, takenSlugs: TakenSlugs, bytes = SLUG_BYTES): string {
  const isTaken = (slug: string) => RESERVED_SLUGS.has(slug) || has(takenSlugs, slug);
  if (!isTaken(base)) return base;
  for (let number = 2; ; number += 1) {
    const slug = suffixedSlug(base, `-${number}`, bytes);
    if (!has(takenSlugs, slug)) return slug;
  }
}

/**
 * Returns a slug with a suffix, cut to make room for it. A longer text than its column is an error in strict modes of
 * MySQL.
 */
export const suffixedSlug = (slug: string, suffix: string, bytes = SLUG_BYTES): string =>
  truncateSlug(slug, bytes - suffix.length) + suffix;

/** Length in bytes of the column of a user's slug. */
export const NICENAME_BYTES = 50;

/** Returns the base of the slug of a user (`user_nicename` of `wp_insert_user`). */
export const nicenameOf = (name: string): string => truncateSlug(sanitizeTitle(name), NICENAME_BYTES) || 'user';

/**
 * Returns the common prefix of all slugs made from a slug and a number; a long slug is cut to make room for the number.
 */
export const numberedSlugPrefix = (slug: string, bytes = SLUG_BYTES): string =>
  slug.length + NUMBER_BYTES > bytes ? slug.slice(0, bytes - NUMBER_BYTES) : `${slug}-`;

/**
 * Maximum length of a number with its hyphen, plus the remaining bytes of an encoded character that is cut off as a
 * whole, and hyphens before it.
 */
const NUMBER_BYTES = 24;

/** Used slugs, or a function that tests for one. */
export type TakenSlugs = ReadonlySet<string> | ((slug: string) => boolean);

/**
 * Returns the first free form of a term's slug (WordPress `wp_unique_term_slug`): the slug itself if no other term of
 * its taxonomy has it; otherwise for a child with the slugs of its ancestors appended, one after the other; otherwise
 * with `-2`, `-3` and so on. No form is longer than the column. `parents`: nearest first.
 * `takenInTaxonomy`: slugs of other terms of the taxonomy; `takenOnSite`: of all terms, against which longer forms
 * are checked.
 */
export function uniqueTermSlug(
  base: string,
  { parents, takenInTaxonomy, takenOnSite }: { parents: readonly string[]; takenInTaxonomy: TakenSlugs; takenOnSite: TakenSlugs },
): string {
  if (!has(takenInTaxonomy, base)) return base;
  let slug = base;
  for (const parent of parents) {
    if (slug.length + 1 + parent.length > SLUG_BYTES) break;
    slug += `-${parent}`;
    if (!has(takenOnSite, slug)) return slug;
  }
  return uniqueSlug(slug, (one) => one === slug || has(takenOnSite, one));
}

/**
 * Returns the slug that a post has in the trash, so that other posts can use the original one
 * (`wp_add_trashed_suffix_to_post_name_for_post`).
 */
export const trashedSlug = (slug: string): string => (slug.endsWith(TRASHED_SUFFIX) ? slug : suffixedSlug(slug, TRASHED_SUFFIX));

/** Values that determine a post's slug. */
export interface SlugInput {
  /** The slug in the request; absent or empty: none. */
  readonly requestedSlug?: string | undefined;
  readonly title: string;
  /** The new status of the post, and the previous one; `before` is absent for a new post. */
  readonly status: string;
  readonly before?: { readonly status: string; readonly slug: string } | undefined;
  /** `_wp_desired_post_slug`: the slug of the post before it was moved to the trash. */
  readonly desiredSlug?: string | undefined;
  /**
   * Whether the caller may publish posts of this type; otherwise the caller cannot choose the slug of a post pending
   * review.
   */
  readonly canPublish: boolean;
  /** Whether drafts also get a slug from their title, as venues and organizers do. */
  readonly draftsGetSlugs: boolean;
  readonly locale?: string;
}

/**
 * Returns the slug of a post to be written, before it is made unique; `unique`: whether it must be unique (drafts may
 * share slugs). WordPress `wp_insert_post`. An empty slug of a post that is not a draft means that no character of the
 * title is allowed in a slug; the post's id is used instead.
 */
export function settleSlug({ requestedSlug, title, status, before, desiredSlug, canPublish, draftsGetSlugs, locale }: SlugInput): {
  slug: string;
  unique: boolean;
} {
  const floating = isFloating(status);
  const settled = (slug: string) => ({ slug, unique: !floating });
  if (before && status === 'trash' && before.status !== 'trash') return settled(trashedSlug(before.slug));
  // WordPress would remove the slug of a post that awaits review, or of a draft that is submitted, although the caller
  // changed something else.
  if (status === 'pending' && !canPublish) return settled(before && isFloating(before.status) ? before.slug : '');
  const titleSlug = () => sanitizeTitle(title, 'save', locale);
  // If no character of the sent slug is allowed, the title is used as if no slug had been sent.
  if (requestedSlug) return settled(sanitizeTitle(requestedSlug, 'save', locale) || (floating ? '' : titleSlug()));
  const keptSlug = before && (before.status === 'trash' && status !== 'trash' ? desiredSlug || withoutTrashed(before.slug) : before.slug);
  if (keptSlug) return settled(keptSlug);
  return settled(floating && (before || !draftsGetSlugs) ? '' : titleSlug());
}

/** Removes everything from a `&` to the next `;`. */
function withoutEntities(text: string): string {
  const semicolon = forwardSearch(text, ';');
  let out = '';
  let position = 0;
  for (let start = text.indexOf('&'); start !== -1; start = text.indexOf('&', position)) {
    const end = semicolon(start + 2);
    if (end === -1) break;
    out += text.slice(position, start);
    position = end + 1;
  }
  return out + text.slice(position);
}

/** Returns a slug as it was before the trash. Of unnamed drafts, the mark alone remains, with a number to be unique. */
const withoutTrashed = (slug: string): string => slug.replace(TRASHED_END, '');

const has = (takenSlugs: TakenSlugs, slug: string) => (typeof takenSlugs === 'function' ? takenSlugs(slug) : takenSlugs.has(slug));

/** `_truncate_post_slug`: cuts between characters, never inside an encoded one. */
function truncateSlug(slug: string, bytes: number): string {
  if (slug.length <= bytes) return slug;
  const text = urlDecode(slug).toString('utf8');
  return trimEndOf(text === slug ? slug.slice(0, bytes) : encode(text, bytes), '-');
}

/**
 * `utf8_uri_encode`: percent-encodes non-ASCII characters in lower case, cut after a whole character so that `bytes` is
 * not exceeded.
 */
function encode(text: string, bytes: number): string {
  let encoded = '';
  for (const character of text) {
    const piece = character < '\x80' ? character : percent(Buffer.from(character));
    if (encoded.length + piece.length > bytes) break;
    encoded += piece;
  }
  return encoded;
}

function percent(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}

/** Returns a slug in readable form, with escapes decoded (the filter `editable_slug`). */
export const readableSlug = (slug: string): string => escHtml(urlDecode(slug).toString());

/** Whether a text is a slug, or a path of slugs, to the letter; percent-encoded or as people read it. */
export const isSameSlug = (slug: string, text: string): boolean => urlDecode(slug).equals(urlDecode(text));

/** PHP's `urldecode`: a plus is a space, invalid escapes stay. Returns bytes, since escapes need not be UTF-8. */
function urlDecode(text: string): Buffer {
  const pieces = text.replaceAll('+', ' ').split(/(%[a-f0-9]{2})/i);
  return Buffer.concat(pieces.map((piece, index) => (index % 2 === 1 ? Buffer.from(piece.slice(1), 'hex') : Buffer.from(piece))));
}

/** PHP's `rawurlencode`. */
function rawUrlEncode(bytes: Buffer): string {
  let encoded = '';
  for (const byte of bytes) encoded += ENCODED[byte];
  return encoded;
}

/** Each byte in its percent-encoded form. */
const ENCODED = Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  return /[A-Za-z0-9_.~-]/.test(character) ? character : percent(Uint8Array.of(byte)).toUpperCase();
});
