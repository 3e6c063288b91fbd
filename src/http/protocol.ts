import { createHash } from 'node:crypto';
import type { Response } from 'express';
import { fail } from '../errors.ts';
import { type RestPlace, restUrl } from '../wordpress/links.ts';
import { corsHeaders } from './cors.ts';
import type { Raw } from './input.ts';
import type { LinkedReply } from './reply.ts';

/** How an answer is to be wrapped, by parameters of the query that every route has (contract 1.5). */
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

/** What the protocol needs to know of the request and its caller; unknown members: the request was refused before they were. */
export interface Frame {
  readonly wrapping: Wrapping;
  /** The method after `overriddenMethod`. */
  readonly method: string;
  readonly origin: string | undefined;
  readonly place?: RestPlace;
  /** Whether the answer is for one caller alone. */
  readonly personal: boolean;
  /** A fresh nonce for callers with a cookie. */
  readonly nonce?: string | undefined;
}

/** No wrapping at all, for answers to what is no sound request. */
export const PLAIN: Wrapping = { script: false, envelope: false, pretty: false, fields: [] };

/**
 * The wrapping that a query asks for. Function names are checked as `wp_check_jsonp_callback` does: letters, digits, underscores and dots.
 *
 * @throws rest_callback_invalid
 */
export function readWrapping(query: Raw): Wrapping {
  const has = (name: string) => Object.hasOwn(query, name);
  const { _jsonp: jsonp, _fields: fields } = query;
  if (has('_jsonp') && (typeof jsonp !== 'string' || !/^[\w.]*$/.test(jsonp))) fail('rest_callback_invalid');
  const list = Array.isArray(fields) ? fields : [fields];
  return {
    ...(typeof jsonp === 'string' && jsonp !== '' ? { jsonp, script: true } : { script: false }),
    envelope: has('_envelope'),
    pretty: has('_pretty'),
    fields: list.flatMap((item) => (typeof item === 'string' ? item.split(/[\s,]+/) : [])).filter((path) => path !== ''),
  };
}

/** The method that is meant: `_method` in the query, else the header, both on POST only (decision D40). */
export function overriddenMethod(method: string, query: Raw, header: string | undefined): string {
  if (method !== 'POST') return method;
  return (typeof query._method === 'string' ? query._method : (header ?? method)).toUpperCase();
}

/** What the answer depends on besides its address: callers, their language, and the origin that is repeated in it. */
const VARY = 'Origin, Accept-Language, Authorization, Cookie, X-WP-Nonce';
const NOT_KEPT = { 'Cache-Control': 'no-cache, must-revalidate, max-age=0, no-store, private', Expires: 'Wed, 11 Jan 1984 05:00:00 GMT' };

/** Sends a reply with all that the protocol adds to it (contract 1.4 and 1.5). */
export function send(res: Response, reply: LinkedReply, { wrapping, method, origin, place, personal, nonce }: Frame): void {
  const { jsonp, script, envelope, pretty } = wrapping;
  const { headers: own = {}, status } = reply;
  const whole = withLinks(reply, wrapping.fields);
  const body = envelope ? { body: whole, status, headers: own } : whole;
  const json = JSON.stringify(body, null, pretty ? 4 : 0);

  res.status(envelope ? 200 : status);
  res.set({
    'Content-Type': `application/${script ? 'javascript' : 'json'}; charset=UTF-8`,
    'X-Robots-Tag': 'noindex',
    'X-Content-Type-Options': 'nosniff',
    ...(place ? { Link: `<${restUrl(place, '')}>; rel="https://api.w.org/"` } : {}),
    Vary: VARY,
    ...corsHeaders(origin),
    ...(personal ? NOT_KEPT : {}),
    ...(nonce === undefined ? {} : { 'X-WP-Nonce': nonce }),
    ...(envelope ? {} : own),
  });
  if (method === 'HEAD' && res.req.method !== 'HEAD') {
    res.end();
    return;
  }
  const text = jsonp === undefined ? json : `/**/${jsonp}(${scriptSafe(json)})`;
  if (['GET', 'HEAD'].includes(res.req.method) && res.statusCode === 200)
    res.set('ETag', `W/"${createHash('sha1').update(text).digest('base64url')}"`);
  res.send(text);
}

/** The body with only the members that `_fields` names; links of the answer itself stay, and errors are never trimmed. */
function withLinks({ status, body, links }: LinkedReply, fields: readonly string[]): unknown {
  const kept = fields.length === 0 || status >= 400 ? body : pickFields(body, fields);
  if (!links) return kept;
  return { ...(Array.isArray(kept) ? {} : (kept as object)), _links: links };
}

type Wanted = ReadonlyMap<string, true | Wanted>;

/** No record is as deep as this. */
const DEEPEST = 20;

/**
 * Trims an answer to dotted paths (WordPress `rest_filter_response_fields`). A path that goes on inside a list finds nothing there, since a list's members
 * have numbers, not names; what is empty is an empty list, as PHP writes it.
 */
export function pickFields(body: unknown, fields: readonly string[]): unknown {
  const wanted = wantedOf(fields.map((field) => field.split('.', DEEPEST)));
  return Array.isArray(body) ? body.map((item) => pick(item, wanted)) : pick(body, wanted);
}

/** Paths by their first part; true where one of them ends there. */
function wantedOf(paths: readonly (readonly string[])[]): Wanted {
  const groups = new Map<string, string[][]>();
  for (const [first = '', ...rest] of paths) {
    const group = groups.get(first);
    if (group) group.push(rest);
    else groups.set(first, [rest]);
  }
  return new Map([...groups].map(([name, rests]) => [name, rests.some((rest) => rest.length === 0) ? true : wantedOf(rests)] as const));
}

function pick(value: unknown, wanted: Wanted): unknown {
  if (value === null || typeof value !== 'object') return value;
  const members = Array.isArray(value) ? [] : Object.entries(value);
  const kept = members.flatMap(([name, member]) => {
    const below = wanted.get(name);
    return below === undefined ? [] : [[name, below === true ? member : pick(member, below)] as const];
  });
  return kept.length === 0 ? [] : Object.fromEntries(kept);
}

/** Two characters end a line in old scripts, though not in JSON. */
const scriptSafe = (json: string): string => json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
