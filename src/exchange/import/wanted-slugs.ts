import { groupedBy } from '../../grouped-by.ts';
import type { Database } from '../../storage/engine/database.ts';
import { loadMetas } from '../../storage/rows/bundle.ts';
import { postsHoldingSlugs } from '../../storage/rows/ids-in-use.ts';
import { lockNames, slugLock } from '../../storage/rows/locks.ts';
import { lockPosts, updatePost, writeMetas } from '../../storage/rows/posts.ts';
import { oldAddresses } from '../../wordpress/old-addresses.ts';
import type { Post } from '../../wordpress/rows.ts';
import { sanitizeTitle } from '../../wordpress/slug.ts';
import { nameOf, type PostItem } from '../items/items.ts';
import { addLoss, addToCount } from '../items/report.ts';
import { typeOf } from '../items/site-items.ts';
import { withMarksOf } from './incomplete.ts';
import type { Run, WantedSlug, Work } from './run.ts';

/*
 * Slugs that another record had when a record of the source came. The other one may get a new slug in the same run, for
 * instance if two records have exchanged theirs, so that this is decided after all items have come.
 */

/** An imported record with its name in the ledger. */
interface Imported {
  readonly item: PostItem;
  readonly key: string;
  readonly digest: string;
}

/**
 * Notes that a record wants a slug. Until that is settled, the ledger contains an empty digest with its marks, so that
 * the record is compared again if the run is interrupted.
 */
export function wantSlug(
  { run, ledger, wantedSlugs }: Work,
  { item, key, digest }: Imported,
  slugs: Pick<WantedSlug, 'id' | 'slug' | 'current'> & { readonly isNew: boolean },
): void {
  const { id, slug, current, isNew } = slugs;
  const { kind, place } = item;
  wantedSlugs.push({ kind, of: nameOf(item), place, key, digest, id, slug, current, notesFormer: !isNew && !item.complete });
  const marks = withMarksOf(ledger.entry(key)?.digest ?? '', '');
  ledger.add({ item: key, kind, target: id, digest: marks, run: run.number, ...(isNew ? { made: run.number } : {}) });
}

/** Leaves it open whether a record has changed. Returns false if it does not want another slug. */
export function countLater({ wantedSlugs }: Work, id: number): boolean {
  const index = wantedSlugs.findIndex((wanted) => wanted.id === id);
  if (index < 0) return false;
  wantedSlugs[index] = { ...wantedSlugs[index]!, isCountedLater: true };
  return true;
}

/**
 * Divides records into those that can have their slugs, which change them in one step, and those whose slugs are taken.
 */
export async function divideWantedSlugs(run: Run, all: readonly WantedSlug[]): Promise<{ free: WantedSlug[]; taken: WantedSlug[] }> {
  const free = await withFreeSlug(run, run.site.db, all);
  return { free: [...free], taken: all.filter((wanted) => !free.has(wanted)) };
}

/** Gives records the slugs that they want if these are free, and reports those that are taken. */
export async function settleSlugs(work: Work, all: readonly WantedSlug[]): Promise<void> {
  const { run, db, ledger, tally } = work;
  if (!run.isDryRun) {
    await lockNames(
      db,
      all.map((wanted) => slugLock(typeOf(wanted.kind), storedSlug(wanted))),
    );
  }
  const free = await withFreeSlug(run, db, all);
  const rows = run.isDryRun
    ? new Map<number, Post>()
    : await lockPosts(
        db,
        Array.from(free, ({ id }) => id),
      );
  for (const wanted of all) {
    const { kind, of, place, key, digest, id, slug, current, isCountedLater } = wanted;
    if (isCountedLater) addToCount(free.has(wanted) ? tally.updated : tally.unchanged, kind);
    if (free.has(wanted)) await giveSlug(work, wanted, rows.get(id));
    else addLoss(tally, { reason: 'slug-taken', kind, of, place, detail: `${slug} -> ${current}` });
    // References of the record may be missing too.
    ledger.add({ item: key, kind, target: id, digest: withMarksOf(ledger.entry(key)?.digest ?? '', digest), run: run.number });
  }
}

const storedSlug = ({ slug }: WantedSlug): string => sanitizeTitle(slug, 'query');

/** Returns those whose slugs no other record has, except records that give up theirs in the same step. */
async function withFreeSlug(run: Run, db: Database, all: readonly WantedSlug[]): Promise<ReadonlySet<WantedSlug>> {
  const holders = groupedBy(await postsHoldingSlugs(db, [...new Set(all.map(storedSlug))]), ({ post_name: slug }) => slug);
  const first = new Map<string, WantedSlug>();
  for (const wanted of all) {
    const name = `${typeOf(wanted.kind)} ${storedSlug(wanted)}`;
    if (!first.has(name)) first.set(name, wanted);
  }
  const free = new Map([...first.values()].map((wanted) => [wanted.id, wanted]));
  for (;;) {
    // A dry run has not stored the slugs of new records.
    const givenUp = new Set([...free.values()].map(({ kind, current }) => `${typeOf(kind)} ${current}`));
    const isTaken = (wanted: WantedSlug): boolean => {
      const slug = storedSlug(wanted);
      // Slugs of attachments are unique across all post types.
      const isSame = (type: string) => wanted.kind === 'attachment' || type === typeOf(wanted.kind);
      const isHeld = (holders.get(slug) ?? []).some(({ ID, post_type: type }) => isSame(type) && !free.has(ID));
      return isHeld || [...(run.drySlugs.get(slug) ?? [])].some((type) => isSame(type) && !givenUp.has(`${type} ${slug}`));
    };
    // A record that keeps its slug keeps it from others.
    const taken = [...free.values()].filter(isTaken);
    if (taken.length === 0) break;
    for (const { id } of taken) free.delete(id);
  }
  return new Set(free.values());
}

/** Gives a record the slug that it wants. `row`: its row, if it was not deleted meanwhile. */
async function giveSlug({ db, events, touched }: Work, wanted: WantedSlug, row: Post | undefined): Promise<void> {
  const { kind, id, notesFormer } = wanted;
  if (!row || row.post_status === 'trash') return;
  const after = { ...row, post_name: storedSlug(wanted) };
  await updatePost(db, id, { post_name: after.post_name });
  if (notesFormer) await writeMetas(db, id, oldAddresses((await loadMetas(db, [id])).get(id), row, after));
  if (kind === 'event') events.push(id);
  touched.any = true;
}
