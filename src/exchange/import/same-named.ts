import { COORDINATES } from '../../kinds/events/metas.ts';
import { ORGANIZER } from '../../kinds/organizer.ts';
import { VENUE } from '../../kinds/venue.ts';
import { foldText } from '../../storage/engine/collation.ts';
import { loadMetas } from '../../storage/rows/bundle.ts';
import { type Metas, metaOf } from '../../wordpress/rows.ts';
import type { CleanPost } from '../items/clean.ts';
import type { PostItem } from '../items/items.ts';
import { metaMap } from '../items/meta-map.ts';
import type { Work } from './run.ts';
import { startOf } from './stored-post.ts';

/*
 * Which of the records here is the one that comes under its name. Every town has its library: a venue of another place
 * and an organizer with another e-mail address are others, though they are called the same.
 */

/** The oldest record here of the name of what comes, unless what else is known of both says that they are two. */
export async function findSameNamed({ run, db }: Work, item: PostItem, clean: CleanPost): Promise<number | undefined> {
  if (item.match === undefined || item.kind === 'attachment') return undefined;
  const ids = (await run.names.findAll(db, item.kind, clean.columns.post_title ?? '', startOf(clean))).slice(0, MOST_SAME);
  if (item.match === 'name' || ids.length === 0) return ids[0];
  const stored = await loadMetas(
    db,
    ids.filter((id) => id > 0),
  );
  const coming = metaMap(clean.metas);
  return ids.find((id) => !areOthers(coming, stored.get(id) ?? run.overlayMetas.get(id) ?? new Map()));
}

/**
 * Metas of a venue here that stay as they are, as what comes says the same on one line: its address, where town or
 * postal code have fields of their own.
 */
export function saidInFields(item: PostItem, clean: CleanPost, before: Metas): readonly string[] {
  const coming = metaMap(clean.metas);
  const inFields = (metas: Metas) => [VENUE.city, VENUE.zip].some((key) => metaOf(metas, key));
  if (item.match !== 'details' || item.kind !== 'venue' || inFields(coming) || !inFields(before)) return [];
  const known = wordsOf(before, [...PLACE, VENUE.country, VENUE.province, VENUE.state, VENUE.stateprovince]);
  return [...wordsOf(coming)].every((word) => known.has(word)) ? [VENUE.address] : [];
}

/** So many records of one name are looked at: a file may bring any number of them. */
const MOST_SAME = 50;

function areOthers(one: Metas, other: Metas): boolean {
  const [email, otherEmail] = [one, other].map((metas) => (metaOf(metas, ORGANIZER.email) ?? '').trim().toLowerCase());
  if (email && otherEmail && email !== otherEmail) return true;
  const [words, otherWords] = [wordsOf(one), wordsOf(other)];
  return words.size === 0 || otherWords.size === 0 ? areApart(one, other) : areElsewhere(words, otherWords);
}

/** What says in words where a venue is. */
const PLACE = [VENUE.address, VENUE.city, VENUE.zip];
const wordsOf = (metas: Metas, keys: readonly string[] = PLACE): Set<string> =>
  new Set(foldText(keys.map((key) => metaOf(metas, key) ?? '').join(' ')).match(/[\p{L}\p{N}]+/gu));

/** Whether two addresses, in whatever order and however complete, have other postal codes or little in common. */
function areElsewhere(words: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  const codes = [...words].filter(isPostalCode);
  const areOtherCodes = [...others].some(isPostalCode) && codes.length > 0 && !codes.some((code) => others.has(code));
  const common = [...words].filter((word) => others.has(word)).length;
  return areOtherCodes || common * 2 < Math.min(words.size, others.size);
}

const isPostalCode = (word: string): boolean => /^\d{4,6}$/.test(word);

/** Some ten kilometres. */
const FAR_DEGREES = 0.1;

/** Whether the coordinates of two venues lie far from each other. */
function areApart(one: Metas, other: Metas): boolean {
  const numbers = [one, other].map((metas) => [COORDINATES.lat, COORDINATES.lng].map((key) => Number(metaOf(metas, key) || Number.NaN)));
  const [[lat, lng], [otherLat, otherLng]] = numbers as [[number, number], [number, number]];
  return Math.abs(lat - otherLat) > FAR_DEGREES || Math.abs(lng - otherLng) > FAR_DEGREES;
}
