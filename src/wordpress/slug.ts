import { removeAccents } from './accents.ts';
import { escHtml } from './content/entities.ts';
import { forwardSearch } from './content/html-pieces.ts';
import { stripTags } from './content/plain-text.ts';
import { isFloating } from './status.ts';
import { trimEndOf, trimOf } from './trim.ts';

/** Bytes that a slug may have (`posts.post_name`, `terms.slug`). */
const SLUG_BYTES = 200;
const TRASHED = '__trashed';

/** Slugs that name feeds or embeds of a page and can't name a post (`wp_unique_post_slug`). */
const RESERVED = new Set(['feed', 'rdf', 'rss', 'rss2', 'atom', 'embed']);

/** Invisible characters and quotation marks that vanish from slugs, percent-encoded (`sanitize_title_with_dashes`). */
const DROPPED = new RegExp(
  '%c2%(?:ad|a1|bf|ab|bb|a9|ae|b0|b4)|%cb%8a|%cc%8[0148c]|%cd%81' +
    '|%e2%80%(?:b9|ba|9[89abcdef]|a2|a6|8[bcdef]|a[abcde])|%e2%84%a2|%ef%bb%bf|%ef%bf%bc',
  'g',
);
/** Spaces and dashes that become hyphens, percent-encoded. */
const HYPHENS = /%c2%a0|%e2%80%(?:9[34]|8[0-9a]|a[89f])|&(?:nbsp|#160|ndash|#8211|mdash|#8212);|\//g;

/**
 * A text as slug: lower case, words joined by hyphens, accents spelled out, other scripts percent-encoded, at most 200
 * bytes (WordPress `sanitize_title`, `sanitize_title_with_dashes`). `query` is the form used to look a slug up: without
 * spelling out accents and without the special treatment of dashes and quotation marks. Empty when nothing of the text
 * can stand in a slug.
 */
export function sanitizeTitle(raw: string, context: 'save' | 'query' = 'save', locale?: string): string {
  let slug = stripTags(context === 'save' ? removeAccents(raw, locale) : raw);
  slug = slug.replace(/%(?![a-f0-9]{2})/gi, '');
  slug = encode(Array.from(slug, (letter) => letter.toLowerCase()).join(''), SLUG_BYTES);
  if (context === 'save') slug = slug.replace(HYPHENS, '-').replace(DROPPED, '').replaceAll('%c3%97', 'x');
  slug = withoutEntities(slug)
    .replaceAll('.', '-')
    .replace(/[^%a-z0-9 _-]/g, '')
    .replace(/[ -]+/g, '-');
  return trimOf(slug, '-');
}

/**
 * The slugs that a by-slug address names, outermost first: `parent/child` for a child post (WordPress
 * `get_page_by_path`). `raw`: the piece of the path as it is in the address, still percent-encoded; it is decoded once
 * here. The last one is the post's own slug; a post with a parent is found by its whole path only. Empty when it names
 * nothing.
 */
export function slugPathForQuery(raw: string): string[] {
  const encoded = rawUrlEncode(urlDecode(raw)).replaceAll('%2F', '/').replaceAll('%20', ' ');
  const path = trimOf(encoded, '/');
  return path === '' ? [] : path.split('/').map((part) => sanitizeTitle(part, 'query'));
}

/**
 * The first free form of a post's slug: itself, or with `-2`, `-3` and so on, cut so that its column holds both
 * (WordPress `wp_unique_post_slug`). `taken`: slugs of other posts of the same type, in whatever status. `bytes`: of
 * the column.
 */
export function uniqueSlug(base: string, taken: Taken, bytes = SLUG_BYTES): string {
  const isTaken = (slug: string) => RESERVED.has(slug) || has(taken, slug);
  if (!isTaken(base)) return base;
  for (let number = 2; ; number += 1) {
    const suffix = `-${number}`;
    const slug = truncateSlug(base, bytes - suffix.length) + suffix;
    if (!has(taken, slug)) return slug;
  }
}

/** How many bytes the column of a user's slug has. */
export const NICENAME_BYTES = 50;

/** What the slug of a user begins with (`user_nicename` of `wp_insert_user`). */
export const nicenameOf = (name: string): string => truncateSlug(sanitizeTitle(name), NICENAME_BYTES) || 'user';

/** How all slugs begin that are made of one with a number behind it: a long one is cut for that. */
export const startOfNumbered = (slug: string, bytes = SLUG_BYTES): string =>
  slug.length + LONGEST_NUMBER > bytes ? slug.slice(0, bytes - LONGEST_NUMBER) : `${slug}-`;

/** A number with its dash, and the rest of an encoded character that is cut away as a whole, with dashes before it. */
const LONGEST_NUMBER = 24;

/** Known slugs, or a test for one. */
export type Taken = ReadonlySet<string> | ((slug: string) => boolean);

/**
 * The first free form of a term's slug (WordPress `wp_unique_term_slug`): itself if no other term of its taxonomy has
 * it; else for a child with the slugs of its parents behind it, one after the other; else with `-2`, `-3` and so on.
 * No form is longer than the column. `parents`: nearest first.
 * `here`: slugs of other terms of the taxonomy; `anywhere`: of all terms of the site, against which the longer forms
 * are checked.
 */
export function uniqueTermSlug(
  base: string,
  { parents, here, anywhere }: { parents: readonly string[]; here: Taken; anywhere: Taken },
): string {
  if (!has(here, base)) return base;
  let slug = base;
  for (const parent of parents) {
    if (slug.length + 1 + parent.length > SLUG_BYTES) break;
    slug += `-${parent}`;
    if (!has(anywhere, slug)) return slug;
  }
  return uniqueSlug(slug, (one) => one === slug || has(anywhere, one));
}

/**
 * A slug as its post carries it in the trash, so that others may have it
 * (`wp_add_trashed_suffix_to_post_name_for_post`).
 */
export const trashedSlug = (slug: string): string =>
  slug.endsWith(TRASHED) ? slug : truncateSlug(slug, SLUG_BYTES - TRASHED.length) + TRASHED;

/** What a post's slug follows from. */
export interface SlugInput {
  /** The slug that was sent; absent or empty: none. */
  readonly sent?: string | undefined;
  readonly title: string;
  /** The status that the post gets, and the one it had; without the latter it is a new post. */
  readonly status: string;
  readonly before?: { readonly status: string; readonly slug: string } | undefined;
  /** `_wp_desired_post_slug`: the slug the post had before it went to the trash. */
  readonly desired?: string | undefined;
  /** Whether the caller may publish posts of this type: others don't choose the slug of what awaits review. */
  readonly canPublish: boolean;
  /** Whether drafts get a slug from their title too, as venues and organizers do. */
  readonly draftsToo: boolean;
  readonly locale?: string;
}

/**
 * The slug of a post that is written, before it is made unique; `unique`: whether it has to be (drafts may share
 * slugs). WordPress `wp_insert_post`. An empty slug of a post that is not a draft: no letter of the title can stand in
 * one, and the post's id takes its place.
 */
export function settleSlug({ sent, title, status, before, desired, canPublish, draftsToo, locale }: SlugInput): {
  slug: string;
  unique: boolean;
} {
  const floating = isFloating(status);
  const settled = (slug: string) => ({ slug, unique: !floating });
  if (before && status === 'trash' && before.status !== 'trash') return settled(trashedSlug(before.slug));
  if (status === 'pending' && !canPublish) return settled('');
  const titled = () => sanitizeTitle(title, 'save', locale);
  // Of a slug in which no letter can stand nothing is left, and the title takes its place as if none had been sent.
  if (sent) return settled(sanitizeTitle(sent, 'save', locale) || (floating ? '' : titled()));
  const kept = before && (before.status === 'trash' && status !== 'trash' ? desired || withoutTrashed(before.slug) : before.slug);
  if (kept) return settled(kept);
  return settled(floating && (before || !draftsToo) ? '' : titled());
}

/** Takes out everything from a `&` to the next `;`. */
function withoutEntities(text: string): string {
  const semicolon = forwardSearch(text, ';');
  let out = '';
  let done = 0;
  for (let start = text.indexOf('&'); start !== -1; start = text.indexOf('&', done)) {
    const end = semicolon(start + 2);
    if (end === -1) break;
    out += text.slice(done, start);
    done = end + 1;
  }
  return out + text.slice(done);
}

const withoutTrashed = (slug: string) => (slug.endsWith(TRASHED) ? slug.slice(0, -TRASHED.length) : slug);

const has = (taken: Taken, slug: string) => (typeof taken === 'function' ? taken(slug) : taken.has(slug));

/** `_truncate_post_slug`: cuts between characters, never inside an encoded one. */
function truncateSlug(slug: string, bytes: number): string {
  if (slug.length <= bytes) return slug;
  const decoded = urlDecode(slug).toString('utf8');
  return trimEndOf(decoded === slug ? slug.slice(0, bytes) : encode(decoded, bytes), '-');
}

/**
 * `utf8_uri_encode`: non-ASCII characters percent-encoded in lower case, cut at a whole character before `bytes` are
 * exceeded.
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

/** A slug as people read it, without escapes (the filter `editable_slug`). */
export const readableSlug = (slug: string): string => escHtml(urlDecode(slug).toString());

/** PHP's `urldecode`: plus is a space, what is no escape stays; as bytes, since escapes need not be UTF-8. */
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

/** Each byte as it is in an address. */
const ENCODED = Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  return /[A-Za-z0-9_.~-]/.test(character) ? character : percent(Uint8Array.of(byte)).toUpperCase();
});
