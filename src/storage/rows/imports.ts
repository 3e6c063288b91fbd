import { groupedBy } from '../../grouped-by.ts';
import { postKinds, termKinds } from '../../kinds/index.ts';
import { textOfStored } from '../../wordpress/php/serialized.ts';
import type { Post } from '../../wordpress/rows.ts';
import { DISCARDED_STATUSES } from '../../wordpress/status.ts';
import { type Database, hasTable } from '../engine/database.ts';
import { insertedValues, upsertRows } from '../engine/insert.ts';
import type { ImportIdRow, ImportRow, ImportWaitingRow } from '../engine/own-tables.ts';
import { pagesOf, readInParts } from '../engine/pages.ts';
import { Piece } from '../engine/statement.ts';

/** The stored information about an imported record of a source. */
export interface LedgerEntry {
  readonly item: string;
  readonly kind: string;
  readonly target: number;
  readonly digest: string;
  readonly run: number;
  /** The run that created the record; 0 if it existed before or this is not known. */
  readonly made: number;
}

/** Maximum number of keys in one query. */
const KEYS_PER_QUERY = 500;

/** Reads the row of a source; undefined if nothing was ever imported from it, or the tables do not exist yet. */
export async function findImport(db: Database, source: string): Promise<ImportRow | undefined> {
  if (!(await hasTable(db, 'fasti_imports'))) return undefined;
  return db.from('fasti_imports').where('source', source).first();
}

/**
 * Begins a run of a source, whether or not the previous run was finished. Returns its row. Must be called in a
 * transaction.
 */
export async function beginImport(db: Database, source: string, report: string, now: string): Promise<ImportRow> {
  await upsertRows(
    db,
    'fasti_imports',
    [{ source, run: 0, open: 1, done: 0, report, touched_at: now }],
    ['source'],
    insertedValues(db, ['open', 'done', 'report', 'touched_at']),
  );
  await db.from('fasti_imports').where('source', source).increment('run', 1);
  return (await db.from('fasti_imports').where('source', source).first()) as ImportRow;
}

/**
 * Stores the progress of a run. False: another run of the same source has begun since, or this run is already further
 * than `before`. Since this writes the row, runs of one source wait for each other.
 */
export async function storeProgress(
  db: Database,
  { id, run }: Pick<ImportRow, 'id' | 'run'>,
  before: number,
  { done, open, report, now }: { done: number; open: boolean; report: string; now: string },
): Promise<boolean> {
  const rowCount = await db
    .from('fasti_imports')
    .where({ id, run, done: before })
    .update({ done, open: open ? 1 : 0, report, touched_at: now });
  return rowCount > 0;
}

/** Reads the stored information about records of a source, by their digests. */
export async function loadLedger(db: Database, importId: number, items: readonly string[]): Promise<Map<string, LedgerEntry>> {
  const entries = new Map<string, LedgerEntry>();
  for (let at = 0; at < items.length; at += KEYS_PER_QUERY) {
    const rows = await db
      .from('fasti_import_ids')
      .where('import_id', importId)
      .whereIn('item', items.slice(at, at + KEYS_PER_QUERY));
    for (const row of rows) entries.set(row.item, row);
  }
  return entries;
}

/** Returns those of these ids that imports have noted for records of a kind, whether or not the records still exist. */
export async function notedTargets(db: Database, kind: string, ids: readonly number[]): Promise<Set<number>> {
  const rows = await readInParts(ids, (some) => db.from('fasti_import_ids').where('kind', kind).whereIn('target', some).distinct('target'));
  return new Set(rows.map(({ target }) => target));
}

/** Returns the names of the sources whose imports created these records, by record. */
export async function makersOf(db: Database, ids: readonly number[]): Promise<Map<number, string[]>> {
  if (!(await hasTable(db, 'fasti_imports'))) return new Map();
  const rows = await readInParts(
    ids,
    (some) => db.rows<{ target: number; source: string }>`
      SELECT DISTINCT l.target, i.source FROM {fasti_import_ids} l JOIN {fasti_imports} i ON i.id = l.import_id
      WHERE l.target IN (${some}) AND l.made > 0 AND l.kind = ${'event'}`,
  );
  return new Map([...groupedBy(rows, ({ target }) => Number(target))].map(([id, of]) => [id, of.map(({ source }) => source)]));
}

/** The digest that an import keeps of a record. */
export type KeptDigest = Pick<ImportIdRow, 'import_id' | 'item' | 'target' | 'digest'>;

/** Returns the digests that imports, or only this one, keep of these venues, organizers or images. */
export async function digestsOf(db: Database, ids: readonly number[], importId?: number): Promise<readonly KeptDigest[]> {
  if (ids.length === 0 || !(await hasTable(db, 'fasti_imports'))) return [];
  return readInParts(ids, (some) => {
    const rows = keptDigests(db, ['venue', 'organizer', 'attachment']).whereIn('target', some);
    return importId === undefined ? rows : rows.where('import_id', importId);
  });
}

/** Returns the digests that imports keep of images. */
export const digestsOfImages = async (db: Database): Promise<readonly KeptDigest[]> =>
  (await hasTable(db, 'fasti_imports')) ? keptDigests(db, ['attachment']) : [];

const keptDigests = (db: Database, kinds: readonly string[]) =>
  db.from('fasti_import_ids').whereIn('kind', kinds).select('import_id', 'item', 'target', 'digest');

/** Replaces the digest that an import keeps of a record. */
export async function keepDigest(db: Database, { import_id, item }: KeptDigest, digest: string): Promise<void> {
  await db.from('fasti_import_ids').where({ import_id, item }).update({ digest });
}

/** Stores which records of the source became which records. */
export async function writeLedger(db: Database, importId: number, entries: readonly LedgerEntry[]): Promise<void> {
  for (let at = 0; at < entries.length; at += KEYS_PER_QUERY) {
    const rows: ImportIdRow[] = entries.slice(at, at + KEYS_PER_QUERY).map((entry) => ({ import_id: importId, ...entry }));
    await upsertRows(db, 'fasti_import_ids', rows, ['import_id', 'item'], insertedValues(db, ['kind', 'target', 'digest', 'run', 'made']));
  }
}

/** Returns our ids of the records imported with these kinds. */
export async function importedIds(db: Database, importId: number, kinds: readonly string[]): Promise<number[]> {
  const rows = await db
    .from('fasti_import_ids')
    .where('import_id', importId)
    .whereIn('kind', [...kinds])
    .select('target');
  return rows.map(({ target }) => target);
}

/** Returns the ids of records of a kind that came in an earlier run but not in this one, even under another name. */
export async function importedBefore(db: Database, importId: number, run: number, kind: string): Promise<number[]> {
  const ofKind = () => db.from('fasti_import_ids').where({ import_id: importId, kind });
  const currentTargets = ofKind().where('run', '>=', run).select('target');
  const rows = await ofKind().where('run', '<', run).whereNotIn('target', currentTargets).select('target');
  return rows.map(({ target }) => target);
}

/** Returns the ids of the imports that have brought these events, by event. */
export async function importsOf(db: Database, ids: readonly number[]): Promise<Map<number, number[]>> {
  if (!(await hasTable(db, 'fasti_imports'))) return new Map();
  const rows = await readInParts(
    ids,
    (some) => db.rows<{ target: number; import_id: number }>`
      SELECT DISTINCT target, import_id FROM {fasti_import_ids} WHERE target IN (${some}) AND kind = ${'event'}`,
  );
  return groupedBy(
    rows,
    ({ target }) => Number(target),
    ({ import_id: id }) => Number(id),
  );
}

/** Returns those of some venues, organizers and events that an import has brought; `importId` 0 is of none. */
export async function targetsOfImport(db: Database, importId: number, ids: readonly number[]): Promise<number[]> {
  if (importId === 0) return [];
  const rows = await readInParts(
    ids,
    (some) => db.rows<{ target: number }>`
      SELECT DISTINCT target FROM {fasti_import_ids}
      WHERE target IN (${some}) AND import_id = ${importId} AND kind IN (${postKinds.map(({ name }) => name)})`,
  );
  return rows.map(({ target }) => Number(target));
}

/** Reads the metas with these keys, one value of each, of those of these posts that are not in the trash. */
export async function metasOfImported(
  db: Database,
  ids: readonly number[],
  keys: readonly string[],
): Promise<Map<number, Map<string, string>>> {
  const rows = await readInParts(
    ids,
    (page) => db.rows<{ post_id: number; meta_key: string; meta_value: string | null }>`
      SELECT m.post_id, m.meta_key, m.meta_value FROM {postmeta} m JOIN {posts} p ON p.ID = m.post_id
      WHERE m.post_id IN (${page}) AND m.meta_key IN (${keys}) AND p.post_status <> 'trash'`,
  );
  const metas = new Map<number, Map<string, string>>();
  for (const { post_id: id, meta_key: key, meta_value: value } of rows) {
    const ofPost = metas.get(id) ?? new Map<string, string>();
    metas.set(id, ofPost.set(key, textOfStored(value ?? '')));
  }
  return metas;
}

/** Returns the run of any source that was updated last; undefined if nothing was ever imported. */
export async function lastImport(db: Database): Promise<ImportRow | undefined> {
  if (!(await hasTable(db, 'fasti_imports'))) return undefined;
  return db.from('fasti_imports').orderBy('touched_at', 'desc').orderBy('id', 'desc').first();
}

/** Reads the values of a meta of all events that runs of an import before this one have brought. */
export async function metasOfEarlier(
  db: Database,
  { id, run }: Pick<ImportRow, 'id' | 'run'>,
  key: string,
): Promise<readonly { readonly target: number; readonly value: string }[]> {
  const rows = await db.rows<{ target: number; meta_value: string | null }>`
    SELECT DISTINCT l.target, m.meta_value FROM {fasti_import_ids} l JOIN {postmeta} m ON m.post_id = l.target
    WHERE l.import_id = ${id} AND l.run < ${run} AND l.kind = ${'event'} AND m.meta_key = ${key}`;
  return rows.map(({ target, meta_value: value }) => ({ target: Number(target), value: textOfStored(value ?? '') }));
}

/** Reads all that an import has noted about these events, in the order of its names. */
export const loadEventEntries = (db: Database, importId: number, ids: readonly number[]): Promise<LedgerEntry[]> =>
  readInParts(ids, (some) =>
    db.from('fasti_import_ids').where({ import_id: importId, kind: 'event' }).whereIn('target', some).orderBy('item'),
  );

/** A run of an import, and the kind of the records that it created. */
export interface CreatedRecords {
  readonly run: Pick<ImportRow, 'id' | 'run'>;
  readonly kind: string;
  readonly postType: string;
}

/** A record that a run created, and what permissions on it depend on. */
export interface CreatedRow extends Pick<Post, 'post_author' | 'post_status' | 'post_type'> {
  readonly id: number;
}

/** Counts the records that a run created and that are outside of the trash. */
export async function countCreated(db: Database, created: CreatedRecords): Promise<number> {
  const [row] = await db.rows<{ total: number }>`
    SELECT COUNT(DISTINCT p.ID) AS total FROM {fasti_import_ids} l JOIN {posts} p ON p.ID = l.target WHERE ${existing(created)}`;
  return Number(row?.total ?? 0);
}

/** Reads those with ids above `after`, in the order of their ids, at most `size`. */
export const loadCreated = (
  db: Database,
  created: CreatedRecords,
  { after, size }: { readonly after: number; readonly size: number },
): Promise<CreatedRow[]> =>
  db.rows<CreatedRow>`
    SELECT DISTINCT p.ID AS id, p.post_author, p.post_status, p.post_type
    FROM {fasti_import_ids} l JOIN {posts} p ON p.ID = l.target WHERE ${existing(created)} AND p.ID > ${after}
    ORDER BY p.ID LIMIT ${size}`;

const existing = ({ run, kind, postType }: CreatedRecords): Piece =>
  new Piece([
    "l.import_id = ? AND l.made = ? AND l.kind = ? AND p.post_type = ? AND p.post_status <> 'trash'",
    [run.id, run.run, kind, postType],
  ]);

/** Returns the ids in metas with this key of posts which are outside the trash and which the run did not create. */
export async function referencedElsewhere(db: Database, { id, run }: Pick<ImportRow, 'id' | 'run'>, key: string): Promise<Set<number>> {
  const rows = await db.rows<{ named: string }>`
    SELECT DISTINCT m.meta_value AS named FROM {postmeta} m JOIN {posts} p ON p.ID = m.post_id
    WHERE m.meta_key = ${key} AND p.post_status NOT IN (${DISCARDED_STATUSES}) AND p.post_type <> 'revision'
      AND p.ID NOT IN (SELECT target FROM {fasti_import_ids} WHERE import_id = ${id} AND made = ${run} AND kind = 'event')`;
  return new Set(rows.map(({ named }) => Number(named)));
}

/** The kinds under which imports note posts, and terms; `term`: the id that a term has in its source. */
const notedKinds = {
  posts: [...postKinds.map(({ name }) => name), 'attachment'],
  terms: [...termKinds.map(({ name }) => name), 'term'],
};

/**
 * Forgets what imports have noted about posts or terms that had these ids and are gone. Must be called before other
 * records get the ids: the next import of the former source would change these.
 */
export async function forgetFormer(db: Database, of: keyof typeof notedKinds, ids: readonly number[]): Promise<void> {
  const rows: Pick<ImportIdRow, 'import_id' | 'item'>[] = await readInParts(ids, (some) =>
    db.from('fasti_import_ids').whereIn('kind', notedKinds[of]).whereIn('target', some).select('import_id', 'item'),
  );
  const items = groupedBy(
    rows,
    ({ import_id: id }) => id,
    ({ item }) => item,
  );
  // Usually there are none. Deleting them by a condition would lock the gaps between rows, for which others wait.
  for (const [importId, some] of items) await forgetItems(db, importId, some);
}

/** Forgets what an import has noted under these names. */
export async function forgetItems(db: Database, importId: number, items: readonly string[]): Promise<void> {
  for (const some of pagesOf(items, KEYS_PER_QUERY))
    for (const table of ['fasti_import_ids', 'fasti_import_waiting'] as const)
      await db.from(table).where('import_id', importId).whereIn('item', some).delete();
}

/** Removes records from the ledger, so that the next import of the source imports them again. */
export async function forgetImported(db: Database, importId: number, kind: string, targets: readonly number[]): Promise<void> {
  for (let at = 0; at < targets.length; at += KEYS_PER_QUERY) {
    await db
      .from('fasti_import_ids')
      .where({ import_id: importId, kind })
      .whereIn('target', targets.slice(at, at + KEYS_PER_QUERY))
      .delete();
  }
}

/** Stores the records that imported records wait for. */
export async function writeWaiting(db: Database, importId: number, rows: readonly Omit<ImportWaitingRow, 'import_id'>[]): Promise<void> {
  for (let at = 0; at < rows.length; at += KEYS_PER_QUERY) {
    const page: ImportWaitingRow[] = rows
      .slice(at, at + KEYS_PER_QUERY)
      .map(({ item, kind, target, wants }) => ({ import_id: importId, item, kind, target, wants }));
    await upsertRows(db, 'fasti_import_waiting', page, ['import_id', 'item'], insertedValues(db, ['kind', 'target', 'wants']));
  }
}

/** Reads some of the waiting records, in a stable order. */
export async function nextWaiting(db: Database, importId: number, limit: number): Promise<ImportWaitingRow[]> {
  return db.from('fasti_import_waiting').where('import_id', importId).orderBy('item').limit(limit);
}

/**
 * Removes waiting records from the list. Most records never waited; they are not deleted, so that imports of other
 * sources need not wait for the gaps between the rows.
 */
export async function deleteWaiting(db: Database, importId: number, items: readonly string[]): Promise<void> {
  for (let at = 0; at < items.length; at += KEYS_PER_QUERY) {
    const rows = () => db.from('fasti_import_waiting').where('import_id', importId);
    const found = await rows()
      .whereIn('item', items.slice(at, at + KEYS_PER_QUERY))
      .pluck('item');
    if (found.length > 0) await rows().whereIn('item', found).delete();
  }
}
