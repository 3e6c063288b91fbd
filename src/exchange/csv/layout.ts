import { type CustomField, isCustomMeta } from '../../calendar/custom-fields.ts';
import { postKind, postKinds } from '../../kinds/index.ts';
import type { PostKind } from '../../kinds/kind.ts';
import type { PostKindName } from '../../kinds/kind-names.ts';
import type { Field } from '../../kinds/param.ts';
import { HEADINGS } from './headings.ts';

/*
 * Columns of the calendar plugin's CSV files, one layout for each kind. The names are the plugin's; variants (different
 * case, without the kind, older names) are understood.
 */

/** Column name -> the plugin's heading for it, followed by alternative headings. */
export type Layout = Readonly<Record<string, readonly [header: string, ...others: string[]]>>;

const PLUGIN_LAYOUTS: Readonly<Record<PostKindName, Layout>> = {
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

/** Returns the text fields of a kind that the plugin does not know and has no column for. */
export const additionalTexts = ({ name, fields }: Pick<PostKind, 'name' | 'fields'>): string[] =>
  Object.entries<Field>(fields).flatMap(([field, { text, names }]) =>
    text && names?.csv !== false && !Object.hasOwn(PLUGIN_LAYOUTS[name], field) ? [field] : [],
  );

/** Additional columns for sites in several languages. */
export const LANGUAGE_COLUMNS: Layout = { language: ['Language'], translation_group: ['Translation Group'] };

/** Columns of each kind: the plugin's own, followed by one for each additional text. */
export const LAYOUTS: Readonly<Record<PostKindName, Layout>> = {
  event: withAdditionalColumns('event'),
  venue: withAdditionalColumns('venue'),
  organizer: withAdditionalColumns('organizer'),
};

function withAdditionalColumns(name: PostKindName): Layout {
  const kind = postKind(name);
  const heading = (field: string) => kind.fields[field]?.names?.csv || headingOf(`${name}_${field}`);
  return {
    ...PLUGIN_LAYOUTS[name],
    ...Object.fromEntries(additionalTexts(kind).map((field) => [field, [heading(field)] as const])),
    ...LANGUAGE_COLUMNS,
  };
}

/** Formats `venue_parking` as `Venue Parking`. */
function headingOf(name: string): string {
  const words = name.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return words.join(' ');
}

/**
 * Returns the columns of the fields that the site defines, by meta key. The heading is the field's label, or its name
 * if another column has that label as heading already.
 */
export function customColumns(fields: readonly CustomField[]): Layout {
  const takenHeadings = new Set(
    Object.values(LAYOUTS.event).flatMap((headings) =>
      headings.flatMap((heading) => [bareHeading(heading), bareHeading(heading, 'event')]),
    ),
  );
  const columns = fields.flatMap(({ meta, name, label }) => {
    if (!isCustomMeta(meta)) return [];
    const heading = bareHeading(label) === '' || takenHeadings.has(bareHeading(label)) ? name : label;
    takenHeadings.add(bareHeading(heading));
    return [[meta, [heading, name, meta]] as const];
  });
  return Object.fromEntries(columns);
}

/**
 * Returns the columns that a table of a kind can have on this site: those of the kind and, for events, the site's own
 * fields.
 */
export const columnsOf = (kind: PostKindName, fields: readonly CustomField[]): Layout => ({
  ...LAYOUTS[kind],
  ...(kind === 'event' ? customColumns(fields) : {}),
});

/** A heading of a file and the column it is mapped to; undefined if the heading is unknown. */
export interface MappedColumn {
  readonly header: string;
  readonly column: string | undefined;
}

/**
 * Headings of a file -> the column that each is mapped to, given by its name or its heading; an empty value ignores the
 * heading.
 */
export type HeadingMap = ReadonlyMap<string, string>;

export interface MappedHeaders {
  readonly kind: PostKindName;
  readonly columns: readonly MappedColumn[];
  /** Columns of the map that the layout does not have. */
  readonly unknown: readonly string[];
}

/**
 * Maps headings to the columns of the layout that fits them best, or returns undefined if no layout has a name column
 * among them. A table with a start date is a table of events, however much it contains about venues or organizers. If
 * two headings mean the same column, the first one is used; the map takes precedence over both. `customLayout`: columns
 * of the fields that the site defines.
 */
export function mapHeaders(
  headers: readonly string[],
  {
    kind,
    map = new Map(),
    customLayout = {},
  }: { kind?: PostKindName | undefined; map?: HeadingMap | undefined; customLayout?: Layout } = {},
): MappedHeaders | undefined {
  const columnsByHeading = new Map([...map].map(([heading, column]) => [bareHeading(heading), column] as const));
  const candidates = (kind === undefined ? KINDS : [kind]).map((name) => {
    const columnOf = columnFinder(name, customLayout);
    const mappedColumns = headers.map((header) => columnsByHeading.get(bareHeading(header)));
    const takenColumns = new Set(mappedColumns.flatMap((column) => (column ? (columnOf(column) ?? []) : [])));
    const columns = headers.map((header, index) => {
      const mappedColumn = mappedColumns[index];
      if (mappedColumn !== undefined) return { header, column: columnOf(mappedColumn) };
      const column = columnOf(header);
      if (column === undefined || takenColumns.has(column)) return { header, column: undefined };
      takenColumns.add(column);
      return { header, column };
    });
    const exact = new Set(Object.values(LAYOUTS[name]).map(([heading]) => bareHeading(heading)));
    return {
      kind: name,
      columns,
      unknown: mappedColumns.filter((column): column is string => Boolean(column) && columnOf(column!) === undefined),
      takenCount: takenColumns.size,
      hasName: takenColumns.has('name'),
      startDateScore: Number(takenColumns.has('start_date')),
      exact: headers.filter((header, index) => exact.has(bareHeading(mappedColumns[index] ?? header))).length,
    };
  });
  const [best] = candidates
    // If the map assigns the name to a column that does not exist, the table was still meant for this layout.
    .filter(({ hasName, unknown }) => hasName || unknown.length > 0)
    .sort(
      (one, other) =>
        Number(other.hasName) - Number(one.hasName) ||
        one.unknown.length - other.unknown.length ||
        other.startDateScore - one.startDateScore ||
        other.exact - one.exact ||
        other.takenCount - one.takenCount,
    );
  return best && { kind: best.kind, columns: best.columns, unknown: best.unknown };
}

const KINDS = postKinds.map(({ name }) => name);

/** Whether two headings are equal apart from case, blanks and punctuation. */
export const isSameHeading = (one: string, other: string): boolean => bareHeading(one) === bareHeading(other);

/**
 * Returns a function that finds the column of a layout for a heading: by the column's name or one of its headings, with
 * or without the kind as prefix.
 */
function columnFinder(kind: PostKindName, customLayout: Layout): (heading: string) => string | undefined {
  const columnsByHeading = new Map(
    // Later entries win: the site's fields override the headings of foreign tables, and the plugin's columns override
    // both.
    [HEADINGS[kind], kind === 'event' ? customLayout : {}, LAYOUTS[kind]].flatMap((layout) =>
      Object.entries<readonly string[]>(layout).flatMap(([column, headings]) =>
        [...(layout === HEADINGS[kind] ? [] : [column]), ...headings].flatMap((heading) =>
          [bareHeading(heading), bareHeading(heading, kind)].map((form) => [form, column] as const),
        ),
      ),
    ),
  );
  // Without its kind prefix, a heading that is only the kind becomes empty; an empty heading means nothing.
  columnsByHeading.delete('');
  return (heading) => columnsByHeading.get(bareHeading(heading)) ?? columnsByHeading.get(bareHeading(heading, kind));
}

/** Normalizes a heading: lower case, without blanks and punctuation, and without the kind as prefix. */
function bareHeading(header: string, kind?: PostKindName): string {
  const letters = header.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
  return kind !== undefined && letters.startsWith(kind) ? letters.slice(kind.length) : letters;
}
