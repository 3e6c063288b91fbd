import type { StoredValue } from '../../wordpress/php/serialized.ts';
import type { MetaPair } from './items.ts';

/** Groups metas by key, with all values in order. */
export function metaMap(metas: readonly MetaPair[]): Map<string, StoredValue[]> {
  const map = new Map<string, StoredValue[]>();
  for (const [key, value] of metas) {
    const values = map.get(key);
    if (values) values.push(value);
    else map.set(key, [value]);
  }
  return map;
}
