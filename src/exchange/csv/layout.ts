import type { PostKindName } from '../../kinds/kind.ts';

/*
 * The columns of the calendar plugin's CSV files, one layout for each kind. The names are the plugin's; what a file calls them otherwise (other case,
 * without the kind, older names) is understood.
 */

/** Name of a column -> how the plugin heads it, and what else it is called. */
export type Layout = Readonly<Record<string, readonly [header: string, ...others: string[]]>>;

export const LAYOUTS: Readonly<Record<PostKindName, Layout>> = {
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

/** What a column of a file is taken for; undefined: nothing is known of it. */
export interface MappedColumn {
  readonly header: string;
  readonly column: string | undefined;
}

/** Which column of a layout each heading means, or undefined where no layout has a name among them. Of two headings for one column the first counts. */
export function mapHeaders(headers: readonly string[], kind?: PostKindName): { kind: PostKindName; columns: MappedColumn[] } | undefined {
  const candidates = (kind === undefined ? (['event', 'venue', 'organizer'] as const) : [kind]).map((name) => {
    const known = new Map(
      Object.entries(LAYOUTS[name]).flatMap(([column, heads]) =>
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
