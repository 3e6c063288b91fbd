import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { checkRecordPassword } from '../../accounts/record-passwords.ts';
import type { SiteSettings } from '../../calendar/settings.ts';
import { ApiError } from '../../errors.ts';
import { feedFilters } from '../../kinds/feed-list.ts';
import { ICAL_PARAM_NAMES, PAGE_PARAM_NAMES } from '../../kinds/feed-pages.ts';
import { postKind } from '../../kinds/index.ts';
import { SHOW_FILTERS } from '../../pages/filters.ts';
import { languageSegments, type Site } from '../../site.ts';
import { tagPath } from '../../wordpress/links.ts';
import { percentDecoded } from '../../wordpress/web-url.ts';
import { basePath, splitTarget } from '../addressing.ts';
import { type AnswerCache, cacheKeyOf, languageKeyOf } from '../answer-cache.ts';
import { canonicalQuery } from '../canonical-query.ts';
import { hasHosts } from '../content-language.ts';
import { type Answer, deliver, etagOf } from '../deliver.ts';
import { parseQuery, type RawParams } from '../input.ts';
import { LANGUAGE_NAMES } from '../language.ts';
import { readTinyBody } from '../limits.ts';
import type { Pages } from '../pages.ts';
import { toProblemReply } from '../problem.ts';
import { expiryOf, hasPassword, modifiedHeader, NO_STORE, NO_WRAPPING, REVALIDATE, toAnswer } from '../protocol.ts';
import { notesOf } from '../request-notes.ts';
import { surrogateKeys } from '../surrogates.ts';
import { visitorOf } from '../visitor.ts';
import { type FeedAddress, feedAddress } from './address.ts';
import { discoveryHeaders, pageHeaders } from './discovery.ts';
import { buildFeed, effectiveNumbers, type Feed, takesPageSize } from './feed.ts';
import type { FeedRequest } from './feed-request.ts';
import { findNewAddress, redirectOf } from './redirect.ts';

/**
 * Serves the feeds of the calendar's pages and passes on all other requests. Feeds are public: for every caller they
 * hold what an anonymous caller may read. If the pages themselves are not served, they are refused with headers that
 * lead to the API and to the feeds.
 */
export function serveFeeds(site: Site, answers: AnswerCache | undefined, pages: Pages): RequestHandler {
  const language = languageKeyOf(site.texts);
  return async (req, res, next) => {
    if (req.method === 'POST') return openByPassword(site, pages, req, res, next);
    if (req.method !== 'GET' && req.method !== 'HEAD') return next();
    const personal = hasPassword(parseQuery(splitTarget(req.originalUrl).query));
    const url = personal ? undefined : cacheKeyOf(req, language);
    const from = url === undefined ? site : site.forAnonymousReads();
    const wanted = await readWanted(from, req);
    if (!wanted) return next();
    notesOf(req).route = `feeds/${wanted.address.format ?? 'page'}`;
    if (!answers || url === undefined)
      return deliver(req, res, (await pages.preview(wanted, req)) ?? (await computeAnswer(wanted, req, pages)));
    const { settings } = wanted.caller;
    const byHost = hasHosts(settings.contentLanguages);
    const place = byHost ? wanted.caller.home + wanted.page : wanted.page;
    const { text, isComplete } = canonicalQuery(place, wanted.query, paramsOf(settings, wanted.address), effectiveNumbers(wanted));
    // Reads the request again now that the version is known: the answer may be based on settings newer than the
    // version, but never on older ones.
    const compute = async (read: Site) => computeAnswer((await readWanted(read, req)) ?? { ...wanted, site: read }, req, pages);
    const kept = { key: cacheKeyOf(req, language, text) ?? url, alias: isComplete && !byHost ? url : undefined };
    return deliver(req, res, await answers.getOrCompute(req, { ...kept, from, compute }));
  };
}

/**
 * Opens a protected event with the password that was entered on its page. The answer is only for this visitor and is
 * not cached. A feed is the same for all methods that programs use to request it.
 */
async function openByPassword(site: Site, pages: Pages, req: Request, res: Response, next: NextFunction): Promise<void> {
  const wanted = await readWanted(site, req);
  if (wanted?.address.format !== undefined) return deliver(req, res, await computeAnswer(wanted, req, pages));
  const isForm = req.is('application/x-www-form-urlencoded') !== false;
  if (wanted?.address.page.of !== 'event' || !isForm || !pages.areEnabled(wanted.caller.settings)) return next();
  const { post_password: entered } = parseQuery((await readTinyBody(req)).toString());
  const password = typeof entered === 'string' ? entered : '';
  try {
    await checkRecordPassword(site, password, req.ip ?? '');
  } catch (error) {
    return deliver(req, res, pages.problem(site, wanted.caller.settings, req, error));
  }
  await deliver(req, res, await pages.answer(wanted, req, password));
}

/** Reads the address of a request; undefined if it is no page of the calendar. */
async function readWanted(site: Site, req: Request): Promise<FeedRequest | undefined> {
  const { path, query: text } = splitTarget(req.originalUrl);
  const query = parseQuery(text);
  const settings = await site.settings();
  const base = basePath(settings.home);
  const address = feedAddress(path, query, placeOf(site, settings));
  if (!address) return undefined;
  const caller = visitorOf(site, settings, req, { segment: address.language, query });
  // If languages have hosts, the caller's home is that of the host.
  const home = hasHosts(settings.contentLanguages) && address.language === undefined ? caller.home : settings.home;
  const page = home + (path.startsWith(`${base}/`) ? path.slice(base.length) : path);
  const wanted = { site, caller, address, query, queryText: text, page };
  const taken = relevantQuery(text, paramsOf(settings, address), effectiveNumbers(wanted));
  return { ...wanted, self: [page, taken].filter((part) => part !== '').join('?') };
}

/**
 * Returns the parts of the site's addresses. Non-ASCII slugs are stored percent-encoded; paths are compared in decoded
 * form.
 */
const placeOf = (site: Site, settings: SiteSettings) => ({
  base: basePath(settings.home),
  languages: languageSegments(site, settings),
  slugs: {
    events: settings.calendar.eventsSlug.split('/').map(percentDecoded),
    event: settings.calendar.singleEventSlug.split('/').map(percentDecoded),
    tag: tagPath(settings.permalinkStructure, settings.tagBase).map(percentDecoded),
  },
});

/** Query parameters that a feed or a page depends on. */
const PARAMS: ReadonlySet<string> = new Set([...PAGE_PARAM_NAMES, ...Object.keys(feedFilters), SHOW_FILTERS[0], 'translation_language']);

/**
 * Returns the parameters of one page. If the content has languages, all names of the language parameter are included;
 * `per_page` only if the page takes it.
 */
const paramsOf = ({ contentLanguages }: SiteSettings, address: FeedAddress): ReadonlySet<string> =>
  new Set([...PARAMS, ...(contentLanguages ? LANGUAGE_NAMES : [])].filter((name) => name !== 'per_page' || takesPageSize(address)));

/** Returns the part of a query that a feed depends on, sorted by name. `equivalents`: values with the same effect. */
function relevantQuery(query: string, names: ReadonlySet<string>, equivalents: RawParams): string {
  const named = query.split('&').map((pair) => [Object.keys(parseQuery(pair))[0] ?? '', pair] as const);
  const taken = named.filter(([name]) => names.has(name)).sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
  return taken.map(([name, pair]) => (name in equivalents ? `${name}=${String(equivalents[name])}` : pair)).join('&');
}

// ------------------------------------------------------------------------------------------------- answers
async function computeAnswer(wanted: FeedRequest, req: Request, pages: Pages): Promise<Answer> {
  const { site, caller, query, address } = wanted;
  const changedAt = site.changedAt();
  try {
    const isPage = address.format === undefined;
    if (isPage && !pages.areEnabled(caller.settings)) return await notServedAnswer(wanted, req);
    const location = await redirectOf(wanted);
    if (location !== undefined) return redirectTo(location);
    if (isPage) return await redirectIfMoved(wanted, await pages.answer(wanted, req));
    await checkRecordPassword(site, query.password, req.ip ?? '');
    return answerWith(await buildFeed(wanted), wanted, changedAt);
  } catch (error) {
    const reply = toProblemReply(site, req, caller.language, error);
    return redirectIfMoved(
      wanted,
      toAnswer(reply, { wrapping: NO_WRAPPING, method: req.method, sentMethod: req.method, personal: hasPassword(query) }),
    );
  }
}

/** Redirects to the current address if the page was not found. */
async function redirectIfMoved(wanted: FeedRequest, answer: Answer): Promise<Answer> {
  const location = answer.status === 404 ? await findNewAddress(wanted) : undefined;
  return location === undefined ? answer : redirectTo(location);
}

/** Returns the error of a page that is not served, with headers that lead to the API and to the feeds. */
async function notServedAnswer(wanted: FeedRequest, req: Request): Promise<Answer> {
  const reply = toProblemReply(wanted.site, req, wanted.caller.language, new ApiError('rest_no_route'));
  const answer = toAnswer(reply, { wrapping: NO_WRAPPING, method: req.method, sentMethod: req.method, personal: false });
  return { ...answer, headers: { ...answer.headers, ...(await pageHeaders(wanted)) } };
}

const redirectTo = (location: string): Answer => ({
  status: 301,
  headers: { Location: location, 'Cache-Control': 'no-cache' },
  body: Buffer.alloc(0),
  expiresAt: 0,
  shared: false,
});

/** Returns the answer with a feed. Anyone may cache it, unless it was opened with a password. */
function answerWith(
  { type, body: text, timeliness, records, subject, file }: Feed,
  wanted: FeedRequest,
  changedAt: string | undefined,
): Answer {
  const { caller, query } = wanted;
  const body = Buffer.from(text);
  const personal = hasPassword(query);
  const unindexed = ICAL_PARAM_NAMES.some((name) => typeof query[name] === 'string' && query[name] !== '');
  return {
    status: 200,
    headers: {
      'Content-Type': `${type}; charset=UTF-8`,
      'X-Content-Type-Options': 'nosniff',
      ...(personal ? NO_STORE : REVALIDATE),
      Vary: 'Origin, Accept-Language, Accept-Encoding',
      ETag: etagOf(body),
      ...modifiedHeader(timeliness, changedAt, caller.now),
      ...(file === undefined ? {} : { 'Content-Disposition': `attachment; filename="${file}"` }),
      ...(unindexed ? { 'X-Robots-Tag': 'noindex, nofollow' } : {}),
      ...discoveryHeaders(caller.settings, subject),
      ...(personal ? {} : surrogateKeys(postKind('event'), records, subject)),
    },
    body,
    expiresAt: expiryOf(timeliness, caller),
    shared: !personal,
  };
}
