import type { SiteSettings } from '../../calendar/settings.ts';
import { escHtml } from '../../wordpress/content/entities.ts';
import { postUrl } from '../../wordpress/links.ts';
import { metaOf, type Post } from '../../wordpress/rows.ts';
import { normalizeWebUrl } from '../../wordpress/web-url.ts';
import type { Rows, StoredPost } from '../kind.ts';
import { EVENT } from './fields.ts';

/**
 * Returns the metas for a website that is sent back as records show it: escaped, or the event's own page if it has no
 * website. The stored one stays, since the URL of a page changes with its slug and its status.
 */
export function websiteChange(website: string | null | undefined, before: StoredPost | undefined, settings: SiteSettings): Rows['metas'] {
  if (!website || !before) return {};
  const stored = metaOf(before.metas, EVENT.website);
  const isAsShown = stored === undefined ? isOwnPage(website, before.row, settings) : website === normalizeWebUrl(escHtml(stored));
  return isAsShown ? { [EVENT.website]: before.metas.get(EVENT.website) ?? [] } : {};
}

/** Whether this is the URL of the event's page in any language, or of the page of one of its dates. */
function isOwnPage(website: string, row: Post, { home, permalinkStructure, calendar }: SiteSettings): boolean {
  if (!website.startsWith(home)) return false;
  const place = { home: '', permalinkStructure, singleEventSlug: calendar.singleEventSlug };
  const [segment, date, ...others] = website.slice(home.length).split(postUrl(place, row));
  return date !== undefined && others.length === 0 && LANGUAGE_SEGMENT.test(segment ?? '') && DATE_SEGMENTS.test(date);
}

const LANGUAGE_SEGMENT = /^(?:\/[\w-]{2,10})?$/;
const DATE_SEGMENTS = /^(?:\d{4}-\d\d-\d\d\/(?:\d+\/)?)?$/;
