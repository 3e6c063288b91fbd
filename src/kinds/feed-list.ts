import { beginOfDay, boundLocal, clampDateTime, endOfDay } from '../calendar/window.ts';
import { addSeconds, lastDayOfMonth, utcFromDate } from '../wordpress/time.ts';
import { localFromDate, toUtc } from '../wordpress/zones.ts';
import type { Condition } from './condition.ts';
import { eventFilters } from './events/list.ts';
import { HIDDEN_META } from './events/metas.ts';
import { filter } from './filter.ts';
import { time } from './grammars/times.ts';
import type { ListParams, Narrowed } from './list-param.ts';
import type { RuleContext } from './rendering.ts';
import { type Timeliness, timelinessOfBounds } from './timeliness.ts';

/*
 * Events in the feeds of the calendar. The rules are those of the pages of The Events Calendar, not those of the list
 * route: a list has no upper bound, and starts with events that have not ended yet.
 */

/** Views of a page of the calendar. */
export type FeedView = 'list' | 'past' | 'month' | 'day';

/**
 * A view, and the day or month that it starts with (`YYYY-MM-DD` or `YYYY-MM`). Without a date it starts at the present
 * moment, month or day.
 */
export interface FeedSpan {
  readonly view: FeedView;
  readonly date?: string | undefined;
}

/** Returns the conditions and the order of a view, and when its events change without any write. */
export function narrowSpan({ view, date }: FeedSpan, context: RuleContext): Omit<Narrowed, 'echo'> {
  const timeliness: Timeliness = date !== undefined ? 'never' : view === 'list' || view === 'past' ? 'minute' : 'daily';
  return {
    conditions: SPANS[view](context, date),
    order: { by: 'start', descending: view === 'past' },
    timeliness,
  };
}

/** Events that are not hidden from lists. Calendars contain only these; news feeds contain all. */
export const NOT_HIDDEN: Condition = { by: 'meta', key: HIDDEN_META, isPresent: false, guarded: false };

/**
 * Parameters of the list route that also filter a page or a feed, and the day that it ends with. The date, paging and
 * order parameters of the route do not apply here.
 */
export const feedFilters = {
  search: eventFilters.search,
  categories: eventFilters.categories,
  tags: eventFilters.tags,
  venue: eventFilters.venue,
  organizer: eventFilters.organizer,
  featured: eventFilters.featured,
  city: eventFilters.city,
  country: eventFilters.country,
  state: eventFilters.state,
  /** Only events that start by the end of this day. */
  until: filter({
    grammar: time,
    narrows: (value, context) => {
      const { settings, now } = context;
      const day = boundLocal(value, now, settings.zone);
      return [momentCondition({ column: 'start_date', op: '<=', value: endOfDay(day, settings.calendar.cutoff) }, context)];
    },
    ages: (value) => timelinessOfBounds(value),
    ignoresEmpty: true,
    isAdditional: true,
  }),
} satisfies ListParams;

/** A bound in the site's local time; `utc`: its UTC time, if known. */
interface Bound extends Pick<Extract<Condition, { by: 'moment' }>, 'column' | 'op' | 'value'> {
  readonly utc?: string;
}

const SPANS: Readonly<Record<FeedView, (context: RuleContext, date?: string) => Condition[]>> = {
  list: (context, date) => {
    const bound = date === undefined ? thisMinute(context) : { value: startOfDay(date, context) };
    return [momentCondition({ column: 'end_date', op: '>', ...bound }, context)];
  },
  past: (context, date) =>
    date === undefined
      ? [momentCondition({ column: 'end_date', op: '<=', ...thisMinute(context) }, context)]
      : [momentCondition({ column: 'start_date', op: '<', value: startOfDay(date, context) }, context)],
  month: (context, date = today(context)) => overlapping(`${date.slice(0, 7)}-01`, lastDayOfMonth(date), context),
  day: (context, date = today(context)) => overlapping(date, date, context),
};

/**
 * Returns the conditions of events that overlap the days from the first to the last one; one that lasts until midnight
 * is not on the day that begins then. In UTC they include the all-day events of these days in every zone, since these
 * are shown on their own days; the others are left out later.
 */
function overlapping(firstDay: string, lastDay: string, context: RuleContext): Condition[] {
  const { cutoff, timezoneMode } = context.settings.calendar;
  const toSiteUtc = (local: string) => toUtc(local, context.settings.zone);
  const [start, end] = [startOfDay(firstDay, context), endOfDay(lastDay, cutoff)];
  const lastStart = addSeconds(startOfDay(lastDay, context), WESTERNMOST_HOURS * HOUR);
  const firstEnd = addSeconds(endOfDay(firstDay, cutoff), -EASTERNMOST_HOURS * HOUR);
  const [utcStart, utc] = [clampDateTime(toSiteUtc(start)), timezoneMode === 'site'];
  const earliestEnd = earliest(utcStart, firstEnd);
  return [
    momentCondition({ column: 'start_date', op: '<=', value: end, utc: latest(toSiteUtc(end), lastStart) }, context),
    momentCondition({ column: 'end_date', op: '>=', value: start, utc: earliestEnd }, context),
    utc && earliestEnd < utcStart ? overlappingHereOrThere(utcStart, start) : { by: 'overlap', utc, value: utc ? utcStart : start },
  ];
}

/**
 * Returns the condition of events that overlap the time from the start of a day on, in the site's zone (`utc`: this
 * moment in UTC) or in their own, as all-day events in zones further east do.
 */
const overlappingHereOrThere = (utc: string, local: string): Condition => ({
  by: 'either',
  conditions: [
    { by: 'overlap', utc: true, value: utc },
    { by: 'moment', column: 'end_date', utc: false, op: '>', value: local },
  ],
});

/** Hours between UTC and the zones in which a day begins first and last. */
const [EASTERNMOST_HOURS, WESTERNMOST_HOURS, HOUR] = [14, 12, 3600];

const inOrder = (one: string, other: string): [string, string] => (one < other ? [one, other] : [other, one]);
const earliest = (one: string, other: string): string => inOrder(clampDateTime(one), clampDateTime(other))[0];
const latest = (one: string, other: string): string => inOrder(clampDateTime(one), clampDateTime(other))[1];

const startOfDay = (date: string, { settings }: RuleContext): string => beginOfDay(date, settings.calendar.cutoff);

const today = ({ now, settings }: RuleContext): string => localFromDate(now, settings.zone).slice(0, 10);

/**
 * Returns the start of the present minute. Events end on a full minute or one second before it, so a list stays valid
 * for the whole minute.
 */
const thisMinute = ({ now, settings }: RuleContext): Required<Pick<Bound, 'value' | 'utc'>> => ({
  value: minuteOf(localFromDate(now, settings.zone)),
  utc: minuteOf(utcFromDate(now)),
});
const minuteOf = (text: string): string => `${text.slice(0, 16)}:00`;

/** Returns a bound as a condition, in local or in UTC time as the calendar's settings say. */
function momentCondition({ column, op, value, utc: knownUtc }: Bound, { settings }: RuleContext): Condition {
  const utc = settings.calendar.timezoneMode === 'site';
  return { by: 'moment', column, op, utc, value: utc ? (knownUtc ?? clampDateTime(toUtc(value, settings.zone))) : value };
}
