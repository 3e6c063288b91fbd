import type { JSX } from 'preact';
import { failParam } from '../errors.ts';
import { textIn } from '../forms/form-values.ts';
import { dayInWords, hourCycleOf, timeInWords } from '../html/dates.ts';
import { Link } from '../html/links.tsx';
import { daysOfWeeks } from '../html/month-weeks.ts';
import { Paging } from '../html/paging.tsx';
import { WeekdayHead } from '../html/weekday-head.tsx';
import { postKind } from '../kinds/index.ts';
import { type Editable, listToEdit, readToEdit } from '../records/editing.ts';
import { acceptParams } from '../records/input.ts';
import { changePost } from '../records/post-writes.ts';
import { addSeconds, diffSeconds } from '../wordpress/time.ts';
import { nowLocal } from '../wordpress/zones.ts';
import { deskPage, Nonce } from './layout.tsx';
import { monthBounds } from './lists.tsx';
import { deskUrl, type Outcome, type Submission, type Visit } from './visit.ts';

/*
 * The events of a month as a table of its days. With a script, an event is moved by dragging it to another day.
 */

/** How many events of a month are shown. */
const MOST = 500;

/** A month, as the address names it, else the present one. */
export async function monthPage(visit: Visit): Promise<Outcome> {
  const { site, caller, settings, i18n } = visit;
  const asked = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(textIn(visit.request.query, 'month'))?.[0];
  const today = nowLocal(caller.now, settings.zone).slice(0, 10);
  const month = asked ?? today.slice(0, 7);
  const [year, number] = month.split('-').map(Number) as [number, number];
  const wide = { ...site, config: { ...site.config, maxPerPage: MOST } };
  const list = await listToEdit(wide, caller, postKind('event'), {
    ...monthBounds(year, number),
    per_page: MOST,
    orderby: 'start_date',
    order: 'asc',
  });
  const first = Number(settings.raw.get('start_of_week') ?? 1) % 7;
  const days = daysOfWeeks(month, first);
  const around = (step: number) => {
    const moved = new Date(Date.UTC(year, number - 1 + step, 1)).toISOString().slice(0, 7);
    return { href: deskUrl(visit, '/month', { month: moved }), text: dayInWords(i18n, moved, 'month') };
  };
  const html = deskPage(visit, {
    title: dayInWords(i18n, month, 'month'),
    part: 'month',
    children: (
      <>
        <Paging label={i18n.say('desk:month.other')} previous={around(-1)} next={around(1)} />
        <form method="post" action={deskUrl(visit, '/month/move')} id="move" data-move>
          <Nonce nonce={visit.nonce} />
        </form>
        <table class="month">
          <WeekdayHead i18n={i18n} first={first} />
          <tbody>
            {days.map((week) => (
              <tr key={week[0]}>
                {week.map((day) => (
                  <Day
                    key={day}
                    visit={visit}
                    day={day}
                    outside={!day.startsWith(month)}
                    today={day === today}
                    events={list.rows.filter((row) => startOf(row).startsWith(day))}
                  />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </>
    ),
  });
  return { html };
}

const startOf = ({ record }: Editable): string => String(record.start_date ?? '');

function Day(props: {
  readonly visit: Visit;
  readonly day: string;
  readonly outside: boolean;
  readonly today: boolean;
  readonly events: readonly Editable[];
}): JSX.Element {
  const { visit, day, outside, today, events } = props;
  const { i18n, settings } = visit;
  const hourCycle = hourCycleOf(settings.raw.get('time_format') ?? 'H:i');
  return (
    <td class={outside ? 'outside' : undefined} data-day={day}>
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
        {events.map((row) => (
          <li
            key={row.id}
            data-event={row.mayEdit ? String(row.id) : undefined}
            data-version={row.version}
            class={`of-${row.row.post_status}`}
          >
            {row.mayEdit ? (
              <Link href={deskUrl(visit, `/events/${row.id}`)}>{row.row.post_title || i18n.say('desk:untitled')}</Link>
            ) : (
              row.row.post_title
            )}{' '}
            {row.record.all_day !== true && <span class="quiet">{timeInWords(i18n, startOf(row), hourCycle)}</span>}
          </li>
        ))}
      </ul>
    </td>
  );
}

/** Moves an event to another day; its times stay, and it lasts as long as before. */
export async function moveEvent(visit: Submission): Promise<Outcome> {
  const { site, caller, fields } = visit;
  const kind = postKind('event');
  const day = textIn(fields, 'day');
  const record = await readToEdit(site, caller, kind, Number(textIn(fields, 'id')) || 0);
  const [start, end] = [record.values.start_date, record.values.end_date].map(String) as [string, string];
  if (!/^\d{4}-\d\d-\d\d$/.test(day)) failParam('start_date', 'start-invalid');
  const moved = day + start.slice(10);
  const dates = { start_date: moved, end_date: addSeconds(moved, diffSeconds(start, end)) };
  const values = await acceptParams(site, caller, kind.fields, dates, 'change');
  await changePost(site, caller, kind, record.id, values);
  return { to: deskUrl(visit, '/month', { month: day.slice(0, 7), done: 'moved' }) };
}
