/**
 * The losses of each way of migration, as described in `docs/migrating.md`, with all places where `fasti verify`
 * shows it between the sample site and its import.
 */
export type Losses = Readonly<Record<string, readonly string[]>>;

/** Returns the members of each of these records. Both lists are separated by spaces. */
const of = (records: string, members: string): string[] =>
  records.split(' ').flatMap((record) => members.split(' ').map((member) => `${record}.${member}`));

const WALK = 'wpml_language=all&start_date=1001-01-01&end_date=2999-12-31&per_page=50';

const CHILD = { 'what an event belongs below': ['events/75'] };

/** Everything that can be seen is imported. */
export const DATABASE: Losses = {
  'public ids of the dates of recurring events, where the new site uses them for other dates': [],
  'roles that the new site does not define, and what plugins have added to other roles; the report names users whose roles are unknown': [],
  'comments, revisions and everything else that is not part of the calendar; the report counts it': [],
  'notes of the editor (`_edit_lock`, `_edit_last`)': [],
  'ids inside of texts, where the record they mean got another id': [],
};

const ROWS_OF_TERMS = {
  'the number of the row of a category or tag (`term_taxonomy_id`), where it is not its id': [
    'categories/*.term_taxonomy_id',
    'tags/*.term_taxonomy_id',
  ],
};

/** In addition to what is lost from a database. */
export const WXR: Losses = {
  'roles and passwords: new users get the usual role of the site and need a password; the report names them': [],
  'people who wrote nothing, and settings': [],
  'characters that XML forbids': [],
  "kinds of files that their names don't show": [],
  ...ROWS_OF_TERMS,
  'who suggested an event, if the file is from `fasti export`: see [JSON lines](#from-json-lines)': [],
};

export const JSON_LINES: Losses = {
  'roles and passwords: new users get the usual role of the site and need a password; the report names them': [],
  'people who wrote nothing': [],
  'who suggested an event, with the note and the names of a new venue or organizers; the export says how many events that are not published had these':
    [],
};

const STORED_FORM =
  'the form in which a text or a cost was stored, where none is found that shows the same here; the report names the record';
const SIZES = 'with `--media`, the files of the smaller sizes of images: they are made again';

/** With the application password of an administrator. */
export const SITE: Losses = {
  ...CHILD,
  'hidden events that are over, and everything in the trash': [],
  "fields of other plugins, except texts that WordPress's own endpoints show": [],
  'whether comments are open, where these endpoints do not show it': [],
  'roles, passwords, and people whom the site does not name': [],
  ...ROWS_OF_TERMS,
  [STORED_FORM]: [],
  [SIZES]: [],
};

/** Through the public API, in addition to what is lost with a password. */
export const SITE_FOR_ANYBODY: Losses = {
  'everything that is not published, and what has a password': [
    'events/73',
    'events/by-slug/password-protected status',
    'venues/22',
    'organizers/30',
    'categories/5.count',
    'tags/11.count',
    `events?${WALK}&page=1 $.total`,
    'venues?wpml_language=all&per_page=50&page=1 $.total',
    'organizers?wpml_language=all&per_page=50&page=1 $.total',
    `events?${WALK}&organizer=30 status`,
    `events?${WALK}&venue=22 status`,
    `events?${WALK}&strict_dates=true $.total`,
    'events?ends_after=2030-08-01&ends_before=2030-09-02&per_page=50 $.total',
    'events?ends_after=2030-08-04&ends_before=2030-09-05&per_page=50 $.total',
    'events?include=36,41,51,62,73 $.total',
    'events?include=36,41,51,62,73 events/73',
    'events?start_date=2030-08-02 10:00:00&end_date=2030-09-02 10:00:00&strict_dates=true&per_page=50 $.total',
    'events?start_date=2030-08-02&end_date=2030-09-02&per_page=50 $.total',
    'events?start_date=2030-08-05 10:00:00&end_date=2030-09-05 10:00:00&strict_dates=true&per_page=50 $.total',
    'events?start_date=2030-08-05&end_date=2030-09-05&per_page=50 $.total',
    'events?starts_after=2030-08-02&starts_before=2030-09-02&per_page=50 $.total',
    'events?starts_after=2030-08-05&starts_before=2030-09-05&per_page=50 $.total',
    'venues $.total',
    'venues?has_events=true&per_page=50 $.total',
    'venues?only_with_upcoming=true&per_page=50 $.total',
    'venues?only_with_upcoming=true&per_page=50 venues/22',
    'venues?per_page=1&page=2 $.total',
    'venues?per_page=1&page=2 $.total_pages',
    'venues?per_page=1&page=2 venues/19',
    'organizers $.total',
    'organizers?has_events=true&per_page=50 $.total',
    'organizers?only_with_upcoming=true&per_page=50 organizers/30',
    'organizers?per_page=1&page=2 $.total',
    'organizers?per_page=1&page=2 $.total_pages',
    'organizers?per_page=1&page=2 organizers/27',
    'organizers?per_page=1&page=2 organizers/28',
    'categories?orderby=count&order=desc&per_page=50 $.categories.order',
  ],
  'the state (cancelled, postponed) of events that are over': [],
  'links to what did not come': ['events/68.venue', 'events/68.organizer'],
  [STORED_FORM]: ['events/65.description'],
};

const TERM_TREE = of('categories/3 categories/4 categories/9', 'parent url urls.up _links.up');
/** Data that neither kind of file can express, in the records themselves and in what depends on them. */
const OPEN_ONLY = [
  'events/73',
  'events/by-slug/password-protected status',
  'venues/22',
  'organizers/30',
  'events/68.venue',
  'events/68.organizer',
  'categories/5.count',
  `events?${WALK}&page=1 $.total`,
  'venues?wpml_language=all&per_page=50&page=1 $.total',
  'organizers?wpml_language=all&per_page=50&page=1 $.total',
];
const SLUGS = ['events/65', ...of('events/65', 'slug url json_ld.url')];
/** Venues and organizers are listed by publication date. */
const UNDATED = [
  ...of('venues organizers', 'date date_utc modified modified_utc'),
  'venues?wpml_language=all&per_page=50 $.sequence',
  'organizers?wpml_language=all&per_page=50 $.sequence',
];
const AUTHORS = of('events/78 events/79 venues/23', 'author');
const IMAGES = of('events/39 events/62 venues/12 organizers/24', 'image json_ld.image');

export const CSV: Losses = {
  "ids, and slugs that don't follow from the name": [...SLUGS, 'events/65.website'],
  'authors, and dates of publication and of the last change': [
    ...AUTHORS,
    ...UNDATED,
    ...of('events', 'date date_utc modified modified_utc json_ld.offers.validFrom'),
  ],
  'what is not published or has a password: such records stay out of the file, and so do links to them': [...OPEN_ONLY, 'tags/11.count'],
  'a second record of the same name, or of events of the same name and start; of a second record with the same external ID, this ID': [
    'events/70',
  ],
  'external IDs of events that recur, since each date becomes a row': [],
  'all venues of an event but the first': ['events/77.venue'],
  ...CHILD,
  'the state (cancelled, postponed) of events, and its reason': [],
  'which categories and tags are translations of each other': [],
  'images, without `--media`': [...IMAGES, 'events/65.description'],
  'parents, descriptions and slugs of categories and tags, and those that no event has': [
    ...TERM_TREE,
    ...of('categories/2 categories/4 categories/6 tags/12', 'description'),
    'categories/10',
    'tags/18',
    'categories?wpml_language=all&hide_empty=false&per_page=50&page=1 $.total',
    'tags?wpml_language=all&hide_empty=false&per_page=50&page=1 $.total',
  ],
  'coordinates of venues, and in which of its fields a state or province stood': [...of('venues/13', 'geo_lat geo_lng'), 'venues/14.state'],
  "times in UTC that don't agree with the zone: they are recomputed": of(
    'events/50 events/51',
    'utc_start_date utc_start_date_details utc_end_date utc_end_date_details',
  ),
  'fields of other plugins, and those that the site which imports does not define': [],
};

export const ICAL: Losses = {
  "ids, and slugs that don't follow from the name": SLUGS,
  'authors; of venues and organizers also the dates of publication and of the last change': [...AUTHORS, ...UNDATED],
  'what is not published or has a password: such records stay out of the file, and so do links to them': OPEN_ONLY,
  'which events, categories and tags are translations of each other, and the languages of venues and organizers': [],
  'venues and organizers that no event names': ['venues/16', 'venues/17', 'organizers/28'],
  'of a venue all but name, coordinates, and its address on one line': [
    ...of('venues', 'address city country stateprovince'),
    ...of('venues/12 venues/13', 'zip website json_ld.address.postalCode json_ld.sameAs'),
    ...of('venues', 'json_ld.address.addressCountry json_ld.address.addressLocality json_ld.address.addressRegion'),
    ...of('venues', 'json_ld.address.streetAddress'),
    ...of('venues/12', 'description json_ld.description phone json_ld.telephone'),
    ...of('venues/12 venues/15', 'province'),
    'venues/13.state',
  ],
  'several venues of an event, which become one': ['events/77.venue', 'venues/500000'],
  'descriptions, images and external IDs of organizers, and their order': [
    ...of('organizers/24', 'description json_ld.description'),
    'organizers.order',
    'organizers.json_ld.name',
    'organizers.json_ld.email',
  ],
  'the website of an event, in the place of which stands its page on the old site': of('events/37 events/44', 'website'),
  'prices, excerpts, tags, and whether maps are shown': [
    ...of('events', 'cost cost_details json_ld.offers tags show_map show_map_link'),
    ...of('venues/14', 'show_map show_map_link'),
    ...of('events/65', 'excerpt json_ld.description'),
    ...[11, 12, 13, 14, 15, 16, 17, 18].map((id) => `tags/${id}`),
    'tags?wpml_language=all&hide_empty=false&per_page=50&page=1 $.total',
    'tags?wpml_language=all&hide_empty=false&per_page=50&page=1 $.total_pages',
  ],
  'whether an event is featured, sticky or hidden from lists: hidden ones are shown': [
    ...of('events/36 events/40 events/62 events/63', 'featured'),
    ...of('events/59 events/63', 'sticky'),
    ...of('events/61 events/63', 'hide_from_listings'),
    'events/61',
    'events/63',
  ],
  'HTML in texts and names': [
    ...of('events/33 events/49 events/65 events/76', 'description'),
    ...of('events/65', 'title json_ld.name'),
    ...of('venues/14', 'venue json_ld.name'),
    'organizers/25.organizer',
    'organizers/25.json_ld.name',
  ],
  'parents, descriptions and slugs of categories, and those that no event has': [
    ...TERM_TREE,
    ...of('categories/2 categories/4 categories/6', 'description'),
    'categories/10',
    'categories?wpml_language=all&hide_empty=false&per_page=50&page=1 $.total',
  ],
  'zones that are an offset (`UTC+2`) and zones of all-day events, in the place of which stands the zone of the calendar': [
    ...of('events/50 events/51 events/52', 'start_date start_date_details end_date end_date_details'),
    ...of('events/53', 'utc_start_date utc_start_date_details utc_end_date utc_end_date_details'),
    ...of('events/50 events/51 events/52 events/53', 'timezone timezone_abbr json_ld.startDate json_ld.endDate'),
    `events?${WALK} $.sequence`,
  ],
  'images, without `--media`': IMAGES,
  'states of events other than cancelled (postponed, moved online), and the reason of any': [],
  'external IDs of events': [],
  ...CHILD,
  'guests, alarms, tasks, attachments other than images': [],
  'events that repeat by another calendar than the Gregorian (`RSCALE`), or by `SKIP=FORWARD`, and all others with a rule that cannot be read; the report names them':
    [],
  'other events with the UID of an event, where `SEQUENCE` does not say which is newer': [],
};
