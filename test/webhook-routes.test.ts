import { beforeEach, describe, expect, it } from '@jest/globals';
import { webhookRoutes } from '../src/http/webhook-routes.ts';
import { createHookServer } from '../src/webhooks/deliver.ts';
import { addHook, deleteHook, listHooks } from '../src/webhooks/hooks.ts';
import { describeRequests, expectBody, expectError, ROOT, type UserName } from './support/site-client.ts';

/* The routes by which administrators manage webhooks. */

/** Refused before anything is sent, since it is an address of the internal network. */
const URL = 'http://10.0.0.1/hook';
const UNKNOWN = 999_999;

const HANDLERS = webhookRoutes.flatMap(({ pattern, endpoints }) =>
  endpoints.flatMap(({ methods }) => methods.map((method) => [method, pattern] as const)),
);

describeRequests('the routes of webhooks', (ask) => {
  const site = () => ask.running().site;
  beforeEach(async () => {
    for (const { id } of await listHooks(site())) await deleteHook(site(), id);
  });
  const grant = (capabilities: string) =>
    ask.writeRows((db) => db.from('usermeta').where({ user_id: 5, meta_key: 'wp_capabilities' }).update({ meta_value: capabilities }));

  it('add a webhook and show its secret once', async () => {
    const answer = await ask.post('/webhooks', { url: URL, kinds: ['venue', 'event'] });
    const { secret, ...hook } = expectBody(answer, 201);
    expect(secret).toMatch(/^whsec_/);
    expect(hook).toEqual({
      id: expect.any(Number),
      url: URL,
      kinds: ['event', 'venue'],
      user: 0,
      state: 'active',
      created_at: '2026-11-20 12:00:00',
    });
    expect(answer.headers.location).toMatch(new RegExp(`${ROOT}/webhooks/${hook.id}$`));
    expect(await ask.read('/webhooks', 'admin')).toEqual({ webhooks: [hook] });
    expect(await ask.read(`/webhooks/${hook.id}`, 'admin')).toEqual(hook);
    expect(await ask.db().from('fasti_hooks').where('id', hook.id).first('secret')).toEqual({ secret });
  });

  it('add one webhook for a repeated request, and do not store its secret anywhere else', async () => {
    const headers = { 'Idempotency-Key': 'hook' };
    const add = (url = URL) => ask.send('POST', `${ROOT}/webhooks`, { as: 'admin', body: { url }, headers });
    const first = await add();
    const { id, secret } = expectBody(first, 201) as { id: number; secret: string };
    expect(JSON.stringify(await ask.db().from('fasti_answers').select('*'))).not.toContain(secret);
    const second = await add();
    expect([second.status, second.text, second.headers['idempotency-replayed']]).toEqual([201, first.text, 'true']);
    expect(await listHooks(site())).toHaveLength(1);
    expect((await add(`${URL}/other`)).status).toBe(422);
    await deleteHook(site(), id);
    const { secret: _, ...shown } = expectBody(first, 201);
    expect(expectBody(await add(), 201)).toEqual(shown);
  });

  it('do not add a webhook in a batch', async () => {
    const requests = [{ path: '/calendar/events/v1/webhooks', body: { url: URL } }];
    const { responses } = expectBody(await ask.send('POST', '/wp-json/batch/v1', { as: 'admin', body: { requests } }), 207);
    expect(responses).toMatchObject([{ status: 400, body: { code: 'rest_batch_not_allowed' } }]);
  });

  it.each([
    'ftp://example.org/',
    'javascript:alert(1)',
    // Users who manage webhooks could read the password.
    'https://anna:secret@example.org/hook',
    'https://anna@example.org/hook',
    'https://example.org/\r\nX-Header: 1',
    ' https://example.org/',
    'https://example.org/\u001b[2J',
    'https://example.org/\u202ekooh',
  ])('refuse the URL %j', async (url) => {
    expectError(await ask.post('/webhooks', { url }), 400, 'rest_invalid_param');
    expect(await listHooks(site())).toEqual([]);
  });

  it('pause and resume a webhook, and change its kinds', async () => {
    const { id } = await addHook(site(), { url: URL, kinds: 'event' });
    for (const method of ['POST', 'PUT', 'PATCH'] as const) {
      const change = async (body: object) => expectBody(await ask.send(method, `${ROOT}/webhooks/${id}`, { as: 'admin', body }));
      expect(await change({ state: 'paused' })).toMatchObject({ id, state: 'paused', kinds: ['event'] });
      expect(await change({ kinds: ['tag'] })).toMatchObject({ state: 'paused', kinds: ['tag'] });
      expect(await change({ state: 'active', kinds: [] })).toMatchObject({ state: 'active', kinds: [] });
      for (const none of ['', null]) {
        await change({ kinds: 'tag' });
        expect(await change({ kinds: none })).toMatchObject({ kinds: [] });
      }
      expect(await change({})).toEqual(await ask.read(`/webhooks/${id}`, 'admin'));
      await change({ kinds: 'event' });
    }
  });

  it('change the URL of a webhook, so that waiting messages go there, too', async () => {
    const { id } = await addHook(site(), { url: URL, kinds: 'event' });
    await ask.post(`/webhooks/${id}/test`, {});
    const url = 'http://10.0.0.2/other';
    const change = (body: object) => ask.send('PATCH', `${ROOT}/webhooks/${id}`, { as: 'admin', body });
    expect(expectBody(await change({ url }))).toMatchObject({ id, url, kinds: ['event'], state: 'active' });
    for (const wrong of ['ftp://example.org/', '', null]) expectError(await change({ url: wrong }), 400, 'rest_invalid_param', ['url']);
    expect(await ask.read('/webhooks', 'admin')).toMatchObject({ webhooks: [{ id, url }] });
    expect(await ask.db().from('fasti_hook_messages').where('hook', id).select('state')).toEqual([{ state: 'waiting' }]);
  });

  it('pause a webhook whose stored URL would be refused today', async () => {
    const { id } = await addHook(site(), { url: URL });
    await ask.writeRows((db) => db.from('fasti_hooks').where('id', id).update({ url: 'ftp://example.org/' }));
    const paused = await ask.send('PATCH', `${ROOT}/webhooks/${id}`, { as: 'admin', body: { state: 'paused', kinds: 'event' } });
    expect(expectBody(paused)).toMatchObject({ state: 'paused', kinds: ['event'] });
  });

  it('change the URL and the kinds at the same time, without losing either', async () => {
    const change = (id: number, body: object) => ask.send('PATCH', `${ROOT}/webhooks/${id}`, { as: 'admin', body });
    for (let time = 0; time < 5; time += 1) {
      const { id } = await addHook(site(), { url: URL, kinds: 'event' });
      const url = `http://10.0.0.2/${time}`;
      const answers = await Promise.all([change(id, { url }), change(id, { kinds: 'venue' }), change(id, { state: 'paused' })]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(await ask.read(`/webhooks/${id}`, 'admin')).toMatchObject({ url, kinds: ['venue'], state: 'paused' });
    }
  });

  it('do not send the records of another user elsewhere for those who may not edit users', async () => {
    await grant('a:1:{s:14:"manage_options";b:1;}');
    const others = await addHook(site(), { url: URL, user: 1 });
    const own = await addHook(site(), { url: URL, user: 5 });
    const open = await addHook(site(), { url: URL });
    const url = 'http://10.0.0.2/other';
    const change = (id: number, body: object) => ask.send('PATCH', `${ROOT}/webhooks/${id}`, { as: 'sub', body });
    expectError(await change(others.id, { url }), 403, 'rest_forbidden');
    expect(expectBody(await change(others.id, { state: 'paused' }))).toMatchObject({ url: URL, state: 'paused' });
    for (const { id } of [own, open]) expect(expectBody(await change(id, { url }))).toMatchObject({ url });
  });

  it('test a webhook, show the outcome of its messages, and send them again', async () => {
    const { id } = await addHook(site(), { url: URL });
    expect(expectBody(await ask.post(`/webhooks/${id}/test`, {}))).toEqual({ queued: 1 });
    await ask.create('/venues', { venue: 'Barn' });
    await Promise.all(await createHookServer(site()).serveDue());
    const { deliveries } = await ask.read(`/webhooks/${id}/deliveries`, 'admin');
    expect(deliveries).toMatchObject([{ subject: expect.stringMatching(/^venue /) }, { subject: 'webhook.test', state: 'waiting' }]);
    expect(JSON.stringify(deliveries)).not.toContain('Barn');
    const failed = deliveries.filter(({ attempts }: { attempts: number }) => attempts === 1);
    expect(failed).not.toEqual([]);
    for (const one of failed) expect(one).toMatchObject({ state: 'waiting', status: 0, error: 'address' });
    expect((await ask.read(`/webhooks/${id}/deliveries?limit=1`, 'admin')).deliveries).toEqual([deliveries[0]]);
    expect(expectBody(await ask.post(`/webhooks/${id}/retry`, {}))).toEqual({ queued: 2 });
    expect((await ask.read(`/webhooks/${id}/deliveries`, 'admin')).deliveries).toMatchObject([{ attempts: 0 }, { attempts: 0 }]);
  });

  it('do not resume a webhook whose user is gone', async () => {
    const { id } = await addHook(site(), { url: URL, user: UNKNOWN });
    expectError(await ask.send('PATCH', `${ROOT}/webhooks/${id}`, { as: 'admin', body: { state: 'active' } }), 400, 'rest_invalid_param', [
      'user',
    ]);
    expect(expectBody(await ask.send('PATCH', `${ROOT}/webhooks/${id}`, { as: 'admin', body: { state: 'paused' } }))).toMatchObject({
      state: 'paused',
    });
  });

  it('remove a webhook with its messages', async () => {
    const { id } = await addHook(site(), { url: URL });
    expectBody(await ask.post(`/webhooks/${id}/test`, {}));
    expect(expectBody(await ask.del(`/webhooks/${id}`))).toMatchObject({ deleted: true, previous: { id, url: URL } });
    expect(await ask.read('/webhooks', 'admin')).toEqual({ webhooks: [] });
    expect(await ask.db().from('fasti_hook_messages').where('hook', id).select('id')).toEqual([]);
  });

  it.each([
    ['no address', {}, 'rest_missing_callback_param', ['url']],
    ['another protocol', { url: 'ftp://example.org' }, 'rest_invalid_param', ['url']],
    ['too long an address', { url: `https://example.org/${'a'.repeat(2000)}` }, 'rest_invalid_param', ['url']],
    ['a kind that there is not', { url: URL, kinds: 'event,page' }, 'rest_invalid_param', ['kinds']],
    ['a user who is not there', { url: URL, user: UNKNOWN }, 'rest_invalid_param', ['user']],
  ] as const)('refuse %s', async (_what, body, code, params) => {
    expectError(await ask.post('/webhooks', body), 400, code, params);
    expect(await listHooks(site())).toEqual([]);
  });

  describe.each(HANDLERS)('%s %s', (method, pattern) => {
    const path = (id: number) => `${ROOT}${pattern.replace('(?P<id>\\d+)', String(id))}`;
    const body = method === 'GET' || method === 'DELETE' ? null : { url: URL, state: 'paused' };

    it.each([undefined, 'sub', 'contrib', 'auth', 'ed'] as UserName[])('is refused to %s', async (as) => {
      const { id, ...before } = await addHook(site(), { url: URL });
      const answer = await ask.send(method, path(id), { body, ...(as ? { as } : {}) });
      expectError(answer, as ? 403 : 401, 'rest_forbidden');
      expect(answer.headers.allow).toBeUndefined();
      expect(answer.text).not.toContain(URL);
      const { secret: _, ...shown } = before;
      expect(await listHooks(site())).toEqual([{ id, ...shown }]);
      expect(await ask.db().from('fasti_hook_messages').select('id')).toEqual([]);
    });

    if (pattern.includes('(?P<'))
      it('answers that there is no such webhook', async () =>
        expectError(await ask.send(method, path(UNKNOWN), { as: 'admin', body }), 404, 'rest_webhook_not_found'));
  });

  it('let only those who manage users give a webhook the rights of another user', async () => {
    const add = async (user: number, as: UserName) => (await ask.post('/webhooks', { url: URL, user }, as)).status;
    expect(await add(2, 'admin')).toBe(201);
    await grant('a:1:{s:14:"manage_options";b:1;}');
    expect([await add(5, 'sub'), await add(1, 'sub')]).toEqual([201, 403]);
    expect((await ask.read('/webhooks', 'sub')).webhooks.map(({ user }: { user: number }) => user)).toEqual([2, 5]);
  });
});
