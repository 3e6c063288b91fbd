import { isRecord } from '../../objects.ts';
/*
 * Comparison of the responses of two sites. Necessary differences do not count: home addresses and namespaces, the
 * wording of messages, the order of members, and values that depend on the time of the request.
 */
import { decodeEntities } from '../../wordpress/content/entities.ts';
import { unixFromText } from '../../wordpress/time.ts';
import { percentDecoded } from '../../wordpress/web-url.ts';
import type { JsonObject, Query } from '../live/site-client.ts';

/** A value in which the responses of two sites differ. `undefined` means that it is absent. */
export interface DifferingValue {
  /** `$.venue.city`, `$.events[2].title`; `status` for the status of the response. */
  readonly path: string;
  readonly old: unknown;
  readonly new: unknown;
}

/** Home and namespace of the two sites. */
export interface SitePair {
  readonly old: Home;
  readonly new: Home;
}

export interface Home {
  readonly home: string;
  readonly namespace: string;
}

/** State of one comparison. */
interface Context {
  readonly normalize: (text: string) => string;
  readonly query: Query;
  readonly differences: DifferingValue[];
}

/** Maximum number of differences that are reported for one response. */
const MAX_DIFFERENCES = 50;

/**
 * Returns the differences between two bodies. `query`: parameters of the request, which the URLs of a list may repeat.
 */
export function differencesOf(before: unknown, after: unknown, pair: SitePair, query: Query = {}): DifferingValue[] {
  const context: Context = { normalize: normalizer(pair), query, differences: [] };
  compare(before, after, '$', '', context);
  return context.differences;
}

/** Returns a function that replaces both home addresses and both namespaces by placeholders. */
function normalizer({ old: one, new: other }: SitePair): (text: string) => string {
  const homes = [...new Set([one.home, other.home])].sort((a, b) => b.length - a.length);
  const patterns = homes.flatMap((home) => {
    const withoutScheme = home.replace(/^https?:\/\//, '');
    const hostAndPath = URL.canParse(home) ? new URL(home).hostname + new URL(home).pathname.replace(/\/$/, '') : withoutScheme;
    return [
      `(?:https?:)?//${escapeRegExp(withoutScheme)}(?![\\w-]|:\\d|\\.\\w)`,
      `${escapeRegExp(hostAndPath)}(?=\\?id=)`,
      escapeRegExp(encodeURIComponent(home)),
    ];
  });
  const home = new RegExp(patterns.join('|'), 'gi');
  const namespaces = new RegExp(
    [...new Set([one.namespace, other.namespace])]
      .flatMap((name) => [escapeRegExp(name), escapeRegExp(encodeURIComponent(name))])
      .join('|'),
    'g',
  );
  return (text) => text.replace(home, '{home}').replace(namespaces, '{namespace}');
}

const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');

function compare(before: unknown, after: unknown, path: string, name: string, context: Context): void {
  if (context.differences.length >= MAX_DIFFERENCES) return;
  if (Array.isArray(before) && Array.isArray(after)) compareLists(before, after, path, name, context);
  else if (isRecord(before) && isRecord(after)) compareMembers(before, after, path, context);
  else {
    const isSame = typeof before === 'string' && typeof after === 'string' ? sameText(before, after, name, context) : before === after;
    if (!isSame) context.differences.push({ path, old: before, new: after });
  }
}

/** Compares lists: records are paired by their ids, other values by position. */
function compareLists(before: readonly unknown[], after: readonly unknown[], path: string, name: string, context: Context): void {
  const ids = [before, after].map((list) => list.map((item) => (isRecord(item) ? item.id : undefined)));
  const arePaired =
    ids.every((list) => list.every((id) => typeof id === 'number') && new Set(list).size === list.length) &&
    before.length + after.length > 0;
  if (!arePaired) {
    const length = Math.max(before.length, after.length);
    for (let index = 0; index < length; index += 1) compare(before[index], after[index], `${path}[${index}]`, name, context);
    return;
  }
  const afterById = new Map(after.map((item) => [(item as JsonObject).id, item]));
  for (const item of before) {
    const { id } = item as JsonObject;
    if (afterById.has(id)) compare(item, afterById.get(id), `${path}[${String(id)}]`, name, context);
    else context.differences.push({ path: `${path}[${String(id)}]`, old: item, new: undefined });
    afterById.delete(id);
  }
  for (const [id, item] of afterById) context.differences.push({ path: `${path}[${String(id)}]`, old: undefined, new: item });
  const [beforeOrder, afterOrder] = [ids[0]!.filter((id) => ids[1]!.includes(id)), ids[1]!.filter((id) => ids[0]!.includes(id))];
  if (beforeOrder.join() !== afterOrder.join()) context.differences.push({ path: `${path}.order`, old: beforeOrder, new: afterOrder });
}

const PARTS = ['year', 'month', 'day', 'hour', 'minutes', 'seconds'];

function compareMembers(before: JsonObject, after: JsonObject, path: string, context: Context): void {
  if (
    PARTS.every((part) => typeof before[part] === 'string' && typeof after[part] === 'string') &&
    areBothNow(timestampOf(before), timestampOf(after))
  )
    return;
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [one, other] = [before[name], after[name]];
    if ((isWording(name, path) && typeof one === typeof other) || (name === 'request_id' && (one === undefined || other === undefined)))
      continue;
    // In structured data, `false` means the same as an absent member.
    if (/\.json_ld$/.test(path) && (one ?? false) === false && (other ?? false) === false) continue;
    compare(one, other, `${path}.${name}`, name, context);
  }
}

/** Whether a member is a sentence for people, which only has to be present. */
const isWording = (name: string, path: string): boolean =>
  (name === 'message' && /^\$(\.data\.details\.\w+)?$/.test(path)) || path === '$.data.params';

const timestampOf = (parts: JsonObject): string =>
  `${parts.year}-${parts.month}-${parts.day} ${parts.hour}:${parts.minutes}:${parts.seconds}`;

/** Names of members that contain the URL of a list. */
const LIST_URLS = new Set(['rest_url', 'next_rest_url', 'previous_rest_url']);

function sameText(before: string, after: string, name: string, context: Context): boolean {
  if (before === after) return true;
  const [one, other] = [context.normalize(before), context.normalize(after)];
  if (one === other || areBothNow(one, other)) return true;
  // The reference encodes email addresses randomly.
  if (name === 'email') return decodeEntities(one) === decodeEntities(other);
  return LIST_URLS.has(name) && sameListUrl(one, other, context.query);
}

const MAX_LAG_S = 60;
const DAY_S = 86_400;

/** Whether both are moments of this run, seconds apart. The sites may show them in different zones. */
function areBothNow(before: string, after: string): boolean {
  if (!/^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d$/.test(before) || before.length !== after.length) return false;
  const [one, other] = [unixFromText(before), unixFromText(after)];
  return Math.abs(one - other) <= MAX_LAG_S && Math.abs(one - Date.now() / 1000) < DAY_S;
}

/** Whether two URLs of a list have the same path and the same parameters, however they are written. */
function sameListUrl(before: string, after: string, query: Query): boolean {
  const [one, other] = [listUrl(before), listUrl(after)];
  return (
    one.base === other.base &&
    one.pairs.size === other.pairs.size &&
    [...one.pairs].every(([name, value]) => sameParameter(name, value, other.pairs.get(name), query))
  );
}

/** Splits the URL of a list into its base and its decoded parameters; empty parameters are left out. */
export function listUrl(url: string): { base: string; pairs: Map<string, string> } {
  const queryIndex = url.indexOf('?');
  const [base, query] = queryIndex < 0 ? [url, ''] : [url.slice(0, queryIndex), url.slice(queryIndex + 1)];
  const pairs = new Map<string, string>();
  for (const [rawName, value] of new URLSearchParams(query)) {
    const name = rawName.replace(/\[\d*\]$/, '');
    if (value === '') continue;
    pairs.set(name, name !== rawName && pairs.has(name) ? `${pairs.get(name)},${value}` : value);
  }
  return { base: percentDecoded(base).replace(/\/$/, ''), pairs };
}

/**
 * Whether a parameter in the URL of a list means the same on both sites. `query`: the parameters that both were
 * requested with.
 */
export const sameParameter = (name: string, before: string, after: string | undefined, query: Query): boolean =>
  after !== undefined &&
  (normalizeMarkup(before) === normalizeMarkup(after) ||
    areBothNow(normalizeMarkup(before), normalizeMarkup(after)) ||
    (followsClock(name, query) && areSecondsApart(before, after)));

/**
 * Whether a bound of a list depends on the current time: the default is exactly two years from now, and relative times
 * (`+1 month`) are as precise. Other bounds are those of the request.
 */
const followsClock = (name: string, query: Query): boolean => !(name in query) || Number.isNaN(unixFromText(String(query[name])));

/** Whether both are moments, no further apart than two requests. */
const areSecondsApart = (before: string, after: string): boolean => Math.abs(unixFromText(before) - unixFromText(after)) <= MAX_LAG_S;

const normalizeMarkup = (value: string): string => {
  const text = value
    .split(',')
    .map((part) => part.trim())
    .join(',');
  if (/^(true|yes|on)$/i.test(text)) return '1';
  return /^(false|no|off)$/i.test(text) ? '0' : text;
};
