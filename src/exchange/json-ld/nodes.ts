import { addToGroup, groupedBy } from '../../grouped-by.ts';
import { memoizeByObject } from '../../memo.ts';
import { isRecord } from '../../objects.ts';
import { parseJson } from '../../wordpress/json.ts';

/** An object of JSON-LD, with unvalidated values. */
export type Node = Readonly<Record<string, unknown>>;

const MAX_JSON_VALUES = 200_000;

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
 * Parses a block; returns undefined if it is not JSON. Comments around it and line breaks within its texts are
 * tolerated.
 */
export function parseBlock(text: string): unknown {
  const json = text
    .trim()
    .replace(/^(?:<!--|\/\*\s*<!\[CDATA\[\s*\*\/|\/\/\s*<!\[CDATA\[|<!\[CDATA\[)/, '')
    .replace(/(?:-->|\/\*\s*\]\]>\s*\*\/|\/\/\s*\]\]>|\]\]>)$/, '')
    .replace(/[\x00-\x1f]+/g, ' ')
    .trim();
  const result = parseJson(Buffer.from(json.endsWith(';') ? json.slice(0, -1) : json), MAX_JSON_VALUES);
  return 'value' in result ? result.value : undefined;
}

/**
 * Returns all events of a page, anywhere in its blocks, including sub-events. Nodes with the same `@id` are merged into
 * one event, unless they are whole events with different starts, since some templates give all events the same `@id`.
 */
export function eventsIn(values: readonly unknown[]): Node[] {
  const byId = nodesById(values);
  const events: Node[] = [];
  const seenIds = new Set<string>();
  visitNodes(values, (node) => {
    if (!isEvent(node)) return Object.values(node);
    const id = node['@id'];
    if (typeof id !== 'string') events.push(node);
    else if (!seenIds.has(id)) for (const event of eventsOf(byId.get(id) ?? [node])) events.push(event);
    if (typeof id === 'string') seenIds.add(id);
    return [node.subEvent, node.subEvents];
  });
  return events.map((event) => withReferences(event, byId));
}

const isEvent = (node: Node): boolean => listOf(node['@type']).some(isEventType);

/**
 * Returns the events of the nodes with one `@id`: one event, or one for each start of whole events. Other nodes
 * complete all of them.
 */
function eventsOf(nodes: readonly Node[]): Node[] {
  const starts = new Map<string, Node[]>();
  const comparedStarts: string[] = [];
  for (const node of nodes.filter(isWhole)) {
    const start = textOf(node.startDate);
    const group = starts.get(start) ?? starts.get(comparedStarts.find((other) => areSameTime(start, other)) ?? '');
    if (group) group.push(node);
    else {
      starts.set(start, [node]);
      if (comparedStarts.length < MAX_STARTS_COMPARED) comparedStarts.push(start);
    }
  }
  if (starts.size === 0) return [mergeNodes(nodes)];
  const sharedNode = mergeNodes(nodes.filter((node) => !isWhole(node)));
  return [...starts.values()]
    .map((startNodes) => nodeInheriting(sharedNode, mergeNodes(startNodes.sort(compareByPrecision))))
    .filter(isEvent);
}

/** Maximum number of starts that each start is compared with. */
const MAX_STARTS_COMPARED = 100;

const isWhole = ({ name, startDate }: Node): boolean => textOf(name) !== '' && textOf(startDate) !== '';

/** Whether two dates are the same date in different notations: with and without a time or zone, or in another zone. */
const areSameTime = (one: string, other: string): boolean =>
  one.startsWith(other) || other.startsWith(one) || Date.parse(one) === Date.parse(other);

/** Sorts so that the most precise start comes last and wins: one with a time rather than a day. */
const compareByPrecision = (one: Node, other: Node): number => textOf(one.startDate).length - textOf(other.startDate).length;

/** Maximum number of members when nodes are merged; more than any type of schema.org has. */
const MAX_MEMBERS = 500;

/** Merges several nodes about one thing; later values win. The cost is proportional to their size. */
function mergeNodes(nodes: readonly Node[]): Node {
  const members = new Map<string, unknown>();
  for (const node of nodes)
    for (const [name, value] of Object.entries(node)) if (members.size < MAX_MEMBERS || members.has(name)) members.set(name, value);
  return Object.fromEntries(members);
}

/**
 * Returns a node that inherits missing members from another one. The other node is its prototype instead of being
 * copied, so that many nodes may refer to a large one at little cost.
 */
export const nodeInheriting = (parent: Node, members: Node): Node => Object.setPrototypeOf({ ...members }, parent);

/** Visits all objects in depth-first order; `visit` returns the values in which to continue. */
function visitNodes(values: readonly unknown[], visit: (node: Node) => readonly unknown[]): void {
  const stack: unknown[] = [...values].reverse();
  for (let value = stack.pop(); stack.length > 0 || value !== undefined; value = stack.pop()) {
    const children = Array.isArray(value) ? value : isRecord(value) ? visit(value) : [];
    for (let index = children.length - 1; index >= 0; index -= 1) {
      if (children[index] !== null && typeof children[index] === 'object') stack.push(children[index]);
    }
  }
}

/** Nodes by `@id`, in order. */
type NodesById = ReadonlyMap<string, readonly Node[]>;

function nodesById(values: readonly unknown[]): NodesById {
  const byId = new Map<string, Node[]>();
  visitNodes(values, (node) => {
    const id = node['@id'];
    if (typeof id === 'string') addToGroup(byId, id, node);
    return Object.values(node);
  });
  return byId;
}

/**
 * Groups the nodes of one `@id` by name and merges each group. Nodes without a name complete all groups, and a
 * reference without a name means the first group.
 */
const thingsOf = memoizeByObject((nodes: readonly Node[]) => {
  const byName = groupedBy(nodes, ({ name }) => textOf(name));
  const unnamed = mergeNodes(byName.get('') ?? []);
  byName.delete('');
  const nodesByName = new Map([...byName].map(([name, group]) => [name, nodeInheriting(unnamed, mergeNodes(group))]));
  const [first = unnamed] = nodesByName.values();
  return (name: string): Node => nodesByName.get(name) ?? first;
});

/** Completes a node with other nodes of its `@id`. Nodes with another name are different things. */
function resolveNode(node: Node, byId: NodesById): Node {
  const sameIdNodes = typeof node['@id'] === 'string' ? byId.get(node['@id']) : undefined;
  return sameIdNodes ? nodeInheriting(thingsOf(sameIdNodes)(textOf(node.name)), node) : node;
}

/** Members that may refer to another node of the page by `@id`, with limits on their values that no event reaches. */
const REFERENCE_LIMITS = { location: 100, organizer: 100, offers: 1000, image: 1000 };

function withReferences(event: Node, byId: NodesById): Node {
  const referenced = Object.keys(REFERENCE_LIMITS).flatMap((name) =>
    event[name] === undefined
      ? []
      : [[name, listOf(event[name]).map((value) => (isRecord(value) ? resolveNode(value, byId) : value))] as const],
  );
  return nodeInheriting(event, Object.fromEntries(referenced));
}

/** Removes places, organizers, offers and images beyond the limits; also returns their number. */
export function limitParts(event: Node): { event: Node; leftOut: number } {
  const longLists = Object.entries(REFERENCE_LIMITS).flatMap(([name, limit]) => {
    const values = listOf(event[name]);
    return values.length > limit ? [{ name, values: values.slice(0, limit), leftOut: values.length - limit }] : [];
  });
  if (longLists.length === 0) return { event, leftOut: 0 };
  const shortened = Object.fromEntries(longLists.map(({ name, values }) => [name, values]));
  return { event: nodeInheriting(event, shortened), leftOut: longLists.reduce((sum, { leftOut }) => sum + leftOut, 0) };
}

/** Returns a list of a value that may be single, multiple or absent. */
export const listOf = (value: unknown): readonly unknown[] =>
  value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];

/**
 * Returns the text of a value: a string, a localized string (`@value`), the first of several, or the name of an object.
 */
export function textOf(value: unknown): string {
  const [first] = listOf(value);
  if (typeof first === 'string') return first.trim();
  if (typeof first === 'number') return String(first);
  return isRecord(first) ? textOf(first['@value'] ?? first.name) : '';
}

/** Returns the web address that a value is or contains, or an empty string. */
export function addressOf(value: unknown, page: string): string {
  for (const one of listOf(value)) {
    const address = isRecord(one) ? (listOf(one.url ?? one.contentUrl ?? one['@id'])[0] ?? '') : one;
    const url = typeof address === 'string' && address.trim() !== '' ? URL.parse(address.trim(), page || undefined) : null;
    if (url && /^https?:$/.test(url.protocol)) return url.href;
  }
  return '';
}
