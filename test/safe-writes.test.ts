import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { fail } from '../src/errors.ts';
import { companionNamespaces } from '../src/http/companion/namespaces.ts';
import type { ServedRoute } from '../src/http/endpoint.ts';
import { createRoutes } from '../src/http/routes.ts';
import { answerOnce, runAndStoreAnswer, unlessAnswered } from '../src/http/write-once.ts';
import type { Site } from '../src/site.ts';
import type { Database } from '../src/storage/engine/database.ts';
import { entriesAfter, lastNumber } from '../src/storage/journal/entries.ts';
import { pruneAnswers } from '../src/storage/rows/kept-answers.ts';
import { ensureVersionKey } from '../src/storage/schema/version-key.ts';
import { runScript } from './support/databases.ts';
import type { Answer } from './support/running-site.ts';
import { resetSite } from './support/site.ts';
import { describeRequests, describeTwoInstances, expectBody, type Json, ROOT, SUITE_TIME } from './support/site-client.ts';

/*
 * Conditional writes, which do not overwrite each other (`If-Match`, `If-Unmodified-Since`), and writes with a key,
 * which are carried out once however often they are sent (`Idempotency-Key`). The cases are generated from the route
 * table, so that new routes are covered.
 */

const DATES = { start_date: '2031-05-01 18:00:00', end_date: '2031-05-01 20:00:00' };
const ACKNOWLEDGED = { 'X-TEC-EEA': 'yes' };
const TINY = readFileSync(new URL('fixtures/uploads/2026/11/tiny.png', import.meta.url));

/** For each route: a record of the sample site, and a body that creates one. `people` are read-only. */
const SAMPLES: readonly (readonly [pattern: RegExp, sample: { id?: number; slug?: string; rename: object; create: object }])[] = [
  [/^\/(events|tribe_events)\b/, { id: 38, slug: 'spring-fair', rename: { title: 'Other' }, create: { title: 'New' } }],
  [
    /^\/(venues|tribe_venue)\b/,
    { id: 12, slug: 'teatro-rossi', rename: { venue: 'Other', title: 'Other' }, create: { venue: 'New', title: 'New' } },
  ],
  [
    /^\/(organizers|tribe_organizer)\b/,
    { id: 24, slug: 'acme-events', rename: { organizer: 'Other', title: 'Other' }, create: { organizer: 'New', title: 'New' } },
  ],
  [/^\/(categories|tribe_events_cat)\b/, { id: 4, rename: { name: 'Other' }, create: { name: 'New' } }],
  [/^\/tags\b/, { id: 12, rename: { name: 'Other' }, create: { name: 'New' } }],
  [/^\/media\b/, { id: 10, rename: { title: 'Other' }, create: {} }],
];
const sampleOf = (pattern: string) => SAMPLES.find(([matches]) => matches.test(pattern))?.[1];

const NAMESPACES = new Map<string, readonly ServedRoute[]>([['calendar/events/v1', createRoutes(['en', 'it'])], ...companionNamespaces()]);
const WRITES = [...NAMESPACES].flatMap(([namespace, routes]) =>
  routes
    // Recurring events get further dates, in `recurrence.test.ts`. People and webhooks are not records.
    .filter(({ pattern }) => !/^\/(users|webhooks)\b|\/dates$/.test(pattern))
    .flatMap((route) =>
      route.endpoints.flatMap(({ methods }) =>
        methods
          .filter((method) => method !== 'GET')
          .map((method) => ({ namespace, route, method, name: `${method} ${namespace}${route.pattern}` })),
      ),
    ),
);
const OF_RECORDS = WRITES.filter(({ route }) => route.pattern.includes('(?P<'));
const CREATING = WRITES.filter(({ route }) => !route.pattern.includes('(?P<'));

const pathOf = (namespace: string, { pattern }: ServedRoute): string => {
  const { id, slug } = sampleOf(pattern)!;
  return `/wp-json/${namespace}${pattern.replace('(?P<id>\\d+)', String(id)).replace('(?P<slug>[^/]+)', String(slug))}`;
};
const versionIn = (tag: string | undefined): string => /^"([0-9a-f]{20})[".]/.exec(tag ?? '')?.[1] ?? `no version in ${tag}`;

it('every route whose path names a writable record supports conditional writes', () => {
  expect(OF_RECORDS.length).toBeGreaterThan(40);
  expect(OF_RECORDS.filter(({ route }) => !route.lockVersion).map(({ name }) => name)).toEqual([]);
  expect(WRITES.filter(({ route }) => !sampleOf(route.pattern)).map(({ name }) => name)).toEqual([]);
});

/** Path and body of a write to a route of the table, as an administrator. */
function requestOf({ namespace, route, method }: (typeof WRITES)[number]) {
  const sample = sampleOf(route.pattern)!;
  const isNew = !route.pattern.includes('(?P<');
  // Files and terms have no trash in wp/v2.
  const forced = method === 'DELETE' && /^\/(media|tribe_events_cat|tags)\b/.test(route.pattern) ? '?force=true' : '';
  const file = isNew && route.pattern === '/media';
  return {
    path: pathOf(namespace, route) + forced,
    options: {
      as: 'admin',
      body: file ? TINY : method === 'DELETE' ? null : { ...sample.rename, ...(isNew ? { ...DATES, ...sample.create } : {}) },
      headers: {
        ...ACKNOWLEDGED,
        ...(file ? { 'Content-Type': 'image/png', 'Content-Disposition': 'attachment; filename="a.png"' } : {}),
      },
    },
  };
}

describeRequests('writes during the deletion of a user', (ask) => {
  it.each(
    WRITES.filter(({ method }) => method !== 'DELETE').flatMap((one) => [
      [one.name, 1, {}, one] as const,
      [one.name, 3, { author: 3 }, one] as const,
    ]),
  )('of %s leave nothing to user %i, sent with %j', async (_, user, more, one) => {
    const { db } = ask.running().site;
    const { transaction } = db;
    const posts = () => ask.db().from('posts').where('post_author', user).orderBy('ID').select('ID');
    const before = await posts();
    Object.assign(db, {
      transaction: async (work: never) => {
        await ask.db().from('users').where('ID', user).delete();
        return transaction.call(db, work);
      },
    });
    try {
      const { path, options } = requestOf(one);
      const { body } = options;
      const { status } = await ask.send(one.method, path, { ...options, body: body instanceof Buffer ? body : { ...body, ...more } });
      expect(await posts()).toEqual(before);
      expect(await ask.db().from('users').where('ID', user).select('ID')).toEqual([]);
      expect(status).toBeLessThan(500);
    } finally {
      Object.assign(db, { transaction });
    }
  });
});

describeRequests('a write whose record is deleted immediately afterwards', (ask) => {
  it.each(WRITES.map((one) => [one.name, one] as const))(
    'through %s is answered with 200, 400, 404 or 410, not with a server error',
    async (_, one) => {
      const { db } = ask.running().site;
      const { transaction } = db;
      let emptied = 0;
      // Another program deletes the record as soon as the transaction of the write has ended.
      Object.assign(db, {
        transaction: async (work: never) => {
          const result = await transaction.call(db, work);
          for (const table of ['posts', 'postmeta', 'terms', 'term_taxonomy'] as const) emptied += await ask.db().from(table).delete();
          return result;
        },
      });
      try {
        const { path, options } = requestOf(one);
        const answer = await ask.send(one.method, path, options);
        // A permanently deleted record is shown as it was before.
        expect(`${answer.status} ${answer.text}`).toMatch(/^(400|404|410|200) /);
        expect(emptied).toBeGreaterThan(0);
      } finally {
        Object.assign(db, { transaction });
      }
    },
  );
});

describeRequests('conditional writes', (ask) => {
  /** Sends a write to a route of the table as an administrator. */
  const write = (method: string, path: string, headers: Record<string, string>, body: object | null = {}): Promise<Answer> =>
    ask.send(method, method === 'DELETE' ? `${path}?force=true` : path, {
      as: 'admin',
      body: method === 'DELETE' ? null : body,
      headers: { ...ACKNOWLEDGED, ...headers },
    });
  const tagOf = async (path: string, options: { as?: string; headers?: Record<string, string> } = { as: 'admin' }): Promise<string> => {
    const { status, headers } = await ask.send('GET', path, { ...options, headers: { ...ACKNOWLEDGED, ...options.headers } });
    expect(status).toBe(200);
    return String(headers.etag);
  };
  const refused = (answer: Answer) => ({ status: answer.status, code: answer.body.code ?? answer.body.error });

  describe.each(OF_RECORDS.map((one) => [one.name, one] as const))('%s', (_, { namespace, route, method }) => {
    const path = pathOf(namespace, route);
    const { rename } = sampleOf(route.pattern)!;

    it('is carried out if the record is as it was read', async () => {
      const answer = await write(method, path, { 'If-Match': await tagOf(path) }, rename);
      expect(answer.status).toBe(200);
    });
    it('answers 412 once the record has changed, and writes nothing', async () => {
      const tag = await tagOf(path);
      await ask.writeRows((db) => changed(db, route.pattern));
      const before = await ask.allRows();
      expect(refused(await write(method, path, { 'If-Match': tag }, rename))).toEqual({ status: 412, code: 'rest_precondition_failed' });
      expect(refused(await write(method, path, { 'If-None-Match': '*' }, rename))).toEqual({
        status: 412,
        code: 'rest_precondition_failed',
      });
      expect(await ask.allRows()).toEqual(before);
      expect((await write(method, path, { 'If-Match': `"other", ${await tagOf(path)}` }, rename)).status).toBe(200);
    });
    it('compares the date of the last change if no ETag is given', async () => {
      const since = (moment: string) => ({ 'If-Unmodified-Since': new Date(moment).toUTCString() });
      expect((await write(method, path, since('2001-01-01T00:00:00Z'), rename)).status).toBe(412);
      expect((await write(method, path, { 'If-Unmodified-Since': 'some day' }, {})).status).toBe(200);
      await resetSite(ask.db());
      const canBeScheduled = !/^\/(categories|tribe_events_cat|tags|media)\b/.test(route.pattern);
      expect((await write(method, path, since('2100-01-01T00:00:00Z'), rename)).status).toBe(canBeScheduled ? 412 : 200);
      await resetSite(ask.db());
      expect((await write(method, path, since(SUITE_TIME), rename)).status).toBe(200);
      await resetSite(ask.db());
      expect((await write(method, path, { ...since('2001-01-01T00:00:00Z'), 'If-Match': '*' }, rename)).status).toBe(200);
    });
    if (method !== 'DELETE')
      it('answers with the ETag for the next write', async () => {
        const first = await write(method, path, {}, rename);
        const tag = String(first.headers.etag);
        expect(versionIn(tag)).toBe(versionIn(await tagOf(path)));
        expect((await write(method, path, { 'If-Match': tag }, {})).status).toBe(200);
      });
  });

  it('compare the date of a scheduled record, which is that of its publication until it is changed', async () => {
    const { id, modified_utc: modified } = await ask.create('/events', { title: 'Soon', ...DATES, date: '2030-12-20 10:00:00' });
    const path = `${ROOT}/events/${id}`;
    const asRead = { 'If-Unmodified-Since': new Date(`${modified}Z`).toUTCString() };
    expect(modified.slice(0, 4)).toBe('2030');
    expect((await write('PATCH', path, asRead, { title: 'By the editor' })).status).toBe(200);
    expect(refused(await write('PATCH', path, asRead, { title: 'By the script' }))).toEqual({
      status: 412,
      code: 'rest_precondition_failed',
    });
    // The clock of the script is half a minute ahead.
    const ahead = { 'If-Unmodified-Since': new Date(Date.parse(SUITE_TIME) + 30_000).toUTCString() };
    expect((await write('PATCH', path, ahead, { title: 'By the script' })).status).toBe(200);
    ask.setClock('2030-12-20T10:05:00Z');
    expect((await write('PATCH', path, asRead, { title: 'By the script' })).status).toBe(412);
  });

  it('accept the date of a scheduled record that nobody has changed, also once it is published', async () => {
    const { id, modified_utc: modified } = await ask.create('/events', { title: 'Soon', ...DATES, date: '2030-12-20 10:00:00' });
    ask.setClock('2030-12-20T10:05:00Z');
    const asRead = { 'If-Unmodified-Since': new Date(`${modified}Z`).toUTCString() };
    expect((await write('PATCH', `${ROOT}/events/${id}`, asRead, { title: 'By the script' })).status).toBe(200);
  });

  describe('the ETag of an event', () => {
    const READINGS = [
      ['without login', `${ROOT}/events/38`, {}],
      ['with login', `${ROOT}/events/38`, { as: 'admin' }],
      ['in Italian', `/it${ROOT}/events/38`, {}],
      ['for an Italian browser', `${ROOT}/events/38`, { headers: { 'Accept-Language': 'it' } }],
      ['compressed', `${ROOT}/events/38`, { headers: { 'Accept-Encoding': 'gzip' } }],
      ['in part', `${ROOT}/events/38?_fields=id,title`, {}],
      ['to edit it', `${ROOT}/events/38?context=edit`, { as: 'admin' }],
      ['by slug', `${ROOT}/events/by-slug/spring-fair`, {}],
      ['in the other namespace', '/wp-json/tribe/events/v1/events/38', {}],
      ['in an envelope', `${ROOT}/events/38?_envelope`, {}],
      ["from WordPress's own route", '/wp-json/wp/v2/tribe_events/38', {}],
      ["from WordPress's own route, to edit it", '/wp-json/wp/v2/tribe_events/38?context=edit', { as: 'admin' }],
      ["from the calendar's newer route", '/wp-json/tec/v1/events/38', {}],
    ] as const;

    it.each(READINGS)('read %s permits a write', async (_name, path, options) => {
      const tag = await tagOf(path, options);
      expect((await write('PATCH', `${ROOT}/events/38`, { 'If-Match': tag }, { title: 'Other' })).status).toBe(200);
      expect((await write('PATCH', `${ROOT}/events/38`, { 'If-Match': tag }, { title: 'Third' })).status).toBe(412);
    });
    it('differs for other bytes', async () => {
      const seen = new Map<string, string>();
      for (const [, path, options] of READINGS) {
        const { text, headers } = await ask.send('GET', path, {
          ...options,
          headers: { ...ACKNOWLEDGED, ...('headers' in options ? options.headers : {}) },
        });
        const bytes = headers['content-encoding'] === 'gzip' ? 'compressed' : text;
        const tag = String(headers.etag);
        if (seen.has(tag)) expect(bytes).toBe(seen.get(tag));
        seen.set(tag, bytes);
      }
      expect(seen.size).toBeGreaterThan(6);
    });
    it('in the answer to a write never matches when reading', async () => {
      const { headers } = await write('PATCH', `${ROOT}/events/38`, {}, { title: 'Other' });
      const answer = await ask.send('GET', `${ROOT}/events/38`, { headers: { 'If-None-Match': String(headers.etag) } });
      expect(answer.status).toBe(200);
    });
    it('does not match if it is weak or invented', async () => {
      const tag = await tagOf(`${ROOT}/events/38`);
      for (const other of [`W/${tag}`, '"x"', '', 'x', `"${versionIn(tag)}0"`])
        expect({ other, status: (await write('PATCH', `${ROOT}/events/38`, { 'If-Match': other })).status }).toEqual({
          other,
          status: 412,
        });
      for (const other of [versionIn(tag), `"${versionIn(tag)}-gzip"`, `"${versionIn(tag)};br"`])
        expect({ other, status: (await write('PATCH', `${ROOT}/events/38`, { 'If-Match': other })).status }).toEqual({
          other,
          status: 200,
        });
    });

    const OTHERS: readonly (readonly [string, boolean, (db: Database) => PromiseLike<unknown>])[] = [
      ['a text', true, (db) => db.from('posts').where('ID', 38).update({ post_content: 'By WordPress' })],
      [
        'a meta alone',
        true,
        (db) => db.from('postmeta').where({ post_id: 38, meta_key: '_EventStartDate' }).update({ meta_value: '2027-01-01 00:00:00' }),
      ],
      ['a meta of another plugin', true, (db) => db.from('postmeta').insert({ post_id: 38, meta_key: 'other', meta_value: '1' })],
      ['its terms', true, (db) => db.from('term_relationships').insert({ object_id: 38, term_taxonomy_id: 14, term_order: 0 })],
      ['its status', true, (db) => db.from('posts').where('ID', 38).update({ post_status: 'draft' })],
      [
        'who has it open in the editor',
        false,
        (db) => db.from('postmeta').insert({ post_id: 38, meta_key: '_edit_lock', meta_value: '1:1' }),
      ],
      ['what videos in it look like', false, (db) => db.from('postmeta').insert({ post_id: 38, meta_key: '_oembed_0', meta_value: 'x' })],
      ['the number of its comments', false, (db) => db.from('posts').where('ID', 38).update({ comment_count: 3 })],
      ['the name of a tag', false, (db) => db.from('terms').where('term_id', 12).update({ name: 'Renamed' })],
      ['another event', false, (db) => db.from('posts').where('ID', 39).update({ post_content: 'Other' })],
    ];
    it.each(OTHERS)('after a change of %s by WordPress no longer matches: %s', async (_name, counts, change) => {
      const tag = await tagOf(`${ROOT}/events/38`);
      await ask.writeRows(change);
      expect((await write('PATCH', `${ROOT}/events/38`, { 'If-Match': tag }, { cost: '5' })).status).toBe(counts ? 412 : 200);
    });
    it('cannot be computed from an answer, since it depends on a secret of the site', async () => {
      const plain = versionIn(await tagOf(`${ROOT}/venues/22`, {}));
      await ask.writeRows((db) => ensureVersionKey(db));
      const keyed = versionIn(await tagOf(`${ROOT}/venues/22`, {}));
      expect(keyed).not.toBe(plain);
      await ask.writeRows((db) => ensureVersionKey(db));
      expect(versionIn(await tagOf(`${ROOT}/venues/22`, {}))).toBe(keyed);
    });
  });

  /** The statements of a request that write, in order, each with its verb and table. */
  const writesOf = async (work: () => Promise<Answer>): Promise<string[]> => {
    const seen: string[] = [];
    const note = ({ sql }: { sql: string }) => {
      const [, verb, table] = /^\s*(insert into|update|delete from)\s+`?wp_(\w+)/i.exec(sql) ?? [];
      if (verb) seen.push(`${verb.split(' ')[0]!.toLowerCase()} ${table}`);
    };
    const stop = ask.running().site.db.driver.listen(note);
    const { status } = await work();
    stop();
    expect(status).toBeLessThan(300);
    return seen;
  };
  const RICH = {
    title: 'New',
    start_date: '2027-05-01 10:00:00',
    end_date: '2027-05-01 12:00:00',
    venue: [{ venue: 'Brought along' }],
    organizer: [{ organizer: 'Brought along' }],
    tags: ['Brought along'],
    categories: ['Brought along'],
  };
  it.each([
    ...OF_RECORDS.map(
      ({ name, namespace, route, method }) =>
        [name, () => write(method, pathOf(namespace, route), {}, sampleOf(route.pattern)!.rename)] as const,
    ),
    ['a new event with all that it brings along', () => ask.post('/events', RICH)] as const,
    ['an event published with its drafts', () => ask.patch('/events/67', { title: 'Other', status: 'publish' })] as const,
  ])('increase the change counter after all other statements except those for options and the journal: %s', async (_name, work) => {
    const writes = await writesOf(work);
    const at = writes.indexOf('update fasti_changes');
    expect(at).toBeGreaterThan(0);
    expect(writes.slice(at + 1).filter((one) => !/ (options|fasti_journal)$/.test(one))).toEqual([]);
  });

  it.each(
    OF_RECORDS.map(
      ({ name, namespace, route, method }) => [name, { path: pathOf(namespace, route), pattern: route.pattern, method }] as const,
    ),
  )('are noted in the journal with the user who made them: %s', async (_name, { path, pattern, method }) => {
    const { id, rename } = sampleOf(pattern)!;
    const from = await lastNumber(ask.db());
    expect((await write(method, path, {}, rename)).status).toBe(200);
    const entry = (await entriesAfter(ask.db(), from, 100)).entries.find(({ object }) => object === id);
    const gone = method === 'DELETE' && /^\/(categories|tribe_events_cat|tags|media)\b/.test(pattern);
    const kept = method === 'DELETE' && !gone && !path.includes('/wp/v2/');
    expect(entry).toMatchObject({ writer: 'fasti', user: 1, what: method !== 'DELETE' || kept ? 'changed' : 'removed', wasPublic: true });
    expect(entry?.isPublic).toBe(method !== 'DELETE');
  });

  it('are refused for other errors first, as without conditions', async () => {
    const stale = { 'If-Match': '"stale"' };
    expect((await write('PATCH', `${ROOT}/events/999999`, stale)).status).toBe(404);
    expect((await write('PATCH', `${ROOT}/venues/38`, stale)).status).toBe(400);
    expect((await write('PATCH', `${ROOT}/events/38`, stale, { author: 'nobody' })).status).toBe(400);
    expect((await ask.send('PATCH', `${ROOT}/events/38`, { body: {}, headers: stale })).status).toBe(401);
    expect((await ask.send('PATCH', `${ROOT}/events/38`, { as: 'contrib', body: {}, headers: stale })).status).toBe(403);
    expect((await write('POST', '/wp-json/wp/v2/users/1', stale)).status).toBe(501);
  });
  it('keep the ETag valid through the trash and back', async () => {
    const trashed = await ask.send('DELETE', `${ROOT}/events/38`, {
      as: 'admin',
      headers: { 'If-Match': await tagOf(`${ROOT}/events/38`) },
    });
    const back = await write('PATCH', `${ROOT}/events/38`, { 'If-Match': String(trashed.headers.etag) }, { status: 'publish' });
    expect([trashed.status, back.status, versionIn(back.headers.etag)]).toEqual([200, 200, versionIn(await tagOf(`${ROOT}/events/38`))]);
  });
  it('are allowed from pages of other origins, which may read the ETag', async () => {
    const { headers } = await ask.send('OPTIONS', `${ROOT}/events/38`, { headers: { Origin: 'https://other.example' } });
    for (const name of ['If-Match', 'If-None-Match', 'If-Modified-Since', 'If-Unmodified-Since', 'Idempotency-Key', 'X-TEC-EEA'])
      expect(headers['access-control-allow-headers']).toContain(name);
    for (const name of ['ETag', 'Idempotency-Replayed', 'Retry-After']) expect(headers['access-control-expose-headers']).toContain(name);
  });
});

/** Changes the record of a route as another program would. */
function changed(db: Database, pattern: string): PromiseLike<unknown> {
  const { id = 0 } = sampleOf(pattern)!;
  if (/^\/(categories|tribe_events_cat|tags)\b/.test(pattern))
    return db.from('term_taxonomy').where('term_id', id).update({ description: 'By WordPress' });
  return db.from('postmeta').insert({ post_id: id, meta_key: '_by_wordpress', meta_value: '1' });
}

// ------------------------------------------------------------------------------------------------- two at once
describeTwoInstances('concurrent writes', ({ db, sites }) => {
  it.each([
    [`${ROOT}/events/38`, 'excerpt'],
    [`${ROOT}/events/by-slug/spring-fair`, 'excerpt'],
    [`${ROOT}/venues/12`, 'city'],
    [`${ROOT}/organizers/24`, 'phone'],
    [`${ROOT}/categories/4`, 'description'],
    [`${ROOT}/tags/12`, 'description'],
    ['/wp-json/wp/v2/tribe_events/38', 'excerpt'],
    ['/wp-json/wp/v2/media/10', 'alt_text'],
    ['/wp-json/tec/v1/events/38', 'title'],
  ])('with one ETag to %s: one succeeds, the others are refused', async (path, field) => {
    const method = path.includes('tec/v1') ? 'PATCH' : 'POST';
    for (let round = 0; round < 5; round++) {
      const tag = String((await sites()[0]!.send('GET', path, { as: 'admin', headers: ACKNOWLEDGED })).headers.etag);
      const answers = await Promise.all(
        [0, 1, 2, 3].map((writer) =>
          sites()[writer % 2]!.send(method, path, {
            as: 'admin',
            body: { [field]: `round ${round} writer ${writer}` },
            headers: { ...ACKNOWLEDGED, 'If-Match': tag },
          }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412]);
    }
  });

  it('with one key create one record', async () => {
    for (let round = 0; round < 5; round++) {
      const body = { title: `Once ${round}`, start_date: '2027-05-01 10:00:00', end_date: '2027-05-01 12:00:00' };
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          sites()[index % 2]!.send('POST', `${ROOT}/events`, { as: 'admin', body, headers: { 'Idempotency-Key': `round-${round}` } }),
        ),
      );
      const done = answers.filter(({ status }) => status === 201);
      expect(new Set(done.map(({ text }) => text)).size).toBe(1);
      expect(answers.filter(({ status }) => status !== 201).map(({ status, body: { code } }) => `${status} ${code}`)).toEqual(
        Array(8 - done.length).fill('409 rest_request_under_way'),
      );
      expect(done.filter(({ headers }) => headers['idempotency-replayed'] === undefined)).toHaveLength(1);
      expect(
        await db()
          .from('posts')
          .where({ post_title: `Once ${round}`, post_type: 'tribe_events' }),
      ).toHaveLength(1);
    }
  });

  it("with one key: the second gets the answer of the first, not the error that the first one's change causes", async () => {
    const now = new Date(SUITE_TIME);
    const key = { id: 'both', fingerprint: 'same' };
    const done = { status: 200, body: { deleted: true } };
    const doneByTheOther = () =>
      db().transaction((trx) => runAndStoreAnswer(trx, key, now, { work: async () => done, toStored: (reply) => reply }));
    const site = { db: db() } as Site;
    const reply = await answerOnce(site, key, now, async () => {
      await doneByTheOther();
      return fail('rest_post_invalid_id');
    });
    expect(reply).toMatchObject(done);
    const another = { ...key, fingerprint: 'other' };
    await expect(unlessAnswered(site, another, now, async () => fail('rest_post_invalid_id'))).rejects.toMatchObject({ status: 404 });
  });
});

// ------------------------------------------------------------------------------------------------- once
describeRequests('writes with a key', (ask, engine) => {
  const EVENT = { start_date: '2027-05-01 10:00:00', end_date: '2027-05-01 12:00:00' };
  const UPLOAD = { 'Content-Type': 'image/png', 'Content-Disposition': 'attachment; filename="sent.png"' };
  const sent = (key: string, { as = 'admin', title = 'Once' } = {}): Promise<Answer> =>
    ask.send('POST', `${ROOT}/events`, { as, body: { ...EVENT, title }, headers: { 'Idempotency-Key': key } });
  const replayed = ({ headers }: Answer) => headers['idempotency-replayed'];
  beforeEach(() => ask.db().from('fasti_answers').delete());
  const events = async (title = 'Once') => (await ask.db().from('posts').where({ post_title: title, post_type: 'tribe_events' })).length;

  /** The parts of an answer that must be equal; some headers depend on the time. */
  const comparable = ({ status, text, headers }: Answer) => {
    const { date, 'x-request-id': _, 'idempotency-replayed': __, ...kept } = headers;
    return { status, text, kept };
  };

  it.each(WRITES.map((one) => [one.name, one] as const))('to %s take place once', async (_, { namespace, route, method }) => {
    const isNew = CREATING.some((one) => one.route === route);
    const { create, rename } = sampleOf(route.pattern)!;
    const upload = isNew && route.pattern === '/media';
    const path = isNew ? `/wp-json/${namespace}${route.pattern}` : pathOf(namespace, route);
    const again = () =>
      ask.send(method, method === 'DELETE' ? `${path}?force=true` : path, {
        as: 'admin',
        body: method === 'DELETE' ? null : upload ? TINY : isNew ? { ...EVENT, ...create } : rename,
        headers: { ...ACKNOWLEDGED, ...(upload ? UPLOAD : {}), 'Idempotency-Key': '"8e03978e-40d5-43dd-bc93-6894a57f9324"' },
      });
    const first = await again();
    expect({ status: first.status, replayed: replayed(first) }).toEqual({ status: isNew ? 201 : 200, replayed: undefined });
    const before = await ask.allRows();
    const second = await again();
    expect(replayed(second)).toBe('true');
    expect(comparable(second)).toEqual(comparable(first));
    expect(await ask.allRows()).toEqual(before);
  });

  it('are refused if the key belonged to another request', async () => {
    expect((await sent('k')).status).toBe(201);
    expect(await sent('k', { title: 'Twice' })).toMatchObject({
      status: 422,
      body: { code: 'rest_idempotency_key_reused', data: { status: 422 } },
    });
    expect([await events(), await events('Twice')]).toEqual([1, 0]);
  });
  it('are recognized whatever the order of the members, but not with another method', async () => {
    const send = (method: string, body: object) =>
      ask.send(method, `${ROOT}/events/38`, { as: 'admin', body, headers: { 'Idempotency-Key': 'k' } });
    expect((await send('PATCH', { title: 'A', cost: '5' })).status).toBe(200);
    expect(replayed(await send('PATCH', { cost: '5', title: 'A' }))).toBe('true');
    expect((await send('POST', { title: 'A', cost: '5' })).status).toBe(422);
  });
  it.each(['/events/38 /events/39', '/events/by-slug/spring-fair /events/by-slug/summer-concert', '/tags/11 /tags/12'])(
    'are refused for another record under the same key: %s',
    async (paths) => {
      const [one, other] = paths.split(' ');
      const change = (path?: string) =>
        ask.send('PATCH', ROOT + path, { as: 'admin', body: { description: 'Keyed' }, headers: { 'Idempotency-Key': 'k' } });
      expect([(await change(one)).status, (await change(other)).status]).toEqual([200, 422]);
    },
  );
  it('may use the key of another user or of another route', async () => {
    expect((await sent('k')).status).toBe(201);
    expect(replayed(await sent('k', { as: 'ed' }))).toBeUndefined();
    const venue = await ask.send('POST', `${ROOT}/venues`, { as: 'admin', body: { venue: 'Once' }, headers: { 'Idempotency-Key': 'k' } });
    expect([venue.status, replayed(venue), await events()]).toEqual([201, undefined, 2]);
  });
  it('never give an answer to anonymous callers', async () => {
    await sent('k');
    expect(
      (await ask.send('POST', `${ROOT}/events`, { body: { ...EVENT, title: 'Once' }, headers: { 'Idempotency-Key': 'k' } })).status,
    ).toBe(401);
  });
  it('may be corrected after a refusal, and sent again under the same key', async () => {
    const bad = await ask.send('POST', `${ROOT}/events`, { as: 'admin', body: { title: 'Once' }, headers: { 'Idempotency-Key': 'k' } });
    expect(bad.status).toBe(400);
    const good = await sent('k');
    expect([good.status, replayed(good)]).toEqual([201, undefined]);
  });
  it.each([
    ['', false],
    ['a'.repeat(256), false],
    ['"unfinished', false],
    ['"a", "b"', false],
    ['caf\u00e9', false],
    ['a'.repeat(255), true],
    ['"with \\"quotes\\" in it"', true],
  ])('may have the key %j: %s', async (key, good) => {
    const answer = await sent(key);
    expect(answer.status).toBe(good ? 201 : 400);
    if (!good) expect(answer.body.code).toBe('rest_idempotency_key_invalid');
  });
  it('may have their key in quotes or without', async () => {
    await sent('"k"');
    expect(replayed(await sent('k'))).toBe('true');
  });
  it('are repeated with the ETag of the original answer', async () => {
    const first = await sent('k');
    const patch = (tag: unknown) =>
      ask.send('PATCH', `${ROOT}/events/${first.body.id}`, { as: 'admin', body: { cost: '9' }, headers: { 'If-Match': String(tag) } });
    expect((await patch(first.headers.etag)).status).toBe(200);
    const again = await sent('k');
    expect(again.headers.etag).toBe(first.headers.etag);
    expect((await patch(again.headers.etag)).status).toBe(412);
  });
  it('are refused with another file under the same key, and leave no file', async () => {
    const upload = (bytes: Buffer) =>
      ask.send('POST', '/wp-json/wp/v2/media', { as: 'admin', body: bytes, headers: { ...UPLOAD, 'Idempotency-Key': 'k' } });
    expect((await upload(TINY)).status).toBe(201);
    expect((await upload(Buffer.concat([TINY, Buffer.from([0])]))).status).toBe(422);
  });

  it('are refused for the moment while the first is in progress', async () => {
    const answers = await ask.db().transaction(async (db) => {
      await db.change`UPDATE {fasti_changes} SET counter = counter + 1 WHERE id = 1`;
      const both = [sent('k'), sent('k')];
      const early = await Promise.race(both);
      expect(early).toMatchObject({ status: 409, body: { code: 'rest_request_under_way', data: { status: 409 } } });
      expect(early.headers['retry-after']).toBe('1');
      return { both };
    });
    expect((await Promise.all(answers.both)).map(({ status }) => status).sort()).toEqual([201, 409]);
    expect([replayed(await sent('k')), await events()]).toEqual(['true', 1]);
  });
  it('store the record and the answer together or not at all', async () => {
    const failing = (when: string) =>
      engine === 'MySQL'
        ? `CREATE TRIGGER failing BEFORE ${when} FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'`
        : `CREATE TRIGGER failing BEFORE ${when} BEGIN SELECT RAISE(ABORT, 'no'); END`;
    for (const when of ['UPDATE ON wp_fasti_answers', 'UPDATE ON wp_fasti_changes']) {
      await runScript(ask.db(), failing(when));
      expect((await sent('k')).status).toBe(500);
      await runScript(ask.db(), 'DROP TRIGGER failing');
      expect([await events(), await ask.db().from('fasti_answers')]).toEqual([0, []]);
    }
    expect((await sent('k')).status).toBe(201);
  });
  it('are forgotten after a day', async () => {
    await sent('k');
    ask.setClock('2026-11-21T11:59:00Z');
    expect(replayed(await sent('k'))).toBe('true');
    expect(await pruneAnswers(ask.db(), new Date('2026-11-21T11:59:00Z'))).toBe(0);
    ask.setClock('2026-11-21T12:01:00Z');
    expect([replayed(await sent('k')), await events()]).toEqual([undefined, 2]);
    expect(await pruneAnswers(ask.db(), new Date('2026-11-22T12:02:00Z'))).toBe(1);
    expect(await ask.db().from('fasti_answers')).toEqual([]);
  });
  it('are forgotten at once if they were sent while the clock was ahead', async () => {
    ask.setClock('2036-11-20T12:00:00Z');
    await sent('k');
    await sent('l');
    ask.setClock('2026-11-20T12:00:00Z');
    expect([replayed(await sent('k')), await events()]).toEqual([undefined, 3]);
    expect(await pruneAnswers(ask.db(), new Date('2026-11-20T12:00:00Z'))).toBe(1);
    expect(replayed(await sent('k'))).toBe('true');
  });
  it.each([
    ['a day', '2026-11-19T11:00:00Z'],
    ['decades', '1970-01-02T00:00:00Z'],
  ])('are not removed by a process whose clock is %s behind', async (_, behind) => {
    await sent('k');
    expect(await pruneAnswers(ask.db(), new Date(behind))).toBe(0);
    expect([replayed(await sent('k')), await events()]).toEqual(['true', 1]);
  });
  it.each([
    ['a day', '2026-11-19T11:00:00Z'],
    ['decades', '1970-01-02T00:00:00Z'],
  ])('are given again by a process whose clock is %s behind, and not removed by it after a write', async (_, behind) => {
    await sent('k');
    ask.setClock(behind);
    await sent('l');
    expect(await pruneAnswers(ask.db(), new Date(behind))).toBe(0);
    expect([replayed(await sent('k')), await events()]).toEqual(['true', 2]);
  });
  it('may have conditions, which apply only when the write is first sent', async () => {
    const tag = String((await ask.get('/events/38')).headers.etag);
    const patch = () =>
      ask.send('PATCH', `${ROOT}/events/38`, {
        as: 'admin',
        body: { title: 'Other' },
        headers: { 'If-Match': tag, 'Idempotency-Key': 'k' },
      });
    expect([(await patch()).status, (await patch()).status, replayed(await patch())]).toEqual([200, 200, 'true']);
  });
  it('ignore the key on reads', async () => {
    const answer = await ask.send('GET', `${ROOT}/events/38`, { headers: { 'Idempotency-Key': '' } });
    expect((expectBody(answer) as Json).id).toBe(38);
  });
});
