import { termKind } from '../kinds/index.ts';
import type { PostFields, PostKind, PublishedRecord } from '../kinds/kind.ts';
import { organizer } from '../kinds/organizer.ts';
import { venue } from '../kinds/venue.ts';
import type { Caller } from '../records/caller.ts';
import { hiddenFromVisitors } from '../records/content-lists.ts';
import { loadFeedEvents } from '../records/feed-events.ts';
import { narrowedPosts } from '../records/posts.ts';
import type { Site } from '../site.ts';
import { typedKeys } from '../typed-keys.ts';
import { escHtml } from '../wordpress/content/entities.ts';
import { isZeroDate } from '../wordpress/time.ts';
import { someUsedCategories } from './categories.ts';
import { listsOfTerms } from './term-translations.ts';
import { calendarUrl, listUrlInLanguage } from './urls.ts';

/** A page in the sitemap. */
interface SitemapEntry {
  readonly href: string;
  /** Time of the last change, UTC, `YYYY-MM-DD HH:MM:SS`. */
  readonly modified?: string;
}

/** A slice of one part of the sitemap. */
interface PartSlice {
  readonly entries: readonly SitemapEntry[];
  /** Total number of entries in the part. */
  readonly total: number;
}

/** Maximum number of URLs in one file; the protocol allows 50,000. */
const MAX_URLS = 1000;

type PartName = keyof typeof PARTS;
type LoadPart = (site: Site, caller: Caller, limit: number, offset: number) => Promise<PartSlice>;

const loadLinkedPart =
  <Fields extends PostFields, Published extends Dated>(kind: PostKind<Fields, Published>): LoadPart =>
  async (site, caller, limit, offset) => {
    const slice = { conditions: [], order: { by: 'id', descending: false }, statuses: undefined, limit, offset } as const;
    const { bundle, records, total } = await narrowedPosts(site, caller, kind, slice, {});
    const openRecords = records.filter(({ id }) => bundle.posts.get(id)?.post_password === '');
    const hiddenIds = await hiddenFromVisitors(site, { posts: openRecords.map(({ id }) => id), terms: [] });
    return { entries: openRecords.filter(({ id }) => !hiddenIds.has(id)).map(toEntry), total };
  };

/** The parts of the sitemap: pages that visitors can see in full. */
const PARTS = {
  pages: async (site, caller, limit, offset) => {
    const { settings } = caller;
    // Without the home, which shows the same as one of these and names its address.
    const mainPages: readonly ((home: string) => string)[] = [
      (home) => calendarUrl({ settings, home }, { view: 'list' }),
      (home) => calendarUrl({ settings, home }, { view: 'month' }),
    ];
    const languages = settings.contentLanguages?.languages.filter(({ code }) => (caller.content.code ?? code) === code);
    const main = languages
      ? languages.flatMap(({ code }) => mainPages.map((page) => listUrlInLanguage(caller, code, page)))
      : mainPages.map((page) => page(caller.home));
    const mainHrefs = [...new Set(main)];
    const hrefs = mainHrefs.slice(offset, offset + limit);
    const room = limit - hrefs.length;
    // The total is needed even if there is no room for a category.
    const { categories, total } = await someUsedCategories(site, caller, Math.max(1, room), Math.max(0, offset - mainHrefs.length));
    const terms = categories.map(({ id }) => ({ term_id: id, taxonomy: termKind('category').taxonomy }));
    const hiddenIds = await hiddenFromVisitors(site, { posts: [], terms });
    const shownIds = categories.slice(0, room).flatMap(({ id }) => (hiddenIds.has(id) ? [] : [id]));
    const lists = await listsOfTerms(site, caller, termKind('category'), shownIds);
    const categoryHrefs = shownIds.flatMap((id) => lists.get(id) ?? []);
    const entries = [...new Set([...hrefs, ...categoryHrefs])].map((href) => ({ href }));
    return { entries, total: mainHrefs.length + total };
  },
  events: async (site, caller, limit, offset) => {
    const options = { span: { view: 'list' }, terms: [], filters: {}, withoutHidden: true, archive: true } as const;
    const { events, total } = await loadFeedEvents(site, caller, { ...options, limit, offset });
    const openEvents = events.filter(({ row }) => row.post_password === '');
    const hiddenIds = await hiddenFromVisitors(site, { posts: openEvents.map(({ row }) => row.ID), terms: [] });
    return { entries: openEvents.filter(({ row }) => !hiddenIds.has(row.ID)).map(({ record }) => toEntry(record)), total };
  },
  venues: loadLinkedPart(venue),
  organizers: loadLinkedPart(organizer),
} as const satisfies Readonly<Record<string, LoadPart>>;

type Dated = PublishedRecord & { readonly id: number; readonly url: string; readonly modified_utc: string };

const toEntry = ({ url, modified_utc }: Dated): SitemapEntry => ({
  href: url,
  ...(isZeroDate(modified_utc) ? {} : { modified: modified_utc }),
});

const partNames = typedKeys(PARTS);

/** A file of the sitemap (sitemaps.org): the index, which lists all others, or one of the others. */
export type SitemapFile = 'index' | { readonly part: PartName; readonly number: number };

/** Returns the file at a path; undefined if the path is not one of the sitemap. */
export function sitemapFile(path: string): SitemapFile | undefined {
  if (path === '/sitemap.xml') return 'index';
  const { part, number } = /^\/sitemap-(?<part>[a-z]+)-(?<number>[1-9]\d{0,5})\.xml$/.exec(path)?.groups ?? {};
  const partName = partNames.find((name) => name === part);
  return partName && { part: partName, number: Number(number) };
}

/** Returns the XML of a file; undefined if there is no file with this number. */
export async function sitemapXml(site: Site, caller: Caller, file: SitemapFile): Promise<string | undefined> {
  if (file === 'index') return indexXml(caller, await countFiles(site, caller));
  const { entries, total } = await PARTS[file.part](site, caller, MAX_URLS, (file.number - 1) * MAX_URLS);
  if (total <= (file.number - 1) * MAX_URLS) return undefined;
  // Search engines ignore pages of other hosts, such as records that stand in for missing translations.
  const ownEntries = entries.filter(({ href }) => href.startsWith(`${caller.home}/`));
  return xml('urlset', 'url', ownEntries);
}

async function countFiles(site: Site, caller: Caller): Promise<Map<PartName, number>> {
  const totals = await Promise.all(partNames.map(async (name) => [name, (await PARTS[name](site, caller, 1, 0)).total] as const));
  return new Map(totals.map(([name, total]) => [name, Math.ceil(total / MAX_URLS)]));
}

const indexXml = ({ home }: Caller, numbers: ReadonlyMap<PartName, number>): string =>
  xml(
    'sitemapindex',
    'sitemap',
    [...numbers].flatMap(([name, count]) =>
      Array.from({ length: count }, (_, index) => ({ href: `${home}/sitemap-${name}-${index + 1}.xml` })),
    ),
  );

function xml(root: string, item: string, entries: readonly SitemapEntry[]): string {
  const items = entries.map(({ href, modified }) => {
    const time = modified === undefined ? '' : `<lastmod>${modified.replace(' ', 'T')}Z</lastmod>`;
    return `<${item}><loc>${escHtml(href)}</loc>${time}</${item}>`;
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<${root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`,
    ...items,
    `</${root}>`,
    '',
  ].join('\n');
}
