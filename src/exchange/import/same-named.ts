import { storedPlace } from '../../kinds/coordinates.ts';
import { ORGANIZER } from '../../kinds/organizer.ts';
import { VENUE } from '../../kinds/venue.ts';
import { foldText } from '../../storage/engine/collation.ts';
import { loadMetas } from '../../storage/rows/bundle.ts';
import { makersOf } from '../../storage/rows/imports.ts';
import { lockNames, titleLock } from '../../storage/rows/locks.ts';
import { type Metas, metaOf } from '../../wordpress/rows.ts';
import type { CleanPost } from '../items/clean.ts';
import type { PostItem } from '../items/items.ts';
import { metaMap } from '../items/meta-map.ts';
import { plainTitle } from '../items/record-names.ts';
import { typeOf } from '../items/site-items.ts';
import { inOwnLanguage } from './in-language.ts';
import type { Work } from './run.ts';
import { startOf } from './stored-post.ts';

/*
 * Finds the existing record that an imported one is, by name. Every town has its library: venues in different places
 * and organizers with different e-mail addresses are different records, even if they have the same name.
 */

/**
 * Reads the venues and organizers that other writers have created since the names were read, and locks the names of the
 * imported ones.
 */
export async function readNewNames({ run, db }: Work, items: readonly PostItem[]): Promise<void> {
  for (const kind of run.isDryRun ? [] : (['venue', 'organizer'] as const)) {
    const namedItems = items.filter((item) => item.kind === kind && item.match !== undefined);
    if (namedItems.length === 0) continue;
    await lockNames(
      db,
      namedItems.flatMap(({ columns: { post_title: title = '' } }) =>
        [...new Set([title, plainTitle(title)])].map((one) => titleLock(typeOf(kind), one)),
      ),
    );
    await run.names.refresh(db, kind);
  }
}

/** Returns the oldest existing record of the same name whose details do not show that it is a different one. */
export async function findSameNamed(work: Work, item: PostItem, clean: CleanPost): Promise<number | undefined> {
  const { run, db } = work;
  if (item.match === undefined || item.kind === 'attachment') return undefined;
  const candidates = (await run.names.findUsable(db, item.kind, clean.columns.post_title ?? '', startOf(clean))).slice(0, MAX_COMPARED);
  const ids = await inOwnLanguage(work, item, candidates);
  if (item.match === 'name' || ids.length === 0) return (await withoutOtherSites(work, item, ids))[0];
  const metasById = await loadMetas(
    db,
    ids.filter((id) => id > 0),
  );
  const itemMetas = metaMap(clean.metas);
  return ids.find((id) => !areDifferentRecords(itemMetas, metasById.get(id) ?? run.dryMetas.get(id) ?? new Map()));
}

/**
 * Returns those of some events of one title and start that no import from another site has created: two towns may have
 * their market on the same day. Files do not always say from which site they are.
 */
async function withoutOtherSites({ run, db }: Work, item: PostItem, ids: readonly number[]): Promise<readonly number[]> {
  const own = hostOf(run.source);
  if (item.kind !== 'event' || own === '' || ids.length === 0) return ids;
  const makers = await makersOf(db, ids);
  return ids.filter((id) => (makers.get(id) ?? []).every((source) => ['', own].includes(hostOf(source))));
}

/** Returns the host of a source that is a page or the sitemap of a site; empty if it is something else. */
function hostOf(source: string): string {
  const [, host = '', path] = /^jsonld:([^/]+)(\/.*)?$/.exec(source) ?? [];
  return path === undefined && (FILE_NAME.test(host) || !host.includes('.')) ? '' : host;
}

/** The name of a saved page, which is the source in its place. */
const FILE_NAME = /\.(html?|xhtml|mhtml|php|aspx?|json|jsonld|ld|txt)$/i;

/**
 * Returns the metas of an existing venue that are kept because the imported venue has the same information on one line:
 * the address, if city or postal code have separate fields.
 */
export function addressToKeep(item: PostItem, clean: CleanPost, before: Metas): readonly string[] {
  const itemMetas = metaMap(clean.metas);
  const inFields = (metas: Metas) => [VENUE.city, VENUE.zip].some((key) => metaOf(metas, key));
  if (item.match !== 'details' || item.kind !== 'venue' || inFields(itemMetas) || !inFields(before)) return [];
  const words = wordsOf(itemMetas);
  const street = wordsOf(before, [VENUE.address]);
  const knownWords = wordsOf(before, [...ADDRESS_METAS, VENUE.country, VENUE.province, VENUE.state, VENUE.stateprovince]);
  // The line may name a country, province or part of a town that no field contains.
  const isSameStreet = street.size > 0 && isEveryWordIn(street, words);
  return isSameStreet || isEveryWordIn(words, knownWords) ? [VENUE.address] : [];
}

const isEveryWordIn = (words: ReadonlySet<string>, others: ReadonlySet<string>): boolean => [...words].every((word) => others.has(word));

/** Maximum number of records with one name that are compared, since a file may contain any number of them. */
const MAX_COMPARED = 50;

/** Whether the details of two records of one name show that they are different ones. */
export function areDifferentRecords(one: Metas, other: Metas): boolean {
  const [email, otherEmail] = [one, other].map((metas) => (metaOf(metas, ORGANIZER.email) ?? '').trim().toLowerCase());
  if (email && otherEmail && email !== otherEmail) return true;
  const [words, otherWords] = [wordsOf(one), wordsOf(other)];
  return words.size === 0 || otherWords.size === 0 ? areFarApart(one, other) : areDifferentAddresses(words, otherWords);
}

/** Metas that describe the place of a venue in words. */
const ADDRESS_METAS = [VENUE.address, VENUE.city, VENUE.zip];
const wordsOf = (metas: Metas, keys: readonly string[] = ADDRESS_METAS): Set<string> =>
  new Set(foldText(keys.map((key) => metaOf(metas, key) ?? '').join(' ')).match(/[\p{L}\p{N}]+/gu));

/** Whether two addresses have different postal codes or few words in common, in any order and however complete. */
function areDifferentAddresses(words: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  const codes = [...words].filter(isPostalCode);
  const areOtherCodes = [...others].some(isPostalCode) && codes.length > 0 && !codes.some((code) => others.has(code));
  const common = [...words].filter((word) => others.has(word)).length;
  return areOtherCodes || common * 2 < Math.min(words.size, others.size);
}

const isPostalCode = (word: string): boolean => /^\d{4,6}$/.test(word);

/** About ten kilometres. */
const MAX_DISTANCE_DEGREES = 0.1;

/** Whether the coordinates of two venues are far apart. */
function areFarApart(one: Metas, other: Metas): boolean {
  const [place, otherPlace] = [storedPlace(one), storedPlace(other)];
  if (!place || !otherPlace) return false;
  return Math.abs(place.lat - otherPlace.lat) > MAX_DISTANCE_DEGREES || Math.abs(place.lng - otherPlace.lng) > MAX_DISTANCE_DEGREES;
}
