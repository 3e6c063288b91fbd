import type { SiteSettings } from '../../calendar/settings.ts';
import { escHtml } from '../../wordpress/content/entities.ts';
import { urlIn, withHidden } from '../../wordpress/content-languages.ts';
import { eventDateUrl, type LinkedPost, postUrl } from '../../wordpress/links.ts';
import { metaOf, type Post } from '../../wordpress/rows.ts';
import { normalizeWebUrl } from '../../wordpress/web-url.ts';
import type { Rows, StoredPost } from '../kind.ts';
import type { OccurrencePage } from '../rendering.ts';
import { EVENT } from './fields.ts';
import { pageOfDatedPost } from './occurrence.ts';

/** An event, with the columns from which its URL is made. */
interface LinkedEvent extends Pick<StoredPost, 'metas'> {
  readonly row: LinkedPost & Pick<Post, 'post_parent'>;
}

/**
 * Returns the metas for a website that is sent back as records show it: escaped, or the event's own page if it has no
 * website. The stored one stays, since the URL of a page changes with its slug and its status.
 */
export function websiteChange(website: string | null | undefined, before: LinkedEvent | undefined, settings: SiteSettings): Rows['metas'] {
  if (!website || !before) return {};
  const stored = metaOf(before.metas, EVENT.website);
  const isAsShown = stored === undefined ? isOwnPage(website, before, settings) : website === normalizeWebUrl(escHtml(stored));
  return isAsShown ? { [EVENT.website]: before.metas.get(EVENT.website) ?? [] } : {};
}

/** Whether this is the URL of the event's page in any language, or of the page of one of its dates. */
function isOwnPage(website: string, post: LinkedEvent, { home, permalinkStructure, calendar, contentLanguages }: SiteSettings): boolean {
  const languages = withHidden(contentLanguages);
  const date = dateIn(website);
  const pages = date && isDateOf(post, date) ? [undefined, date] : [undefined];
  const isPage = (start: string, code?: string): boolean =>
    pages.some((page) => {
      const url = urlIn(languages, code, start, (ownHome) => {
        const place = { home: ownHome, permalinkStructure, singleEventSlug: calendar.singleEventSlug };
        return page ? eventDateUrl(place, post.row, page) : postUrl(place, post.row);
      });
      return website === normalizeWebUrl(url);
    });
  return (
    [undefined, ...(languages?.languages ?? []).map(({ code }) => code)].some((code) => isPage(home, code)) ||
    // The URLs of a site whose content has no languages begin with the segment of the request.
    (website.startsWith(home) && isPage(home + (SEGMENT.exec(website.slice(home.length))?.[0] ?? '')))
  );
}

const SEGMENT = /^\/[\w-]{2,10}(?=\/)/;

/** Returns the last date in the address of a page, its number, and the slug before it. */
function dateIn(address: string): OccurrencePage | undefined {
  const found = [...address.matchAll(DATE)].at(-1);
  const [, date, number] = found ?? [];
  if (!found || date === undefined) return undefined;
  const slug = address.slice(0, found.index).split(/[/=]/).at(-1) ?? '';
  return { slug, date, number: number === undefined ? undefined : Number(number) };
}

const DATE = /(?:\/|&eventDate=)(\d{4}-\d\d-\d\d)(?![\w-])(?:(?:\/|&eventSequence=)(\d{1,9})(?![\w-]))?/g;

/**
 * Whether the page of a date may be one of this event. In the old form of recurrence, in which each date is a post, its
 * address contains the slug of the parent.
 */
const isDateOf = ({ row, metas }: LinkedEvent, { slug, date }: OccurrencePage): boolean =>
  slug === row.post_name || (row.post_parent > 0 && pageOfDatedPost(row, metas, undefined)?.date === date);
