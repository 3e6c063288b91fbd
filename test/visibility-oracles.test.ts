import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ServedEndpoint } from '../src/http/endpoint.ts';
import { BLOG_BASES } from '../src/kinds/core/blog.ts';
import { postTypes } from '../src/kinds/index.ts';
import type { Param } from '../src/kinds/param.ts';
import type { Database } from '../src/storage/engine/database.ts';
import { reindexEvents } from '../src/storage/index/event-index-rebuild.ts';
import { typedKeys } from '../src/typed-keys.ts';
import { describeDatabases, type Open } from './support/databases.ts';
import { finiteNamespaces } from './support/finite-routes.ts';
import { insertAll } from './support/insert-all.ts';
import { addPerson } from './support/people.ts';
import { addRoles, mayEdit, mayRead, type Role, type RoleRequestOptions } from './support/roles.ts';
import { type Answer, type RunningSite, serveDatabase } from './support/running-site.ts';
import { loadSite } from './support/site.ts';
import { SUITE_TIME } from './support/site-client.ts';

/*
 * The contents, order and length of a list must not reveal records that it does not show. Two sites differ only in
 * records that the caller may not see; every request for a list, with every parameter of any list route, must get the
 * same answer from both. Routes and parameters come from the route tables, so that new ones are included automatically.
 */

const NAMESPACES = finiteNamespaces();

interface List {
  readonly namespace: string;
  readonly path: string;
  readonly params: Readonly<Record<string, Param>>;
}

const paramsOf = ({ params, unlistedParams: unlisted }: ServedEndpoint) => ({ ...params, ...unlisted });

/** All routes that can be read, by their pattern. */
const READ = [...NAMESPACES].flatMap(([namespace, routes]) =>
  routes.flatMap(({ pattern, endpoints }) =>
    endpoints
      .filter(({ methods }) => methods.includes('GET'))
      .map((endpoint) => ({ namespace, pattern, path: `/wp-json/${namespace}${pattern}`, params: paramsOf(endpoint) })),
  ),
);
/** Every route that names no record. */
const LISTS: readonly List[] = READ.filter(({ pattern }) => !pattern.includes('(?P<'));
/** Paths of single records by id. */
const SINGLES: readonly string[] = READ.filter(({ pattern }) => /^[^(]*\(\?P<id>\\d\+\)$/.test(pattern)).map(({ path }) =>
  path.replace('(?P<id>\\d+)', ''),
);
/** Lists of the revisions of a record. */
const REVISIONS = READ.filter(({ pattern }) => pattern.endsWith('/(?P<parent>\\d+)/revisions'));
/** Routes of single records by slug. */
const SLUGS = READ.filter(({ pattern }) => pattern.includes('/by-slug/')).map(({ path }) => path);
/** Routes that show no records. */
const SHOW_NO_RECORDS = /\/(webhooks|types|taxonomies)\/\(\?P<|\/application-passwords/;

// ------------------------------------------------------------------------------------------------- the two sites
const TWINS = ['a', 'b'] as const;
type Twin = (typeof TWINS)[number];

/** Texts of the hidden records of each site, which occur nowhere else. */
const SECRETS = {
  a: {
    word: 'zyxwvut', place: 'Aqqstadt', phone: '7177711', email: 'aqq@example.org', day: '2031-05-01', time: '2025-03-01 10:00:00',
    author: 62, parent: 74, category: 4, tag: 11, venue: 12, organizer: 24, image: 10, at: [43.71, 10.4], order: -1, mime: 'image/png',
  },
  b: {
    word: 'qrstuvk', place: 'Bqqville', phone: '8288822', email: 'bqq@example.org', day: '2032-06-01', time: '2025-09-01 10:00:00',
    author: 63, parent: 75, category: 5, tag: 12, venue: 13, organizer: 25, image: 11, at: [45.46, 9.19], order: 0, mime: 'image/jpeg',
  },
} as const; // biome-ignore format: side by side
type Secret = (typeof SECRETS)[Twin];

/** All types that are served: the records of the calendar, and those of the blog. */
const BLOG_TYPES = typedKeys(BLOG_BASES);
const TYPES = [...postTypes, ...BLOG_TYPES];
const isBlog = (type: string) => BLOG_TYPES.some((blogType) => blogType === type);
/** A published record of each type. */
const PUBLIC: Readonly<Record<string, number>> = { tribe_events: 44, tribe_venue: 12, tribe_organizer: 24, post: 1, page: 2 };
const STATES = ['draft', 'pending', 'private', 'future', 'trash', 'protected'] as const;
type State = (typeof STATES)[number];

const FIRST = 7000;
const idOf = (type: string, state: State) => FIRST + TYPES.indexOf(type) * 100 + STATES.indexOf(state);
/**
 * Ids of: a file attached to a record; a public event that names a venue or organizer; records that only one of the
 * sites has; a revision of a record.
 */
const FILE = 1000;
const NAMING = 2000;
const SURPLUS = 3000;
const REVISION = 3500;
const LAST = 10999;
/** Types whose hidden records have an attached file, which a public event names in a gallery. */
const WITH_FILES = ['tribe_events', ...BLOG_TYPES];

const slugOf = (type: string, state: State, { word }: Secret) =>
  state === 'protected' ? `protected-${idOf(type, state)}` : `record-${word}-${idOf(type, state)}`;

/** All rows of the hidden records of a site. */
interface Rows {
  readonly posts: Record<string, unknown>[];
  readonly postmeta: Record<string, unknown>[];
  readonly tec_occurrences: Record<string, unknown>[];
  readonly term_relationships: Record<string, unknown>[];
}

function addMetas(rows: Rows, post_id: number, metas: Readonly<Record<string, string | number>>): void {
  for (const [meta_key, value] of Object.entries(metas)) rows.postmeta.push({ post_id, meta_key, meta_value: String(value) });
}

function addDates(rows: Rows, id: number, day: string): void {
  const [start, end] = [`${day} 10:00:00`, `${day} 12:00:00`];
  addMetas(rows, id, {
    _EventStartDate: start, _EventEndDate: end, _EventStartDateUTC: start, _EventEndDateUTC: end,
    _EventTimezone: 'UTC', _EventDuration: 7200,
  }); // biome-ignore format: pairs
  rows.tec_occurrences.push({
    occurrence_id: id, event_id: id, post_id: id, start_date: start, start_date_utc: start, end_date: end, end_date_utc: end,
    duration: 7200, hash: `twin-${id}`, updated_at: start,
  }); // biome-ignore format: pairs
}

/**
 * Texts of a record: the secret ones, blanked for users who may see the record, and the ones that the routes of a
 * namespace reveal of it.
 */
interface Hiding {
  readonly secret: Secret;
  readonly told: Secret;
  readonly links: Omit<Secret, 'category' | 'tag'> & { readonly category: number; readonly tag: number };
  readonly metas: Secret;
  /** State of the venue or organizer that a public event names, and which answers leave out. */
  readonly named: State;
}

function addRecord(rows: Rows, type: string, state: State, { secret, told, links, metas, named }: Hiding): void {
  const id = idOf(type, state);
  rows.posts.push({
    ID: id,
    post_type: type,
    post_status: state === 'protected' ? 'publish' : state,
    post_author: told.author,
    post_title: state === 'protected' ? 'Protected record' : `Record ${secret.word}`,
    post_name: slugOf(type, state, secret),
    post_content: `${secret.word} lies in the content`,
    post_excerpt: `${secret.word} lies in the excerpt`,
    post_password: state === 'protected' ? 'sesame' : secret.word,
    post_parent: type === 'tribe_events' ? told.parent : 0,
    menu_order: isBlog(type) ? told.order : secret.order,
    ...datesOf(state === 'future' ? told.time.replace('2025', '2035') : told.time),
  });
  addRevision(rows, id, secret);
  if (state === 'trash') addMetas(rows, id, { _wp_trash_meta_status: 'publish' });
  if (secret.order === -1) addMetas(rows, id, { _tribe_featured: 1 });
  addMetas(rows, id, { footnotes: `${secret.word} lies in a note` });
  if (isBlog(type)) {
    addMetas(rows, id, { _thumbnail_id: links.image });
    rows.term_relationships.push({ object_id: id, term_taxonomy_id: links.tag, term_order: 0 });
  }
  if (WITH_FILES.includes(type)) {
    addFile(rows, id, state === 'protected' ? { ...metas, word: metas.place } : secret);
    addNaming(rows, id, { post_content: `[gallery id="${id}"]` });
  }
  // This record is not a venue, organizer or image, whatever an event claims.
  if (isBlog(type)) addMetas(rows, id + NAMING, { _EventVenueID: id, _EventOrganizerID: id, _thumbnail_id: id });
  else if (type === 'tribe_events') {
    addDates(rows, id, told.day);
    addMetas(rows, id, { _EventVenueID: links.venue, _EventOrganizerID: links.organizer });
    addMetas(rows, id, { _EventCost: metas.phone, _EventURL: `https://${metas.word}.example.org`, _thumbnail_id: links.image });
    for (const term of [links.category, links.tag]) rows.term_relationships.push({ object_id: id, term_taxonomy_id: term, term_order: 0 });
  } else addLinked(rows, type, id, { metas, named });
}

/** Texts of a hidden venue or organizer, and of an event that names it. */
function addLinked(rows: Rows, type: string, id: number, { metas, named }: Pick<Hiding, 'metas' | 'named'>): void {
  addMetas(rows, id, {
    _VenueAddress: `${metas.word} street`, _VenueCity: metas.place, _VenueCountry: metas.place, _VenueStateProvince: metas.place,
    _VenuePhone: metas.phone, _VenueZip: metas.phone, _VenueLat: metas.at[0], _VenueLng: metas.at[1],
    _OrganizerPhone: metas.phone, _OrganizerEmail: metas.email,
  }); // biome-ignore format: pairs
  addNaming(rows, id, {});
  addMetas(rows, id + NAMING, { [type === 'tribe_venue' ? '_EventVenueID' : '_EventOrganizerID']: idOf(type, named) });
}

/** An image that is attached to a record. */
function addFile(rows: Rows, id: number, secret: Omit<Secret, 'word'> & { readonly word: string }): void {
  rows.posts.push({
    ID: id + FILE,
    post_type: 'attachment',
    post_status: 'inherit',
    post_author: secret.author,
    post_parent: id,
    post_title: secret.word,
    post_name: `file-${secret.word}-${id}`,
    post_content: secret.word,
    post_excerpt: secret.word,
    post_mime_type: secret.mime,
    ...datesOf(secret.time),
  });
  addMetas(rows, id + FILE, { _wp_attached_file: `2026/${secret.word}.png`, _wp_attachment_image_alt: secret.word });
}

function addRevision(rows: Rows, id: number, { word, author, time }: Secret): void {
  rows.posts.push({
    ID: id + REVISION,
    post_type: 'revision',
    post_status: 'inherit',
    post_author: author,
    post_parent: id,
    post_title: word,
    post_name: `${id}-revision-v1`,
    post_content: word,
    post_excerpt: word,
    ...datesOf(time),
  });
}

/** A public event that names a record. */
function addNaming(rows: Rows, id: number, columns: object): void {
  rows.posts.push({
    ID: id + NAMING,
    post_type: 'tribe_events',
    post_status: 'publish',
    post_title: 'Names one',
    post_name: `names-${id}`,
    ...columns,
  });
  addDates(rows, id + NAMING, '2031-03-01');
}

const datesOf = (time: string) => ({ post_date: time, post_date_gmt: time, post_modified: time, post_modified_gmt: time });

/**
 * Whether a role may read, by right or by opening as an editor, a stranger's record in this state. Of the blog, all
 * users see only what readers see.
 */
const knows = (role: Role, state: State, type = 'tribe_events') =>
  !isBlog(type) &&
  (state === 'protected' ? mayEdit(role, { own: false, status: 'publish' }) : mayRead(role, { own: false, status: state }));

/**
 * States that none of the tested roles may see: only WordPress's own routes tell which of the two records a public
 * event names.
 */
const OTHER: Partial<Record<State, State>> = { private: 'future', future: 'private' };

/**
 * Name used in place of a namespace for feeds: like the pages of WordPress, they reveal the terms of protected events,
 * but nothing else.
 */
const FEED = 'feeds';

/**
 * The rows of a site for a role and the routes of a namespace: everything that they may reveal is the same on both
 * sites.
 */
function rowsOf(twin: Twin, role: Role, namespace: string): Rows {
  const rows: Rows = { posts: [], postmeta: [], tec_occurrences: [], term_relationships: [] };
  for (const type of TYPES) {
    for (const state of STATES) {
      const secret = SECRETS[knows(role, state, type) ? 'a' : twin];
      const told = state === 'protected' ? SECRETS.a : secret;
      // The newer routes find protected events by their links, and show classes derived from their terms; WordPress's
      // own show metas too.
      const terms = { category: told.category, tag: told.tag };
      const links = namespace === 'calendar/events/v1' ? secret : namespace === FEED ? { ...secret, ...terms } : told;
      const metas = namespace === 'wp/v2' ? told : secret;
      const named = twin === 'b' && namespace !== 'wp/v2' && !knows(role, state) ? (OTHER[state] ?? state) : state;
      addRecord(rows, type, state, { secret, told, links, metas, named });
      if (twin === 'b' && state !== 'protected' && !knows(role, state, type))
        rows.posts.push({
          ...rows.posts.find(({ ID }) => ID === idOf(type, state)),
          ID: idOf(type, state) + SURPLUS,
          post_name: `surplus-${type}-${state}`,
        });
    }
  }
  return rows;
}

const BLANK = {
  post_author: 1, post_content: '', post_title: '', post_excerpt: '', post_password: '', post_parent: 0, menu_order: 0, post_mime_type: '',
  comment_status: 'closed', ping_status: 'closed', to_ping: '', pinged: '', post_content_filtered: '', guid: 'http://127.0.0.1:8081/?twin',
  comment_count: 0,
  ...datesOf('2025-01-01 10:00:00'),
}; // biome-ignore format: pairs

async function replaceHidden(db: Database, rows: Rows): Promise<void> {
  await db.from('posts').whereBetween('ID', [FIRST, LAST]).delete();
  for (const table of ['postmeta', 'tec_occurrences'] as const) await db.from(table).whereBetween('post_id', [FIRST, LAST]).delete();
  await db.from('term_relationships').whereBetween('object_id', [FIRST, LAST]).delete();
  const insert = (table: keyof Rows, all: readonly object[]) => insertAll(db, table, all, 200);
  await insert(
    'posts',
    rows.posts.map((row) => ({ ...BLANK, ...row })),
  );
  await insert('postmeta', rows.postmeta);
  await insert('tec_occurrences', rows.tec_occurrences);
  await insert('term_relationships', rows.term_relationships);
  await reindexEvents(db, () => new Date(SUITE_TIME), { marksComplete: true });
}

// ------------------------------------------------------------------------------------------------- what is asked
/**
 * Slugs that hidden records have on both sites. Another slug tells, as in the reference, whether any record has it: a
 * draft is refused with 403, an unknown slug with 400.
 */
const hiddenSlugs = TYPES.map((type) => slugOf(type, 'protected', SECRETS.a));

/** The type of the records at a path of WordPress's own routes, such as `/wp-json/wp/v2/posts/…`. */
const typeAt = (path: string): string => {
  const base = path.split('/')[4]!;
  return BLOG_TYPES.find((type) => BLOG_BASES[type] === base) ?? base;
};

/** The lists of the revisions of the hidden records in a state. */
const revisionLists = (state: State): readonly List[] =>
  REVISIONS.map((list) => ({ ...list, path: list.path.replace(/\(.*\)/, String(idOf(typeAt(list.path), state))) }));

/** Single revisions of hidden records: behind their own record, and behind one that everybody may read. */
const REVISION_PATHS = REVISIONS.flatMap(({ path }) =>
  STATES.flatMap((state) => {
    const id = idOf(typeAt(path), state);
    return [id, PUBLIC[typeAt(path)]!].map((parent) => `${path.replace(/\(.*\)/, String(parent))}/${id + REVISION}`);
  }),
);

/** Values that match the hidden records of the first site and nothing on the second. */
const { word, place, phone, ...told } = SECRETS.a;
const WORDS = [word, word.slice(0, 2), `"${word} lies"`, place, phone];
const MOMENTS = ['2031-12-31 00:00:00', '2025-06-01 00:00:00'];
const STATUSES = ['draft', 'private', 'future', 'trash', 'publish'];
const NUMBERS = [
  ...[told.author, told.parent, told.category, told.tag, told.venue, told.organizer, 2],
  ...TYPES.flatMap((type) => [idOf(type, type === 'tribe_events' ? 'draft' : 'private'), idOf(type, 'protected')]),
];

/** Parameters that are tested elsewhere, since guessing of passwords is limited. */
const APART = new Set(['password', 'translation_language', '_embed']);

/**
 * Offsets and page sizes: one record more than the default, all records, and beyond the end. Ids would all be beyond
 * the end.
 */
const PLACES: Readonly<Record<string, readonly number[]>> = {
  page: [1, 2, 3, 5, 7000],
  per_page: [1, 2, 7, 100, 7000],
  offset: [0, 1, 3, 9, 7000],
  limit: [1, 2, 7, 100, 7000],
};

/** Values to try for a parameter, according to its grammar. Refused values are refused on both sites. */
function valuesFor(name: string, { grammar }: Param): readonly (string | number)[] {
  if (APART.has(name)) return [];
  if (Object.hasOwn(PLACES, name)) return PLACES[name]!;
  const json = grammar.json as { type?: unknown; enum?: string[]; items?: { enum?: string[]; type?: unknown } };
  const choices = json.enum ?? json.items?.enum ?? ORDERS[name];
  if (choices) return choices;
  const types = [json.type, json.items?.type].flat();
  if (types.includes('boolean')) return ['true', 'false'];
  if (json.type === undefined) return ['true'];
  return [
    ...(types.includes('string') ? (isMoment(name) ? MOMENTS : name === 'status' ? STATUSES : WORDS) : []),
    ...(types.includes('integer') || types.includes('number') || types.includes('object') ? NUMBERS : []),
  ];
}
/** The beginning of the content and the excerpt of hidden records. */
const SENTENCES = [`${word} lies in the content`, `${word} lies in the excerpt`];
const takesText = (name: string, { grammar: { json } }: Param) =>
  json.type === 'string' && json.enum === undefined && !isMoment(name) && !APART.has(name);
const isMoment = (name: string) => /date|after|before/.test(name);

/** Orders for lists whose grammar accepts any order. */
const ORDERS: Readonly<Record<string, readonly string[]>> = {
  orderby: ['title', 'slug', 'modified', 'date', 'id', 'event_date', 'end_date', 'name', 'count', 'description'],
  order: ['asc', 'desc'],
};

/**
 * Covers all times; with a full page to compare the order, otherwise with a small page, since the total covers the
 * other records.
 */
const EVER = 'start_date=2000-01-01&end_date=2040-01-01';
const FEW = { per_page: 3 };
const MANY = { per_page: 50 };

const query = (pairs: Readonly<Record<string, string | number>>) =>
  Object.entries(pairs)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join('&');

/** Requests for a list: each value of each parameter, and combinations that matter. */
function requestsFor({ path, params }: List): string[] {
  const has = (...names: string[]) => names.every((name) => Object.hasOwn(params, name));
  const values = (name: string) => (params[name] ? valuesFor(name, params[name]) : []);
  const statuses = has('status') ? STATUSES : [];
  const asked: Record<string, string | number>[] = [
    MANY,
    { per_page: 1, page: 2 },
    ...Object.keys(params).flatMap((name) => values(name).map((value) => ({ ...FEW, [name]: value }))),
    ...values('orderby').flatMap((orderby) =>
      (params.order ? valuesFor('order', params.order) : []).map((order) => ({ ...MANY, orderby, order, ...NEEDED[orderby] })),
    ),
    ...(has('search') ? WORDS.flatMap((search) => statuses.map((status) => ({ ...FEW, search, status }))) : []),
    ...(has('search', 'search_columns')
      ? WORDS.flatMap((search) => ['post_content', 'post_excerpt'].map((columns) => ({ ...FEW, search, search_columns: columns })))
      : []),
    ...(has('search', 'context') ? WORDS.map((search) => ({ ...FEW, search, context: 'edit' })) : []),
    ...(has('geoloc_lat') ? TWINS.map((twin) => ({ ...FEW, geoloc_lat: SECRETS[twin].at[0], geoloc_lng: SECRETS[twin].at[1] })) : []),
  ];
  const always = has('start_date') ? `${EVER}&` : '';
  return asked.map((pairs) => `${path}?${always}${query(pairs)}`);
}

/** Further parameters that some orders need. */
const NEEDED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  include: { include: NUMBERS.join() },
  relevance: { search: 'record' },
};

/** Feeds accept the filters of the list of events. */
const FEEDS = ['/events/?ical=1', '/events/feed/?x=1'].flatMap((feed) =>
  requestsFor(LISTS.find(({ path }) => path.endsWith('calendar/events/v1/events'))!).map(
    (path) => `${feed}&${path.slice(path.indexOf('?') + 1)}`,
  ),
);

const UNDISTURBED = { CACHE_FRESHNESS_MS: '60000' };

/** Number of concurrent requests to each of the two sites, so that the database is always busy. */
const AT_ONCE = 4;

const asSeen = ({ status, headers, text }: Answer) =>
  JSON.stringify([status, headers['x-wp-total'], headers['x-wp-totalpages'], headers.link, text]);

/** Subscribers see the same as contributors, authors see no more of others' records, and editors see everything. */
const KEPT_OUT = ['nobody', 'contrib', 'fixer'] as const;

describeDatabases('a hidden record', (open) => {
  let signed: (role: Role) => RoleRequestOptions;
  const databases = new Map<Twin, Database>();
  const sites = new Map<Twin, RunningSite>();
  beforeAll(async () => {
    for (const twin of TWINS) {
      const { db, roles } = await twinDatabase(open);
      signed = roles;
      databases.set(twin, db);
    }
  });
  const close = () => Promise.all([...sites.values()].map((site) => site.close()));
  afterAll(close);
  /** The current hidden rows of each site, as text. */
  const hidden = new Map<Twin, string>();
  /**
   * Fills the sites whose hidden records change, and serves both again; during the requests nobody writes, so the sites
   * need not look for changes.
   */
  async function hide(role: Role, namespace: string): Promise<void> {
    const others = TWINS.filter((twin) => hidden.get(twin) !== JSON.stringify(rowsOf(twin, role, namespace)));
    if (others.length === 0) return;
    await close();
    for (const twin of others) {
      const rows = rowsOf(twin, role, namespace);
      await replaceHidden(databases.get(twin)!, rows);
      hidden.set(twin, JSON.stringify(rows));
    }
    await countAlike([...databases.values()]);
    for (const [twin, db] of databases) sites.set(twin, await serveDatabase(db, { env: UNDISTURBED, clock: () => new Date(SUITE_TIME) }));
  }

  const ask = (twin: Twin, role: Role, path: string) => {
    const { headers = {}, ...as } = signed(role);
    return sites.get(twin)!.send('GET', path, { ...as, headers: { ...headers, 'X-TEC-EEA': 'yes' } });
  };
  /** The paths that the two sites answer differently. */
  async function toldBy(role: Role, paths: readonly string[]): Promise<string[]> {
    const told: string[] = [];
    for (let from = 0; from < paths.length; from += AT_ONCE) {
      const some = paths.slice(from, from + AT_ONCE);
      const seen = await Promise.all(some.map((path) => Promise.all(TWINS.map(async (twin) => asSeen(await ask(twin, role, path))))));
      told.push(...some.filter((_, at) => seen[at]![0] !== seen[at]![1]));
    }
    return told;
  }

  /** Parameters whose results tell the beginning of a hidden text from a wrong one, with the values that do. */
  async function foundByLetters(role: Role, namespace: string, lists: typeof LISTS): Promise<string[]> {
    const texts = namespace === 'wp/v2' ? SENTENCES : [...SENTENCES, place, `${word} street`, phone, told.email];
    // Several texts have the same beginning.
    const beginnings = new Set(texts.map((text) => text.slice(0, 3)));
    const found: string[] = [];
    for (const { path, params } of lists) {
      const always = params.start_date ? `${EVER}&` : '';
      for (const name of Object.keys(params).filter((param) => takesText(param, params[param]!))) {
        const tells = async (value: string) => {
          const { status, headers, body } = await ask('a', role, `${path}?${always}${query({ ...FEW, [name]: value })}`);
          const records = Array.isArray(body) ? body : (body?.events ?? body?.venues ?? body?.organizers ?? body?.categories ?? body?.tags);
          return JSON.stringify([status, headers['x-wp-total'], records?.map(({ id }: { id: number }) => id)]);
        };
        for (const right of beginnings) {
          const wrong = `${right.slice(0, 2)}j`;
          for (const form of [(known: string) => known, (known: string) => `"${known}"`, (known: string) => `-${known}`]) {
            if ((await tells(form(right))) !== (await tells(form(wrong)))) found.push(`${path} ${name}=${form(right)}`);
          }
        }
      }
    }
    return found;
  }

  // For most roles, the routes of a namespace hide the same records.
  describe.each([...NAMESPACES.keys()].map((namespace) => [namespace]))('%s', (namespace) => {
    describe.each(KEPT_OUT.map((role) => [role]))('%s', (role) => {
      beforeAll(() => hide(role, namespace));
      it.each(LISTS.filter((list) => list.namespace === namespace).map((list) => [list.path, list] as const))(
        'is not revealed by any parameter of %s',
        async (_path, list) => expect(await toldBy(role, requestsFor(list))).toEqual([]),
      );
      // The additional role may read some of these records.
      if (!STATES.some((state) => knows(role, state)))
        it('is not revealed letter by letter through any text parameter', async () => {
          const lists = LISTS.filter((list) => list.namespace === namespace);
          expect(await foundByLetters(role, namespace, lists)).toEqual([]);
        });
      if (namespace === 'wp/v2')
        it('is not revealed by revisions', async () => {
          const plain = STATES.flatMap((state) => revisionLists(state).map(({ path }) => path));
          const filtered = revisionLists('private').flatMap(requestsFor);
          expect(await toldBy(role, [...plain, ...filtered, ...REVISION_PATHS])).toEqual([]);
        });
      it('is not revealed by any single record', async () => {
        const ids = TYPES.flatMap((type) =>
          STATES.flatMap((state) => [
            idOf(type, state),
            idOf(type, state) + NAMING,
            ...(WITH_FILES.includes(type) ? [idOf(type, state) + FILE] : []),
          ]),
        );
        const paths = SINGLES.filter((path) => path.startsWith(`/wp-json/${namespace}/`)).flatMap((path) => ids.map((id) => path + id));
        const named = namespace.startsWith('calendar/')
          ? SLUGS.flatMap((path) => hiddenSlugs.map((slug) => path.replace(/\(.*\)/, slug)))
          : [];
        expect([...paths, ...named].filter((path) => path.includes('(?P<'))).toEqual([]);
        expect(await toldBy(role, [...paths, ...named])).toEqual([]);
      });
    });
  });

  it('is not revealed to anybody by any feed', async () => {
    await hide('nobody', FEED);
    expect(await toldBy('nobody', FEEDS)).toEqual([]);
  });

  it('differs in its revisions for those who may see them', async () => {
    await hide('nobody', 'wp/v2');
    const lists = ['tribe_events', 'tribe_venue', 'tribe_organizer'].map(
      (type) => `/wp-json/wp/v2/${type}/${idOf(type, 'draft')}/revisions`,
    );
    expect(await toldBy('admin', lists)).toEqual(lists);
  });

  it('differs between the two sites for those who may see it', async () => {
    await hide('nobody', 'calendar/events/v1');
    const lists = LISTS.filter(({ path }) => /\/(events|venues|organizers|tribe_\w+|media)$/.test(path) && !path.endsWith('_cat'));
    const statuses = lists.flatMap(({ path, params }) => {
      const status = params.status ? '&status=draft' : '';
      return [`${path}?${params.start_date ? `${EVER}&` : ''}per_page=50${path.endsWith('media') ? '' : status}`];
    });
    expect(await toldBy('admin', statuses)).toEqual(statuses);
    const venues = lists.filter(({ path }) => path.endsWith('calendar/events/v1/venues'));
    const revealing = await foundByLetters('admin', 'calendar/events/v1', venues);
    expect(revealing).toEqual(expect.arrayContaining([expect.stringContaining(` search=${word.slice(0, 3)}`)]));
  });

  it('is tested with every list route and all its parameters', () => {
    expect(LISTS.length).toBeGreaterThan(20);
    const patterned = READ.filter(({ pattern }) => pattern.includes('(?P<')).map(({ path }) => path);
    const known = new Set([
      ...SINGLES.map((path) => `${path}(?P<id>\\d+)`),
      ...SLUGS,
      ...REVISIONS.flatMap(({ path }) => [path, `${path}/(?P<id>\\d+)`]),
    ]);
    expect(patterned.filter((path) => !known.has(path) && !SHOW_NO_RECORDS.test(path))).toEqual([]);
    const asked = LISTS.map((list) => requestsFor(list).length);
    expect(asked.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(1500);
    const untried = [...LISTS, ...REVISIONS].flatMap(({ path, params }) =>
      Object.keys(params).flatMap((name) => (APART.has(name) || valuesFor(name, params[name]!).length > 0 ? [] : [`${path} ${name}`])),
    );
    expect(untried).toEqual([]);
  });
});

/** Sets the same change counter on all sites: everybody may read it, and one site may have been filled more often. */
async function countAlike(all: readonly Database[]): Promise<void> {
  const counters = await Promise.all(all.map(async (db) => (await db.from('fasti_changes').first())!.counter));
  for (const db of all) await db.from('fasti_changes').update({ counter: Math.max(...counters) });
}

async function twinDatabase(open: Open) {
  const db = await loadSite(await open());
  const roles = await addRoles(db);
  for (const twin of TWINS) await addPerson(db, { id: SECRETS[twin].author, login: `writer-${twin}`, capabilities: ['read'] });
  return { db, roles };
}
