import { groupedBy } from '../../grouped-by.ts';
import { EXTERNAL_ID, externalIdForms, storedExternalId } from '../../kinds/external-id.ts';
import { loadMetas, loadPosts } from '../../storage/rows/bundle.ts';
import { externalIdLock, lockNames } from '../../storage/rows/locks.ts';
import { findByMeta } from '../../storage/rows/posts.ts';
import { metaOf } from '../../wordpress/rows.ts';
import type { CleanPost } from '../items/clean.ts';
import { nameOf, type PostItem, textIn } from '../items/items.ts';
import { addLoss } from '../items/report.ts';
import { typeOf } from '../items/site-items.ts';
import type { Run, Work } from './run.ts';
import { usablePosts } from './usable-by-name.ts';

/*
 * External IDs: the ids of records in other systems. They are unique among the records of a kind.
 */

/** The records that have the external IDs of some items. */
export interface ExternalIds {
  /** Their ids, by their type and external ID. */
  readonly holders: ReadonlyMap<string, readonly number[]>;
  /** Those that new items may be. */
  readonly usable: ReadonlySet<number>;
}

/** Returns the external ID of an imported record; empty if it has none. */
const externalIdOf = ({ metas }: PostItem): string => storedExternalId(textIn(metas, EXTERNAL_ID));
const nameIn = (type: string, externalId: string): string => `${type} external ${externalId}`;
const nameOfItem = (item: PostItem): string => nameIn(typeOf(item.kind), externalIdOf(item));
const formsOf = (item: PostItem): readonly string[] => externalIdForms(externalIdOf(item));

/** Whether an item is the first one of the source with its external ID. */
const isFirst = ({ run }: Work, item: PostItem): boolean => run.externalIds.get(nameOfItem(item)) === item.sourceId;

/**
 * Notes which items are the first ones with their external IDs. All items of the source must come here in their order,
 * also those that an interrupted run has finished.
 */
export function noteExternalIds({ externalIds }: Run, items: readonly PostItem[]): void {
  for (const item of items)
    if (externalIdOf(item) !== '' && !externalIds.has(nameOfItem(item))) externalIds.set(nameOfItem(item), item.sourceId);
}

/**
 * Finds the records that already have the external IDs of these items, and locks these IDs against other writers.
 * `newItems`: those of the items that have no record yet.
 */
export async function lookUpExternalIds(
  { run, db }: Work,
  items: readonly PostItem[],
  newItems: readonly PostItem[],
): Promise<ExternalIds> {
  const itemsWithId = items.filter((item) => externalIdOf(item) !== '');
  if (itemsWithId.length === 0) return { holders: new Map(), usable: new Set() };
  if (!run.isDryRun) {
    await lockNames(
      db,
      itemsWithId.flatMap((item) => formsOf(item).map((form) => externalIdLock(typeOf(item.kind), form))),
    );
  }
  const holders = new Map<string, number[]>();
  for (const [type, ofType] of groupedBy(itemsWithId, ({ kind }) => typeOf(kind))) {
    const ids = await findByMeta(db, type, EXTERNAL_ID, [...new Set(ofType.flatMap(formsOf))]);
    for (const [externalId, holdersOfId] of ids) holders.set(nameIn(type, externalId), holdersOfId);
  }
  const namesOfNew = newItems.flatMap((item) => formsOf(item).map((form) => nameIn(typeOf(item.kind), form)));
  const ids = [...new Set(namesOfNew.flatMap((name) => holders.get(name) ?? []))];
  const [posts, metas] = ids.length === 0 ? NONE : [await loadPosts(db, ids), await loadMetas(db, ids)];
  return { holders, usable: await usablePosts(db, run, posts, metas) };
}

const NONE = [new Map(), new Map()] as const;

/**
 * Returns the existing record with the external ID of a new item, or else with its former form, unless it may not be
 * used, or an earlier item of this source has the same ID, or found the record by its former form.
 */
export function holderOf(work: Work, item: PostItem, externals: ExternalIds): number | undefined {
  const holder = firstHolder(work, item, externals);
  return holder !== undefined && externals.usable.has(holder) ? holder : undefined;
}

function firstHolder(work: Work, item: PostItem, { holders }: ExternalIds): number | undefined {
  if (!isFirst(work, item)) return undefined;
  const [holder] = holders.get(nameOfItem(item)) ?? [];
  const [, former] = formsOf(item);
  if (holder !== undefined || former === undefined) return holder;
  const { externalIds } = work.run;
  const [name, takeover] = [nameIn(typeOf(item.kind), former), `${typeOf(item.kind)} formerly ${former}`];
  // Another item has this ID itself, or has taken the record over. A repeated transaction finds the item's own note.
  if (externalIds.has(name) || (externalIds.get(takeover) ?? item.sourceId) !== item.sourceId) return undefined;
  externalIds.set(takeover, item.sourceId);
  return holders.get(name)?.[0];
}

/** Whether an existing record has a different external ID, so that only its name is the same. */
export async function hasOtherExternalId({ db }: Work, id: number, item: PostItem): Promise<boolean> {
  const externalId = externalIdOf(item);
  if (externalId === '') return false;
  const storedId = metaOf((await loadMetas(db, [id])).get(id), EXTERNAL_ID) ?? '';
  return storedId !== '' && !formsOf(item).includes(storedId);
}

/**
 * Returns an imported record without its external ID if another record has the same one, which is reported. `target`:
 * the existing record that it updates, if there is one.
 */
export function withOwnExternalId(
  work: Work,
  { item, clean }: { readonly item: PostItem; readonly clean: CleanPost },
  target: number | undefined,
  externals: Pick<ExternalIds, 'holders'>,
): CleanPost {
  const externalId = externalIdOf(item);
  const holders = externals.holders.get(nameOfItem(item)) ?? [];
  // Several rows of a table may be dates of one recurring event.
  const isOwn = target !== undefined && holders.includes(target);
  if (externalId === '' || isOwn || (isFirst(work, item) && holders.length === 0)) return clean;
  addLoss(work.tally, { reason: 'external-id-taken', kind: item.kind, of: nameOf(item), place: item.place, detail: externalId });
  return { ...clean, metas: clean.metas.filter(([key]) => key !== EXTERNAL_ID) };
}
