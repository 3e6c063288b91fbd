import { expect, it } from '@jest/globals';
import { PASSWORDS_KEY, parsePasswords } from '../../src/accounts/stored-passwords.ts';
import { describeDatabases } from '../support/databases.ts';
import { serveDatabase } from '../support/running-site.ts';
import { loadSite, setOptions } from '../support/site.ts';
import { describeRequests, type Json, type UserName } from '../support/site-client.ts';

const USERS = '/wp-json/wp/v2/users';
const OWN = `${USERS}/me/application-passwords`;
const IDS = { admin: 1, ed: 2, auth: 3, contrib: 4, sub: 5 } as const;

const basic = (login: string, password: string) => ({ Authorization: `Basic ${Buffer.from(`${login}:${password}`).toString('base64')}` });

describeRequests('routes of application passwords', (ask) => {
  const send = (method: string, path: string, as?: UserName, body?: object) =>
    ask.send(method, path, { ...(as ? { as } : {}), ...(body ? { body } : {}) });
  const stored = async (id: number) => {
    const row: Json = await ask.db().from('usermeta').where({ user_id: id, meta_key: PASSWORDS_KEY }).first();
    return parsePasswords(row?.meta_value);
  };

  /** UUIDs and names of all passwords, which do not change when a password is used. */
  const held = async () => Promise.all(Object.values(IDS).map(async (id) => (await stored(id)).map(({ uuid, name }) => [uuid, name])));

  it('create a password, return it once, and accept it immediately', async () => {
    const { status, body, headers } = await send('POST', OWN, 'sub', { name: 'Phone <b>1</b>' });
    expect(status).toBe(201);
    expect(body).toMatchObject({ name: 'Phone 1', app_id: '', last_used: null, last_ip: null });
    expect(body.password).toMatch(/^(\w{4} ){5}\w{4}$/);
    expect(headers.location).toBe(`http://127.0.0.1:8081${USERS}/5/application-passwords/${body.uuid}`);
    expect(headers['cache-control']).toContain('no-store');

    const signedIn = await ask.send('GET', `${OWN}/introspect`, { headers: basic('sub', body.password) });
    expect(signedIn).toMatchObject({ status: 200, body: { uuid: body.uuid, name: 'Phone 1' } });
    for (const path of [OWN, `${OWN}/${body.uuid}`]) expect((await send('GET', path, 'sub')).text).not.toContain('password"');
    expect((await stored(5)).at(-1)?.password).toMatch(/^\$generic\$/);
  });
  it('do not store a new password for a retry with the same Idempotency-Key', async () => {
    const again = () => ask.send('POST', OWN, { as: 'sub', body: { name: 'Tablet' }, headers: { 'Idempotency-Key': 'tablet' } });
    const { password } = (await again()).body;
    expect(await again()).toMatchObject({ status: 409, body: { code: 'application_password_duplicate_name' } });
    const kept: Json[] = await ask.db().from('fasti_answers').select('answer');
    expect(kept.some(({ answer }) => String(answer).includes(password))).toBe(false);
  });
  it('rename a password and revoke one or all of them', async () => {
    const made = (await send('POST', OWN, 'sub', { name: 'Old' })).body;
    const path = `${OWN}/${made.uuid}`;
    expect((await send('PUT', path, 'sub', { name: 'New' })).body).toMatchObject({ uuid: made.uuid, name: 'New' });
    expect(await send('PUT', path, 'sub', { name: 'REPLAY' })).toMatchObject({ status: 409 });
    const removals = await Promise.all([1, 2].map(() => send('DELETE', path, 'sub')));
    const [removed, late] = removals.sort((one, other) => one.status - other.status);
    expect(removed).toMatchObject({ status: 200, body: { deleted: true, previous: { uuid: made.uuid, name: 'New' } } });
    expect(late).toMatchObject({ status: 404, body: { code: 'rest_application_password_not_found' } });
    expect((await ask.send('GET', `${USERS}/me`, { headers: basic('sub', made.password) })).status).toBe(401);
    expect(await send('GET', path, 'sub')).toMatchObject({ status: 404, body: { code: 'rest_application_password_not_found' } });
    expect((await send('DELETE', `${USERS}/5/application-passwords`, 'admin')).body).toEqual({ deleted: true, count: 1 });
    expect(await stored(5)).toEqual([]);
  });

  it.each([
    ['GET', '', undefined],
    ['POST', '', { name: 'X' }],
    ['DELETE', '', undefined],
    ['GET', '/00000000-0000-0000-0000-000000000000', undefined],
    ['PUT', '/00000000-0000-0000-0000-000000000000', { name: 'X' }],
    ['DELETE', '/00000000-0000-0000-0000-000000000000', undefined],
    ['GET', '/introspect', undefined],
  ])('allow %s %s only for the owner and for users who may edit users', async (method, rest, body) => {
    const before = await held();
    for (const role of [undefined, 'sub', 'contrib', 'auth', 'ed', 'admin'] as const) {
      for (const [owner, id] of Object.entries(IDS)) {
        if (role === owner || (role === 'admin' && rest !== '/introspect')) continue;
        const { status, body: refusal } = await send(method, `${USERS}/${id}/application-passwords${rest}`, role, body);
        expect({ role, owner, status, code: refusal.code }).toEqual({
          role,
          owner,
          status: role ? 403 : 401,
          code: expect.stringMatching(/^rest_cannot_/),
        });
      }
    }
    expect(await held()).toEqual(before);
    expect(await send(method, `${OWN}${rest}`, undefined, body)).toMatchObject({ status: 401, body: { code: 'rest_not_logged_in' } });
    expect(await send(method, `${USERS}/999/application-passwords${rest}`, 'admin', body)).toMatchObject({ status: 404 });
  });
  it.each([
    ['name', {}, 'rest_missing_callback_param'],
    ['name', { name: '' }, 'rest_invalid_param'],
    ['name', { name: '  ' }, 'rest_invalid_param'],
    ['app_id', { name: 'X', app_id: 'x' }, 'rest_invalid_param'],
  ])('require a valid %s: %j', async (_, body, code) =>
    expect(await send('POST', OWN, 'sub', body)).toMatchObject({ status: 400, body: { code } }),
  );
  it('return 429 after 20 new passwords', async () => {
    const statuses = [];
    for (let number = 1; number <= 21; number += 1) statuses.push((await send('POST', OWN, 'sub', { name: `Number ${number}` })).status);
    expect([new Set(statuses.slice(0, 20)), statuses[20]]).toEqual([new Set([201]), 429]);
    expect((await stored(5)).length).toBe(21);
  });
});

describeDatabases('first application password of a site', (open) => {
  it('is accepted immediately even if cached options are older', async () => {
    const db = await loadSite(await open());
    await setOptions(db, { using_application_passwords: '' });
    const running = await serveDatabase(db, { env: { CACHE_FRESHNESS_MS: '60000' } });
    const before = await running.send('GET', `${USERS}/me`, { as: 'sub' });
    await db.from('options').where('option_name', 'using_application_passwords').update({ option_value: '1' });
    const after = await running.send('GET', `${USERS}/me`, { as: 'sub' });
    await running.close();
    expect([before.status, after.status]).toEqual([401, 200]);
  });
});
