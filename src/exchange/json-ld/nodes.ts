import { addToGroup, groupedBy } from '../../grouped-by.ts';
import { memoizeByObject } from '../../memo.ts';
import { parseJson } from '../../wordpress/json.ts';

/** An object of JSON-LD. Its values are whatever the page says. */
export type Node = Readonly<Record<string, unknown>>;

const MOST_VALUES = 200_000;

/** Types of schema.org that are events (schema.org/Event, "More specific types"). */
const EVENT_TYPES = new Set([
  'Event',
  ...['Business', 'Childrens', 'Comedy', 'Conference', 'Dance', 'Delivery', 'Education', 'Exhibition', 'Food', 'Literary', 'Music'],
  ...[
    'PerformingArts',
    'Publication',
    'Sale',
    'Screening',
    'Social',
    'Sports',
    'Theater',
    'VisualArts',
    'Broadcast',
    'OnDemand',
    'Cancelled',
  ],
]);

const isEventType = (type: unknown): boolean => {
  const name = typeof type === 'string' ? (type.split(/[/#:]/).at(-1) ?? '') : '';
  return EVENT_TYPES.has(name) || EVENT_TYPES.has(name.replace(/Event$/, '')) || OTHER_TYPES.has(name);
};
const OTHER_TYPES = new Set(['Festival', 'Hackathon', 'CourseInstance', 'EventSeries']);

/**
 * What a block says; undefined where it is no JSON. Comments around it and bare line ends in its texts are forgiven.
 */
export function parsedBlock(text: string): unknown {
  const bare = text
    .trim()
    .replace(/^(?:<!--|\/\*\s*<!\[CDATA\[\s*\*\/|\/\/\s*<!\[CDATA\[|<!\[CDATA\[)/, '')
    .replace(/(?:-->|\/\*\s*\]\]>\s*\*\/|\/\/\s*\]\]>|\]\]>)$/, '')
    .replace(/[\x00-\x1f]+/g, ' ')
    .trim();
  const read = parseJson(Buffer.from(bare.endsWith(';') ? bare.slice(0, -1) : bare), MOST_VALUES);
  return 'value' in read ? read.value : undefined;
}

/**
 * All events of a page, wherever they stand in its blocks, and those inside of events. What several say under one `@id`
 * is one event, unless they are whole events that begin at different times: some templates give all of them one `@id`.
 */
export function eventsIn(values: readonly unknown[]): Node[] {
  const byId = nodesById(values);
  const events: Node[] = [];
  const seen = new Set<string>();
  walk(values, (node) => {
    if (!isEvent(node)) return Object.values(node);
    const id = node['@id'];
    if (typeof id !== 'string') events.push(node);
    else if (!seen.has(id)) for (const one of eventsOf(byId.get(id) ?? [node])) events.push(one);
    if (typeof id === 'string') seen.add(id);
    return [node.subEvent, node.subEvents];
  });
  return events.map((event) => withReferences(event, byId));
}

const isEvent = (node: Node): boolean => listOf(node['@type']).some(isEventType);

/**
 * The events that nodes of one `@id` make: one, or one for each time at which whole ones begin. What is no whole event
 * completes them all.
 */
function eventsOf(nodes: readonly Node[]): Node[] {
  const starts = new Map<string, Node[]>();
  const compared: string[] = [];
  for (const node of nodes.filter(isWhole)) {
    const start = textOf(node.startDate);
    const known = starts.get(start) ?? starts.get(compared.find((other) => areSameTime(start, other)) ?? '');
    if (known) known.push(node);
    else {
      starts.set(start, [node]);
      if (compared.length < MOST_COMPARED) compared.push(start);
    }
  }
  if (starts.size === 0) return [merged(nodes)];
  const common = merged(nodes.filter((node) => !isWhole(node)));
  return [...starts.values()].map((own) => nodeOver(common, merged(own.sort(byExactness)))).filter(isEvent);
}

/** Each start is compared with no more others than that. */
const MOST_COMPARED = 100;

const isWhole = ({ name, startDate }: Node): boolean => textOf(name) !== '' && textOf(startDate) !== '';

/** Whether two dates are one, written in two ways: with and without its time or zone, or in another zone. */
const areSameTime = (one: string, other: string): boolean =>
  one.startsWith(other) || other.startsWith(one) || Date.parse(one) === Date.parse(other);

/** The last one counts: a start with its time rather than its day alone. */
const byExactness = (one: Node, other: Node): number => textOf(one.startDate).length - textOf(other.startDate).length;

/** More members than any thing of schema.org has; further ones are not taken over into others. */
const MOST_MEMBERS = 500;

/** What several nodes say of one thing; the later ones count. It costs no more than in proportion to what they say. */
function merged(nodes: readonly Node[]): Node {
  const members = new Map<string, unknown>();
  for (const node of nodes)
    for (const [name, value] of Object.entries(node)) if (members.size < MOST_MEMBERS || members.has(name)) members.set(name, value);
  return Object.fromEntries(members);
}

/**
 * A node that says what another one says wherever it says nothing itself. It costs no more than what it says itself:
 * the other one is not copied, so that a thousand things may refer to one with a thousand members.
 */
export const nodeOver = (other: Node, own: Node): Node => Object.setPrototypeOf({ ...own }, other);

/** Goes through values and whatever `visit` finds inside of each object, in order. */
function walk(values: readonly unknown[], visit: (node: Node) => readonly unknown[]): void {
  const waiting: unknown[] = [...values].reverse();
  for (let value = waiting.pop(); waiting.length > 0 || value !== undefined; value = waiting.pop()) {
    const inside = Array.isArray(value) ? value : isNode(value) ? visit(value) : [];
    for (let place = inside.length - 1; place >= 0; place -= 1) {
      if (inside[place] !== null && typeof inside[place] === 'object') waiting.push(inside[place]);
    }
  }
}

/** The nodes of each `@id`, in order. */
type NodesById = ReadonlyMap<string, readonly Node[]>;

function nodesById(values: readonly unknown[]): NodesById {
  const byId = new Map<string, Node[]>();
  walk(values, (node) => {
    const id = node['@id'];
    if (typeof id === 'string') addToGroup(byId, id, node);
    return Object.values(node);
  });
  return byId;
}

/** What nodes of one `@id` say of each name, put together; what has no name says it of all, and means the first. */
const thingsOf = memoizeByObject((nodes: readonly Node[]) => {
  const byName = groupedBy(nodes, ({ name }) => textOf(name));
  const common = merged(byName.get('') ?? []);
  byName.delete('');
  const things = new Map([...byName].map(([name, own]) => [name, nodeOver(common, merged(own))]));
  const [first = common] = things.values();
  return (name: string): Node => things.get(name) ?? first;
});

/** A node with what others of its `@id` say of it. Those that have another name are something else. */
function resolveNode(node: Node, byId: NodesById): Node {
  const known = typeof node['@id'] === 'string' ? byId.get(node['@id']) : undefined;
  return known ? nodeOver(thingsOf(known)(textOf(node.name)), node) : node;
}

/** Members that may refer by `@id` to a node elsewhere on the page, and more of each than any event has. */
const REFERRING = { location: 100, organizer: 100, offers: 1000, image: 1000 };

function withReferences(event: Node, byId: NodesById): Node {
  const referenced = Object.keys(REFERRING).flatMap((name) =>
    event[name] === undefined
      ? []
      : [[name, listOf(event[name]).map((value) => (isNode(value) ? resolveNode(value, byId) : value))] as const],
  );
  return nodeOver(event, Object.fromEntries(referenced));
}

/** An event without the places, organizers, offers and images that are too many, and how many these are. */
export function withoutTooMany(event: Node): { event: Node; leftOut: number } {
  const long = Object.entries(REFERRING).flatMap(([name, most]) => {
    const values = listOf(event[name]);
    return values.length > most ? [{ name, values: values.slice(0, most), leftOut: values.length - most }] : [];
  });
  if (long.length === 0) return { event, leftOut: 0 };
  const cut = Object.fromEntries(long.map(({ name, values }) => [name, values]));
  return { event: nodeOver(event, cut), leftOut: long.reduce((sum, { leftOut }) => sum + leftOut, 0) };
}

export const isNode = (value: unknown): value is Node => value !== null && typeof value === 'object' && !Array.isArray(value);

/** A value that may be one or several. */
export const listOf = (value: unknown): readonly unknown[] =>
  value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];

/** The text of a value: as it is, of a language (`@value`), the first of several, the name of an object. */
export function textOf(value: unknown): string {
  const [first] = listOf(value);
  if (typeof first === 'string') return first.trim();
  if (typeof first === 'number') return String(first);
  return isNode(first) ? textOf(first['@value'] ?? first.name) : '';
}

/** The address of the web that a value is or has. */
export function addressOf(value: unknown, page: string): string {
  for (const one of listOf(value)) {
    const address = isNode(one) ? (listOf(one.url ?? one.contentUrl ?? one['@id'])[0] ?? '') : one;
    const url = typeof address === 'string' && address.trim() !== '' ? URL.parse(address.trim(), page || undefined) : null;
    if (url && /^https?:$/.test(url.protocol)) return url.href;
  }
  return '';
}
