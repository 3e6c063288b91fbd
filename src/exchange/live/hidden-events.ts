import { codeOf, isRecord } from '../../objects.ts';
import { asWholeRecord, type LossEntry } from '../items/report.ts';
import { CORE_PAGE_SIZE } from './core-lists.ts';
import { entriesOf } from './record-entries.ts';
import { languageOf } from './record-language.ts';
import { recordLoss } from './record-losses.ts';
import type { JsonObject, RemoteSite, SiteAnswer } from './site-client.ts';
import { storedTitle } from './texts.ts';
import { EMPTY_PAGE, isEndless, nameOfDate, type Page, type Walk } from './walk.ts';

/** Returns events that WordPress's own list contains and the lists of the calendar do not. */
export async function hiddenEventsPage(walk: Walk, page: number): Promise<Page> {
  const { site, events, dates } = walk;
  const answer = await site.request('wp/v2/tribe_events', {
    per_page: CORE_PAGE_SIZE,
    page,
    orderby: 'id',
    order: 'asc',
    _fields: 'id',
    ...(site.credentials === undefined ? {} : { status: 'any' }),
  });
  if (answer.status !== 200 || !Array.isArray(answer.body))
    return isListExhausted(walk, answer, page) ? EMPTY_PAGE : { ...EMPTY_PAGE, entries: [unreadListLoss(site, answer)] };
  const hasNoEnd = isEndless(walk, page, answer.body.length);
  const ids = answer.body.flatMap((one) => (isRecord(one) ? [Number(one.id)] : [])).filter((id) => !events.has(String(id)));
  const answers = await Promise.all(ids.map((id) => site.get(`events/${id}`)));
  const records = answers.flatMap(({ status, body }) => (status === 200 && isRecord(body) ? [body] : []));
  const failures = answers.flatMap(({ status }, index) => (status >= 500 ? [unreadRecordLoss(String(ids[index]), status)] : []));
  // WordPress's list contains the post of a recurring event, the calendar's lists contain its dates.
  const list = records.filter((record) => !dates.has(nameOfRecord(walk, record)));
  // A page may be shorter because it leaves out records that we may not read.
  const isLast = answer.totalPages === undefined ? answer.body.length < CORE_PAGE_SIZE : page >= answer.totalPages;
  if (!isLast && hasNoEnd) return { ...EMPTY_PAGE, entries: [unreadListLoss(site, answer)] };
  return { entries: [...(await entriesOf(walk, 'events', list)), ...failures], isLast };
}

/** Returns the name that the first date of an event has if this is the post of the event. */
function nameOfRecord({ site, options }: Walk, { slug, title, start_date: start, language, url }: JsonObject): string {
  const code = typeof language === 'string' && language !== '' ? language : undefined;
  return nameOfDate({
    slug: String(slug),
    title: storedTitle(String(title)).text,
    start: String(start),
    language: languageOf({ language: code, url }, { home: site.home, settings: options.settings }),
  });
}

/**
 * Whether a response means that WordPress's list of events has no more events for us: the page is beyond the last one,
 * or the site lacks the list or denies it to anonymous clients.
 */
const isListExhausted = ({ site }: Walk, { status }: SiteAnswer, page: number): boolean =>
  status === 404 || (status === 400 && page > 1) || (status >= 400 && status < 500 && site.credentials === undefined);

const unreadRecordLoss = (id: string, status: number): LossEntry =>
  asWholeRecord(recordLoss('events', 'site-record-unreadable', id, `events/${id}`, String(status)), id);

const unreadListLoss = ({ home }: RemoteSite, { status, body }: SiteAnswer): LossEntry => ({
  kind: 'loss',
  loss: { reason: 'site-list-unread', kind: 'source', of: home, detail: `${status} ${codeOf(body)}`.trim() },
});
