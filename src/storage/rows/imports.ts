import { groupedBy } from '../../grouped-by.ts';
import { type Database, hasTable } from '../engine/database.ts';
import { insertedValues, upsertRows } from '../engine/insert.ts';
import type { ImportIdRow, ImportRow, ImportWaitingRow } from '../engine/own-tables.ts';
import { readInParts } from '../engine/pages.ts';

/** What is known of a record of a source. */
export interface LedgerEntry {
  readonly item: string;
  readonly kind: string;
  readonly target: number;
  readonly digest: string;
  readonly run: number;
  /** The run that made it; 0: it was here before, or nobody knows. */
  readonly made: number;
}

/** Keys asked for in one query. */
const KEYS_AT_ONCE = 500;

/** The row of a source, or undefined where nothing was ever imported from it, or the tables are not there yet. */
export async function findImport(db: Database, source: string): Promise<ImportRow | undefined> {
  if (!(await hasTable(db, 'fasti_imports'))) return undefined;
  return db.from('fasti_imports').where('source', source).first();
}

/** Begins a run of a source, however the last one ended. Returns its row. Call it in a transaction. */
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
 * Notes how far a run has come. False: another run of the same source was begun meanwhile, or this one has come further
 * than `before` already. Writing the row makes runs of one source wait for each other.
 */
export async function noteProgress(
  db: Database,
  { id, run }: Pick<ImportRow, 'id' | 'run'>,
  before: number,
  { done, open, report, now }: { done: number; open: boolean; report: string; now: string },
): Promise<boolean> {
  const changed = await db
    .from('fasti_imports')
    .where({ id, run, done: before })
    .update({ done, open: open ? 1 : 0, report, touched_at: now });
  return changed > 0;
}

/** What is known of records of a source, by their digests. */
export async function loadLedger(db: Database, importId: number, items: readonly string[]): Promise<Map<string, LedgerEntry>> {
  const found = new Map<string, LedgerEntry>();
  for (let at = 0; at < items.length; at += KEYS_AT_ONCE) {
    const rows = await db
      .from('fasti_import_ids')
      .where('import_id', importId)
      .whereIn('item', items.slice(at, at + KEYS_AT_ONCE));
    for (const row of rows) found.set(row.item, row);
  }
  return found;
}

/** Notes which records became which. */
export async function writeLedger(db: Database, importId: number, entries: readonly LedgerEntry[]): Promise<void> {
  for (let at = 0; at < entries.length; at += KEYS_AT_ONCE) {
    const rows: ImportIdRow[] = entries.slice(at, at + KEYS_AT_ONCE).map((entry) => ({ import_id: importId, ...entry }));
    await upsertRows(db, 'fasti_import_ids', rows, ['import_id', 'item'], insertedValues(db, ['kind', 'target', 'digest', 'run', 'made']));
  }
}

/** Ids of ours that records of these kinds became. */
export async function importedIds(db: Database, importId: number, kinds: readonly string[]): Promise<number[]> {
  const rows = await db
    .from('fasti_import_ids')
    .where('import_id', importId)
    .whereIn('kind', [...kinds])
    .select('target');
  return rows.map(({ target }) => target);
}

/** Ids of the records of a kind that came in a run before this one and not in it, whatever they were called. */
export async function importedBefore(db: Database, importId: number, run: number, kind: string): Promise<number[]> {
  const ofKind = () => db.from('fasti_import_ids').where({ import_id: importId, kind });
  const seen = ofKind().where('run', '>=', run).select('target');
  const rows = await ofKind().where('run', '<', run).whereNotIn('target', seen).select('target');
  return rows.map(({ target }) => target);
}

/** Metas of these keys, one value of each, of those of these posts that are not in the trash. */
export async function metasOfImported(
  db: Database,
  ids: readonly number[],
  keys: readonly string[],
): Promise<Map<number, Map<string, string>>> {
  const rows = await readInParts(
    ids,
    (some) => db.rows<{ post_id: number; meta_key: string; meta_value: string | null }>`
      SELECT m.post_id, m.meta_key, m.meta_value FROM {postmeta} m JOIN {posts} p ON p.ID = m.post_id
      WHERE m.post_id IN (${some}) AND m.meta_key IN (${keys}) AND p.post_status <> 'trash'`,
  );
  const metas = new Map<number, Map<string, string>>();
  for (const { post_id: id, meta_key: key, meta_value: value } of rows) {
    const own = metas.get(id) ?? new Map<string, string>();
    metas.set(id, own.set(key, value ?? ''));
  }
  return metas;
}

/** The run that ended or was heard of last, of any source; undefined: nothing was ever imported. */
export async function lastImport(db: Database): Promise<ImportRow | undefined> {
  if (!(await hasTable(db, 'fasti_imports'))) return undefined;
  return db.from('fasti_imports').orderBy('touched_at', 'desc').orderBy('id', 'desc').first();
}

/** What a run made: ids by kind. */
export async function madeBy(db: Database, { id, run }: Pick<ImportRow, 'id' | 'run'>): Promise<Map<string, number[]>> {
  const rows = await db.from('fasti_import_ids').where({ import_id: id, made: run }).select('kind', 'target');
  return groupedBy(
    rows,
    ({ kind }) => kind,
    ({ target }) => target,
  );
}

/** Those of these records that posts outside the trash name which the run did not make, in metas of this key. */
export async function namedByOthers(
  db: Database,
  { id, run }: Pick<ImportRow, 'id' | 'run'>,
  key: string,
  ids: readonly number[],
): Promise<Set<number>> {
  const rows = await readInParts(
    ids.map(String),
    (some) => db.rows<{ named: string }>`
      SELECT DISTINCT m.meta_value AS named FROM {postmeta} m JOIN {posts} p ON p.ID = m.post_id
      WHERE m.meta_key = ${key} AND m.meta_value IN (${some}) AND p.post_status NOT IN ('trash', 'auto-draft') AND p.post_type <> 'revision'
        AND NOT EXISTS (
          SELECT 1 FROM {fasti_import_ids} made
          WHERE made.import_id = ${id} AND made.made = ${run} AND made.kind = 'event' AND made.target = p.ID
        )`,
  );
  return new Set(rows.map(({ named }) => Number(named)));
}

/** Forgets that records came, so that they come again with the next import of the source. */
export async function forgetImported(db: Database, importId: number, kind: string, targets: readonly number[]): Promise<void> {
  for (let at = 0; at < targets.length; at += KEYS_AT_ONCE) {
    await db
      .from('fasti_import_ids')
      .where({ import_id: importId, kind })
      .whereIn('target', targets.slice(at, at + KEYS_AT_ONCE))
      .delete();
  }
}

/** Notes what records wait for. */
export async function writeWaiting(db: Database, importId: number, rows: readonly Omit<ImportWaitingRow, 'import_id'>[]): Promise<void> {
  for (let at = 0; at < rows.length; at += KEYS_AT_ONCE) {
    const some: ImportWaitingRow[] = rows
      .slice(at, at + KEYS_AT_ONCE)
      .map(({ item, kind, target, wants }) => ({ import_id: importId, item, kind, target, wants }));
    await upsertRows(db, 'fasti_import_waiting', some, ['import_id', 'item'], insertedValues(db, ['kind', 'target', 'wants']));
  }
}

/** Some records that wait, in a lasting order. */
export async function nextWaiting(db: Database, importId: number, limit: number): Promise<ImportWaitingRow[]> {
  return db.from('fasti_import_waiting').where('import_id', importId).orderBy('item').limit(limit);
}

/** Forgets what records wait for. */
export async function dropWaiting(db: Database, importId: number, items: readonly string[]): Promise<void> {
  for (let at = 0; at < items.length; at += KEYS_AT_ONCE) {
    await db
      .from('fasti_import_waiting')
      .where('import_id', importId)
      .whereIn('item', items.slice(at, at + KEYS_AT_ONCE))
      .delete();
  }
}
