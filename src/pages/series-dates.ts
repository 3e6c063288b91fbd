import { pageIn } from '../kinds/translations.ts';
import type { Caller } from '../records/caller.ts';
import type { FeedEvent } from '../records/feed-events.ts';
import { pagesOfDates } from '../records/occurrences.ts';
import { datesOfEvents } from '../records/recurrences.ts';
import type { Site } from '../site.ts';
import { eventDateUrl } from '../wordpress/links.ts';
import { textFromUnix, unixFromText, utcFromDate } from '../wordpress/time.ts';
import { toLocal, type Zone } from '../wordpress/zones.ts';

/*
 * The dates of a recurring event on its page, and on those of its dates.
 */

/** Maximum number of dates of a recurring event on its page. */
const MAX_DATES = 12;

interface DateContext {
  readonly site: Site;
  readonly caller: Caller;
  readonly event: FeedEvent;
  /** Whether the page shows one of the dates. */
  readonly isDate: boolean;
}

interface OtherDate {
  readonly start: string;
  /** Whether it is the only date on its day. */
  readonly isAlone: boolean;
  readonly href: string;
}

/** Start and end in the local time of a zone. */
export interface LocalSpan {
  readonly start: string;
  readonly end: string;
  readonly zone: Zone;
}

/** The dates of a recurring event that have not ended. */
export interface SeriesDates {
  /** Without the one being shown. */
  readonly others: readonly OtherDate[];
  /** The first of them, even if it is shown; undefined: all are over. */
  readonly next: LocalSpan | undefined;
}

/**
 * Returns the dates of a recurring event that have not ended, some of which may be under way. Undefined: it does not
 * recur.
 */
export async function loadSeriesDates({ site, caller, event, isDate }: DateContext): Promise<SeriesDates | undefined> {
  const { row, record } = event;
  const { settings } = caller;
  const series = (await datesOfEvents(site, caller, [{ id: row.ID, timezone: record.timezone }])).get(row.ID);
  if (!series) return undefined;
  const now = utcFromDate(caller.now);
  const { permalinkStructure } = settings;
  const { singleEventSlug } = settings.calendar;
  const pages = await pagesOfDates(
    site.db,
    row,
    series.dates.map(({ shownStart }) => shownStart),
  );
  const urlOf = (start: string): string =>
    pageIn(caller, record.language, (home) => eventDateUrl({ home, permalinkStructure, singleEventSlug }, row, pages.get(start)!));
  const countOn = (day: string): number => series.dates.filter(({ shownStart }) => shownStart.startsWith(day)).length;
  const remaining = series.dates.filter((date) => utcEndOf(date) >= now);
  const [first] = remaining;
  return {
    others: remaining
      .filter(({ shownStart }) => !(isDate && shownStart === record.start_date))
      .slice(0, MAX_DATES)
      .map(({ shownStart: start }) => ({ start, isAlone: countOn(start.slice(0, DAY)) < 2, href: urlOf(start) })),
    next: first && { start: first.shownStart, end: toLocal(utcEndOf(first), series.eventZone), zone: series.eventZone },
  };
}

const DAY = 'YYYY-MM-DD'.length;

const utcEndOf = ({ startUtc, length }: { readonly startUtc: string; readonly length: number }): string =>
  textFromUnix(unixFromText(startUtc) + length);
