import { isDeepStrictEqual } from 'node:util';
import { addressMetas } from '../../kinds/index.ts';
import type { HtmlTrust } from '../../records/writes/post-rows.ts';
import { typedEntries } from '../../typed-keys.ts';
import { ksesPost, ksesTitle } from '../../wordpress/content/kses.ts';
import { sanitizeTextField, stripControlCharacters } from '../../wordpress/content/plain-text.ts';
import { parseSerialized, toSerialized } from '../../wordpress/php/serialized.ts';
import { EDITOR_METAS } from '../../wordpress/rows.ts';
import { isFloating, REGISTERED_STATUSES } from '../../wordpress/status.ts';
import { tableOf } from '../../wordpress/table.ts';
import { isRealDate, ZERO_DATE } from '../../wordpress/time.ts';
import { trimEndOf } from '../../wordpress/trim.ts';
import { toLocal, toUtc, type Zone } from '../../wordpress/zones.ts';
import type { PostColumns, PostItem } from './items.ts';

/** A post made fit for its rows, and what had to go (`exchange:losses`). */
export interface CleanPost {
  readonly columns: CleanColumns;
  readonly metas: readonly (readonly [key: string, value: string])[];
  readonly losses: readonly { readonly reason: string; readonly detail: string }[];
}

export type CleanColumns = PostColumns;

/** Bytes and letters that columns of `posts` hold; MySQL would cut off the rest silently. */
const WIDTHS = tableOf({
  post_title: 65_535,
  post_excerpt: 65_535,
  post_password: 255,
  guid: 255,
  post_mime_type: 100,
  post_name: 200,
  to_ping: 65_535,
  pinged: 65_535,
});
const KEY_LETTERS = 255;

const TEXTS = ['post_title', 'post_content', 'post_excerpt', 'post_content_filtered'] as const;
const DATES = ['post_date', 'post_date_gmt', 'post_modified', 'post_modified_gmt'] as const;

/** Of the schemes of addresses, only those that the API takes (decision D38). */
const SCHEMES = /^(?:https?|ftp|mailto|tel):/i;

/**
 * Makes columns and metas fit for the tables, whatever they come from: control characters and what is too long go,
 * dates are dates, a status is one that is known, addresses have harmless schemes.
 */
export function cleanPost(item: PostItem, { trusted }: HtmlTrust): CleanPost {
  const losses: { reason: string; detail: string }[] = [];
  const cleaning: Cleaning = { trusted, lose: (reason, detail) => losses.push({ reason, detail }) };
  const columns = cleanColumns(item.columns, cleaning);
  const metas = item.metas.flatMap((meta) => cleanMeta(meta, cleaning));
  return { columns, metas, losses };
}

/** Metas of a category or a tag made fit for their rows. */
export const cleanTermMetas = (metas: PostItem['metas'], cleaning: Cleaning): [key: string, value: string][] =>
  metas.flatMap((meta) => cleanMeta(meta, cleaning));

/** How a record is cleaned: whether its HTML is trusted, and the callback for what had to go. */
interface Cleaning extends HtmlTrust {
  readonly lose: (reason: string, detail: string) => void;
}

function cleanColumns(given: PostColumns, cleaning: Cleaning): CleanColumns {
  const columns: Record<string, string | number> = {};
  for (const [name, value] of typedEntries(given)) {
    if (typeof value === 'number') columns[name] = Number.isSafeInteger(value) ? value : 0;
    else if (value !== undefined) columns[name] = cleanText(name, value, cleaning);
  }
  for (const name of DATES) {
    const value = columns[name];
    if (typeof value !== 'string' || isDate(value)) continue;
    if (value !== '') cleaning.lose('date-unreadable', `${name}: ${value}`);
    delete columns[name];
  }
  const status = columns.post_status;
  if (typeof status === 'string' && !REGISTERED_STATUSES.includes(status)) {
    cleaning.lose('status-unknown', status);
    columns.post_status = 'draft';
  }
  // Each value has the type of the column that it came for.
  return columns as CleanColumns;
}

function cleanText(name: keyof PostColumns, value: string, { trusted, lose }: Cleaning): string {
  const isText = TEXTS.some((column) => column === name);
  const text = isText ? stripControlCharacters(value) : value.replaceAll('\0', '');
  if (text !== value) lose('control-characters', name);
  const filtered = trusted || !isText ? text : name === 'post_title' ? ksesTitle(text) : ksesPost(text);
  if (filtered !== text) lose('html-filtered', name);
  const whole = wellFormed(filtered);
  const short = cut(whole, WIDTHS.get(name));
  if (short !== whole) lose('too-long', name);
  return short;
}

/** The meta as it can be stored; nothing where it can't. */
function cleanMeta([key, value]: PostItem['metas'][number], { trusted, lose }: Cleaning): [string, string][] {
  // They are about people of the other site.
  if (EDITOR_METAS.includes(key)) return [];
  const refused = metaFault(key, value);
  if (refused) {
    lose(refused, refused === 'meta-key-unusable' ? key : `${key}: ${value}`);
    return [];
  }
  const filtered = trusted ? value : filteredMeta(key, value);
  if (filtered !== value) lose('html-filtered', key);
  return [[wellFormed(key), wellFormed(filtered)]];
}

/** Why a meta can't be stored. */
function metaFault(key: string, value: string): string | undefined {
  if (key === '' || key.length > KEY_LETTERS) return 'meta-key-unusable';
  if (addressMetas.has(key) && !isHarmless(value)) return 'url-refused';
  return key === '_wp_attached_file' && /(^|[\\/])\.\.([\\/]|$)|\0/.test(value) ? 'path-refused' : undefined;
}

/** Metas of the calendar, which hold plain text. */
const PLAIN = /^_(?:Event|Venue|Organizer)/;

/**
 * A meta without scripts and the like, within serialized values too. In addresses the characters that would end an
 * attribute of HTML are encoded: the address stays the same.
 */
function filteredMeta(key: string, value: string): string {
  if (addressMetas.has(key)) return value.trim().replace(/[<>"'`\0-\x20]/g, percentEncoded);
  if (!value.includes('<')) return value;
  const filter = PLAIN.test(key) ? sanitizeTextField : ksesPost;
  const parsed = parseSerialized(value);
  if (typeof parsed !== 'object' || parsed === null) return filter(value);
  const clean = filteredWithin(parsed, filter);
  // Serializing again would change the form of floats and the order of keys.
  return isDeepStrictEqual(clean, parsed) ? value : toSerialized(clean);
}

const percentEncoded = (char: string): string => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;

function filteredWithin(value: unknown, filter: (text: string) => string): unknown {
  if (typeof value === 'string') return filter(value);
  if (Array.isArray(value)) return value.map((item) => filteredWithin(item, filter));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [filter(key), filteredWithin(item, filter)]));
}

/**
 * Browsers read a scheme whatever white space and control characters stand in it; what looks like a host with a port
 * has none.
 */
function isHarmless(address: string): boolean {
  const bare = address.replace(/[\0-\x20\x7f]/g, '');
  return !/^[a-z][a-z0-9+.-]*:/i.test(bare) || SCHEMES.test(bare) || /^[\w-]+(\.[\w-]+)+:\d{1,5}(\/|$)/.test(bare);
}

/**
 * The dates of a new post, from those that are given: the local one and UTC follow from each other, changes from the
 * publication.
 */
export function completeDates(
  columns: CleanColumns,
  zone: Zone,
  now: { local: string; utc: string },
): Required<Pick<PostColumns, (typeof DATES)[number]>> {
  const { post_date: local, post_date_gmt: utc, post_status: status = 'publish', post_modified, post_modified_gmt } = columns;
  const known = utc !== undefined && utc !== ZERO_DATE;
  const post_date = local ?? (known ? toLocal(utc, zone) : now.local);
  const post_date_gmt = utc ?? (isFloating(status) ? ZERO_DATE : local === undefined ? now.utc : inUtc(local, zone));
  return {
    post_date,
    post_date_gmt,
    post_modified: post_modified ?? (post_modified_gmt === undefined ? post_date : toLocal(post_modified_gmt, zone)),
    post_modified_gmt: post_modified_gmt ?? (post_modified === undefined ? post_date_gmt : inUtc(post_modified, zone)),
  };
}

const inUtc = (local: string, zone: Zone): string => (local === ZERO_DATE ? ZERO_DATE : toUtc(local, zone));

const isDate = (text: string): boolean => /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(text) && (text === ZERO_DATE || isRealDate(text));

/** Halves of characters can't be stored; the sign for what is unreadable takes their place. */
export const wellFormed = (text: string): string => text.replace(/\p{Cs}/gu, '\ufffd');

/** A text that fits into this many bytes. */
function cut(text: string, bytes: number | undefined): string {
  if (bytes === undefined || text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes) return text;
  return trimEndOf(Buffer.from(text).subarray(0, bytes).toString('utf8'), '\ufffd');
}
