import type { Database } from '../../storage/engine/database.ts';
import { digestsOf } from '../../storage/rows/imports.ts';
import type { PostItem } from '../items/items.ts';
import { isMarkedHidden, markedHidden } from './incomplete.ts';
import type { Work } from './run.ts';

/*
 * Venues, organizers and images that imports have made private because only private events named them.
 */

/** Returns those of some records that imports have hidden. `importId`: only those of this import. */
export async function hiddenByEvents(db: Database, ids: readonly number[], importId?: number): Promise<ReadonlySet<number>> {
  const rows = await digestsOf(db, ids);
  return new Set(
    rows.flatMap(({ target, digest, import_id: id }) =>
      isMarkedHidden(digest) && [undefined, Number(id)].includes(importId) ? [Number(target)] : [],
    ),
  );
}

/** An existing record that an import takes for one of its own. */
interface Joined {
  readonly item: PostItem;
  readonly key: string;
  readonly digest: string;
  readonly target: number;
  readonly isShownNow?: boolean;
}

/**
 * Returns existing records that a source names for the first time. Those that another import has hidden are shown now,
 * or this import notes that they are hidden, too.
 */
export async function withHiddenByOthers<Some extends Joined>(work: Work, posts: readonly Some[]): Promise<Some[]> {
  const { run, db, ledger } = work;
  const linked = posts.filter(({ item, target }) => item.kind !== 'event' && !item.complete && target > 0);
  const hiddenIds = await hiddenByEvents(
    db,
    linked.map(({ target }) => target),
  );
  return posts.map((post) => {
    const { item, key, target } = post;
    if (!hiddenIds.has(target)) return post;
    if (!item.isHidden) return { ...post, isShownNow: true };
    const digest = markedHidden(post.digest);
    ledger.add({ item: key, kind: item.kind, target, digest, run: run.number });
    return { ...post, digest };
  });
}

/** Returns an image of which only the visibility is updated: its file is in the library. */
export const visibilityOnly = ({ absent: _absent, unshown: _unshown, ...item }: PostItem): PostItem => ({
  ...item,
  columns: { post_status: item.columns.post_status ?? 'inherit' },
  metas: [],
});
