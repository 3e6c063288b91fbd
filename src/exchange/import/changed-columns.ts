import type { StoredPost } from '../../kinds/kind.ts';
import type { Caller } from '../../records/caller.ts';
import { postsHoldingSlugs } from '../../storage/rows/ids-in-use.ts';
import { lockNames, slugLock } from '../../storage/rows/locks.ts';
import type { Post } from '../../wordpress/rows.ts';
import { sanitizeTitle } from '../../wordpress/slug.ts';
import { DATED_STATUSES, isFloating, settleDates } from '../../wordpress/status.ts';
import { utcFromDate, ZERO_DATE } from '../../wordpress/time.ts';
import { localFromDate, toLocal, toUtc } from '../../wordpress/zones.ts';
import type { CleanColumns, CleanPost } from '../items/clean.ts';
import type { PostItem } from '../items/items.ts';
import { noteMissing, WITHHELD } from './incomplete.ts';
import type { Resolved } from './resolve.ts';
import { permittedStatus } from './rights.ts';
import type { Work } from './run.ts';
import { slugsFor } from './slugs.ts';
import { wantSlug } from './wanted-slugs.ts';

/** An imported item and the existing post that it updates. */
interface IncomingPost {
  readonly item: PostItem;
  readonly key: string;
  readonly digest: string;
  readonly clean: CleanPost;
  readonly target: number;
  readonly isShownNow?: boolean;
}

/** Returns the columns of a post that change: those that differ in the source, and those that depend on them. */
export async function changedColumns(
  work: Work,
  incoming: IncomingPost,
  before: StoredPost,
  { author, parent }: Pick<Resolved, 'author' | 'parent'>,
): Promise<Partial<Post>> {
  const { item, clean, isShownNow } = incoming;
  const { row } = before;
  // Posts that editors have moved to the trash stay there, unless the source contains a trash.
  const isOut = row.post_status === 'trash' && !item.complete;
  const { post_name: _slug, post_status: sourceStatus, ...rest } = statedColumns(item, clean);
  const shownStatus = isShownNow && row.post_status === 'private' ? clean.columns.post_status : undefined;
  const wantedStatus = (isOut ? undefined : (sourceStatus ?? shownStatus)) ?? row.post_status;
  const status = permittedStatus(work, item, wantedStatus, before);
  if (status !== wantedStatus) noteMissing(work.ledger, incoming.key, [WITHHELD]);
  const { caller } = work.run;
  const sourceColumns = withoutOlderModification(rest, row);
  const columns: Partial<Post> = {
    ...sourceColumns,
    ...localDates(sourceColumns, caller),
    post_status: status,
    ...publication(sourceColumns, status, row, caller),
    ...(isOut ? {} : await slugChange(work, incoming, status, row)),
    ...(author === undefined ? {} : { post_author: author }),
    ...(parent === undefined ? {} : { post_parent: parent }),
    ...(item.complete && item.parent === undefined ? { post_parent: 0 } : {}),
  };
  return Object.fromEntries(Object.entries(columns).filter(([name, value]) => row[name as keyof Post] !== value)) as Partial<Post>;
}

/** Returns the columns without those whose values are for new records only. */
const statedColumns = ({ initial = [] }: PostItem, { columns }: CleanPost): CleanColumns =>
  Object.fromEntries(Object.entries(columns).filter(([name]) => !initial.includes(name)));

/** Adds the time of modification to the changed columns of a post: that of the source, otherwise now. */
export function withModification(columns: Partial<Post>, { clean }: Pick<IncomingPost, 'clean'>, row: Post, caller: Caller): Partial<Post> {
  const { settings, now } = caller;
  const isStated = clean.columns.post_modified !== undefined || isModifiedLater(clean.columns, row);
  return isStated ? columns : { ...columns, post_modified: localFromDate(now, settings.zone), post_modified_gmt: utcFromDate(now) };
}

// ------------------------------------------------------------------------------------------------- dates
/** Whether a source that has the time of modification only in UTC, as calendars do, has a later one than the post. */
const isModifiedLater = ({ post_modified: local, post_modified_gmt: utc = '' }: CleanColumns, row: Post): boolean =>
  local === undefined && utc > row.post_modified_gmt;

/**
 * Removes a time of modification that is only in UTC and earlier than the post's: the post may have been edited here.
 */
function withoutOlderModification(columns: CleanColumns, row: Post): CleanColumns {
  const { post_modified_gmt: _utc, ...rest } = columns;
  return columns.post_modified !== undefined || isModifiedLater(columns, row) ? columns : rest;
}

/** Returns the local dates that correspond to dates in UTC, if the source has no local ones. */
function localDates(columns: CleanColumns, { settings: { zone } }: Caller): Partial<Post> {
  const {
    post_date: date,
    post_date_gmt: dateUtc = ZERO_DATE,
    post_modified: modified,
    post_modified_gmt: modifiedUtc = ZERO_DATE,
  } = columns;
  return {
    ...(date !== undefined || dateUtc === ZERO_DATE ? {} : { post_date: toLocal(dateUtc, zone) }),
    ...(modified !== undefined || modifiedUtc === ZERO_DATE ? {} : { post_modified: toLocal(modifiedUtc, zone) }),
  };
}

/**
 * Returns status and date of a post that is published now, if neither the source nor the post has a date of
 * publication.
 */
function publication({ post_date: date, post_date_gmt: dateUtc }: CleanColumns, status: string, row: Post, caller: Caller): Partial<Post> {
  if (date !== undefined || dateUtc !== undefined || row.post_date_gmt !== ZERO_DATE || !DATED_STATUSES.includes(status)) return {};
  const { settings, now } = caller;
  const dates = settleDates({
    status,
    isRequested: true,
    before: { status: row.post_status, date: row.post_date, dateUtc: row.post_date_gmt },
    now: { local: localFromDate(now, settings.zone), utc: utcFromDate(now) },
    toUtc: (text) => toUtc(text, settings.zone),
    toLocal: (text) => toLocal(text, settings.zone),
  });
  return { post_status: dates.status, post_date: dates.post_date, post_date_gmt: dates.post_date_gmt };
}

// ------------------------------------------------------------------------------------------------- slugs
/**
 * Returns the slug of the source if no other post has it; otherwise notes that the post wants it. A post that leaves
 * the drafts or the trash always gets a unique slug.
 */
async function slugChange(work: Work, incoming: IncomingPost, status: string, row: Post): Promise<{ post_name?: string }> {
  const { run, db } = work;
  const { item, clean, target: id } = incoming;
  const { post_name: sourceSlug = '', post_title: title = row.post_title } = clean.columns;
  const want = (current: string) => wantSlug(work, incoming, { id, slug: sourceSlug, current, isNew: false });
  const isOpen = (one: string) => isFloating(one) || one === 'trash';
  if (item.kind !== 'attachment' && isOpen(row.post_status) && !isOpen(status)) {
    const post_name = sourceSlug || (row.post_status === 'trash' ? '' : row.post_name);
    const arrival = { item, clean: { ...clean, columns: { ...clean.columns, post_title: title, post_status: status, post_name } } };
    const { slug = '', isOther = false } = (await slugsFor(work, [arrival], id)).get(arrival) ?? {};
    if (isOther && sourceSlug !== '') want(slug);
    return { post_name: slug || String(id) };
  }
  const slug = sanitizeTitle(sourceSlug, 'query');
  if (slug === '' || slug === row.post_name) return {};
  if (isFloating(status) && item.kind !== 'attachment') return { post_name: slug };
  if (!run.isDryRun) await lockNames(db, [slugLock(row.post_type, slug)]);
  const holders = await postsHoldingSlugs(db, [slug]);
  const isHeld = holders.some(({ ID, post_type: type }) => ID !== row.ID && type === row.post_type);
  // A dry run stores no slug, so that other records still find this one's former slug.
  if (isHeld || run.isDryRun) want(row.post_name);
  return isHeld ? {} : { post_name: slug };
}
