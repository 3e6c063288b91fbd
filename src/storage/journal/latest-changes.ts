import type { JournalEntry } from './entries.ts';
import type { JournalFeed } from './feed.ts';
import { allPosts, type Holdings, type Outlook, type Tag, touchedBy } from './holdings.ts';

/** Something that was made of what was in the database when the count of changes was `count`, or later. */
export interface Held {
  readonly count: number;
  readonly holdings: Holdings;
  /** Of the follower when it began to be made. */
  readonly era: number;
  /** Up to which entry it is known to be untouched. */
  checked: number;
}

/** Knows of each object when it changed last. */
export interface LatestChanges {
  /** Whether nothing that it holds has changed since it was made, as far as entries were told. */
  readonly isUntouched: (held: Held) => boolean;
  /** Changes whenever everything may have changed. */
  readonly era: () => number;
}

/** So many objects are known. Who holds one that is not known any more counts as touched. */
const MOST_TAGS = 50_000;

/** So many entries of the last ones are known themselves, for lists that are not concerned by all of them. */
const MOST_ENTRIES = 500;

/** Follows a journal from now on. */
export function followChanges(feed: JournalFeed, most = MOST_TAGS): LatestChanges {
  const latest = new Map<Tag, number>();
  /** What was made below this count may hold something that changed without being known. */
  let from = feed.position() ?? 0;
  let last = from;
  let era = 0;
  /** The last ones, in their order, and the number up to which there are none of them any more. */
  let entries: JournalEntry[] = [];
  let forgotten = from;

  const take = (entry: JournalEntry): void => {
    const tags = touchedBy(entry);
    last = entry.number;
    if (tags === undefined) era += 1;
    for (const tag of tags ?? []) {
      // The latest is the last in the order of the map.
      latest.delete(tag);
      latest.set(tag, entry.number);
    }
    for (const [tag, number] of latest) {
      if (latest.size <= most) break;
      latest.delete(tag);
      from = Math.max(from, number);
    }
    entries.push(entry);
    if (entries.length > 2 * MOST_ENTRIES) {
      forgotten = entries[MOST_ENTRIES - 1]?.number ?? forgotten;
      entries = entries.slice(MOST_ENTRIES);
    }
  };
  const isAfter = (tag: Tag, count: number): boolean => (latest.get(tag) ?? 0) > count;
  const concerns = (outlook: Outlook, after: number): boolean =>
    after < forgotten ? isAfter(allPosts(outlook.posts), after) : isConcerned(entries, outlook, after);
  feed.subscribe((entries) => {
    for (const entry of entries) take(entry);
  });

  return {
    era: () => era,
    isUntouched: (held) => {
      if (held.era !== era || held.count < from) return false;
      if (held.checked >= last) return true;
      const { holdings, count, checked } = held;
      const isTouched =
        holdings === undefined
          ? last > count
          : holdings.some((tag) => (typeof tag === 'object' ? concerns(tag, checked) : isAfter(tag, count)));
      if (!isTouched) held.checked = last;
      return !isTouched;
    },
  };
}

/** Whether one of these entries after that of a number concerns a list. They are in their order. */
function isConcerned(entries: readonly JournalEntry[], { posts, isConcernedBy }: Outlook, after: number): boolean {
  for (let place = entries.length - 1; place >= 0; place -= 1) {
    const { number, kind, type, own } = entries[place]!;
    if (number <= after) return false;
    const isOf = kind === 'post' && type === posts;
    if (own ? isConcernedBy(own, isOf) : isOf) return true;
  }
  return false;
}
