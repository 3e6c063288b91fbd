import { describe, expect, it } from '@jest/globals';
import { createLog, loggedUrl } from '../src/log.ts';

const SECRET = 'hush hush';

/** What the log makes of an entry. */
function written(entry: object, logLevel = 'info'): string {
  const lines: string[] = [];
  createLog({ logLevel }, { write: (line) => lines.push(line) }).info(entry, 'said');
  return lines.join('');
}

describe('the log', () => {
  it('writes a line of JSON', () => expect(JSON.parse(written({ id: 7 }))).toMatchObject({ id: 7, msg: 'said' }));
  it('leaves out what is below its level', () => expect(written({ id: 7 }, 'warn')).toBe(''));
  it.each<[string, object]>([
    ['an Authorization header', { req: { headers: { authorization: SECRET } } }],
    ['a cookie', { req: { headers: { cookie: SECRET } } }],
    ['a cookie that is set', { res: { headers: { 'set-cookie': SECRET } } }],
    ['a nonce', { req: { headers: { 'x-wp-nonce': SECRET } } }],
    ['a password', { password: SECRET }],
    ['a password within', { user: { application_password: SECRET, user_pass: SECRET } }],
    ['the address of the database', { config: { databaseUrl: SECRET } }],
  ])('hides %s', (_what, entry) => {
    expect(written(entry)).toContain('[hidden]');
    expect(written(entry)).not.toContain(SECRET);
  });
  it('is silent under a test runner', () => expect(createLog({ logLevel: 'info' }).level).toBe('silent'));
});

describe('an address in the log', () => {
  it.each([
    ['/events?page=2', '/events?page=2'],
    ['/events/1?password=opensesame&x=1', '/events/1?password=[hidden]&x=1'],
    ['/?rest_route=/events&_wpnonce=abc#top', '/?rest_route=/events&_wpnonce=[hidden]#top'],
  ])('%s is written %s', (url, shown) => expect(loggedUrl(url)).toBe(shown));
});
