import { CALENDAR_UID, DATES } from '../../kinds/events/metas.ts';
import { loadMetas, loadPosts } from '../../storage/rows/bundle.ts';
import type { LedgerEntry } from '../../storage/rows/imports.ts';
import { metaOf, type Post } from '../../wordpress/rows.ts';
import { toLocal } from '../../wordpress/zones.ts';
import { type PostItem, textIn } from '../items/items.ts';
import { lastingUid } from '../items/lasting-uid.ts';
import { foldedTitle } from '../items/record-names.ts';
import { typeOf } from '../items/site-items.ts';
import { ownLanguageFilter } from './in-language.ts';
import { calendarName, type FormerEntries, isOwnRecord, ownEntries } from './renamed-events.ts';
import type { Run, Work } from './run.ts';

/*
 * Finds the records that events of a calendar of The Events Calendar or of Fasti already are. Two sites may import each
 * other's calendars, and a site its own.
 */

/** An event of a calendar, and what the ledger notes about it. */
export interface Candidate {
  readonly item: PostItem;
  readonly entry: LedgerEntry | undefined;
}

/**
 * A record that an event already is. `isOrigin`: whether it does not come from the calendar, so that the event is a
 * copy of it, which must not change it.
 */
export interface KnownEvent {
  readonly id: number;
  readonly isOrigin: boolean;
}

type Name = NonNullable<ReturnType<typeof calendarName>>;

/**
 * Returns the records that events of such calendars already are, unless this source has created them. `former`: events
 * that this source has brought under other names.
 */
export async function findKnownEvents(
  work: Work,
  candidates: readonly Candidate[],
  former: FormerEntries,
): Promise<Map<PostItem, KnownEvent>> {
  const named = candidates.flatMap(({ item, entry }) => {
    const name = calendarName(item);
    return name && !former.has(item) && !(entry && entry.made > 0) ? [{ item, entry, name }] : [];
  });
  if (named.length === 0) return new Map();
  const possible = await possibleIds(work, named);
  const ids = [...new Set([...possible.values()].flat())].filter((id) => id > 0);
  const [posts, metas] = [await loadPosts(work.db, ids), await loadMetas(work.db, ids)];
  const entries = await ownEntries(work.run, work.db, ids);
  const found = new Map<PostItem, KnownEvent>();
  for (const { item, entry, name } of named) {
    const isOwn = (id: number) => isOwnRecord(entries.get(id), metas.get(id));
    const isFromCalendar = (id: number) => lastingUid(metaOf(metas.get(id), CALENDAR_UID) ?? '') === name.lasting;
    const id = (possible.get(item) ?? []).find((one) => {
      const post = posts.get(one);
      if (post?.post_type !== typeOf('event')) return false;
      // A record of this import that looks the same is that of another event.
      return one === entry?.target || (isSameEvent(item, post, one === ownId(work.run, name)) && !isOwn(one));
    });
    if (id !== undefined) found.set(item, { id, isOrigin: !isFromCalendar(id) && !isOwn(id) });
  }
  return found;
}

/**
 * Returns the ids of the records that events may be, the likeliest ones first. An event of the same name in another
 * language is a translation.
 */
async function possibleIds(
  work: Work,
  named: readonly (Candidate & { readonly name: Name })[],
): Promise<ReadonlyMap<PostItem, readonly number[]>> {
  const { run, db } = work;
  const sameNamed = new Map<PostItem, { readonly language: string | undefined; readonly ids: readonly number[] }>();
  for (const { item, entry } of named) {
    const ids: number[] = [];
    // The names are read once for all of them.
    for (const start of entry || !item.columns.post_date_gmt ? [] : startsOf(run, item))
      ids.push(...(await run.names.findAll(db, 'event', item.columns.post_title ?? '', start)));
    sameNamed.set(item, { language: item.language, ids });
  }
  const inOwnLanguage = await ownLanguageFilter(work, 'event', [...sameNamed.values()]);
  return new Map(
    named.map(({ item, entry, name }) => {
      const compared = sameNamed.get(item);
      return [item, [entry ? entry.target : (ownId(run, name) ?? 0), ...(compared ? inOwnLanguage(compared) : [])]];
    }),
  );
}

/** Returns the starts that the record of an event may have: in its own zone, in that of the site or in UTC. */
function startsOf({ caller }: Run, { metas }: PostItem): ReadonlySet<string> {
  const utc = textIn(metas, DATES.startUtc);
  return new Set([textIn(metas, DATES.start), utc, ...(utc === '' ? [] : [toLocal(utc, caller.settings.zone)])]);
}

/** Returns the id in a UID if its host is that of this site. */
function ownId({ caller }: Run, { lasting }: Name): number | undefined {
  const { home } = caller.settings;
  const [, id, host] = /^(\d+)@(.*)$/.exec(lasting) ?? [];
  return URL.canParse(home) && host?.toLowerCase() === new URL(home).hostname ? Number(id) : undefined;
}

/**
 * Whether a record is an event: both were created in the same second or, if the UID names it, have the same title.
 * Several sites may have one host, as copies for tests do.
 */
const isSameEvent = ({ columns }: PostItem, post: Post, isNamed: boolean): boolean =>
  columns.post_date_gmt === post.post_date_gmt || (isNamed && foldedTitle(columns.post_title ?? '') === foldedTitle(post.post_title));
