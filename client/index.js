/* Client library for the API of Fasti. It has no dependencies and only needs `fetch`. Types are in `index.d.ts`. */

const NAMESPACE = 'calendar/events/v1';
/** Statuses after which a request may succeed if it is repeated. */
const PASSING = new Set([429, 503]);
/** Statuses after which a stream reconnects, for example because the server behind a proxy restarts. */
const OUTLIVED = new Set([...PASSING, 502, 504]);
/** Milliseconds before a stream reconnects, unless the server says otherwise. */
const RETRY_MS = 3000;

/** An error response. */
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
    const text = new URLSearchParams(Object.entries(query).flatMap(([name, value]) => queryPairs(name, value))).toString();
    const init = {
      method,
      headers: { ...authorization, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    };
    for (let left = tries; ; left -= 1) {
      const answer = await send(`${root}/wp-json/${path}${text ? `?${text}` : ''}`, init);
      // Only reads, and writes with a key, may be repeated.
      const again = method === 'GET' || 'Idempotency-Key' in headers;
      if (!PASSING.has(answer.status) || !again || left <= 1) return answer;
      await answer.body?.cancel();
      // Proxies may send a date.
      const seconds = Number(answer.headers.get('retry-after') ?? 1);
      await pause(1000 * (Number.isFinite(seconds) ? seconds : 1), signal);
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
          const listing = await list({ ...filters, page }).catch(pastTheEnd(page));
          yield* listing.records;
          pages = listing.pages ?? 1;
        }
      },
      get: (id, options) => request('GET', at(id), options),
      bySlug: (slug, options) => request('GET', at(`by-slug/${slugInPath(slug)}`), options),
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

  const followed = ({ kinds, records: include, limit, lang }, since) => ({
    since,
    kinds: kinds?.join(','),
    include: include ? 'records' : undefined,
    limit,
    lang,
  });
  const changesPage = async ({ since, signal, ...options } = {}) =>
    (await request('GET', `${namespace}/changes`, { query: followed(options, since), signal })).body;

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
    stream: async function* ({ since, signal, ...options } = {}) {
      let token = since;
      const connect = () => answered('GET', `${namespace}/changes/stream`, { query: followed(options, token), signal });
      let wait = RETRY_MS;
      for (let answer = await connect(); ; ) {
        if (answer && !answer.ok) {
          const told = parsed(await answer.text());
          throw new FastiError({ code: 'unknown', message: '', ...told, status: answer.status });
        }
        for await (const { data, retry } of answer ? eventsIn(answer.body, signal) : []) {
          wait = Number(retry ?? wait);
          if (data === undefined) continue;
          const { changes, next } = JSON.parse(data);
          token = next;
          if (changes.length > 0) yield { changes, next };
        }
        await pause(wait, signal);
        answer = await connect().then((again) => (OUTLIVED.has(again.status) ? undefined : again), unlessAborted(signal));
      }
    },
    batch: async (requests, { atomic = false, ...options } = {}) => {
      const body = { requests, validation: atomic ? 'require-all-validate' : 'normal' };
      return (await request('POST', 'batch/v1', { ...written(options), body })).body;
    },
    request,
  };
}

/**
 * Returns a slug for a path. Slugs in other scripts than Latin are stored percent-encoded, and records show them so;
 * what is encoded already stays as it is.
 */
const slugInPath = (slug) => encodeURIComponent(slug).replace(/%25([\da-f]{2})/gi, '%$1');

/**
 * Returns a parameter as name and value. A list is one text with commas, unless a member contains one; then each member
 * has its own pair (`tags[]`), as the members of an object do (`custom_fields[stage]`).
 */
function queryPairs(name, value) {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.some((member) => String(member).includes(',')))
    return value.flatMap((member) => queryPairs(`${name}[]`, member));
  const isObject = Object.getPrototypeOf(value) === Object.prototype;
  return isObject ? Object.entries(value).flatMap(([key, member]) => queryPairs(`${name}[${key}]`, member)) : [[name, String(value)]];
}

/** Converts the options of a write to headers. */
const written = ({ ifMatch, key, headers = {}, ...options } = {}) => ({
  ...options,
  headers: {
    ...headers,
    ...(ifMatch === undefined ? {} : { 'If-Match': ifMatch }),
    ...(key === undefined ? {} : { 'Idempotency-Key': key }),
  },
});

/** Yields server-sent events as objects of their fields, until the connection ends or breaks. */
async function* eventsIn(body, signal) {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (let text = ''; ; ) {
      const { value, done } = (await reader.read().catch(unlessAborted(signal))) ?? { done: true };
      if (done) return;
      text += decoder.decode(value, { stream: true });
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        // Split at this character only: texts may contain other line separators (U+2028), which `.` does not match.
        const lines = text.slice(0, end).split('\n');
        text = text.slice(end + 2);
        yield Object.fromEntries(lines.map((line) => [line.split(': ', 1)[0], line.slice(line.indexOf(': ') + 2)]));
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Ignores network errors, unless the caller aborted the request. */
const unlessAborted = (signal) => (error) => {
  if (signal?.aborted) throw error;
};

/** Treats a page beyond the end as empty, since the list may have become shorter. */
const pastTheEnd = (page) => (error) => {
  if (page === 1 || error.status !== 404) throw error;
  return { records: [], pages: 0 };
};

/** Waits; rejects as soon as the signal is aborted. */
const pause = (milliseconds, signal) =>
  new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });

const base64 = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
