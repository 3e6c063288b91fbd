import type { EventDates } from '../calendar/dates.ts';
import { fail } from '../errors.ts';
import { groupedBy } from '../grouped-by.ts';
import { storedDates } from '../kinds/events/dates.ts';
import { type EventDate, metasAt, pageOfOccurrence } from '../kinds/events/occurrence.ts';
import type { PostKind, PostValues, StoredPost } from '../kinds/kind.ts';
import type { OccurrencePage } from '../kinds/rendering.ts';
import type { Database } from '../storage/engine/database.ts';
import type { LookUp } from '../storage/engine/look-up-once.ts';
import { loadMetasOf, loadPosts } from '../storage/rows/bundle.ts';
import { datedPostsOnDay, isRecurringEvent, loadOccurrences, occurrencesAt, occurrencesOnDay } from '../storage/rows/recurring-events.ts';
import type { Post } from '../wordpress/rows.ts';
import { parseZone } from '../wordpress/zones.ts';
import type { Caller } from './caller.ts';
import { languageValues } from './record-languages.ts';

/*
 * An event that takes place several times is one post, and has a record for each of its dates. The id of a record is
 * that of the post, or the public id of one date.
 */

type WithSettings = Pick<Caller, 'settings'>;

/** Returns the date with the id of a record; undefined if the id belongs to a post, or to nothing. */
export async function dateOfRecord(
  db: Database,
  { settings }: WithSettings,
  { hasDates = false }: Partial<Pick<PostKind, 'hasDates'>>,
  id: number,
): Promise<EventDate | undefined> {
  const base = settings.recurrence?.base;
  if (!hasDates || base === undefined || id <= base) return undefined;
  const [date] = await loadOccurrences(db, [id], base);
  return date;
}

/** Returns the id of the post behind the id of a record. An unknown id is returned unchanged. */
export async function postOfRecord(
  lookUp: LookUp,
  { settings }: WithSettings,
  { hasDates = false }: Partial<Pick<PostKind, 'hasDates'>>,
  id: number,
): Promise<number> {
  const base = settings.recurrence?.base;
  return !hasDates || base === undefined || id <= base ? id : lookUp(postOfDate, id, base);
}

/** Returns the same for a parameter that may name any post, or a date of an event. */
export const postOfAnyRecord = (lookUp: LookUp, caller: WithSettings, id: number): Promise<number> =>
  postOfRecord(lookUp, caller, { hasDates: true }, id);

/** Returns the posts behind those of these ids that belong to dates of events. */
export async function postsOfRecords(db: Database, { settings }: WithSettings, ids: readonly number[]): Promise<Map<number, number>> {
  const base = settings.recurrence?.base;
  return new Map(base === undefined ? [] : (await loadOccurrences(db, ids, base)).map(({ id, post }) => [id, post]));
}

/**
 * Returns a change in which ids of dates are replaced by those of their events, in the fields that link translations.
 */
export async function withPostIds(
  db: Database,
  caller: WithSettings,
  { hasDates = false }: Partial<Pick<PostKind, 'hasDates'>>,
  values: PostValues,
): Promise<PostValues> {
  const { translation_of: source, translations } = languageValues(values);
  const translationIds = [source, ...(translations?.values() ?? [])].filter((id) => typeof id === 'number');
  const posts = hasDates ? await postsOfRecords(db, caller, translationIds) : new Map<number, number>();
  if (posts.size === 0) return values;
  const postOf = <Id extends number | null>(id: Id) => posts.get(id ?? 0) ?? id;
  return {
    ...values,
    ...(source ? { translation_of: postOf(source) } : {}),
    ...(translations ? { translations: new Map([...translations].map(([code, id]) => [code, postOf(id)])) } : {}),
  };
}

const postOfDate = async (db: Database, id: number, base: number): Promise<number> =>
  (await loadOccurrences(db, [id], base))[0]?.post ?? id;

/**
 * Returns the id of the record shown on the page of one date of an event; undefined if there is no such page. `number`:
 * its number among several on that day; by default the first.
 */
export async function recordOfDate(
  db: Database,
  { settings }: WithSettings,
  post: number,
  { date, number }: { readonly date: string; readonly number: number | undefined },
): Promise<number | undefined> {
  const base = settings.recurrence?.base;
  const ids = base === undefined ? [] : await occurrencesOnDay(db, post, date);
  if (base !== undefined && ids.length > 0) {
    const [dates, metas, posts] = [
      await loadOccurrences(
        db,
        ids.map((id) => base + id),
        base,
      ),
      await loadMetasOf(db, post),
      await loadPosts(db, [post]),
    ];
    const pages = dates
      .filter(({ recurs }) => recurs)
      .sort((one, other) => one.position - other.position)
      .map((one) => ({ id: one.id, number: pageOfOccurrence(posts.get(post)!, metas, one).number ?? 1 }));
    if (pages.length > 0) return pages.find((page) => number === undefined || page.number === number)?.id;
  }
  const posts = await datedPostsOnDay(db, post, date);
  return posts.find((one) => number === undefined || one.number === number)?.id;
}

/** Returns the pages of the dates of an event, by their local starts. `starts`: those of all its dates, in order. */
export async function pagesOfDates(db: Database, post: Post, starts: readonly string[]): Promise<Map<string, OccurrencePage>> {
  const metas = await loadMetasOf(db, post.ID);
  const days = groupedBy(starts, (start) => start.slice(0, DAY));
  const pageOf = (start: string): OccurrencePage => {
    const sameDay = days.get(start.slice(0, DAY)) ?? [];
    return pageOfOccurrence(post, metas, { start, sameDay: sameDay.length, position: sameDay.indexOf(start) + 1 });
  };
  return new Map(starts.map((start) => [start, pageOf(start)]));
}

const DAY = 'YYYY-MM-DD'.length;

/**
 * Returns the id of the record for the date of an event that starts at this time (UTC), or of its post if there is no
 * such date.
 */
export async function recordOfStart(db: Database, { settings }: WithSettings, post: number, startUtc: string): Promise<number> {
  const base = settings.recurrence?.base;
  const [id] = base === undefined ? [] : await occurrencesAt(db, post, startUtc);
  return id === undefined || base === undefined ? post : base + id;
}

/** Fields of a change that concern the dates of an event. */
const DATE_FIELDS = ['start_date', 'end_date', 'timezone', 'all_day'] as const;

/**
 * Returns a change without its date fields if the event recurs. Its dates follow from the rule, so only their current
 * values can be accepted. For other events the change is returned unchanged. `date`: the date whose id the change was
 * addressed to.
 *
 * @throws recurring-event-dates for other dates
 */
export async function withKeptDates(
  db: Database,
  caller: Caller,
  kind: PostKind,
  { before, date }: { readonly before: StoredPost; readonly date: EventDate | undefined },
  values: PostValues,
): Promise<PostValues> {
  if (!kind.hasDates || !caller.settings.recurrence || !DATE_FIELDS.some((name) => name in values)) return values;
  if (!date?.recurs && !(await isRecurringEvent(db, before.row.ID))) return values;
  const postAtDate = { ...before, metas: date ? metasAt(before.metas, date) : before.metas };
  const changedMetas = new Map([...postAtDate.metas, ...Object.entries(kind.derivedRows(values, postAtDate, caller).metas)]);
  if (!areSameDates(storedDates(postAtDate), storedDates({ metas: changedMetas }), caller)) fail('recurring-event-dates');
  return withoutDates(values);
}

/** Returns a change without its date fields. */
export const withoutDates = (values: PostValues): PostValues =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !(DATE_FIELDS as readonly string[]).includes(name)));

/** Returns only the date fields of a change. */
export const onlyDates = (values: PostValues): PostValues =>
  Object.fromEntries(DATE_FIELDS.filter((name) => name in values).map((name) => [name, values[name]]));

/**
 * Whether two events, or dates of them, are at the same time, according to their local times and their zone. The texts
 * in UTC follow from these, but may be wrong or missing in rows of other programs.
 */
export const areSameDates = (one: EventDates, other: EventDates, caller: WithSettings): boolean =>
  (['start', 'end', 'allDay'] as const).every((name) => one[name] === other[name]) && zoneOf(one, caller) === zoneOf(other, caller);

/** Returns the zone of an event: that of the site if it has none. */
export const zoneOf = ({ timezone }: Pick<EventDates, 'timezone'>, { settings }: WithSettings): string =>
  parseZone(timezone)?.name ?? settings.timezone;
