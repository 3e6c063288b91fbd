import type { FetchOptions } from '../../media/safe-fetch.ts';
import { isOwnId, MAX_OWN_ID } from '../../storage/rows/ids-in-use.ts';
import { trimEndOf } from '../../wordpress/trim.ts';
import { type Entry, isItem } from './items.ts';
import { createVersionSearch, type Versions } from './versions.ts';

/** A source of items, which can be read any number of times. */
export interface Source {
  /**
   * Returns the name in the ledger. A site is named by its home address, whether it is read from a file or a database.
   * Known after a survey.
   */
  readonly name: () => string;
  readonly entries: () => AsyncIterable<Entry>;
  readonly close: () => Promise<void>;
  /** Whether its owner opened it, so that roles and passwords are imported. */
  readonly trustedAccounts?: boolean;
  /** Advice if records reference others that did not come: key of a sentence in `exchange:hints`. */
  readonly hint?: 'export-all' | 'linked-files' | undefined;
  /** Options for fetching its files: from the host that the user named, even if its address is private. */
  readonly fetching?: FetchOptions;
}

/** Facts about a source, found by reading all of it once. */
export interface Survey {
  readonly entries: number;
  /** The highest id of a post in it, of those that the site can take over. */
  readonly highestId: number;
  /** Records of which it contains several versions. */
  readonly versions: Versions;
}

/**
 * Reads a source to its end, so that a broken file is rejected before anything is written. `maxId`: the highest id that
 * a post of the site may have. Throws SourceFault.
 */
export async function surveySource(source: Source, maxId = MAX_OWN_ID): Promise<Survey> {
  let entries = 0;
  let highestId = 0;
  const versions = createVersionSearch();
  for await (const entry of source.entries()) {
    entries += 1;
    versions.addEntry(entry);
    if (isItem(entry) && 'links' in entry && isOwnId(entry.id) && entry.id > highestId && entry.id <= maxId) highestId = entry.id;
  }
  return { entries, highestId, versions: versions.result() };
}

/**
 * Returns the name of a source for people, from its name in the ledger: the calendar, the site or the file. `files`:
 * the files that were given, used for CSV sources, which have no name.
 */
export const displayName = (name: string, files: readonly string[] = []): string =>
  name === 'csv' && files.length > 0 ? files.join(', ') : name.replace(/^(?:ical:|jsonld:|csv )(?=.)/, '');

/** Returns the ledger name for the address of a site: without scheme and trailing slash. */
export const siteName = (address: string): string => trimEndOf(address.trim().replace(/^https?:\/\//i, ''), '/').toLowerCase();
