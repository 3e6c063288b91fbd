import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { type ChangesPage, type Client, createClient, FastiError } from '../client/index.js';
import { clientTypes } from '../src/cli/client-types.ts';
import { passwordOf } from './support/running-site.ts';
import { describeRequests } from './support/site-client.ts';

/* The client that is part of the package, against a running site. */

const DATES = { start_date: '2026-12-10 18:00:00', end_date: '2026-12-10 20:00:00' };

it('has the types of the published declarations', () => {
  expect(readFileSync(new URL('../client/records.d.ts', import.meta.url), 'utf8')).toBe(clientTypes());
});

describe('the client when requests fail', () => {
  const none = { changes: [], next: 'a' };
  const change = { kind: 'venue', id: 1, change: 'updated', record: { venue: 'One\u2028two' } };
  /** The answer to a request for a stream: its events, followed by the given end of the connection. */
  const stream = (events: readonly object[], end: (body: ReadableStreamDefaultController) => void): Response =>
    new Response(
      new ReadableStream({
        start: (body) => {
          body.enqueue(new TextEncoder().encode('retry: 1\n'));
          for (const data of events) body.enqueue(new TextEncoder().encode(`id: x\nevent: changes\ndata: ${JSON.stringify(data)}\n\n`));
        },
        pull: end,
      }),
      { headers: { 'Content-Type': 'text/event-stream' } },
    );
  /** A client whose requests get these answers in turn, and the URLs it requests. */
  const clientOf = (...answers: readonly (() => Response)[]) => {
    const asked: string[] = [];
    const sent: RequestInit[] = [];
    const left = [...answers];
    const send = async (url: unknown, init: RequestInit) => {
      asked.push(String(url));
      sent.push(init);
      return left.shift()!();
    };
    return { client: createClient({ url: 'https://example.org', fetch: send as typeof fetch, tries: 2 }), asked, sent };
  };

  it('resumes a broken stream where it stopped', async () => {
    const { client, asked } = clientOf(
      () => stream([none], (body) => body.error(new TypeError('terminated'))),
      () => {
        throw new TypeError('fetch failed');
      },
      () => new Response('Bad gateway', { status: 502 }),
      () => stream([{ changes: [change], next: 'b' }], (body) => body.close()),
      () => new Response('{"code":"rest_changes_token_expired"}', { status: 410 }),
    );
    const changes = client.stream({ limit: 7, lang: 'it' });
    expect((await changes.next()).value).toEqual({ changes: [change], next: 'b' });
    await expect(changes.next()).rejects.toMatchObject({ code: 'rest_changes_token_expired', status: 410 });
    expect(asked.map((url) => new URL(url).search)).toEqual([
      '?limit=7&lang=it',
      ...Array(3).fill('?since=a&limit=7&lang=it'),
      '?since=b&limit=7&lang=it',
    ]);
  });

  it('sends the parameters of sites with languages or custom fields', async () => {
    const { client, asked } = clientOf(
      () => new Response('{"events":[],"total":0}'),
      () => new Response('{"id":2}', { status: 201 }),
      () => new Response('{"changes":[],"next":"a","more":false}'),
    );
    await client.events.list({ lang: 'it', language_fallback: true });
    await client.events.create({
      title: 'Sera',
      language: 'it',
      translation_of: 1,
      translations: { en: { id: 1 } },
      custom_fields: { stage: 'A' },
    });
    await client.changesPage({ lang: 'it' });
    expect(asked.map((url) => new URL(url).search)).toEqual(['?lang=it&language_fallback=true', '', '?lang=it']);
  });

  it('sends lists whose members contain commas, and filters by custom fields', async () => {
    const { client, asked } = clientOf(...Array<() => Response>(3).fill(() => new Response('{"events":[],"total":0}')));
    await client.events.list({ categories: ['Food, wine', 7], search: 'a, b' });
    await client.events.list({ include: [1, 2] });
    await client.events.list({ custom_fields: { stage: 'Garden', accessibility: ['ramp', 'lift'] } });
    expect(asked.map((url) => decodeURIComponent(new URL(url).search))).toEqual([
      '?categories[]=Food,+wine&categories[]=7&search=a,+b',
      '?include=1,2',
      '?custom_fields[stage]=Garden&custom_fields[accessibility][]=ramp&custom_fields[accessibility][]=lift',
    ]);
  });

  const bytes = new Uint8Array([0, 1, 255]);
  const form = new FormData();
  it.each([
    ['a text', 'Jazz', null],
    ['bytes', bytes, null],
    ['a buffer', bytes.buffer, null],
    ['a file', new Blob([bytes], { type: 'image/png' }), null],
    ['a form', form, null],
    ['a query', new URLSearchParams({ venue: 'Barn' }), null],
    ['a stream', new ReadableStream(), null],
    ['an object', { venue: 'Barn' }, 'application/json'],
    ['a list', [1], 'application/json'],
  ])('sends %s in the form that it has', async (_, body: unknown, type) => {
    const { client, sent } = clientOf(() => new Response('{}'));
    await client.request('POST', 'wp/v2/media', { body });
    expect(sent[0]!.body).toBe(type === null ? body : JSON.stringify(body));
    expect(new Headers(sent[0]!.headers).get('Content-Type')).toBe(type);
  });

  it.each([{ 'content-type': 'application/merge-patch+json' }, new Headers({ 'Content-Type': 'application/merge-patch+json' })])(
    'sends the headers of the caller in the place of its own: %j',
    async (headers) => {
      const { client, sent } = clientOf(() => new Response('{}'));
      await client.request('PATCH', 'calendar/events/v1/venues/1', { body: {}, headers });
      expect([...new Headers(sent[0]!.headers)]).toEqual([['content-type', 'application/merge-patch+json']]);
    },
  );

  it('throws its own error for the page of a proxy, whatever its status', async () => {
    const page = () => new Response('<html>Sign in</html>', { headers: { 'Content-Type': 'text/html' } });
    const { client } = clientOf(page, page, page);
    const error = { name: 'FastiError', code: 'unknown', status: 200, message: '<html>Sign in</html>' };
    await expect(client.events.list()).rejects.toMatchObject(error);
    await expect(client.events.get(1)).rejects.toMatchObject(error);
    await expect(client.stream().next()).rejects.toMatchObject(error);
  });

  it('repeats a write with a key while the first one is under way, and no other refused write', async () => {
    const underWay = () => new Response('{"code":"rest_request_under_way"}', { status: 409, headers: { 'Retry-After': '0' } });
    const conflict = () => new Response('{"code":"translation-conflict"}', { status: 409, headers: { 'Retry-After': '0' } });
    const { client, asked } = clientOf(underWay, () => new Response('{"id":7}', { status: 201 }), conflict, underWay);
    expect((await client.venues.create({ venue: 'Barn' }, { key: 'a' })).body.id).toBe(7);
    await expect(client.venues.create({ venue: 'Barn' }, { key: 'b' })).rejects.toMatchObject({ code: 'translation-conflict' });
    await expect(client.venues.create({ venue: 'Barn' })).rejects.toMatchObject({ code: 'rest_request_under_way' });
    expect(asked).toHaveLength(4);
  });

  it('does not wait for longer than it may', async () => {
    const { client } = clientOf(
      () => new Response('{"code":"rest_too_many_requests"}', { status: 429, headers: { 'Retry-After': '900' } }),
    );
    await expect(client.events.list()).rejects.toMatchObject({ code: 'rest_too_many_requests', status: 429, retryAfter: 900 });
  });

  it('gives back the answers of a proxy before a stream reconnects', async () => {
    const gateway = new Response('Bad gateway', { status: 502 });
    const { client } = clientOf(
      () => stream([none], (body) => body.close()),
      () => gateway,
      () => new Response('{"code":"rest_changes_token_expired"}', { status: 410 }),
    );
    await expect(client.stream().next()).rejects.toMatchObject({ status: 410 });
    expect(await gateway.body!.getReader().read()).toEqual({ done: true, value: undefined });
  });

  it('stops reading a list when it is aborted', async () => {
    const { client, sent } = clientOf(
      ...Array<() => Response>(2).fill(() => new Response('{"events":[{"id":1}],"total":2,"total_pages":2}')),
    );
    const { signal } = new AbortController();
    await client.events.list({}, { signal });
    await client.events.each({}, { signal }).next();
    expect(sent.map((init) => init.signal)).toEqual([signal, signal]);
  });

  it('makes an error of its members', () => {
    const error = new FastiError({ code: 'rest_server_busy', status: 503, message: 'Busy', retryAfter: 2 });
    expect(error).toMatchObject({ name: 'FastiError', message: 'Busy', code: 'rest_server_busy', status: 503, retryAfter: 2 });
  });

  it('ends a stream, and the pause before a retry, as soon as it is aborted', async () => {
    const stop = new AbortController();
    const { client } = clientOf(
      () => stream([none], (body) => body.close()),
      () => new Response('', { status: 503, headers: { 'Retry-After': '60' } }),
    );
    const next = client.stream({ signal: stop.signal }).next();
    setTimeout(() => stop.abort(), 50);
    await expect(next).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('retries after one second if a proxy gives a date in Retry-After', async () => {
    const busy = () => new Response('', { status: 503, headers: { 'Retry-After': 'Fri, 27 Nov 2026 12:00:00 GMT' } });
    const { client } = clientOf(busy, () => new Response('{"venues":[],"total":0}'));
    const begun = performance.now();
    await client.venues.list();
    expect(performance.now() - begun).toBeGreaterThan(900);
  });

  it('ends a list that has become shorter while it is read', async () => {
    const gone = () => new Response('{"code":"event-archive-page-not-found"}', { status: 404 });
    const { client } = clientOf(() => new Response('{"events":[{"id":1}],"total":2,"total_pages":2}'), gone, gone);
    const ids: number[] = [];
    for await (const { id } of client.events.each()) ids.push(id);
    expect(ids).toEqual([1]);
    await expect(client.events.each().next()).rejects.toMatchObject({ status: 404 });
  });

  it('reports a page that something else than the end of the list makes unreachable', async () => {
    const { client } = clientOf(
      () => new Response('{"events":[{"id":1}],"total":2,"total_pages":2}'),
      () => new Response('<html>Not found</html>', { status: 404 }),
    );
    const events = client.events.each();
    expect((await events.next()).value).toEqual({ id: 1 });
    await expect(events.next()).rejects.toMatchObject({ code: 'unknown', status: 404 });
  });
});

describeRequests('the client', (ask) => {
  const client = (as: string | undefined = 'admin'): Client => {
    const { base } = ask.running();
    return createClient({ url: base, ...(as ? { login: `${as}:${passwordOf(as)}` } : {}), tries: 1 });
  };
  /** Resets the site, since the test suite does not notice writes made through a client. */
  const writes = () => ask.writeRows(async () => undefined);

  it('lists records page by page', async () => {
    const { events } = client();
    const filters = { start_date: '2000-01-01', end_date: '2100-01-01', per_page: 3 };
    const first = await events.list(filters);
    expect(first.records).toHaveLength(3);
    const ids = new Set<number>();
    for await (const event of events.each(filters)) ids.add(event.id);
    expect(ids.size).toBe(first.total);
    expect((await client().categories.list()).records.length).toBeGreaterThan(0);
  });

  it('creates, reads, updates and deletes records', async () => {
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

  it.each(['日本 祭り', 'Ярмарка', 'Fête d’été', '100% jazz'])('finds the event %s by the slug of its record', async (title) => {
    await writes();
    const { events } = client();
    const { body } = await events.create({ title, ...DATES });
    expect((await events.bySlug(body.slug)).body.id).toBe(body.id);
    expect((await events.bySlug(decodeURIComponent(body.slug))).body.id).toBe(body.id);
  });

  it('throws the error of a refused request, with its code', async () => {
    const error = await client()
      .events.create({ title: 'No dates' })
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(FastiError);
    expect(error).toMatchObject({ code: 'rest_missing_callback_param', status: 400 });
  });

  it.each(['bytes', 'form'])('uploads an image as %s', async (how) => {
    await writes();
    const png = readFileSync(new URL('fixtures/uploads/2026/11/tiny.png', import.meta.url));
    const form = new FormData();
    form.set('file', new Blob([png]), 'poster.png');
    const upload =
      how === 'form'
        ? { body: form }
        : { body: png, headers: { 'Content-Disposition': 'attachment; filename="poster.png"', 'content-type': 'image/png' } };
    const { body } = await client().request<{ id: number }>('POST', 'wp/v2/media', upload);
    const { body: event } = await client().events.create({ title: 'Jazz', ...DATES, image: body.id });
    expect(event.image).toMatchObject({ id: body.id });
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
