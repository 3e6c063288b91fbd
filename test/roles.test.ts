import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Database } from '../src/storage/engine/database.ts';
import { describeDatabases } from './support/databases.ts';
import { insertAll } from './support/insert-all.ts';
import { type Answer, type RunningSite, serveDatabase } from './support/running-site.ts';
import { loadSite, resetSite } from './support/site.ts';
import { type Json, ROOT, SUITE_TIME } from './support/site-client.ts';

/*
 * Rights to write: role × owner × state × verb, by id and by slug, against a small model of WordPress's capabilities
 * that shares no code with the service.
 */

const ROLES = ['nobody', 'sub', 'contrib', 'auth', 'ed', 'admin'] as const;
type Role = (typeof ROLES)[number];
const IDS: Readonly<Record<Role, number>> = { nobody: 0, admin: 1, ed: 2, auth: 3, contrib: 4, sub: 5 };
/** Author of the records that belong to another user: a deleted account. */
const STRANGER = 999;

const STATES = ['publish', 'draft', 'pending', 'private', 'future', 'protected', 'trashed when published', 'trashed as draft'] as const;
type State = (typeof STATES)[number];

const KINDS = [
  {
    path: '/events',
    type: 'tribe_events',
    first: 1000,
    body: { title: 'New', start_date: '2027-01-01 10:00', end_date: '2027-01-01 11:00' },
  },
  { path: '/venues', type: 'tribe_venue', first: 2000, body: { venue: 'New' } },
  { path: '/organizers', type: 'tribe_organizer', first: 3000, body: { organizer: 'New' } },
] as const;
type Kind = (typeof KINDS)[number];

interface Cell {
  readonly id: number;
  readonly state: State;
  readonly own: boolean;
}
const cellsOf = (kind: Kind, role: Role): Cell[] =>
  STATES.flatMap((state, index) => [
    { id: kind.first + index, state, own: false },
    ...(role === 'nobody' ? [] : [{ id: kind.first + 100 + index, state, own: true }]),
  ]);

// ------------------------------------------------------------------------------------------------- the model
/** The capability `edit_posts`. */
const editsPosts = (role: Role) => !['nobody', 'sub'].includes(role);
const writes = (role: Role) => ['contrib', 'auth', 'ed', 'admin'].includes(role);
const writesPublished = (role: Role) => ['auth', 'ed', 'admin'].includes(role);
const writesOthers = (role: Role) => ['ed', 'admin'].includes(role);
const publishes = writesPublished;
const uploads = writesPublished;
const isTrash = (state: State) => state.startsWith('trashed');
const wasPublished = (state: State) => ['publish', 'future', 'protected', 'trashed when published'].includes(state);
/** Editing and deleting follow the same rule: the roles' capabilities for both are the same. */
const may = (role: Role, { state, own }: Cell) => (own ? (wasPublished(state) ? writesPublished(role) : writes(role)) : writesOthers(role));
const refusal = (role: Role) => (role === 'nobody' ? 401 : 403);
const statusOf = (state: State) => (state === 'protected' ? 'publish' : isTrash(state) ? 'trash' : state);
/** The status that results from a requested one. `dated`: the record has a date in the future. */
const settled = (role: Role, status: string, dated = false) => {
  if (!publishes(role) && ['publish', 'future', 'private'].includes(status)) return 'pending';
  if (status === 'future' || status === 'publish') return dated ? 'future' : 'publish';
  return status;
};

interface Verb {
  readonly name: string;
  readonly method: string;
  readonly bySlug?: true;
  readonly body?: object;
  /** Expected status of the answer and of the record, if the caller has the right. */
  readonly outcome: (role: Role, cell: Cell) => readonly [number, string];
}
const changing = (name: string, method: string, more: Partial<Verb> = {}): Verb => ({
  name,
  method,
  body: { description: 'Changed' },
  outcome: (_role, { state }) => [200, statusOf(state)],
  ...more,
});
const removing = (name: string, more: Partial<Verb> = {}): Verb => ({
  name,
  method: 'DELETE',
  outcome: (_role, { state }) => [isTrash(state) ? 410 : 200, 'trash'],
  ...more,
});
const setting = (status: string): Verb => ({
  name: `setting ${status}`,
  method: 'PATCH',
  body: { status },
  // A scheduled record that is published gets the current date; one whose status stays keeps its date.
  outcome: (role, { state }) => [
    200,
    statusOf(state) === status ? status : settled(role, status, state === 'future' && status === 'future'),
  ],
});
const VERBS: readonly Verb[] = [
  changing('changing by POST', 'POST'),
  changing('changing by PUT', 'PUT'),
  changing('changing by PATCH', 'PATCH'),
  changing('changing by slug', 'PATCH', { bySlug: true }),
  removing('removing'),
  removing('removing by slug', { bySlug: true }),
  setting('trash'),
  setting('publish'),
  setting('pending'),
  setting('draft'),
  setting('private'),
];

// ------------------------------------------------------------------------------------------------- the records
const slugOf = ({ id, state }: Cell) => `record-${id}${isTrash(state) ? '__trashed' : ''}`;

async function addRecords(db: Database, role: Role, kind: Kind): Promise<void> {
  const model = (await db.from('posts').where('ID', 38).first())!;
  const dates = await db.from('postmeta').where('post_id', 38).where('meta_key', 'like', '\\_Event%Date%');
  const posts: object[] = [];
  const metas: object[] = [];
  for (const cell of cellsOf(kind, role)) {
    const { id, state, own } = cell;
    posts.push({
      ...model,
      ID: id,
      post_type: kind.type,
      post_author: own ? IDS[role] : STRANGER,
      post_title: `Record ${id}`,
      post_name: slugOf(cell),
      post_status: statusOf(state),
      post_password: state === 'protected' ? 'sesame' : '',
      guid: `http://127.0.0.1:8081/?p=${id}`,
      ...(state === 'future' ? { post_date: '2036-01-01 10:00:00', post_date_gmt: '2036-01-01 09:00:00' } : {}),
    });
    if (isTrash(state))
      metas.push({ post_id: id, meta_key: '_wp_trash_meta_status', meta_value: state === 'trashed as draft' ? 'draft' : 'publish' });
    if (kind.path === '/events') for (const { meta_key, meta_value } of dates) metas.push({ post_id: id, meta_key, meta_value });
  }
  await insertAll(db, 'posts', posts, 40);
  await insertAll(db, 'postmeta', metas, 200);
  await db.from('fasti_changes').increment('counter');
}

/** Deletes all posts except those of the sample site, which is faster than resetting the site. */
async function removeRecords(db: Database): Promise<void> {
  const last = 92;
  await db.from('posts').where('ID', '>', last).delete();
  for (const table of ['postmeta', 'tec_events', 'tec_occurrences'] as const) await db.from(table).where('post_id', '>', last).delete();
}

describeDatabases('rights to write', (open) => {
  let db: Database;
  let running: RunningSite;
  beforeAll(async () => {
    db = await loadSite(await open());
    running = await serveDatabase(db, { clock: () => new Date(SUITE_TIME) });
  });
  afterAll(() => running.close());

  const send = (role: Role, method: string, path: string, body: object | null = null) =>
    running.send(method, ROOT + path, { body, ...(role === 'nobody' ? {} : { as: role }) });
  /** All rows of each of these records, as text, and its status. */
  const rowsOf = async (cells: readonly Cell[]) => {
    const ids = cells.map(({ id }) => id);
    const posts: Json[] = await db.from('posts').whereIn('ID', ids).orWhereIn('post_parent', ids).orderBy('ID');
    const metas: Json[] = await db.from('postmeta').whereIn('post_id', ids).orderBy('meta_id');
    return cells.map(({ id }) => ({
      is: posts.find(({ ID }) => ID === id)?.post_status,
      rows: JSON.stringify([
        posts.filter(({ ID, post_parent }) => ID === id || post_parent === id),
        metas.filter(({ post_id }) => post_id === id),
      ]),
    }));
  };

  it.each(KINDS.flatMap((kind) => VERBS.flatMap((verb) => ROLES.map((role) => [kind.path, verb.name, role, kind, verb] as const))))(
    'follow the model on %s, %s: %s',
    async (_path, _name, role, kind, verb) => {
      await removeRecords(db);
      await addRecords(db, role, kind);
      const cells = cellsOf(kind, role);
      const before = await rowsOf(cells);
      const answers: Answer[] = [];
      for (const cell of cells) {
        const path = `${kind.path}/${verb.bySlug ? `by-slug/${slugOf(cell)}` : cell.id}`;
        answers.push(await send(role, verb.method, path, verb.body ?? null));
      }
      const after = await rowsOf(cells);
      const wrong = cells.flatMap((cell, at) => {
        const { status, body } = answers[at]!;
        const [answer, becomes] = may(role, cell) ? verb.outcome(role, cell) : [refusal(role), statusOf(cell.state)];
        const { is, rows } = after[at]!;
        const untouched = status < 400 || rows === before[at]!.rows;
        const code = status === 401 || status === 403 ? body.code : 'rest_forbidden';
        if (status === answer && is === becomes && untouched && code === 'rest_forbidden') return [];
        return [{ ...cell, answer: `${status} instead of ${answer}`, record: `${is} instead of ${becomes}`, untouched, code }];
      });
      expect(wrong).toEqual([]);
    },
  );

  it.each(KINDS.flatMap((kind) => ROLES.map((role) => [kind.path, role, kind] as const)))(
    'follow the model on %s, creating: %s',
    async (path, role, { body }) => {
      await removeRecords(db);
      const wrong: object[] = [];
      for (const [index, status] of [undefined, 'publish', 'future', 'draft', 'pending', 'private', 'trash'].entries()) {
        for (const dated of [false, true]) {
          const name = { [Object.keys(body)[0]!]: `New ${index} ${dated}` };
          const answer = await send(role, 'POST', path, {
            ...body,
            ...name,
            ...(status ? { status } : {}),
            ...(dated ? { date: '2036-01-01' } : {}),
          });
          const expected = writes(role)
            ? [201, settled(role, status ?? (publishes(role) ? 'publish' : 'draft'), dated)]
            : [refusal(role), undefined];
          const author = writes(role) ? String(IDS[role]) : undefined;
          if (answer.status !== expected[0] || answer.body.status !== expected[1] || answer.body.author !== author)
            wrong.push({ status, dated, expected, got: [answer.status, answer.body.status, answer.body.author] });
        }
      }
      expect(wrong).toEqual([]);
    },
  );

  it.each(KINDS.flatMap((kind) => ROLES.map((role) => [kind.path, role, kind] as const)))(
    'are told in the Allow header of %s: %s',
    async (path, role, kind) => {
      await removeRecords(db);
      await addRecords(db, role, kind);
      const wrong: object[] = [];
      for (const cell of cellsOf(kind, role)) {
        for (const place of [`${cell.id}`, `by-slug/${slugOf(cell)}`]) {
          const { headers } = await send(role, 'GET', `${path}/${place}`);
          const expected = may(role, cell) ? 'GET, DELETE, POST, PUT, PATCH' : 'GET';
          if (headers.allow !== expected) wrong.push({ ...cell, place, allow: headers.allow, expected });
        }
      }
      expect(wrong).toEqual([]);
      expect((await send(role, 'GET', path)).headers.allow).toBe(writes(role) ? 'GET, POST' : 'GET');
    },
  );

  it.each(
    [
      ['/categories', 5, publishes],
      ['/tags', 12, writesOthers],
    ].flatMap(([path, id, manages]) => ROLES.map((role) => [path, role, id, manages] as [string, Role, number, (role: Role) => boolean])),
  )('follow the model on %s, creating, changing and deleting terms: %s', async (path, role, id, manages) => {
    await resetSite(db);
    const count = async () => (await db.from('terms').select('term_id')).length;
    const before = await count();
    const created = await send(role, 'POST', path, { name: 'New term' });
    const changed = await Promise.all(
      ['POST', 'PUT', 'PATCH'].map((method) => send(role, method, `${path}/${id}`, { description: 'Changed' })),
    );
    const deleted = await send(role, 'DELETE', `${path}/${id}`);
    const answers = [created, ...changed, deleted].map(({ status }) => status);
    expect(answers).toEqual(manages(role) ? [201, 200, 200, 200, 200] : Array(5).fill(refusal(role)));
    expect(await count()).toBe(before);
    expect((await send(role, 'GET', path)).headers.allow).toBe(manages(role) ? 'GET, POST' : 'GET');
    expect((await db.from('term_taxonomy').where('term_id', id)).length).toBe(manages(role) ? 0 : 1);
  });

  it.each(
    [
      { name: 'categories', core: 'tribe_events_cat', manages: publishes, makesInCore: publishes },
      { name: 'tags', core: 'tags', manages: writesOthers, makesInCore: editsPosts },
    ].flatMap((terms) => ROLES.map((role) => ({ ...terms, role }))),
  )('allow new $name by one rule on the calendar’s routes and by WordPress’s on wp/v2: $role', async (terms) => {
    const { name, role, core, manages, makesInCore } = terms;
    await resetSite(db);
    const header = { headers: { 'X-TEC-EEA': 'yes' }, ...(role === 'nobody' ? {} : { as: role }) };
    const made = async (path: string, body: object) => (await running.send('POST', path, { ...header, body })).status;
    const ways = [
      await made(`${ROOT}/${name}`, { name: 'One' }),
      await made(`/wp-json/wp/v2/${core}`, { name: 'Two' }),
      await made(`${ROOT}/events`, { ...KINDS[0].body, [name]: ['Three'] }),
    ];
    expect(ways).toEqual([manages, makesInCore, manages].map((makes) => (makes(role) ? 201 : refusal(role))));
  });

  it.each(['sticky', 'featured'].flatMap((flag) => ROLES.map((role) => [flag, role] as const)))(
    "allow %s events only if the user's events appear without review: %s",
    async (flag, role) => {
      await removeRecords(db);
      await addRecords(db, role, KINDS[0]);
      const writable = cellsOf(KINDS[0], role).filter((cell) => cell.own && may(role, cell) && !isTrash(cell.state));
      const header = { headers: { 'X-TEC-EEA': 'yes' }, ...(role === 'nobody' ? {} : { as: role }) };
      const stored = async (id: number) =>
        flag === 'sticky'
          ? (await db.from('posts').where('ID', id).first('menu_order'))?.menu_order === -1
          : (await db.from('postmeta').where({ post_id: id, meta_key: '_tribe_featured' })).length > 0;
      const allowed = publishes(role) || writesOthers(role);
      const refused = { status: refusal(role), stored: false };
      for (const { id } of writable) {
        const change = async (value: boolean, path = `${ROOT}/events/${id}`) => ({
          status: (await running.send('PUT', path, { ...header, body: { [flag]: value } })).status,
          stored: await stored(id),
        });
        expect(await change(true)).toEqual(allowed ? { status: 200, stored: true } : refused);
        expect(await change(false)).toEqual({ status: 200, stored: false });
        expect(await change(true, `/wp-json/tec/v1/events/${id}`)).toEqual(allowed ? { status: 200, stored: true } : refused);
        // A value that an editor has set may be sent back, and removed.
        if (flag === 'sticky') await db.from('posts').where('ID', id).update({ menu_order: -1 });
        else if (!(await stored(id))) await db.from('postmeta').insert({ post_id: id, meta_key: '_tribe_featured', meta_value: '1' });
        expect(await change(true)).toEqual({ status: 200, stored: true });
        expect(await change(false)).toEqual({ status: 200, stored: false });
      }
      const create = async (value: boolean) => (await send(role, 'POST', '/events', { ...KINDS[0].body, [flag]: value })).status;
      expect([await create(true), await create(false)]).toEqual([allowed ? 201 : refusal(role), writes(role) ? 201 : refusal(role)]);
    },
  );

  it.each(KINDS.flatMap((kind) => ROLES.map((role) => [kind.path, role, kind] as const)))(
    'allow on %s an image of the library by its id, and by its URL to those who may upload: %s',
    async (path, role, { body }) => {
      await resetSite(db);
      const create = async (image: string) => {
        const answer = await send(role, 'POST', path, { ...body, image });
        return [answer.status, answer.body.image?.id ?? answer.body.code];
      };
      expect(await create('10')).toEqual(writes(role) ? [201, 10] : [refusal(role), 'rest_forbidden']);
      expect(await create('http://127.0.0.1:8081/wp-content/uploads/2026/11/tiny.png')).toEqual(
        uploads(role) ? [201, 10] : [400, 'rest_invalid_param'],
      );
    },
  );

  it('do not include an image attached only to records of others, unless the record already shows it', async () => {
    await resetSite(db);
    await db.from('posts').where('ID', 10).update({ post_parent: 84 });
    await db.from('posts').where('ID', 11).update({ post_parent: 82 });
    await db.from('postmeta').where('meta_key', '_thumbnail_id').delete();
    await db.from('postmeta').insert({ post_id: 80, meta_key: '_thumbnail_id', meta_value: '11' });
    await db.from('fasti_changes').increment('counter');
    const change = async (role: Role, path: string, body: object) => (await running.send('PATCH', path, { as: role, body })).status;
    expect(await change('contrib', `${ROOT}/events/80`, { image: 10 })).toBe(400);
    expect(await change('contrib', '/wp-json/wp/v2/tribe_events/80', { featured_media: 10 })).toBe(400);
    expect(await change('contrib', `${ROOT}/events/80`, { image: 11 })).toBe(200);
    expect(await change('ed', `${ROOT}/events/80`, { image: 10 })).toBe(200);
    expect(await change('contrib', `${ROOT}/events/80`, { image: 10 })).toBe(200);
  });

  it('come from the capabilities in the database, not from a fixed list', async () => {
    await resetSite(db);
    const grant = (user_id: number, meta_value: string) =>
      db.from('usermeta').where({ user_id, meta_key: 'wp_capabilities' }).update({ meta_value });
    await grant(5, 'a:2:{s:10:"subscriber";b:1;s:17:"edit_tribe_venues";b:1;}');
    expect((await send('sub', 'POST', '/venues', { venue: 'Granted' })).status).toBe(201);
    expect((await send('sub', 'POST', '/organizers', { organizer: 'Not granted' })).status).toBe(403);
    await grant(2, 'a:2:{s:6:"editor";b:1;s:24:"edit_others_tribe_events";b:0;}');
    expect((await send('ed', 'PATCH', '/events/38', { excerpt: 'x' })).status).toBe(403);
    expect((await send('ed', 'PATCH', '/events/78', { excerpt: 'x' })).status).toBe(200);
    await grant(4, 'a:1:{s:13:"administrator";b:1;}');
    expect((await send('contrib', 'PATCH', '/events/38', { excerpt: 'x' })).status).toBe(200);
    await grant(4, 'a:0:{}');
    expect((await send('contrib', 'POST', '/events', { ...KINDS[0].body })).status).toBe(403);
  });
});
