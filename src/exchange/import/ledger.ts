import type { Database } from '../../storage/engine/database.ts';
import { type LedgerEntry, loadLedger } from '../../storage/rows/imports.ts';
import { type Item, isTermItem } from '../items/items.ts';
import { digest } from '../items/versions.ts';

/*
 * Ledger of imports: which record of a source became which record here, and a digest of it at that time. With it, an
 * interrupted import resumes without duplicates, and a later import changes only what has changed.
 */

/** Namespaces of names: the same name may mean different things in different groups of one source. */
export type Group = 'post' | 'category' | 'tag' | 'author' | 'settings' | 'translations' | 'term';

/** Returns the group of an item's name. */
export const groupOf = (item: Item): Group => (isTermItem(item) || item.kind === 'author' || item.kind === 'settings' ? item.kind : 'post');

/** Returns the ledger key of a name. */
export const ledgerKey = (group: Group, sourceId: string): string => digest(`${group}\n${sourceId}`);

/** Returns the ledger key of an item's group of translations. */
export const translationKey = (kind: string, group: string): string => ledgerKey('translations', `${kind} ${group}`);

/** Returns the ledger key under which the group of translations of a record here is noted. */
export const memberKey = (kind: string, id: number): string => ledgerKey('translations', `member ${kind} ${id}`);

/** Returns the ledger key under which the language and the group are noted that a record here got from its source. */
export const statedLanguageKey = (kind: string, id: number): string => ledgerKey('translations', `language ${kind} ${id}`);

/** Returns the ledger key of the id that a term has in the source. */
export const termIdKey = (kind: string, id: number): string => ledgerKey('term', `${kind} ${id}`);

/** Returns the ledger key under which the id in the source of a term here is noted. */
export const sourceTermKey = (kind: string, id: number): string => ledgerKey('term', `of ${kind} ${id}`);

/** The ledger entries of the records that a step references, and those that the step adds. */
export interface Ledger {
  readonly entry: (key: string) => LedgerEntry | undefined;
  /** Returns the id of a record here, or undefined if nothing of that name has been imported yet. */
  readonly target: (group: Group, sourceId: string) => number | undefined;
  /**
   * Adds an entry. `made`: set if this run created the record; otherwise, the known value is kept if it is the same
   * record. Only keys that were looked up may be added.
   */
  readonly add: (entry: Omit<LedgerEntry, 'made'> & Partial<Pick<LedgerEntry, 'made'>>) => void;
  /**
   * Takes back what this step has noted under a key: what was noted before stays, and a new name is known only until
   * the end of the run.
   */
  readonly withhold: (key: string) => void;
  /** Entries that are known only until the end of the run. */
  readonly withheld: () => readonly LedgerEntry[];
  /** Looks up further keys. */
  readonly lookUp: (keys: Iterable<string>) => Promise<void>;
  /** Entries that were added. */
  readonly added: () => readonly LedgerEntry[];
}

/**
 * Looks up all keys at once. `overlay`: entries that a dry run would have stored; `heldOverlay`: those that are known
 * only until the end of the run.
 */
export async function openLedger(
  db: Database,
  importId: number,
  keys: ReadonlySet<string>,
  overlay: ReadonlyMap<string, LedgerEntry>,
  heldOverlay: ReadonlyMap<string, LedgerEntry> = new Map(),
): Promise<Ledger> {
  const storedEntries = new Map<string, LedgerEntry>();
  const knownKeys = new Set<string>();
  const lookUp: Ledger['lookUp'] = async (more) => {
    const newKeys = [...more].filter((key) => !knownKeys.has(key));
    for (const key of newKeys) knownKeys.add(key);
    if (importId === 0) return;
    for (const [key, found] of await loadLedger(db, importId, newKeys)) storedEntries.set(key, found);
  };
  await lookUp(keys);
  const added = new Map<string, LedgerEntry>();
  const held = new Map<string, LedgerEntry>();
  const noted = (key: string) => overlay.get(key) ?? storedEntries.get(key);
  const entry = (key: string) => added.get(key) ?? noted(key) ?? held.get(key) ?? heldOverlay.get(key);
  return {
    entry,
    target: (group, sourceId) => entry(ledgerKey(group, sourceId))?.target,
    add: (newEntry) => {
      if (!knownKeys.has(newEntry.item)) throw new Error(`${newEntry.kind} ${newEntry.target} is noted without having been looked up`);
      const before = entry(newEntry.item);
      added.set(newEntry.item, { made: before?.target === newEntry.target ? before.made : 0, ...newEntry });
    },
    withhold: (key) => {
      const [newEntry, before] = [added.get(key), noted(key)];
      added.delete(key);
      if (newEntry && before) added.set(key, { ...before, run: newEntry.run });
      else if (newEntry) held.set(key, newEntry);
    },
    withheld: () => [...held.values()],
    lookUp,
    added: () => [...added.values()],
  };
}
