import type { Caller } from '../../records/caller.ts';
import type { Site } from '../../site.ts';
import type { Database } from '../../storage/engine/database.ts';
import type { ImportWaitingRow } from '../../storage/engine/own-tables.ts';
import type { LedgerEntry } from '../../storage/rows/imports.ts';
import type { PostItem, TermReference } from '../items/items.ts';
import type { Names } from '../items/record-names.ts';
import type { Tally } from '../items/report.ts';
import type { Ledger } from './ledger.ts';

/** One run of an import, from its begin to its end. */
export interface Run {
  readonly site: Site;
  readonly caller: Caller;
  /** The name of the source. */
  readonly source: string;
  /** Of the row that stands for the source; 0 in a rehearsal of a source that is new. */
  readonly importId: number;
  readonly number: number;
  /** A rehearsal: nothing is written. */
  readonly dry: boolean;
  /** Whether texts are stored as they come; otherwise scripts and the like are taken out of them. */
  readonly trusted: boolean;
  /** Whether roles, passwords and settings of the source count: it is a database that its owner has opened. */
  readonly trustedAccounts: boolean;
  readonly settings: boolean;
  /** Whether files of the library are fetched. */
  readonly fetches: boolean;
  /** The language of records of which the source says none; undefined: the default one of the site. */
  readonly language: string | undefined;
  /** The highest id that the source has, where that is known: new ids are given above it. */
  readonly highestId: number;
  /** Names of posts of the source -> those of the posts that they are below. */
  readonly parents: Map<string, string>;
  /** Records by name, for sources without lasting ids. */
  readonly names: Names;
  /** What a rehearsal would have noted. */
  readonly overlay: Map<string, LedgerEntry>;
  readonly overlayWaiting: Map<string, Waiting>;
  /** Logins and e-mail addresses of people, and `taxonomy slug` of terms -> their ids. */
  readonly overlayNames: Map<string, number>;
  /** Groups of translations -> the ids of their members by language. */
  readonly overlayGroups: Map<string, Map<string, number>>;
  /** Ids that posts of the source would keep. */
  readonly overlayIds: Set<number>;
  /** Slugs of posts -> the types of those that have them. */
  readonly overlaySlugs: Map<string, Set<string>>;
  /** Ids of categories -> the ids of those that they would hang below. */
  readonly overlayParents: Map<number, number>;
  /** An id that stands for one in a rehearsal. */
  readonly nextDryId: () => number;
}

/** A record that names others which have not come. */
export type Waiting = Omit<ImportWaitingRow, 'import_id'>;

/** What it names, whole: links of all keys, in order. */
export interface Wants {
  readonly of: string;
  readonly place?: string | undefined;
  readonly author?: string | undefined;
  readonly parent?: string | undefined;
  readonly links?: PostItem['links'] | undefined;
  readonly terms?: readonly TermReference[] | undefined;
  readonly unsaid?: PostItem['unsaid'];
}

/** One piece of a run, written as one transaction. It may begin again, so that all of its results are kept here. */
export interface Work {
  readonly run: Run;
  readonly db: Database;
  readonly ledger: Ledger;
  readonly tally: Tally;
  readonly waiting: Waiting[];
  /** Names of records that were written, for `Run.names`. */
  readonly named: { kind: PostItem['kind']; title: string; start: string; id: number }[];
  /** Items that were changed on the way (their files are fetched) -> as they came. */
  readonly originals: ReadonlyMap<PostItem, PostItem>;
  /** Ids of events that were written. */
  readonly events: number[];
  /** Whether anything was changed, and whether the tree of categories was. */
  readonly touched: { any: boolean; tree: boolean };
}

/** Whether an item came with a file that was fetched for it just now. */
export const isFetched = ({ originals }: Pick<Work, 'originals'>, item: PostItem): boolean =>
  originals.has(item) && originals.get(item) !== item;
