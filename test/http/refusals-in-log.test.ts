import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { beginSession } from '../../src/accounts/logins.ts';
import { createLog } from '../../src/log.ts';
import { findUserByLogin } from '../../src/storage/rows/users.ts';
import { describeDatabases } from '../support/databases.ts';
import { basic, type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';
import { expectBody, ROOT } from '../support/site-client.ts';
import { until } from '../support/until.mjs';

interface Entry {
  readonly msg: string;
  readonly url: string;
  readonly refusal?: Readonly<Record<string, unknown>>;
}

describeDatabases('log entry of a refused request', (open) => {
  const entries: Entry[] = [];
  let running: RunningSite;
  beforeAll(async () => {
    const log = createLog({ logLevel: 'info' }, { write: (line) => entries.push(JSON.parse(line) as Entry) });
    running = await serveDatabase(await loadSite(await open()), { log });
  });
  afterAll(() => running.close());

  /** Sends a request that is refused and returns the refusal from its log entry. */
  async function refusalOf(status: number, ...request: Parameters<RunningSite['send']>): Promise<Entry['refusal']> {
    const before = entries.length;
    const answer = await running.send(...request);
    expect(answer.text).not.toMatch(/known user|not fetched|nonce is wrong|detail"/);
    expectBody(answer, status);
    for (let turns = 0; entries.length === before && turns < 1000; turns += 1) await new Promise((next) => setImmediate(next));
    return entries.slice(before).find(({ msg }) => msg === 'request completed')?.refusal;
  }

  it('names the problem', async () => {
    expect(await refusalOf(404, 'GET', `${ROOT}/events/999999`)).toEqual({ problem: 'rest-event-not-found' });
  });

  it('states whether the user name or the password was wrong', async () => {
    const send = (name: string) =>
      refusalOf(401, 'GET', `${ROOT}/events`, { headers: { Authorization: `Basic ${Buffer.from(`${name}:wrong`).toString('base64')}` } });
    expect(await send('ed')).toMatchObject({ problem: 'incorrect_password', tried: 'known user', user: 2 });
    expect(await send('nobody')).toMatchObject({ problem: 'incorrect_password', tried: 'unknown user' });
  });

  it('keeps only the beginning of a long address', async () => {
    const before = entries.length;
    await running.send('GET', `${ROOT}/events?${'"'.repeat(12_000)}`);
    await until('the log entry', () => entries.length > before);
    expect(entries.at(-1)!.url).toHaveLength(2000);
  });

  it('states why a nonce is invalid', async () => {
    expect(await refusalOf(403, 'GET', `${ROOT}/events`, { headers: { 'X-WP-Nonce': 'abc' } })).toEqual({
      problem: 'rest_cookie_invalid_nonce',
      because: 'the keys and salts of WordPress are not configured',
    });
  });

  it('states the current version of a record after an edit conflict', async () => {
    const headers = { Authorization: basic('admin'), 'If-Match': '"0000"' };
    expect(await refusalOf(412, 'PATCH', `${ROOT}/events/38`, { headers, body: { title: 'Other' } })).toEqual({
      problem: 'edit-conflict',
      id: 38,
      current: expect.stringMatching(/^[0-9a-f]+$/),
      modified: expect.any(String),
    });
  });

  it('states why an image was not fetched', async () => {
    const body = { image: 'http://127.0.0.1:9/a.png' };
    const headers = { Authorization: basic('admin') };
    expect(await refusalOf(400, 'PATCH', `${ROOT}/events/38`, { headers, body })).toEqual({
      problem: 'rest_invalid_param',
      image: 'not fetched: address',
    });
  });

  /** Sends a form of the desk, or requests one of its pages. */
  const deskRefusalOf = async (path: string, fields?: Record<string, string>, site = 'same-origin'): Promise<Entry['refusal']> => {
    const before = entries.length;
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded', 'Sec-Fetch-Site': site };
    await running.send(fields ? 'POST' : 'GET', path, fields ? { headers, body: new URLSearchParams(fields).toString() } : {});
    await until('the log entry', () => entries.length > before);
    return entries.slice(before).find(({ msg }) => msg === 'request completed')?.refusal;
  };

  it('states why the desk refused to sign somebody in', async () => {
    const wrong = { problem: 'incorrect_password', tried: 'known user', user: 2 };
    expect(await deskRefusalOf('/admin/sign-in', { log: 'ed', pwd: 'wrong' })).toMatchObject(wrong);
    expect(await deskRefusalOf('/admin/sign-in', { log: 'nobody', pwd: 'wrong' })).toMatchObject({ tried: 'unknown user' });
  });

  it('names the problem of every other refusal of the desk', async () => {
    expect(await deskRefusalOf('/admin/events')).toEqual({ problem: 'rest_not_logged_in' });
    expect(await deskRefusalOf('/admin/nothing-here')).toEqual({ problem: 'rest_no_route' });
    expect(await deskRefusalOf('/admin/sign-in', {}, 'cross-site')).toMatchObject({ problem: 'rest_forbidden' });
    const { name, value } = (await beginSession(running.site, await running.site.settings(), (await findUserByLogin(running.site.db, 'admin', []))!, {
      remember: false, address: '127.0.0.1', agent: 'tests',
    })).cookie; // biome-ignore format: a call
    const headers = {
      Cookie: `${name}=${encodeURIComponent(value)}`,
      'Content-Type': 'application/x-www-form-urlencoded',
      'Sec-Fetch-Site': 'same-origin',
    };
    const send = async (path: string, fields: Record<string, string>) => {
      const before = entries.length;
      const answer = await running.send('POST', path, { headers, body: new URLSearchParams(fields).toString() });
      await until('the log entry', () => entries.length > before);
      return { answer, refusal: entries.at(-1)?.refusal };
    };
    expect((await send('/admin/venues/new', { venue: 'Mill' })).refusal).toEqual({ problem: 'rest_cookie_invalid_nonce' });
    const form = await running.send('GET', '/admin/venues/new', { headers: { Cookie: headers.Cookie } });
    const nonce = /name="_wpnonce" value="(\w+)"/.exec(form.text)?.[1] ?? '';
    const { answer, refusal } = await send('/admin/venues/new', { venue: '', _wpnonce: nonce });
    expect([answer.status, refusal]).toEqual([422, { problem: 'rest_invalid_param' }]);
  });

  it('has no refusal if the request succeeds', async () => {
    const before = entries.length;
    await running.send('GET', `${ROOT}/events/38`);
    for (let turns = 0; entries.length === before && turns < 1000; turns += 1) await new Promise((next) => setImmediate(next));
    expect(entries.slice(before).map(({ refusal }) => refusal)).toEqual([undefined]);
  });
});
