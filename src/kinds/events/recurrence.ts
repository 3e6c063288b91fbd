import { z } from 'zod';
import type { RecurringDates } from '../../calendar/recurring-dates.ts';
import { renderTitle } from '../../wordpress/content/render.ts';
import type { Post } from '../../wordpress/rows.ts';
import { isPublic } from '../../wordpress/status.ts';
import { flag } from '../grammars/flags.ts';
import { oneOf } from '../grammars/grammars.ts';
import { timeText } from '../grammars/times.ts';
import type { Params } from '../param.ts';
import { stamp } from '../shapes.ts';

/** The parameter that requests the recurrence rule of an event. */
export const RECURRENCE = { recurrence: { grammar: flag, isAdditional: true } } satisfies Params;

/** The parameter that restricts a write under the id of one date to this date. */
export const SCOPE = { scope: { grammar: oneOf(['date'], 'enum'), isAdditional: true } } satisfies Params;

/** Start and end of an additional date. */
export const SPAN = { start_date: { grammar: timeText, required: true }, end_date: { grammar: timeText, required: true } } satisfies Params;

/** The recurrence of an event. Times are local, in the zone of the stored rule. */
export const recurrenceRecord = z.object({
  post_id: z.int(),
  dtstart: stamp,
  rrule: z.string().nullable(),
  rdate: z.array(stamp),
  exdate: z.array(stamp),
  first: stamp,
  count: z.int(),
  series: z.object({ id: z.int(), title: z.string(), slug: z.string() }).nullable(),
});

/**
 * Returns the member `recurrence` of an event. `series`: the post of the series that the event belongs to; it is only
 * shown if it is published.
 */
export const renderRecurrence = (
  post: number,
  recurring: RecurringDates,
  series: SeriesPost | undefined,
): z.output<typeof recurrenceRecord> => ({
  post_id: post,
  dtstart: recurring.start,
  rrule: recurring.rule?.text ?? null,
  rdate: [...recurring.rdates],
  exdate: [...recurring.exdates],
  first: recurring.dates[0]?.start ?? recurring.start,
  count: recurring.dates.length,
  series:
    series && isPublic(series.columns.post_status)
      ? { id: series.id, title: renderTitle(series.columns.post_title), slug: series.columns.post_name }
      : null,
});

/** A series as stored. */
interface SeriesPost {
  readonly id: number;
  readonly columns: Readonly<Pick<Post, 'post_title' | 'post_name' | 'post_status'>>;
}
