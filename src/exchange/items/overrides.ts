import { foldText } from '../../storage/engine/collation.ts';
import { type Entry, isItem, isPostItem, type PostItem, type TermReference, withTermLanguage } from './items.ts';
import type { Source } from './source.ts';

/** Values that imported records get, whatever their source states. */
export interface Overrides {
  /**
   * Status for new records that are public in the source, or have no status there. Records that are not public get the
   * status of the source. Known records keep theirs: editors may have published or withdrawn them since.
   */
  readonly status?: string | undefined;
  /** Names of categories that are added to all events. */
  readonly categories?: readonly string[] | undefined;
}

/** Returns a source whose records get that status and those categories. */
export function withOverrides<Some extends Source>(source: Some, { status, categories = [] }: Overrides): Some {
  if (status === undefined && categories.length === 0) return source;
  const terms = categories.map((name): TermReference => ({ kind: 'category', sourceId: `name ${foldText(name)}`, name }));
  return {
    ...source,
    entries: async function* (): AsyncGenerator<Entry> {
      for await (const entry of source.entries())
        yield isItem(entry) && isPostItem(entry) && entry.kind !== 'attachment' ? overrideItem(entry, status, terms) : entry;
    },
  };
}

/** Statuses of records that are public in the source, either at once or in the future. */
const PUBLIC_STATUSES: readonly (string | undefined)[] = [undefined, 'publish', 'future'];

function overrideItem(item: PostItem, status: string | undefined, terms: readonly TermReference[]): PostItem {
  const ownTerms = item.terms ?? [];
  const added = withTermLanguage(item.language, terms).filter(
    ({ sourceId }) => !ownTerms.some((term) => term.kind === 'category' && term.sourceId === sourceId),
  );
  return {
    ...item,
    ...(status !== undefined && PUBLIC_STATUSES.includes(item.columns.post_status)
      ? { columns: { ...item.columns, post_status: status }, initial: [...(item.initial ?? []), 'post_status'] }
      : {}),
    ...(item.kind === 'event' && added.length > 0 ? { terms: [...ownTerms, ...added] } : {}),
  };
}
