import type { ItemKind } from './items.ts';

/** Something of a source that the import could not keep, or kept otherwise. `reason` names a sentence in `exchange:losses`. */
export interface Loss {
  readonly reason: string;
  readonly kind: ItemKind | 'source';
  /** Of what: a `sourceId`, a title, a name. */
  readonly of: string;
  readonly place?: string | undefined;
  /** What exactly was lost: a key, a value. */
  readonly detail?: string | undefined;
}

/** All losses for one reason: how many, and the first of them. */
export interface LossSum {
  readonly reason: string;
  readonly count: number;
  readonly examples: readonly Loss[];
}

export type Count = Readonly<Partial<Record<ItemKind, number>>>;

/** What an import came to. */
export interface Report {
  /** The name of the source in the ledger. */
  readonly source: string;
  readonly dryRun: boolean;
  readonly created: Count;
  readonly updated: Count;
  /** As it was: nothing had to be done. */
  readonly unchanged: Count;
  /** Not of the calendar, by what it is (`post`, `page`, `comment`): left aside. */
  readonly skipped: Readonly<Record<string, number>>;
  /** Records that could not be taken in at all. */
  readonly lost: Count;
  readonly losses: readonly LossSum[];
}

/** How many losses of one reason are kept word for word. */
export const MOST_EXAMPLES = 20;
