/* Client library for the API of Fasti. It has no dependencies and only needs `fetch`. Types are in `index.d.ts`. */

const NAMESPACE = 'calendar/events/v1';
/** Statuses after which a request may succeed if it is repeated. */
const PASSING = new Set([429, 503]);
/** Statuses after which a stream reconnects, for example because the server behind a proxy restarts. */
const OUTLIVED = new Set([...PASSING, 502, 504]);
/** Milliseconds before a stream reconnects, unless the server says otherwise. */
const RETRY_MS = 3000;
/** Code of the refusal of a write while the first one with the same key is still carried out. */
const UNDER_WAY = 'rest_request_under_way';
/** Names of the types that `fetch` sends as they are, besides array buffers and their views. */
const SENT_AS_IS = new Set(['String', 'FormData', 'Blob', 'File', 'ArrayBuffer', 'URLSearchParams']);

/** An error response. */
export class FastiError extends Error {
  constructor({ code, message, data, status, retryAfter, ...rest }) {
    super(message);
    this.name = 'FastiError';
    this.code = code;
    this.status = status;
    this.data = data;
    this.retryAfter = retryAfter;
    this.rest = rest;
  }
}

export function createClient({ url, login, fetch: send = fetch, tries = 3, maxWait = 60, namespace = NAMESPACE }) {
  const root = url.replace(/\/+$/, '').replace(/\/wp-json$/, '');

  const answered = async (method, path, { query = {}, body, headers, signal } = {}) => {
    const text = new URLSearchParams(Object.entries(query).flatMap(([name, value]) => queryPairs(name, value))).toString();
    const init = { method, headers: new Headers(), ...sentBody(body), ...(signal ? { signal } : {}) };
    if (login !== undefined) init.headers.set('Authorization', `Basic ${base64(login)}`);
    if (body !== undefined && init.body !== body) init.headers.set('Content-Type', 'application/json');
    for (const [name, value] of new Headers(headers)) init.headers.set(name, value);
    // Only reads, and writes with a key, may be repeated. A stream can be sent only once.
    const isRepeatable = (method === 'GET' || init.headers.has('Idempotency-Key')) && init.duplex === undefined;
    for (let left = tries; ; left -= 1) {
      const answer = await send(`${root}/wp-json/${path}${text ? `?${text}` : ''}`, init);
      if (!isRepeatable || left <= 1 || !(await mayPass(answer))) return answer;
      // Proxies may send a date.
      const seconds = retryAfterOf(answer) ?? 1;
      if (seconds > maxWait) return answer;
      await answer.body?.cancel();
      await pause(1000 * seconds, signal);
    }
  };

  const request = async (method, path, options) => {
    const answer = await answered(method, path, options);
    const text = await answer.text();
    const body = parsed(text);
    // A proxy or another site may answer with a page.
    if (!answer.ok || (body === undefined && text !== '')) throw errorOf(answer, text);
    const etag = answer.headers.get('etag') ?? undefined;
    return { status: answer.status, body, ...(etag === undefined ? {} : { etag }) };
  };

  const records = (path) => {
    const at = (id) => `${namespace}/${path}/${id}`;
    const list = async (filters = {}, { signal } = {}) => {
      const { body } = await request('GET', `${namespace}/${path}`, { query: filters, signal });
      return { records: body[path], total: body.total, pages: body.total_pages };
    };
    return {
      list,
      each: async function* (filters = {}, options = {}) {
        for (let page = 1, pages = 1; page <= pages; page += 1) {
          const listing = await list({ ...filters, page }, options).catch(pastTheEnd(page));
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
        if (answer && !isStream(answer)) throw errorOf(answer, await answer.text());
        for await (const { data, retry } of answer ? eventsIn(answer.body, signal) : []) {
          wait = Number(retry ?? wait);
          if (data === undefined) continue;
          const { changes, next } = JSON.parse(data);
          token = next;
          if (changes.length > 0) yield { changes, next };
        }
        await pause(wait, signal);
        answer = await connect().catch(unlessAborted(signal));
        if (!answer || !OUTLIVED.has(answer.status)) continue;
        await answer.body?.cancel();
        await pause(1000 * (retryAfterOf(answer) ?? 0), signal);
        answer = undefined;
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
 * has its own pair (`tags[]`), as the members of an object do (`custom_fields[stage]`), and the items of lists in it.
 */
function queryPairs(name, value, isMember = false) {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && (isMember || value.some((item) => String(item).includes(','))))
    return value.flatMap((item) => queryPairs(`${name}[]`, item, true));
  const isObject = Object.getPrototypeOf(value) === Object.prototype;
  return isObject ? Object.entries(value).flatMap(([key, member]) => queryPairs(`${name}[${key}]`, member, true)) : [[name, String(value)]];
}

/** Returns the body of a request as options of `fetch`: files, forms, texts and streams as they are, the rest as JSON. */
function sentBody(body) {
  if (body === undefined) return {};
  if (typeof body?.[Symbol.asyncIterator] === 'function' || typeof body?.getReader === 'function') return { body, duplex: 'half' };
  const isSentAsIs = ArrayBuffer.isView(body) || SENT_AS_IS.has(Object.prototype.toString.call(body).slice(8, -1));
  return { body: isSentAsIs ? body : JSON.stringify(body) };
}

/** Whether a request may succeed if it is repeated after this answer. Its body can still be read. */
const mayPass = async (answer) =>
  PASSING.has(answer.status) || (answer.status === 409 && parsed(await answer.clone().text())?.code === UNDER_WAY);

/** Returns the seconds in `Retry-After`; undefined without it, or if it is a date. */
function retryAfterOf({ headers }) {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds : undefined;
}

/** Returns the error in an answer with this text. */
const errorOf = (answer, text) =>
  new FastiError({
    code: 'unknown',
    message: text.slice(0, 200),
    ...parsed(text),
    status: answer.status,
    retryAfter: retryAfterOf(answer),
  });

/** Whether an answer is a stream of events, and not an error or the page of a proxy. */
const isStream = ({ ok, headers }) => ok && (headers.get('content-type') ?? '').startsWith('text/event-stream');

/** Converts the options of a write to headers. */
const written = ({ ifMatch, key, ...options } = {}) => ({
  ...options,
  headers: {
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

/** Treats a page beyond the end as empty, since the list may have become shorter. Other addresses may be gone as well. */
const pastTheEnd = (page) => (error) => {
  if (page === 1 || !error.code?.endsWith?.('-archive-page-not-found')) throw error;
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
