import { createHash } from 'node:crypto';
import { type Entry, type Item, isItem, isPostItem, isTermItem, titleOf } from './items.ts';

/** What an item looks like, wherever it stood and whatever it may have been called. */
export const digestOf = (item: Item): string => digest(JSON.stringify({ ...item, place: undefined, narrowerId: undefined }));

/** 120 bits of SHA-1: it names things, and keeps nobody out. */
export const digest = (text: string): string => createHash('sha1').update(text).digest().subarray(0, 15).toString('base64url');

/** Names of records that a source holds in several versions -> what the one looks like that counts. */
export type Versions = ReadonlyMap<string, string>;

/** Finds records of which a source holds several versions, as exports that overlap do. */
export interface VersionSearch {
  readonly see: (entry: Entry) => void;
  readonly found: () => Versions;
}

export function searchVersions(): VersionSearch {
  const seen = new Map<string, { readonly look: string; readonly modified: string }>();
  const several = new Set<string>();
  return {
    see: (entry) => {
      if (!hasVersions(entry)) return;
      const name = nameIn(entry);
      const version = { look: digestOf(entry), modified: modifiedOf(entry) };
      const before = seen.get(name);
      if (before && before.look !== version.look) several.add(name);
      // Of two that were changed at the same time the later one counts, as it would if they came one by one.
      if (!before || version.modified >= before.modified) seen.set(name, version);
    },
    found: () => new Map([...several].map((name) => [name, seen.get(name)!.look])),
  };
}

/** The entries of a source with one version of each record; the others are reported. */
export async function* latestOf(entries: AsyncIterable<Entry>, versions: Versions): AsyncGenerator<Entry> {
  for await (const entry of entries) {
    const latest = hasVersions(entry) ? versions.get(nameIn(entry)) : undefined;
    if (!hasVersions(entry) || latest === undefined || latest === digestOf(entry)) yield entry;
    else yield { kind: 'loss', loss: { reason: 'version-older', kind: entry.kind, of: titleOf(entry), place: entry.place } };
  }
}

/** Records that come whole and by a lasting name. People stay as they came first. */
const hasVersions = (entry: Entry): entry is Extract<Item, { sourceId: string }> =>
  isItem(entry) && (isTermItem(entry) || (isPostItem(entry) && entry.complete));

const nameIn = (item: Item): string => `${isPostItem(item) ? 'post' : item.kind} ${item.sourceId}`;

const modifiedOf = (item: Item): string => (isPostItem(item) ? (item.columns.post_modified_gmt ?? item.columns.post_modified ?? '') : '');
