import { ORGANIZER_LINK, VENUE_LINK } from '../../kinds/events/metas.ts';
import type { PostItem } from '../items/items.ts';
import { digestOf, formerDigestOf } from '../items/versions.ts';
import type { Ledger } from './ledger.ts';

/*
 * Marks before the digests in the ledger. They say which references of a record no import could resolve: the next one
 * looks for those again, and otherwise leaves the record as it is if its source has not changed. Others say that the
 * record was imported as private because only private events named it, and that its user could not set all its values.
 */

/** The part of a record that the importing user could not set: its status, and what puts it before others. */
export const WITHHELD = 'withheld';

/** Parts of a record -> their letters in the ledger. All but `WITHHELD` reference other records. */
const LETTERS: ReadonlyMap<string, string> = new Map([
  ['author', 'a'],
  ['parent', 'p'],
  [VENUE_LINK, 'v'],
  [ORGANIZER_LINK, 'o'],
  ['_thumbnail_id', 'i'],
  ['category', 'c'],
  ['tag', 't'],
  [WITHHELD, 'w'],
]);

/** The letter of all other links. */
const OTHER_LINKS = 'x';

const HIDDEN = 'h';

/** Ends the letters; no digest contains it. */
const END = '~';

/** Length of a digest in the ledger. */
const MAX_LENGTH = 20;

const letterOf = (part: string): string => LETTERS.get(part) ?? OTHER_LINKS;
const lettersOf = (stored: string): string[] => [...stored.slice(0, Math.max(0, stored.indexOf(END)))];
const withoutLetters = (stored: string): string => stored.slice(stored.indexOf(END) + 1);

function withLetters(letters: readonly string[], digest: string): string {
  const marks = [...new Set(letters)].sort().join('');
  return marks === '' ? digest : `${marks}${END}${digest}`.slice(0, MAX_LENGTH);
}

/**
 * Returns the digest that the ledger keeps of a record, with its marks until now. `missing`: the parts that could not
 * be resolved or set: `author`, `parent`, keys of links, kinds of terms, `WITHHELD`.
 */
export const digestWithout = (digest: string, missing: Iterable<string>): string =>
  withLetters([...lettersOf(digest), ...Array.from(missing, letterOf)], withoutLetters(digest));

/**
 * Returns the digest that the ledger keeps of a record after some parts were looked for again, with its marks of all
 * other parts. An empty digest stays: the record also wants another slug, or has fields that are not known here.
 */
export function digestAfterSearch(
  stored: string,
  digest: string,
  { sought, missing }: { readonly sought: readonly string[]; readonly missing: Iterable<string> },
): string {
  const soughtLetters = sought.map(letterOf);
  const others = lettersOf(stored).filter((letter) => !soughtLetters.includes(letter));
  return withLetters([...others, ...Array.from(missing, letterOf)], withoutLetters(stored) && withoutLetters(digest));
}

/** Notes in the ledger that parts of a record are not those of its source, so that the next import looks at them. */
export function noteMissing(ledger: Pick<Ledger, 'entry' | 'add'>, key: string, missing: Iterable<string>): void {
  const entry = ledger.entry(key);
  if (entry) ledger.add({ ...entry, digest: digestWithout(entry.digest, missing) });
}

/** Whether a digest of the ledger is that of a record as it is, complete or not, perhaps from an earlier version. */
export const isOfItem = (stored: string, item: PostItem, digest = digestOf(item)): boolean =>
  stored === withMarksOf(stored, digest) || stored === withMarksOf(stored, formerDigestOf(item));

/** Returns another digest with the same marks as one of the ledger. */
export const withMarksOf = (stored: string, digest: string): string => withLetters(lettersOf(stored), withoutLetters(digest));

/** Returns the digest of a record that is private because only private events name it. */
export const markedHidden = (digest: string): string => withLetters([...lettersOf(digest), HIDDEN], withoutLetters(digest));

/** Returns a digest of the ledger without that mark. */
export const markedShown = (stored: string): string =>
  withLetters(
    lettersOf(stored).filter((letter) => letter !== HIDDEN),
    withoutLetters(stored),
  );

/** Whether a digest of the ledger is that of such a record. */
export const isMarkedHidden = (stored: string): boolean => lettersOf(stored).includes(HIDDEN);

/** Whether a digest of the ledger is that of a record of which the importing user could not set all values. */
export const isMarkedWithheld = (stored: string): boolean => lettersOf(stored).includes(letterOf(WITHHELD));

/** Returns a test for the parts of a record that were missing, by its digest in the ledger; undefined if none were. */
export function missingPartsIn(stored: string): ((part: string) => boolean) | undefined {
  const letters = lettersOf(stored).filter((letter) => letter !== HIDDEN);
  return letters.length === 0 ? undefined : (part) => letters.includes(letterOf(part));
}
