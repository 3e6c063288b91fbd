import type { JSX } from 'preact';
import { hourCycleOf } from '../calendar/hour-cycle.ts';
import { hasDaysOfEvent, type RecurringDates } from '../calendar/recurring-dates.ts';
import { lastWholeDay } from '../calendar/schedule.ts';
import { ApiError, fail, refuse } from '../errors.ts';
import { NO_CONTROL_DATA } from '../forms/control.ts';
import { controlOf } from '../forms/controls.ts';
import { dateErrors } from '../forms/date-errors.ts';
import { errorSentence, fieldErrors } from '../forms/error-sentences.ts';
import type { FormContext } from '../forms/form-context.ts';
import { idIn, textIn } from '../forms/form-values.ts';
import { labelOf } from '../forms/labels.ts';
import { spanInWords } from '../html/dates.ts';
import type { I18n } from '../html/i18n.ts';
import { Link } from '../html/links.tsx';
import { namesDays, ruleInWords } from '../html/rule-words.ts';
import { postKind } from '../kinds/index.ts';
import type { Values } from '../kinds/param.ts';
import { type Editable, readEditable } from '../records/editing.ts';
import { acceptParams } from '../records/input.ts';
import { recordOfStart } from '../records/occurrences.ts';
import { mayTrash } from '../records/posts.ts';
import { datesOfEvents } from '../records/recurrences.ts';
import { changeDate, createDate, deleteDate } from '../records/writes/post-writes.ts';
import { lookUpOnce } from '../storage/engine/look-up-once.ts';
import { unixFromText } from '../wordpress/time.ts';
import { localFromDate, localFromUnix } from '../wordpress/zones.ts';
import { KeptInput } from './kept-input.tsx';
import { labelledInput } from './labelled-input.ts';
import { ButtonForm, deskPage, Nonce } from './layout.tsx';
import { deskUrl, displayTitle, type Outcome, type Submission, type Visit } from './visit.ts';

/*
 * Page with the dates of a recurring event: its rule in words, and its next dates. Single dates can be left out, moved
 * and added.
 */

const EVENT = postKind('event');
/** Maximum number of dates shown, starting with today's. */
const MAX_DATES_SHOWN = 60;
const SPAN_FIELDS = ['start_date', 'end_date'] as const;

/** A refused form with a start and an end. */
interface SentSpan {
  readonly input: Values;
  /** The start (UTC) of the date whose form was sent; empty for the form that adds a date. */
  readonly date: string;
}

interface DatesForm {
  /** Absent if the refused form was one that leaves out a date. */
  readonly sentSpan?: SentSpan | undefined;
  readonly errorMessage?: string;
}

/** Returns the dates of an event; undefined if it does not recur. */
export async function loadDates({ site, caller }: FormContext, event: Editable): Promise<RecurringDates | undefined> {
  const timezone = String(event.values.timezone ?? '');
  return (await datesOfEvents(site, caller, [{ id: event.id, timezone }])).get(event.id);
}

/** Returns on which dates an event takes place, as far as words can say it. */
function datesInWords(i18n: I18n, series: RecurringDates): string {
  const { say } = i18n;
  if (series.rule === undefined) return say('desk:rule.listed');
  const { rule } = series.rule;
  // The weekday of a rule in another zone may be another one than that of the dates below.
  if (namesDays(rule) && !hasDaysOfEvent(series)) return say('desk:rule.elsewhere', { zone: series.zone.name });
  return ruleInWords(i18n, rule) ?? say('desk:rule.untold');
}

/** Returns the page with the dates of an event. */
export async function datesPage(visit: Visit, id: number, { sentSpan, errorMessage }: DatesForm = {}): Promise<Outcome> {
  const { site, caller, i18n } = visit;
  const { say } = i18n;
  const event = await readEditable(site, caller, EVENT, id);
  const series = (await loadDates(visit, event)) ?? fail('rest_no_route');
  const { eventZone } = series;
  const today = localFromDate(caller.now, eventZone).slice(0, 10);
  const shownDates = series.dates.filter(({ eventStart }) => eventStart >= today).slice(0, MAX_DATES_SHOWN);
  const mayRemove = await mayTrash(lookUpOnce(site.db), caller, EVENT, event.id);
  const isFirst = (startUtc: string) => startUtc === series.dates[0]?.startUtc;
  const rows = shownDates.map((date) => ({
    ...date,
    allows: { exclude: mayRemove && !isFirst(date.startUtc), move: series.rdates.includes(date.start) && !isFirst(date.startUtc) },
  }));
  const isShownAgain = sentSpan?.date === '' || rows.some(({ startUtc, allows }) => allows.move && startUtc === sentSpan?.date);
  const isElsewhere = event.values.all_day !== true && eventZone.name !== visit.settings.timezone;
  const html = deskPage(visit, {
    title: say('desk:dates.title', { title: displayTitle(visit, event) }),
    section: EVENT.path,
    notice: errorMessage === undefined ? undefined : { tone: 'wrong', text: errorMessage },
    children: (
      <>
        {sentSpan && !isShownAgain && <SpanToCopy visit={visit} input={sentSpan.input} />}
        <p>
          <Link href={deskUrl(visit, `/events/${event.id}`)}>{say('desk:dates.back')}</Link>
        </p>
        <p>
          {say('desk:dates.rule')} <strong>{datesInWords(i18n, series)}</strong>
        </p>
        {series.rule && <p class="quiet">{say('desk:dates.rule-about')}</p>}
        {isElsewhere && <p>{say('desk:dates.zone', { zone: eventZone.name })}</p>}
        <ul class="dates">
          {rows.map(({ eventStart, startUtc, length, allows }) => (
            <DateRow
              key={startUtc}
              visit={visit}
              event={event}
              span={{ start: eventStart, end: localFromUnix(unixFromText(startUtc) + length, eventZone) }}
              startUtc={startUtc}
              input={startUtc === sentSpan?.date ? sentSpan.input : undefined}
              allows={allows}
            />
          ))}
        </ul>
        {rows.length === 0 && <p>{say('desk:dates.none')}</p>}
        <h2>{say('desk:dates.add')}</h2>
        <AddForm visit={visit} event={event} input={sentSpan?.date === '' ? sentSpan.input : {}} />
      </>
    ),
  });
  return { html, ...(errorMessage === undefined ? {} : { status: 422 }) };
}

const AddForm = ({ visit, event, input }: { readonly visit: Visit; readonly event: Editable; readonly input: Values }): JSX.Element => (
  <form method="post" action={deskUrl(visit, `/events/${event.id}/dates`)} class="narrow">
    <Nonce nonce={visit.nonce} />
    <SpanFields visit={visit} values={input} prefix="new" />
    <button type="submit" class="button-main">
      {visit.i18n.say('desk:dates.add-button')}
    </button>
  </form>
);

/** Shows what was entered in the form of a date that has none any more. */
function SpanToCopy({ visit, input }: { readonly visit: Visit; readonly input: Values }): JSX.Element | null {
  const words = labelledInput(visit, `/${EVENT.path}`, input);
  return words.length === 0 ? null : (
    <>
      <p>{visit.i18n.say('desk:dates.input')}</p>
      <KeptInput input={words} />
    </>
  );
}

interface DateRowProps {
  readonly visit: Visit;
  readonly event: Editable;
  readonly span: { readonly start: string; readonly end: string };
  readonly startUtc: string;
  /** The refused input of its form. */
  readonly input: Values | undefined;
  readonly allows: { readonly exclude: boolean; readonly move: boolean };
}

function DateRow({ visit, event, span, startUtc, input, allows }: DateRowProps): JSX.Element {
  const { i18n, settings } = visit;
  const { say } = i18n;
  const allDay = event.values.all_day === true;
  const spanText = spanInWords(i18n, { ...span, allDay }, hourCycleOf(settings.calendar.formats.time));
  const path = `/events/${event.id}/dates`;
  const idSuffix = startUtc.replace(/\D/g, '');
  // The last day of an all-day event is edited as a date; the stored end may be on the following day.
  const end = allDay ? lastWholeDay(span.start, span.end) + span.end.slice(10) : span.end;
  return (
    <li>
      <span>{spanText}</span>{' '}
      {allows.exclude && (
        <ButtonForm
          visit={visit}
          path={`${path}/leave-out`}
          text={say('desk:dates.leave-out')}
          label={`${say('desk:dates.leave-out')}: ${spanText}`}
          danger={say('desk:dates.leave-out-sure')}
          fields={{ date: startUtc }}
        />
      )}
      {allows.move && (
        <details open={input !== undefined}>
          <summary aria-label={`${say('desk:dates.move')}: ${spanText}`}>{say('desk:dates.move')}</summary>
          <form method="post" action={deskUrl(visit, `${path}/move`)}>
            <Nonce nonce={visit.nonce} />
            <input type="hidden" name="date" value={startUtc} />
            <SpanFields visit={visit} values={input ?? { start_date: span.start, end_date: end }} prefix={idSuffix} />
            <button type="submit">{say('desk:form.save')}</button>
          </form>
        </details>
      )}
    </li>
  );
}

/** Inputs for start and end. `prefix`: distinguishes the ids of these inputs from those of others. */
function SpanFields({ visit, values, prefix }: { readonly visit: Visit; readonly values: Values; readonly prefix: string }): JSX.Element {
  const data = { ...NO_CONTROL_DATA, say: visit.i18n.say };
  return (
    <>
      {SPAN_FIELDS.map((name) => {
        const field = EVENT.fields[name]!;
        const { Component, toFormValue } = controlOf(name, field);
        const label = labelOf(visit.i18n, EVENT.name, name);
        return (
          <Component
            key={name}
            name={name}
            id={`${name}-${prefix}`}
            field={field}
            label={label}
            formValue={toFormValue(values[name], data)}
            data={data}
          />
        );
      })}
    </>
  );
}

/** Adds a date. */
export const addDateByForm = (visit: Submission, id: number): Promise<Outcome> =>
  changeDatesByForm(visit, id, async (event) => {
    await createDate(visit.site, visit.caller, EVENT, event.id, await submittedSpan(visit));
  });

/** Leaves out a date. */
export const excludeDateByForm = (visit: Submission, id: number): Promise<Outcome> =>
  changeDatesByForm(visit, id, async (event) => {
    const { site, caller } = visit;
    if (!(await mayTrash(lookUpOnce(site.db), caller, EVENT, event.id))) refuse(caller.viewer);
    await deleteDate(site, caller, EVENT, await submittedDateId(visit, event));
  });

/** Moves a date that was added individually. */
export const moveDateByForm = (visit: Submission, id: number): Promise<Outcome> =>
  changeDatesByForm(visit, id, async (event) => {
    await changeDate(visit.site, visit.caller, EVENT, await submittedDateId(visit, event), await submittedSpan(visit));
  });

/** Returns the id of the date whose start (UTC) is in the form. */
const submittedDateId = ({ site, caller, fields }: Submission, event: Editable): Promise<number> =>
  recordOfStart(site.db, caller, event.id, textIn(fields, 'date'));

async function submittedSpan({ site, caller, fields }: Submission) {
  const raw = enteredSpan(fields);
  return acceptParams(site, caller, EVENT.fields, raw, 'change');
}

const enteredSpan = (fields: Values): Values =>
  Object.fromEntries(
    SPAN_FIELDS.map((name) => {
      const { read: readInput, toApiValue } = controlOf(name, EVENT.fields[name]!);
      return [name, toApiValue(readInput(fields[name]), { ...NO_CONTROL_DATA, say: String }, undefined)];
    }),
  );

/** Changes the dates of an event that the caller edits. An error is shown on the page. */
async function changeDatesByForm(visit: Submission, id: number, work: (event: Editable) => Promise<void>): Promise<Outcome> {
  const event = await readEditable(visit.site, visit.caller, EVENT, idIn(String(id)));
  const input = enteredSpan(visit.fields);
  const hasSpan = SPAN_FIELDS.some((name) => Object.hasOwn(visit.fields, name));
  const sentSpan = hasSpan ? { input, date: textIn(visit.fields, 'date') } : undefined;
  const showError = ([name, sentence]: readonly [string, string]) =>
    datesPage(visit, event.id, { sentSpan, errorMessage: `${labelOf(visit.i18n, EVENT.name, name)}: ${sentence}` });
  const [dateError] = dateErrors(visit, input, event.values);
  if (dateError) return showError(dateError);
  try {
    await work(event);
    return { to: deskUrl(visit, `/events/${event.id}/dates`, { done: 'saved' }) };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500 || error.status === 403) throw error;
    const [fieldError] = fieldErrors(visit, EVENT, error);
    return fieldError ? showError(fieldError) : datesPage(visit, event.id, { sentSpan, errorMessage: dateErrorSentence(visit, error) });
  }
}

/** Returns the sentence about a refused change of dates, in the words of the page instead of those of the API. */
function dateErrorSentence(visit: Visit, error: ApiError): string {
  // The date was on the page, but another user has left it out or moved it since.
  if (error.details.faults?.has('scope')) return visit.i18n.say('desk:dates.gone');
  const key = `desk:dates.${error.problem}`;
  return visit.i18n.has(key) ? visit.i18n.say(key) : errorSentence(visit, error);
}
