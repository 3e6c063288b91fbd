import type { SiteSettings } from '../calendar/settings.ts';
import type { LinkedPage } from '../kinds/calendar-page.ts';
import { postKind } from '../kinds/index.ts';
import type { PostKindName } from '../kinds/kind-names.ts';
import type { CalendarList } from '../records/calendar-list.ts';
import type { Term } from '../wordpress/rows.ts';
import { listQuery } from './several-terms.ts';
import type { QueryPairs } from './urls.ts';

/** The subject of a page, if the API has it too. */
export interface PageSubject {
  readonly event?: number | undefined;
  /** The terms to which the page is restricted. */
  readonly terms?: readonly Term[];
  /** If they are several: the parameters of the API's list with the same events. */
  readonly listParams?: QueryPairs;
  /** The venue or organizer of the page. */
  readonly linked?: { readonly kind: LinkedPage['kind']; readonly id: number };
  readonly featured?: boolean;
}

/** Returns the subject of a list of the calendar. */
export const subjectOfList = ({ terms, slugs }: Pick<CalendarList, 'terms' | 'slugs'>, featured: boolean | undefined): PageSubject => ({
  terms,
  listParams: listQuery(slugs),
  ...(featured === undefined ? {} : { featured }),
});

/** The routes of the API for the subject of a page. */
interface ApiRoutes {
  readonly route: string;
  readonly query?: readonly (readonly [string, string])[];
  /** The route in WordPress's own namespace. */
  readonly core?: string;
}

/**
 * Returns the short URL of an event or of one of its dates, which redirects to its page (`wp_get_shortlink`); undefined
 * for other pages.
 */
export const shortlinkOf = ({ home }: Pick<SiteSettings, 'home'>, { event }: PageSubject): string | undefined =>
  event === undefined ? undefined : `${home}/?p=${event}`;

/** Returns the route of the calendar's API for the subject of a page, and that of WordPress's own API. */
export function apiRoutesOf({ event, linked, terms: [term, ...otherTerms] = [], listParams = [], featured }: PageSubject): ApiRoutes {
  if (event !== undefined) return routesOfRecord('event', event);
  if (linked !== undefined) return routesOfRecord(linked.kind, linked.id);
  if (term === undefined) return featured ? { route: 'events/', query: [['featured', '1']] } : { route: '' };
  if (otherTerms.length > 0) return { route: 'events/', query: listParams };
  const isTag = term.taxonomy === 'post_tag';
  return {
    route: 'events/',
    query: [[isTag ? 'tags' : 'categories', term.slug]],
    core: `wp/v2/${isTag ? 'tags' : term.taxonomy}/${term.term_id}`,
  };
}

function routesOfRecord(name: PostKindName, id: number): ApiRoutes {
  const { path, postType } = postKind(name);
  return { route: `${path}/${id}`, core: `wp/v2/${postType}/${id}` };
}
