import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createLog } from '../../src/log.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { feeds } from '../fuzz/feeds.ts';
import { INHERITED_WORDS } from '../fuzz/inherited.ts';
import { PROTOCOL_NAMES, type Target, targetsOf } from '../fuzz/requests.ts';
import { describeDatabases } from '../support/databases.ts';
import { servedRoutes } from '../support/outside-texts.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';

/** Every handler once, by the first of its methods. */
const targets = [...servedRoutes()].flatMap(([namespace, routes]) =>
  routes.flatMap((route) =>
    targetsOf(
      namespace,
      route.endpoints.map((endpoint) => ({ ...route, endpoints: [{ ...endpoint, methods: endpoint.methods.slice(0, 1) }] })),
    ),
  ),
);

/** Mandatory fields of new records, so that only the tested parameter can be wrong. */
const NEEDED = { title: 'New', start_date: '2031-05-01 20:00', end_date: '2031-05-01 22:00', venue: 'New', organizer: 'New', name: 'New' };
/** Headers that are looked up by name. */
const HEADERS = [
  'Accept', 'Accept-Encoding', 'Accept-Language', 'Authorization', 'Content-Disposition', 'Content-Encoding', 'Content-MD5', 'Content-Type', 'Cookie', 'Idempotency-Key',
  'If-Match', 'If-Modified-Since', 'If-None-Match', 'If-Unmodified-Since', 'Origin', 'Range', 'X-Forwarded-For', 'X-Forwarded-Proto', 'X-HTTP-Method-Override', 'X-Request-Id', 'X-WP-Nonce',
]; // biome-ignore format: a list

const all = <Value>(value: (word: string) => Value) => INHERITED_WORDS.map(value);
/** An object with all of these names as its own members, as JSON: an object literal would set its prototype. */
const objectOf = (member: string) => `{${all((word) => `"${word}":${member}`).join()}}`;
const LIST = JSON.stringify(INHERITED_WORDS);
/** JSON values that contain the names as texts, as names of members and as both, at several depths. */
const VALUES = [LIST, objectOf(LIST), `[${objectOf('{"polluted":true}')}]`];
/** Targets on which the parameters of the protocol are tested, since one place handles them for all. */
const takesProtocol = ({ name }: Target) =>
  ['GET /events', 'POST /events', 'GET wp/v2/tribe_events', 'GET wp/v2/tags/(?P<id>\\d+)'].includes(name);

describeDatabases('names of Object.prototype members cause no server error or leak', (open) => {
  let db: Database;
  let running: RunningSite;
  const logged: string[] = [];
  beforeAll(async () => {
    db = await loadSite(await open());
    const log = createLog({ logLevel: 'error' }, { write: (line) => logged.push(line) });
    running = await serveDatabase(db, { log });
  });
  afterAll(() => running.close());

  /** Sends a request and returns the faults of its response. */
  async function faultsOf(method: string, path: string, headers: Record<string, string> = {}, body: string | null = null, as?: string) {
    logged.length = 0;
    const answer = await running.send(method, path, { headers, body, ...(as ? { as } : {}) });
    const polluted = 'polluted' in {} || Object.keys(Object.prototype).length > 0;
    const leaks = /function Object\(\)|\[native code\]/.test(answer.text);
    // WordPress refuses with 501 what a route does not support, and with 500 an upload that is not an image.
    const isRefusedUpload = answer.status === 500 && /"code":"rest_upload_(unknown|sideload)_error"/.test(answer.text);
    const isRefused = answer.status < 500 || answer.status === 501 || isRefusedUpload;
    if (isRefused && !polluted && !leaks && (isRefusedUpload || logged.length === 0)) return [];
    return [
      `${method} ${path} ${JSON.stringify(headers)} ${body ?? ''} => ${answer.status} ${answer.text.slice(0, 200)} ${logged.join(' ')}`,
    ];
  }

  const JSON_TYPE = { 'Content-Type': 'application/json', 'X-TEC-EEA': 'x' };
  const pathOf = ({ namespace, pattern, kind }: Target, piece?: string) => {
    const id = { event: 44, venue: 12, organizer: 21, category: 7, tag: 13 }[kind?.name ?? 'event'];
    return `/wp-json/${namespace}${pattern.replace('(?P<id>\\d+)', String(id)).replace(/\(\?P<\w+>[^)]+\)/, piece ?? 'x')}`;
  };

  it.each(targets.map((target) => [target.name, target] as const))('as values and members of any parameter of %s', async (_, target) => {
    const faults: string[] = [];
    const names = Object.keys(target.params).filter((name) => !(target.params[name]!.required && target.pattern.includes(`<${name}>`)));
    const needed = Object.entries(NEEDED).filter(([name]) => target.method === 'POST' && Object.hasOwn(target.params, name));
    const tried = new Set([...names, ...(takesProtocol(target) ? PROTOCOL_NAMES : [])]);
    for (const [at, name] of [...tried].entries()) {
      const others = Object.fromEntries(needed.filter(([other]) => other !== name));
      for (const value of VALUES) {
        const body = JSON.stringify({ ...others, [name]: 'HERE' }).replace('"HERE"', () => value);
        faults.push(...(await faultsOf(target.method, pathOf(target), JSON_TYPE, body, 'admin')));
      }
      const members = all((word) => `${name}[${word}]=${word}&${word}=1`).join('&');
      // All words but the first name functions; each parameter gets a different one.
      const [first, ...functions] = all((word) => `${name}=${word}`);
      const body = target.method === 'GET' ? null : JSON.stringify(others);
      for (const query of [members, first, functions[at % functions.length]])
        faults.push(...(await faultsOf(target.method, `${pathOf(target)}?${query}`, JSON_TYPE, body, body === null ? undefined : 'admin')));
    }
    expect(faults.slice(0, 5)).toEqual([]);
  });

  it('as segments of any path', async () => {
    const faults: string[] = [];
    for (const target of targets.filter(({ pattern }) => /\(\?P<(?!id>)/.test(pattern)))
      for (const word of INHERITED_WORDS) faults.push(...(await faultsOf(target.method, pathOf(target, word), JSON_TYPE, '{}', 'admin')));
    for (const word of INHERITED_WORDS) {
      for (const path of [
        `/event/${word}/?ical=1`,
        `/events/category/${word}/feed/`,
        `/events/tag/${word}/ical/`,
        `/wp-json/${word}/v1`,
        `/${word}/`,
      ])
        faults.push(...(await faultsOf('GET', path)));
      for (const name of [
        ...Object.keys(feeds.params),
        word,
        'eventDisplay',
        'format',
        'feed',
        'ical',
        'post_type',
        'tribe_events',
        'rest_route',
      ])
        faults.push(
          ...(await faultsOf('GET', `/events/ical/?${name}=${word}`)),
          ...(await faultsOf('GET', `/?ical=1&${name}[${word}]=${word}`)),
        );
    }
    expect(faults.slice(0, 5)).toEqual([]);
  });

  it('as headers and their values', async () => {
    const faults: string[] = [];
    for (const word of INHERITED_WORDS) {
      for (const header of [...HEADERS, word]) {
        for (const [method, path, body] of [
          ['GET', '/wp-json/tribe/events/v1/events/44', null],
          ['POST', '/wp-json/tribe/events/v1/events', '{}'],
          ['POST', '/wp-json/wp/v2/media', 'x'],
          ['GET', '/events/ical/', null],
          ['GET', '/wp-content/uploads/x.png', null],
        ] as const)
          faults.push(...(await faultsOf(method, path, { [header]: word }, body, 'admin')));
      }
    }
    expect(faults.slice(0, 5)).toEqual([]);
  });

  it('as fields and files of forms', async () => {
    const faults: string[] = [];
    for (const word of INHERITED_WORDS) {
      const form = `${word}=1&${word}[${word}]=1&title[${word}]=1&categories[${word}][${word}]=1&venue[${word}]=${word}`;
      const types = { 'Content-Type': 'application/x-www-form-urlencoded' };
      faults.push(...(await faultsOf('POST', '/wp-json/tribe/events/v1/events', types, form, 'admin')));
      const part = (name: string, file = '') => `--X\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${word}\r\n`;
      const parts = [part(word), part(`title[${word}]`), part(word, `; filename="${word}"`), part('file', `; filename="${word}.${word}"`)];
      const multipart = { 'Content-Type': 'multipart/form-data; boundary=X' };
      faults.push(...(await faultsOf('POST', '/wp-json/wp/v2/media', multipart, `${parts.join('')}--X--\r\n`, 'admin')));
    }
    expect(faults.slice(0, 5)).toEqual([]);
  });
});
