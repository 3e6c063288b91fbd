import type { Database } from '../../src/storage/engine/database.ts';
import { decodeEntities } from '../../src/wordpress/content/entities.ts';
import { stripAllTags } from '../../src/wordpress/content/plain-text.ts';

/**
 * Gives records the IDs that they have on the original site. A file without IDs results in new ones, but the comparison
 * is by ID. Both sites have their records in the order of their IDs.
 */
export async function giveOriginalIds(db: Database, original: Database): Promise<void> {
  const posts = pairs(await postKeys(db), await postKeys(original));
  const terms = pairs(await termKeys(db, 'term_id'), await termKeys(original, 'term_id'));
  const rows = pairs(await termKeys(db, 'term_taxonomy_id'), await termKeys(original, 'term_taxonomy_id'));
  // Move the IDs out of the way first, since the new ID of a record may be the old ID of another one.
  for (const moved of [out, back]) {
    for (const [table, column] of POST_IDS) await renumber(db, table, column, moved(posts));
    for (const key of LINKS) await renumber(db, 'postmeta', 'meta_value', moved(posts), { meta_key: key });
    for (const [table, column] of TERM_IDS) await renumber(db, table, column, moved(terms));
    for (const table of ['term_taxonomy', 'term_relationships'] as const) await renumber(db, table, 'term_taxonomy_id', moved(rows));
  }
  await db.from('fasti_changes').increment('counter');
}

const POST_IDS = [
  ['posts', 'ID'],
  ['posts', 'post_parent'],
  ['postmeta', 'post_id'],
  ['term_relationships', 'object_id'],
  ['tec_events', 'post_id'],
  ['tec_occurrences', 'post_id'],
] as const;
const TERM_IDS = [
  ['terms', 'term_id'],
  ['term_taxonomy', 'term_id'],
  ['term_taxonomy', 'parent'],
] as const;
const LINKS = ['_EventVenueID', '_EventOrganizerID', '_thumbnail_id'];

const FAR = 1_000_000;
type Pairs = readonly (readonly [from: number, to: number])[];
const out = (some: Pairs): Pairs => some.map(([from, to]) => [from, FAR + to]);
const back = (some: Pairs): Pairs => some.map(([, to]) => [FAR + to, to]);

/** Records that are not on the original site get IDs far above the others. */
function pairs(here: ReadonlyMap<string, number>, there: ReadonlyMap<string, number>): Pairs {
  let free = FAR / 2;
  return [...here].map(([key, id]) => [id, there.get(key) ?? free++]);
}

/** Returns the IDs of posts by name (letters and digits only) and, within one name, by the order of their start. */
async function postKeys(db: Database): Promise<Map<string, number>> {
  const starts = new Map((await db.from('tec_events')).map((row) => [row.post_id, row.start_date]));
  const rows = await db.from('posts').where('post_type', 'like', 'tribe_%').where('post_status', 'publish').orderBy('ID');
  const ordered = rows.map((row) => ({ ...row, start: starts.get(row.ID) ?? '' })).sort((one, other) => (one.start < other.start ? -1 : 1));
  return numbered(ordered.map((row) => [`${row.post_type} ${plain(row.post_title)}`, row.ID]));
}

async function termKeys(db: Database, id: 'term_id' | 'term_taxonomy_id'): Promise<Map<string, number>> {
  const rows = await db
    .knex({ tt: db.table('term_taxonomy') })
    .join({ t: db.table('terms') }, 't.term_id', 'tt.term_id')
    .whereIn('tt.taxonomy', ['tribe_events_cat', 'post_tag'])
    .orderBy('t.term_id')
    .select('t.term_id', 'tt.term_taxonomy_id', 't.name', 'tt.taxonomy');
  return numbered(rows.map((row) => [`${row.taxonomy} ${plain(row.name)}`, row[id]]));
}

const plain = (text: string): string =>
  stripAllTags(decodeEntities(text))
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

function numbered(rows: readonly (readonly [key: string, id: number])[]): Map<string, number> {
  const seen = new Map<string, number>();
  return new Map(
    rows.map(([key, id]) => {
      const place = (seen.get(key) ?? 0) + 1;
      seen.set(key, place);
      return [`${key} ${place}`, id];
    }),
  );
}

async function renumber(
  db: Database,
  table: (typeof POST_IDS)[number][0] | (typeof TERM_IDS)[number][0] | 'term_relationships',
  column: string,
  ids: Pairs,
  where: Record<string, string> = {},
): Promise<void> {
  for (const [from, to] of ids)
    await db
      .from(table)
      .where({ ...where, [column]: from } as never)
      .update({ [column]: to } as never);
}
