import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { insertRows } from '../src/storage/engine/insert.ts';
import { dueMessages } from '../src/storage/rows/due-messages.ts';
import { createHookServer } from '../src/webhooks/deliver.ts';
import { addHook, changeHook, deleteHook, hookMessages, listHooks, retryHook } from '../src/webhooks/hooks.ts';
import { type Got, startReceiver } from './support/hook-receiver.ts';
import { describeRequests, type Json } from './support/site-client.ts';

/* Webhooks: attempts to send a message while something else happens to it or to its webhook. */

const NOW = '2026-11-20T12:00:00Z';
const LATER = '2026-11-20T12:00:06Z';

describeRequests(
  'an attempt to send a message to a webhook',
  (ask) => {
    let receiver: Awaited<ReturnType<typeof startReceiver>>;
    let got: Got[] = [];
    let answer: (body: Json) => number | Promise<number> = () => 204;
    beforeAll(async () => {
      receiver = await startReceiver((message) => {
        got.push(message);
        return answer(message.body);
      });
    });
    afterAll(() => receiver.close());
    beforeEach(async () => {
      for (const { id } of await listHooks(site())) await deleteHook(site(), id);
      got = [];
      answer = () => 204;
      ask.setClock(NOW);
    });

    const site = () => ask.running().site;
    const add = () => addHook(site(), { url: receiver.url, kinds: 'venue' });
    const serve = async () => Promise.all(await createHookServer(site()).serveDue());
    const types = () => got.map(({ body }) => body.type);
    const states = async (hook: number) => (await hookMessages(site(), hook, 10)).map(({ state }) => state).reverse();
    const setState = (hook: number, state: 'failed') => ask.db().from('fasti_hook_messages').where('hook', hook).update({ state });

    /** Sends a message that fails, and then again: a retry is requested before the receiver answers with `status`. */
    const retriedDuringAttempt = async (status: number): Promise<number> => {
      const { id: hook } = await add();
      await ask.create('/venues', { venue: 'Barn' });
      answer = () => 500;
      await serve();
      ask.setClock(LATER);
      answer = async () => {
        await retryHook(site(), hook);
        return status;
      };
      await serve();
      return hook;
    };

    it('does not undo a request to retry when it fails', async () => {
      const hook = await retriedDuringAttempt(500);
      expect((await hookMessages(site(), hook, 1))[0]).toMatchObject({ state: 'waiting', attempts: 0, next_at: '2026-11-20 12:00:06' });
    });

    it('counts if it succeeds after a request to retry', async () => {
      const hook = await retriedDuringAttempt(204);
      await serve();
      expect([types(), await states(hook)]).toEqual([['venue.created', 'venue.created'], ['done']]);
    });

    it('does not put a message back that another process has delivered since', async () => {
      const { id: hook } = await add();
      const { id } = await ask.create('/venues', { venue: 'Barn' });
      answer = async () => {
        answer = () => 204;
        // This process stands still, so that another one takes the webhook over.
        await ask.db().from('fasti_hooks').where('id', hook).update({ busy_until: '' });
        await ask.update(`/venues/${id}`, { city: 'Arezzo' });
        await serve();
        return 500;
      };
      await serve();
      ask.setClock(LATER);
      await serve();
      expect(types()).toEqual(['venue.created', 'venue.created', 'venue.updated']);
      expect(await states(hook)).toEqual(['done', 'done']);
    });

    it('ends the retry of an earlier message about the record when it succeeds', async () => {
      const { id: hook } = await add();
      const { id } = await ask.create('/venues', { venue: 'Barn' });
      answer = () => 500;
      await serve();
      await setState(hook, 'failed');
      await ask.update(`/venues/${id}`, { city: 'Arezzo' });
      answer = async () => {
        expect(await retryHook(site(), hook)).toBe(2);
        return 204;
      };
      await serve();
      ask.setClock(LATER);
      await serve();
      expect([types(), await states(hook)]).toEqual([
        ['venue.created', 'venue.updated'],
        ['failed', 'done'],
      ]);
    });

    it('does not switch the webhook off by a 410 from the URL that it had before', async () => {
      const { id: hook } = await add();
      await ask.create('/venues', { venue: 'Barn' });
      answer = async () => {
        answer = () => 204;
        await changeHook(site(), hook, { url: `${receiver.url}/moved` });
        return 410;
      };
      await serve();
      expect((await listHooks(site()))[0]).toMatchObject({ state: 'active' });
      ask.setClock(LATER);
      await serve();
      expect(got.map(({ path }) => path)).toEqual(['/hook', '/hook/moved']);
    });

    it('takes one look at the waiting messages each second, even if some are only due after others', async () => {
      const { id: hook } = await add();
      const row = (number: number, subject: string, next_at: string) => ({
        ...{ id: `msg_${number}`, hook, number, subject, next_at },
        ...{ state: 'waiting' as const, payload: '{}' },
      });
      const firsts = Array.from({ length: 600 }, (_, at) => row(at + 1, `venue ${at}`, '2026-11-20 12:30:00'));
      await insertRows(ask.db(), 'fasti_hook_messages', [...firsts, row(601, 'venue 7', '2026-11-20 11:00:00')]);
      const due = async (now: string) =>
        (await dueMessages(ask.db(), hook, { now, futureLimit: '2026-11-21 12:00:00' }, 20)).map(({ number }) => number);
      expect(await due('2026-11-20 12:00:00')).toEqual([]);
      const before = ask.db().queries();
      expect([await due('2026-11-20 12:00:01'), ask.db().queries() - before]).toEqual([[], 1]);
      await ask.db().from('fasti_hook_messages').where('number', '<=', 600).update({ state: 'done' });
      expect(await due('2026-11-20 12:30:00')).toEqual([601]);
    });

    it('is not prepared any more once the process is ending', async () => {
      const { id: hook } = await add();
      const position = async () => (await ask.db().from('fasti_hooks').where('id', hook).first('position'))?.position;
      const before = await position();
      await ask.create('/venues', { venue: 'Barn' });
      let ended: Promise<void> | undefined;
      const server = createHookServer({
        ...site(),
        // The texts are asked for when the webhook is about to be served.
        get texts() {
          ended ??= server.stop();
          return site().texts;
        },
      });
      await Promise.all(await server.serveDue());
      await ended;
      expect([ended, await position(), got]).toEqual([expect.any(Promise), before, []]);
    });
  },
  { WEBHOOK_ADDRESSES: '127.0.0.1' },
);
