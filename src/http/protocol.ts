import { fail } from '../errors.ts';
import { LENGTHS } from '../kinds/grammars/grammar.ts';
import type { Timeliness } from '../kinds/timeliness.ts';
import { versionTag } from '../records/versions.ts';
import { restUrl } from '../wordpress/links.ts';
import { addDays, nowUtc } from '../wordpress/time.ts';
import { nowLocal, unixFromLocal } from '../wordpress/zones.ts';
import { type Answer, tagOf } from './deliver.ts';
import type { Raw } from './input.ts';
import { pickFields, pickLinkedFields } from './pick-fields.ts';
import type { LinkedReply } from './reply.ts';
import type { Incoming } from './request.ts';
import type { Reply } from './route.ts';
import { surrogateKeys } from './surrogates.ts';

/** How an answer is to be wrapped, by parameters of the query that every route has. */
export interface Wrapping {
  /** Name of the function that a script calls with the answer. */
  readonly jsonp?: string;
  /** Whether the answer is a script, an error about its function's name included. */
  readonly script: boolean;
  readonly envelope: boolean;
  readonly pretty: boolean;
  /** Dotted paths of the members to keep; empty: all. */
  readonly fields: readonly string[];
}

/** Names of these parameters. */
export const WRAPPING_NAMES = ['_jsonp', '_fields', '_envelope', '_pretty'];

/**
 * What the protocol needs to know of the request and its caller; unknown members: the request was refused before they
 * were.
 */
export interface Frame {
  readonly wrapping: Wrapping;
  /** The method after `overriddenMethod`. */
  readonly method: string;
  /** The method that was sent. */
  readonly sent: string;
  /** Time of the last change of the data, UTC, if it is known. */
  readonly changedAt?: string | undefined;
  readonly place?: Pick<Incoming, 'home' | 'settings' | 'now'>;
  /** Whether the answer is for one caller alone: for a known one, or for one who has the password of a record. */
  readonly personal: boolean;
  /** A fresh nonce for callers with a cookie. */
  readonly nonce?: string | undefined;
}

/** No wrapping at all, for answers to what is no sound request. */
export const PLAIN: Wrapping = { script: false, envelope: false, pretty: false, fields: [] };

/**
 * The wrapping that a query asks for. Function names are checked as `wp_check_jsonp_callback` does: letters, digits,
 * underscores and dots.
 *
 * @throws rest_callback_invalid
 */
export function readWrapping(query: Raw): Wrapping {
  if (Object.keys(query).length === 0) return PLAIN;
  const has = (name: string) => Object.hasOwn(query, name);
  const { _jsonp: jsonp, _fields: fields } = query;
  if (has('_jsonp') && (typeof jsonp !== 'string' || jsonp.length > LENGTHS.word || !/^[\w.]*$/.test(jsonp))) fail('rest_callback_invalid');
  return {
    ...(typeof jsonp === 'string' && jsonp !== '' ? { jsonp, script: true } : { script: false }),
    envelope: has('_envelope'),
    pretty: has('_pretty'),
    fields: fieldNames(fields),
  };
}

/** The dotted paths that `_fields` names, as a text or as a list of texts. */
export const fieldNames = (raw: unknown): string[] =>
  [raw]
    .flat()
    .flatMap((item) => (typeof item === 'string' ? item.split(/[\s,]+/) : []))
    .filter((path) => path !== '');

/**
 * What the answer depends on besides its address: callers, their language, the origin that is repeated in it, and
 * compression.
 */
export const VARY = 'Origin, Accept-Language, Authorization, Cookie, X-WP-Nonce, Accept-Encoding';
/** What says that nobody but the caller may keep an answer. */
export const NO_STORE = {
  'Cache-Control': 'no-cache, must-revalidate, max-age=0, no-store, private',
  Expires: 'Wed, 11 Jan 1984 05:00:00 GMT',
};
/**
 * Anyone may keep it, and asks whether it still holds before using it. Refusals say so too: caches take it upon
 * themselves to keep some of them (404, 410), and what is not there now may be there in a minute.
 */
export const REVALIDATE = { 'Cache-Control': 'public, no-cache' };

/** Whether a request brings the password of a record: what answers it is for its caller alone, be it right or wrong. */
export const bringsPassword = (...sources: readonly (Raw | undefined)[]): boolean =>
  sources.some((source) => source !== undefined && Object.hasOwn(source, 'password'));

/**
 * The whole answer of a reply, with all that the protocol adds to it; what depends on the origin is added when it goes
 * out.
 */
export function answerOf(reply: LinkedReply, { wrapping, method, sent, place, personal, nonce, changedAt }: Frame): Answer {
  const { jsonp, script, envelope, pretty } = wrapping;
  const { headers: { Link: link, ...own } = {}, status, version, timeliness = 'always' } = reply;
  const whole = withLinks(reply, wrapping.fields);
  const json = JSON.stringify(envelope ? { body: whole, status, headers: headersInEnvelope(reply.headers) } : whole, null, pretty ? 4 : 0);
  const body = Buffer.from(method === 'HEAD' && sent !== 'HEAD' ? '' : jsonp === undefined ? json : `/**/${jsonp}(${scriptSafe(json)})`);
  const answered = envelope ? 200 : status;
  const kept = answered === 200 && (sent === 'GET' || sent === 'HEAD');
  return {
    status: answered,
    headers: {
      'Content-Type': `application/${script ? 'javascript' : 'json'}; charset=UTF-8`,
      'X-Robots-Tag': 'noindex',
      'X-Content-Type-Options': 'nosniff',
      ...(place ? { Link: [`<${restUrl(place, '')}>; rel="https://api.w.org/"`, ...(link === undefined ? [] : [link])].join(', ') } : {}),
      Vary: VARY,
      ...(personal ? NO_STORE : kept || answered >= 400 ? REVALIDATE : {}),
      ...(kept ? { ETag: tagOf(body, version) } : version === undefined ? {} : { ETag: versionTag(version) }),
      ...(kept && place ? modifiedHeader(timeliness, changedAt, place.now) : {}),
      ...(kept && !personal ? surrogateKeys(reply.about, reply.body) : {}),
      ...(nonce === undefined ? {} : { 'X-WP-Nonce': nonce }),
      ...(envelope ? {} : own),
    },
    body,
    until: place ? expiryOf(timeliness, place) : 0,
    shared: !personal,
  };
}

/** Headers that count something: numbers in an envelope. */
const COUNTS: ReadonlySet<string> = new Set(['X-WP-Total', 'X-WP-TotalPages', 'X-TEC-Total', 'X-TEC-TotalPages']);

/** PHP writes an empty object as an empty list. */
function headersInEnvelope(headers: Reply['headers'] = {}): Record<string, string | number> | [] {
  const entries = Object.entries(headers).map(([name, value]) => [name, COUNTS.has(name) ? Number(value) : value] as const);
  return entries.length === 0 ? [] : Object.fromEntries(entries);
}

/** Until when an answer holds that was given to a request of this moment, in milliseconds since 1970. */
export function expiryOf(timeliness: Timeliness, { now, settings: { zone } }: Pick<Incoming, 'now' | 'settings'>): number {
  if (timeliness === 'never') return Number.POSITIVE_INFINITY;
  if (timeliness === 'always' || timeliness === 'minute') return endOfStep(now.getTime(), timeliness === 'minute' ? 60_000 : 1000);
  return unixFromLocal(`${addDays(nowLocal(now, zone), 1).slice(0, 10)} 00:00:00`, zone) * 1000;
}

const endOfStep = (time: number, step: number): number => (Math.floor(time / step) + 1) * step;

/**
 * `Last-Modified`, where nothing but a write changes the answer, and only once the last change is a while ago. A write
 * bears the time at which it began: a further one could still end that bears the same time or an earlier one, and
 * whoever asks by the date would never be told of it.
 */
export const modifiedHeader = (timeliness: Timeliness, changedAt: string | undefined, now: Date): Record<string, string> =>
  timeliness === 'never' && changedAt !== undefined && changedAt < nowUtc(new Date(now.getTime() - LONGEST_WRITE_MS))
    ? { 'Last-Modified': httpDate(changedAt) }
    : {};

/** No write takes as long from its beginning to its end; it waits for others for a few seconds at most. */
const LONGEST_WRITE_MS = 60_000;

/** A date as headers write it. `utc`: `YYYY-MM-DD HH:MM:SS`. */
const httpDate = (utc: string) => new Date(`${utc.replace(' ', 'T')}Z`).toUTCString();

/**
 * The body with only the members that `_fields` names; errors are never trimmed, nor, in most answers, links of the
 * answer itself.
 */
function withLinks({ status, body, links, linksAreFields, embeds, undivided = [] }: LinkedReply, fields: readonly string[]): unknown {
  const found = fields.filter((path) => !undivided.some((member) => path.startsWith(`${member}.`)));
  const picked = () => (embeds === undefined ? pickFields(body, found) : pickLinkedFields(body, found, embeds));
  const kept = fields.length === 0 || status >= 400 ? body : picked();
  const isCut = linksAreFields && fields.length > 0 && !fields.some((path) => path.split('.')[0] === '_links');
  if (!links || isCut) return kept;
  return { ...(Array.isArray(kept) ? {} : (kept as object)), _links: links };
}

/** Two characters end a line in old scripts, though not in JSON. */
const scriptSafe = (json: string): string => json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
