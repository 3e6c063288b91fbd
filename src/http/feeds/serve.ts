import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { checkRecordPassword, type PasswordSource } from '../../accounts/record-passwords.ts';
import type { SiteSettings } from '../../calendar/settings.ts';
import { ApiError } from '../../errors.ts';
import { feedFilters } from '../../kinds/feed-list.ts';
import { ICAL_PARAM_NAMES, PAGE_PARAM_NAMES } from '../../kinds/feed-pages.ts';
import { postKind } from '../../kinds/index.ts';
import { SHOW_FILTERS } from '../../pages/filters.ts';
import { loadNamedEvents, toNamedEvents } from '../../records/feed-events.ts';
import { languageSegments, type Site } from '../../site.ts';
import { tagPath } from '../../wordpress/links.ts';
import { percentDecoded } from '../../wordpress/web-url.ts';
import { basePath, pagePathBelow, splitTarget } from '../addressing.ts';
import type { AnswerCache } from '../answer-cache.ts';
import { cacheKeyOf, canonicalKeyOf, languageKeyOf } from '../cache-keys.ts';
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
import { isForeignPage } from '../same-origin.ts';
import { surrogateKeys } from '../surrogates.ts';
import type { Turns } from '../turns.ts';
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
export function serveFeeds(site: Site, answers: AnswerCache | undefined, pages: Pages, turns: Turns): RequestHandler {
  const language = languageKeyOf(site.texts);
  return async (req, res, next) => {
    if (req.method === 'POST') return openByPassword(site, { pages, turns }, req, res, next);
    if (req.method !== 'GET' && req.method !== 'HEAD') return next();
    const isPersonal = hasPassword(parseQuery(splitTarget(req.originalUrl).query));
    const url = isPersonal ? undefined : cacheKeyOf(req, language);
    const readSite = url === undefined ? site : site.forAnonymousReads();
    const request = await readFeedRequest(readSite, req);
    if (!request) return next();
    notesOf(req).route = `feeds/${request.address.format ?? 'page'}`;
    if (!answers || url === undefined)
      return deliver(req, res, await turns.run(req, async () => (await pages.preview(request, req)) ?? computeAnswer(request, req, pages)));
    const { settings } = request.caller;
    const byHost = hasHosts(settings.contentLanguages);
    // An address with extra slashes redirects to that of the page, so that its answer is another one.
    const page = request.hasExtraSlashes ? `${request.page}//` : request.page;
    const pageAddress = byHost ? request.caller.home + page : page;
    const { text, isComplete } = canonicalQuery(pageAddress, request.query, paramsOf(settings, request.address), effectiveNumbers(request));
    // Reads the request again now that the version is known: the answer may be based on settings newer than the
    // version, but never on older ones.
    const compute = async (trackedSite: Site) =>
      computeAnswer((await readFeedRequest(trackedSite, req)) ?? { ...request, site: trackedSite }, req, pages);
    const keys = { key: canonicalKeyOf(req, language, text), alias: isComplete && !byHost ? url : undefined };
    return deliver(req, res, await answers.getOrCompute(req, { ...keys, site: readSite, compute }));
  };
}

/**
 * Opens a protected event with the password that was entered on its page. The answer is only for this visitor and is
 * not cached. A feed is the same for all methods that programs use to request it.
 */
async function openByPassword(
  site: Site,
  { pages, turns }: { readonly pages: Pages; readonly turns: Turns },
  req: Request,
  res: Response,
  next: NextFunction,
): Promise<void> {
  const request = await readFeedRequest(site, req);
  if (request?.address.format !== undefined) return deliver(req, res, await turns.run(req, () => computeAnswer(request, req, pages)));
  const isForm = req.is('application/x-www-form-urlencoded') !== false;
  if (request?.address.page.of !== 'event' || !isForm || !pages.areEnabled(request.caller.settings)) return next();
  const { post_password: entered } = parseQuery((await readTinyBody(req)).toString());
  const password = typeof entered === 'string' ? entered : '';
  const open = async (): Promise<Answer> => {
    try {
      await checkRecordPassword(site, password, passwordSource(request, req));
    } catch (error) {
      return pages.problem(site, request.caller.settings, req, error);
    }
    return pages.answer(request, req, password);
  };
  await deliver(req, res, await turns.run(req, open));
}

/** Reads the address of a request; undefined if it is no page of the calendar. */
async function readFeedRequest(site: Site, req: Request): Promise<FeedRequest | undefined> {
  const { path, query: text } = splitTarget(req.originalUrl);
  const query = parseQuery(text);
  const settings = await site.settings();
  const base = basePath(settings.home);
  const address = feedAddress(path, query, placeOf(site, settings));
  if (!address) return undefined;
  const caller = visitorOf(site, settings, req, { segment: address.language, query });
  // If languages have hosts, the caller's home is that of the host.
  const home = hasHosts(settings.contentLanguages) && address.language === undefined ? caller.home : settings.home;
  const page = home + pagePathBelow(base, path);
  const hasExtraSlashes = path.includes('//');
  const request = { site, caller, address, query, queryText: text, page, hasExtraSlashes };
  const effectiveQuery = relevantQuery(text, paramsOf(settings, address), effectiveNumbers(request));
  return { ...request, self: [page, effectiveQuery].filter((part) => part !== '').join('?') };
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
  const namedPairs = query.split('&').map((pair) => [Object.keys(parseQuery(pair))[0] ?? '', pair] as const);
  const relevantPairs = namedPairs.filter(([name]) => names.has(name)).sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
  return relevantPairs.map(([name, pair]) => (name in equivalents ? `${name}=${String(equivalents[name])}` : pair)).join('&');
}

// ------------------------------------------------------------------------------------------------- answers
async function computeAnswer(request: FeedRequest, req: Request, pages: Pages): Promise<Answer> {
  const { site, caller, query, address } = request;
  const changedAt = site.changedAt();
  try {
    const isPage = address.format === undefined;
    if (isPage && !pages.areEnabled(caller.settings)) return await notServedAnswer(request, req);
    const location = await redirectOf(request);
    if (location !== undefined) return redirectTo(location);
    if (isPage) return await redirectIfMoved(request, await pages.answer(request, req));
    await checkRecordPassword(site, query.password, passwordSource(request, req));
    return answerWith(await buildFeed(request), request, changedAt);
  } catch (error) {
    const reply = toProblemReply(site, req, caller.language, error);
    return redirectIfMoved(
      request,
      toAnswer(reply, { wrapping: NO_WRAPPING, method: req.method, sentMethod: req.method, isPersonal: hasPassword(query) }),
    );
  }
}

/** Returns the origin of a password, with the event of a page or feed that is about one event. */
const passwordSource = ({ site, caller, address: { page } }: FeedRequest, req: Request): PasswordSource => ({
  address: req.ip ?? '',
  isForeignPage: isForeignPage(req, caller.settings.home),
  findNamedPost: async () => {
    if (page.of !== 'event') return undefined;
    const { events } = await loadNamedEvents(site, caller, toNamedEvents(page));
    return events[0]?.row.ID;
  },
});

/** Redirects to the current address if the page was not found. */
async function redirectIfMoved(request: FeedRequest, answer: Answer): Promise<Answer> {
  const location = answer.status === 404 ? await findNewAddress(request) : undefined;
  return location === undefined ? answer : redirectTo(location);
}

/** Returns the error of a page that is not served, with headers that lead to the API and to the feeds. */
async function notServedAnswer(request: FeedRequest, req: Request): Promise<Answer> {
  const reply = toProblemReply(request.site, req, request.caller.language, new ApiError('rest_no_route'));
  const answer = toAnswer(reply, { wrapping: NO_WRAPPING, method: req.method, sentMethod: req.method, isPersonal: false });
  return { ...answer, headers: { ...answer.headers, ...(await pageHeaders(request)) } };
}

const redirectTo = (location: string): Answer => ({
  status: 301,
  headers: { Location: location, 'Cache-Control': 'no-cache' },
  body: Buffer.alloc(0),
  expiresAt: 0,
  isShareable: false,
});

/** Returns the answer with a feed. Anyone may cache it, unless it was opened with a password. */
function answerWith(
  { type, body: text, timeliness, records, subject, file }: Feed,
  request: FeedRequest,
  changedAt: string | undefined,
): Answer {
  const { caller, query } = request;
  const body = Buffer.from(text);
  const isPersonal = hasPassword(query);
  const unindexed = ICAL_PARAM_NAMES.some((name) => typeof query[name] === 'string' && query[name] !== '');
  return {
    status: 200,
    headers: {
      'Content-Type': `${type}; charset=UTF-8`,
      'X-Content-Type-Options': 'nosniff',
      ...(isPersonal ? NO_STORE : REVALIDATE),
      Vary: 'Origin, Accept-Language, Accept-Encoding',
      ETag: etagOf(body),
      ...modifiedHeader(timeliness, changedAt, caller.now),
      ...(file === undefined ? {} : { 'Content-Disposition': `attachment; filename="${file}"` }),
      ...(unindexed ? { 'X-Robots-Tag': 'noindex, nofollow' } : {}),
      ...discoveryHeaders(caller.settings, subject),
      ...(isPersonal ? {} : surrogateKeys(postKind('event'), records, subject)),
    },
    body,
    expiresAt: expiryOf(timeliness, caller),
    isShareable: !isPersonal,
  };
}
