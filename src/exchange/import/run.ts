import type { CustomField } from '../../calendar/custom-fields.ts';
import type { Caller } from '../../records/caller.ts';
import type { Site } from '../../site.ts';
import type { Database } from '../../storage/engine/database.ts';
import type { ImportWaitingRow } from '../../storage/engine/own-tables.ts';
import type { LedgerEntry } from '../../storage/rows/imports.ts';
import type { Metas } from '../../wordpress/rows.ts';
import type { PostItem, TermItem, TermReference } from '../items/items.ts';
import type { NameIndex } from '../items/record-names.ts';
import type { StartIndex } from '../items/record-starts.ts';
import type { UidIndex } from '../items/record-uids.ts';
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
  /** Whether events are created again that were deleted for good here. */
  readonly restoresDeleted: boolean;
  /** Whether files of attachments are fetched. */
  readonly fetchesFiles: boolean;
  /** Hosts of files -> number of files in a row that they did not send in time. */
  readonly slowHosts: Map<string, number>;
  /** Language of records for which the source has none; undefined means the site's default. */
  readonly language: string | undefined;
  /** The highest id in the source, if it is known; new ids are assigned above it. */
  readonly highestId: number;
  /** Source ids of posts -> source ids of their parents. */
  readonly parents: Map<string, string>;
  /** Records by name, for sources without permanent ids. */
  readonly names: NameIndex;
  /** Events by UID, for calendars that bring an event which another one has brought. */
  readonly uids: UidIndex;
  /** Events that earlier runs have brought, by their starts. */
  readonly starts: StartIndex;
  /** Events that may have got new names, which are written when all others have come. */
  readonly renamed: PostItem[];
  /** Type and external ID of a record -> its id in the source. */
  readonly externalIds: Map<string, string>;
  /** Records that want a slug which another one had. */
  readonly wantedSlugs: WantedSlug[];
  /** Custom fields of events: those of the source, if it has stated them, and those of this site. */
  readonly customFields: { source: readonly CustomField[] | undefined; local: readonly CustomField[] };
  /** Records whose translations had others when they came. */
  readonly unlinked: UnlinkedRecord[];
  /** Ledger entries that a dry run would have stored. */
  readonly dryLedger: Map<string, LedgerEntry>;
  readonly dryWaiting: Map<string, WaitingRecord>;
  /** Ledger entries of records that the importing user may not change, for the links of this run. */
  readonly withheld: Map<string, LedgerEntry>;
  /** Logins and email addresses of users, and `taxonomy slug` of terms -> their ids. */
  readonly dryNames: Map<string, number>;
  /** Groups of translations -> ids of their members by language. */
  readonly dryGroups: Map<string, Map<string, number>>;
  /** Ids of records that a dry run would have taken out of their groups. */
  readonly dryLeft: Set<number>;
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

/** The references of such a record: all links of the keys and all terms of the kinds concerned, in order. */
export interface WantedReferences {
  readonly of: string;
  readonly place?: string | undefined;
  /** Digest of the record. */
  readonly digest?: string | undefined;
  /** Whether the source has not changed since the last import, in which these references were missing. */
  readonly unchanged?: true;
  readonly author?: string | undefined;
  readonly parent?: string | undefined;
  readonly links?: PostItem['links'] | undefined;
  /** Whether all links of the record are among them, also those that visitors do not see. */
  readonly complete?: true;
  readonly terms?: readonly TermReference[] | undefined;
  readonly unsaid?: PostItem['unsaid'];
}

/** A record that has another slug than in its source. */
export interface WantedSlug {
  /** Kind and name of the record, and its place in the source, for reports. */
  readonly kind: PostItem['kind'];
  readonly of: string;
  readonly place: string | undefined;
  /** The item's name in the ledger, and its digest. */
  readonly key: string;
  readonly digest: string;
  readonly id: number;
  /** The slug in the source. */
  readonly slug: string;
  /** The slug that the record has until then. */
  readonly current: string;
  /** Whether the record's former slug is noted: it existed before, and the source does not contain its former slugs. */
  readonly notesFormer: boolean;
  /** Whether nothing else of the record has changed, so that it is counted as updated or unchanged in the end. */
  readonly isCountedLater?: boolean;
}

/** A record that could not be linked when it came: another record of its language was still in the group. */
export interface UnlinkedRecord {
  readonly kind: (PostItem | TermItem)['kind'];
  /** Name and place of the record, and the group, for reports. */
  readonly of: string;
  readonly place: string | undefined;
  readonly detail: string;
  /** Ledger key of its group; empty if it has none. */
  readonly key: string;
  readonly id: number;
  readonly language: string;
  /** Digest of the language and the group that the source states. */
  readonly stated: string;
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
  /**
   * Ledger keys of known records that have changed in the source: what they waited for in an interrupted run no longer
   * counts.
   */
  readonly changed: string[];
  /** Names of authors -> ids of their users, or undefined for those who have none; filled by `authorOf`. */
  readonly authors: Map<string, number | undefined>;
  /** Slugs for `Run.wantedSlugs`. */
  readonly wantedSlugs: WantedSlug[];
  /** Events for `Run.renamed`. */
  readonly renamed: PostItem[];
  /** Records for `Run.unlinked`. */
  readonly unlinked: UnlinkedRecord[];
  /** Names of records that were written, for `Run.names`. */
  readonly namedRecords: { kind: PostItem['kind']; title: string; start: string; id: number }[];
  /** Items that were changed on the way (their files were fetched) -> their original form. */
  readonly originals: ReadonlyMap<PostItem, PostItem>;
  /** Venues and organizers in the trash -> the records that events get instead, or themselves. */
  readonly replaced: Map<number, number>;
  /** Ids of records that somebody has deleted since the step began. */
  readonly removedIds: Set<number>;
  /** Ids of records that stay as they are because the importing user may not change them. */
  readonly forbiddenIds: Set<number>;
  /** Ids of events of this site that a calendar brings back, and that stay as they are. */
  readonly originIds: Set<number>;
  /** Ids of events that were written. */
  readonly events: number[];
  /**
   * Returns the settings by which the list index is written: those within the transaction, since languages may have
   * been added after the run began.
   */
  readonly indexer: () => Promise<Pick<Caller, 'settings'>>;
  /** Whether anything was changed, and whether the category tree was. */
  readonly touched: { any: boolean; tree: boolean };
}

/** Takes back that a record has changed. */
export function forgetChange({ changed }: Pick<Work, 'changed'>, key: string): void {
  const index = changed.indexOf(key);
  if (index >= 0) changed.splice(index, 1);
}

/** Whether a file was fetched for an item in this run. */
export const isFetched = ({ originals }: Pick<Work, 'originals'>, item: PostItem): boolean =>
  originals.has(item) && originals.get(item) !== item;
