import type { Database } from '../../storage/engine/database.ts';
import { type LedgerEntry, loadLedger } from '../../storage/rows/imports.ts';
import { type Item, isTermItem } from '../items/items.ts';
import { digest } from '../items/versions.ts';

/*
 * The memory of imports: which record of a source became which of ours, and what it looked like when it came. By it a
 * killed import goes on without doubles, and a later one changes what has changed.
 */

/** What names are given in: two things of one source may have the same name in different groups. */
export type Group = 'post' | 'category' | 'tag' | 'author' | 'settings' | 'translations';

/** The group that an item is named in. */
export const groupOf = (item: Item): Group => (isTermItem(item) || item.kind === 'author' || item.kind === 'settings' ? item.kind : 'post');

/** A name as the ledger keeps it. */
export const ledgerKey = (group: Group, sourceId: string): string => digest(`${group}\n${sourceId}`);

/** The name of the group that an item is in with its translations. */
export const translationKey = (kind: string, group: string): string => ledgerKey('translations', `${kind} ${group}`);

/** What is known of the records that a piece of work names; what the work itself brings in is added. */
export interface Ledger {
  readonly entry: (key: string) => LedgerEntry | undefined;
  /** The id of ours, or undefined where nothing of that name has come in yet. */
  readonly target: (group: Group, sourceId: string) => number | undefined;
  /**
   * `made`: set where this run made the record; else what is known of that stays, as long as it is the same one. So
   * only what was looked up may be added.
   */
  readonly add: (entry: Omit<LedgerEntry, 'made'> & Partial<Pick<LedgerEntry, 'made'>>) => void;
  /** What was added. */
  readonly added: () => readonly LedgerEntry[];
}

/** Looks names up, all at once. `overlay`: what a rehearsal would have noted. */
export async function openLedger(
  db: Database,
  importId: number,
  keys: ReadonlySet<string>,
  overlay: ReadonlyMap<string, LedgerEntry>,
): Promise<Ledger> {
  const known = importId === 0 ? new Map<string, LedgerEntry>() : await loadLedger(db, importId, [...keys]);
  const added = new Map<string, LedgerEntry>();
  const entry = (key: string) => added.get(key) ?? overlay.get(key) ?? known.get(key);
  return {
    entry,
    target: (group, sourceId) => entry(ledgerKey(group, sourceId))?.target,
    add: (fresh) => {
      if (!keys.has(fresh.item)) throw new Error(`${fresh.kind} ${fresh.target} is noted without having been looked up`);
      const before = entry(fresh.item);
      added.set(fresh.item, { made: before?.target === fresh.target ? before.made : 0, ...fresh });
    },
    added: () => [...added.values()],
  };
}
