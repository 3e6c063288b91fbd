import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { insertRows } from '../src/storage/engine/insert.ts';
import { pagesOf } from '../src/storage/engine/pages.ts';
import { pruneJournal } from '../src/storage/journal/entries.ts';
import { dueMessages } from '../src/storage/rows/due-messages.ts';
import { advanceHook, insertMessages, loadHooks, removeHook, setHookState } from '../src/storage/rows/hooks.ts';
import { createHookServer, deleteOldMessages } from '../src/webhooks/deliver.ts';
import { addHook, changeHook, deleteHook, hookMessages, listHooks, retryHook, setHookActive, testHook } from '../src/webhooks/hooks.ts';
import { createMessage } from '../src/webhooks/messages.ts';
import { runScript } from './support/databases.ts';
import { type Got, startReceiver } from './support/hook-receiver.ts';
import { describeRequests, expectBody, type Json } from './support/site-client.ts';
import { until } from './support/until.mjs';

/* Webhooks: what a receiver gets, in which order, and what happens if it does not answer. */

const DATES = { start_date: '2026-12-10 18:00:00', end_date: '2026-12-10 20:00:00' };
const DAY = 24 * 3600 * 1000;

/** Returns the shortest duration of three runs, in milliseconds. */
async function fastest(work: () => PromiseLike<unknown>): Promise<number> {
  const durations: number[] = [];
  for (let run = 0; run < 3; run += 1) {
    const startedAt = performance.now();
    await work();
    durations.push(performance.now() - startedAt);
  }
  return Math.min(...durations);
}

/** Something to wait for until it is opened. */
function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

describeRequests(
  'a webhook',
  (ask, engine) => {
    let receiver: Awaited<ReturnType<typeof startReceiver>>;
    let url = '';
    let got: Got[] = [];
    let answer: (body: Json) => number | Promise<number> = () => 204;
    beforeAll(async () => {
      receiver = await startReceiver((message) => {
        got.push(message);
        return answer(message.body);
      });
      url = receiver.url;
    });
    afterAll(() => receiver.close());
    beforeEach(async () => {
      for (const { id } of await listHooks(ask.running().site)) await deleteHook(ask.running().site, id);
      got = [];
      answer = () => 204;
    });

    const site = () => ask.running().site;
    const add = (more: object = {}) => addHook(site(), { url, ...more });
    const serve = async () => Promise.all(await createHookServer(site()).serveDue());
    const types = () => got.map(({ body }) => `${body.type} ${body.data.id ?? ''}`.trim());

    it('sends each change, signed, with the record', async () => {
      const { secret } = await add({ kinds: 'event' });
      const { id } = await ask.create('/events', { title: 'Jazz', ...DATES });
      await serve();
      expect(types()).toEqual([`event.created ${id}`]);
      expect(got[0]!.body.data).toMatchObject({ kind: 'event', id, record: { title: 'Jazz' } });
      // The clock of the site differs from that of this machine.
      expect(Number(got[0]!.headers['webhook-timestamp'])).toBe(Date.parse(got[0]!.body.timestamp) / 1000);
      const { 'webhook-id': message, 'webhook-timestamp': moment, 'webhook-signature': signature } = got[0]!.headers;
      expect(new Webhook(secret).sign(String(message), new Date(Number(moment) * 1000), got[0]!.text)).toBe(signature);
      await ask.update(`/events/${id}`, { title: 'Blues' });
      expectBody(await ask.del(`/events/${id}`));
      await serve();
      await serve();
      // Two changes between two looks are sent as one.
      expect(types()).toEqual([`event.created ${id}`, `event.removed ${id}`]);
      expect(got[1]!.body.data).not.toHaveProperty('record');
    });

    it('sends public records only, unless it has the rights of a user', async () => {
      await add();
      const [row] = await ask.db().from('users').where('user_login', 'admin').select('ID');
      await add({ user: row!.ID, kinds: 'venue' });
      const { id } = await ask.create('/venues', { venue: 'Secret', status: 'draft' });
      await serve();
      expect(types()).toEqual([`venue.created ${id}`]);
    });

    it('repeats a message until it arrives, and sends those about one record in order', async () => {
      const { id: hook } = await add({ kinds: 'event,venue' });
      const event = await ask.create('/events', { title: 'Jazz', ...DATES });
      answer = () => 500;
      await serve();
      expect(types()).toEqual([`event.created ${event.id}`]);
      await ask.update(`/events/${event.id}`, { title: 'Blues' });
      answer = (body) => (body.data.kind === 'event' ? 500 : 204);
      const venue = await ask.create('/venues', { venue: 'Barn' });
      await serve();
      // The change waits for the creation; other records are not affected.
      expect(types()).toEqual([`event.created ${event.id}`, `venue.created ${venue.id}`]);
      answer = () => 204;
      ask.setClock('2026-11-20T12:00:06Z');
      await serve();
      await serve();
      expect(types().slice(2)).toEqual([`event.created ${event.id}`, `event.updated ${event.id}`]);
      expect(got[0]!.headers['webhook-id']).toBe(got[2]!.headers['webhook-id']);
      expect((await hookMessages(site(), hook, 10)).map(({ state }) => state)).toEqual(['done', 'done', 'done']);
    });

    it('gives a message up after three days, and sends it again on request', async () => {
      const { id: hook } = await add({ kinds: 'venue' });
      await ask.create('/venues', { venue: 'Barn' });
      answer = () => 503;
      const begun = Date.parse('2026-11-20T12:00:00Z');
      for (let hours = 0; hours < 100; hours += 1) {
        ask.setClock(new Date(begun + hours * 3600 * 1000).toISOString());
        await serve();
      }
      const [message] = await hookMessages(site(), hook, 10);
      expect(message).toMatchObject({ state: 'failed', attempts: 10, status: 503 });
      expect(Date.parse(`${message!.next_at.replace(' ', 'T')}Z`) - begun).toBeGreaterThan(2.9 * DAY);
      answer = () => 200;
      expect(await retryHook(site(), hook)).toBe(1);
      await serve();
      expect((await hookMessages(site(), hook, 10))[0]).toMatchObject({ state: 'done' });
    });

    it('sends messages on time that were put off to a date shown by a wrong clock', async () => {
      const { id: hook } = await add({ kinds: 'venue' });
      const { id } = await ask.create('/venues', { venue: 'Barn' });
      ask.setClock('2036-01-01T00:00:00Z');
      answer = () => 503;
      await serve();
      ask.setClock('2026-11-20T12:00:00Z');
      answer = () => 204;
      // As if the sending process had been killed while sending.
      await ask.db().from('fasti_hooks').where('id', hook).update({ busy_until: '2036-01-01 00:00:30' });
      await ask.update(`/venues/${id}`, { city: 'Arezzo' });
      await serve();
      expect(types()).toEqual([`venue.created ${id}`, `venue.created ${id}`, `venue.updated ${id}`]);
    });

    it('forgets delivered messages after 30 days, and those that were made while the clock was ahead', async () => {
      const { id: hook } = await add({ kinds: 'venue' });
      for (const moment of ['2036-01-01T00:00:00Z', '2026-11-20T12:00:00Z', '2026-12-20T11:00:00Z']) {
        ask.setClock(moment);
        await ask.create('/venues', { venue: moment });
        await serve();
      }
      expect(await deleteOldMessages(site())).toBe(1);
      expect(await hookMessages(site(), hook, 9)).toHaveLength(2);
      for (const behind of ['2026-11-19T11:00:00Z', '1970-01-01T00:00:00Z']) {
        expect(await deleteOldMessages({ ...site(), clock: () => new Date(behind) })).toBe(0);
        ask.setClock(behind);
        await ask.create('/tags', { name: behind });
        expect(await deleteOldMessages(site())).toBe(0);
      }
      ask.setClock('2026-12-20T13:00:00Z');
      expect(await deleteOldMessages(site())).toBe(1);
    });

    it('does not resend a failed message about a record after a newer one', async () => {
      const { id: hook } = await add({ kinds: 'venue' });
      const { id } = await ask.create('/venues', { venue: 'Barn' });
      await serve();
      got = [];
      await ask.update(`/venues/${id}`, { venue: 'Old barn' });
      answer = () => 500;
      await serve();
      await ask.db().from('fasti_hook_messages').where('state', 'waiting').update({ state: 'failed' });
      answer = () => 204;
      expectBody(await ask.del(`/venues/${id}`));
      await serve();
      expect(types()).toEqual([`venue.updated ${id}`, `venue.removed ${id}`]);
      expect(await retryHook(site(), hook)).toBe(0);
    });

    it('makes thousands of messages due again without searching all of them for each', async () => {
      const { id: hook } = await add();
      const rows = Array.from({ length: 6000 }, (_, place) => ({
        id: `msg_${place}`,
        hook,
        number: place + 1,
        subject: `event ${place % 600}`,
        state: place % 3 === 0 ? ('done' as const) : ('failed' as const),
        payload: '{}',
      }));
      for (const some of pagesOf(rows, 1000)) await insertRows(ask.db(), 'fasti_hook_messages', some);
      expect(await retryHook(site(), hook)).toBe(4000);
      const once = await fastest(() => ask.db().change`UPDATE {fasti_hook_messages} SET attempts = attempts + 1`);
      // With a search for each message, it takes more than 300 times as long on MySQL.
      expect(await fastest(() => retryHook(site(), hook))).toBeLessThan(100 * once);
    });

    it('finds the due ones among thousands of messages without searching all of them for each, whatever the statistics say', async () => {
      const { id: hook } = await add();
      const isMysql = ask.db().dialect.name === 'mysql';
      // Statistics as they were before a sudden run of changes.
      if (isMysql)
        await runScript(
          ask.db(),
          `ALTER TABLE wp_fasti_hook_messages STATS_PERSISTENT=1, STATS_AUTO_RECALC=0; ANALYZE TABLE wp_fasti_hook_messages`,
        );
      const times = { now: '2026-11-30 12:00:00', futureLimit: '2026-12-30 12:00:00' };
      const rows = Array.from({ length: 6000 }, (_, place) => ({
        id: `msg_${place}`,
        hook,
        number: place + 1,
        // Each of the first 3000 messages is to be tried again later, and a second one about the same record is due.
        subject: `event ${place % 3000}`,
        state: 'waiting' as const,
        next_at: place < 3000 ? '2026-11-30 12:10:00' : '2026-11-30 11:00:00',
        payload: '{}',
      }));
      rows.push(
        ...['event 6000', 'event 6000', 'event 6001'].map((subject, place) => ({
          ...(rows[5999] as (typeof rows)[number]),
          id: `msg_later_${place}`,
          number: 6001 + place,
          subject,
        })),
        // Two of one number, as tests have.
        ...['a', 'b'].map((id) => ({ ...(rows[5999] as (typeof rows)[number]), id, number: 6004, subject: 'webhook.test' })),
      );
      for (const some of pagesOf(rows, 1000)) await insertRows(ask.db(), 'fasti_hook_messages', some);
      const due = async (limit: number) => (await dueMessages(ask.db(), hook, times, limit)).map(({ id }) => id);
      expect(await due(20)).toEqual(['msg_later_0', 'msg_later_2', 'a', 'b']);
      expect(await due(1)).toEqual(['msg_later_0']);
      // They were put off until the first ones are due.
      const makeDue = () => ask.db().change`UPDATE {fasti_hook_messages} SET next_at = ${'2026-11-30 11:00:00'} WHERE number > 3000`;
      const once = await fastest(async () => {
        await makeDue();
        await ask.db().rows`SELECT * FROM {fasti_hook_messages}`;
      });
      const search = await fastest(async () => {
        await makeDue();
        await due(20);
      });
      expect(search).toBeLessThan(50 * once);
    });

    it('is switched off by 410, and sends the missed messages when it is resumed', async () => {
      const { id: hook } = await add({ kinds: 'venue' });
      const { id: first } = await ask.create('/venues', { venue: 'Barn' });
      answer = () => 410;
      await serve();
      expect((await listHooks(site()))[0]).toMatchObject({ state: 'off' });
      const { id: second } = await ask.create('/venues', { venue: 'Mill' });
      await serve();
      expect(got).toHaveLength(1);
      [got, answer] = [[], () => 204];
      ask.setClock('2026-11-20T12:00:06Z');
      await setHookActive(site(), hook, 'active');
      await serve();
      // This message was answered with 410 as well.
      expect(types()).toEqual([`venue.created ${first}`, `venue.created ${second}`]);
    });

    it('sends nothing with the rights of a user who is gone', async () => {
      const user = 4321;
      await insertRows(ask.db(), 'users', [{ ID: user, user_login: 'former', user_nicename: 'former', user_email: 'former@example.test' }]);
      const rights = { user_id: user, meta_key: 'wp_capabilities', meta_value: 'a:1:{s:13:"administrator";b:1;}' };
      await insertRows(ask.db(), 'usermeta', [rights]);
      const { id: hook } = await add({ user, kinds: 'venue' });
      await ask.create('/venues', { venue: 'Secret', status: 'draft' });
      answer = () => 500;
      await serve();
      expect(got).toHaveLength(1);
      await ask.writeRows((db) => db.from('users').where('ID', user).delete());
      answer = () => 204;
      await retryHook(site(), hook);
      for (const _ of [1, 2]) {
        await serve();
        expect((await listHooks(site()))[0]).toMatchObject({ state: 'off' });
        await expect(setHookActive(site(), hook, 'active')).rejects.toMatchObject({ problem: 'hook-user-gone' });
        await setHookState(ask.db(), hook, 'active');
      }
      expect(got).toHaveLength(1);
    });

    const rights = (role: string) => `a:1:{s:${role.length}:"${role}";b:1;}`;
    async function addAdministrator(login: string): Promise<number> {
      const ID = 4322;
      await insertRows(ask.db(), 'users', [{ ID, user_login: login, user_nicename: login, user_email: `${login}@example.test` }]);
      await insertRows(ask.db(), 'usermeta', [{ user_id: ID, meta_key: 'wp_capabilities', meta_value: rights('administrator') }]);
      return ID;
    }
    const demote = (user: number) =>
      ask.writeRows((db) =>
        db
          .from('usermeta')
          .where('user_id', user)
          .update({ meta_value: rights('subscriber') }),
      );

    it('sends nothing about a record that its user may no longer see', async () => {
      const user = await addAdministrator('demoted');
      const { id: hook } = await add({ user, kinds: 'venue' });
      const { id: draft } = await ask.create('/venues', { venue: 'Secret plans', status: 'draft' });
      const { id: open } = await ask.create('/venues', { venue: 'Town hall' });
      answer = () => 500;
      await serve();
      await demote(user);
      [got, answer] = [[], () => 204];
      await retryHook(site(), hook);
      await serve();
      expect(types().toSorted()).toEqual([`venue.created ${open}`, `venue.removed ${draft}`]);
      expect(got.some(({ body }) => JSON.stringify(body).includes('Secret plans'))).toBe(false);
      expect(got.some(({ body }) => JSON.stringify(body).includes('Town hall'))).toBe(true);
    });

    it('sends nothing about a draft within a record to a user who may no longer see the draft', async () => {
      const user = await addAdministrator('editor');
      const { id: hook } = await add({ user, kinds: 'event' });
      const { id: venue } = await ask.create('/venues', { venue: 'Secret plans', status: 'draft' });
      const { id } = await ask.create('/events', { title: 'Jazz', ...DATES, venue: { id: venue } });
      answer = () => 500;
      await serve();
      expect(got[0]?.body.data.record.venue).toMatchObject({ id: venue, venue: 'Secret plans' });
      await demote(user);
      [got, answer] = [[], () => 204];
      await retryHook(site(), hook);
      await serve();
      expect(types()).toEqual([`event.created ${id}`]);
      expect(got[0]!.body.data.record.title).toBe('Jazz');
      expect(got[0]!.text).not.toContain('Secret plans');
    });

    it('sends nothing in a message that waited that is not public any more', async () => {
      const { id: hook } = await add({ kinds: 'event' });
      const { id: venue } = await ask.create('/venues', { venue: 'Secret place' });
      const event = (title: string, more: object = {}) =>
        ask.create('/events', { title, description: `Secret of ${title}`, ...DATES, ...more });
      const [{ id: hidden }, { id: closed }, { id: open }] = [await event('Hidden'), await event('Closed'), await event('Open', { venue })];
      answer = () => 500;
      await serve();
      expect(got.filter(({ text }) => text.includes('Secret'))).toHaveLength(3);
      await setHookActive(site(), hook, 'paused');
      await ask.update(`/events/${hidden}`, { status: 'private' });
      await ask.writeRows((db) => db.from('posts').where('ID', closed).update({ post_password: 'pass' }));
      await ask.writeRows((db) => db.from('posts').where('ID', open).update({ post_content: '' }));
      await ask.update(`/venues/${venue}`, { status: 'draft' });
      [got, answer] = [[], () => 204];
      await setHookActive(site(), hook, 'active');
      await retryHook(site(), hook);
      await serve();
      expect(types().slice(0, 3).toSorted()).toEqual(
        [`event.created ${closed}`, `event.created ${open}`, `event.removed ${hidden}`].toSorted(),
      );
      expect(got.filter(({ text }) => text.includes('Secret'))).toEqual([]);
      expect(got.some(({ text }) => text.includes('Open'))).toBe(true);
    });

    it('finishes only the messages under way when it is paused or removed', async () => {
      for (const stop of [setHookActive, deleteHook]) {
        const { id: hook } = await add({ kinds: 'venue' });
        for (let number = 0; number < 9; number += 1) await ask.create('/venues', { venue: `${stop.name} ${number}` });
        got = [];
        let stopping: Promise<void> | undefined;
        // The message under way is answered after the webhook was stopped.
        answer = async () => {
          stopping ??= stop(site(), hook, 'paused');
          await stopping;
          return 204;
        };
        await serve();
        expect(got.length).toBeGreaterThan(0);
        expect(got.length).toBeLessThan(9);
      }
    });

    it('sends messages that wait for one under way to its new URL', async () => {
      const { id: hook } = await add({ kinds: 'venue' });
      for (let number = 0; number < 9; number += 1) await ask.create('/venues', { venue: `Moving ${number}` });
      let change: Promise<unknown> | undefined;
      answer = async () => {
        change ??= changeHook(site(), hook, { url: `${url}/moved` });
        await change;
        return 204;
      };
      await serve();
      const paths = got.map(({ path }) => path);
      expect(paths).toHaveLength(9);
      const first = paths.filter((path) => path === '/hook').length;
      expect(first).toBeGreaterThan(0);
      expect(first).toBeLessThan(9);
      expect(paths).toEqual(paths.map((_, place) => (place < first ? '/hook' : '/hook/moved')));
    });

    it('does not wait for slow receivers of other webhooks, and on shutdown only for its messages under way', async () => {
      const slow = await add({ kinds: 'venue' });
      const server = createHookServer(site());
      for (let number = 0; number < 9; number += 1) await ask.create('/venues', { venue: `V${number}` });
      let letGo = () => {};
      const held = new Promise<number>((resolve) => {
        letGo = () => resolve(204);
      });
      answer = (body) => (body.data.kind === 'venue' ? held : 204);
      const [first] = await server.serveDue();
      await until('a message', () => got.length > 0);
      await add({ kinds: 'tag' });
      await ask.create('/tags', { name: 'Meanwhile' });
      await Promise.all(await server.serveDue());
      expect(types()).toContainEqual(expect.stringMatching(/^tag\.created/));
      const ended = server.stop();
      letGo();
      await Promise.all([first, ended]);
      const sent = got.filter(({ body }) => body.data.kind === 'venue').length;
      expect(sent).toBeLessThan(9);
      expect((await hookMessages(site(), slow.id, 20)).filter(({ state }) => state === 'done')).toHaveLength(sent);
    });

    it('ends its turn only when all messages are answered, even if the result of one cannot be stored', async () => {
      await add({ kinds: 'venue' });
      const { id: one } = await ask.create('/venues', { venue: 'One' });
      const { id: other } = await ask.create('/venues', { venue: 'Other' });
      const isOne = `OLD.subject = 'venue ${one}'`;
      await ask.db().knex.raw(
        ask.db().dialect.name === 'sqlite'
          ? `CREATE TRIGGER failing BEFORE UPDATE ON wp_fasti_hook_messages WHEN ${isOne} BEGIN SELECT RAISE(ABORT, 'no'); END`
          : `CREATE TRIGGER failing BEFORE UPDATE ON wp_fasti_hook_messages FOR EACH ROW
               IF ${isOne} THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'; END IF`,
      );
      let letGo = () => {};
      const held = new Promise<number>((resolve) => {
        letGo = () => resolve(204);
      });
      answer = (body) => (body.data.id === other ? held : 204);
      let isOver = false;
      const serving = serve().then(() => {
        isOver = true;
      });
      await until('both messages', () => got.length === 2);
      await sleep(300);
      expect(isOver).toBe(false);
      letGo();
      await serving;
      await ask.db().knex.raw('DROP TRIGGER failing');
      const states = await ask.db().from('fasti_hook_messages').orderBy('number').pluck('state');
      expect(states).toEqual(['waiting', 'done']);
    });

    it('asks the receiver to read everything again if the journal is no longer complete', async () => {
      const { id: hook } = await add();
      await setHookActive(site(), hook, 'paused');
      for (const venue of ['A', 'B']) await ask.create('/venues', { venue });
      await pruneJournal(ask.db(), 1, new Date('2030-01-01'));
      await setHookActive(site(), hook, 'active');
      await serve();
      expect(types()).toEqual(['calendar.reset']);
    });

    it('sends no message from before a reset after it, not even on request', async () => {
      const { id: hook } = await add({ kinds: 'venue' });
      const { id } = await ask.create('/venues', { venue: 'Barn' });
      await ask.create('/venues', { venue: 'Mill' });
      answer = () => 503;
      await serve();
      await ask
        .db()
        .from('fasti_hook_messages')
        .where({ hook, subject: `venue ${id}` })
        .update({ state: 'failed' });
      await ask.options({ tribe_events_calendar_options: { singleEventSlug: 'gathering' } });
      [got, answer] = [[], () => 204];
      ask.setClock('2026-11-21T12:00:00Z');
      await serve();
      await serve();
      await retryHook(site(), hook);
      await serve();
      expect(types()).toEqual(['calendar.reset']);
      const { id: later } = await ask.create('/venues', { venue: 'Later' });
      await serve();
      expect(types()).toEqual(['calendar.reset', `venue.created ${later}`]);
    });

    it('sends each message once from several processes', async () => {
      await add({ kinds: 'venue' });
      const made: number[] = [];
      for (let number = 0; number < 5; number += 1) made.push((await ask.create('/venues', { venue: `V${number}` })).id);
      await Promise.all([serve(), serve(), serve()]);
      await serve();
      expect(types().sort()).toEqual(made.map((id) => `venue.created ${id}`).sort());
    });

    it('asks once to read everything again when a setting that records show has changed, even if it is paused', async () => {
      await add();
      const { id: paused } = await add();
      await serve();
      await setHookActive(site(), paused, 'paused');
      await ask.options({ blogname: 'Another name' });
      await serve();
      expect(types()).toEqual([]);
      await ask.options({ tribe_events_calendar_options: { singleEventSlug: 'happening' } });
      await Promise.all([serve(), serve()]);
      await serve();
      expect(types()).toEqual(['calendar.reset']);
      await setHookActive(site(), paused, 'active');
      await serve();
      expect(types()).toEqual(['calendar.reset', 'calendar.reset']);
    });

    it('can be tested, and does not show its secret', async () => {
      const { id, secret } = await add();
      await testHook(site(), id);
      await serve();
      expect(types()).toEqual(['webhook.test']);
      expect(JSON.stringify(await listHooks(site()))).not.toContain(secret);
      await expect(testHook(site(), 999)).rejects.toMatchObject({ problem: 'hook-unknown' });
      await expect(add({ url: 'ftp://example.org' })).rejects.toMatchObject({ problem: 'hook-url' });
      await expect(add({ kinds: 'page' })).rejects.toMatchObject({ problem: 'hook-kinds' });
    });

    it('leaves no messages behind if it is removed while others insert some', async () => {
      const { id } = await add();
      const hook = (await loadHooks(site().db)).find((one) => one.id === id)!;
      const mayInsert = gate();
      const advanced = gate();
      const inserting = site().db.transaction(async (trx) => {
        await advanceHook(trx, hook, hook.position + 1);
        advanced.open();
        await mayInsert.opened;
        await insertMessages(trx, [createMessage(hook, { number: 1, type: 'calendar.reset', data: {} }, new Date())]);
      });
      await advanced.opened;
      // SQLite lets a transaction begin only when the one before has ended.
      let isRemoving = engine === 'SQLite';
      const stop = site().db.driver.listen(({ sql }) => {
        isRemoving ||= /DELETE FROM \S*fasti_hooks\b/.test(sql);
      });
      const removal = deleteHook(site(), id);
      await until('the removal', () => isRemoving);
      mayInsert.open();
      await Promise.all([inserting, removal]);
      stop();
      expect(await site().db.from('fasti_hook_messages').where('hook', id).select('subject')).toEqual([]);
    });

    it('leaves no test behind if it is removed at the same moment', async () => {
      const { id } = await add();
      const mayEnd = gate();
      const removed = gate();
      const removal = site().db.transaction(async (trx) => {
        await removeHook(trx, id);
        removed.open();
        await mayEnd.opened;
      });
      await removed.opened;
      const test = expect(testHook(site(), id)).rejects.toMatchObject({ problem: 'hook-unknown' });
      await sleep(50);
      mayEnd.open();
      await Promise.all([removal, test]);
      expect(await site().db.from('fasti_hook_messages').where('hook', id).select('subject')).toEqual([]);
    });

    it('sends a test at once while an earlier one waits, which a retry then sends, too', async () => {
      const { id } = await add({ kinds: 'venue' });
      await testHook(site(), id);
      answer = () => 500;
      await serve();
      answer = () => 204;
      // The next test has a later position in the journal.
      await ask.create('/venues', { venue: 'Barn' });
      await serve();
      await testHook(site(), id);
      await serve();
      const tests = () => got.filter(({ body }) => body.type === 'webhook.test').map(({ headers }) => headers['webhook-id']);
      const [first] = tests();
      expect(tests()).toEqual([first, expect.not.stringMatching(`^${first}$`)]);
      expect(await retryHook(site(), id)).toBe(1);
      await serve();
      expect(tests().slice(2)).toEqual([first]);
    });

    it('lists the latest messages first, including tests', async () => {
      const { id } = await add();
      const seconds = ['01', '02', '03', '04', '05'];
      for (const second of seconds) {
        ask.setClock(`2026-11-20T12:00:${second}Z`);
        await testHook(site(), id);
      }
      const shown = (await hookMessages(site(), id, 3)).map(({ created_at: made }) => made.slice(-2));
      expect(shown).toEqual(['05', '04', '03']);
    });

    it.each(['http://10.0.0.1/hook', 'http://93.184.216.34:9443/hook'])(
      'sends nothing to the internal network or unusual ports: %s',
      async (to) => {
        const { id } = await add({ url: to, kinds: 'venue' });
        await ask.create('/venues', { venue: 'Barn' });
        await serve();
        expect((await hookMessages(site(), id, 10))[0]).toMatchObject({ state: 'waiting', status: 0, error: 'address', attempts: 1 });
      },
    );
  },
  { WEBHOOK_ADDRESSES: '127.0.0.1' },
);

describeRequests(
  'a webhook of a site that only this service writes to',
  (ask, engine) => {
    let receiver: Awaited<ReturnType<typeof startReceiver>>;
    const got: Got[] = [];
    let answer: () => number | Promise<number> = () => 204;
    beforeAll(async () => {
      receiver = await startReceiver((message) => {
        got.push(message);
        return answer();
      });
    });
    afterAll(() => receiver.close());
    beforeEach(async () => {
      for (const { id } of await listHooks(site())) await deleteHook(site(), id);
      await addHook(site(), { url: receiver.url, kinds: 'event' });
      got.length = 0;
      answer = () => 204;
    });

    const site = () => ask.running().site;
    const serve = async () => Promise.all(await createHookServer(site()).serveDue());
    const createEvents = async (number: number, venue: number): Promise<void> => {
      const request = (title: string) => ({ path: '/tribe/events/v1/events', body: { title, ...DATES, venue } });
      const body = { requests: Array.from({ length: number }, (_, index) => request(`Jazz ${index}`)) };
      expectBody(await ask.send('POST', '/wp-json/batch/v1', { as: 'admin', body }), 207);
    };

    it('does not read records again for messages that are sent at once', async () => {
      const { id: venue } = await ask.create('/venues', { venue: 'Barn' });
      const costOf = async (number: number) => {
        await createEvents(number, venue);
        const before = site().db.queries();
        await serve();
        return site().db.queries() - before;
      };
      await costOf(1);
      const [four, eight] = [await costOf(4), await costOf(8)];
      expect(got).toHaveLength(13);
      // For four messages: their results, the webhook, its reservation, the end of the journal and, on a server, the
      // settings twice.
      expect(eight - four).toBe(7 + (engine === 'MySQL' ? 2 : 0));
    });

    it('reads records again if anything has changed while earlier messages were sent', async () => {
      const { id: venue } = await ask.create('/venues', { venue: 'Secret place' });
      await createEvents(12, venue);
      let hiding: Promise<unknown> | undefined;
      answer = async () => {
        hiding ??= ask.update(`/venues/${venue}`, { status: 'draft' });
        await hiding;
        return 204;
      };
      await serve();
      expect(got.map(({ text }) => text.includes('Secret place'))).toEqual(got.map((_, index) => index < 4));
      expect(got).toHaveLength(12);
    });
  },
  { WEBHOOK_ADDRESSES: '127.0.0.1', SHARED_WITH_WORDPRESS: 'off' },
);
