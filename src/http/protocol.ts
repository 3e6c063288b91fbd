import { fail } from '../errors.ts';
import { MAX_BYTES } from '../kinds/grammars/grammar.ts';
import type { Timeliness } from '../kinds/timeliness.ts';
import { versionTag } from '../records/versions.ts';
import { restUrl } from '../wordpress/links.ts';
import { addDays, dateFromUtc, utcFromDate } from '../wordpress/time.ts';
import { localFromDate, unixFromLocal } from '../wordpress/zones.ts';
import { type Answer, etagOf } from './deliver.ts';
import { type Body, mergeParams, type RawParams } from './input.ts';
import { pickFields, pickLinkedFields } from './pick-fields.ts';
import type { LinkedReply } from './reply.ts';
import type { IncomingRequest } from './request.ts';
import type { Reply } from './route.ts';
import { surrogateKeys } from './surrogates.ts';

/** Wrapping of an answer, from the parameters that every route takes: in the query, and `fields` also in the body. */
export interface Wrapping {
  /** Name of the function that a script calls with the answer (JSONP). */
  readonly jsonp?: string;
  /** Whether the answer is a script. This includes errors about the function's name. */
  readonly script: boolean;
  readonly envelope: boolean;
  readonly pretty: boolean;
  /** Dotted paths of the members to keep; empty: all. */
  readonly fields: readonly string[];
}

/** Names of these parameters. */
export const WRAPPING_NAMES = ['_jsonp', '_fields', '_envelope', '_pretty'];

/**
 * The data of the request and its caller that the protocol needs. Members are absent if the request was refused before
 * they were known.
 */
export interface AnswerContext {
  readonly wrapping: Wrapping;
  /** The method after `overriddenMethod`. */
  readonly method: string;
  /** The method that was sent. */
  readonly sentMethod: string;
  /** Time of the last change of the data in UTC, if known. */
  readonly changedAt?: string | undefined;
  readonly address?: Pick<IncomingRequest, 'home' | 'settings' | 'now'>;
  /** Whether the answer is only for this caller, who is signed in or has sent the password of a record. */
  readonly isPersonal: boolean;
  /** A fresh nonce for callers with a cookie. */
  readonly nonce?: string | undefined;
}

/** No wrapping, for answers to malformed requests. */
export const NO_WRAPPING: Wrapping = { script: false, envelope: false, pretty: false, fields: [] };

/**
 * Reads the wrapping that a query asks for. Function names are checked like in `wp_check_jsonp_callback`: letters,
 * digits, underscores and dots.
 *
 * @throws rest_callback_invalid
 */
export function readWrapping(query: RawParams): Wrapping {
  if (Object.keys(query).length === 0) return NO_WRAPPING;
  const hasParam = (name: string) => Object.hasOwn(query, name);
  const { _jsonp: jsonp, _fields: fields } = query;
  if (hasParam('_jsonp') && (typeof jsonp !== 'string' || jsonp.length > MAX_BYTES.word || !/^[\w.]*$/.test(jsonp)))
    fail('rest_callback_invalid');
  return {
    ...(typeof jsonp === 'string' && jsonp !== '' ? { jsonp, script: true } : { script: false }),
    envelope: hasParam('_envelope'),
    pretty: hasParam('_pretty'),
    fields: fieldNames(fields),
  };
}

/** Returns the dotted paths that a request names in any of its sources (`rest_filter_response_fields`). */
export const selectedFields = (method: string, query: RawParams, body: Body): string[] =>
  fieldNames(mergeParams({ query, body, path: {}, method })._fields);

/** Splits `_fields`, a text or a list of texts, into dotted paths. */
export const fieldNames = (raw: unknown): string[] =>
  [raw]
    .flat()
    .flatMap((item) => (typeof item === 'string' ? item.split(/[\s,]+/) : []))
    .filter((path) => path !== '');

/**
 * Request headers that answers depend on: credentials, language, the origin that is repeated in the answer, and
 * compression.
 */
export const VARY = 'Origin, Accept-Language, Authorization, Cookie, X-WP-Nonce, Accept-Encoding';
/** Headers that forbid everybody but the caller to keep an answer. */
export const NO_STORE = {
  'Cache-Control': 'no-cache, must-revalidate, max-age=0, no-store, private',
  Expires: 'Wed, 11 Jan 1984 05:00:00 GMT',
};
/**
 * Anyone may keep the answer but must revalidate it before use. Refusals have this header too, since caches keep some
 * of them by default (404, 410), and a record that is missing may exist a minute later.
 */
export const REVALIDATE = { 'Cache-Control': 'public, no-cache' };

/** Whether a request brings the password of a record. Right or wrong, its answer is then only for this caller. */
export const hasPassword = (...sources: readonly (RawParams | undefined)[]): boolean =>
  sources.some((source) => source !== undefined && Object.hasOwn(source, 'password'));

/**
 * Converts a reply to an answer with all headers and wrapping of the protocol. Headers that depend on the origin are
 * added when it is sent.
 */
export function toAnswer(
  reply: LinkedReply,
  { wrapping, method, sentMethod, address, isPersonal, nonce, changedAt }: AnswerContext,
): Answer {
  const { jsonp, script, envelope, pretty } = wrapping;
  const { headers: { Link: link, ...otherHeaders } = {}, status, version, timeliness = 'always' } = reply;
  const bodyWithLinks = withLinks(reply, wrapping.fields);
  const json = JSON.stringify(
    envelope ? { body: bodyWithLinks, status, headers: headersInEnvelope(reply.headers) } : bodyWithLinks,
    null,
    pretty ? 4 : 0,
  );
  const body = Buffer.from(
    method === 'HEAD' && sentMethod !== 'HEAD' ? '' : jsonp === undefined ? json : `/**/${jsonp}(${scriptSafe(json)})`,
  );
  const sentStatus = envelope ? 200 : status;
  const isCacheable = sentStatus === 200 && (sentMethod === 'GET' || sentMethod === 'HEAD');
  return {
    status: sentStatus,
    headers: {
      'Content-Type': `application/${script ? 'javascript' : 'json'}; charset=UTF-8`,
      'X-Robots-Tag': 'noindex',
      'X-Content-Type-Options': 'nosniff',
      ...(address
        ? { Link: [`<${restUrl(address, '')}>; rel="https://api.w.org/"`, ...(link === undefined ? [] : [link])].join(', ') }
        : {}),
      Vary: VARY,
      ...(isPersonal ? NO_STORE : isCacheable || sentStatus >= 400 ? REVALIDATE : {}),
      ...(isCacheable ? { ETag: etagOf(body, version) } : version === undefined ? {} : { ETag: versionTag(version) }),
      ...(isCacheable && address ? modifiedHeader(timeliness, changedAt, address.now) : {}),
      ...(isCacheable && !isPersonal ? surrogateKeys(reply.kind, reply.body) : {}),
      ...(nonce === undefined ? {} : { 'X-WP-Nonce': nonce }),
      ...(envelope ? {} : otherHeaders),
    },
    body,
    expiresAt: address ? expiryOf(timeliness, address) : 0,
    isShareable: !isPersonal,
  };
}

/** Headers whose values are numbers in an envelope. */
const COUNT_HEADERS: ReadonlySet<string> = new Set(['X-WP-Total', 'X-WP-TotalPages', 'X-TEC-Total', 'X-TEC-TotalPages']);

/** Returns the headers for an envelope. Without headers the result is an empty list, as PHP writes an empty object. */
function headersInEnvelope(headers: Reply['headers'] = {}): Record<string, string | number> | [] {
  const entries = Object.entries(headers).map(([name, value]) => [name, COUNT_HEADERS.has(name) ? Number(value) : value] as const);
  return entries.length === 0 ? [] : Object.fromEntries(entries);
}

/** Returns the expiry of an answer to a request made at `now`, in milliseconds since 1970. */
export function expiryOf(timeliness: Timeliness, { now, settings: { zone } }: Pick<IncomingRequest, 'now' | 'settings'>): number {
  if (timeliness === 'never') return Number.POSITIVE_INFINITY;
  if (timeliness === 'always' || timeliness === 'minute') return nextMultiple(now.getTime(), timeliness === 'minute' ? 60_000 : 1000);
  return unixFromLocal(`${addDays(localFromDate(now, zone), 1).slice(0, 10)} 00:00:00`, zone) * 1000;
}

const nextMultiple = (time: number, step: number): number => (Math.floor(time / step) + 1) * step;

/**
 * Returns `Last-Modified` if only writes change the answer, and only if the last change is some time ago. A write
 * carries the time at which it began. Another write with the same or an earlier time could still be running, and
 * clients that revalidate by date would never notice it.
 */
export const modifiedHeader = (timeliness: Timeliness, changedAt: string | undefined, now: Date): Record<string, string> =>
  timeliness === 'never' && changedAt !== undefined && changedAt < utcFromDate(new Date(now.getTime() - MAX_WRITE_MS))
    ? { 'Last-Modified': httpDate(changedAt) }
    : {};

/** Longer than any write takes from beginning to end; a write waits a few seconds at most for others. */
const MAX_WRITE_MS = 60_000;

/** Formats a date for headers. `utc`: `YYYY-MM-DD HH:MM:SS`. */
const httpDate = (utc: string) => dateFromUtc(utc).toUTCString();

/**
 * Returns the body with only the members that `_fields` names. Errors are never reduced, and in most answers neither
 * are the answer's own links.
 */
function withLinks(
  { status, body, links, linksAreFields, embeds, indivisibleMembers = [] }: LinkedReply,
  fields: readonly string[],
): unknown {
  const paths = fields.filter((path) => !indivisibleMembers.some((member) => path.startsWith(`${member}.`)));
  const pick = () => (embeds === undefined ? pickFields(body, paths) : pickLinkedFields(body, paths, embeds));
  const content = fields.length === 0 || status >= 400 ? body : pick();
  const isCut = linksAreFields && fields.length > 0 && !fields.some((path) => path.split('.')[0] === '_links');
  if (!links || isCut) return content;
  return { ...(Array.isArray(content) ? {} : (content as object)), _links: links };
}

/** Escapes two characters that end a line in old JavaScript but not in JSON. */
const scriptSafe = (json: string): string => json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
