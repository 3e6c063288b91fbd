import type { Caller } from '../../records/caller.ts';
import type { HtmlTrust } from '../../records/clean-text.ts';
import { isItem, isPostItem, type PostItem, shownLinks } from '../items/items.ts';
import { newTally } from '../items/report.ts';
import type { Source } from '../items/source.ts';
import { permittedNew } from './rights.ts';
import { storedPost } from './stored-post.ts';

/** A record as it would be stored. */
export interface PreviewedRecord {
  readonly kind: PostItem['kind'];
  /** Position in the source. */
  readonly place: string | undefined;
  readonly columns: Readonly<Record<string, string | number | undefined>>;
  readonly metas: readonly (readonly [key: string, value: string])[];
  /**
   * Linked records: venues and organizers by name if the source has their names, otherwise by their ids in the source.
   */
  readonly links: readonly { readonly kind: string; readonly name: string }[];
  readonly terms: readonly { readonly kind: string; readonly name: string }[];
}

/** Returns the first events, venues and organizers of a source, as they would be stored. */
export async function previewOf(source: Source, caller: Caller, trust: HtmlTrust, count: number): Promise<PreviewedRecord[]> {
  const records: PreviewedRecord[] = [];
  for await (const entry of source.entries()) {
    if (!isItem(entry) || !isPostItem(entry) || entry.kind === 'attachment') continue;
    records.push(previewItem(entry, caller, trust));
    if (records.length >= count) break;
  }
  return records;
}

function previewItem(item: PostItem, caller: Caller, trust: HtmlTrust): PreviewedRecord {
  const { clean } = permittedNew({ run: { caller }, tally: newTally() }, item, storedPost(item, trust, caller));
  const { columns, metas } = clean;
  return {
    kind: item.kind,
    place: item.place,
    columns: { post_status: 'publish', ...columns },
    metas,
    links: shownLinks(item).map((link) => ({ kind: link.kind, name: 'name' in link ? link.name : link.sourceId })),
    terms: (item.terms ?? []).map(({ kind, name, slug, sourceId }) => ({ kind, name: name ?? slug ?? sourceId })),
  };
}
