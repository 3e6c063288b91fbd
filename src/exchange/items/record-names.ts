import { addToGroup } from '../../grouped-by.ts';
import { postKind } from '../../kinds/index.ts';
import type { PostKindName } from '../../kinds/kind-names.ts';
import { foldText } from '../../storage/engine/collation.ts';
import type { Database } from '../../storage/engine/database.ts';
import { pagesById } from '../../storage/engine/pages.ts';
import { type TitledPost, titlesOf } from '../../storage/lists/posts-of-type.ts';
import { startsOfRecurring } from '../../storage/rows/recurring-events.ts';
import { plainLine } from './event-record.ts';

/**
 * An index of records by name; events by name and start, recurring events by the starts of all their dates. It is read
 * once and updated with what the import writes.
 */
export interface NameIndex {
  /**
   * Returns the ids of all records with this name outside of the trash, the oldest first. `start` of an event:
   * `YYYY-MM-DD HH:MM:SS` in its own time zone.
   */
  readonly findAll: (db: Database, kind: PostKindName, title: string, start?: string) => Promise<readonly number[]>;
  /** Does the same for those that an imported record or link may use because of their name. */
  readonly findUsable: NameIndex['findAll'];
  /** Reads the records of a kind that other writers have created since its names were read. Not for events. */
  readonly refresh: (db: Database, kind: Exclude<PostKindName, 'event'>) => Promise<void>;
  readonly add: (kind: PostKindName, title: string, start: string, id: number) => void;
}

interface NameIndexOptions {
  readonly recurring: boolean;
  readonly usable: (db: Database, posts: readonly TitledPost[]) => Promise<ReadonlySet<number>>;
}

const PAGE_SIZE = 2000;
/**
 * Number of ids below the highest one that was read which are read again: the database assigns ids before rows are
 * committed, so slower writers may have added records there.
 */
const REREAD_IDS = 1000;

/**
 * Creates an index, which reads the names of a kind when they are needed for the first time. `recurring`: whether
 * events may recur. `usable`: returns the ids of those that may be used because of their name.
 */
export function createNameIndex({ recurring, usable }: NameIndexOptions): NameIndex {
  const namesByKind = new Map<PostKindName, Map<string, number[]>>();
  /** The highest id that was read, by kind. */
  const highestIds = new Map<PostKindName, number>();
  /** Records that may not be used because of their name. */
  const unusable = new Set<number>();
  const remember = (names: Map<string, number[]>, kind: PostKindName, title: string, start: string, id: number) => {
    const name = nameOf(kind, title, start);
    if (!names.get(name)?.includes(id)) addToGroup(names, name, id);
  };
  const readInto = async (names: Map<string, number[]>, db: Database, kind: PostKindName) => {
    const begin = (highestIds.get(kind) ?? 0) - REREAD_IDS;
    for await (const rows of pagesById(PAGE_SIZE, (after, size) => titlesOf(db, postKind(kind).postType, Math.max(after, begin), size))) {
      for (const { id, post_title: title, start } of rows) remember(names, kind, title, start ?? '', id);
      const usableIds = await usable(db, rows);
      for (const { id } of rows)
        if (usableIds.has(id)) unusable.delete(id);
        else unusable.add(id);
      highestIds.set(kind, rows.at(-1)!.id);
      if (kind !== 'event' || !recurring) continue;
      const titles = new Map(rows.map(({ id, post_title: title }) => [id, title]));
      for (const { post, start } of await startsOfRecurring(db, [...titles.keys()]))
        remember(names, kind, titles.get(post) ?? '', start, post);
    }
    return names;
  };
  const findAll: NameIndex['findAll'] = async (db, kind, title, start = '') => {
    const names = namesByKind.get(kind) ?? (await readInto(new Map(), db, kind));
    namesByKind.set(kind, names);
    return names.get(nameOf(kind, title, start)) ?? [];
  };
  return {
    findAll,
    findUsable: async (...name) => (await findAll(...name)).filter((id) => !unusable.has(id)),
    refresh: async (db, kind) => {
      const names = namesByKind.get(kind);
      if (names) await readInto(names, db, kind);
    },
    add: (kind, title, start, id) => {
      const names = namesByKind.get(kind);
      if (names) remember(names, kind, title, start, id);
      unusable.delete(id);
    },
  };
}

const nameOf = (kind: PostKindName, title: string, start: string): string =>
  kind === 'event' ? `${start}\n${foldedTitle(title)}` : foldedTitle(title);

/**
 * Returns the form in which titles are compared: as plain text, since `&` is stored as it is or as an entity, depending
 * on who wrote the title. Titles without text differ by their markup.
 */
export const foldedTitle = (title: string): string => foldText(plainTitle(title) || title);

/** Converts a title to plain text. A `<` that begins no tag is text: `Room <6`, which is no name of `Room <12`. */
export const plainTitle = (title: string): string => plainLine(title.replace(/<(?!\/?[a-z][^<>]*>)/gi, '&lt;'));
