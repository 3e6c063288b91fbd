import type { SiteSettings } from '../calendar/settings.ts';

/* The first segments of the paths of pages. The code of a language may stand in their place. */

/** First path segments that are always in use; a slug of that name would be hidden by them, or hide them. */
export const RESERVED_SEGMENTS: ReadonlySet<string> = new Set([
  ...['admin', 'doc', 'health', 'wp-json', 'wp-admin', 'wp-content', 'wp-includes', '_fasti'],
  ...['venue', 'organizer', 'tag'],
]);

/** Returns the slugs with which paths begin, by the names of their options. */
const leadingSlugs = ({ calendar, tagBase }: SiteSettings) =>
  [
    ['events_slug', calendar.eventsSlug],
    ['event_slug', calendar.singleEventSlug],
    ['tag_base', tagBase],
  ] as const;

/** Returns the slugs, with the names of their options, whose first segment is one of these. */
export const slugsThatBeginWith = (settings: SiteSettings, segments: readonly string[]): string[] =>
  leadingSlugs(settings)
    .filter(([, slug]) => segments.includes(slug.split('/').find((piece) => piece !== '') ?? ''))
    .map(([name, slug]) => `${name} ${slug}`);
