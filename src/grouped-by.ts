/** Adds a value to the group of a key. */
export function addToGroup<Key, Value>(groups: Map<Key, Value[]>, key: Key, value: Value): void {
  const group = groups.get(key);
  if (group) group.push(value);
  else groups.set(key, [value]);
}

const identity = <Item>(item: Item): Item => item;

/** Groups items by a key, keeping their order. `value`: the value to keep of each item; by default the item itself. */
export function groupedBy<Item, Key>(items: Iterable<Item>, key: (item: Item) => Key): Map<Key, Item[]>;
export function groupedBy<Item, Key, Value>(
  items: Iterable<Item>,
  key: (item: Item) => Key,
  value: (item: Item) => Value,
): Map<Key, Value[]>;
export function groupedBy<Item, Key>(
  items: Iterable<Item>,
  key: (item: Item) => Key,
  value: (item: Item) => unknown = identity,
): Map<Key, unknown[]> {
  const groups = new Map<Key, unknown[]>();
  for (const item of items) addToGroup(groups, key(item), value(item));
  return groups;
}
