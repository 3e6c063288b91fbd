import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { readConfig } from '../src/config/config.ts';
import { checkHealth } from '../src/http/health.ts';
import { backgroundWarnings, createLog, loggedUrl } from '../src/log.ts';
import { sumOfEach } from '../src/records/sum-of-each.ts';
import { openSite } from '../src/site.ts';

const SECRET = 'hush hush';

/** The line that the log writes for an entry. */
function written(entry: object, logLevel = 'info'): string {
  const lines: string[] = [];
  createLog({ logLevel }, { write: (line) => lines.push(line) }).info(entry, 'said');
  return lines.join('');
}

describe('the log', () => {
  it('writes one line of JSON', () => expect(JSON.parse(written({ id: 7 }))).toMatchObject({ id: 7, msg: 'said' }));
  it('leaves out entries below its level', () => expect(written({ id: 7 }, 'warn')).toBe(''));
  it.each<[string, object]>([
    ['an Authorization header', { req: { headers: { authorization: SECRET } } }],
    ['a cookie', { req: { headers: { cookie: SECRET } } }],
    ['a cookie that is set', { res: { headers: { 'set-cookie': SECRET } } }],
    ['a nonce', { req: { headers: { 'x-wp-nonce': SECRET } } }],
    ['a password', { password: SECRET }],
    ['a password within', { user: { application_password: SECRET, user_pass: SECRET } }],
    ['the address of the database', { config: { databaseUrl: SECRET } }],
    ['a password however deep', { request: { body: { user: { Post_Password: SECRET } } } }],
    ['a password beside a member that is called like a method', { body: { toJSON: 1, password: SECRET } }],
    ['passwords of a form', { body: { 'password[]': SECRET, 'user[password]': [SECRET], 'post password': SECRET } }],
    ['what an error carries', { err: Object.assign(new Error('no'), { sql: SECRET, config: { password: SECRET } }) }],
    [
      'what an error carries under another name',
      { failure: { error: Object.assign(new Error('no'), { sql: SECRET, sqlMessage: SECRET }) } },
    ],
    ['what an error of many carries', { err: new AggregateError([Object.assign(new Error('no'), { sql: SECRET })]) }],
  ])('hides %s', (_what, entry) => {
    expect(written(entry)).toContain('[hidden]');
    expect(written(entry)).not.toContain(SECRET);
  });
  it('describes an error with its type and its position in the code', () => {
    const { err } = JSON.parse(written({ err: Object.assign(new Error('no'), { code: 'E_NO' }) }));
    expect(err).toMatchObject({ type: 'Error', message: 'no', code: 'E_NO', stack: expect.stringContaining('log.test') });
  });
  it('is silent in a test runner', () => expect(createLog({ logLevel: 'info' }).level).toBe('silent'));
});

describe('failures that repeat', () => {
  const { now } = performance;
  afterEach(() => {
    performance.now = now;
  });

  interface Entry {
    readonly msg: string;
    readonly err: { readonly message: string; readonly stack?: string };
    readonly hook?: number;
    readonly id?: number;
  }

  /** A log whose clock is set by hand, in milliseconds, and the entries that it has written. */
  function logWithClock() {
    const entries: Entry[] = [];
    const log = createLog({ logLevel: 'info' }, { write: (line) => entries.push(JSON.parse(line)) });
    const setClock = async (time: number): Promise<void> => {
      performance.now = () => time;
      // The cache reads the time once per millisecond.
      await sleep(5);
    };
    return { entries, log, setClock };
  }
  const failing = (message: string) => new Error(message, { cause: new Error('refused') });

  it('are logged with their stack once a minute', async () => {
    const { entries, log, setClock } = logWithClock();
    await setClock(1);
    const err = failing('no database: refused');
    log.warn({ err, id: 1 }, 'failed');
    log.warn({ err, id: 2 }, 'failed');
    log.warn({ err: failing('another'), id: 3 }, 'failed');
    await setClock(61_000);
    log.warn({ err, id: 4 }, 'failed');
    expect(entries.map(({ err: { stack } }) => stack !== undefined)).toEqual([true, false, true, true]);
    expect(entries.map(({ err: { message } }) => message)).toEqual([
      'no database: refused',
      'no database: refused',
      'another: refused',
      'no database: refused',
    ]);
  });
  it('are logged once a minute if they are those of background work', async () => {
    const { entries, log, setClock } = logWithClock();
    await setClock(1);
    const warn = backgroundWarnings(log);
    const err = failing('no database');
    for (let round = 0; round < 3; round += 1) {
      warn({ err }, 'failed');
      warn({ err, hook: 7 }, 'failed');
    }
    expect(entries.map(({ hook }) => hook)).toEqual([undefined, 7]);
    warn({ err: failing('another'), hook: 7 }, 'failed');
    expect(entries).toHaveLength(3);
    await setClock(61_000);
    warn({ err }, 'failed');
    expect(entries).toHaveLength(4);
    backgroundWarnings(log)({ err }, 'failed');
    expect(entries).toHaveLength(4);
  });

  it('are logged once a minute however many there are', async () => {
    const { entries, log, setClock } = logWithClock();
    await setClock(1);
    const warn = backgroundWarnings(log);
    for (let round = 0; round < 2; round += 1) {
      warn({ err: failing('gone') }, 'the check failed');
      for (let id = 1; id <= 1000; id += 1) warn({ err: failing('refused'), id }, 'not published');
    }
    expect(entries).toHaveLength(1001);
    for (let id = 0; id < 6000; id += 1) warn({ err: failing('refused'), id }, 'not published');
    const count = entries.length;
    warn({ err: failing('gone') }, 'the check failed');
    expect(entries).toHaveLength(count);
  });

  it('are logged once a minute if they are those of checks of the database, and of a record each time that it is due', async () => {
    const { entries, log, setClock } = logWithClock();
    await setClock(1);
    const opened = await openSite(readConfig({ DATABASE_URL: 'sqlite::memory:' }), { log });
    const site = { ...opened, db: { ...opened.db, ask: () => Promise.reject(failing('gone')) } };
    for (let round = 0; round < 3; round += 1) {
      expect((await checkHealth(site)).reading).toBe('database failing');
      await sumOfEach(site, [1, 2], 'not published', () => Promise.reject(failing('refused')));
    }
    expect(entries.map(({ msg, id }) => [msg, id])).toEqual([
      ['the database check failed', undefined],
      ['not published', 1],
      ['not published', 2],
    ]);
    await opened.close();
  });
});

/** Spellings of a parameter name that the server reads as `name`, or as a list or a member of that name. */
function spellingsOf(name: string): string[] {
  const escaped = [...name].map((letter) => `%${letter.charCodeAt(0).toString(16)}`);
  const oneLetter = escaped.map((letter, at) => name.slice(0, at) + letter + name.slice(at + 1));
  const names = [name, escaped.join(''), escaped.join('').toUpperCase().replaceAll('X', 'x'), ...oneLetter, name.toUpperCase()];
  const brackets = ['', '[]', '%5B%5D', '%5b%5d', '[0]', '[a][b]', '%5B'];
  return [...names.flatMap((one) => brackets.map((bracket) => one + bracket)), `+${name}`, `x[${name}]`, `x%5B${name}%5D`];
}

describe('the URL in the log', () => {
  it.each([
    ['/events?page=2', '/events?page=2'],
    ['/events/1?password=opensesame&x=1', '/events/1?password=[hidden]&x=1'],
    ['/?rest_route=/events&_wpnonce=abc#top', '/?rest_route=/events&_wpnonce=[hidden]#top'],
    ['/events?search=a%20b&x=y=z&&flag&=1', '/events?search=a%20b&x=y=z&&flag&=1'],
    ['/events?search=anna@example.org', '/events?search=anna@example.org'],
    ['http://ed:secret@example.org/events?x=1', 'http://[hidden]@example.org/events?x=1'],
    ['//ed:se@cret@example.org', '//[hidden]@example.org'],
    ['/?rest_route=/events/1%3Fpassword%3Dsecret', '/?rest_route=/events/1?password=[hidden]'],
    ['/events/1%3Fpassword=secret', '/events/1?password=[hidden]'],
    ['/events?image=https%3A%2F%2Fed%3Asecret%40example.org%2Fa.png', '/events?image=https://[hidden]@example.org/a.png'],
    ['/events?image=https://example.org/a.png?a=1%26password=secret', '/events?image=https://example.org/a.png?a=1%26password=[hidden]'],
    ['/events#?password=secret', '/events#?password=[hidden]'],
    ['/events?%zz=%&password=%', '/events?%zz=%&password=[hidden]'],
  ])('%s is logged as %s', (url, shown) => expect(loggedUrl(url)).toBe(shown));

  it.each(['password', 'post_password', '_wpnonce', 'user_pass', 'application_password', 'authorization'])(
    'hides %s in every spelling',
    (name) => {
      const told = spellingsOf(name).filter((spelling) => loggedUrl(`/events?a=1&${spelling}=opensesame&b=2`).includes('opensesame'));
      expect(told).toEqual([]);
    },
  );
  it('hides a parameter that is nested too deeply to be read', () => {
    const deep = Array.from({ length: 9 }).reduce<string>((url) => `/x?u=${encodeURIComponent(url)}`, '/x?password=opensesame');
    expect(loggedUrl(deep)).not.toContain('opensesame');
  });
});
