import { type CustomField, isCustomMeta } from '../../calendar/custom-fields.ts';
import { postKind } from '../../kinds/index.ts';
import type { PostKind } from '../../kinds/kind.ts';
import type { PostKindName } from '../../kinds/kind-names.ts';
import type { Field } from '../../kinds/param.ts';
import { HEADINGS } from './headings.ts';

/*
 * The columns of the calendar plugin's CSV files, one layout for each kind. The names are the plugin's; what a file
 * calls them otherwise (other case, without the kind, older names) is understood.
 */

/** Name of a column -> how the plugin heads it, and what else it is called. */
export type Layout = Readonly<Record<string, readonly [header: string, ...others: string[]]>>;

const PLUGIN: Readonly<Record<PostKindName, Layout>> = {
  event: {
    name: ['Event Name', 'Title'],
    description: ['Event Description'],
    excerpt: ['Event Excerpt'],
    start_date: ['Event Start Date'],
    start_time: ['Event Start Time'],
    end_date: ['Event End Date'],
    end_time: ['Event End Time'],
    timezone: ['Event Time Zone', 'Timezone'],
    all_day: ['All Day Event', 'All Day'],
    hide: ['Hide Event From Event Listings', 'Hide From Event Listings', 'Hide From Listings', 'Hide'],
    sticky: ['Event Sticky in Month View', 'Sticky in Month View', 'Sticky'],
    featured: ['Feature Event', 'Featured Event', 'Featured'],
    venue: ['Event Venue Name', 'Venue'],
    organizers: ['Event Organizer Name(s) or ID(s)', 'Event Organizer Name', 'Organizer Names', 'Organizer', 'Organizers'],
    show_map_link: ['Event Show Map Link'],
    show_map: ['Event Show Map'],
    cost: ['Event Cost'],
    currency_symbol: ['Event Currency Symbol'],
    currency_position: ['Event Currency Position'],
    currency_code: ['Event ISO Currency Code', 'Currency Code'],
    categories: ['Event Category', 'Event Categories'],
    tags: ['Event Tags'],
    website: ['Event Website'],
    image: ['Event Featured Image'],
    comments: ['Event Allow Comments', 'Comment Status'],
    pings: ['Event Allow Trackbacks and Pingbacks', 'Ping Status'],
  },
  venue: {
    name: ['Venue Name', 'Title'],
    description: ['Venue Description'],
    country: ['Venue Country'],
    address: ['Venue Address'],
    address2: ['Venue Address 2'],
    city: ['Venue City'],
    state: ['Venue State/Province', 'State', 'Province'],
    zip: ['Venue Zip', 'Postal Code'],
    phone: ['Venue Phone'],
    website: ['Venue Website', 'URL'],
    image: ['Venue Featured Image'],
    show_map: ['Venue Show Map', 'Show Map?'],
    show_map_link: ['Venue Show Map Link', 'Show Map Link?'],
  },
  organizer: {
    name: ['Organizer Name', 'Title'],
    description: ['Organizer Description'],
    email: ['Organizer Email'],
    website: ['Organizer Website', 'URL'],
    phone: ['Organizer Phone'],
    image: ['Organizer Featured Image'],
  },
};

/** The texts of a kind that the plugin has no column for: those that it does not know. */
export const furtherTexts = ({ name, fields }: Pick<PostKind, 'name' | 'fields'>): string[] =>
  Object.entries<Field>(fields).flatMap(([field, { text, names }]) =>
    text && names?.csv !== false && !Object.hasOwn(PLUGIN[name], field) ? [field] : [],
  );

/** Columns of sites in several languages. */
export const SPOKEN: Layout = { language: ['Language'], translation_group: ['Translation Group'] };

/** The columns of each kind: the plugin's own, and behind them one for each further text. */
export const LAYOUTS: Readonly<Record<PostKindName, Layout>> = {
  event: withFurther('event'),
  venue: withFurther('venue'),
  organizer: withFurther('organizer'),
};

function withFurther(name: PostKindName): Layout {
  const kind = postKind(name);
  const heading = (field: string) => kind.fields[field]?.names?.csv || headingOf(`${name}_${field}`);
  return { ...PLUGIN[name], ...Object.fromEntries(furtherTexts(kind).map((field) => [field, [heading(field)] as const])), ...SPOKEN };
}

/** `venue_parking` as `Venue Parking`. */
function headingOf(name: string): string {
  const words = name.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return words.join(' ');
}

/**
 * Columns of the fields that the site defines, by their metas: headed by their labels, or by their names where a label
 * is taken.
 */
export function customColumns(fields: readonly CustomField[]): Layout {
  const taken = new Set(
    Object.values(LAYOUTS.event).flatMap((heads) => heads.flatMap((head) => [bareHeading(head), bareHeading(head, 'event')])),
  );
  const columns = fields.flatMap(({ meta, name, label }) => {
    if (!isCustomMeta(meta)) return [];
    const head = bareHeading(label) === '' || taken.has(bareHeading(label)) ? name : label;
    taken.add(bareHeading(head));
    return [[meta, [head, name, meta]] as const];
  });
  return Object.fromEntries(columns);
}

/** The columns that a table of a kind can have on a site: the kind's, and of events those that the site defines. */
export const columnsOf = (kind: PostKindName, fields: readonly CustomField[]): Layout => ({
  ...LAYOUTS[kind],
  ...(kind === 'event' ? customColumns(fields) : {}),
});

/** What a column of a file is taken for; undefined: nothing is known of it. */
export interface MappedColumn {
  readonly header: string;
  readonly column: string | undefined;
}

/**
 * Headings of a file -> the column that each is to be taken for, by its name or its heading; empty: it is not taken.
 */
export type HeadingMap = ReadonlyMap<string, string>;

export interface MappedHeaders {
  readonly kind: PostKindName;
  readonly columns: readonly MappedColumn[];
  /** Columns of the map that the layout has not. */
  readonly unknown: readonly string[];
}

/**
 * Which column of a layout each heading means, or undefined where no layout has a name among them. A table that says
 * when something starts is one of events, however much it says of their venues or organizers. Of two headings for one
 * column the first counts, and what the map says before either. `custom`: columns of the fields that the site defines.
 */
export function mapHeaders(
  headers: readonly string[],
  { kind, map = new Map(), custom = {} }: { kind?: PostKindName | undefined; map?: HeadingMap | undefined; custom?: Layout } = {},
): MappedHeaders | undefined {
  const wanted = new Map([...map].map(([heading, column]) => [bareHeading(heading), column] as const));
  const candidates = (kind === undefined ? KINDS : [kind]).map((name) => {
    const columnOf = columnFinder(name, custom);
    const said = headers.map((header) => wanted.get(bareHeading(header)));
    const taken = new Set(said.flatMap((column) => (column ? (columnOf(column) ?? []) : [])));
    const columns = headers.map((header, place) => {
      const chosen = said[place];
      if (chosen !== undefined) return { header, column: columnOf(chosen) };
      const column = columnOf(header);
      if (column === undefined || taken.has(column)) return { header, column: undefined };
      taken.add(column);
      return { header, column };
    });
    const exact = new Set(Object.values(LAYOUTS[name]).map(([head]) => bareHeading(head)));
    return {
      kind: name,
      columns,
      unknown: said.filter((column): column is string => Boolean(column) && columnOf(column!) === undefined),
      taken: taken.size,
      named: taken.has('name'),
      dated: Number(taken.has('start_date')),
      exact: headers.filter((header, place) => exact.has(bareHeading(said[place] ?? header))).length,
    };
  });
  const [best] = candidates
    // A name that the map gives to no column that there is has been meant for one.
    .filter(({ named, unknown }) => named || unknown.length > 0)
    .sort(
      (one, other) =>
        Number(other.named) - Number(one.named) ||
        one.unknown.length - other.unknown.length ||
        other.dated - one.dated ||
        other.exact - one.exact ||
        other.taken - one.taken,
    );
  return best && { kind: best.kind, columns: best.columns, unknown: best.unknown };
}

const KINDS = ['event', 'venue', 'organizer'] as const;

/** Whether two headings are the same but for case, blanks and signs. */
export const isSameHeading = (one: string, other: string): boolean => bareHeading(one) === bareHeading(other);

/**
 * Finds the column that a heading means in a layout, by its name or one of its headings, with the kind before it or
 * without.
 */
function columnFinder(kind: PostKindName, custom: Layout): (heading: string) => string | undefined {
  const known = new Map(
    // What stands later counts: a field of the site before what tables have in common, a column of the plugin before
    // both.
    [HEADINGS[kind], kind === 'event' ? custom : {}, LAYOUTS[kind]].flatMap((layout) =>
      Object.entries<readonly string[]>(layout).flatMap(([column, heads]) =>
        [...(layout === HEADINGS[kind] ? [] : [column]), ...heads].flatMap((head) =>
          [bareHeading(head), bareHeading(head, kind)].map((form) => [form, column] as const),
        ),
      ),
    ),
  );
  // A heading that is the kind alone leaves nothing without it, and no heading at all means nothing.
  known.delete('');
  return (heading) => known.get(bareHeading(heading)) ?? known.get(bareHeading(heading, kind));
}

/** A heading without case, blanks and signs, and without the kind at its start. */
function bareHeading(header: string, kind?: PostKindName): string {
  const letters = header.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
  return kind !== undefined && letters.startsWith(kind) ? letters.slice(kind.length) : letters;
}
