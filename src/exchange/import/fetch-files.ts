import { withFileCleanup } from '../../records/writes/prepared-images.ts';
import { loadMetas, loadPosts } from '../../storage/rows/bundle.ts';
import type { Post } from '../../wordpress/rows.ts';
import type { Entry, Item, PostItem } from '../items/items.ts';
import { keysOf } from './batches.ts';
import { ledgerKey, openLedger } from './ledger.ts';
import type { FetchedFile, ImportOptions } from './options.ts';
import { mayChangePost, mayCreateOfKind } from './rights.ts';
import type { Run } from './run.ts';

/** Fetched files of a batch, until their rows are written. */
export type Files = Map<Item, FetchedFile>;

/**
 * Fetches the files of attachments before the transaction, since that takes time: files of new attachments, and of
 * known ones that came without a file or have another one now, as far as the importing user may write them. If one
 * cannot be stored, the others are removed. Hosts that do not answer in time are given up. `beforeEach` is called
 * before each request.
 */
export async function fetchFiles(
  run: Run,
  piece: readonly Entry[],
  fetchFile: ImportOptions['fetchFile'],
  beforeEach: () => Promise<void>,
): Promise<Files> {
  const files: Files = new Map();
  const attachments = piece.filter((entry): entry is PostItem => entry.kind === 'attachment' && entry.url !== undefined);
  if (!fetchFile || run.isDryRun || attachments.length === 0 || !mayCreateOfKind(run, 'attachment')) return files;
  const { db } = run.site;
  const ledger = await openLedger(db, run.importId, keysOf(attachments), run.dryLedger);
  const entries = attachments.map((item) => ({ item, ledgerEntry: ledger.entry(ledgerKey('post', item.sourceId)) }));
  const ids = entries.flatMap(({ ledgerEntry }) => (ledgerEntry ? [ledgerEntry.target] : []));
  const [rows, metas] = [await loadPosts(db, ids), await loadMetas(db, ids)];
  const isForbidden = (row: Post | undefined): boolean => row !== undefined && !mayChangePost(run, row, metas.get(row.ID));
  const fetchAll = async () => {
    for (const { item, ledgerEntry } of entries) {
      // Attachments that this run has seen before have been fetched or reported already.
      if (ledgerEntry && (ledgerEntry.run === run.number || isForbidden(rows.get(ledgerEntry.target)))) continue;
      const host = hostOf(item);
      const timeouts = run.slowHosts.get(host) ?? 0;
      let isRequested = false;
      const file = await fetchFile(item, ledgerEntry && (metas.get(ledgerEntry.target) ?? new Map()), async () => {
        if (timeouts >= MAX_TIMEOUTS) return false;
        isRequested = true;
        await beforeEach();
        return true;
      });
      if (isRequested) run.slowHosts.set(host, file.fault === 'time' ? timeouts + 1 : 0);
      files.set(item, file);
    }
    return files;
  };
  return withFileCleanup(run.site, fetchAll, () => removeFetched(files));
}

/** Number of files in a row that a host may not send in time before it is given up. */
const MAX_TIMEOUTS = 3;

const hostOf = ({ url = '' }: PostItem): string => (URL.canParse(url) ? new URL(url).host : '');

/** Removes fetched files whose rows were not written. */
export const removeFetched = (files: Files): Promise<unknown> => Promise.all([...files.values()].map((file) => file.undo?.()));
