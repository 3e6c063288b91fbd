/** Groups metas by key, with all values in order. */
export function metaMap(metas: readonly (readonly [key: string, value: string])[]): Map<string, string[]> {
  const map = new Map<string, string[]>();
  for (const [key, value] of metas) {
    const values = map.get(key);
    if (values) values.push(value);
    else map.set(key, [value]);
  }
  return map;
}
