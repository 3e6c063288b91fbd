import { expect, it } from '@jest/globals';
import { answerInMemory, canAnswerInMemory, type PlainRequest } from '../support/in-memory.ts';
import { describeRequests, ROOT } from '../support/site-client.ts';

/** Requests of every kind, each of which is sent both ways. Writes have the same result when sent twice. */
const REQUESTS: readonly (Partial<PlainRequest> & { readonly path: string; readonly as?: string })[] = [
  { path: `${ROOT}/events?per_page=2` },
  { path: `${ROOT}/events?per_page=2`, method: 'HEAD' },
  { path: `${ROOT}/events`, method: 'OPTIONS', as: 'admin' },
  { path: `${ROOT}/events/44`, headers: { 'Accept-Encoding': 'gzip', 'accept-language': 'it' } },
  { path: `${ROOT}/events/44`, headers: { 'If-None-Match': '*', Origin: 'https://example.org', Cookie: 'a=1; b=2' } },
  { path: `${ROOT}/events/44`, method: 'PUT', as: 'admin', headers: { 'Content-Type': 'application/json' }, body: '{"excerpt":"è"}' },
  { path: `${ROOT}/events/44`, method: 'PATCH', as: 'sub', body: 'excerpt=x' },
  { path: `${ROOT}/events/44`, method: 'POST', as: 'admin' },
  { path: `${ROOT}/tags/999`, method: 'DELETE', as: 'admin' },
  { path: `${ROOT}/venues`, method: 'POST', as: 'admin', headers: { 'Content-Type': 'application/json' }, body: '{"venue":' },
  { path: '/wp-json/wp/v2/tribe_events?_envelope=1&_jsonp=call', headers: { 'X-TEC-EEA': 'yes' } },
  { path: '/events/?ical=1' },
  { path: '/events/', headers: { 'Accept-Encoding': 'br' } },
  { path: '/desk/login' },
  { path: '/health/ready' },
  { path: '/nothing%20here' },
  { path: '//two' },
];

/** Headers whose values differ each time. */
const NEW_EACH_TIME = /^(?:date|x-request-id|set-cookie)$/;

describeRequests('in-memory request', ({ send }) => {
  const shown = async (way: Record<string, string>, { method = 'GET', path, headers = {}, body = null, as }: (typeof REQUESTS)[number]) => {
    const answer = await send(method, path, { headers: { ...headers, ...way }, body, ...(as ? { as } : {}) });
    const heads = Object.entries(answer.headers).map(([name, value]) => [name, NEW_EACH_TIME.test(name) ? typeof value : value]);
    return { ...answer, headers: Object.fromEntries(heads), text: answer.text.replaceAll(/[\w-]{40,}/g, '…') };
  };

  it.each(REQUESTS.map((request) => [request.method ?? 'GET', request.path, request] as const))(
    'gets the same response as over a connection: %s %s',
    async (_method, _path, request) => {
      expect(canAnswerInMemory({ method: 'GET', headers: {}, body: null, ...request })).toBe(true);
      const plain = await shown({}, request);
      // A TE header requires a real connection.
      expect(plain).toEqual(await shown({ TE: 'trailers' }, request));
      expect(plain.headers).toMatchObject({ date: 'string', connection: 'keep-alive' });
    },
  );

  it('is not used for requests that the HTTP parser would treat specially', async () => {
    const plain: PlainRequest = { method: 'GET', path: '/', headers: {}, body: null };
    const others: Partial<PlainRequest>[] = [
      { method: 'BREW' },
      { path: '/a b' },
      { path: 'http://127.0.0.1/' },
      { path: `/${'a'.repeat(8000)}` },
      { headers: { 'Bad name': 'x' } },
      { headers: { Name: 'è' } },
      { headers: { Name: 'a\r\nb: c' } },
      { headers: { Expect: '100-continue' } },
      { method: 'POST', body: 'x'.repeat(60_001) },
    ];
    expect(canAnswerInMemory(plain)).toBe(true);
    expect(others.filter((other) => canAnswerInMemory({ ...plain, ...other }))).toEqual([]);
  });

  it('fails if the response is aborted', async () => {
    const breaksOff = answerInMemory((_, response) => void response.destroy(), 'localhost', {
      method: 'GET',
      path: '/',
      headers: {},
      body: null,
    });
    await expect(breaksOff).rejects.toMatchObject({ code: 'ECONNRESET' });
  });
});
