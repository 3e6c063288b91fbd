import type { Caller } from '../../records/caller.ts';
import type { Site } from '../../site.ts';
import type { Database } from '../../storage/engine/database.ts';
import type { ImportWaitingRow } from '../../storage/engine/own-tables.ts';
import type { LedgerEntry } from '../../storage/rows/imports.ts';
import type { Metas } from '../../wordpress/rows.ts';
import type { PostItem, TermReference } from '../items/items.ts';
import type { NameIndex } from '../items/record-names.ts';
import type { Tally } from '../items/report.ts';
import type { Ledger } from './ledger.ts';

/** One run of an import. */
export interface Run {
  readonly site: Site;
  readonly caller: Caller;
  /** The name of the source. */
  readonly source: string;
  /** Id of the source's row; 0 in a dry run of a new source. */
  readonly importId: number;
  readonly number: number;
  /** Whether this is a dry run, which writes nothing. */
  readonly isDryRun: boolean;
  /** Whether texts are stored as they are; otherwise, scripts and the like are removed. */
  readonly isTrusted: boolean;
  /** Whether roles, passwords and settings of the source are imported, because its owner opened the database. */
  readonly trustedAccounts: boolean;
  readonly settings: boolean;
  /** Whether files of attachments are fetched. */
  readonly fetchesFiles: boolean;
  /** Language of records for which the source has none; undefined means the site's default. */
  readonly language: string | undefined;
  /** The highest id in the source, if it is known; new ids are assigned above it. */
  readonly highestId: number;
  /** Source ids of posts -> source ids of their parents. */
  readonly parents: Map<string, string>;
  /** Records by name, for sources without permanent ids. */
  readonly names: NameIndex;
  /** Type and external ID of a record -> its id in the source. */
  readonly externalIds: Map<string, string>;
  /** Ledger entries that a dry run would have stored. */
  readonly dryLedger: Map<string, LedgerEntry>;
  readonly dryWaiting: Map<string, WaitingRecord>;
  /** Logins and email addresses of users, and `taxonomy slug` of terms -> their ids. */
  readonly dryNames: Map<string, number>;
  /** Groups of translations -> ids of their members by language. */
  readonly dryGroups: Map<string, Map<string, number>>;
  /** Ids that posts of the source would keep. */
  readonly dryIds: Set<number>;
  /** Ids of records that a dry run would have created -> their metas. */
  readonly dryMetas: Map<number, Metas>;
  /** Slugs of posts -> types of the posts that have them. */
  readonly drySlugs: Map<string, Set<string>>;
  /** Ids of categories -> ids of the parents that they would get. */
  readonly dryParents: Map<number, number>;
  /** Returns a placeholder id for a record of a dry run. */
  readonly nextDryId: () => number;
}

/** A record with references to records that have not come yet. */
export type WaitingRecord = Omit<ImportWaitingRow, 'import_id'>;

/** The references of such a record: all links of the keys concerned, in order. */
export interface WantedReferences {
  readonly of: string;
  readonly place?: string | undefined;
  readonly author?: string | undefined;
  readonly parent?: string | undefined;
  readonly links?: PostItem['links'] | undefined;
  readonly terms?: readonly TermReference[] | undefined;
  readonly unsaid?: PostItem['unsaid'];
}

/**
 * State of one step of a run, written in one transaction. The transaction may be retried, so all its results are kept
 * here.
 */
export interface Work {
  readonly run: Run;
  readonly db: Database;
  readonly ledger: Ledger;
  readonly tally: Tally;
  readonly waiting: WaitingRecord[];
  /** Names of records that were written, for `Run.names`. */
  readonly namedRecords: { kind: PostItem['kind']; title: string; start: string; id: number }[];
  /** Items that were changed on the way (their files were fetched) -> their original form. */
  readonly originals: ReadonlyMap<PostItem, PostItem>;
  /** Ids of events that were written. */
  readonly events: number[];
  /** Whether anything was changed, and whether the category tree was. */
  readonly touched: { any: boolean; tree: boolean };
}

/** Whether a file was fetched for an item in this run. */
export const isFetched = ({ originals }: Pick<Work, 'originals'>, item: PostItem): boolean =>
  originals.has(item) && originals.get(item) !== item;
