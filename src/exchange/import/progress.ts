import type { Site } from '../../site.ts';
import { findImport } from '../../storage/rows/imports.ts';
import { firstCharacters } from '../../wordpress/content/plain-text.ts';
import { type Report, reportOf, tallyFrom } from '../items/report.ts';
import { isImportRunning } from './import-running.ts';

/** Returns the progress of the last run of a source, and its report so far; undefined if there was none. */
export async function importProgress(
  { db, clock }: Site,
  name: string,
): Promise<
  | {
      readonly source: string;
      readonly done: number;
      readonly open: boolean;
      readonly stopped: boolean;
      readonly report: Report;
    }
  | undefined
> {
  const source = firstCharacters(name, MAX_SOURCE_LENGTH);
  const row = await findImport(db, source);
  if (!row) return undefined;
  const open = row.open === 1;
  const stopped = open && !isImportRunning(row, clock());
  return { source, done: row.done, open, stopped, report: reportOf({ source, dryRun: false }, tallyFrom(row.report)) };
}

/** Maximum length of the name of a source in the table of imports, in characters. */
export const MAX_SOURCE_LENGTH = 191;
