import { SEARCHED_TAXONOMIES, SEARCHED_TYPES } from '../../kinds/core/search.ts';
import { postTypes, taxonomies } from '../../kinds/index.ts';
import { GROUP_TAXONOMIES, LANGUAGE_TAXONOMIES, POLYLANG_TAXONOMIES } from '../../wordpress/polylang.ts';
import { EDITOR_METAS } from '../../wordpress/rows.ts';
import type { Database } from '../engine/database.ts';
import { insertedValues, upsertRows } from '../engine/insert.ts';
import type { PrintRow } from '../engine/own-tables.ts';
import { Piece, verbatim } from '../engine/statement.ts';
import type { TableName } from '../engine/tables.ts';
import type { OptionalLanguages } from '../index/indexed-events.ts';
import { WATCHED, type WatchedName } from './watched-tables.ts';

/*
 * Prints: for each object that answers are made of, a digest of all its rows at the time when its last change was taken
 * over. If the current rows give a different digest, another writer has changed the object since.
 */

export type Print = Readonly<PrintRow>;
export type PrintKind = 'post' | 'term';

/** Types of posts that answers show. Revisions, shop orders and menu items are not among them. */
export const TYPES_WITH_PRINTS = [...new Set([...postTypes, ...SEARCHED_TYPES, 'attachment', 'tribe_event_series'])];
export const TAXONOMIES_WITH_PRINTS = [...new Set([...taxonomies, ...SEARCHED_TAXONOMIES, ...LANGUAGE_TAXONOMIES, ...GROUP_TAXONOMIES])];

/** A range of keys: `from` is included, `to` is not. */
export interface Keys {
  readonly from: number;
  readonly to: number;
}

/** Determines the rows from which the prints of one kind are computed. */
export interface PrintSource {
  readonly kind: PrintKind;
  /** The table with one row for each object, and its key column. */
  readonly table: 'posts' | 'term_taxonomy';
  readonly key: string;
  /** Condition: which of its rows are objects with prints. */
  readonly condition: Piece;
  /** SQL for the columns of a print, for the row `o` of an object. */
  readonly columns: Readonly<Record<Exclude<keyof Print, 'kind' | 'object'>, string>>;
  /** Whether the list index is built from these objects, too. It is not if the calendar's own tables are missing. */
  readonly isIndexed: boolean;
  /** Whether rows of dates say that their event recurs (`has_recurrence`). */
  readonly hasRecurrence: boolean;
}

/**
 * Returns the sources of prints in this database, which may lack the tables of the calendar. Languages are part of a
 * print.
 */
export async function printSources(db: Database, languages: OptionalLanguages): Promise<readonly PrintSource[]> {
  const dateColumns = await db.dialect.columns(db, db.table('tec_occurrences'));
  const isDated = dateColumns.length > 0;
  const common = { isIndexed: isDated, hasRecurrence: dateColumns.includes('has_recurrence') };
  const [ofPost, ofTerm] = [
    [
      digestOf(db, 'posts', 'r.ID = o.ID'),
      digestOf(db, 'postmeta', `r.post_id = o.ID AND r.meta_key NOT IN (${quoted(EDITOR_METAS)})`),
      digestOf(db, 'term_relationships', 'r.object_id = o.ID'),
      ...(isDated ? [digestOf(db, 'tec_occurrences', 'r.post_id = o.ID')] : []),
      ...languageDigests(db, languages, 'post'),
    ],
    [
      digestOf(db, 'term_taxonomy', 'r.term_taxonomy_id = o.term_taxonomy_id'),
      digestOf(db, 'terms', 'r.term_id = o.term_id'),
      ...languageDigests(db, languages, 'term'),
    ],
  ];
  const digestOfAll = (digests: readonly string[]) => `CONCAT_WS(' ', ${digests.join(', ')})`;
  return [
    // Terms come first: their changes show for which posts the translations may have changed.
    {
      kind: 'term',
      table: 'term_taxonomy',
      key: 'term_taxonomy_id',
      condition: isOneOf('taxonomy', TAXONOMIES_WITH_PRINTS),
      columns: { type: 'o.taxonomy', term: 'o.term_id', parent: 'o.parent', is_public: '1', digest: digestOfAll(ofTerm) },
      ...common,
    },
    {
      kind: 'post',
      table: 'posts',
      key: 'ID',
      condition: isOneOf('post_type', TYPES_WITH_PRINTS),
      columns: { type: 'o.post_type', term: '0', parent: '0', is_public: PUBLIC_POST, digest: digestOfAll(ofPost) },
      ...common,
    },
  ];
}

const PUBLIC_POST = "CASE WHEN o.post_status = 'publish' OR (o.post_status = 'inherit' AND o.post_parent = 0) THEN 1 ELSE 0 END";

/** SQL for the columns of a print under their names. */
const columnsOf = ({ columns }: PrintSource): Piece =>
  verbatim(
    Object.entries(columns)
      .map(([name, sql]) => `${sql} AS ${name}`)
      .join(', '),
  );

const quoted = (values: readonly string[]): string => values.map((value) => `'${value}'`).join(', ');

const isOneOf = (column: string, values: readonly string[]) => new Piece([`o.${column} IN (${quoted(values)})`, []]);

/** WPML's names for the objects of each kind, and Polylang's taxonomies of translation groups. */
const WPML_ELEMENT_TYPES = {
  post: TYPES_WITH_PRINTS.map((type) => `post_${type}`),
  term: TAXONOMIES_WITH_PRINTS.map((taxonomy) => `tax_${taxonomy}`),
};

/**
 * Digests of the rows that hold the language and the translations of the object `o`. They cover the whole group,
 * because each member shows all others.
 */
function languageDigests(db: Database, languages: OptionalLanguages, kind: PrintKind): string[] {
  const join = db.dialect.joinInOrder;
  const quotedTable = (table: TableName) => `\`${db.table(table)}\``;
  if (languages?.form === 'wpml') {
    const group = `${quotedTable('icl_translations')} m ${join} ${quotedTable('icl_translations')} r ON r.trid = m.trid`;
    const ownCondition = `m.element_id = o.${kind === 'post' ? 'ID' : 'term_taxonomy_id'} AND m.element_type IN (${quoted(WPML_ELEMENT_TYPES[kind])})`;
    return [digestOf(db, 'icl_translations', `${ownCondition} AND r.element_id IS NOT NULL`, group)];
  }
  if (languages?.form !== 'polylang') return [];
  const relatedTables = `${quotedTable('term_relationships')} m ${join} ${quotedTable('term_taxonomy')} t ON t.term_taxonomy_id = m.term_taxonomy_id`;
  const ownCondition = `m.object_id = o.${kind === 'post' ? 'ID' : 'term_id'}`;
  const group = `SELECT ${db.dialect.joinedPrint('t.description')} FROM ${relatedTables} WHERE ${ownCondition} AND t.taxonomy = '${POLYLANG_TAXONOMIES[kind].group}'`;
  if (kind === 'post') return [`COALESCE((${group}), '-')`];
  // The relationships of posts are in their digest anyway. The relationships of terms share a table with those of posts
  // that have the same ids.
  const language = `SELECT ${db.dialect.joinedPrint('t.term_taxonomy_id')} FROM ${relatedTables} WHERE ${ownCondition} AND t.taxonomy = '${POLYLANG_TAXONOMIES.term.language}'`;
  return [`COALESCE((${group}), '-')`, `COALESCE((${language}), '-')`];
}

/**
 * SQL for the count in a digest of a term. No answer shows how many records a language has, but the count changes with
 * each record that is published, and a change of a language affects every answer.
 */
const SHOWN_COUNT = `CASE WHEN r.\`taxonomy\` IN (${quoted(LANGUAGE_TAXONOMIES)}) THEN 0 ELSE r.\`count\` END`;

/** SQL for a digest of the rows `r` of a table that belong to the object `o`; a dash if there are none. */
function digestOf(db: Database, table: WatchedName, belongs: string, from = `\`${db.table(table)}\` r`): string {
  const { plain, texts } = WATCHED[table];
  // Each text is preceded by its length, -1 for NULL, so that no two different rows give the same text.
  const sized = texts.flatMap((name) => [`COALESCE(LENGTH(r.\`${name}\`), -1)`, `r.\`${name}\``]);
  const values = plain.map((name) => (name === 'count' ? SHOWN_COUNT : `r.\`${name}\``));
  const joined = db.dialect.joinedPrint(`CONCAT_WS('|', ${[...values, ...sized].join(', ')})`);
  return `COALESCE((SELECT ${joined} FROM ${from} WHERE ${belongs}), '-')`;
}

/**
 * Returns the keys in a range whose objects differ from their stored prints, including deleted objects. The type is
 * part of the digest: text columns of WordPress's tables are not compared directly with ours, because their collations
 * may differ.
 */
export async function differingKeys(db: Database, source: PrintSource, { from, to }: Keys): Promise<number[]> {
  const { kind, key, condition, table } = source;
  const [keyColumn, all] = [verbatim(`o.${key}`), new Piece(['??', [db.table(table)]])];
  // The limit, which is never reached, prevents both databases from computing each digest twice.
  const changedRows = await db.rows<{ object: number }>`
    SELECT now.object FROM (
      SELECT ${keyColumn} AS object, ${columnsOf(source)} FROM ${all} o WHERE ${keyColumn} >= ${from} AND ${keyColumn} < ${to} AND ${condition} LIMIT ${to - from}
    ) now
    LEFT JOIN {fasti_prints} p ON p.kind = ${kind} AND p.object = now.object
    WHERE p.digest IS NULL OR NOT p.digest = now.digest`;
  const goneRows = await db.rows<{ object: number }>`
    SELECT p.object FROM {fasti_prints} p LEFT JOIN ${all} o ON ${keyColumn} = p.object AND ${condition}
    WHERE p.kind = ${kind} AND p.object >= ${from} AND p.object < ${to} AND ${keyColumn} IS NULL`;
  return [...changedRows, ...goneRows].map(({ object }) => Number(object));
}

/** Returns the first key from `from` on of an object or a print; undefined if there is none. */
export async function nextKey(db: Database, { kind, table, key, condition }: PrintSource, from: number): Promise<number | undefined> {
  const keyColumn = verbatim(`o.${key}`);
  const rows = await db.rows<{ first: number | null }>`
    SELECT MIN(${keyColumn}) AS first FROM ${new Piece(['??', [db.table(table)]])} o WHERE ${keyColumn} >= ${from} AND ${condition}
    UNION ALL SELECT MIN(object) FROM {fasti_prints} WHERE kind = ${kind} AND object >= ${from}`;
  const keys = rows.flatMap(({ first }) => (first === null ? [] : [Number(first)]));
  return keys.length === 0 ? undefined : Math.min(...keys);
}

/** Computes the prints of these objects from their current rows. */
export async function currentPrints(db: Database, source: PrintSource, keys: readonly number[]): Promise<Map<number, Print>> {
  const { kind, table, key, condition } = source;
  const keyColumn = verbatim(`o.${key}`);
  const rows = await db.rows<Omit<Print, 'kind'>>`
    SELECT ${keyColumn} AS object, ${columnsOf(source)} FROM ${new Piece(['??', [db.table(table)]])} o WHERE ${keyColumn} IN (${keys}) AND ${condition}`;
  return new Map(rows.map((row) => [Number(row.object), { ...row, kind }]));
}

/** Returns the keys of the prints of these terms, including deleted terms. */
export async function termKeys(db: Database, terms: readonly number[]): Promise<number[]> {
  const rows = await db.rows<{ id: number }>`
    SELECT term_taxonomy_id AS id FROM {term_taxonomy} WHERE term_id IN (${terms})
    UNION SELECT object FROM {fasti_prints} WHERE kind = ${'term'} AND term IN (${terms})`;
  return rows.map(({ id }) => Number(id));
}

/** Reads the stored prints of these objects. */
export async function storedPrints(db: Database, kind: PrintKind, keys: readonly number[]): Promise<Map<number, Print>> {
  const rows = await db.rows<Print>`SELECT * FROM {fasti_prints} WHERE kind = ${kind} AND object IN (${keys})`;
  return new Map(rows.map((row) => [Number(row.object), row]));
}

/** Stores prints, and deletes those of deleted objects. */
export async function storePrints(db: Database, kind: PrintKind, prints: readonly Print[], goneKeys: readonly number[]): Promise<void> {
  if (goneKeys.length > 0) await db.change`DELETE FROM {fasti_prints} WHERE kind = ${kind} AND object IN (${goneKeys})`;
  const rows = prints.map(({ object, type, term, parent, is_public, digest }) => ({ kind, object, type, term, parent, is_public, digest }));
  await upsertRows(db, 'fasti_prints', rows, ['kind', 'object'], insertedValues(db, ['type', 'term', 'parent', 'is_public', 'digest']));
}

/** Returns the posts that belong to the groups of translations stored in these term rows (Polylang's format). */
export async function postsInGroups(db: Database, keys: readonly number[]): Promise<number[]> {
  if (keys.length === 0) return [];
  const rows = await db.rows<{ id: number }>`
    SELECT DISTINCT r.object_id AS id FROM {term_taxonomy} tt JOIN {term_relationships} r ON r.term_taxonomy_id = tt.term_taxonomy_id
    WHERE tt.term_taxonomy_id IN (${keys}) AND tt.taxonomy = ${POLYLANG_TAXONOMIES.post.group}`;
  return rows.map(({ id }) => Number(id));
}

/** The form of prints: the language plugin and the sources that they are made from. */
export interface PrintForm {
  readonly languages: OptionalLanguages;
  readonly sources: readonly PrintSource[];
}

/** The row that marks the prints as complete, with the version and the language plugin they were computed for. */
function completenessRow({ languages, sources }: PrintForm) {
  const withoutDates = sources.every(({ isIndexed }) => isIndexed) ? '' : ' undated';
  return { kind: 'all', object: 0, type: `1${languages ? ` ${languages.form}` : ''}${withoutDates}` };
}

/** Whether every object has a print. Without that, changes by other writers cannot be determined. */
export async function arePrintsComplete(db: Database, form: PrintForm): Promise<boolean> {
  const { kind, type } = completenessRow(form);
  const [row] = await db.rows<Pick<Print, 'type'>>`SELECT type FROM {fasti_prints} WHERE kind = ${kind} AND object = 0`;
  return row?.type === type;
}

/** Notes that every object has a print (`arePrintsComplete`). */
export async function markPrintsComplete(db: Database, form: PrintForm): Promise<void> {
  await upsertRows(db, 'fasti_prints', [completenessRow(form)], ['kind', 'object'], insertedValues(db, ['type']));
}
