import { fail } from '../errors.ts';
import type { RequestedPage } from '../kinds/calendar-page.ts';
import type { Caller } from '../records/caller.ts';
import { calendarPage } from './calendar-page.ts';
import { type Page, type PageContext, toPage } from './pages.tsx';
import { eventPage, linkedPage } from './record-pages.ts';

/** A requested page. */
export interface PageRequest {
  readonly page: RequestedPage;
  /** Parameters as sent, of which only those that filter lists are used. */
  readonly query: Readonly<Record<string, unknown>>;
  /** The password entered to open a protected event. */
  readonly password: string | undefined;
}

/**
 * Returns the page at a URL of the calendar, as visitors see it.
 *
 * @throws rest_no_route if there is none, rest_invalid_param for invalid filters
 */
export async function renderPage(context: PageContext, caller: Caller, { page, query, password }: PageRequest): Promise<Page> {
  switch (page.of) {
    case 'list':
      return toPage(context, caller, await calendarPage(context, caller, page, query));
    case 'event':
      return toPage(context, caller, await eventPage(context, caller, page, { password }));
    case 'linked':
      return toPage(context, caller, await linkedPage(context, caller, page));
    case 'ids':
      return fail('rest_no_route');
  }
}
