/*
 * A client for the API of Fasti, without any dependency: it needs `fetch` alone. Types are in `index.d.ts`.
 */

const NAMESPACE = 'calendar/events/v1';
/** What may go through if it is sent once more. */
const PASSING = new Set([429, 503]);

/** An answer that refuses what was asked. */
export class FastiError extends Error {
  constructor({ code, message, data, status, ...rest }) {
    super(message);
    this.name = 'FastiError';
    this.code = code;
    this.status = status;
    this.data = data;
    this.rest = rest;
  }
}

export function createClient({ url, login, fetch: send = fetch, tries = 3, namespace = NAMESPACE }) {
  const root = url.replace(/\/+$/, '').replace(/\/wp-json$/, '');
  const authorization = login === undefined ? {} : { Authorization: `Basic ${base64(login)}` };

  const answered = async (method, path, { query = {}, body, headers = {}, signal } = {}) => {
    const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
    const text = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString();
    const init = {
      method,
      headers: { ...authorization, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    };
    for (let left = tries; ; left -= 1) {
      const answer = await send(`${root}/wp-json/${path}${text ? `?${text}` : ''}`, init);
      // Only reads, and writes with a key, may be sent again.
      const again = method === 'GET' || 'Idempotency-Key' in headers;
      if (!PASSING.has(answer.status) || !again || left <= 1) return answer;
      await new Promise((resolve) => setTimeout(resolve, 1000 * Number(answer.headers.get('retry-after') ?? 1)));
    }
  };

  const request = async (method, path, options) => {
    const answer = await answered(method, path, options);
    const text = await answer.text();
    const body = parsed(text);
    if (!answer.ok) throw new FastiError({ code: 'unknown', message: text.slice(0, 200), ...body, status: answer.status });
    const etag = answer.headers.get('etag') ?? undefined;
    return { status: answer.status, body, ...(etag === undefined ? {} : { etag }) };
  };

  const records = (path) => {
    const at = (id) => `${namespace}/${path}/${id}`;
    const list = async (filters = {}) => {
      const { body } = await request('GET', `${namespace}/${path}`, { query: filters });
      return { records: body[path], total: body.total, pages: body.total_pages };
    };
    return {
      list,
      each: async function* (filters = {}) {
        for (let page = 1, pages = 1; page <= pages; page += 1) {
          const listing = await list({ ...filters, page });
          yield* listing.records;
          pages = listing.pages ?? 1;
        }
      },
      get: (id, options) => request('GET', at(id), options),
      bySlug: (slug, options) => request('GET', at(`by-slug/${encodeURIComponent(slug)}`), options),
      create: (fields, options) => request('POST', `${namespace}/${path}`, { ...written(options), body: fields }),
      upsert: async (by, fields, options) => {
        const { status, ...answer } = await request('POST', `${namespace}/${path}`, {
          ...written(options),
          query: { upsert: by },
          body: fields,
        });
        return { ...answer, status, created: status === 201 };
      },
      update: (id, fields, options) => request('PATCH', at(id), { ...written(options), body: fields }),
      remove: (id, options) => request('DELETE', at(id), written(options)),
    };
  };

  const changesPage = async ({ since, kinds, records: include, limit, signal } = {}) => {
    const query = { since, kinds: kinds?.join(','), include: include ? 'records' : undefined, limit };
    return (await request('GET', `${namespace}/changes`, { query, signal })).body;
  };

  return {
    events: records('events'),
    venues: records('venues'),
    organizers: records('organizers'),
    categories: records('categories'),
    tags: records('tags'),
    changesPage,
    changes: async function* (options = {}) {
      for (let since = options.since, more = true; more; ) {
        const page = await changesPage({ ...options, since });
        yield page;
        ({ next: since, more } = page);
      }
    },
    stream: async function* ({ since, kinds, records: include, signal } = {}) {
      let token = since;
      for (;;) {
        const query = { since: token, kinds: kinds?.join(','), include: include ? 'records' : undefined };
        const answer = await answered('GET', `${namespace}/changes/stream`, { query, signal });
        if (!answer.ok) throw new FastiError({ code: 'unknown', message: '', ...parsed(await answer.text()), status: answer.status });
        for await (const { changes, next } of eventsIn(answer.body)) {
          token = next;
          if (changes.length > 0) yield { changes, next };
        }
      }
    },
    batch: async (requests, { atomic = false, ...options } = {}) => {
      const body = { requests, validation: atomic ? 'require-all-validate' : 'normal' };
      return (await request('POST', 'batch/v1', { ...written(options), body })).body;
    },
    request,
  };
}

/** The headers that options of a write come to. */
const written = ({ ifMatch, key, headers = {}, ...options } = {}) => ({
  ...options,
  headers: {
    ...headers,
    ...(ifMatch === undefined ? {} : { 'If-Match': ifMatch }),
    ...(key === undefined ? {} : { 'Idempotency-Key': key }),
  },
});

/** The data of server-sent events. */
async function* eventsIn(body) {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const data = /^data: (.*)$/m.exec(text.slice(0, end))?.[1];
      text = text.slice(end + 2);
      if (data !== undefined) yield JSON.parse(data);
    }
  }
}

const base64 = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
