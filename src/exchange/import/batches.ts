import { type Entry, type Item, isItem, isPostItem, isTermItem } from '../items/items.ts';
import { groupOf, ledgerKey, termIdKey, translationKey } from './ledger.ts';

const MAX_BATCH_CHARACTERS = 2 ** 20;

/** Groups entries into batches. An item with the same name as another one in the batch starts the next batch. */
export async function* batches<Some extends Entry>(entries: AsyncIterable<Some> | Iterable<Some>, limit: number): AsyncGenerator<Some[]> {
  let batch: Some[] = [];
  let names = new Set<string>();
  let size = 0;
  for await (const entry of entries) {
    const name = isItem(entry) ? `${groupOf(entry)} ${entry.sourceId}` : '';
    if (batch.length >= limit || size >= MAX_BATCH_CHARACTERS || (name !== '' && names.has(name))) {
      yield batch;
      [batch, names, size] = [[], new Set(), 0];
    }
    batch.push(entry);
    if (name !== '') names.add(name);
    size += isItem(entry) ? sizeOf(entry) : 0;
  }
  if (batch.length > 0) yield batch;
}

function sizeOf(item: Item): number {
  if (!isPostItem(item)) return 100;
  return item.metas.reduce(
    (size, [key, value]) => size + key.length + value.length,
    (item.columns.post_content ?? '').length + (item.columns.post_excerpt ?? '').length,
  );
}

/** Returns the ledger keys of these items and of everything that they reference. */
export function keysOf(items: readonly Item[]): Set<string> {
  const keys = new Set<string>();
  for (const item of items) {
    keys.add(ledgerKey(groupOf(item), item.sourceId));
    if ('translation_group' in item && item.translation_group !== undefined) keys.add(translationKey(item.kind, item.translation_group));
    if (isTermItem(item) && item.id !== undefined) keys.add(termIdKey(item.kind, item.id));
    if (isTermItem(item) && item.parent !== undefined) keys.add(ledgerKey(item.kind, item.parent));
    if (!isPostItem(item)) continue;
    if (item.narrowerId !== undefined) keys.add(ledgerKey('post', item.narrowerId));
    if (item.author !== undefined) keys.add(ledgerKey('author', item.author));
    if (item.parent !== undefined) keys.add(ledgerKey('post', item.parent));
    for (const link of item.links) if ('sourceId' in link) keys.add(ledgerKey('post', link.sourceId));
    for (const term of item.terms ?? []) keys.add(ledgerKey(term.kind, term.sourceId));
  }
  return keys;
}
