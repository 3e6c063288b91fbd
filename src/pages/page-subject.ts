import type { LinkedPage } from '../kinds/calendar-page.ts';
import type { Term } from '../wordpress/rows.ts';

/** What a page shows, as far as the API has it at an address of its own. */
export interface PageSubject {
  readonly event?: number | undefined;
  readonly term?: Term | undefined;
  /** The venue or organizer whose page it is. */
  readonly linked?: { readonly kind: LinkedPage['kind']; readonly id: number };
  readonly featured?: boolean;
}

/** Where the API has what a page shows. */
interface Routes {
  readonly route: string;
  readonly query?: readonly (readonly [string, string])[];
  /** The route in WordPress's own namespace. */
  readonly core?: string;
}

/** The route of the calendar's API that shows what a page is about, and that of WordPress's own. */
export function routesOf({ event, term, featured }: PageSubject): Routes {
  if (event !== undefined) return { route: `events/${event}`, core: `wp/v2/tribe_events/${event}` };
  if (term === undefined) return featured ? { route: 'events/', query: [['featured', '1']] } : { route: '' };
  const isTag = term.taxonomy === 'post_tag';
  return {
    route: 'events/',
    query: [[isTag ? 'tags' : 'categories', term.slug]],
    core: `wp/v2/${isTag ? 'tags' : term.taxonomy}/${term.term_id}`,
  };
}
