import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { type ChangesPage, type Client, createClient, FastiError } from '../client/index.js';
import { clientTypes } from '../src/cli/client-types.ts';
import { describeAsking } from './support/asking.ts';
import { passwordOf } from './support/running-site.ts';

/*
 * The client that comes with the package, on a running site.
 */

const DATES = { start_date: '2026-12-10 18:00:00', end_date: '2026-12-10 20:00:00' };

it('has the types of the declarations', () => {
  expect(readFileSync(new URL('../client/records.d.ts', import.meta.url), 'utf8')).toBe(clientTypes());
});

describeAsking('the client', (ask) => {
  const client = (as: string | undefined = 'admin'): Client => {
    const { base } = ask.running();
    return createClient({ url: base, ...(as ? { login: `${as}:${passwordOf(as)}` } : {}), tries: 1 });
  };
  /** Writes through a client are none that the suite knows of. */
  const writes = () => ask.rows(async () => undefined);

  it('lists, page by page', async () => {
    const { events } = client();
    const filters = { start_date: '2000-01-01', end_date: '2100-01-01', per_page: 3 };
    const first = await events.list(filters);
    expect(first.records).toHaveLength(3);
    const ids = new Set<number>();
    for await (const event of events.each(filters)) ids.add(event.id);
    expect(ids.size).toBe(first.total);
    expect((await client().categories.list()).records.length).toBeGreaterThan(0);
  });

  it('creates, reads, changes and removes', async () => {
    await writes();
    const { events } = client();
    const { body, status } = await events.create({ title: 'Jazz', ...DATES }, { key: 'client 1' });
    expect(status).toBe(201);
    const read = await events.get(body.id);
    expect(read.body.title).toBe('Jazz');
    const changed = await events.update(body.id, { title: 'Blues' }, { ifMatch: read.etag! });
    expect(changed.body.title).toBe('Blues');
    await expect(events.update(body.id, { title: 'Late' }, { ifMatch: read.etag! })).rejects.toMatchObject({
      code: 'rest_precondition_failed',
      status: 412,
    });
    expect((await events.bySlug(changed.body.slug)).body.id).toBe(body.id);
    expect((await events.remove(body.id)).status).toBe(200);
    const known = await client().venues.upsert('external_id', { venue: 'Barn', external_id: 'b' });
    expect([known.created, (await client().venues.upsert('external_id', { venue: 'Barn', external_id: 'b' })).created]).toEqual([
      true,
      false,
    ]);
  });

  it('throws what the site refuses, by its code', async () => {
    const error = await client()
      .events.create({ title: 'No dates' })
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(FastiError);
    expect(error).toMatchObject({ code: 'rest_missing_callback_param', status: 400 });
  });

  it('sends batches', async () => {
    await writes();
    const requests = ['A', 'B'].map((venue) => ({ path: '/calendar/events/v1/venues', body: { venue } }));
    const { responses } = await client().batch(requests, { atomic: true });
    expect(responses.map((one) => one?.status)).toEqual([201, 201]);
  });

  it('follows changes', async () => {
    await writes();
    const pages: ChangesPage[] = [];
    for await (const page of client().changes({ kinds: ['venue'], records: true, limit: 2 })) pages.push(page);
    expect(pages.length).toBeGreaterThan(1);
    const stop = new AbortController();
    const stream = client().stream({ kinds: ['venue'], since: pages.at(-1)!.next, signal: stop.signal });
    const next = stream.next();
    const { body } = await client().venues.create({ venue: 'Barn' });
    expect((await next).value.changes).toMatchObject([{ kind: 'venue', id: body.id, change: 'created' }]);
    stop.abort();
    const { changes } = await client().changesPage({ kinds: ['venue'], since: pages.at(-1)!.next });
    expect(changes).toMatchObject([{ id: body.id }]);
  });
});
