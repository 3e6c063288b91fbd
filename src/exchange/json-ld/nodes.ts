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
 * is one event.
 */
export function eventsIn(values: readonly unknown[]): Node[] {
  const byId = nodesById(values);
  const events = new Map<unknown, Node>();
  walk(values, (node) => {
    if (!listOf(node['@type']).some(isEventType)) return Object.values(node);
    const known = resolveNode(node, byId);
    events.set(typeof node['@id'] === 'string' ? node['@id'] : node, known);
    return [node.subEvent, node.subEvents];
  });
  return [...events.values()].map((event) => withReferences(event, byId));
}

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

function nodesById(values: readonly unknown[]): Map<string, Node> {
  const byId = new Map<string, Node>();
  walk(values, (node) => {
    const id = node['@id'];
    if (typeof id === 'string') byId.set(id, { ...byId.get(id), ...node });
    return Object.values(node);
  });
  return byId;
}

const resolveNode = (node: Node, byId: ReadonlyMap<string, Node>): Node =>
  typeof node['@id'] === 'string' ? (byId.get(node['@id']) ?? node) : node;

/** Members that may refer by `@id` to a node elsewhere on the page. */
const REFERRING = ['location', 'organizer', 'offers', 'image'] as const;

function withReferences(event: Node, byId: ReadonlyMap<string, Node>): Node {
  const referenced = REFERRING.flatMap((name) =>
    event[name] === undefined
      ? []
      : [[name, listOf(event[name]).map((value) => (isNode(value) ? resolveNode(value, byId) : value))] as const],
  );
  return { ...event, ...Object.fromEntries(referenced) };
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
