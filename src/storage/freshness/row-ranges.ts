import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Database, hasTable } from '../engine/database.ts';
import { Piece, verbatim } from '../engine/statement.ts';
import type { OptionalLanguages } from '../index/indexed-events.ts';
import { lastNumber, postsChangedAfter } from '../journal/entries.ts';
import { WATCHED } from './watched-tables.ts';

/*
 * Finds the ranges in which rows of posts have changed since the last check, with a fast digest of ranges of each
 * table. The result is the posts that may have changed; their prints show whether they really have. The digests are
 * kept in memory only: after a start, all prints are compared once.
 *
 * A print is made some time after the digests are read. WordPress may delete a row and insert the same row again: if
 * the print is from the moment in between, the digests do not differ afterwards. So posts stay suspects until they have
 * been checked while nothing was written, or for some seconds, and are again after any process has taken over a change
 * of them.
 */

/** The tables with rows of posts, and the column that holds the id of the post. */
const POST_ID_COLUMNS = {
  posts: 'ID',
  postmeta: 'post_id',
  term_relationships: 'object_id',
  tec_occurrences: 'post_id',
  icl_translations: 'element_id',
} as const;
type Table = keyof typeof POST_ID_COLUMNS;

/**
 * Conditions for rows of posts, for tables that also have other rows. The edit locks in `postmeta` are not excluded:
 * excluding them by name would take a fifth of the time of a digest.
 */
const ROW_CONDITIONS: Readonly<Partial<Record<Table, string>>> = {
  icl_translations: "SUBSTR(r.element_type, 1, 5) = 'post_' AND r.element_id IS NOT NULL",
};

/**
 * A range of keys of a table: the digest of its rows, and the posts that they belong to. Both are from the same moment.
 */
interface Range {
  readonly digest: string;
  readonly posts: readonly number[];
}

type Ranges = Map<number, Range>;

/** Posts whose rows may have changed. */
export interface Suspects {
  readonly posts: readonly number[];
  /** Must be called once the posts have been checked: afterwards only later changes are found. */
  readonly accept: () => void;
}

export interface RowRanges {
  /** Reads all ranges. Call `accept` once all posts have been checked: later changes are found by `suspects`. */
  readonly begin: () => Promise<Pick<Suspects, 'accept'>>;
  /**
   * Finds posts that may have changed. `tables`: the tables to read; all of them if absent. Undefined unless all posts
   * have been checked since the last `begin`.
   */
  readonly suspects: (tables?: readonly string[]) => Promise<Suspects | undefined>;
  /** Must be called if no other program wrote during the last accepted check: its posts are no longer suspects. */
  readonly confirm: () => void;
}

/** Time for which posts stay suspects, in milliseconds: much longer than a program takes to replace a row. */
const SUSPECT_MS = 5000;
/** If a site has more posts, none stay suspects after the first check of all, which takes longer than that, too. */
const MAX_SUSPECTS_OF_ALL = 2000;

/** Number of keys in a range, about as many as a few dozen posts have. */
const KEYS_PER_RANGE: Readonly<Record<Table, number>> = {
  posts: 64,
  postmeta: 1024,
  term_relationships: 64,
  tec_occurrences: 64,
  icl_translations: 64,
};
/**
 * Number of ranges that are first read together, since grouping by range takes as long as reading the rows: as many as
 * can be read in a few milliseconds. If the joint digest differs, each range is read.
 */
const RANGES_READ_TOGETHER = 16;
/**
 * Number of concurrent queries that read a table. Most of the data are metas. While they are read, lists do not use
 * their index and keep the server busy, so a single query would get only a small share of its time.
 */
const CONCURRENT_QUERIES: Readonly<Record<Table, number>> = {
  posts: 1,
  postmeta: 3,
  term_relationships: 1,
  tec_occurrences: 1,
  icl_translations: 1,
};

/**
 * Creates the range digests. `languages`: current languages of the content; if WPML stores them, its table is included.
 */
export function createRowRanges(db: Database, languages: OptionalLanguages, clock = () => performance.now()): RowRanges {
  let known: { readonly ranges: ReadonlyMap<Table, Ranges>; readonly journalNumber: number } | undefined;
  /** Posts that have been checked, but possibly while they were being written, and when their last such check began. */
  const unconfirmed = new Map<number, number>();

  return {
    begin: async () => {
      known = undefined;
      const beganAt = clock();
      const journalNumber = await lastNumber(db);
      const ranges = new Map<Table, Ranges>();
      for (const table of await tablesOf(db, languages)) ranges.set(table, await readRanges(db, table, 0, undefined));
      return {
        accept: () => {
          known = { ranges, journalNumber };
          const posts = postsIn([...ranges.values()].flatMap((ofTable) => [...ofTable.values()]));
          unconfirmed.clear();
          if (posts.size <= MAX_SUSPECTS_OF_ALL) for (const id of posts) unconfirmed.set(id, beganAt);
        },
      };
    },
    suspects: async (tables) => {
      if (!known) return undefined;
      const { ranges: knownRanges } = known;
      const beganAt = clock();
      // Entries are kept for days, and each process checks within seconds of a change.
      const { posts: takenOver, last: journalNumber } = await postsChangedAfter(db, known.journalNumber);
      // The database was put back to an earlier state.
      if (journalNumber < known.journalNumber) return undefined;
      const posts = new Set<number>();
      const changes: { ranges: Ranges; start: number; range: Range | undefined }[] = [];
      const look = async (table: Table, ranges: Ranges): Promise<void> => {
        for (const start of await changedRanges(db, table, ranges)) {
          const range = (await readRanges(db, table, start, start + KEYS_PER_RANGE[table])).get(start);
          for (const id of postsIn([ranges.get(start), range])) posts.add(id);
          changes.push({ ranges, start, range });
        }
      };
      const tableRanges = [...knownRanges].filter(([table]) => tables === undefined || tables.includes(table));
      await Promise.all(tableRanges.map(([table, ranges]) => look(table, ranges)));
      const accept = () => {
        for (const { ranges, start, range } of changes) {
          if (range) ranges.set(start, range);
          else ranges.delete(start);
        }
        known = { ranges: knownRanges, journalNumber };
        for (const [id, since] of unconfirmed) if (beganAt - since > SUSPECT_MS) unconfirmed.delete(id);
        for (const id of posts) unconfirmed.set(id, beganAt);
      };
      return { posts: [...new Set([...posts, ...takenOver, ...unconfirmed.keys()])], accept };
    },
    confirm: () => unconfirmed.clear(),
  };
}

const postsIn = (ranges: readonly (Range | undefined)[]): Set<number> => new Set(ranges.flatMap((range) => range?.posts ?? []));

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

/** Returns the first keys of the ranges whose rows differ from the known ones, read in short queries. */
async function changedRanges(db: Database, table: Table, knownRanges: Ranges): Promise<number[]> {
  const width = RANGES_READ_TOGETHER * KEYS_PER_RANGE[table];
  const [before, now] = [joinedDigests(knownRanges, width), await readJoinedDigests(db, table, width)];
  const starts: number[] = [];
  for (const start of new Set([...before.keys(), ...now.keys()])) {
    if (before.get(start) === now.get(start)) continue;
    const digests = await readDigests(db, table, start, start + width);
    for (let range = start; range < start + width; range += KEYS_PER_RANGE[table])
      if (knownRanges.get(range)?.digest !== digests.get(range)) starts.push(range);
  }
  return starts;
}

/** Combines known digests to digests of larger ranges, by their first key. */
function joinedDigests(ranges: Ranges, width: number): Map<number, string> {
  const joined = new Map<number, { rows: number; digest: bigint }>();
  for (const [start, { digest: ownDigest }] of ranges) {
    const [rows = '0', digest = '0'] = ownDigest.split(' ');
    const first = start - (start % width);
    const others = joined.get(first) ?? { rows: 0, digest: 0n };
    joined.set(first, { rows: others.rows + Number(rows), digest: others.digest ^ BigInt(digest) });
  }
  return new Map([...joined].map(([first, { rows, digest }]) => [first, `${rows} ${digest}`]));
}

/**
 * Reads the digests of these larger ranges from the table. Rows that are added after the last key meanwhile are found
 * by the next check.
 */
async function readJoinedDigests(db: Database, table: Table, width: number): Promise<Map<number, string>> {
  const digests = new Map<number, string>();
  const [first, last] = [await firstKey(db, table, 0), await lastKey(db, table)];
  if (first === undefined || last === undefined) return digests;
  const { key, digest, condition } = partsOf(db, table);
  let next = first - (first % width);
  const readMore = async (): Promise<void> => {
    while (next <= last) {
      const from = next;
      next += width;
      const [row] = await db.rows<{ rows: number; digest: string }>`
        SELECT COUNT(*) AS ${verbatim('`rows`')}, ${digest} AS digest FROM ${quotedTable(db, table)} r
        WHERE ${key} >= ${from} AND ${key} < ${from + width} AND ${condition}`;
      if (row && Number(row.rows) > 0) digests.set(from, row.digest);
      else {
        const following = (await firstKey(db, table, from + width)) ?? last + 1;
        next = Math.max(next, following - (following % width));
      }
      // SQLite runs queries synchronously: without this pause, no other work would get a turn.
      await nextTurn();
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_QUERIES[table] }, readMore));
  return digests;
}

/** Reads the digests of ranges, from a key up to but not including another one. */
async function readDigests(db: Database, table: Table, from: number, to: number): Promise<Map<number, string>> {
  const { key, digest, condition } = partsOf(db, table);
  const rows = await db.rows<{ start: number; digest: string }>`
    SELECT ${key} - ${key} % ${KEYS_PER_RANGE[table]} AS start, ${digest} AS digest FROM ${quotedTable(db, table)} r
    WHERE ${key} >= ${from} AND ${key} < ${to} AND ${condition} GROUP BY start`;
  await nextTurn();
  return new Map(rows.map((row) => [Number(row.start), row.digest]));
}

/** Reads ranges with their posts, from a key up to but not including another one. */
async function readRanges(db: Database, table: Table, from: number, to: number | undefined): Promise<Ranges> {
  const { key, digest, condition } = partsOf(db, table);
  const ranges: Ranges = new Map();
  for (let first = await firstKey(db, table, from); first !== undefined && first < (to ?? Number.POSITIVE_INFINITY); ) {
    const end: number = to ?? first + 8 * RANGES_READ_TOGETHER * KEYS_PER_RANGE[table];
    const rows = await db.rows<{ start: number; digest: string; posts: string }>`
      SELECT ${key} - ${key} % ${KEYS_PER_RANGE[table]} AS start, ${digest} AS digest, GROUP_CONCAT(DISTINCT r.${verbatim(POST_ID_COLUMNS[table])}) AS posts
      FROM ${quotedTable(db, table)} r WHERE ${key} >= ${first} AND ${key} < ${end} AND ${condition} GROUP BY start`;
    for (const row of rows) ranges.set(Number(row.start), { digest: row.digest, posts: String(row.posts).split(',').map(Number) });
    first = await firstKey(db, table, end);
    await nextTurn();
  }
  return ranges;
}

async function lastKey(db: Database, table: Table): Promise<number | undefined> {
  const { key } = partsOf(db, table);
  const [row] = await db.rows<{ last: number | null }>`SELECT MAX(${key}) AS last FROM ${quotedTable(db, table)} r`;
  return row?.last === null || row?.last === undefined ? undefined : Number(row.last);
}

/** Returns the start of the first range from `from` on that has rows. */
async function firstKey(db: Database, table: Table, from: number): Promise<number | undefined> {
  const { key } = partsOf(db, table);
  const [row] = await db.rows<{
    first: number | null;
  }>`SELECT MIN(${key}) AS first FROM ${quotedTable(db, table)} r WHERE ${key} >= ${from}`;
  return row?.first === null || row?.first === undefined ? undefined : Number(row.first) - (Number(row.first) % KEYS_PER_RANGE[table]);
}

const quotedTable = (db: Database, table: Table) => new Piece(['??', [db.table(table)]]);

function partsOf(db: Database, table: Table): { key: Piece; digest: Piece; condition: Piece } {
  const { key, plain, texts } = WATCHED[table];
  // Each text except the last is preceded by its length, -1 for NULL, so that no two different rows give the same text.
  // For the last one this is not needed: if it is NULL, its separator is missing.
  const columns = [
    ...plain.map((name) => `r.\`${name}\``),
    ...texts.slice(0, -1).flatMap((name) => [`COALESCE(LENGTH(r.\`${name}\`), -1)`, `r.\`${name}\``]),
    ...texts.slice(-1).map((name) => `r.\`${name}\``),
  ];
  return {
    key: verbatim(`r.${key}`),
    digest: verbatim(db.dialect.quickPrint(`CONCAT_WS('|', ${columns.join(', ')})`, `r.${key}`)),
    condition: verbatim(ROW_CONDITIONS[table] ?? '1 = 1'),
  };
}
