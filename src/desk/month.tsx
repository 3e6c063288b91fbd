import type { JSX } from 'preact';
import { movedDates } from '../calendar/dates.ts';
import { hourCycleOf } from '../calendar/hour-cycle.ts';
import { dayOf } from '../calendar/schedule.ts';
import { shownDates } from '../calendar/shown-times.ts';
import { ApiError, failParam } from '../errors.ts';
import { idIn, textIn } from '../forms/form-values.ts';
import { dayInWords, timeInWords } from '../html/dates.ts';
import { Link } from '../html/links.tsx';
import { itemsOfMonth, weeksOfMonth } from '../html/month-weeks.ts';
import { Paging } from '../html/paging.tsx';
import { WeekdayHead } from '../html/weekday-head.tsx';
import { postKind } from '../kinds/index.ts';
import { type Editable, listEditable, readEditable } from '../records/editing.ts';
import { withMaxPerPage } from '../site.ts';
import { addMonths, diffSeconds, isRealDate } from '../wordpress/time.ts';
import { localFromDate, parseZone } from '../wordpress/zones.ts';
import { deskPage, Nonce, type Notice } from './layout.tsx';
import { monthBounds, parseMonth } from './list-filters.ts';
import { writeRecord } from './record-write.ts';
import { deskUrl, displayTitle, type Outcome, type Submission, type Visit } from './visit.ts';

/*
 * The events of a month as a table of days. With a script, events can be dragged to another day.
 */

/** Maximum number of events shown. */
const MAX_EVENTS_SHOWN = 500;

/** Returns the page of the month in the URL, or of the present month. An event is shown on each of its days. */
export async function monthPage(
  visit: Visit,
  { requestedMonth = textIn(visit.request.query, 'month'), notice }: MonthPageOptions = {},
): Promise<Outcome> {
  const { site, caller, settings, i18n } = visit;
  const today = localFromDate(caller.now, settings.zone).slice(0, 10);
  const month = parseMonth(requestedMonth) ?? today.slice(0, 7);
  const { cutoff, timezoneMode } = settings.calendar;
  const { days: margin, events: marginEvents } = timezoneMode === 'site' ? ALL_DAY_MARGIN : NO_MARGIN;
  const limit = MAX_EVENTS_SHOWN + marginEvents;
  const params = { ...monthBounds(month, margin), per_page: limit, orderby: 'start_date', order: 'asc' };
  const list = await listEditable(withMaxPerPage(site, limit), caller, postKind('event'), params, { each: 'occurrence' });
  const readEvents = list.rows.map((row) => onMonth(visit, row));
  const { items: events, leftOut } = itemsOfMonth(month, readEvents, { cutoff, limit: MAX_EVENTS_SHOWN });
  const hiddenCount = leftOut + list.total - list.rows.length;
  const first = Number(settings.raw.get('start_of_week') ?? 1) % 7;
  const weeks = weeksOfMonth(month, events, { firstDay: first, cutoff });
  const neighbour = (step: number) => {
    const otherMonth = addMonths(`${month}-01 00:00:00`, step).slice(0, 7);
    // The years of dates have four digits.
    if (parseMonth(otherMonth) === undefined) return undefined;
    return { href: deskUrl(visit, '/month', { month: otherMonth }), text: dayInWords(i18n, otherMonth, 'month') };
  };
  const html = deskPage(visit, {
    title: dayInWords(i18n, month, 'month'),
    section: 'month',
    ...(notice ? { notice } : {}),
    children: (
      <>
        <Paging label={i18n.say('desk:month.other')} previous={neighbour(-1)} next={neighbour(1)} />
        <form method="post" action={deskUrl(visit, '/month/move')} id="move" data-move>
          <Nonce nonce={visit.nonce} />
        </form>
        <table class="month">
          <WeekdayHead i18n={i18n} first={first} />
          <tbody>
            {weeks.map((week) => (
              <tr key={week[0]?.date}>
                {week.map(({ date, items }) => (
                  <Day key={date} visit={visit} day={date} today={date === today} events={items} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        {hiddenCount > 0 && (
          <p>
            <Link href={deskUrl(visit, '/events', { month, orderby: 'start_date', order: 'desc' })}>
              {i18n.say('desk:month.more', { count: hiddenCount })}
            </Link>
          </p>
        )}
      </>
    ),
  });
  return { html };
}

/** The month to show instead of the one in the URL, and a message. */
interface MonthPageOptions {
  readonly requestedMonth?: string;
  readonly notice?: Notice;
}

/**
 * Days around a month in whose bounds in UTC its all-day events in distant zones are, since these are shown on their
 * own days; and the number of events on those days that may be read as well.
 */
const ALL_DAY_MARGIN = { days: 1, events: 500 };
const NO_MARGIN = { days: 0, events: 0 };

/** An event with start and end as the month shows them, which are those of the calendar's pages. */
interface MonthEvent {
  readonly row: Editable;
  readonly start: string;
  readonly end: string;
}

function onMonth({ settings }: Visit, row: Editable): MonthEvent {
  const text = (name: string) => String(row.record[name] ?? '');
  const times = {
    ...storedSpan(row),
    utc_start_date: text('utc_start_date'),
    utc_end_date: text('utc_end_date'),
    timezone: text('timezone'),
    all_day: row.record.all_day === true,
  };
  const { start, end } = shownDates(times, settings.calendar.timezoneMode, settings.zone);
  return { row, start, end };
}

const storedSpan = ({ record }: Editable) => ({
  start_date: String(record.start_date ?? ''),
  end_date: String(record.end_date ?? ''),
});

function Day(props: {
  readonly visit: Visit;
  readonly day: string;
  readonly today: boolean;
  /** Undefined: the day belongs to another month. */
  readonly events: readonly MonthEvent[] | undefined;
}): JSX.Element {
  const { visit, day, today, events = [] } = props;
  const { i18n } = visit;
  return (
    <td class={props.events ? undefined : 'outside'} data-day={day}>
      <span class="day-words" aria-hidden="true">
        {dayInWords(i18n, day, 'weekday').slice(0, 3)}{' '}
      </span>
      <Link
        href={deskUrl(visit, '/events/new', { day })}
        label={i18n.say('desk:month.new', { day: dayInWords(i18n, day, 'long') })}
        current={today ? 'date' : undefined}
        class="day-number"
      >
        {Number(day.slice(8))}
      </Link>
      <ul class="day-events">
        {events.map((event) => (
          <DayEvent key={event.row.id} visit={visit} event={event} begins={dayOf(event.start, visit.settings.calendar.cutoff) === day} />
        ))}
      </ul>
    </td>
  );
}

/**
 * An event on a day. It can be dragged on its first day, on which its time is shown. Single dates of a recurring event
 * cannot be moved, since they follow from its rule.
 */
function DayEvent(props: { readonly visit: Visit; readonly event: MonthEvent; readonly begins: boolean }): JSX.Element {
  const { visit, event, begins } = props;
  const { row, start } = event;
  const { i18n, settings } = visit;
  const title = displayTitle(visit, row);
  const hourCycle = hourCycleOf(settings.calendar.formats.time);
  const isOneOfMany = settings.recurrence !== undefined && row.id > settings.recurrence.base;
  return (
    <li data-event={row.mayEdit && begins && !isOneOfMany ? String(row.id) : undefined} data-version={row.version}>
      <bdi>{row.mayEdit ? <Link href={deskUrl(visit, `/events/${row.id}`)}>{title}</Link> : title}</bdi>{' '}
      {begins && row.record.all_day !== true && <span class="quiet">{timeInWords(i18n, start, hourCycle)}</span>}
    </li>
  );
}

const DAY_SECONDS = 86_400;

/**
 * Moves an event to another day; its times and its duration stay. If another user has saved it since the month was
 * shown, it is not moved, and the month is shown again.
 */
export async function moveEvent(visit: Submission): Promise<Outcome> {
  const { site, settings, caller, fields, i18n } = visit;
  const kind = postKind('event');
  const day = textIn(fields, 'day');
  const record = await readEditable(site, caller, kind, idIn(textIn(fields, 'id')));
  const { start_date: start, end_date: end } = storedSpan(record);
  const { start: shownStart } = onMonth(visit, record);
  const midnight = `${day} 00:00:00`;
  if (!/^\d{4}-\d\d-\d\d$/.test(day) || !isRealDate(day)) failParam('start_date', 'start-invalid');
  const days = diffSeconds(`${dayOf(shownStart, settings.calendar.cutoff)} 00:00:00`, midnight) / DAY_SECONDS;
  const moved = movedDates({ start, end }, days, parseZone(String(record.values.timezone)) ?? settings.zone);
  const dates = { start_date: moved.start, end_date: moved.end };
  try {
    await writeRecord(visit, kind, { record, version: textIn(fields, 'version') || record.version, raw: dates });
  } catch (error) {
    if (!(error instanceof ApiError) || error.problem !== 'edit-conflict') throw error;
    const notice = { tone: 'wrong', text: i18n.say('desk:month.conflict', { title: displayTitle(visit, record) }) } as const;
    return { ...(await monthPage(visit, { requestedMonth: shownStart.slice(0, 7), notice })), status: 409 };
  }
  return { to: deskUrl(visit, '/month', { month: day.slice(0, 7), done: 'moved' }) };
}
