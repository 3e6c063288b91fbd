import { type CustomField, isCustomMeta } from '../../calendar/custom-fields.ts';
import { postKind } from '../../kinds/index.ts';
import type { Field, PostKind, PostKindName } from '../../kinds/kind.ts';

/*
 * The columns of the calendar plugin's CSV files, one layout for each kind. The names are the plugin's; what a file calls them otherwise (other case,
 * without the kind, older names) is understood.
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
    hide: ['Hide Event From Event Listings', 'Hide From Event Listings', 'Hide From Listings'],
    sticky: ['Event Sticky in Month View', 'Sticky in Month View'],
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
    comments: ['Event Allow Comments'],
    pings: ['Event Allow Trackbacks and Pingbacks'],
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

/** The columns of each kind: the plugin's own, and behind them one for each further text. */
export const LAYOUTS: Readonly<Record<PostKindName, Layout>> = {
  event: withFurther('event'),
  venue: withFurther('venue'),
  organizer: withFurther('organizer'),
};

function withFurther(name: PostKindName): Layout {
  const kind = postKind(name);
  const heading = (field: string) => kind.fields[field]?.names?.csv || headingOf(`${name}_${field}`);
  return { ...PLUGIN[name], ...Object.fromEntries(furtherTexts(kind).map((field) => [field, [heading(field)] as const])) };
}

/** `venue_parking` as `Venue Parking`. */
function headingOf(name: string): string {
  const words = name.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return words.join(' ');
}

/** Columns of the fields that the site defines, by their metas: headed by their labels, or by their names where a label is taken. */
export function customColumns(fields: readonly CustomField[]): Layout {
  const taken = new Set(Object.values(LAYOUTS.event).flatMap((heads) => heads.flatMap((head) => [bare(head), bare(head, 'event')])));
  const columns = fields.flatMap(({ meta, name, label }) => {
    if (!isCustomMeta(meta)) return [];
    const head = bare(label) === '' || taken.has(bare(label)) ? name : label;
    taken.add(bare(head));
    return [[meta, [head, name, meta]] as const];
  });
  return Object.fromEntries(columns);
}

/** What a column of a file is taken for; undefined: nothing is known of it. */
export interface MappedColumn {
  readonly header: string;
  readonly column: string | undefined;
}

/**
 * Which column of a layout each heading means, or undefined where no layout has a name among them. Of two headings for one column the first counts.
 * `custom`: columns of the fields that the site defines.
 */
export function mapHeaders(
  headers: readonly string[],
  kind?: PostKindName,
  custom: Layout = {},
): { kind: PostKindName; columns: MappedColumn[] } | undefined {
  const candidates = (kind === undefined ? (['event', 'venue', 'organizer'] as const) : [kind]).map((name) => {
    const known = new Map(
      // What stands later counts: a column of the plugin keeps its name.
      Object.entries(name === 'event' ? { ...custom, ...LAYOUTS.event } : LAYOUTS[name]).flatMap(([column, heads]) =>
        heads.flatMap((head) => [bare(head), bare(head, name)].map((form) => [form, column] as const)),
      ),
    );
    const taken = new Set<string>();
    const columns = headers.map((header) => {
      const column = known.get(bare(header)) ?? known.get(bare(header, name));
      if (column === undefined || taken.has(column)) return { header, column: undefined };
      taken.add(column);
      return { header, column };
    });
    const exact = new Set(Object.values(LAYOUTS[name]).map(([head]) => bare(head)));
    return { kind: name, columns, named: taken.has('name'), exact: headers.filter((header) => exact.has(bare(header))).length };
  });
  const [best] = candidates.filter(({ named }) => named).sort((one, other) => other.exact - one.exact);
  return best && { kind: best.kind, columns: best.columns };
}

/** A heading without case, blanks and signs, and without the kind at its begin. */
function bare(header: string, kind?: PostKindName): string {
  const letters = header.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
  return kind !== undefined && letters.startsWith(kind) ? letters.slice(kind.length) : letters;
}
