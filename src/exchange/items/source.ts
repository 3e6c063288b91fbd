import type { FetchOptions } from '../../media/safe-fetch.ts';
import { trimEndOf } from '../../wordpress/trim.ts';
import { type Entry, isItem } from './items.ts';
import { searchVersions, type Versions } from './versions.ts';

/** Where items come from. It can be read as often as one likes. */
export interface Source {
  /**
   * What the ledger calls it. A site goes by its home address, whether it comes as a file or a database. Known after a
   * survey.
   */
  readonly name: () => string;
  readonly entries: () => AsyncIterable<Entry>;
  readonly close: () => Promise<void>;
  /** Whether its owner opened it, so that roles and passwords count. */
  readonly trustedAccounts?: boolean;
  /** What to try where records name others that did not come: a sentence in `exchange:hints`. */
  readonly hint?: 'export-all' | 'linked-files' | undefined;
  /** How its files are to be fetched: from the host that was named, wherever that lies. */
  readonly fetching?: FetchOptions;
}

/** What a source holds, found by reading all of it once. */
export interface Survey {
  readonly entries: number;
  /** The highest id among its posts. */
  readonly highestId: number;
  /** Records that it holds in several versions. */
  readonly versions: Versions;
}

/**
 * Reads a source to its end: a file that is broken somewhere is refused before anything of it is written. Throws
 * SourceFault.
 */
export async function survey(source: Source): Promise<Survey> {
  let entries = 0;
  let highestId = 0;
  const versions = searchVersions();
  for await (const entry of source.entries()) {
    entries += 1;
    versions.see(entry);
    if (isItem(entry) && 'links' in entry && entry.id !== undefined && entry.id > highestId && entry.id <= HIGHEST_ID) highestId = entry.id;
  }
  return { entries, highestId, versions: versions.found() };
}

/** Ids beyond this are no ids of a site; new ones are not counted on from there. */
const HIGHEST_ID = 2 ** 40;

/**
 * What people call a source, by its name in the ledger: the calendar, the site or the file. `files`: those that were
 * named, for sources of tables, which go by none.
 */
export const shownName = (name: string, files: readonly string[] = []): string =>
  name === 'csv' && files.length > 0 ? files.join(', ') : name.replace(/^(?:ical:|jsonld:|csv )(?=.)/, '');

/** The name of a site's address in the ledger: without scheme and closing slash. */
export const siteName = (address: string): string => trimEndOf(address.trim().replace(/^https?:\/\//i, ''), '/').toLowerCase();
