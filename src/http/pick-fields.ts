import { isObject } from '../objects.ts';

type FieldTree = ReadonlyMap<string, true | FieldTree>;

/** Deeper than any record. */
const MAX_DEPTH = 20;

/**
 * Reduces an answer to the members at dotted paths (WordPress `rest_filter_response_fields`). A path into a list finds
 * nothing, since a list's members have indexes, not names. An empty result is an empty list, as PHP writes it.
 */
export function pickFields(body: unknown, fields: readonly string[]): unknown {
  const tree = toFieldTree(fields.map((field) => field.split('.', MAX_DEPTH)));
  return Array.isArray(body) ? body.map((item) => pick(item, tree)) : pick(body, tree);
}

/** Groups paths by their first part; true if one of them ends there. */
function toFieldTree(paths: readonly (readonly string[])[]): FieldTree {
  const groups = new Map<string, string[][]>();
  for (const [first = '', ...rest] of paths) {
    const group = groups.get(first);
    if (group) group.push(rest);
    else groups.set(first, [rest]);
  }
  return new Map(
    [...groups].map(([name, subpaths]) => [name, subpaths.some((rest) => rest.length === 0) ? true : toFieldTree(subpaths)] as const),
  );
}

function pick(value: unknown, tree: FieldTree): unknown {
  if (!isObject(value)) return value;
  const members = Array.isArray(value) ? [] : Object.entries(value);
  const picked = members.flatMap(([name, member]) => {
    const subtree = tree.get(name);
    return subtree === undefined ? [] : [[name, subtree === true ? member : pick(member, subtree)] as const];
  });
  return picked.length === 0 ? [] : Object.fromEntries(picked);
}

const topLevelName = (path: string): string => path.split('.', 1)[0]!;

/**
 * Reduces an answer whose records have `_links` and `_embedded` (`WP_REST_Server::response_to_data`). For a single
 * record, a path to either keeps both completely; `_embedded` counts only if the request has `_embed` (`embeds`). In a
 * list, links are members like any others, and `_embedded` keeps what the remaining links lead to, whether it is named
 * or not.
 */
export function pickLinkedFields(body: unknown, fields: readonly string[], embeds: boolean): unknown {
  const includesLinks = fields.some((path) => topLevelName(path) === '_links' || (embeds && topLevelName(path) === '_embedded'));
  if (!Array.isArray(body)) return pickFields(body, includesLinks ? [...fields, '_links', '_embedded'] : fields);
  const items = pickFields(
    body,
    fields.filter((path) => topLevelName(path) !== '_embedded'),
  ) as Linked[];
  return items.map((item, index) => withEmbedded(item, body[index] as Linked));
}

/** The members of a record that are relevant here. */
interface Linked {
  readonly _links?: object;
  readonly _embedded?: object;
}

function withEmbedded(item: Linked, { _embedded = {} }: Linked): Linked {
  const { _links = {} } = item;
  const linkedEntries = Object.entries(_embedded).filter(([relation]) => Object.hasOwn(_links, relation));
  return linkedEntries.length === 0 ? item : { ...item, _embedded: Object.fromEntries(linkedEntries) };
}
