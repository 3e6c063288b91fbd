import { shownDates } from '../calendar/shown-times.ts';
import { groupedBy } from '../grouped-by.ts';
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
}

interface OtherDate {
  /** In the local time that the page shows. */
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
export async function loadSeriesDates({ site, caller, event }: DateContext): Promise<SeriesDates | undefined> {
  const { row, record } = event;
  const { settings } = caller;
  const series = (await datesOfEvents(site, caller, [{ id: row.ID, timezone: record.timezone }])).get(row.ID);
  if (!series) return undefined;
  const now = utcFromDate(caller.now);
  const { permalinkStructure } = settings;
  const { singleEventSlug, timezoneMode } = settings.calendar;
  const pages = await pagesOfDates(
    site.db,
    row,
    series.dates.map(({ eventStart }) => eventStart),
  );
  const urlOf = (start: string): string =>
    pageIn(caller, record.language, (home) => eventDateUrl({ home, permalinkStructure, singleEventSlug }, row, pages.get(start)!));
  const dates = series.dates.map((date) => {
    const times = { start_date: date.eventStart, end_date: date.eventStart, utc_start_date: date.startUtc, utc_end_date: utcEndOf(date) };
    const shown = shownDates({ ...times, timezone: series.eventZone.name, all_day: record.all_day }, timezoneMode, settings.zone);
    return { ...date, shown: shown.start };
  });
  const datesByDay = groupedBy(dates, ({ shown }) => shown.slice(0, DAY));
  const remaining = dates.filter((date) => utcEndOf(date) >= now);
  const [first] = remaining;
  return {
    others: remaining
      .filter(({ eventStart }) => eventStart !== record.start_date)
      .slice(0, MAX_DATES)
      .map(({ eventStart, shown }) => ({
        start: shown,
        isAlone: datesByDay.get(shown.slice(0, DAY))!.length < 2,
        href: urlOf(eventStart),
      })),
    next: first && { start: first.eventStart, end: toLocal(utcEndOf(first), series.eventZone), zone: series.eventZone },
  };
}

const DAY = 'YYYY-MM-DD'.length;

const utcEndOf = ({ startUtc, length }: { readonly startUtc: string; readonly length: number }): string =>
  textFromUnix(unixFromText(startUtc) + length);
