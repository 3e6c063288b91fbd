import { FREE_WORDS } from '../../calendar/amounts.ts';
import type { FetchOptions } from '../../media/safe-fetch.ts';
import type { Caller } from '../../records/caller.ts';
import { percentDecoded } from '../../wordpress/web-url.ts';
import { calendarSource } from '../ical/read.ts';
import type { FetchedFormat } from '../items/file-formats.ts';
import { SourceFault } from '../items/items.ts';
import { type Source, siteName } from '../items/source.ts';
import { openJsonLdSite } from '../json-ld/source.ts';
import { fetchBytes, fetchOptionsFor } from './named-address.ts';
import { openLiveSite } from './site.ts';
import { findSite, type RequestOptions } from './site-client.ts';

/** Options for reading a web address. */
export interface WebOptions {
  readonly caller: Caller;
  readonly credentials?: RequestOptions['credentials'];
  /** Requests to a site per second. */
  readonly rate?: number | undefined;
  readonly resume?: boolean | undefined;
  /** The target of the import: database, prefix, dry run or not. */
  readonly target: string;
  /** Range of days for which repeating events of a calendar are imported. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Called with the number of entries that a walk through a site has yielded so far. */
  readonly onWalkProgress?: ((entries: number) => void) | undefined;
  /** The format of what the address leads to, if it does not tell: a calendar, or a page with events in JSON-LD. */
  readonly format?: FetchedFormat | undefined;
  /** The address is that of a sitemap, or of a site with one, whose pages have events in JSON-LD. */
  readonly sitemap?: boolean | undefined;
  /** Folder for the state of a walk. */
  readonly folder?: string | undefined;
  /** Replacement for the network in tests. */
  readonly fetching?: FetchOptions | undefined;
}

/** Requests per second; low, since the site belongs to somebody else. */
const REQUESTS_PER_SECOND = 5;
const MAX_CONCURRENT_REQUESTS = 2;
const CALENDAR = 'text/calendar';

/**
 * Opens a web address: pages with JSON-LD or a calendar if the options say so or it is recognised (`webcal:`, `.ics`,
 * `ical=1`), or else a site with the API; if there is none, a calendar if the address answers with one. The named host
 * may be in a private network; hosts that it refers to may not.
 *
 * @throws SourceFault
 */
export async function openWebSource(address: string, options: WebOptions): Promise<Source> {
  const url = address.replace(/^webcals?:/i, 'https:');
  const fetching = { ...(await fetchOptionsFor(url)), ...options.fetching };
  if (options.format === 'jsonld' || options.sitemap) {
    const { caller, sitemap, onWalkProgress: onProgress } = options;
    return openJsonLdSite(url, {
      caller,
      sitemap,
      fetching,
      rate: options.rate ?? REQUESTS_PER_SECOND,
      ...(onProgress ? { onProgress } : {}),
    });
  }
  if (options.format === 'ical' || /^webcals?:/i.test(address) || /\.ics(\?|$)|[?&](outlook-)?ical=/i.test(url))
    return feedOf(url, await fetchBytes(url, CALENDAR, fetching), options, fetching);
  const { caller, credentials, rate = REQUESTS_PER_SECOND, resume = false, target } = options;
  const site = await findSite(url, { credentials, rate, concurrency: MAX_CONCURRENT_REQUESTS }).catch(async (error: unknown) => {
    if (!(error instanceof SourceFault) || error.fault !== 'site-no-interface') throw error;
    const bytes = await fetchBytes(url, CALENDAR, fetching).catch(() => undefined);
    if (!bytes || !isCalendar(bytes)) throw error;
    return bytes;
  });
  if (site instanceof Uint8Array) return feedOf(url, site, options, fetching);
  const source = await openLiveSite(site, {
    settings: caller.settings,
    freeWords: [...new Set([caller.freeLabel, ...FREE_WORDS])],
    now: caller.now,
    resume,
    target,
    folder: options.folder,
    ...(options.onWalkProgress ? { onProgress: options.onWalkProgress } : {}),
  });
  return { ...source, fetching };
}

/** Whether a file begins as calendars do. */
const isCalendar = (bytes: Uint8Array): boolean =>
  /^(?:\xef\xbb\xbf)?\s*BEGIN:VCALENDAR/i.test(Buffer.from(bytes.subarray(0, 100)).toString('latin1'));

/** Returns the source for a calendar feed, which is fetched once, however often it is read. */
function feedOf(url: string, bytes: Uint8Array, { caller, from, to }: WebOptions, fetching: FetchOptions): Source {
  const file = percentDecoded(new URL(url).pathname.split('/').filter(Boolean).at(-1) ?? 'calendar');
  const source = calendarSource(() => inChunks(bytes), {
    file,
    source: `ical:${siteName(url)}`,
    settings: caller.settings,
    now: caller.now,
    from,
    to,
  });
  return { ...source, fetching };
}

async function* inChunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < bytes.length; offset += CHUNK_BYTES) yield bytes.subarray(offset, offset + CHUNK_BYTES);
}

const CHUNK_BYTES = 65_536;
