import { CALENDAR_UID, DATES } from '../../kinds/events/metas.ts';
import { loadMetas, loadPosts } from '../../storage/rows/bundle.ts';
import { importsOf } from '../../storage/rows/imports.ts';
import { metaOf } from '../../wordpress/rows.ts';
import { type PostItem, textIn } from '../items/items.ts';
import { foldedTitle } from '../items/record-names.ts';
import { inOwnLanguage } from './in-language.ts';
import type { Work } from './run.ts';
import { usablePosts } from './usable-by-name.ts';

/*
 * Finds the event that another calendar has brought under the same UID: a calendar may have got another name, and two
 * calendars may contain the same event. UIDs are unique in the whole world (RFC 5545, 3.8.4.7), but some programs write
 * `1` or `event`.
 */

/**
 * Returns the event that an event of a calendar already is, or undefined. A single event may have moved, or have got
 * another title if its UID looks unique; a date of a series is found by its start. An event in another language is a
 * translation.
 */
export async function findSameUid(work: Work, item: PostItem): Promise<number | undefined> {
  const { run, db } = work;
  const uid = item.kind === 'event' && item.id === undefined ? textIn(item.metas, CALENDAR_UID) : '';
  const idsOfUid = uid === '' ? [] : await inOwnLanguage(work, item, await withoutOwn(work, item, await run.uids.find(db, uid)));
  if (idsOfUid.length === 0) return undefined;
  const [posts, metas] = [await loadPosts(db, idsOfUid), await loadMetas(db, idsOfUid)];
  const usableIds = await usablePosts(db, run, posts, metas);
  const ids = idsOfUid.filter((id) => usableIds.has(id));
  const hasSameTitle = (id: number) => foldedTitle(posts.get(id)?.post_title ?? '') === foldedTitle(item.columns.post_title ?? '');
  const hasSameStart = (id: number) => metaOf(metas.get(id), DATES.startUtc) === textIn(item.metas, DATES.startUtc);
  const found = ids.filter(
    (id) => (hasSameStart(id) && (looksUnique(uid) || hasSameTitle(id))) || (isSingle(item) && ids.length === 1 && hasSameTitle(id)),
  );
  if (found[0] !== undefined) run.uids.found.set(found[0], item.sourceId);
  return found[0];
}

/** Whether a UID has the form that RFC 5545 recommends, with a host, or the length of random ones. */
const looksUnique = (uid: string): boolean => uid.includes('@') || uid.length >= 16;

/** Returns those of these events that this calendar has not brought: it may contain two events that look the same. */
async function withoutOwn({ run, db }: Work, { sourceId }: PostItem, ids: readonly number[]): Promise<readonly number[]> {
  if (ids.length === 0) return ids;
  const importIds = await importsOf(db, ids);
  return ids.filter((id) => (run.uids.found.get(id) ?? sourceId) === sourceId && !importIds.get(id)?.includes(run.importId));
}

/** Whether an event does not repeat: the ids of dates of a series begin with that of the series. */
const isSingle = ({ sourceId, narrowerId }: PostItem): boolean => narrowerId?.startsWith(`${sourceId}#`) ?? false;
