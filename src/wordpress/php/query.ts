/** Maximum number of variables and maximum nesting of a name (PHP's `max_input_vars`, `max_input_nesting_level`). */
export interface QueryLimits {
  readonly variables: number;
  readonly depth: number;
}

/** A PHP array under construction, with its members in order of insertion. */
interface PhpArray {
  readonly members: Map<string, PhpArray | string>;
  /** Index of the next member without a key. */
  nextIndex: number;
}

/**
 * Parses a query as PHP does (`parse_str`): `a[]=1` appends to a list, `a[k]=v` sets a member. If a name occurs twice,
 * the last value counts, even if one is a text and the other a list. An array that has only numeric keys is returned as
 * a list, in order of insertion. Names of members that every object has are left out.
 */
export function parsePhpQuery(text: string, { variables, depth }: QueryLimits): Record<string, unknown> {
  const all = emptyArray();
  let remaining = variables;
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    if (remaining === 0) break;
    remaining -= 1;
    const equals = pair.indexOf('=');
    const name = equals < 0 ? pair : pair.slice(0, equals);
    storeValue(all, keysOf(decodeEscapes(name)), { value: equals < 0 ? '' : decodeEscapes(pair.slice(equals + 1)), depth });
  }
  return membersOf(all);
}

/** Decodes percent escapes. Invalid ones are kept as they are. */
const decodeEscapes = (piece: string): string =>
  piece.replaceAll('+', ' ').replace(/(?:%[\da-f]{2})+/gi, (escapes) => Buffer.from(escapes.replaceAll('%', ''), 'hex').toString());

const emptyArray = (): PhpArray => ({ members: new Map(), nextIndex: 0 });

/** Returns the keys in a name; undefined means the next index. An empty list means that the name is invalid. */
function keysOf(rawName: string): (string | undefined)[] {
  const [name = ''] = rawName.replace(/^ +/, '').split('\0', 1);
  const bracket = name.indexOf('[');
  const first = normalizeName(bracket < 0 ? name : name.slice(0, bracket));
  if (first === '') return [];
  const keys: (string | undefined)[] = [first];
  for (let at = bracket; at >= 0 && name[at] === '['; ) {
    const close = name.indexOf(']', at + 1);
    // If the first bracket is not closed, it is part of the name itself.
    if (close < 0) return keys.length === 1 ? [first + normalizeName(name.slice(at).replaceAll('[', '_'))] : keys;
    const key = name.slice(at + 1, close);
    // A single space counts as empty.
    keys.push(/^\s?$/.test(key) ? undefined : key);
    at = close + 1;
  }
  return keys;
}

/** Replaces the characters that names of PHP variables cannot contain. */
const normalizeName = (name: string): string => name.replace(/[ .]/g, '_');

/** Stores a value under its keys. A text on the way there is replaced by an array. */
function storeValue(
  all: PhpArray,
  keys: readonly (string | undefined)[],
  { value, depth }: { readonly value: string; readonly depth: number },
) {
  if (keys.length === 0 || keys.length > depth || keys.some((key) => key !== undefined && key in {})) return;
  let array = all;
  for (const key of keys.slice(0, -1)) {
    const name = key ?? String(array.nextIndex);
    const member = array.members.get(name);
    const child = typeof member === 'object' ? member : emptyArray();
    setMember(array, name, child);
    array = child;
  }
  setMember(array, keys.at(-1) ?? String(array.nextIndex), value);
}

function setMember(array: PhpArray, key: string, value: PhpArray | string): void {
  array.members.set(key, value);
  if (isIndex(key)) array.nextIndex = Math.max(array.nextIndex, Number(key) + 1);
}

/** Whether PHP treats a key as an integer. */
const isIndex = (key: string): boolean => /^(?:0|-?[1-9]\d*)$/.test(key) && Number.isSafeInteger(Number(key));

const asValue = (member: PhpArray | string): unknown => {
  if (typeof member === 'string') return member;
  return [...member.members.keys()].every(isIndex) ? [...member.members.values()].map(asValue) : membersOf(member);
};

const membersOf = ({ members }: PhpArray): Record<string, unknown> =>
  Object.fromEntries([...members].map(([key, member]) => [key, asValue(member)]));
