import { setImmediate as nextTurn } from 'node:timers/promises';
import { EDITOR_METAS } from '../../wordpress/rows.ts';
import { type Database, hasTable } from '../engine/database.ts';
import { Piece, verbatim } from '../engine/statement.ts';
import type { OptionalLanguages } from '../index/indexed-events.ts';
import { WATCHED } from './watched-tables.ts';

/*
 * Where rows of posts have changed since the last time, found with a cheap digest of ranges of each table. It says
 * which posts may have changed; whether they have, their prints say. Kept in memory: after a start all prints are
 * compared once.
 */

/** The tables that hold rows of posts, and the column that says of which. */
const TABLES = {
  posts: 'ID',
  postmeta: 'post_id',
  term_relationships: 'object_id',
  tec_occurrences: 'post_id',
  icl_translations: 'element_id',
} as const;
type Table = keyof typeof TABLES;

/** Rows that answers show, where a table has others as well. */
const SEEN: Readonly<Partial<Record<Table, string>>> = {
  postmeta: `(r.meta_key IS NULL OR r.meta_key NOT IN (${EDITOR_METAS.map((meta) => `'${meta}'`).join(', ')}))`,
  icl_translations: "SUBSTR(r.element_type, 1, 5) = 'post_' AND r.element_id IS NOT NULL",
};

/** A range of keys of a table: what its rows are, and which posts they belong to. Both are of one moment. */
interface Range {
  readonly digest: string;
  readonly posts: readonly number[];
}

type Ranges = Map<number, Range>;

/** Posts whose rows may have changed. */
export interface Suspects {
  readonly posts: readonly number[];
  /** To be called once they were looked at: from now on only later changes are found. */
  readonly accept: () => void;
}

export interface RowRanges {
  /** Reads everything. What changes from here on is found. */
  readonly begin: () => Promise<void>;
  /** `tables`: the only ones that are read; all of them where it is absent. Undefined before `begin`. */
  readonly suspects: (tables?: readonly string[]) => Promise<Suspects | undefined>;
}

/** How many keys a range has: about as many as some tens of posts have. */
const KEYS: Readonly<Record<Table, number>> = {
  posts: 64,
  postmeta: 1024,
  term_relationships: 64,
  tec_occurrences: 64,
  icl_translations: 64,
};
/**
 * How many queries at a time read a table. Metas are most of what is read; while it lasts, lists do without their index
 * and keep the server busy, and one query among theirs would get a small share of it.
 */
const READERS: Readonly<Record<Table, number>> = { posts: 1, postmeta: 3, term_relationships: 1, tec_occurrences: 1, icl_translations: 1 };
/** How many ranges one query reads: at least so many, and as many as take about `STEP_MS`. */
const FEWEST = 8;
const STEP_MS = 20;

/** `languages` of the content, as they stand: where WPML holds them, its table is one of them. */
export function createRowRanges(db: Database, languages: OptionalLanguages): RowRanges {
  let known: ReadonlyMap<Table, Ranges> | undefined;

  return {
    begin: async () => {
      known = undefined;
      const read = new Map<Table, Ranges>();
      for (const table of await tablesOf(db, languages)) read.set(table, await readRanges(db, table, 0, undefined));
      known = read;
    },
    suspects: async (tables) => {
      if (!known) return undefined;
      const posts = new Set<number>();
      const changed: { ranges: Ranges; start: number; range: Range | undefined }[] = [];
      const look = async (table: Table, ranges: Ranges): Promise<void> => {
        const now = await readDigests(db, table);
        for (const start of new Set([...ranges.keys(), ...now.keys()])) {
          const before = ranges.get(start);
          if (before?.digest === now.get(start)) continue;
          const range = (await readRanges(db, table, start, start + KEYS[table])).get(start);
          for (const id of [...(before?.posts ?? []), ...(range?.posts ?? [])]) posts.add(id);
          changed.push({ ranges, start, range });
        }
      };
      const wanted = [...known].filter(([table]) => tables === undefined || tables.includes(table));
      await Promise.all(wanted.map(([table, ranges]) => look(table, ranges)));
      const accept = () => {
        for (const { ranges, start, range } of changed) {
          if (range) ranges.set(start, range);
          else ranges.delete(start);
        }
      };
      return { posts: [...posts], accept };
    },
  };
}

async function tablesOf(db: Database, languages: OptionalLanguages): Promise<readonly Table[]> {
  const isDated = await hasTable(db, 'tec_occurrences');
  return [
    'posts',
    'postmeta',
    'term_relationships',
    ...(isDated ? (['tec_occurrences'] as const) : []),
    ...(languages?.form === 'wpml' ? (['icl_translations'] as const) : []),
  ];
}

/** Digests of all ranges, read in short queries. What is added after the last key meanwhile is found the next time. */
async function readDigests(db: Database, table: Table): Promise<Map<number, string>> {
  const found = new Map<number, string>();
  const keys = KEYS[table];
  const [first, last] = [await firstKey(db, table, 0), await lastKey(db, table)];
  if (first === undefined || last === undefined) return found;
  let [next, width] = [first, FEWEST * keys];
  const readOn = async (): Promise<void> => {
    while (next <= last) {
      const [from, to] = [next, next + width];
      next = to;
      const begun = performance.now();
      const { key, digest, seen } = partsOf(db, table);
      const rows = await db.rows<{ start: number; digest: string }>`
        SELECT ${key} - ${key} % ${keys} AS start, ${digest} AS digest FROM ${named(db, table)} r
        WHERE ${key} >= ${from} AND ${key} < ${to} AND ${seen} GROUP BY start`;
      for (const row of rows) found.set(Number(row.start), row.digest);
      const fitting = Math.round(((to - from) / keys) * (STEP_MS / Math.max(performance.now() - begun, 1)));
      width = Math.max(FEWEST, Math.min((width / keys) * 2, fitting)) * keys;
      if (rows.length === 0) next = Math.max(next, (await firstKey(db, table, to)) ?? last + 1);
      // SQLite answers at once: without this nobody else would get a turn.
      await nextTurn();
    }
  };
  await Promise.all(Array.from({ length: READERS[table] }, readOn));
  return found;
}

/** Ranges with their posts, from a key up to, but not at, another one. */
async function readRanges(db: Database, table: Table, from: number, to: number | undefined): Promise<Ranges> {
  const { key, digest, seen } = partsOf(db, table);
  const ranges: Ranges = new Map();
  for (let first = await firstKey(db, table, from); first !== undefined && first < (to ?? Number.POSITIVE_INFINITY); ) {
    const end: number = to ?? first + 16 * FEWEST * KEYS[table];
    const rows = await db.rows<{ start: number; digest: string; posts: string }>`
      SELECT ${key} - ${key} % ${KEYS[table]} AS start, ${digest} AS digest, GROUP_CONCAT(DISTINCT r.${verbatim(TABLES[table])}) AS posts
      FROM ${named(db, table)} r WHERE ${key} >= ${first} AND ${key} < ${end} AND ${seen} GROUP BY start`;
    for (const row of rows) ranges.set(Number(row.start), { digest: row.digest, posts: String(row.posts).split(',').map(Number) });
    first = await firstKey(db, table, end);
    await nextTurn();
  }
  return ranges;
}

async function lastKey(db: Database, table: Table): Promise<number | undefined> {
  const { key } = partsOf(db, table);
  const [row] = await db.rows<{ last: number | null }>`SELECT MAX(${key}) AS last FROM ${named(db, table)} r`;
  return row?.last === null || row?.last === undefined ? undefined : Number(row.last);
}

/** The beginning of the first range from here on that has rows. */
async function firstKey(db: Database, table: Table, from: number): Promise<number | undefined> {
  const { key } = partsOf(db, table);
  const [row] = await db.rows<{ first: number | null }>`SELECT MIN(${key}) AS first FROM ${named(db, table)} r WHERE ${key} >= ${from}`;
  return row?.first === null || row?.first === undefined ? undefined : Number(row.first) - (Number(row.first) % KEYS[table]);
}

const named = (db: Database, table: Table) => new Piece(['??', [db.table(table)]]);

function partsOf(db: Database, table: Table): { key: Piece; digest: Piece; seen: Piece } {
  const { key, plain, texts } = WATCHED[table];
  const columns = [...plain, ...texts.flatMap((name) => [`LENGTH:${name}`, name])].map((name) =>
    name.startsWith('LENGTH:') ? `COALESCE(LENGTH(r.\`${name.slice(7)}\`), -1)` : `r.\`${name}\``,
  );
  return {
    key: verbatim(`r.${key}`),
    digest: verbatim(db.dialect.quickPrint(`CONCAT_WS('|', ${columns.join(', ')})`)),
    seen: verbatim(SEEN[table] ?? '1 = 1'),
  };
}
