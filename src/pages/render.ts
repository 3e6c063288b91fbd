import { fail } from '../errors.ts';
import type { CalendarPageAsked } from '../kinds/calendar-page.ts';
import type { Caller } from '../records/caller.ts';
import { calendarPage } from './calendar-page.ts';
import { type Page, type PageContext, pageOf } from './pages.tsx';
import { eventPage, linkedPage } from './record-pages.ts';

/** A page that is asked for. */
export interface PageRequest {
  readonly page: CalendarPageAsked;
  /** Parameters as they were sent, of which those count that narrow lists. */
  readonly query: Readonly<Record<string, unknown>>;
  /** What was entered to open a protected event. */
  readonly password: string | undefined;
}

/**
 * The page at an address of the calendar, as anybody may see it.
 *
 * @throws rest_no_route where there is none, rest_invalid_param for filters that cannot be understood
 */
export async function renderPage(context: PageContext, caller: Caller, { page, query, password }: PageRequest): Promise<Page> {
  switch (page.of) {
    case 'list':
      return pageOf(context, caller, await calendarPage(context, caller, page, query));
    case 'event':
      return pageOf(context, caller, await eventPage(context, caller, page, password));
    case 'linked':
      return pageOf(context, caller, await linkedPage(context, caller, page));
    case 'ids':
      return fail('rest_no_route');
  }
}
