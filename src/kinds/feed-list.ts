import { beginOfDay, boundLocal, endOfDay } from '../calendar/window.ts';
import { addDays, addMonths, nowUtc } from '../wordpress/time.ts';
import { nowLocal, toUtc } from '../wordpress/zones.ts';
import type { Condition } from './condition.ts';
import { eventFilters } from './events/list.ts';
import { HIDDEN_META } from './events/metas.ts';
import { filter } from './filter.ts';
import { time } from './grammars/times.ts';
import type { ListParams, Narrowed } from './list-param.ts';
import type { RuleContext } from './rendering.ts';
import { agesOf, type Timeliness } from './timeliness.ts';

/*
 * What the feeds of the calendar list. Their rules are those of the pages of The Events Calendar, not those of the list
 * route: a list has no upper bound, and begins with what has not ended yet.
 */

/** What a page of the calendar shows. */
export type FeedView = 'list' | 'past' | 'month' | 'day';

/**
 * A view, and the day or month that it begins with (`YYYY-MM-DD` or `YYYY-MM`); without one: the present moment, month
 * or day.
 */
export interface FeedSpan {
  readonly view: FeedView;
  readonly date?: string | undefined;
}

/** The events of a view in their order, and when they change without any write. */
export function narrowSpan({ view, date }: FeedSpan, context: RuleContext): Omit<Narrowed, 'echo'> {
  const bounds = BOUNDS[view](context, date);
  const timeliness: Timeliness = date !== undefined ? 'never' : view === 'list' || view === 'past' ? 'minute' : 'daily';
  return { conditions: bounds.map((bound) => moment(bound, context)), order: { by: 'start', descending: view === 'past' }, timeliness };
}

/** Events that their authors keep out of lists: calendars leave them out, feeds of news do not. */
export const UNHIDDEN: Condition = { by: 'meta', key: HIDDEN_META, present: false, guarded: false };

/**
 * Parameters of the list route that narrow a page or a feed too, and the day that it ends with. The dates of the route,
 * its paging and its order have no meaning here.
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
  /** What has begun by the end of this day. */
  until: filter({
    grammar: time,
    narrows: (value, context) => {
      const { settings, now } = context;
      const day = boundLocal(value, now, settings.zone);
      return [moment({ column: 'start_date', op: '<=', value: endOfDay(day, settings.calendar.cutoff) }, context)];
    },
    ages: agesOf,
    ours: true,
  }),
} satisfies ListParams;

/** A bound by the wall clock of the site; `utc`: its moment, where that is known. */
interface Bound extends Pick<Extract<Condition, { by: 'moment' }>, 'column' | 'op' | 'value'> {
  readonly utc?: string;
}

const BOUNDS: Readonly<Record<FeedView, (context: RuleContext, date?: string) => Bound[]>> = {
  list: (context, date) => [
    { column: 'end_date', op: '>', ...(date === undefined ? thisMinute(context) : { value: begin(date, context) }) },
  ],
  past: (context, date) =>
    date === undefined
      ? [{ column: 'end_date', op: '<=', ...thisMinute(context) }]
      : [{ column: 'start_date', op: '<', value: begin(date, context) }],
  month: (context, date = today(context)) => {
    const first = `${date.slice(0, 7)}-01`;
    return touching(first, addDays(addMonths(`${first} 00:00:00`, 1), -1), context);
  },
  day: (context, date = today(context)) => touching(date, date, context),
};

/** What touches the days from the first to the last one. */
const touching = (first: string, last: string, context: RuleContext): Bound[] => [
  { column: 'start_date', op: '<=', value: endOfDay(last, context.settings.calendar.cutoff) },
  { column: 'end_date', op: '>=', value: begin(first, context) },
];

const begin = (date: string, { settings }: RuleContext): string => beginOfDay(date, settings.calendar.cutoff);

const today = ({ now, settings }: RuleContext): string => nowLocal(now, settings.zone).slice(0, 10);

/**
 * The begin of the present minute: events end with a minute, or a second before one, so that a list holds for the whole
 * of it.
 */
const thisMinute = ({ now, settings }: RuleContext): Required<Pick<Bound, 'value' | 'utc'>> => ({
  value: minuteOf(nowLocal(now, settings.zone)),
  utc: minuteOf(nowUtc(now)),
});
const minuteOf = (text: string): string => `${text.slice(0, 16)}:00`;

/** Wall clocks of events are compared, or their moments, as the settings of the calendar say. */
function moment({ column, op, value, utc: known }: Bound, { settings }: RuleContext): Condition {
  const utc = settings.calendar.timezoneMode === 'site';
  return { by: 'moment', column, op, utc, value: utc ? (known ?? toUtc(value, settings.zone)) : value };
}
