import { createHash } from 'node:crypto';
import { type Entry, type Item, isItem, isPostItem, isTermItem, type PostItem, titleOf } from './items.ts';

/**
 * Returns a digest of what an item states, independent of its position, its alternative name and what is known from
 * elsewhere. Ledgers keep digests for years: if items of a source state more than before, `formerDigestOf` must still
 * return the digest that ledgers contain, or else an import would take unchanged records for changed ones, and
 * overwrite what editors have changed here.
 */
export const digestOf = (item: Item): string =>
  digest(JSON.stringify({ ...item, ...NOT_STATED, ...(isPostItem(item) ? { edition: EDITION } : {}) }));

/**
 * Returns the digest that earlier versions stored of a record: there, records did not state that they have no password
 * or how their times are written, nor images which metas they lack.
 */
export const formerDigestOf = (item: PostItem): string =>
  digest(JSON.stringify({ ...item, ...NOT_STATED, ...(item.complete ? {} : withoutLacks(item)), statesMoments: undefined }));

/** Number in the digests of records, to distinguish them from those of earlier versions. */
const EDITION = 2;

const NOT_STATED = { place: undefined, narrowerId: undefined, initial: undefined, unshown: undefined, isHidden: undefined };

const withoutLacks = ({ kind, columns, absent }: PostItem): object => ({
  columns: { ...columns, post_password: columns.post_password || undefined },
  absent: kind === 'attachment' ? undefined : absent,
});

/** Returns 120 bits of SHA-1. It only identifies values, and has no security purpose. */
export const digest = (text: string): string => createHash('sha1').update(text).digest().subarray(0, 15).toString('base64url');

/** Names of records of which a source contains several versions -> the digest of the current one. */
export type Versions = ReadonlyMap<string, string>;

/** Finds records of which a source contains several versions, as overlapping exports do. */
export interface VersionSearch {
  readonly addEntry: (entry: Entry) => void;
  readonly result: () => Versions;
}

/** Begins a search; the entries of the source are added one by one. */
export function createVersionSearch(): VersionSearch {
  const latestVersions = new Map<string, { readonly look: string; readonly modified: string }>();
  const repeatedNames = new Set<string>();
  return {
    addEntry: (entry) => {
      if (!hasVersions(entry)) return;
      const name = nameIn(entry);
      const version = { look: digestOf(entry), modified: modifiedOf(entry) };
      const before = latestVersions.get(name);
      if (before && before.look !== version.look) repeatedNames.add(name);
      // If two versions were modified at the same time, the later one in the source counts, as if they were imported in
      // order.
      if (!before || version.modified >= before.modified) latestVersions.set(name, version);
    },
    result: () => new Map([...repeatedNames].map((name) => [name, latestVersions.get(name)!.look])),
  };
}

/** Yields the entries of a source with one version of each record, and reports the other versions. */
export async function* latestVersions(entries: AsyncIterable<Entry>, versions: Versions): AsyncGenerator<Entry> {
  for await (const entry of entries) {
    const latest = hasVersions(entry) ? versions.get(nameIn(entry)) : undefined;
    if (!hasVersions(entry) || latest === undefined || latest === digestOf(entry)) yield entry;
    else yield { kind: 'loss', loss: { reason: 'version-older', kind: entry.kind, of: titleOf(entry), place: entry.place } };
  }
}

/** Whether an item is a complete record with a permanent name. For authors, the first version is kept. */
const hasVersions = (entry: Entry): entry is Extract<Item, { sourceId: string }> =>
  isItem(entry) && (isTermItem(entry) || (isPostItem(entry) && entry.complete));

const nameIn = (item: Item): string => `${isPostItem(item) ? 'post' : item.kind} ${item.sourceId}`;

const modifiedOf = (item: Item): string => (isPostItem(item) ? (item.columns.post_modified_gmt ?? item.columns.post_modified ?? '') : '');
