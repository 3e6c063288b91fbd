import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Cluster } from '../src/storage/engine/cluster.ts';
import { pruneJournal } from '../src/storage/journal/entries.ts';
import { describeRequests, expectBody, expectError, type Json, type UserName } from './support/site-client.ts';

/* A client that follows the tokens ends up with the same records as a full reading. */

const DATES = { start_date: '2026-12-10 18:00:00', end_date: '2026-12-10 20:00:00' };
const CREATE = {
  events: (name: string) => ({ title: name, ...DATES }),
  venues: (name: string) => ({ venue: name }),
  organizers: (name: string) => ({ organizer: name }),
  categories: (name: string) => ({ name }),
  tags: (name: string) => ({ name }),
};
type Path = keyof typeof CREATE;
const PATHS = Object.keys(CREATE) as Path[];
const NAMES = { events: 'title', venues: 'venue', organizers: 'organizer', categories: 'name', tags: 'name' } as const;

/** State of a client: the name and status of each record. */
type Known = Map<string, string>;

describeRequests('changes', (ask) => {
  const changes = async (query: string, as?: UserName): Promise<Json> => ask.read(`/changes?${query}`, as);
  const told = (body: Json): string[] => body.changes.map((one: Json) => `${one.change} ${one.kind} ${one.id}`);

  /** Follows the tokens from the given one until no changes are left. Returns the last token. */
  async function follow(
    known: Known,
    since: string | undefined,
    { as, limit = 7 }: { as?: UserName; limit?: number } = {},
  ): Promise<string> {
    let token = since;
    for (;;) {
      const body = await changes(`include=records&limit=${limit}${token === undefined ? '' : `&since=${token}`}`, as);
      for (const { kind, id, change, record } of body.changes as Json[]) {
        if (change === 'removed') known.delete(`${kind} ${id}`);
        else known.set(`${kind} ${id}`, `${record.title ?? record.venue ?? record.organizer ?? record.name} ${record.status ?? ''}`);
      }
      token = String(body.next);
      if (!body.more) return token;
    }
  }
  const whole = async (as?: UserName): Promise<Known> => {
    const known: Known = new Map();
    await follow(known, undefined, { limit: 500, ...(as ? { as } : {}) });
    return known;
  };
  const sorted = (known: Known) => [...known].sort();

  /** Runs `work` while the database behaves like a cluster with the given properties. */
  async function withCluster(behaviour: Partial<Cluster>, work: () => Promise<void>): Promise<void> {
    const { db } = ask.running().site;
    const { cluster } = db;
    Object.assign(db, { cluster: { ...cluster, ...behaviour } });
    try {
      await work();
    } finally {
      Object.assign(db, { cluster });
    }
  }

  it('begin with all records that the caller may see', async () => {
    const known = await whole();
    const events = await ask.read('/events?start_date=2000-01-01&end_date=2100-01-01&per_page=50');
    for (const { id } of events.events) expect(known.has(`event ${id}`)).toBe(true);
    const drafts = await ask.db().from('posts').where({ post_type: 'tribe_events', post_status: 'draft' }).select('ID');
    expect(drafts.length).toBeGreaterThan(0);
    for (const { ID } of drafts) {
      expect(known.has(`event ${ID}`)).toBe(false);
      expect((await whole('admin')).has(`event ${ID}`)).toBe(true);
    }
  });

  it('list each created, changed and removed record once', async () => {
    const since = await follow(new Map(), undefined);
    expect(told(await changes(`since=${since}`))).toEqual([]);
    const { id } = await ask.create('/events', CREATE.events('New'));
    await ask.update('/events/38', { title: 'Renamed' });
    await ask.update('/events/38', { title: 'Renamed again' });
    expectBody(await ask.del('/venues/12'));
    const all = told(await changes(`since=${since}`));
    expect(all).toContain(`created event ${id}`);
    expect(all.filter((one) => one.endsWith('event 38'))).toEqual(['updated event 38']);
    expect(all).toContain('removed venue 12');
  });

  it('list a record as removed if a batch first removes something that it refers to', async () => {
    const remove = (path: string) => ({ method: 'DELETE', path });
    const orders = [
      ['categories', 'wp/v2/tribe_events'],
      ['venues', 'calendar/events/v1/events'],
    ] as const;
    for (const [path, events] of orders) {
      const other = await ask.create(`/${path}`, CREATE[path](`Goes with ${path}`));
      const reference = path === 'venues' ? { venue: other.id } : { categories: [other.id] };
      const { id } = await ask.create('/events', { ...CREATE.events(`Goes after ${path}`), ...reference });
      const since = await follow(new Map(), undefined);
      const requests = [remove(`/calendar/events/v1/${path}/${other.id}`), remove(`/${events}/${id}?force=true`)];
      const { body } = await ask.send('POST', '/wp-json/batch/v1', { body: { requests }, as: 'admin' });
      expect(body.responses.map(({ status }: Json) => status)).toEqual([200, 200]);
      expect(told(await changes(`since=${since}`))).toContain(`removed event ${id}`);
    }
  });

  it('list the child categories of a category whose address changes', async () => {
    // Category 2 is the parent of 3 and 9, and 3 is the parent of 4.
    const writes: [() => Promise<unknown>, readonly string[]][] = [
      [() => ask.update('/categories/2', { slug: 'other' }), [2, 3, 4, 9].map((id) => `updated category ${id}`)],
      [() => ask.update('/categories/3', { parent: 0 }), ['updated category 3', 'updated category 4']],
      [() => ask.update('/categories/3', { parent: 2 }), ['updated category 3', 'updated category 4']],
      [() => ask.update('/categories/3', { name: 'Renamed', parent: 2 }), ['updated category 3']],
      [() => ask.del('/categories/2'), ['removed category 2', ...[3, 4, 9].map((id) => `updated category ${id}`)]],
    ];
    for (const [write, due] of writes) {
      const since = await follow(new Map(), undefined);
      await write();
      const named = told(await changes(`since=${since}`)).filter((one) => one.includes('category'));
      expect(named.sort()).toEqual(due);
    }
  });

  it('do not list records that the caller could not see', async () => {
    const since = await follow(new Map(), undefined);
    const full = await follow(new Map(), undefined, { as: 'admin' });
    const draft = await ask.create('/events', { ...CREATE.events('Draft'), status: 'draft', categories: [4], tags: [11] });
    await ask.update(`/events/${draft.id}`, { title: 'Still a draft' });
    expectBody(await ask.del(`/events/${draft.id}`));
    const hidden = await ask.create('/venues', { venue: 'Private', status: 'private' });
    expect(told(await changes(`since=${since}`))).toEqual([]);
    expect(told(await changes(`since=${full}`, 'admin'))).toEqual(expect.arrayContaining([`created venue ${hidden.id}`]));
    // The removal of a record is listed for everybody who saw it.
    await ask.update('/events/38', { status: 'draft' });
    expect(told(await changes(`since=${since}`)).filter((one) => one.includes('event'))).toEqual(['removed event 38']);
    expect(told(await changes(`since=${full}`, 'admin'))).toContain('updated event 38');
  });

  it('come with a token that is valid for one site, one set of kinds and one set of rights', async () => {
    const since = await follow(new Map(), undefined);
    expectError(await ask.get(`/changes?since=${since}`, 'admin'), 410, 'rest_changes_token_expired');
    expectError(await ask.get(`/changes?since=${since}&kinds=event`), 410, 'rest_changes_token_expired');
    expectError(await ask.get(`/changes?since=${since}x`), 400, 'rest_invalid_param', ['since']);
    expectError(await ask.get('/changes?since=a.b.c'), 400, 'rest_invalid_param', ['since']);
    expectError(await ask.get('/changes?kinds=page'), 400, 'rest_invalid_param', ['kinds']);
  });

  it('begin again from the start when a setting that records show has changed, and only then', async () => {
    const since = await follow(new Map(), undefined);
    await ask.options({ posts_per_page: '7', blogname: 'Another name' });
    expect(told(await changes(`since=${since}&limit=8`))).toEqual([]);
    for (const set of [{ eventsSlug: 'programme' }, { singleEventSlug: 'happening' }, { defaultCurrencySymbol: '¤' }]) {
      const token = await follow(new Map(), undefined);
      await ask.options({ tribe_events_calendar_options: set });
      expectError(await ask.get(`/changes?since=${token}&limit=9`), 410, 'rest_changes_token_expired');
    }
  });

  it('wait for a server that is behind the one that gave the token, and expire only on one that is complete', async () => {
    const token = await follow(new Map(), undefined);
    // Each request differs from the others, so that none is answered from the cache.
    const { counter } = (await ask.db().from('fasti_changes').first('counter'))!;
    const countTo = (number: number) => ask.db().from('fasti_changes').update({ counter: number });
    await countTo(Number(counter) - 1);
    await withCluster({ catchUp: async () => false }, async () => {
      const refused = await ask.get(`/changes?since=${token}&limit=8`);
      expectError(refused, 503, 'rest_database_unavailable');
      expect(refused.headers['retry-after']).toBe('2');
    });
    await withCluster({ catchUp: async () => (await countTo(Number(counter))) === 1 }, async () =>
      expect(told(await changes(`since=${token}&limit=9`))).toEqual([]),
    );
    await countTo(Number(counter) - 1);
    await withCluster({ catchUp: async () => true }, async () =>
      expectError(await ask.get(`/changes?since=${token}`), 410, 'rest_changes_token_expired'),
    );
    await countTo(Number(counter));
  });

  it('are read again if another server has answered part of the queries', async () => {
    const token = await follow(new Map(), undefined);
    const made = await ask.create('/venues', CREATE.venues('In parts'));
    // Each of the first queries comes from another server than the one before it.
    const changing = (times: number) => {
      let asked = 0;
      return { era: () => Math.min(asked++, times) };
    };
    await withCluster(changing(3), async () => expect(told(await changes(`since=${token}`))).toEqual([`created venue ${made.id}`]));
    await withCluster(changing(Number.POSITIVE_INFINITY), async () =>
      expectError(await ask.get(`/changes?since=${token}&limit=8`), 503, 'rest_database_unavailable'),
    );
  });

  it('end with 410 if the journal begins after the token', async () => {
    const since = await follow(new Map(), undefined);
    for (const title of ['A', 'B', 'C']) await ask.create('/events', CREATE.events(title));
    await pruneJournal(ask.db(), 1, new Date('2030-01-01'));
    expectError(await ask.get(`/changes?since=${since}`), 410, 'rest_changes_token_expired');
    expect((await whole()).size).toBeGreaterThan(10);
  });

  it('begin again once the database was restored to an earlier state, even if its counters have caught up', async () => {
    const db = ask.db();
    const counter = async () => Number((await db.from('fasti_changes').first())?.counter);
    const before = await counter();
    for (const name of ['A', 'B', 'C']) await ask.create('/tags', CREATE.tags(`Lost ${name}`));
    const [followed, begun] = [await follow(new Map(), undefined), (await changes('limit=7')).next];
    expect(told(await changes(`since=${followed}`))).toEqual([]);
    await db.from('fasti_journal').where('number', '>', before).delete();
    await db.from('fasti_changes').update({ counter: before });
    expectError(await ask.get(`/changes?since=${followed}`), 410, 'rest_changes_token_expired');
    // Records that were read from the lost state may no longer exist.
    expectError(await ask.get(`/changes?since=${begun}&limit=7`), 410, 'rest_changes_token_expired');
    for (const name of ['D', 'E', 'F', 'G']) await ask.create('/tags', CREATE.tags(`New ${name}`));
    for (const since of [followed, begun]) {
      let token = since;
      let answer = await ask.get(`/changes?since=${token}&limit=500`);
      for (; answer.status === 200 && answer.body.more; answer = await ask.get(`/changes?since=${token}&limit=500`))
        token = answer.body.next;
      expectError(answer, 410, 'rest_changes_token_expired');
    }
    expect((await whole()).size).toBeGreaterThan(10);
  });

  it('begin again if the secret of the site is a new one, as after a dump from before Fasti was restored', async () => {
    for (const since of [await follow(new Map(), undefined), (await changes('limit=7')).next]) {
      await ask.options({ fasti_version_key: `new ${since}` });
      expectError(await ask.get(`/changes?since=${since}`), 410, 'rest_changes_token_expired');
      expectError(await ask.get(`/changes?since=${since.replace('.', '..')}`), 400, 'rest_invalid_param', ['since']);
    }
    expect((await whole()).size).toBeGreaterThan(10);
  });

  it('are complete for any order of reads and writes', async () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('create' as const), path: fc.constantFrom(...PATHS), draft: fc.boolean() }),
      fc.record({ do: fc.constantFrom('rename' as const, 'delete' as const, 'hide' as const, 'show' as const), at: fc.nat() }),
      fc.record({ do: fc.constant('read' as const), limit: fc.integer({ min: 1, max: 9 }) }),
    );
    const readers = [undefined, 'admin', 'sub', 'auth'] as const;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 14 }), async (steps) => {
        const made: { path: Path; id: number }[] = [];
        const clients = readers.map((as) => ({ as, known: new Map() as Known, token: undefined as string | undefined }));
        /** Reads one answer for each client, so that writes occur between the parts of a full reading. */
        const read = async (limit: number) => {
          for (const client of clients) {
            const since = client.token === undefined ? '' : `&since=${client.token}`;
            const body = await changes(`include=records&limit=${limit}${since}`, client.as);
            for (const { kind, id, change, record } of body.changes as Json[]) {
              if (change === 'removed') client.known.delete(`${kind} ${id}`);
              else
                client.known.set(
                  `${kind} ${id}`,
                  `${record.title ?? record.venue ?? record.organizer ?? record.name} ${record.status ?? ''}`,
                );
            }
            client.token = String(body.next);
          }
        };
        for (const [number, one] of steps.entries()) {
          if (one.do === 'read') await read(one.limit);
          else if (one.do === 'create') {
            const isTerm = one.path === 'categories' || one.path === 'tags';
            const body = { ...CREATE[one.path](`N ${number} ${Math.random()}`), ...(one.draft && !isTerm ? { status: 'draft' } : {}) };
            const answer = await ask.post(`/${one.path}`, body);
            const id = answer.body.id ?? Number(/\d+$/.exec(String(answer.headers.location))?.[0]);
            made.push({ path: one.path, id });
          } else if (made.length > 0) {
            const { path, id } = made[one.at % made.length]!;
            if (one.do === 'delete') await ask.del(`/${path}/${id}`);
            else if (one.do === 'rename') await ask.post(`/${path}/${id}`, { [NAMES[path]]: `R ${number} ${Math.random()}` });
            else if (path !== 'categories' && path !== 'tags')
              await ask.post(`/${path}/${id}`, { status: one.do === 'hide' ? 'draft' : 'publish' });
          }
        }
        for (const { as, known, token } of clients) {
          await follow(known, token, as ? { as } : {});
          expect(sorted(known)).toEqual(sorted(await whole(as)));
        }
      }),
      { numRuns: 8 },
    );
  });
});
