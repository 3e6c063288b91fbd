type FieldTree = ReadonlyMap<string, true | FieldTree>;

/** Deeper than any record. */
const MAX_DEPTH = 20;

/**
 * Reduces an answer to the members at dotted paths (WordPress `rest_filter_response_fields`). A path into a list finds
 * nothing, since a list's members have indexes, not names. An empty result is an empty list, as PHP writes it.
 */
export function pickFields(body: unknown, fields: readonly string[]): unknown {
  const wanted = toFieldTree(fields.map((field) => field.split('.', MAX_DEPTH)));
  return Array.isArray(body) ? body.map((item) => pick(item, wanted)) : pick(body, wanted);
}

/** Groups paths by their first part; true if one of them ends there. */
function toFieldTree(paths: readonly (readonly string[])[]): FieldTree {
  const groups = new Map<string, string[][]>();
  for (const [first = '', ...rest] of paths) {
    const group = groups.get(first);
    if (group) group.push(rest);
    else groups.set(first, [rest]);
  }
  return new Map([...groups].map(([name, rests]) => [name, rests.some((rest) => rest.length === 0) ? true : toFieldTree(rests)] as const));
}

function pick(value: unknown, wanted: FieldTree): unknown {
  if (value === null || typeof value !== 'object') return value;
  const members = Array.isArray(value) ? [] : Object.entries(value);
  const kept = members.flatMap(([name, member]) => {
    const below = wanted.get(name);
    return below === undefined ? [] : [[name, below === true ? member : pick(member, below)] as const];
  });
  return kept.length === 0 ? [] : Object.fromEntries(kept);
}

const first = (path: string): string => path.split('.', 1)[0]!;

/**
 * Reduces an answer whose records have `_links` and `_embedded` (`WP_REST_Server::response_to_data`). For a single
 * record, a path to either keeps both completely; `_embedded` counts only if the request has `_embed` (`embeds`). In a
 * list, links are members like any others, and `_embedded` keeps what the remaining links lead to, whether it is named
 * or not.
 */
export function pickLinkedFields(body: unknown, fields: readonly string[], embeds: boolean): unknown {
  const beside = fields.some((path) => first(path) === '_links' || (embeds && first(path) === '_embedded'));
  if (!Array.isArray(body)) return pickFields(body, beside ? [...fields, '_links', '_embedded'] : fields);
  const kept = pickFields(
    body,
    fields.filter((path) => first(path) !== '_embedded'),
  ) as Linked[];
  return kept.map((item, place) => withEmbedded(item, body[place] as Linked));
}

/** The members of a record that are relevant here. */
interface Linked {
  readonly _links?: object;
  readonly _embedded?: object;
}

function withEmbedded(item: Linked, { _embedded = {} }: Linked): Linked {
  const { _links = {} } = item;
  const led = Object.entries(_embedded).filter(([relation]) => Object.hasOwn(_links, relation));
  return led.length === 0 ? item : { ...item, _embedded: Object.fromEntries(led) };
}
