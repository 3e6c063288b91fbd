import { isDeepStrictEqual } from 'node:util';
import type { CustomField } from '../../calendar/custom-fields.ts';
import { wrongCoordinates } from '../../kinds/coordinates.ts';
import { EXTERNAL_ID, storedExternalId } from '../../kinds/external-id.ts';
import { addressMetas } from '../../kinds/index.ts';
import { isObject } from '../../objects.ts';
import type { HtmlTrust } from '../../records/clean-text.ts';
import { PUBLISHED_WITH } from '../../records/writes/linked-drafts.ts';
import { typedEntries } from '../../typed-keys.ts';
import { ksesPost, ksesTitle } from '../../wordpress/content/kses.ts';
import { sanitizeTextField, stripControlCharacters } from '../../wordpress/content/plain-text.ts';
import {
  asStored,
  looksSerialized,
  parseSerialized,
  type StoredValue,
  storedText,
  textOfStored,
  toSerialized,
} from '../../wordpress/php/serialized.ts';
import { EDITOR_METAS } from '../../wordpress/rows.ts';
import { isFloating, REGISTERED_STATUSES } from '../../wordpress/status.ts';
import { tableOf } from '../../wordpress/table.ts';
import { isRealDate, ZERO_DATE } from '../../wordpress/time.ts';
import { trimEndOf } from '../../wordpress/trim.ts';
import { withoutBadProtocol } from '../../wordpress/web-url.ts';
import { toLocal, toUtc, type Zone } from '../../wordpress/zones.ts';
import { type MetaPair, type PostColumns, type PostItem, textMetas } from './items.ts';

/** A post with values that its rows can hold, and what had to be removed (`exchange:losses`). */
export interface CleanPost {
  readonly columns: CleanColumns;
  readonly metas: readonly MetaPair[];
  readonly losses: readonly { readonly reason: string; readonly detail: string }[];
}

export type CleanColumns = PostColumns;

/** Widths of columns of `posts` in bytes and letters; MySQL would truncate longer values silently. */
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

/** Allowed URL schemes: those that the API accepts (decision D38). */
const SCHEMES = /^(?:https?|ftp|mailto|tel):/i;

/**
 * Makes columns and metas fit for the tables, whatever their source: removes control characters, truncates long values,
 * and drops invalid dates, unknown statuses and URLs with unsafe schemes. Coordinates that do not exist are kept and
 * reported. `fields`: the custom fields of the site.
 */
export function cleanPost(item: PostItem, { isTrusted }: HtmlTrust, fields: readonly CustomField[] = []): CleanPost {
  const losses: { reason: string; detail: string }[] = [];
  const urlMetas = new Set(fields.flatMap(({ meta, type }) => (type === 'url' ? [meta] : [])));
  const options: CleaningOptions = { isTrusted, urlMetas, reportLoss: (reason, detail) => losses.push({ reason, detail }) };
  const columns = cleanColumns(item.columns, options);
  const metas = item.metas.flatMap((meta) => cleanMeta(meta, options));
  if (item.kind === 'venue')
    for (const [key, value] of wrongCoordinates(metas)) options.reportLoss('coordinates-wrong', `${key}: ${value}`);
  return { columns, metas, losses };
}

/** Makes the metas of a category or tag fit for their rows. */
export const cleanTermMetas = (metas: PostItem['metas'], cleaning: CleaningOptions): MetaPair[] =>
  metas.flatMap((meta) => cleanMeta(meta, cleaning));

/**
 * Options for cleaning a record: whether its HTML is trusted, metas with URLs beside those of the calendar, and the
 * callback for losses.
 */
interface CleaningOptions extends HtmlTrust {
  readonly urlMetas?: ReadonlySet<string>;
  readonly reportLoss: (reason: string, detail: string) => void;
}

function cleanColumns(source: PostColumns, cleaning: CleaningOptions): CleanColumns {
  const columns: Record<string, string | number> = {};
  for (const [name, value] of typedEntries(source)) {
    if (typeof value === 'number') columns[name] = Number.isSafeInteger(value) ? value : 0;
    else if (value !== undefined) columns[name] = cleanText(name, value, cleaning);
  }
  for (const name of DATES) {
    const value = columns[name];
    if (typeof value !== 'string' || isDate(value)) continue;
    if (value !== '') cleaning.reportLoss('date-unreadable', `${name}: ${value}`);
    delete columns[name];
  }
  const status = columns.post_status;
  if (typeof status === 'string' && !REGISTERED_STATUSES.includes(status)) {
    cleaning.reportLoss('status-unknown', status);
    columns.post_status = 'draft';
  }
  // Each value has the type of its column.
  return columns as CleanColumns;
}

function cleanText(name: keyof PostColumns, value: string, { isTrusted, reportLoss }: CleaningOptions): string {
  const text = TEXTS.some((column) => column === name) ? stripControlCharacters(value) : value.replaceAll('\0', '');
  if (text !== value) reportLoss('control-characters', name);
  const filter = (!isTrusted && FILTERS.get(name)) || ((same: string) => same);
  const filtered = filter(text);
  if (filtered !== text) reportLoss('html-filtered', name);
  const validText = replaceLoneSurrogates(filtered);
  const shortText = shortened(validText, WIDTHS.get(name), filter);
  if (shortText !== validText) reportLoss('too-long', name);
  return shortText;
}

/**
 * Returns a text that is too long without its end, filtered again: the cut may have left a tag open. The result is not
 * longer than `bytes`.
 */
function shortened(text: string, bytes: number | undefined, filter: (text: string) => string): string {
  if (bytes === undefined) return text;
  let short = truncate(text, bytes);
  if (short === text) return text;
  for (let most = bytes; ; short = truncate(text, most)) {
    const filtered = filter(short);
    const excess = Buffer.byteLength(filtered) - bytes;
    if (excess <= 0) return filtered;
    most -= excess;
  }
}

/**
 * Returns a GUID that may be shown in HTML (the filters of `pre_post_guid`): signs that could end an attribute are
 * percent-encoded, and a URL with an unsafe scheme is removed.
 */
export function filteredGuid(guid: string): string {
  const encoded = encodeSigns(guid);
  return withoutBadProtocol(encoded).toLowerCase() === encoded.toLowerCase() ? encoded : '';
}

/** Filters of the columns with HTML and addresses, for files that are not trusted. */
const FILTERS: ReadonlyMap<string, (text: string) => string> = tableOf({
  post_title: ksesTitle,
  post_content: ksesPost,
  post_excerpt: ksesPost,
  post_content_filtered: ksesPost,
  guid: filteredGuid,
});

/** Returns the meta as it can be stored, or an empty list if it cannot. */
function cleanMeta([key, value]: PostItem['metas'][number], { isTrusted, urlMetas, reportLoss }: CleaningOptions): MetaPair[] {
  // These metas refer to users and drafts of the other site. Drafts that are to be published come as links.
  if (EDITOR_METAS.includes(key) || key === PUBLISHED_WITH) return [];
  const text = textOfStored(value);
  if (key === EXTERNAL_ID) return textMetas([[key, storedExternalId(text)]]).filter(([, externalId]) => externalId !== '');
  const isAddress = addressMetas.has(key) || urlMetas?.has(key) === true;
  const refused = isAddress && !isSafeAddress(text) ? 'url-refused' : metaFault(key, text);
  if (refused) {
    reportLoss(refused, refused === 'meta-key-unusable' ? key : `${key}: ${value}`);
    return [];
  }
  const filtered = isTrusted ? value : filteredMeta(key, value, isAddress);
  if (filtered === undefined) reportLoss('value-refused', `${key}: ${value}`);
  else if (filtered !== value) reportLoss('html-filtered', key);
  return filtered === undefined ? [] : [[replaceLoneSurrogates(key), asStored(replaceLoneSurrogates(filtered))]];
}

/** Returns the reason why a meta cannot be stored, if there is one. */
function metaFault(key: string, value: string): string | undefined {
  if (key === '' || key.length > KEY_LETTERS) return 'meta-key-unusable';
  return key === '_wp_attached_file' && /(^|[\\/])\.\.([\\/]|$)|\0/.test(value) ? 'path-refused' : undefined;
}

/** Metas of the calendar, which hold plain text. */
const PLAIN_TEXT_META = /^_(?:Event|Venue|Organizer)/;

/**
 * Removes scripts and the like from a meta, including those within serialized values. Returns undefined for a value
 * that only PHP could read, since it contains an object or a reference: WordPress would create the object.
 */
function filteredMeta(key: string, stored: StoredValue, isAddress = addressMetas.has(key)): StoredValue | undefined {
  if (!looksSerialized(stored)) return filteredText(key, stored, isAddress);
  const value = parseSerialized(stored);
  if (value === stored) return undefined;
  if (typeof value === 'string') {
    const filtered = filteredText(key, value, isAddress);
    return textOfStored(filtered) === value ? stored : filtered;
  }
  if (!stored.includes('<')) return stored;
  const clean = filteredWithin(value, htmlFilterOf(key));
  // Serializing an unchanged value would alter the format of floats and the order of keys.
  return isDeepStrictEqual(clean, value) ? stored : toSerialized(clean);
}

const filteredText = (key: string, text: string, isAddress: boolean): StoredValue =>
  storedText(isAddress ? filteredAddress(text) : text.includes('<') ? htmlFilterOf(key)(text) : text);

const htmlFilterOf = (key: string) => (PLAIN_TEXT_META.test(key) ? sanitizeTextField : ksesPost);

/**
 * Returns the metas of a record whose texts come from a third party, in calendars for example: they are filtered,
 * whoever imports.
 */
export const filteredMetas = (metas: PostItem['metas']): MetaPair[] =>
  metas.flatMap(([key, stored]): MetaPair[] => {
    const value = filteredMeta(key, stored);
    return value === undefined ? [] : [[key, value]];
  });

const filteredAddress = (address: string): string => encodeSigns(address.trim());

/** Percent-encodes the signs that could end an attribute, which does not change what a URL means. */
const encodeSigns = (address: string): string => address.replace(/[<>"'`\0-\x20]/g, percentEncoded);

const percentEncoded = (char: string): string => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;

function filteredWithin(value: unknown, filter: (text: string) => string): unknown {
  if (typeof value === 'string') return filter(value);
  if (Array.isArray(value)) return value.map((item) => filteredWithin(item, filter));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [filter(key), filteredWithin(item, filter)]));
}

/**
 * Whether an address has a safe scheme or none. Browsers ignore white space and control characters in schemes; a host
 * with a port is not a scheme. Where the address is shown in HTML, an entity may be a part of a scheme or its colon.
 */
function isSafeAddress(address: string): boolean {
  const bare = address.replace(/[\0-\x20\x7f]/g, '');
  if (SCHEMES.test(bare) || /^[\w-]+(\.[\w-]+)+:\d{1,5}(\/|$)/.test(bare)) return true;
  return !/^(?:[a-z][a-z0-9+.-]*:|[^/?#]*&)/i.test(bare);
}

/**
 * Completes the dates of a new post: local time and UTC are computed from each other, and modification dates default to
 * the publication dates.
 */
export function completeDates(
  columns: CleanColumns,
  zone: Zone,
  now: { local: string; utc: string },
): Required<Pick<PostColumns, (typeof DATES)[number]>> {
  const { post_date: local, post_date_gmt: utc, post_status: status = 'publish', post_modified, post_modified_gmt } = columns;
  const hasUtc = utc !== undefined && utc !== ZERO_DATE;
  const post_date = local ?? (hasUtc ? toLocal(utc, zone) : now.local);
  const post_date_gmt = utc ?? (isFloating(status) ? ZERO_DATE : local === undefined ? now.utc : toUtcOrZero(local, zone));
  return {
    post_date,
    post_date_gmt,
    post_modified: post_modified ?? (post_modified_gmt === undefined ? post_date : toLocal(post_modified_gmt, zone)),
    post_modified_gmt: post_modified_gmt ?? (post_modified === undefined ? post_date_gmt : toUtcOrZero(post_modified, zone)),
  };
}

const toUtcOrZero = (local: string, zone: Zone): string => (local === ZERO_DATE ? ZERO_DATE : toUtc(local, zone));

const isDate = (text: string): boolean => /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(text) && (text === ZERO_DATE || isRealDate(text));

/** Replaces lone surrogates, which cannot be stored, by U+FFFD. */
export const replaceLoneSurrogates = (text: string): string => text.replace(/\p{Cs}/gu, '\ufffd');

/** Truncates a text to a number of bytes. */
function truncate(text: string, bytes: number | undefined): string {
  if (bytes === undefined || text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes) return text;
  return trimEndOf(Buffer.from(text).subarray(0, bytes).toString('utf8'), '\ufffd');
}
