import fc, { type Arbitrary } from 'fast-check';
import type { Grammar, Reference } from '../../src/kinds/grammars/grammar.ts';
import { postKinds, termKinds } from '../../src/kinds/index.ts';
import type { Fixture } from '../support/site-data.mjs';
import type { Json } from './json.ts';
import { DATE_PIECES, DATES, json, number, often, strangePair, text, URLS, ZONES } from './values.ts';

/** Ids, slugs and names of the records of a site, by the kind of reference. */
export interface Known {
  readonly ids: Readonly<Record<Reference, readonly number[]>>;
  readonly names: Readonly<Record<Reference, readonly string[]>>;
}

/** The records in the rows of a fixture, regardless of status and protection. */
export function knownIn(fixture: Fixture): Known {
  const table = (name: string) => {
    const { columns, rows } = fixture[name]!;
    return rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at]])) as Record<string, string | number>);
  };
  const posts = (type: string) => table('posts').filter((row) => row.post_type === type);
  const terms = (taxonomy: string) => {
    const ids = table('term_taxonomy')
      .filter((row) => row.taxonomy === taxonomy)
      .map((row) => row.term_id);
    return table('terms').filter((row) => ids.includes(row.term_id!));
  };
  const rows: [Reference, Record<string, string | number>[]][] = [
    ...postKinds.map(({ name, postType }): [Reference, Record<string, string | number>[]] => [name, posts(postType)]),
    ...termKinds.map(({ name, taxonomy }): [Reference, Record<string, string | number>[]] => [name, terms(taxonomy)]),
    ['user', table('users')],
    ['image', posts('attachment')],
  ];
  const of = <Value>(value: (row: Record<string, string | number>) => Value) =>
    Object.fromEntries(rows.map(([reference, found]) => [reference, found.map(value)])) as Record<Reference, Value[]>;
  return { ids: of((row) => Number(row.ID ?? row.term_id)), names: of((row) => String(row.post_name ?? row.slug ?? row.user_login)) };
}

/** Values that a parameter with this name and grammar might well accept: they bring a request past the first checks. */
export function plausible(name: string, { json: schema, refersTo: refers }: Grammar, known: Known): Arbitrary<Json> {
  if (refers === 'image') return fc.oneof(id(known, refers), fc.constantFrom(...URLS));
  if (refers)
    return fc.oneof(
      { weight: 4, arbitrary: id(known, refers) },
      { weight: 3, arbitrary: several(known, refers) },
      { weight: 3, arbitrary: inline(refers, known) },
    );
  const items = (schema.items as { enum?: Json[] } | undefined)?.enum;
  if (Array.isArray(schema.enum)) return often(6, fc.constantFrom(...(schema.enum as Json[])), orders);
  if (items) return fc.oneof(fc.subarray([...items]), fc.subarray([...items]).map(String), orders);
  const about = MEANT.find(([pattern]) => pattern.test(name))?.[1];
  if (about) return fc.oneof(id(known, about), several(known, about), several(known, about));
  const shape = SHAPES.find(([pattern]) => pattern.test(name))?.[1];
  if (shape) return shape;
  const types = [schema.type].flat();
  if (types.includes('boolean')) return flags;
  if (types.includes('object'))
    return fc.oneof(
      text,
      fc.tuple(fc.constantFrom('raw', 'rendered', '__proto__'), text).map((pair): Json => ({ pairs: [pair] })),
    );
  if (types.includes('array')) return fc.oneof(fc.array(fc.oneof(fc.nat(100), text), { maxLength: 3 }), text);
  if (types.includes('integer') || types.includes('number')) return fc.oneof(fc.nat(100), number);
  return fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom('A title', 'Concert', 'via Roma 1', 'Città', 'x') },
    { weight: 2, arbitrary: text },
  );
}

const date: Arbitrary<Json> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<Json>(...DATES) },
  { weight: 1, arbitrary: fc.array(fc.constantFrom(...DATE_PIECES), { minLength: 1, maxLength: 7 }).map((pieces) => pieces.join('')) },
);
const flags = fc.constantFrom<Json>(true, false, 1, 0, '1', '0', 'true', 'no', 'yes', 'on');
const orders = fc.constantFrom<Json>(
  'title',
  'ID',
  'include',
  'start_date',
  'distance',
  'term_group',
  'none',
  'meta_value',
  'DESC',
  'asc, ID',
);

/** The kind of record that the ids in a parameter refer to, by its name. */
const MEANT: readonly (readonly [RegExp, Reference])[] = [
  [/^tags/, 'tag'],
  [/^(categories|tribe_events_cat)/, 'category'],
  [/^venue/, 'venue'],
  [/^organizer/, 'organizer'],
  [/^author/, 'user'],
  [/^featured_media$/, 'image'],
  [/^(include|exclude|parent|post|event)/, 'event'],
];

/** Writes of a batch: to routes of each kind, and to none. */
const batchedWrites: Arbitrary<Json> = fc.array(
  fc
    .tuple(
      fc.constantFrom('POST', 'PATCH', 'PUT', 'DELETE', 'GET'),
      fc.constantFrom(
        ...['/calendar/events/v1/events', '/calendar/events/v1/venues/12', '/tribe/events/v1/tags', '/wp/v2/tribe_venue', '/wp/v2/tags/11'],
        ...['/tec/v1/venues', '/tec/v1/events/44', '/wp/v2/media', '/batch/v1', '/nowhere', '//', '/%', ''],
      ),
      fc.array(fc.tuple(fc.constantFrom('title', 'name', 'venue', 'start_date', 'end_date', 'status', 'slug'), fc.oneof(date, text)), {
        maxLength: 4,
      }),
      fc.constantFrom<Json>(
        { pairs: [] },
        { pairs: [['X-TEC-EEA', 'yes']] },
        { pairs: [['If-Match', '*']] },
        { pairs: [['__proto__', 'x']] },
      ),
    )
    .map(
      ([method, path, body, headers]): Json => ({
        pairs: [
          ['method', method],
          ['path', path],
          ['body', { pairs: body }],
          ['headers', headers],
        ],
      }),
    ),
  { minLength: 1, maxLength: 4 },
);

/** Parameters of one kind, by name. */
const SHAPES: readonly (readonly [RegExp, Arbitrary<Json>])[] = [
  [/date|before|after/, date],
  [/^requests$/, batchedWrites],
  [/^timezone$/, fc.constantFrom(...ZONES)],
  [/website|url/, fc.constantFrom('https://example.test/', ...URLS)],
  [/^status$/, fc.constantFrom<Json>('publish', 'draft', 'pending', 'private', 'future', 'trash', ['publish', 'draft'], 'publish,private')],
  [/^order/, orders],
  [/lat|lng|radius/, fc.oneof(fc.double({ min: -200, max: 200, noNaN: true }), fc.constantFrom<Json>('43.7', 11.2, '0', '-0', '1e5'))],
  [/^(page|per_page|offset)$/, fc.constantFrom<Json>(0, 1, 2, '3', '50', '51', 100, 1000, '99999999999', 2 ** 53)],
  [/^(has_|only_|show_|hide_|ticketed|geoloc$)/, flags],
  [/^cost$/, fc.oneof(fc.constantFrom<Json>(10, '10', 'Free', '10-20', ['5', '10', 'Free'], '€ 5', 0, '0'), text)],
  [/^context$/, fc.constantFrom('view', 'edit', 'embed', 'strange')],
];

const id = ({ ids }: Known, refers: Reference): Arbitrary<Json> =>
  fc.oneof(
    { weight: 10, arbitrary: fc.constantFrom<Json>(...ids[refers]) },
    { weight: 4, arbitrary: fc.constantFrom(...ids[refers]).map(String) },
    { weight: 1, arbitrary: fc.nat(100_000) },
  );

/** Lists in all possible notations: arrays, CSV, objects with an id. */
function several(known: Known, refers: Reference): Arbitrary<Json> {
  const object = id(known, refers).map((value): Json => ({ pairs: [['id', value]] }));
  const named = ['category', 'tag'].includes(refers) ? fc.constantFrom<Json>(...known.names[refers]) : id(known, refers);
  const item = fc.oneof({ weight: 6, arbitrary: id(known, refers) }, { weight: 3, arbitrary: named }, { weight: 1, arbitrary: object });
  const items = fc.array(item, { minLength: 1, maxLength: 3 });
  return fc.oneof(
    items,
    items.map((list) => list.filter((value) => typeof value !== 'object').join(',')),
  );
}

/** A new record inside another one: its own parameters, valid or not. */
function inline(refers: Reference, known: Known): Arbitrary<Json> {
  const kind = [...postKinds, ...termKinds].find(({ name }) => name === refers);
  if (!kind) return id(known, refers);
  const members = Object.entries(kind.fields).map(([name, { grammar }]) => {
    const value = grammar.refersTo && !['user', 'image'].includes(grammar.refersTo) ? json : plausible(name, grammar, known);
    return fc.tuple(fc.constant(name), fc.oneof({ weight: 3, arbitrary: value }, { weight: 1, arbitrary: json }));
  });
  const title = fc.tuple(fc.constant(kind.is === 'post' ? kind.titleField : 'name'), text);
  const record = fc
    .tuple(title, fc.array(fc.oneof(...members, strangePair), { maxLength: 4 }))
    .map(([first, rest]): Json => ({ pairs: [first, ...rest] }));
  return fc.oneof(record, fc.array(record, { maxLength: 3 }));
}
