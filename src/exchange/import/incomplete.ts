import { ORGANIZER_LINK, VENUE_LINK } from '../../kinds/events/metas.ts';
import type { PostItem } from '../items/items.ts';
import { digestOf, formerDigestOf } from '../items/versions.ts';

/*
 * Marks before the digests in the ledger. They say which references of a record no import could resolve: the next one
 * looks for those again, and otherwise leaves the record as it is if its source has not changed. Another one says that
 * the record was imported as private because only private events named it.
 */

/** Parts of a record that reference others -> their letters in the ledger. */
const LETTERS: ReadonlyMap<string, string> = new Map([
  ['author', 'a'],
  ['parent', 'p'],
  [VENUE_LINK, 'v'],
  [ORGANIZER_LINK, 'o'],
  ['_thumbnail_id', 'i'],
  ['category', 'c'],
  ['tag', 't'],
]);

/** The letter of all other links. */
const OTHER_LINKS = 'x';

const HIDDEN = 'h';

/** Ends the letters; no digest contains it. */
const END = '~';

/** Length of a digest in the ledger. */
const MAX_LENGTH = 20;

const letterOf = (part: string): string => LETTERS.get(part) ?? OTHER_LINKS;
const lettersOf = (stored: string): string => stored.slice(0, stored.indexOf(END) + 1);
const withLetters = (letters: string, digest: string): string => `${letters}${digest}`.slice(0, MAX_LENGTH);

/**
 * Returns the digest that the ledger keeps of a record. `missing`: the parts that could not be resolved: `author`,
 * `parent`, keys of links, kinds of terms.
 */
export function digestWithout(digest: string, missing: Iterable<string>): string {
  const letters = [...new Set(Array.from(missing, letterOf))].sort().join('');
  return letters === '' ? digest : withLetters(letters + END, digest);
}

/** Whether a digest of the ledger is that of a record as it is, complete or not, perhaps from an earlier version. */
export const isOfItem = (stored: string, item: PostItem, digest = digestOf(item)): boolean =>
  stored === withMarksOf(stored, digest) || stored === withMarksOf(stored, formerDigestOf(item));

/** Returns another digest with the same marks as one of the ledger. */
export const withMarksOf = (stored: string, digest: string): string =>
  withLetters(lettersOf(stored), digest.slice(lettersOf(digest).length));

/** Returns the digest of a record that is private because only private events name it. */
export const markedHidden = (digest: string): string => withLetters(HIDDEN + END, digest);

/** Returns a digest of the ledger without that mark. */
export const markedShown = (stored: string): string => {
  const letters = lettersOf(stored);
  const others = letters.replace(HIDDEN, '');
  return withLetters(others === END ? '' : others, stored.slice(letters.length));
};

/** Whether a digest of the ledger is that of such a record. */
export const isMarkedHidden = (stored: string): boolean => lettersOf(stored).includes(HIDDEN);

/** Returns a test for the parts of a record that were missing, by its digest in the ledger; undefined if none were. */
export function missingPartsIn(stored: string): ((part: string) => boolean) | undefined {
  const letters = lettersOf(stored).replace(HIDDEN, '');
  return letters.length < 2 ? undefined : (part) => letters.includes(letterOf(part));
}
