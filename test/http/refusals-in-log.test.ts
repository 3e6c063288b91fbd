import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createLog } from '../../src/log.ts';
import { describeDatabases } from '../support/databases.ts';
import { basic, type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';
import { expectBody, ROOT } from '../support/site-client.ts';

interface Entry {
  readonly msg: string;
  readonly req: { readonly url: string };
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

  it('has no refusal if the request succeeds', async () => {
    const before = entries.length;
    await running.send('GET', `${ROOT}/events/38`);
    for (let turns = 0; entries.length === before && turns < 1000; turns += 1) await new Promise((next) => setImmediate(next));
    expect(entries.slice(before).map(({ refusal }) => refusal)).toEqual([undefined]);
  });
});
