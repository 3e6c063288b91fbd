import { groupedBy } from '../../grouped-by.ts';
import { COORDINATES } from '../../kinds/events/metas.ts';
import { ORGANIZER } from '../../kinds/organizer.ts';
import { VENUE } from '../../kinds/venue.ts';
import type { Database } from '../../storage/engine/database.ts';
import { digestsOf, digestsOfImages, type KeptDigest, keepDigest } from '../../storage/rows/imports.ts';
import { tableOf } from '../../wordpress/table.ts';
import type { PostItem } from '../items/items.ts';
import { isMarkedHidden, markedHidden, markedShown, withMarksOf } from './incomplete.ts';
import type { Run, Work } from './run.ts';

/*
 * Venues, organizers and images that imports have made private because only private events named them.
 */

/** Returns those of some records that an import has hidden. */
export async function hiddenByImport(db: Database, ids: readonly number[], importId: number): Promise<ReadonlySet<number>> {
  return hiddenAmong(await digestsOf(db, ids, importId));
}

/** Returns the images that imports had hidden when this run first asked. */
export async function hiddenImages({ run, db }: Pick<Work, 'run' | 'db'>): Promise<ReadonlySet<number>> {
  const images = imagesByRun.get(run) ?? hiddenAmong(await digestsOfImages(db));
  imagesByRun.set(run, images);
  return images;
}

const imagesByRun = new WeakMap<Run, ReadonlySet<number>>();

const hiddenAmong = (kept: readonly KeptDigest[]): ReadonlySet<number> =>
  new Set(kept.filter(({ digest }) => isMarkedHidden(digest)).map(({ target }) => Number(target)));

/** An existing record that an import takes for one of its own. */
interface Joined {
  readonly item: PostItem;
  readonly key: string;
  readonly digest: string;
  readonly target: number;
  readonly isShownNow?: boolean;
}

/**
 * Returns existing records that a source names for the first time. Those that another import has hidden are shown now
 * if they are described in the same way, since a private event may have stated more about them; or this import notes
 * that they are hidden, too.
 */
export async function withHiddenByOthers<Some extends Joined>(work: Work, posts: readonly Some[]): Promise<Some[]> {
  const { run, db, ledger } = work;
  const linked = posts.filter(({ item, target }) => item.kind !== 'event' && !item.complete && target > 0);
  const kept = await digestsOf(
    db,
    linked.map(({ target }) => target),
  );
  const hidden = groupedBy(
    kept.filter(({ digest }) => isMarkedHidden(digest)),
    ({ target }) => Number(target),
    ({ digest }) => digest,
  );
  return posts.map((post) => {
    const { item, key, target } = post;
    const digests = hidden.get(target);
    if (!digests) return post;
    if (!item.isHidden) {
      const isAlike = item.kind === 'attachment' || digests.some((digest) => digest === withMarksOf(digest, post.digest));
      return isAlike ? { ...post, isShownNow: true } : post;
    }
    const digest = markedHidden(post.digest);
    ledger.add({ item: key, kind: item.kind, target, digest, run: run.number });
    return { ...post, digest };
  });
}

/** Metas by which calendars describe venues and organizers. */
const DETAILS: ReadonlyMap<string, readonly string[]> = tableOf({
  venue: [VENUE.address, COORDINATES.lat, COORDINATES.lng],
  organizer: [ORGANIZER.email, ORGANIZER.website, ORGANIZER.phone],
});

/**
 * Returns updates of which some show a record that was hidden: without details that only private events have stated. No
 * import counts these records as hidden any more.
 */
export async function showingHidden<Some extends Joined>({ run, db }: Work, posts: readonly Some[]): Promise<Some[]> {
  const shownIds = posts.filter(({ isShownNow, target }) => isShownNow && target > 0).map(({ target }) => target);
  if (!run.isDryRun)
    for (const kept of await digestsOf(db, shownIds)) if (isMarkedHidden(kept.digest)) await keepDigest(db, kept, markedShown(kept.digest));
  return posts.map((post) => {
    const { item } = post;
    return post.isShownNow ? { ...post, item: { ...item, absent: [...(item.absent ?? []), ...(DETAILS.get(item.kind) ?? [])] } } : post;
  });
}

/** Returns an image of which only the visibility is updated: its file is in the library. */
export const visibilityOnly = ({ absent: _absent, unshown: _unshown, ...item }: PostItem): PostItem => ({
  ...item,
  columns: { post_status: item.columns.post_status ?? 'inherit' },
  metas: [],
});
