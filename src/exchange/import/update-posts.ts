import { lastWholeDay } from '../../calendar/schedule.ts';
import { groupedBy } from '../../grouped-by.ts';
import { isAllDay, storedDates } from '../../kinds/events/dates.ts';
import { COST, DATES, ORGANIZER_LINK, RECURRENCE_METAS, VENUE_LINK } from '../../kinds/events/metas.ts';
import { postKind, taxonomiesOf, termKind } from '../../kinds/index.ts';
import type { Rows, StoredPost } from '../../kinds/kind.ts';
import type { PostKindName } from '../../kinds/kind-names.ts';
import { SUGGESTION_META } from '../../kinds/suggestion.ts';
import { loadMetas, loadPosts } from '../../storage/rows/bundle.ts';
import { writeOccurrence } from '../../storage/rows/occurrences.ts';
import { lockPosts, updatePost, writeMetas } from '../../storage/rows/posts.ts';
import { loadRecurrences } from '../../storage/rows/recurrences.ts';
import { isRecurringEvent } from '../../storage/rows/recurring-events.ts';
import { saveRevision } from '../../storage/rows/revisions.ts';
import { recount, setTermsOf, termTaxonomyIdsOf } from '../../storage/rows/term-links.ts';
import { loadTermsOf } from '../../storage/rows/terms.ts';
import { oldAddresses } from '../../wordpress/old-addresses.ts';
import type { StoredValue } from '../../wordpress/php/serialized.ts';
import { EDITOR_METAS, metaOf, type Post, type StoredMetas } from '../../wordpress/rows.ts';
import { utcFromDate } from '../../wordpress/time.ts';
import type { CleanPost } from '../items/clean.ts';
import { nameOf, type PostItem, textMetas } from '../items/items.ts';
import { metaMap } from '../items/meta-map.ts';
import { addLoss, addToCount } from '../items/report.ts';
import { changedColumns, withModification } from './changed-columns.ts';
import { withHiddenLinks } from './hidden-links.ts';
import { showingHidden } from './hidden-records.ts';
import { noteMissing, WITHHELD } from './incomplete.ts';
import { reportInconsistentDates } from './inconsistent-dates.ts';
import { importRecurrence, isRecurrenceDifferent } from './recurrence.ts';
import { type Resolved, resolvePost } from './resolve.ts';
import { mayChangePost, reportForbidden, withoutPromotions } from './rights.ts';
import { forgetChange, isFetched, type Work } from './run.ts';
import { addressToKeep } from './same-named.ts';
import { noteTrashedLinks } from './trashed-links.ts';
import { datesInOwnZone } from './update-dates.ts';
import { countLater } from './wanted-slugs.ts';

/** An existing post that is imported again. */
export interface Existing {
  readonly item: PostItem;
  readonly key: string;
  readonly digest: string;
  readonly clean: CleanPost;
  readonly target: number;
  /** Whether it was imported as private because of the events that named it, and a public one names it now. */
  readonly isShownNow?: boolean;
}

/** Metas of a fetched file, which keep their values whatever the source contains. */
const FILE_METAS = ['_wp_attached_file', '_wp_attachment_metadata', '_tribe_importer_original_url'];
const TEXTS = ['post_title', 'post_content', 'post_excerpt'] as const;

/**
 * Updates existing posts: changes what differs in the source, and nothing else. They are locked before they are
 * compared, so that nobody who edits them meanwhile loses a change; posts that were deleted meanwhile are skipped, and
 * those that the importing user may not change are reported.
 */
export async function updatePosts(work: Work, posts: readonly Existing[]): Promise<void> {
  if (posts.length === 0) return;
  const { run, db, tally } = work;
  const ids = posts.map(({ target }) => target).filter((id) => id > 0);
  const rows = run.isDryRun ? await loadPosts(db, ids) : await lockPosts(db, ids);
  const [metas, terms] = [await loadMetas(db, ids), await loadTermsOf(db, ids)];
  for (const id of ids) if (!rows.has(id)) work.removedIds.add(id);
  const permitted = posts.filter((post) => {
    const row = rows.get(post.target);
    const isPermitted = row === undefined || mayChangePost(run, row, metas.get(post.target));
    if (!isPermitted) leaveForbidden(work, post);
    return isPermitted;
  });
  await noteTrashedLinks(
    work,
    permitted.flatMap(({ item }) => (item.complete ? [] : item.links)),
  );
  for (const post of await showingHidden(work, permitted)) {
    const row = rows.get(post.target);
    const before = {
      metas: metas.get(post.target) ?? new Map<string, StoredValue[]>(),
      terms: (terms.get(post.target) ?? []).map(
        (term) => `${term.taxonomy === termKind('tag').taxonomy ? 'tag' : 'category'}:${term.term_id}`,
      ),
    };
    // A dry run has no rows of new records, of which only the visibility changes.
    const wasChanged = row === undefined ? run.isDryRun && post.isShownNow === true : await updateOne(work, post, row, before);
    if (!wasChanged && countLater(work, post.target)) continue;
    addToCount(wasChanged ? tally.updated : tally.unchanged, post.item.kind);
  }
}

/** Leaves a record as it is that the importing user may not change; it still waits for what it waited for. */
function leaveForbidden(work: Work, { item, key, target }: Existing): void {
  forgetChange(work, key);
  work.forbiddenIds.add(target);
  work.ledger.withhold(key);
  reportForbidden(work, item);
}

async function updateOne(
  work: Work,
  { item, key, digest, clean: sourceClean, target, isShownNow = false }: Existing,
  row: Post,
  before: { metas: StoredMetas; terms: readonly string[] },
): Promise<boolean> {
  const { run, db, touched } = work;
  const stored = { row, metas: before.metas };
  const clean = permittedUpdate(work, { item, key }, datesInOwnZone(item, sourceClean, before.metas, run.caller), stored);
  const resolved = await resolvePost(work, { item, key, digest }, row);
  const columns = await changedColumns(work, { item, key, digest, clean, target, isShownNow }, stored, resolved);
  const metas = await withoutDatesOfRule(
    work,
    item,
    target,
    metaChanges(item, clean, await linksToStore(work, item, resolved, before.metas), {
      before: before.metas,
      keptKeys: [
        ...(before.metas.has('_tribe_importer_original_url') && !isFetched(work, item) ? FILE_METAS : []),
        ...addressToKeep(item, clean, before.metas),
        // Exports leave out who suggested an event.
        ...(item.metas.some(([key]) => key === SUGGESTION_META) ? [] : [SUGGESTION_META]),
        ...(item.initial ?? []).filter((name) => !isDateMeta(name) && !isNewPosition(name, item, clean, before.metas)),
      ],
    }),
  );
  const keptKinds: readonly string[] = [...(item.unsaid ?? []), ...resolved.pending];
  const keptTerms = before.terms.filter((term) => keptKinds.some((kind) => term.startsWith(`${kind}:`)));
  const terms = [...new Set([...keptTerms, ...resolved.terms])];
  const sameTerms =
    item.terms === undefined || (terms.length === before.terms.length && terms.every((term) => before.terms.includes(term)));
  const recurs = await isRecurrenceDifferent(work, item, target);
  if (Object.keys(columns).length + Object.keys(metas).length === 0 && sameTerms && !recurs) return false;
  touched.any = true;
  // The dates of a recurring event are in `item.recurrence`. Its metas may differ, as they do in the source.
  const hasOwnDates = item.kind === 'event' && !recurs && !item.recurrence?.recurs;
  const hasNewDates = hasOwnDates && run.caller.settings.occurrenceTables && Object.keys(metas).some(isDateMeta);
  const allMetas = new Map([...before.metas, ...Object.entries(metas)]);
  if (hasNewDates) reportInconsistentDates(work, item, allMetas);
  if (run.isDryRun) return true;
  if (item.kind === 'event') work.events.push(target);

  const writtenColumns = withModification(columns, { clean }, row, run.caller);
  await updatePost(db, target, writtenColumns);
  const after = { ...row, ...writtenColumns };
  if (item.kind !== 'attachment' && TEXTS.some((name) => name in columns))
    await saveRevision(db, after, run.caller.viewer.id, run.caller.settings.home);
  // A complete source contains them among its metas.
  await writeMetas(db, target, { ...(item.complete ? {} : oldAddresses(before.metas, row, after)), ...metas });
  if (item.kind === 'attachment') return true;
  await writeTermsOf(work, item.kind, target, { terms: sameTerms ? undefined : terms, recounts: 'post_status' in columns });
  if (recurs) await importRecurrence(work, item, target, { isNewEvent: false });
  else if (hasNewDates) {
    await writeOccurrence(db, target, storedDates({ metas: allMetas }), {
      updatedAt: utcFromDate(run.caller.now),
      recurrence: run.caller.settings.recurrence,
    });
  }
  return true;
}

/** Returns the row data that the importing user may write, and notes that others were withheld. */
function permittedUpdate(work: Work, { item, key }: Pick<Existing, 'item' | 'key'>, sourceClean: CleanPost, stored: StoredPost): CleanPost {
  const { clean, isWithheld } = withoutPromotions(work, item, sourceClean, stored);
  if (isWithheld) noteMissing(work.ledger, key, [WITHHELD]);
  return clean;
}

/**
 * Writes the terms of a post, `kind:term_id`; undefined keeps them. `recounts`: whether its terms are recounted.
 */
async function writeTermsOf(
  { db }: Work,
  kind: PostKindName,
  target: number,
  { terms, recounts }: { readonly terms: readonly string[] | undefined; readonly recounts: boolean },
): Promise<void> {
  const rows: number[] = [];
  for (const name of terms ? postKind(kind).terms : []) {
    const ids = (terms ?? []).filter((term) => term.startsWith(`${name}:`)).map((term) => Number(term.slice(name.length + 1)));
    rows.push(...(await setTermsOf(db, target, termKind(name).taxonomy, ids)));
  }
  if (recounts) rows.push(...(await termTaxonomyIdsOf(db, [target], taxonomiesOf(postKind(kind)))));
  await recount(db, rows);
}

/** Whether a meta is the position of a currency that the event gets, and it has none yet. */
const isNewPosition = (name: string, { initial = [] }: PostItem, { metas }: CleanPost, before: StoredMetas): boolean =>
  name === COST.position && !initial.includes(COST.symbol) && !metaOf(before, name) && metas.some(([key]) => key === name);

const isDateMeta = (name: string): boolean => /^_Event(Start|End)Date|^_Event(Duration|Timezone|AllDay)$/.test(name);

/**
 * Removes metas of dates and rules if the event recurs here: its dates follow from its rule, which is stored in the
 * tables as well. This is reported unless only the date differs, and is another date of the event.
 */
async function withoutDatesOfRule({ run, db, tally }: Work, item: PostItem, target: number, metas: Rows['metas']): Promise<Rows['metas']> {
  const changesDates = Object.keys(metas).some(isDateMeta);
  const changesRules = Object.keys(metas).some((name) => RECURRENCE_METAS.test(name));
  if (item.kind !== 'event' || item.recurrence || !run.caller.settings.recurrence || !(changesDates || changesRules)) return metas;
  if (target <= 0 || !(await isRecurringEvent(db, target))) return metas;
  const itemMetas = metaMap(item.metas);
  const [itemStart, itemEnd] = [metaOf(itemMetas, DATES.start) ?? '', metaOf(itemMetas, DATES.end) ?? ''];
  // The ends of all-day dates may be an hour off where the clock changes.
  const endOf = isAllDay(metaOf(itemMetas, DATES.allDay) ?? '') ? lastWholeDay : (_: string, end: string) => end;
  const dates = (await loadRecurrences(db, [target])).get(target)?.dates ?? [];
  if (changesRules || !dates.some(({ start, end }) => start === itemStart && endOf(start, end) === endOf(itemStart, itemEnd)))
    addLoss(tally, { reason: 'recurring-dates', kind: 'event', of: nameOf(item), place: item.place });
  const follows = (name: string): boolean => isDateMeta(name) || name === DATES.abbreviation || RECURRENCE_METAS.test(name);
  return Object.fromEntries(Object.entries(metas).filter(([name]) => !follows(name)));
}

/**
 * Returns the links of an item to store, with those that a source which is not complete cannot state. Links of keys of
 * which some cannot be resolved yet are written at the end.
 */
async function linksToStore(
  work: Work,
  { absent, complete }: PostItem,
  { links, pending }: Pick<Resolved, 'links' | 'pending'>,
  before: ReadonlyMap<string, readonly string[]>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const unstatedKeys = [VENUE_LINK, ORGANIZER_LINK].filter((key) => absent?.includes(key));
  const stated = new Map<string, readonly string[]>([
    ...unstatedKeys.map((key) => [key, []] as const),
    ...groupedBy(
      links.filter(([key]) => !pending.has(key)),
      ([key]) => key,
      ([, id]) => id,
    ),
  ]);
  return complete ? stated : withHiddenLinks(work, stated, before);
}

/** Returns the metas whose values differ, with all their new values. `keptKeys`: keys that keep their values. */
function metaChanges(
  item: PostItem,
  clean: CleanPost,
  links: ReadonlyMap<string, readonly string[]>,
  { before, keptKeys }: { readonly before: ReadonlyMap<string, readonly string[]>; readonly keptKeys: readonly string[] },
): Rows['metas'] {
  const linkRows = Array.from(links, ([key, ids]) => ids.map((id) => [key, id] as const)).flat();
  const valuesByKey = groupedBy(
    [...clean.metas, ...textMetas(linkRows)],
    ([key]) => key,
    ([, value]) => value,
  );
  // Links that cannot be resolved yet are written at the end.
  const isLinked = (key: string): boolean => item.links.some((link) => link.key === key);
  for (const key of [...(item.complete ? before.keys() : []), ...(item.absent ?? []), ...(item.unshown ?? [])])
    if (!valuesByKey.has(key) && !isLinked(key)) valuesByKey.set(key, []);
  const changes: Record<string, readonly StoredValue[]> = {};
  for (const [key, values] of valuesByKey) {
    const stored = before.get(key) ?? [];
    if (keptKeys.includes(key) || EDITOR_METAS.includes(key)) continue;
    if (stored.length !== values.length || stored.some((value, index) => value !== values[index])) changes[key] = values;
  }
  return changes;
}
