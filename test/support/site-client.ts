import { afterAll, beforeAll, beforeEach, expect } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { describeDatabases } from './databases.ts';
import { type Answer, type RunningSite, serveDatabase } from './running-site.ts';
import { loadSite, resetSite, setOptions } from './site.ts';

/** The time at which these suites run: 13:00 in the time zone of the site, Rome. */
export const SUITE_TIME = '2026-11-20T12:00:00Z';
export const ROOT = '/wp-json/calendar/events/v1';

type Body = Record<string, unknown> | unknown[] | null;
/** A user of the sample site; undefined for an anonymous caller. */
export type UserName = 'admin' | 'ed' | 'auth' | 'contrib' | 'sub' | undefined;
/** A body of any shape, whose members tests read without type checks. */
export type Json = Answer['body'];

/** A server of the sample site, which is reset before every test. Paths are relative to the namespace. */
export interface SiteClient {
  readonly db: () => Database;
  readonly running: () => RunningSite;
  /** Sends any request; its path starts at the root of the server. */
  readonly send: RunningSite['send'];
  readonly get: (path: string, as?: UserName) => Promise<Answer>;
  readonly post: (path: string, body: Body, as?: UserName) => Promise<Answer>;
  readonly put: (path: string, body: Body, as?: UserName) => Promise<Answer>;
  readonly patch: (path: string, body: Body, as?: UserName) => Promise<Answer>;
  readonly del: (path: string, as?: UserName) => Promise<Answer>;
  /** The body of a request that must return 200. */
  readonly read: (path: string, as?: UserName) => Promise<Json>;
  /** The body of a request that must return 201. */
  readonly create: (path: string, body: Body, as?: UserName) => Promise<Json>;
  /** The body of a change that must return 200. */
  readonly update: (path: string, body: Body, as?: UserName) => Promise<Json>;
  /** Writes rows as another program would, and increments the change counter. */
  readonly writeRows: (work: (db: Database) => PromiseLike<unknown>) => Promise<void>;
  readonly options: (options: Readonly<Record<string, unknown>>) => Promise<void>;
  /** Sets the clock for the rest of the test. */
  readonly setClock: (moment: string) => void;
  /** Values of a meta of a post, in order. */
  readonly metaValues: (id: number, key: string) => Promise<string[]>;
  /** All rows of the tables of WordPress and the calendar, without the notes that each request makes about itself. */
  readonly allRows: () => Promise<Record<string, unknown[]>>;
}

const TABLES = [
  'posts',
  'postmeta',
  'terms',
  'termmeta',
  'term_taxonomy',
  'term_relationships',
  'tec_events',
  'tec_occurrences',
  'fasti_changes',
] as const;

/** Runs a suite of requests on the sample site, served by two instances like two processes, on every database. */
export function describeTwoInstances(
  name: string,
  suite: (instances: { db: () => Database; sites: () => readonly RunningSite[] }) => void,
): void {
  describeDatabases(name, (open) => {
    let db: Database;
    let sites: readonly RunningSite[];
    beforeAll(async () => {
      db = await loadSite(await open());
      sites = await Promise.all([1, 2].map(() => serveDatabase(db, { clock: () => new Date(SUITE_TIME) })));
    });
    beforeEach(() => resetSite(db));
    afterAll(() => Promise.all(sites.map((site) => site.close())));
    suite({ db: () => db, sites: () => sites });
  });
}

/** Runs a suite of requests on the sample site, on every database. */
export function describeRequests(
  name: string,
  suite: (ask: SiteClient, engine: 'SQLite' | 'MySQL') => void,
  env: Record<string, string> = {},
): void {
  describeDatabases(name, (open, engine) => {
    let db: Database;
    let running: RunningSite;
    let now = SUITE_TIME;
    let isDirty = false;
    beforeAll(async () => {
      db = await loadSite(await open());
      running = await serveDatabase(db, { env, clock: () => new Date(now) });
    });
    beforeEach(async () => {
      now = SUITE_TIME;
      if (isDirty) await resetSite(db);
      isDirty = false;
    });
    afterAll(() => running.close());

    const send: RunningSite['send'] = (method, path, options) => {
      if (method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS') isDirty = true;
      return running.send(method, path, options);
    };
    const sender =
      (method: string) =>
      (path: string, body: Body, as: UserName = 'admin') =>
        send(method, ROOT + path, { body, ...(as ? { as } : {}) });
    const get = (path: string, as?: UserName) => send('GET', ROOT + path, as ? { as } : {});
    const [post, put, patch] = ['POST', 'PUT', 'PATCH'].map(sender) as [SiteClient['post'], SiteClient['put'], SiteClient['patch']];
    const rows: SiteClient['writeRows'] = async (work) => {
      isDirty = true;
      await work(db);
      await db.from('fasti_changes').increment('counter');
    };
    suite(
      {
        db: () => db,
        running: () => running,
        send,
        get,
        post,
        put,
        patch,
        del: (path, as = 'admin') => send('DELETE', ROOT + path, { as }),
        read: async (path, as) => expectBody(await get(path, as)),
        create: async (path, body, as) => expectBody(await post(path, body, as), 201),
        update: async (path, body, as) => expectBody(await post(path, body, as)),
        writeRows: rows,
        options: async (options) => {
          isDirty = true;
          await setOptions(db, options);
        },
        setClock: (moment) => {
          now = moment;
        },
        metaValues: async (id, key) =>
          (await db.from('postmeta').where({ post_id: id, meta_key: key }).orderBy('meta_id')).map((row) => String(row.meta_value)),
        allRows: async () =>
          Object.fromEntries(
            await Promise.all(TABLES.map(async (table) => [table, await db.knex(db.table(table)).select('*').orderByRaw('1')] as const)),
          ),
      },
      engine,
    );
  });
}

/** The body of a response, which must have this status; otherwise the test fails and shows the body. */
export function expectBody(answer: Answer, status = 200): Json {
  expect({ status: answer.status, ...(answer.status === status ? {} : { body: answer.body ?? answer.text }) }).toEqual({ status });
  return answer.body;
}

/** Asserts an error response: its status and code, and the parameters that it names. */
export function expectError(answer: Answer, status: number, code: string, params?: readonly string[]): void {
  const namedParams = answer.body?.data?.params;
  expect({
    status: answer.status,
    code: answer.body?.code,
    inData: answer.body?.data?.status,
    ...(params ? { params: Array.isArray(namedParams) ? namedParams : Object.keys(namedParams ?? {}) } : {}),
  }).toEqual({ status, code, inData: status, ...(params ? { params } : {}) });
}

/** Names of the members in which two records differ. */
export function differences(before: Json, after: Json): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name])).sort();
}

/** Ids of the records of a list. */
export const idsOf = (body: Json): number[] =>
  (body.events ?? body.venues ?? body.organizers ?? body.categories ?? body.tags).map((record: Json) => record.id);

/** Parameters as a query string. */
export const query = (params: Readonly<Record<string, string | number | boolean>>): string =>
  new URLSearchParams(Object.entries(params).map(([name, value]): [string, string] => [name, String(value)])).toString();
