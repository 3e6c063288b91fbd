import type { Metas } from '../../wordpress/rows.ts';
import type { PostItem } from '../items/items.ts';

/** Options of an import. Only `source` is required; the others default to absent or `false`. */
export interface ImportOptions {
  /**
   * Name of the source in the ledger. It must be the same for every export of one site (its home address), so that
   * records are recognised.
   */
  readonly source: string;
  /** Only reports what would become of each item; writes nothing. */
  readonly dryRun?: boolean;
  /** Continues an interrupted run. */
  readonly resume?: boolean;
  /** Imports the settings that the source contains. */
  readonly settings?: boolean;
  /** Language of records for which the source has none. */
  readonly language?: string | undefined;
  /** Removes scripts and the like from texts, whoever imports. */
  readonly filterHtml?: boolean;
  /** Creates events again that an earlier run has brought and that were deleted for good since. */
  readonly restoreDeleted?: boolean;
  /** The source is a database that its owner opened, so that roles and passwords of users are imported. */
  readonly trustedAccounts?: boolean;
  /** The highest post id in the source, if it is known. */
  readonly highestId?: number;
  /**
   * Fetches the file of an attachment before its row is written, and returns the item, possibly changed to refer to the
   * fetched file. `stored`: the metas of an existing attachment, which say where its file should be.
   */
  readonly fetchFile?: (item: PostItem, stored: Metas | undefined, request: RequestStart) => Promise<FetchedFile>;
  /** Number of items that are written in one transaction; 200 by default, fewer if the items are long. */
  readonly itemsPerBatch?: number;
  /** Called after each batch with the number of entries processed so far. */
  readonly onProgress?: (doneCount: number) => void;
}

/** Is called before a file is requested. Returns false if it must not be: its host was given up. */
export type RequestStart = () => Promise<boolean>;

/**
 * An attachment whose file was fetched, or the reason why it was not. `undo` deletes the file if the row could not be
 * written.
 */
export interface FetchedFile {
  readonly item: PostItem;
  readonly fault?: string;
  readonly undo?: () => Promise<void>;
}
