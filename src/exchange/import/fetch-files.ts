import { withFileCleanup } from '../../records/writes/prepared-images.ts';
import { loadMetas } from '../../storage/rows/bundle.ts';
import type { Entry, Item, PostItem } from '../items/items.ts';
import { keysOf } from './batches.ts';
import { ledgerKey, openLedger } from './ledger.ts';
import type { FetchedFile, ImportOptions } from './options.ts';
import type { Run } from './run.ts';

/** Fetched files of a batch, until their rows are written. */
export type Files = Map<Item, FetchedFile>;

/**
 * Fetches the files of attachments before the transaction, since that takes time: files of new attachments, and of
 * known ones that came without a file or have another one now. If one cannot be stored, the others are removed.
 */
export async function fetchFiles(run: Run, piece: readonly Entry[], fetchFile: ImportOptions['fetchFile']): Promise<Files> {
  const files: Files = new Map();
  const attachments = piece.filter((entry): entry is PostItem => entry.kind === 'attachment' && entry.url !== undefined);
  if (!fetchFile || run.isDryRun || attachments.length === 0) return files;
  const { db } = run.site;
  const ledger = await openLedger(db, run.importId, keysOf(attachments), run.dryLedger);
  const entries = attachments.map((item) => ({ item, ledgerEntry: ledger.entry(ledgerKey('post', item.sourceId)) }));
  const metas = await loadMetas(
    db,
    entries.flatMap(({ ledgerEntry }) => (ledgerEntry ? [ledgerEntry.target] : [])),
  );
  const fetchAll = async () => {
    for (const { item, ledgerEntry } of entries) {
      // Attachments that this run has seen before have been fetched or reported already.
      if (ledgerEntry?.run === run.number) continue;
      files.set(item, await fetchFile(item, ledgerEntry && (metas.get(ledgerEntry.target) ?? new Map())));
    }
    return files;
  };
  return withFileCleanup(run.site, fetchAll, () => removeFetched(files));
}

/** Removes fetched files whose rows were not written. */
export const removeFetched = (files: Files): Promise<unknown> => Promise.all([...files.values()].map((file) => file.undo?.()));
