/** How many variables of a query are read, and how deep a name may nest, as PHP's settings limit them. */
export interface QueryLimits {
  readonly variables: number;
  readonly depth: number;
}

/** An array of PHP while it is filled: its members in the order in which they came. */
interface Filling {
  readonly members: Map<string, Filling | string>;
  /** The index of the next member that names none. */
  next: number;
}

/**
 * A query as PHP reads it (`parse_str`): `a[]=1` adds to a list, `a[k]=v` names a member. What is given twice counts as
 * it was given last, a text and a list included. An array with numbers alone for keys is a list, in the order in which
 * its members came. Names of members that every object has are left out.
 */
export function parsePhpQuery(text: string, { variables, depth }: QueryLimits): Record<string, unknown> {
  const all = emptyArray();
  let left = variables;
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    if (left === 0) break;
    left -= 1;
    const equals = pair.indexOf('=');
    const name = equals < 0 ? pair : pair.slice(0, equals);
    register(all, keysOf(decoded(name)), { value: equals < 0 ? '' : decoded(pair.slice(equals + 1)), depth });
  }
  return membersOf(all);
}

/** What is no valid percent escape stands for itself. */
const decoded = (piece: string): string =>
  piece.replaceAll('+', ' ').replace(/(?:%[\da-f]{2})+/gi, (escapes) => Buffer.from(escapes.replaceAll('%', ''), 'hex').toString());

const emptyArray = (): Filling => ({ members: new Map(), next: 0 });

/** The keys that a name leads through; undefined: the next index. None: the name is none. */
function keysOf(written: string): (string | undefined)[] {
  const [name = ''] = written.replace(/^ +/, '').split('\0', 1);
  const bracket = name.indexOf('[');
  const first = plain(bracket < 0 ? name : name.slice(0, bracket));
  if (first === '') return [];
  const keys: (string | undefined)[] = [first];
  for (let at = bracket; at >= 0 && name[at] === '['; ) {
    const close = name.indexOf(']', at + 1);
    // The first bracket that nothing closes belongs to the name itself.
    if (close < 0) return keys.length === 1 ? [first + plain(name.slice(at).replaceAll('[', '_'))] : keys;
    const key = name.slice(at + 1, close);
    // A blank alone counts as nothing.
    keys.push(/^\s?$/.test(key) ? undefined : key);
    at = close + 1;
  }
  return keys;
}

/** What variables of PHP cannot have in their names. */
const plain = (name: string): string => name.replace(/[ .]/g, '_');

/** Puts a value where its keys lead. What was in the way there is replaced. */
function register(
  all: Filling,
  keys: readonly (string | undefined)[],
  { value, depth }: { readonly value: string; readonly depth: number },
) {
  if (keys.length === 0 || keys.length > depth || keys.some((key) => key !== undefined && key in {})) return;
  let array = all;
  for (const key of keys.slice(0, -1)) {
    const name = key ?? String(array.next);
    const found = array.members.get(name);
    const inner = typeof found === 'object' ? found : emptyArray();
    put(array, name, inner);
    array = inner;
  }
  put(array, keys.at(-1) ?? String(array.next), value);
}

function put(array: Filling, key: string, value: Filling | string): void {
  array.members.set(key, value);
  if (isIndex(key)) array.next = Math.max(array.next, Number(key) + 1);
}

/** Whether PHP takes a key for a number. */
const isIndex = (key: string): boolean => /^(?:0|-?[1-9]\d*)$/.test(key) && Number.isSafeInteger(Number(key));

const asValue = (member: Filling | string): unknown => {
  if (typeof member === 'string') return member;
  return [...member.members.keys()].every(isIndex) ? [...member.members.values()].map(asValue) : membersOf(member);
};

const membersOf = ({ members }: Filling): Record<string, unknown> =>
  Object.fromEntries([...members].map(([key, member]) => [key, asValue(member)]));
