import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type FetchedBody, type FetchOptions, FetchRefused, fetchPublic } from '../../media/safe-fetch.ts';
import type { Caller } from '../../records/caller.ts';
import { typedEntries } from '../../typed-keys.ts';
import { decoderFor, HEAD_BYTES } from '../items/encoding.ts';
import { readDeclaredText } from '../items/file-text.ts';
import { type Entry, SourceFault } from '../items/items.ts';
import type { LossEntry } from '../items/report.ts';
import { type Source, siteName } from '../items/source.ts';
import { encodingOfType, type Locations, labelOf, locationsOf } from './page.ts';
import { eventEntries, type FoundEvent, findEvents, type Page } from './read.ts';

/** Options for reading pages of the web. */
export interface JsonLdOptions {
  readonly caller: Caller;
  /** Whether the address is that of a sitemap, or of a site with one at `/sitemap.xml`. */
  readonly sitemap?: boolean | undefined;
  /** Requests per second. */
  readonly rate: number;
  readonly fetching: FetchOptions;
  /** Called with the number of events found so far. */
  readonly onProgress?: ((events: number) => void) | undefined;
}

const MAX_PAGE_BYTES = 16 * 2 ** 20;
const MAX_SITEMAP_BYTES = 64 * 2 ** 20;
const PAGE_TIMEOUT_MS = 30_000;
const MAX_SITEMAPS = 100;
const MAX_PAGES = 5000;
const MAX_EVENTS = 50_000;

/**
 * Opens files with events in JSON-LD: saved pages, or JSON. Throws SourceFault `unreadable`, `not-utf8`, `too-long`.
 */
export function openJsonLdFiles(paths: readonly string[], caller: Caller): Source {
  const pages = async function* (): AsyncGenerator<ReadPage> {
    for (const path of paths) {
      const { chunks, isAssumed } = readDeclaredText(path, labelOf);
      const pieces: string[] = [];
      let length = 0;
      for await (const piece of chunks) {
        length += piece.length;
        if (length > MAX_PAGE_BYTES) throw new SourceFault('too-long', { file: basename(path), line: 1 });
        pieces.push(piece);
      }
      yield { url: '', place: basename(path), text: pieces.join(''), encodingDoubt: isAssumed() ? 'encoding-assumed' : undefined };
    }
  };
  return {
    name: () => `jsonld:${basename(paths[0] ?? '')}`,
    entries: async function* () {
      const events: FoundEvent[] = [];
      for await (const page of pages()) yield* addEventsOfSinglePage(page, events);
      yield* eventEntries(events, caller);
    },
    close: async () => undefined,
  };
}

/**
 * Opens a page of the web with events in JSON-LD, or all pages of a sitemap that are on the same host. Pages are
 * fetched once, however often the source is read.
 *
 * @throws SourceFault `feed-not-fetched` if the page or the sitemap cannot be fetched, `not-a-sitemap` if it is none
 */
export async function openJsonLdSite(address: string, options: JsonLdOptions): Promise<Source> {
  const reportEntries: Entry[] = [];
  const events: FoundEvent[] = [];
  const fetch = createSpacedFetch(options);
  if (options.sitemap) {
    for await (const page of sitemapPages(address, { fetch, reportEntries, isFull: () => events.length >= MAX_EVENTS })) {
      for (const loss of addEventsOf(page, events)) reportEntries.push(loss);
      options.onProgress?.(events.length);
    }
  } else for (const entry of addEventsOfSinglePage(pageOf(await fetchRequired(address, fetch)), events)) reportEntries.push(entry);
  return {
    name: () => `jsonld:${siteName(address)}`,
    entries: async function* () {
      yield* reportEntries;
      yield* eventEntries(events, options.caller);
    },
    close: async () => undefined,
    fetching: options.fetching,
  };
}

/** Adds the events of a page and returns its losses. Doubts about its encoding are reported only if it has events. */
function addEventsOf(page: ReadPage, events: FoundEvent[]): LossEntry[] {
  const result = findEvents(page);
  for (const event of result.events) events.push(event);
  const isDoubtful = page.encodingDoubt !== undefined && result.events.length > 0;
  return [...(isDoubtful ? [sourceLoss(page.encodingDoubt!, page.place)] : []), ...result.losses];
}

/** Does the same for a single page, and reports it if it has no event. */
function addEventsOfSinglePage(page: ReadPage, events: FoundEvent[]): Entry[] {
  const before = events.length;
  const losses = addEventsOf(page, events);
  return events.length > before || losses.length > 0 ? losses : [sourceLoss('jsonld-none', page.place)];
}

type Fetch = (url: string, maxBytes: number) => Promise<FetchedBody>;

/** Returns a fetch function that keeps requests apart as the rate demands. */
function createSpacedFetch({ rate, fetching }: JsonLdOptions): Fetch {
  let nextTime = 0;
  return async (url, maxBytes) => {
    const wait = nextTime - performance.now();
    if (wait > 0) await sleep(wait);
    nextTime = performance.now() + 1000 / rate;
    return fetchPublic(url, {
      timeoutMs: PAGE_TIMEOUT_MS,
      headers: { accept: 'text/html,application/ld+json,application/xml' },
      ...fetching,
      maxBytes,
    });
  };
}

/** Fetches the page or sitemap that the user named. Throws SourceFault if that fails. */
async function fetchRequired(url: string, fetch: Fetch, maxBytes = MAX_PAGE_BYTES): Promise<FetchedBody> {
  try {
    return await fetch(url, maxBytes);
  } catch (error) {
    if (error instanceof FetchRefused) throw new SourceFault('feed-not-fetched', { address: url, what: error.fault }, error);
    throw error;
  }
}

/** A page, and doubts about its encoding, as a reason of `exchange:losses`. */
interface ReadPage extends Page {
  readonly encodingDoubt: 'encoding-assumed' | 'jsonld-characters' | undefined;
}

const pageOf = ({ url, bytes, headers }: FetchedBody): ReadPage => ({ url, place: url, ...decodePage(bytes, headers['content-type']) });

/**
 * Decodes a response in the encoding that its headers declare; otherwise the page's declaration; otherwise the one
 * detected from its bytes. A damaged page is still used.
 */
function decodePage(bytes: Buffer, type = ''): Pick<ReadPage, 'text' | 'encodingDoubt'> {
  const label = encodingOfType(type) ?? labelOf(bytes.subarray(0, HEAD_BYTES));
  let encodingDoubt: ReadPage['encodingDoubt'];
  const assume = (encoding: string) => {
    if (encoding === 'windows-1252') encodingDoubt = 'encoding-assumed';
  };
  try {
    const decode = decoderFor('', bytes, assume, label);
    return { text: decode(bytes) + decode(undefined), encodingDoubt };
  } catch (error) {
    if (!(error instanceof SourceFault)) throw error;
    return { text: new TextDecoder().decode(bytes), encodingDoubt: 'jsonld-characters' };
  }
}

const sourceLoss = (reason: string, of: string): LossEntry => ({ kind: 'loss', loss: { reason, kind: 'source', of } });

/** The reading of a sitemap: its fetch function, and the entries to which problems with listed files are added. */
interface SitemapWalk {
  readonly fetch: Fetch;
  readonly reportEntries: Entry[];
  /** Whether there are so many events that no further page is read. */
  readonly isFull: () => boolean;
}

async function* sitemapPages(address: string, walk: SitemapWalk): AsyncGenerator<ReadPage> {
  const { reportEntries } = walk;
  const { href: first, host } = new URL(/\.xml(\.gz)?(\?|$)/i.test(address) ? address : '/sitemap.xml', address);
  const isOwnHost = (url: string) => URL.parse(url)?.host === host;
  const [sitemaps, pages] = [new Set([first]), new Set<string>()];
  const otherHostCounts = { sitemap: 0, page: 0 };
  let isCut = false;
  for (const sitemap of sitemaps) {
    const locations = await readSitemap(sitemap, walk, sitemap === first);
    for (const url of locations.sitemaps) {
      if (!isOwnHost(url)) otherHostCounts.sitemap += 1;
      else if (!sitemaps.has(url) && sitemaps.size >= MAX_SITEMAPS) isCut = true;
      else sitemaps.add(url);
    }
    for (const url of locations.pages) {
      if (!isOwnHost(url)) otherHostCounts.page += 1;
      else if (pages.has(url)) continue;
      else if (pages.size >= MAX_PAGES || walk.isFull()) isCut = true;
      else {
        pages.add(url);
        const page = await fetchListed(url, walk, MAX_PAGE_BYTES);
        if (page) yield pageOf(page);
      }
    }
    if (isCut && (pages.size >= MAX_PAGES || walk.isFull())) break;
  }
  if (isCut) reportEntries.push({ kind: 'loss', loss: { reason: 'sitemap-cut', kind: 'source', of: first, detail: String(pages.size) } });
  for (const [what, count] of typedEntries(otherHostCounts))
    if (count > 0) reportEntries.push({ kind: 'skipped', what: `${what} of another host`, count });
}

/** Fetches a file that a sitemap lists; undefined: it could not be fetched, which is reported. */
async function fetchListed(url: string, { fetch, reportEntries }: SitemapWalk, maxBytes: number): Promise<FetchedBody | undefined> {
  try {
    return await fetch(url, maxBytes);
  } catch (error) {
    if (!(error instanceof FetchRefused)) throw error;
    reportEntries.push({ kind: 'loss', loss: { reason: 'page-not-fetched', kind: 'source', of: url, detail: error.fault } });
    return undefined;
  }
}

/**
 * Reads a sitemap. `isRequired`: the user named it; problems with others are reported.
 *
 * @throws SourceFault `feed-not-fetched`, `not-a-sitemap`, if it is required
 */
async function readSitemap(url: string, walk: SitemapWalk, isRequired: boolean): Promise<Locations> {
  const body = isRequired ? await fetchRequired(url, walk.fetch, MAX_SITEMAP_BYTES) : await fetchListed(url, walk, MAX_SITEMAP_BYTES);
  if (!body) return NO_LOCATIONS;
  try {
    const locations = locationsOf(await sitemapText(body), body.url);
    if (!locations) throw new SourceFault('not-a-sitemap', { address: url });
    return locations;
  } catch (error) {
    if (isRequired || !(error instanceof SourceFault)) throw error;
    walk.reportEntries.push(sourceLoss('sitemap-unreadable', url));
    return NO_LOCATIONS;
  }
}

const NO_LOCATIONS: Locations = { pages: [], sitemaps: [] };

const inflate = promisify(gunzip);

async function sitemapText({ url, bytes }: FetchedBody): Promise<string> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return decodePage(bytes).text;
  try {
    return decodePage(await inflate(bytes, { maxOutputLength: MAX_SITEMAP_BYTES })).text;
  } catch (error) {
    throw new SourceFault('feed-not-fetched', { address: url, what: 'gzip' }, error);
  }
}
