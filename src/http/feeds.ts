import type { Request, RequestHandler } from 'express';
import { admitRecordPassword } from '../accounts/record-passwords.ts';
import type { SiteSettings } from '../calendar/settings.ts';
import { fail } from '../errors.ts';
import { writeCalendar } from '../exchange/ical/write.ts';
import { writeRss } from '../exchange/rss.ts';
import { event as EVENT } from '../kinds/event.ts';
import type { EventRecord } from '../kinds/event-shape.ts';
import type { Timeliness } from '../kinds/timeliness.ts';
import { type Caller, callerFor } from '../records/caller.ts';
import { acceptParams } from '../records/input.ts';
import { recordOfDate } from '../records/occurrences.ts';
import { type Listing, listPosts, postIdOfSlug, readPost } from '../records/posts.ts';
import { termLookUp } from '../records/references.ts';
import type { Site } from '../site.ts';
import { decodeEntities } from '../wordpress/entities.ts';
import { nowLocal } from '../wordpress/time.ts';
import { trimOf } from '../wordpress/trim.ts';
import { ANONYMOUS } from '../wordpress/viewer.ts';
import { basePath, splitTarget } from './addressing.ts';
import { type Answer, type Answers, deliver, keyOf, tagOf } from './answers.ts';
import { FEED_NAMES, type FeedAddress, feedAddress } from './feed-address.ts';
import { parseQuery, type Raw } from './input.ts';
import { meaningOf } from './meaning.ts';
import { problemOf } from './problem.ts';
import { answerOf, bringsPassword, httpDate, KEPT, NOT_KEPT, PLAIN, untilWhen } from './protocol.ts';
import { surrogateKeys } from './surrogates.ts';

/** A page of the calendar that is asked for as a feed. */
interface Wanted {
  readonly site: Site;
  readonly caller: Caller;
  readonly address: FeedAddress;
  readonly query: Raw;
  /** Where it was asked for: address of the page, and with the query. */
  readonly page: string;
  readonly self: string;
  /** Whether it brings the password of a record. */
  readonly personal: boolean;
}

interface Feed {
  readonly type: string;
  readonly body: string;
  readonly timeliness: Timeliness;
  readonly records: readonly unknown[];
  readonly file?: string;
}

/**
 * Serves the feeds of the calendar's pages and passes on everything else. Feeds are for everybody: whoever asks, they hold what an anonymous caller may
 * read, and take the filters of the list route.
 */
export function serveFeeds(site: Site, answers: Answers | undefined): RequestHandler {
  const language = (header: string | undefined) => (header === undefined ? '' : site.texts.chooseLanguage({ acceptLanguage: header }));
  return async (req, res, next) => {
    if (req.method !== 'GET' && req.method !== 'HEAD') return next();
    const personal = bringsPassword(parseQuery(splitTarget(req.originalUrl).query));
    const url = personal ? undefined : keyOf(req, language);
    const from = url === undefined ? site : site.reading();
    const wanted = await readWanted(from, req);
    if (!wanted) return next();
    if (!answers || url === undefined) return deliver(req, res, await compose(wanted, req));
    const { text, whole } = meaningOf(wanted.page, wanted.query, HEEDED);
    // Read again now that the version is known: the answer may be made of newer settings than that, never of older.
    const compute = async () => compose((await readWanted(from, req)) ?? wanted, req);
    return deliver(req, res, await answers.answerFor(keyOf(req, language, text) ?? url, from.freshness, compute, whole ? url : undefined));
  };
}

/** Which page is asked for; undefined: none that is a feed. */
async function readWanted(site: Site, req: Request): Promise<Wanted | undefined> {
  const { path, query: text } = splitTarget(req.originalUrl);
  const query = parseQuery(text);
  const settings = await site.settings();
  const address = feedAddress(path, query, placeOf(site, settings));
  if (!address) return undefined;
  const caller = callerOf(site, settings, address, query, req.get('accept-language'));
  const page = settings.home + path.slice(path.startsWith(`${basePath(settings.home)}/`) ? basePath(settings.home).length : 0);
  const self = [page, heededPart(text)].filter((part) => part !== '').join('?');
  return { site, caller, address, query, page, self, personal: bringsPassword(query) };
}

async function compose(wanted: Wanted, req: Request): Promise<Answer> {
  const { site, caller, query, personal } = wanted;
  const changedAt = site.changedAt();
  try {
    await admitRecordPassword(site, query.password, req.ip ?? '');
    return answerWith(await feedOf(wanted), caller, changedAt, personal);
  } catch (error) {
    const reply = problemOf(site, req, caller.language, error);
    return answerOf(reply, { wrapping: PLAIN, method: req.method, sent: req.method, personal });
  }
}

/** Parameters that a feed depends on. */
const HEEDED: ReadonlySet<string> = new Set([...Object.keys(EVENT.filters), ...FEED_NAMES, 'translation_language']);

/** The part of a query that a feed depends on, in the order of the names. */
function heededPart(query: string): string {
  const named = query.split('&').map((pair) => [Object.keys(parseQuery(pair))[0] ?? '', pair] as const);
  const heeded = named.filter(([name]) => HEEDED.has(name)).sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
  return heeded.map(([, pair]) => pair).join('&');
}

const placeOf = ({ texts }: Site, { home, calendar, tagBase }: SiteSettings) => ({
  base: basePath(home),
  languages: texts.languages,
  eventsSlug: calendar.eventsSlug,
  singleEventSlug: calendar.singleEventSlug,
  tagBase,
});

/** An anonymous caller, in the language of the request. */
function callerOf(site: Site, settings: SiteSettings, { language: segment }: FeedAddress, query: Raw, header: string | undefined): Caller {
  const parameter = typeof query.translation_language === 'string' ? query.translation_language : undefined;
  const language = site.texts.chooseLanguage({ parameter, segment, acceptLanguage: header });
  return callerFor(site, settings, ANONYMOUS, { language, home: settings.home + (segment === undefined ? '' : `/${segment}`) });
}

/** Anyone may keep it, unless it is `personal`: opened by a password. */
function answerWith(
  { type, body: text, timeliness, records, file }: Feed,
  caller: Caller,
  changedAt: string | undefined,
  personal: boolean,
): Answer {
  const body = Buffer.from(text);
  return {
    status: 200,
    headers: {
      'Content-Type': `${type}; charset=UTF-8`,
      'X-Content-Type-Options': 'nosniff',
      ...(personal ? NOT_KEPT : KEPT),
      Vary: 'Origin, Accept-Language, Accept-Encoding',
      ETag: tagOf(body),
      ...(timeliness === 'never' && changedAt !== undefined ? { 'Last-Modified': httpDate(changedAt) } : {}),
      ...(file === undefined ? {} : { 'Content-Disposition': `attachment; filename="${file}"` }),
      ...(personal ? {} : surrogateKeys(EVENT, records)),
    },
    body,
    until: untilWhen(timeliness, caller),
    shared: !personal,
  };
}

// ------------------------------------------------------------------------------------------------- what feeds hold
/** A calendar that is subscribed to holds this many events at most; a page of it that is asked for is as long as the list route gives it. */
const MOST_EVENTS = 1000;

async function feedOf(wanted: Wanted): Promise<Feed> {
  const { address } = wanted;
  if (address.of === 'event') return oneEvent(wanted);
  const { name, raw } = await narrowed(wanted);
  return address.form === 'rss'
    ? rss(wanted, name, await list(wanted, raw, 1))
    : calendar(wanted, name, await list(wanted, raw, MOST_EVENTS), fileName(address));
}

async function oneEvent(wanted: Wanted): Promise<Feed> {
  const { site, caller, address } = wanted;
  const post = await postIdOfSlug(site, EVENT, encodeURIComponent(address.slug));
  const id = post !== undefined && address.on ? await recordOfDate(site.db, caller, post, address.on) : post;
  if (id === undefined) return fail('rest-event-not-found');
  const { record } = await readPost(site, caller, EVENT, id, passwordOf(wanted.query));
  if (address.form === 'jsonld')
    return { type: 'application/ld+json', body: JSON.stringify(record.json_ld ?? {}), timeliness: 'never', records: [record] };
  return calendar(wanted, decodeEntities(String(record.title)), { records: [record], timeliness: 'never' }, fileName(address));
}

const passwordOf = ({ password }: Raw) => (typeof password === 'string' ? { password } : {});

/** What the address and the query narrow the list to. The term in the address counts before one in the query. Throws rest_no_route where it does not exist. */
async function narrowed({ site, caller, address, query }: Wanted): Promise<{ name: string; raw: Record<string, unknown> }> {
  const raw: Record<string, unknown> = Object.fromEntries(Object.entries(query).filter(([name]) => Object.hasOwn(EVENT.filters, name)));
  if (address.past) Object.assign(raw, pastOnly(caller, raw));
  const { name } = caller.settings;
  if (address.of !== 'category' && address.of !== 'tag') return { name, raw };
  const term = (await termLookUp(site.db, address.of, [address.slug])).byToken(address.slug);
  if (!term) return fail('rest_no_route');
  raw[address.of === 'category' ? 'categories' : 'tags'] = [term.term_id];
  return { name: `${name} - ${decodeEntities(term.name)}`, raw };
}

/** What has ended, the latest first. */
const pastOnly = ({ settings, now }: Caller, raw: Readonly<Record<string, unknown>>): Record<string, unknown> => ({
  start_date: raw.start_date ?? '1000-01-01',
  end_date: raw.end_date ?? nowLocal(now, settings.zone),
  order: 'desc',
});

type Events = Pick<Listing<EventRecord>, 'records' | 'timeliness'>;

/** The page that is asked for; without one, as many of the first as a calendar may hold. */
async function list({ site, caller }: Wanted, raw: Record<string, unknown>, most: number): Promise<Events> {
  const paged = most === 1 || raw.page !== undefined || raw.per_page !== undefined;
  const values = await acceptParams(site, caller, EVENT.filters, paged ? raw : { ...raw, per_page: most }, 'read');
  return listPosts(site, caller, EVENT, values, paged ? undefined : most);
}

async function calendar({ caller, page }: Wanted, name: string, { records, timeliness }: Events, file: string): Promise<Feed> {
  const { settings } = caller;
  const head = { name, description: settings.description, url: page, zone: settings.zone, host: hostOf(settings.home) };
  const pieces: string[] = [];
  for await (const piece of writeCalendar(records, head)) pieces.push(piece);
  return { type: 'text/calendar', body: pieces.join(''), timeliness, records, file: `${file}.ics` };
}

function rss({ caller, page, self }: Wanted, title: string, { records, timeliness }: Events): Feed {
  const { settings, language } = caller;
  const head = {
    title,
    description: settings.description,
    url: page.replace(/feed\/(rss2\/)?$|feed$/, ''),
    self,
    language,
    home: settings.home,
  };
  return { type: 'application/rss+xml', body: writeRss(records, head), timeliness, records };
}

const hostOf = (home: string): string => (URL.canParse(home) ? new URL(home).hostname : 'localhost');

/** A name for who saves the calendar: of letters and digits, whatever the address held. */
const fileName = ({ slug }: FeedAddress): string => trimOf(slug.replace(/[^\w-]+/g, '-'), '-').slice(0, 80) || 'events';
