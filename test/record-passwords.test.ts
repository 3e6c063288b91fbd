import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { attemptsOf, purposeOf } from '../src/accounts/attempts.ts';
import { BLOG_BASES } from '../src/kinds/core/blog.ts';
import { postTypes } from '../src/kinds/index.ts';
import type { Database } from '../src/storage/engine/database.ts';
import { describeDatabases } from './support/databases.ts';
import { finiteNamespaces } from './support/finite-routes.ts';
import { type RunningSite, serveDatabase } from './support/running-site.ts';
import { loadSite, resetSite } from './support/site.ts';
import { ROOT, SUITE_TIME } from './support/site-client.ts';

/*
 * Passwords of records: an opened record is shown to its caller only, and guessing is limited. Paths come from the
 * route tables.
 */

const PROTECTED = { id: 73, slug: 'password-protected', password: 'opensesame' };
const ONE = `${ROOT}/events/${PROTECTED.id}`;
/** Number of wrong passwords that an address may send, and the waiting time afterwards. */
const LIMIT = 200;
const WAIT_SECONDS = 900;

/** All paths that can be read, with the protected event as the record. */
const PATHS: readonly string[] = [
  ...[...finiteNamespaces()].flatMap(([namespace, routes]) =>
    routes
      .filter(({ endpoints }) => endpoints.some(({ methods }) => methods.includes('GET')))
      .map(({ pattern }) => `/wp-json/${namespace}${pattern}`),
  ),
  `/event/${PROTECTED.slug}/?ical=1`,
  `/event/${PROTECTED.slug}/?format=jsonld`,
  '/events/?ical=1',
  '/events/feed/',
].map((path) =>
  path
    .replaceAll(/\(\?P<(id|parent)>\\d\+\)/g, String(PROTECTED.id))
    .replace('(?P<slug>[^/]+)', PROTECTED.slug)
    .replace(/\(\?P<(type|taxonomy)>[^)]*\)/, 'tribe_events')
    .replace(/\(\?P<user_id>[^)]*\)/, '1')
    .replace(/\(\?P<uuid>[^)]*\)/, '00000000-0000-4000-8000-000000000000'),
);
const withPassword = (path: string, password: string) => `${path}${path.includes('?') ? '&' : '?'}password=${encodeURIComponent(password)}`;

describeDatabases('passwords of records', (open) => {
  let db: Database;
  let running: RunningSite;
  let now = new Date(SUITE_TIME);
  beforeAll(async () => {
    db = await loadSite(await open());
    running = await serveDatabase(db, { clock: () => now, env: { TRUST_PROXY: 'loopback' } });
  });
  afterAll(() => running.close());

  const ask = (path: string, address: string, options: { body?: object; headers?: Record<string, string> } = {}) =>
    running.send('GET', path, { ...options, headers: { 'X-TEC-EEA': 'yes', 'X-Forwarded-For': address, ...options.headers } });
  const failTimes = (address: string, times: number) => {
    for (let time = 0; time < times; time += 1) attemptsOf(running.site, 'record-password').countFailure(address, undefined, now);
  };
  let place = 0;
  const newAddress = () => `203.0.113.${++place}`;

  describe.each(PATHS.map((path) => [path]))('%s', (path) => {
    it.each([
      ['the right one', PROTECTED.password],
      ['a wrong one', 'wrong'],
    ])('is answered privately with %s', async (_which, password) => {
      const { headers } = await ask(withPassword(path, password), newAddress());
      expect(headers['cache-control']).toMatch(/no-store.*private/);
      expect([headers['surrogate-key'], headers['cache-tag'], headers.expires]).toEqual([
        undefined,
        undefined,
        'Wed, 11 Jan 1984 05:00:00 GMT',
      ]);
    });
    it('refuses an address that has guessed too often', async () => {
      const [guesser, other] = [newAddress(), newAddress()];
      failTimes(guesser, LIMIT - 1);
      expect((await ask(withPassword(path, 'wrong'), guesser)).status).not.toBe(429);
      for (const password of ['wrong', PROTECTED.password]) {
        const refused = await ask(withPassword(path, password), guesser);
        expect([refused.status, refused.headers['retry-after']]).toEqual([429, String(WAIT_SECONDS)]);
        expect(refused.body).toMatchObject({ code: 'rest_too_many_requests', data: { status: 429, retry_after: WAIT_SECONDS } });
      }
      expect((await ask(path, guesser)).status).not.toBe(429);
      expect((await ask(withPassword(path, PROTECTED.password), other)).status).not.toBe(429);
    });
  });

  it('still open the record for other addresses while one is blocked, and for that one after a while', async () => {
    const [guesser, other] = [newAddress(), newAddress()];
    const statuses: number[] = [];
    for (let guess = 0; guess < LIMIT + 20; guess += 1) statuses.push((await ask(withPassword(ONE, `guess ${guess}`), guesser)).status);
    expect(statuses).toEqual([...Array<number>(LIMIT).fill(403), ...Array<number>(20).fill(429)]);
    expect((await ask(withPassword(ONE, PROTECTED.password), other)).status).toBe(200);
    expect((await ask(withPassword(ONE, PROTECTED.password), guesser)).status).toBe(429);
    now = new Date(now.getTime() + WAIT_SECONDS * 1000);
    expect((await ask(withPassword(ONE, PROTECTED.password), guesser)).status).toBe(200);
  });

  it('are limited separately from signing in: being blocked from one does not block the other', async () => {
    const [guesser, stranger] = [newAddress(), newAddress()];
    for (let guess = 0; guess <= LIMIT; guess += 1) await ask(withPassword(ONE, `guess ${guess}`), guesser);
    expect((await ask(withPassword(ONE, PROTECTED.password), guesser)).status).toBe(429);
    const signIn = (address: string) => ask(`${ROOT}/events`, address, { headers: { Authorization: `Basic ${btoa('admin:wrong')}` } });
    expect((await signIn(guesser)).status).toBe(401);
    for (let time = 0; time <= LIMIT; time += 1) attemptsOf(running.site, 'sign-in').countFailure(stranger, `user ${time}`, now);
    expect((await signIn(stranger)).status).toBe(429);
    expect((await ask(withPassword(ONE, PROTECTED.password), stranger)).status).toBe(200);
  });

  it.each([
    ['wrong passwords of records', 'record-password', withPassword(ONE, 'wrong'), {}],
    ['wrong application passwords', 'sign-in', `${ROOT}/events`, { Authorization: `Basic ${btoa('admin:wrong')}` }],
  ] as const)('do not block an address for other requests after %s that pages of other sites sent', async (_, kind, path, headers) => {
    const address = newAddress();
    const send = async (from: Record<string, string>) => (await ask(path, address, { headers: { ...headers, ...from } })).status;
    const foreign: Record<string, string>[] = [{ 'Sec-Fetch-Site': 'cross-site' }, { Origin: 'https://evil.example' }];
    for (let time = 0; time <= LIMIT; time += 1)
      attemptsOf(running.site, kind, purposeOf({ isForeignPage: true })).countFailure(address, undefined, now);
    for (const from of foreign) expect(await send(from)).toBe(429);
    for (const from of [{}, { 'Sec-Fetch-Site': 'same-origin' }, { Origin: 'http://127.0.0.1:8081' }])
      expect([from, [401, 403].includes(await send(from))]).toEqual([from, true]);
    for (let time = 0; time <= LIMIT; time += 1) attemptsOf(running.site, kind).countFailure(address, undefined, now);
    expect(await send({})).toBe(429);
  });

  it('are limited in a request body too, and the answer is private to the caller', async () => {
    const address = newAddress();
    const opened = await ask(ONE, address, { body: { password: PROTECTED.password } });
    expect([opened.status, opened.headers['cache-control']]).toEqual([200, expect.stringMatching(/no-store.*private/)]);
    failTimes(address, LIMIT);
    expect((await ask(ONE, address, { body: { password: 'wrong' } })).status).toBe(429);
  });

  it('count as wrong only if they open nothing and a record is protected', async () => {
    const address = newAddress();
    failTimes(address, LIMIT - 1);
    for (const [path, ...right] of [
      [ONE, PROTECTED.password],
      [`${ROOT}/venues/22`, 'venuepass'],
      [`${ROOT}/events/44`, PROTECTED.password, 'venuepass'],
      [`${ROOT}/events`, PROTECTED.password, 'venuepass'],
    ] as const) {
      for (const password of [...right, '', '[]']) {
        const query = password === '[]' ? `${path}?password[]=wrong` : withPassword(path, password);
        expect({ query, status: (await ask(query, address)).status }).not.toMatchObject({ status: 429 });
      }
    }
    const later = () => {
      now = new Date(now.getTime() + 2000);
    };
    await db.from('posts').where('ID', '>', 0).update({ post_password: '' });
    await db.from('fasti_changes').increment('counter');
    later();
    for (let guess = 0; guess < 3; guess += 1) expect((await ask(withPassword(ONE, `none ${guess}`), address)).status).toBe(200);
    await resetSite(db);
    later();
    await ask(withPassword(ONE, 'wrong'), address);
    expect((await ask(withPassword(ONE, PROTECTED.password), address)).status).toBe(429);
  });

  it.each([...postTypes, ...Object.keys(BLOG_BASES)])('count as wrong if the only protected record has the type %s', async (post_type) => {
    const [guesser, owner] = [newAddress(), newAddress()];
    await db.from('posts').where('ID', '>', 0).update({ post_password: '' });
    const { ID } = (await db.from('posts').where({ post_type, post_status: 'publish' }).first('ID'))!;
    await db.from('posts').where({ ID }).update({ post_password: 'alone' });
    await db.from('fasti_changes').increment('counter');
    now = new Date(now.getTime() + 2000);
    const one = `/wp-json/wp/v2/${post_type in BLOG_BASES ? BLOG_BASES[post_type as keyof typeof BLOG_BASES] : post_type}/${ID}`;
    failTimes(guesser, LIMIT - 1);
    failTimes(owner, LIMIT - 1);
    for (const [address, password, statuses] of [
      [guesser, 'wrong', [403, 429]],
      [owner, 'alone', [200, 200]],
    ] as const)
      for (const status of statuses)
        expect([password, (await ask(withPassword(one, password), address)).status]).toEqual([password, status]);
    await resetSite(db);
    now = new Date(now.getTime() + WAIT_SECONDS * 1000);
  });

  /** Stores 260 texts as the passwords of own events; returns their ids. A batch has room for 100. */
  const ownEvents = async (user: string, values: object): Promise<number[]> => {
    const ids: number[] = [];
    for (let from = 0; from < GUESSES.length; from += 100) {
      const requests = GUESSES.slice(from, from + 100).map((password) => ({
        method: 'POST',
        path: '/wp/v2/tribe_events',
        body: { title: 'Own', password, ...values },
      }));
      const { body } = await running.send('POST', '/wp-json/batch/v1', { as: user, body: { requests } });
      ids.push(...(body.responses as { body: { id: number } }[]).map((response) => response.body.id));
    }
    now = new Date(now.getTime() + 2000);
    return ids;
  };
  const GUESSES = Array.from({ length: 260 }, (_, at) => `own ${at}`);
  /** The number of answers before the first that refuses the address. */
  const answersTo = async (paths: readonly string[]) => {
    const address = newAddress();
    for (const [at, path] of paths.entries()) if ((await ask(path, address)).status === 429) return at;
    return paths.length;
  };
  /** Different right passwords that do not count. */
  const UNCOUNTED = 20;

  it('count as wrong for a record that they do not open, even if they are passwords of own drafts', async () => {
    await ownEvents('contrib', { status: 'draft' });
    for (const path of [ONE, `/wp-json/wp/v2/tribe_events/${PROTECTED.id}`, `/event/${PROTECTED.slug}/?format=jsonld`, `${ROOT}/events`])
      expect([path, await answersTo(GUESSES.map((guess) => withPassword(path, guess)))]).toEqual([path, LIMIT]);
    await resetSite(db);
  });

  it('count as wrong from the 21st different one in lists, even if they are passwords of own published events', async () => {
    await ownEvents('auth', { status: 'publish' });
    expect(await answersTo(GUESSES.map((guess) => withPassword(`${ROOT}/events`, guess)))).toBe(LIMIT + UNCOUNTED);
    expect(await answersTo(GUESSES.map((guess) => withPassword(ONE, guess)))).toBe(LIMIT);
    const again = Array.from({ length: 300 }, (_, at) => withPassword(`${ROOT}/events`, GUESSES[at % UNCOUNTED]!));
    expect(await answersTo(again)).toBe(again.length);
    await resetSite(db);
  });

  it('count as wrong from the 21st different one, even if each opens an own event at a protected venue', async () => {
    const ids = await ownEvents('auth', { status: 'publish', meta: { _EventVenueID: ['22'] } });
    expect((await ask(withPassword(`${ROOT}/events/${ids[0]}`, GUESSES[0]!), newAddress())).body.venue).toMatchObject({ id: 22 });
    expect(await answersTo(ids.map((id, at) => withPassword(`${ROOT}/events/${id}`, GUESSES[at]!)))).toBe(LIMIT + UNCOUNTED);
    await resetSite(db);
  });

  it('are right for an event whose venue they open', async () => {
    const address = newAddress();
    const { post_id: id } = (await db.from('postmeta').where({ meta_key: '_EventVenueID', meta_value: '22' }).first('post_id'))!;
    failTimes(address, LIMIT - 1);
    for (let time = 0; time < 3; time += 1)
      expect((await ask(withPassword(`${ROOT}/events/${id}`, 'venuepass'), address)).status).toBe(200);
  });

  it('are not cached with the answers that they opened', async () => {
    const query = withPassword(ONE, PROTECTED.password);
    expect((await ask(query, newAddress())).status).toBe(200);
    // The change is not reported, so that a cached answer would still count as valid.
    await db.from('posts').where('ID', PROTECTED.id).update({ post_password: 'changed' });
    expect((await ask(query, newAddress())).status).toBe(403);
    await resetSite(db);
  });

  it.each(['OPENSESAME', 'opensesamé', 'opensesame ', ' opensesame'])('are compared exactly: %j opens nothing', async (password) => {
    const list = (given: string) =>
      ask(withPassword(`${ROOT}/events?start_date=2030-01-01&end_date=2031-12-31&tags=11`, given), newAddress());
    expect((await list(PROTECTED.password)).body.total).toBe(2);
    expect((await list(password)).body.total).toBe(1);
    expect((await ask(withPassword(ONE, password), newAddress())).status).toBe(403);
  });

  it('protect a record even if they consist of blanks', async () => {
    await db.from('posts').where('ID', PROTECTED.id).update({ post_password: '  ' });
    await db.from('fasti_changes').increment('counter');
    const search = `${ROOT}/events?start_date=2030-01-01&end_date=2031-12-31&search=${encodeURIComponent('secret body')}`;
    expect((await ask(search, newAddress())).body.total).toBe(0);
    expect((await ask(ONE, newAddress())).status).toBe(403);
    await resetSite(db);
  });
});
