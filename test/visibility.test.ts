import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { companionNamespaces } from '../src/http/companion/namespaces.ts';
import type { Database } from '../src/storage/engine/database.ts';
import { describeDatabases } from './support/databases.ts';
import { insertAll } from './support/insert-all.ts';
import {
  addRoles,
  can,
  mayEdit as editsOwned,
  IDS,
  type ModelRecord,
  ROLES,
  type Role,
  type RoleRequestOptions,
  mayRead as readsOwned,
} from './support/roles.ts';
import { type Answer, type RunningSite, serveDatabase } from './support/running-site.ts';
import { loadSite } from './support/site.ts';
import { idsOf, type Json, ROOT, SUITE_TIME } from './support/site-client.ts';

/*
 * Nobody sees records without the right to: every way to read a record, for records in every state, one's own and those
 * of others, for every role, against a small model of WordPress's rules that shares no code with the service.
 */

const STATES = ['publish', 'draft', 'pending', 'private', 'future', 'trash', 'protected', 'hidden'] as const;
type State = (typeof STATES)[number];
/** Author of the records that belong to another user: a deleted account. */
const STRANGER = 999;

const KINDS = [
  { name: 'event', path: '/events', type: 'tribe_events', first: 1000, link: '' },
  { name: 'venue', path: '/venues', type: 'tribe_venue', first: 2000, link: '_EventVenueID' },
  { name: 'organizer', path: '/organizers', type: 'tribe_organizer', first: 3000, link: '_EventOrganizerID' },
] as const;
type Kind = (typeof KINDS)[number];
const [EVENTS, VENUES, ORGANIZERS] = KINDS;

/**
 * Public records to link the others to. `SHOWS` links to all venues and organizers; for each of them there is one event
 * that links only to it.
 */
const PARENT = 74;
const VENUE = 12;
const ORGANIZER = 24;
const CATEGORY = 10;
const TAG = 18;
const SHOWS = 900;
const SINGLE = 4000;

interface Cell {
  readonly id: number;
  readonly state: State;
  readonly own: boolean;
}

const OWNERS = [STRANGER, ...ROLES.filter((role) => role !== 'nobody').map((role) => IDS[role])];
const idOf = (kind: Kind, owner: number, state: State) => kind.first + OWNERS.indexOf(owner) * 10 + STATES.indexOf(state);
/** The records of a kind that a role is tested with: those of a stranger and its own. */
const cellsOf = (kind: Kind, role: Role): Cell[] =>
  STATES.flatMap((state) => [
    { id: idOf(kind, STRANGER, state), state, own: false },
    ...(role === 'nobody' ? [] : [{ id: idOf(kind, IDS[role], state), state, own: true }]),
  ]);

// ------------------------------------------------------------------------------------------------- the model
const isPublic = (state: State) => ['publish', 'protected', 'hidden'].includes(state);
const owned = ({ state, own }: Cell) => ({ own, status: isPublic(state) ? 'publish' : state });
/** Whether the role may read, or edit, this record. All records in the trash were published before. */
const reads = (role: Role, cell: Cell) => readsOwned(role, owned(cell));
const edits = (role: Role, cell: Cell) => editsOwned(role, owned(cell));
/** Whether a list without a status parameter contains the record. */
const listed = (role: Role, cell: Cell) => isPublic(cell.state) || (can(role, 'edit') && cell.state !== 'trash' && reads(role, cell));
const shown = (role: Role, cell: Cell) => cell.state !== 'trash' && reads(role, cell);
const open = ({ state }: Cell) => state !== 'protected';
const unhidden = ({ state }: Cell) => state !== 'hidden';

// ------------------------------------------------------------------------------------------------- the ways
type Seen = Set<number>;
interface Ask {
  /** Ids of all pages of a list. */
  list(path: string): Promise<Seen>;
  get(path: string): Promise<Answer>;
  /** The text of a URL outside the interface, such as a feed. */
  page(path: string): Promise<Answer>;
}
interface Way {
  readonly kind: Kind;
  readonly name: string;
  /** Those of the given records that this way of reading returns. */
  readonly seen: (ask: Ask, cells: readonly Cell[], role: Role) => Promise<Seen>;
  readonly model: (role: Role, cell: Cell) => boolean;
}

const WIDE = 'start_date=2019-01-01&end_date=2040-01-01&per_page=50';
const each = async (cells: readonly Cell[], test: (cell: Cell) => Promise<boolean>): Promise<Seen> => {
  const seen: Seen = new Set();
  for (const cell of cells) if (await test(cell)) seen.add(cell.id);
  return seen;
};
const slugOf = (id: number) => `record-${id}`;
const storedSlug = ({ id, state }: Cell) => (state === 'trash' ? `${slugOf(id)}__trashed` : slugOf(id));
const asked = (role: Role, state: State) => (isPublic(state) ? 'publish' : can(role, 'edit') ? state : undefined);

/** Lists requested for one status at a time; they are refused to users without the right to see it. */
const byStatus =
  (kind: Kind, query: string): Way['seen'] =>
  async (ask, _cells, role) => {
    const seen: Seen = new Set();
    for (const state of STATES) {
      const status = asked(role, state);
      if (status === undefined) expect((await ask.get(`${kind.path}?${query}&status=${state}`)).status).toBe(400);
      else for (const id of await ask.list(`${kind.path}?${query}&status=${status}`)) seen.add(id);
    }
    return seen;
  };

const singles = (kind: Kind): Way[] => {
  const readable: Way['model'] = kind.name === 'event' ? (role, cell) => shown(role, cell) && open(cell) : reads;
  const single =
    (address: (cell: Cell) => string): Way['seen'] =>
    (ask, cells) =>
      each(cells, async (cell) => {
        const { status, body, text } = await ask.get(kind.path + address(cell));
        expect({ id: cell.id, answered: [200, 403].includes(status), told: status === 200 || !text.includes(`Record ${cell.id}`) }).toEqual(
          { id: cell.id, answered: true, told: true },
        );
        return status === 200 && body.id === cell.id;
      });
  return [
    { kind, name: 'by id', seen: single(({ id }) => `/${id}`), model: readable },
    {
      kind,
      name: 'by slug',
      seen: single((cell) => `/by-slug/${kind.name === 'event' ? 'parent-event%2F' : ''}${storedSlug(cell)}`),
      model: readable,
    },
    {
      kind,
      name: 'by id for editing',
      seen: single(({ id }) => `/${id}?context=edit`),
      model: kind.name === 'event' ? (role, cell) => shown(role, cell) && (open(cell) || edits(role, cell)) : reads,
    },
  ];
};

/** Lists filtered by a property that an event shows only to those who may read it in full. */
const filtered = (name: string, filter: string): Way => ({
  kind: EVENTS,
  name,
  seen: (ask) => ask.list(`/events?${WIDE}&${filter}`),
  model: (role, cell) => listed(role, cell) && open(cell) && unhidden(cell),
});
/** Lists of records of an event that is given by its id: an event that may not be read counts as unknown. */
const asParameter = (path: string): Way => ({
  kind: EVENTS,
  name: `as parameter of ${path}`,
  seen: (ask, cells) =>
    each(cells, async ({ id }) => {
      const { status } = await ask.get(path + id);
      expect([200, 400]).toContain(status);
      return status === 200;
    }),
  model: (role, cell) => reads(role, cell) && open(cell),
});

const EVENT_WAYS: Way[] = [
  { kind: EVENTS, name: 'list', seen: (ask) => ask.list(`/events?${WIDE}`), model: (role, cell) => listed(role, cell) && unhidden(cell) },
  {
    kind: EVENTS,
    name: 'list by status',
    seen: byStatus(EVENTS, WIDE),
    model: (role, cell) => (cell.state === 'trash' ? edits(role, cell) : listed(role, cell) && unhidden(cell)),
  },
  {
    kind: EVENTS,
    name: 'include',
    seen: (ask, cells) => ask.list(`/events?per_page=50&include=${cells.map(({ id }) => id).join(',')}`),
    model: listed,
  },
  {
    kind: EVENTS,
    name: 'post_parent',
    seen: (ask) => ask.list(`/events?${WIDE}&post_parent=${PARENT}`),
    model: (role, cell) => listed(role, cell) && unhidden(cell),
  },
  {
    kind: EVENTS,
    name: 'search by title',
    seen: (ask) => ask.list(`/events?${WIDE}&search=markedtitle`),
    model: (role, cell) => listed(role, cell) && unhidden(cell) && (open(cell) || role !== 'nobody'),
  },
  filtered('search by text', 'search=markedtext'),
  filtered('search by excerpt', 'search=markedexcerpt'),
  filtered('venue', `venue=${VENUE}`),
  filtered('organizer', `organizer=${ORGANIZER}`),
  filtered('category', `categories=${CATEGORY}`),
  filtered('tag', `tags=${TAG}`),
  filtered('featured', 'featured=true'),
  filtered('city', 'city=Pisa'),
  ...singles(EVENTS),
  asParameter('/venues?event='),
  asParameter('/organizers?event='),
  asParameter('/categories?post='),
  asParameter('/categories?event='),
  asParameter('/tags?post='),
  {
    kind: EVENTS,
    name: 'feed of the calendar',
    seen: async (ask, cells) => {
      const { status, text } = await ask.page('/events/list/?ical=1&per_page=1000&tribe-bar-date=2036-01-01');
      expect(status).toBe(200);
      return each(cells, async ({ id }) => text.includes(`Record ${id} `));
    },
    model: (_role, cell) => isPublic(cell.state) && unhidden(cell),
  },
  {
    kind: EVENTS,
    name: 'feed of news',
    seen: async (ask, cells) => {
      const texts: string[] = [];
      do texts.push((await ask.page(`/events/feed/?tribe-bar-date=2036-01-01&paged=${texts.length + 1}`)).text);
      while (texts.at(-1)?.includes('<item>'));
      expect(texts.length).toBeGreaterThan(1);
      return each(cells, async ({ id }) => texts.some((text) => text.includes(`Record ${id} `)));
    },
    model: (_role, cell) => isPublic(cell.state),
  },
  {
    kind: EVENTS,
    name: 'feed of one event',
    seen: (ask, cells) =>
      each(cells, async (cell) =>
        (await ask.page(`/event/parent-event%2F${storedSlug(cell)}/?ical=1`)).text.includes(`Record ${cell.id} `),
      ),
    model: (_role, cell) => isPublic(cell.state),
  },
];

/** Ids of the venues or organizers that an event shows. */
const embedded = (event: Json, kind: Kind): number[] => [event[kind.name]].flat().map((record: Json) => record.id);

const linkedWays = (kind: Kind): Way[] => [
  { kind, name: 'list', seen: (ask) => ask.list(`${kind.path}?per_page=50`), model: listed },
  {
    kind,
    name: 'list by status',
    seen: byStatus(kind, 'per_page=50'),
    model: (role, cell) => (cell.state === 'trash' ? edits(role, cell) : listed(role, cell)),
  },
  { kind, name: 'search by name', seen: (ask) => ask.list(`${kind.path}?per_page=50&search=markedtitle`), model: listed },
  {
    kind,
    name: 'search by text',
    seen: (ask) => ask.list(`${kind.path}?per_page=50&search=markedtext`),
    model: (role, cell) => listed(role, cell) && open(cell),
  },
  {
    kind,
    name: 'search by a meta',
    seen: (ask) => ask.list(`${kind.path}?per_page=50&search=markedmeta`),
    model: (role, cell) => listed(role, cell) && open(cell),
  },
  { kind, name: 'those of an event', seen: (ask) => ask.list(`${kind.path}?per_page=50&event=${SHOWS}`), model: listed },
  { kind, name: 'those with events', seen: (ask) => ask.list(`${kind.path}?per_page=50&has_events=1`), model: listed },
  { kind, name: 'those with upcoming events', seen: (ask) => ask.list(`${kind.path}?per_page=50&only_with_upcoming=1`), model: listed },
  ...singles(kind),
  {
    kind,
    name: 'embedded in an event',
    seen: async (ask) => new Set(embedded((await ask.get(`/events/${SHOWS}`)).body, kind)),
    model: shown,
  },
  {
    kind,
    name: 'embedded in a list',
    seen: async (ask) => new Set(embedded((await ask.get(`/events?include=${SHOWS}`)).body.events[0], kind)),
    model: shown,
  },
  {
    kind,
    name: 'JSON-LD of an event',
    seen: (ask, cells) =>
      each(cells, async ({ id }) => {
        const { json_ld } = (await ask.get(`/events/${SINGLE + id}`)).body;
        return JSON.stringify(json_ld).includes(`Record ${id} `);
      }),
    model: (role, cell) => shown(role, cell) && open(cell),
  },
  {
    kind,
    name: 'as parameter of the events',
    seen: (ask, cells) =>
      each(cells, async ({ id }) => {
        const { status } = await ask.get(`/events?${WIDE}&${kind.name}=${id}`);
        expect([200, 400]).toContain(status);
        return status === 200;
      }),
    model: reads,
  },
  {
    kind,
    name: 'feed of the calendar',
    seen: async (ask, cells) => {
      const { text } = await ask.page('/events/list/?ical=1&per_page=1000&tribe-bar-date=2037-01-01');
      const unfolded = text.replace(/\r?\n[ \t]/g, '');
      return each(cells, async ({ id }) => unfolded.includes(`Record ${id} `));
    },
    model: (_role, cell) => isPublic(cell.state),
  },
];

/** Users who may see all drafts and private records can follow all of them; other users follow public records. */
const changesOf = (kind: Kind): Way => ({
  kind,
  name: 'changes',
  seen: async (ask) => {
    const seen: Seen = new Set();
    for (let since = '', more = true; more; ) {
      const { body } = await ask.get(`/changes?kinds=${kind.name}&limit=50&include=records${since}`);
      for (const { id, record } of body.changes) if (record) seen.add(id);
      since = `&since=${body.next}`;
      more = body.more;
    }
    return seen;
  },
  model: (role, cell) => {
    const seesAll = (['draft', 'private', 'future', 'pending'] as const).every((state) => listed(role, { ...cell, state, own: false }));
    return isPublic(cell.state) || (seesAll && listed(role, cell));
  },
});

const WAYS = [...EVENT_WAYS, ...linkedWays(VENUES), ...linkedWays(ORGANIZERS), ...KINDS.map(changesOf)];

// ------------------------------------------------------------------------------------------------- lists for editing
/** Lists that have a context for editing. */
const EDIT_LISTS = [...companionNamespaces()].flatMap(([namespace, routes]) =>
  routes.flatMap(({ pattern, endpoints }) => {
    const list = endpoints.find(({ methods }) => methods.includes('GET'));
    const choices = list?.params.context?.grammar.json.enum;
    const isOne = pattern.includes('(?P<') || pattern.endsWith('/me');
    return !isOne && Array.isArray(choices) && choices.includes('edit') ? [`/wp-json/${namespace}${pattern}`] : [];
  }),
);

type Edited = { readonly mayAsk: (role: Role) => boolean } & (
  | { readonly type?: undefined }
  | { readonly type: string; readonly may: (role: Role, row: ModelRecord) => boolean }
);
const edited = (type: string): Edited => ({
  type,
  mayAsk: (role) => can(role, 'edit'),
  may: (role, row) => editsOwned(role, row) && (row.status === 'trash' || readsOwned(role, row)),
});
const isEditor = (role: Role) => role === 'ed' || role === 'admin';
/**
 * The callers who may request each of them, and its contents. Lists of terms, people and types are given completely or
 * not at all.
 */
const EDITED: Readonly<Record<string, Edited>> = {
  ...Object.fromEntries(KINDS.map(({ type }) => [type, edited(type)])),
  // Files depend on the rights to posts of the blog, of which the additional roles have one.
  media: { type: 'attachment', mayAsk: (role) => can(role, 'edit'), may: (role, { own }) => own || isEditor(role) },
  tags: { mayAsk: isEditor },
  tribe_events_cat: { mayAsk: (role) => can(role, 'publish') },
  users: { mayAsk: (role) => role === 'admin' },
  types: { mayAsk: (role) => can(role, 'edit') },
  taxonomies: { mayAsk: (role) => can(role, 'edit') },
};

// ------------------------------------------------------------------------------------------------- the records
async function addRecords(db: Database): Promise<void> {
  const model = (await db.from('posts').where('ID', 38).first())!;
  const posts: object[] = [];
  const metas: { post_id: number; meta_key: string; meta_value: string }[] = [];
  const occurrences: object[] = [];
  const relationships: object[] = [];
  const dated = (post_id: number, day: string) => {
    const [start, end] = [`${day} 10:00:00`, `${day} 12:00:00`];
    const values = {
      _EventStartDate: start,
      _EventEndDate: end,
      _EventStartDateUTC: start,
      _EventEndDateUTC: end,
      _EventTimezone: 'UTC',
      _EventTimezoneAbbr: 'UTC',
      _EventDuration: '7200',
    };
    metas.push(...Object.entries(values).map(([meta_key, meta_value]) => ({ post_id, meta_key, meta_value })));
    occurrences.push({
      occurrence_id: post_id,
      event_id: post_id,
      post_id,
      start_date: start,
      start_date_utc: start,
      end_date: end,
      end_date_utc: end,
      duration: 7200,
      hash: `test-${post_id}`,
      updated_at: start,
    });
  };
  const add = (ID: number, post_type: string, columns: object) =>
    posts.push({
      ...model,
      ID,
      post_type,
      post_title: `Record ${ID} markedtitle`,
      post_name: slugOf(ID),
      post_status: 'publish',
      post_author: 1,
      post_parent: 0,
      guid: `http://127.0.0.1:8081/?p=${ID}`,
      ...columns,
    });

  for (const kind of KINDS) {
    for (const owner of OWNERS) {
      for (const state of STATES) {
        const id = idOf(kind, owner, state);
        add(id, kind.type, {
          post_author: owner,
          post_status: isPublic(state) ? 'publish' : state,
          post_password: state === 'protected' ? 'sesame' : '',
          post_name: storedSlug({ id, state, own: false }),
          post_content: `markedtext content-${id}.`,
          post_excerpt: `markedexcerpt excerpt-${id}.`,
          post_parent: kind === EVENTS ? PARENT : 0,
          ...(state === 'future' ? { post_date: '2036-01-01 10:00:00', post_date_gmt: '2036-01-01 10:00:00' } : {}),
        });
        if (state === 'trash') metas.push({ post_id: id, meta_key: '_wp_trash_meta_status', meta_value: 'publish' });
        if (kind === EVENTS) {
          dated(id, '2036-05-01');
          metas.push(
            { post_id: id, meta_key: '_EventVenueID', meta_value: String(VENUE) },
            { post_id: id, meta_key: '_EventOrganizerID', meta_value: String(ORGANIZER) },
            { post_id: id, meta_key: '_tribe_featured', meta_value: '1' },
          );
          if (state === 'hidden') metas.push({ post_id: id, meta_key: '_EventHideFromUpcoming', meta_value: 'yes' });
          relationships.push(
            { object_id: id, term_taxonomy_id: CATEGORY, term_order: 0 },
            { object_id: id, term_taxonomy_id: TAG, term_order: 0 },
          );
        } else {
          metas.push(
            { post_id: id, meta_key: kind === VENUES ? '_VenueAddress' : '_OrganizerPhone', meta_value: 'markedmeta' },
            { post_id: SHOWS, meta_key: kind.link, meta_value: String(id) },
          );
          add(SINGLE + id, 'tribe_events', { post_title: 'Shows one' });
          dated(SINGLE + id, '2037-05-01');
          metas.push({ post_id: SINGLE + id, meta_key: kind.link, meta_value: String(id) });
        }
      }
    }
  }
  add(SHOWS, 'tribe_events', { post_title: 'Shows all' });
  dated(SHOWS, '2037-06-01');
  await insertAll(db, 'posts', posts, 40);
  await insertAll(db, 'postmeta', metas, 200);
  await insertAll(db, 'tec_occurrences', occurrences, 50);
  await insertAll(db, 'term_relationships', relationships, 100);
  await db.from('fasti_changes').increment('counter');
}

describeDatabases('visibility of records', (create) => {
  let db: Database;
  let running: RunningSite;
  let signed: (role: Role) => RoleRequestOptions;
  beforeAll(async () => {
    db = await loadSite(await create());
    signed = await addRoles(db);
    await addRecords(db);
    // Nobody writes from here on, so the site need not look for changes.
    running = await serveDatabase(db, { env: { CACHE_FRESHNESS_MS: '60000' }, clock: () => new Date(SUITE_TIME) });
  });
  afterAll(() => running.close());

  const askAs = (role: Role): Ask => {
    const get = (path: string) => running.send('GET', ROOT + path, signed(role));
    return {
      get,
      page: (path) => running.send('GET', path, signed(role)),
      list: async (path) => {
        const seen: Seen = new Set();
        for (let page = 1, pages = 1; page <= pages; page++) {
          const { status, body } = await get(`${path}&page=${page}`);
          expect({ path, status, body: status === 200 ? undefined : body }).toEqual({ path, status: 200, body: undefined });
          for (const id of idsOf(body)) seen.add(id);
          pages = body.total_pages;
          if (page === pages || pages === 0) expect({ path, total: body.total }).toEqual({ path, total: seen.size });
        }
        return seen;
      },
    };
  };

  it.each(WAYS.flatMap((way) => ROLES.map((role) => [way.kind.path, way.name, role, way] as const)))(
    'follows the model for %s, %s: %s',
    async (_path, _name, role, way) => {
      const cells = cellsOf(way.kind, role);
      const seen = await way.seen(askAs(role), cells, role);
      const wrong = cells.flatMap((cell) =>
        seen.has(cell.id) === way.model(role, cell)
          ? []
          : [`${cell.own ? 'own' : "a stranger's"} ${cell.state}: ${seen.has(cell.id) ? 'seen' : 'not seen'}`],
      );
      expect(wrong).toEqual([]);
    },
  );

  /** All routes of the other namespaces that return records, with searches for the hidden texts. */
  const BESIDE = KINDS.flatMap((kind) => {
    const core = `/wp-json/wp/v2/${kind.type}`;
    const tec = `/wp-json/tec/v1${kind.path}`;
    const states = ['', ...['publish', 'draft', 'pending', 'private', 'future', 'trash', 'any'].map((status) => `&status=${status}`)];
    const lists = [core, tec].flatMap((path) => states.map((status) => `${path}?per_page=100&search=markedtitle${status}`));
    return [
      ...lists,
      ...lists.map((path) => `${path}&_embed=1`),
      `${tec}?per_page=100&include=${cellsOf(kind, 'nobody').map(({ id }) => id)}`,
    ];
  });
  it.each(ROLES)('hides all records from %s that the role may not see on routes beside the calendar’s', async (role) => {
    const cells = KINDS.flatMap((kind) => cellsOf(kind, role).map((cell) => ({ ...cell, kind })));
    const everybodys = new Map(
      KINDS.flatMap((kind) =>
        OWNERS.flatMap((owner) => STATES.map((state) => ({ kind, id: idOf(kind, owner, state), state, own: owner === IDS[role] }))),
      ).map((cell) => [cell.id, cell]),
    );
    const singles = cells.flatMap(({ id, kind }) => [`/wp-json/wp/v2/${kind.type}/${id}`, `/wp-json/tec/v1${kind.path}/${id}`]);
    const told: string[] = [];
    let answered = 0;
    for (const path of [...BESIDE, ...singles, `/wp-json/wp/v2/tribe_events/${SHOWS}?_embed=1`, `/wp-json/tec/v1/events/${SHOWS}`]) {
      const { headers = {}, ...as } = signed(role);
      const { status, text } = await running.send('GET', path, { ...as, headers: { ...headers, 'X-TEC-EEA': 'yes' } });
      if (status === 200) answered += 1;
      for (const [, name, content, excerpt] of text.matchAll(/Record (\d+) |content-(\d+)\.|excerpt-(\d+)\./g)) {
        const cell = everybodys.get(Number(name ?? content ?? excerpt))!;
        if (!reads(role, cell) || (name === undefined && !open(cell)))
          told.push(`${path}: ${name ? 'name' : 'text'} of ${cell.kind.name} ${cell.id}, ${cell.state}`);
      }
    }
    expect(told).toEqual([]);
    expect(answered).toBeGreaterThan(30);
  });

  /** The rows of a type with the columns that decide who may edit them. */
  const ownedRows = async (type: string, role: Role) => {
    const was = new Map(
      (await db.from('postmeta').where('meta_key', '_wp_trash_meta_status')).map((row) => [row.post_id, String(row.meta_value)]),
    );
    const rows = await db.from('posts').where('post_type', type).orderBy('ID');
    return rows.map(({ ID, post_author, post_status }) => ({
      id: ID,
      own: post_author === IDS[role],
      status: post_status,
      was: was.get(ID) ?? '',
    }));
  };

  it.each(EDIT_LISTS.flatMap((path) => ROLES.map((role) => [path, role] as const)))(
    'in %s for editing covers the records that %s may edit, and only these are counted',
    async (path, role) => {
      const edited = EDITED[path.slice(path.lastIndexOf('/') + 1)]!;
      if (edited.type === undefined) {
        const { status } = await running.send('GET', `${path}?context=edit`, signed(role));
        expect(status).toBe(edited.mayAsk(role) ? 200 : role === 'nobody' ? 401 : 403);
        return;
      }
      const rows = await ownedRows(edited.type, role);
      for (const status of new Set(rows.map((row) => row.status))) {
        const among = rows.filter((row) => row.status === status);
        // Past events are listed if their ids are given.
        const query = `?context=edit&status=${status}&orderby=id&order=asc&per_page=100&include=${among.map(({ id }) => id)}`;
        const { status: answer, headers, body } = await running.send('GET', path + query, signed(role));
        const mine = among.filter((row) => edited.may(role, row)).map(({ id }) => id);
        expect({ query, answer, listed: body.map?.(({ id }: Json) => id), total: headers['x-wp-total'] }).toEqual(
          edited.mayAsk(role)
            ? { query, answer: 200, listed: mine.slice(0, 100), total: String(mine.length) }
            : { query, answer: expect.any(Number), listed: undefined, total: undefined },
        );
      }
    },
  );

  it('is tested for every way, state, role and owner', () => {
    const cells = WAYS.flatMap((way) => ROLES.flatMap((role) => cellsOf(way.kind, role)));
    expect(cells).toHaveLength(WAYS.length * ((ROLES.length - 1) * 16 + 8));
    expect(WAYS.length).toBeGreaterThan(45);
  });
});
