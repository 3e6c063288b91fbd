import { createHash } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createApplicationPassword, revokeApplicationPassword } from '../../src/accounts/application-passwords.ts';
import { attemptsOf, createFailureCounts, purposeOf } from '../../src/accounts/attempts.ts';
import { type Credentials, readClaim } from '../../src/accounts/credentials.ts';
import { loginsOf } from '../../src/accounts/logins.ts';
import { loadViewer } from '../../src/accounts/viewer.ts';
import { readSettings, settingNames } from '../../src/calendar/settings.ts';
import { readConfig } from '../../src/config/config.ts';
import { createLog } from '../../src/log.ts';
import type { Site } from '../../src/site.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { openDatabase } from '../../src/storage/engine/database.ts';
import { readOptions } from '../../src/storage/rows/options.ts';
import { capabilitiesKey, loadUsers, replaceUserMeta, writeUserMeta } from '../../src/storage/rows/users.ts';
import { loginCookieName } from '../../src/wordpress/cookies.ts';
import { createNonce } from '../../src/wordpress/nonces.ts';
import { asStored, parseSerialized, toSerialized } from '../../src/wordpress/php/serialized.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';
import { createLoginCookie, LOGIN_KEYS } from '../support/login-cookie.ts';
import { loadSite, makeNetwork, setOptions } from '../support/site.ts';

const START = new Date('2026-11-20T12:00:00Z');

/** The parts of a site that these functions need, with a clock that the tests set. */
function siteOn(db: Database, env: Record<string, string> = {}): Site & { now: Date } {
  const config = readConfig(env);
  const site = {
    config,
    db,
    log: createLog({ logLevel: 'silent' }),
    now: START,
    clock: () => site.now,
    settings: async () => readSettings(await readOptions(db, settingNames(db.prefix)), db.prefix, config.siteUrl),
    close: () => db.close(),
  };
  return site as unknown as Site & { now: Date };
}

const basic = (name: string, password: string) => `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
type Asking = Partial<Credentials> & { readonly nonce?: string };
const ask = async (site: Site, { nonce, ...credentials }: Asking) =>
  readClaim(site, await site.settings(), { secure: false, address: '192.0.2.1', isForeignPage: false, ...credentials }).identify(nonce);
const answerTo = (site: Site, credentials: Asking) =>
  ask(site, credentials).then(
    ({ viewer }) => viewer.login || 'anonymous',
    (error: { code?: string; status?: number }) => `${error.code} ${error.status}`,
  );

/** A password and its `$P$` hash, as WordPress created them before 6.8. */
const LEGACY = 'AbCdEfGhIjKlMnOpQrStUvWx';
function portable(password: string, salt = 'saltsalt'): string {
  const digits = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  let hash = createHash('md5')
    .update(salt + password)
    .digest();
  for (let round = 0; round < 256; round += 1) hash = createHash('md5').update(hash).update(password).digest();
  let text = `$P$${digits[8]}${salt}`;
  for (let at = 0; at < 16; at += 3) {
    const group = [...hash.subarray(at, at + 3)];
    const value = group.reduce((sum, byte, place) => sum + byte * 256 ** place, 0);
    for (let digit = 0; digit <= group.length; digit += 1) text += digits[Math.floor(value / 64 ** digit) % 64];
  }
  return text;
}

describeDatabases('identify', (open) => {
  let db: Database;
  let site: Site & { now: Date };
  let password: string;
  let uuid: string;

  beforeAll(async () => {
    db = await open();
  });
  beforeEach(async () => {
    await loadSite(db);
    site = siteOn(db);
    ({ password, uuid } = await createApplicationPassword(site, 'ed', 'tests'));
  });

  const storedOf = async (login: number) =>
    Object.values(
      parseSerialized(
        (await loadUsers(db, [login], ['_application_passwords'])).get(login)!.metas.get('_application_passwords')!,
      ) as object,
    ) as Record<string, unknown>[];

  describe('application password', () => {
    it.each([
      ['with the login', (one: string) => basic('ed', one)],
      ['with the login in another case', (one: string) => basic('ED', one)],
      ['with the e-mail address', (one: string) => basic('ed@example.test', one)],
      ['in groups of four', (one: string) => basic('ed', one.replace(/.{4}(?=.)/g, '$& '))],
      ['with dashes', (one: string) => basic('ed', one.replace(/.{4}(?=.)/g, '$&-'))],
      ['with the scheme in another case', (one: string) => basic('ed', one).replace('Basic', 'bASIC')],
    ])('is accepted %s', async (_, header) => expect(await answerTo(site, { authorization: header(password) })).toBe('ed'));

    it('gives the viewer the capabilities of the roles in the database', async () => {
      const { viewer, nonce } = await ask(site, { authorization: basic('ed', password) });
      expect(viewer.id).toBe(2);
      expect(viewer.can('edit_others_tribe_events')).toBe(true);
      expect(viewer.can('manage_options')).toBe(false);
      expect(nonce).toBeUndefined();
      await writeUserMeta(db, 2, capabilitiesKey(db), toSerialized({ subscriber: true, manage_categories: true, read: false }));
      const later = (await ask(site, { authorization: basic('ed', password) })).viewer;
      expect([later.can('edit_tribe_events'), later.can('manage_categories'), later.can('read')]).toEqual([false, true, false]);
    });

    it('costs one query, whether right or wrong', async () => {
      await ask(site, { authorization: basic('ed', password) });
      await noted();
      const settings = await site.settings();
      const count = async (authorization: string) => {
        const before = db.queries();
        // A request with a form may identify twice: before the form is read, and with the nonce in it.
        const claim = readClaim(site, settings, { authorization, secure: true, address: '192.0.2.1', isForeignPage: false });
        for (let times = 0; times < 2; times += 1) await claim.identify(undefined).catch(() => undefined);
        return db.queries() - before;
      };
      expect(await count(basic('ed', password))).toBe(1);
      expect(await count(basic('ed', 'wrong'))).toBe(1);
      expect(await count(basic('nobody', 'wrong'))).toBe(1);
    });

    it('counts a wrong password once per request, however often the request identifies', async () => {
      const claim = readClaim(site, await site.settings(), {
        authorization: basic('ed', 'wrong'),
        secure: true,
        address: '192.0.2.9',
        isForeignPage: false,
      });
      for (let times = 0; times < 150; times += 1)
        await expect(claim.identify(undefined)).rejects.toMatchObject({ problem: 'incorrect_password' });
    });

    it('matches a login before the e-mail address of another user', async () => {
      await db.from('users').where('ID', 3).update({ user_email: 'ed' });
      await db.from('users').where('ID', 4).update({ user_login: 'ed@example.test' });
      const other = await createApplicationPassword(site, 4, 'tests');
      expect(await answerTo(site, { authorization: basic('ed', password) })).toBe('ed');
      expect(await answerTo(site, { authorization: basic('ed@example.test', other.password) })).toBe('ed@example.test');
    });

    it('is ignored if the site does not use application passwords', async () => {
      await setOptions(db, { using_application_passwords: '' });
      expect(await answerTo(site, { authorization: basic('ed', password) })).toBe('anonymous');
      expect(await answerTo(site, { authorization: basic('ed', 'wrong') })).toBe('anonymous');
    });

    it('is ignored on unencrypted connections if BASIC_AUTH is https', async () => {
      const strict = siteOn(db, { BASIC_AUTH: 'https' });
      expect(await answerTo(strict, { authorization: basic('ed', password) })).toBe('anonymous');
      expect(await answerTo(strict, { authorization: basic('ed', password), secure: true })).toBe('ed');
    });

    it('of an old WordPress is accepted until it is revoked', async () => {
      const old = { uuid: 'old', app_id: '', name: 'old', password: portable(LEGACY), created: 1, last_used: null, last_ip: null };
      await writeUserMeta(db, 3, '_application_passwords', toSerialized([old]));
      expect(await answerTo(site, { authorization: basic('auth', `${LEGACY.slice(0, 4)} ${LEGACY.slice(4)}`) })).toBe('auth');
      expect(await answerTo(site, { authorization: basic('auth', LEGACY.slice(1)) })).toBe('incorrect_password 401');
      await revokeApplicationPassword(site, 'auth', 'old');
      expect(await answerTo(site, { authorization: basic('auth', LEGACY) })).toBe('incorrect_password 401');
    });

    it('is refused once another process has revoked it', async () => {
      expect(await answerTo(site, { authorization: basic('ed', password) })).toBe('ed');
      const elsewhere = await openDatabase({ url: urlOf(db), prefix: db.prefix });
      await revokeApplicationPassword(siteOn(elsewhere), 'ed', uuid);
      await elsewhere.close();
      expect(await answerTo(site, { authorization: basic('ed', password) })).toBe('incorrect_password 401');
    });
  });

  describe('wrong credentials', () => {
    it.each([
      ['a wrong password', basic('ed', 'wrong')],
      ['an unknown user', basic('nobody', 'wrong')],
      ['an unknown address', basic('nobody@example.test', 'wrong')],
      ['no user', basic(':x'.slice(0, 0), 'x')],
      ['a password of dashes', basic('ed', '- -')],
      ['a user without passwords', basic('sub', 'wrong')],
      ['a very long name and password', basic('e'.repeat(5000), 'x'.repeat(6000))],
    ])('are refused with the same error: %s', async (_, authorization) =>
      expect(await answerTo(site, { authorization })).toBe('incorrect_password 401'),
    );

    it('include the application password of another user and the password of the account', async () => {
      expect(await answerTo(site, { authorization: basic('admin', password) })).toBe('incorrect_password 401');
      expect(await answerTo(site, { authorization: basic('ed', 'ed') })).toBe('incorrect_password 401');
    });

    it('include any password if the stored list is broken', async () => {
      await writeUserMeta(db, 2, '_application_passwords', asStored('a:1:{i:0;broken'));
      expect(await answerTo(site, { authorization: basic('ed', password) })).toBe('incorrect_password 401');
    });

    it('are answered no faster than the minimum delay that hides the computation', async () => {
      for (const name of ['ed', 'nobody']) {
        const begun = performance.now();
        await answerTo(site, { authorization: basic(name, 'wrong') });
        expect(performance.now() - begun).toBeGreaterThan(55);
      }
    });
  });

  it.each([
    ['nothing', undefined],
    ['Bearer', 'Bearer abc.def.ghi'],
    ['Basic without a colon', `Basic ${Buffer.from('ed').toString('base64')}`],
    ['empty Basic', 'Basic '],
    ['Basic of nothing', `Basic ${Buffer.from('').toString('base64')}`],
    ['Basic without a password', basic('ed', '')],
    ['Digest', 'Digest username="ed"'],
  ])('treats %s as anonymous', async (_, authorization) => expect(await answerTo(site, { authorization })).toBe('anonymous'));

  describe('too many failed attempts', () => {
    const fail = (name: string, address: string) => answerTo(site, { authorization: basic(name, 'wrong'), address });
    /** Sends eight attempts at a time, since each takes the minimum delay and the connections are limited. */
    const failMany = async (count: number, name: (place: number) => string, address: (place: number) => string) => {
      const answers: string[] = [];
      for (let at = 0; at < count; at += 8) {
        const places = Array.from({ length: Math.min(8, count - at) }, (_, place) => at + place);
        answers.push(...(await Promise.all(places.map((place) => fail(name(place), address(place))))));
      }
      return answers;
    };

    it('from one address return 429, but not for correct passwords or other addresses', async () => {
      const answers = await failMany(
        201,
        (place) => `user${place}`,
        () => '192.0.2.66',
      );
      expect(answers.filter((answer) => answer === 'incorrect_password 401')).toHaveLength(200);
      expect(answers.filter((answer) => answer === 'rest_too_many_requests 429')).toHaveLength(1);
      expect(await answerTo(site, { authorization: basic('ed', password), address: '192.0.2.66' })).toBe('ed');
      expect(await fail('ed', '192.0.2.67')).toBe('incorrect_password 401');
      await expect(ask(site, { authorization: basic('ed', 'wrong'), address: '192.0.2.66' })).rejects.toMatchObject({
        details: { data: { retry_after: 900 } },
      });
    });

    it('for one user name return 429, whether the user exists or not, but not for the correct password', async () => {
      for (const name of ['ed', 'nobody']) {
        await failMany(
          100,
          () => name,
          (place) => `198.51.100.${place}`,
        );
        expect(await fail(name, '192.0.2.2')).toBe('rest_too_many_requests 429');
      }
      expect(await answerTo(site, { authorization: basic('ed', password), address: '192.0.2.3' })).toBe('ed');
    });

    it('sent by pages of other sites are counted apart, since an editor may visit such a page', async () => {
      const address = '192.0.2.70';
      const [own, foreign] = [{ address }, { address, isForeignPage: true }];
      const wrong = (as: object) => answerTo(site, { authorization: basic('ed', 'wrong'), ...as });
      for (let time = 0; time < 200; time += 1) attemptsOf(site, 'sign-in', purposeOf(foreign)).countFailure(address, `user${time}`, START);
      expect(await wrong(foreign)).toBe('rest_too_many_requests 429');
      expect(attemptsOf(site, 'sign-in').secondsToWait(address, START)).toBeUndefined();
      expect(await wrong(own)).toBe('incorrect_password 401');
      for (let time = 0; time < 200; time += 1) await attemptsOf(site, 'sign-in').countFailure(address, `user${time}`, START);
      expect(await wrong(own)).toBe('rest_too_many_requests 429');
    });

    it('are forgotten after 15 minutes', async () => {
      await failMany(
        101,
        () => 'ed',
        (place) => `198.51.100.${place}`,
      );
      expect(await fail('ed', '192.0.2.2')).toBe('rest_too_many_requests 429');
      site.now = new Date(START.getTime() + 901_000);
      expect(await fail('ed', '192.0.2.2')).toBe('incorrect_password 401');
    });
  });

  describe('last use of an application password', () => {
    it('is recorded with the address after the request', async () => {
      await ask(site, { authorization: basic('ed', password), address: '203.0.113.9' });
      await noted();
      const [before, entry] = await storedOf(2);
      expect(entry).toMatchObject({ uuid, last_used: START.getTime() / 1000, last_ip: '203.0.113.9' });
      expect(before).toMatchObject({ name: 'replay', last_used: 1795160904 });
    });

    it('is recorded at most once a day', async () => {
      const use = async (seconds: number) => {
        site.now = new Date(START.getTime() + seconds * 1000);
        await ask(site, { authorization: basic('ed', password), address: `203.0.113.${seconds % 250}` });
        await noted();
        return (await storedOf(2))[1]?.last_used;
      };
      const first = START.getTime() / 1000;
      expect(await use(0)).toBe(first);
      expect(await use(86_399)).toBe(first);
      expect(await use(86_400)).toBe(first + 86_400);
    });

    it('does not restore a password that was revoked meanwhile', async () => {
      const user = (await loadUsers(db, [2], ['_application_passwords'])).get(2)!;
      const before = user.metas.get('_application_passwords')!;
      await revokeApplicationPassword(site, 'ed', uuid);
      expect(await replaceUserMeta(db, 2, '_application_passwords', { before, after: asStored(before) })).toBe(false);
      expect((await storedOf(2)).map((entry) => entry.name)).toEqual(['replay']);
    });

    it('may fail to be recorded without failing the request', async () => {
      const unwritable = { where: () => ({ update: () => Promise.reject(new Error('read only')) }) } as never;
      const broken: Site = { ...site, db: { ...db, from: () => unwritable } };
      expect(await answerTo(broken, { authorization: basic('ed', password) })).toBe('ed');
    });
  });

  /** Waits for the note of the last use, which is written in the background. */
  const noted = () => new Promise((resolve) => setTimeout(resolve, 30));

  describe('login cookie', () => {
    const now = START.getTime() / 1000;
    let signed: Site & { now: Date };
    let cookie: string;
    let token: string;

    beforeEach(async () => {
      signed = siteOn(db, LOGIN_KEYS);
      const { user_pass: userPass } = (await loadUsers(db, [3], [])).get(3)!.row;
      const made = createLoginCookie({ login: 'auth', userPass, expiration: now + 3600 }, 'a-keya-salt');
      token = made.token;
      cookie = `${loginCookieName('http://127.0.0.1:8081')}=${encodeURIComponent(made.value)}`;
      await writeUserMeta(db, 3, 'session_tokens', toSerialized({ [made.sessionKey]: { expiration: now + 3600, ip: '192.0.2.1' } }));
    });

    const nonceFor = (user: number, of = token) => createNonce({ user, token: of }, 'n-keyn-salt', now);

    it('with a nonce authenticates its user and returns a fresh nonce', async () => {
      const { viewer, nonce } = await ask(signed, { cookie: `other=1; ${cookie}; more=2`, nonce: nonceFor(3) });
      expect(viewer.login).toBe('auth');
      expect(viewer.can('publish_tribe_events')).toBe(true);
      expect(nonce).toBe(nonceFor(3));
    });

    it('has a name derived from the siteurl of the network exactly as it is stored', async () => {
      const network = await loadSite(await open());
      await makeNetwork(network);
      const own = siteOn(network, LOGIN_KEYS);
      const { user_pass: userPass } = (await loadUsers(network, [3], [])).get(3)!.row;
      const made = createLoginCookie({ login: 'auth', userPass, expiration: now + 3600 }, 'a-keya-salt');
      await writeUserMeta(network, 3, 'session_tokens', toSerialized({ [made.sessionKey]: { expiration: now + 3600 } }));
      const answerOf = (address: string) =>
        answerTo(own, {
          cookie: `${loginCookieName(address)}=${encodeURIComponent(made.value)}`,
          nonce: nonceFor(3, made.token),
        });
      expect(await answerOf('http://127.0.0.1:8081')).toBe('auth');
      await network.from('sitemeta').insert({ site_id: 1, meta_key: 'siteurl', meta_value: 'http://127.0.0.1:8081/' });
      expect(await answerOf('http://127.0.0.1:8081/')).toBe('auth');
      expect(await answerOf('http://127.0.0.1:8081')).toBe('rest_cookie_invalid_nonce 403');
    });

    it('without a nonce is anonymous', async () => expect(await answerTo(signed, { cookie })).toBe('anonymous'));

    it('with the nonce of another session is refused', async () => {
      for (const nonce of ['bad', '', nonceFor(0, ''), nonceFor(2), nonceFor(3, 'other')])
        expect(await answerTo(signed, { cookie, nonce })).toBe('rest_cookie_invalid_nonce 403');
    });

    it('takes precedence over Basic with a nonce, but not without', async () => {
      expect(await answerTo(signed, { cookie, nonce: nonceFor(3), authorization: basic('ed', 'wrong') })).toBe('auth');
      expect(await answerTo(signed, { cookie, authorization: basic('ed', password) })).toBe('ed');
    });

    it('is anonymous once its session has ended or it has expired', async () => {
      const nonce = nonceFor(3);
      await writeUserMeta(db, 3, 'session_tokens', toSerialized({}));
      expect(await answerTo(signed, { cookie, nonce })).toBe('rest_cookie_invalid_nonce 403');
      signed.now = new Date(START.getTime() + 3_601_000);
      expect(await answerTo(signed, { cookie })).toBe('anonymous');
    });

    it('costs no look at the sessions if its signature is wrong', async () => {
      const settings = await signed.settings();
      const count = async (sent: string) => {
        const before = db.queries();
        const logins = await loginsOf(signed, settings, { cookie: sent });
        return [logins.length, db.queries() - before];
      };
      expect(await count(cookie)).toEqual([1, 2]);
      expect(await count(cookie.replace(/[0-9a-f]{64}$/, '0'.repeat(64)))).toEqual([0, 1]);
    });

    it('is ignored without the keys and salts of the site', async () => {
      expect(await answerTo(site, { cookie })).toBe('anonymous');
      expect(await answerTo(site, { cookie, nonce: nonceFor(3) })).toBe('rest_cookie_invalid_nonce 403');
    });

    it.each(['=', 'a', `${loginCookieName('http://127.0.0.1:8081')}=%E0%A4%A`, `${loginCookieName('http://127.0.0.1:8081')}=auth|1|x`])(
      'is ignored if it is %s',
      async (broken) => {
        expect(await answerTo(signed, { cookie: broken, nonce: nonceFor(0, '') })).toBe('anonymous');
      },
    );

    it('is not needed for the nonce of a visitor, which is renewed', async () => {
      expect(await ask(signed, { nonce: nonceFor(0, '') })).toMatchObject({ viewer: { id: 0 }, nonce: nonceFor(0, '') });
      expect(await answerTo(signed, { nonce: 'bad' })).toBe('rest_cookie_invalid_nonce 403');
    });
  });

  it('ignores the nonce if there is an application password', async () => {
    expect(await answerTo(site, { authorization: basic('ed', password), nonce: 'bad' })).toBe('ed');
    expect(await answerTo(site, { authorization: basic('ed', 'wrong'), nonce: 'bad' })).toBe('incorrect_password 401');
  });

  it('loadViewer finds a user by id', async () => {
    const settings = await site.settings();
    expect((await loadViewer(db, settings, 1))?.can('manage_options')).toBe(true);
    expect(await loadViewer(db, settings, 99)).toBeUndefined();
  });
});

describe('createFailureCounts', () => {
  const few = { perAddress: 3, perName: 100, perNameAndNetwork: 2, windowSeconds: 60 };
  const limits = { 'sign-in': few, 'record-password': few, 'right-password': few, suggestion: few };
  it('counts an address with the port of the connection, as some proxies send it, as the address', () => {
    const attempts = createFailureCounts(limits).attemptsOf('sign-in');
    for (const [address, other] of [
      ['198.51.100.7:50000', '198.51.100.7:50001'],
      ['[2001:db8::7]:50000', '2001:db8::7'],
    ] as const) {
      for (let time = 0; time < limits['sign-in'].perAddress; time += 1) attempts.countFailure(address, undefined, START);
      expect([other, attempts.secondsToWait(other, START)]).toEqual([other, expect.any(Number)]);
    }
  });

  it('keeps strangers from a name after failures of many networks, but a network only after some of its own', () => {
    const limit = { ...few, perName: 3 };
    const attempts = createFailureCounts({ ...limits, 'sign-in': limit }).attemptsOf('sign-in');
    const fail = (address: string, name = 'ed') => attempts.countName(address, name, START);
    const wait = (address: string, name = 'ed') => attempts.secondsToWaitFor(address, name, START);
    // All of them are of one customer.
    const networks = ['1::1', '2::1', '3::1', '4::1', '5::1'].map((end) => `2001:db8:7:${end}`);
    expect(networks.map((address) => fail(address))).toEqual([undefined, undefined, 60, 60, 60]);
    expect([wait('2001:db8:7:9::1'), wait('2001:db8:8:9::1'), wait('192.0.2.1')]).toEqual([60, undefined, undefined]);
    expect([fail('192.0.2.1'), fail('192.0.2.2')]).toEqual([undefined, 60]);
    expect([wait('192.0.2.3'), wait('192.0.2.3', 'anna'), attempts.secondsToWait('2001:db8:7:1::1', START)]).toEqual([
      60,
      undefined,
      undefined,
    ]);
  });

  it('remembers an address that failed too often, however many names another address tries', () => {
    const attempts = createFailureCounts(limits).attemptsOf('sign-in');
    for (let time = 0; time < few.perAddress; time += 1) attempts.countFailure('192.0.2.1', 'ed', START);
    for (let time = 0; time < 25_000; time += 1) attempts.countFailure('192.0.2.2', `user ${time}`, START);
    expect(attempts.secondsToWait('192.0.2.1', START)).toBe(60);
  });

  it('remembers a name that was guessed too often, however many other names and addresses are tried', () => {
    const { attemptsOf } = createFailureCounts({ ...limits, 'sign-in': { ...few, perName: 2 } });
    const [basic, account] = [attemptsOf('sign-in'), attemptsOf('sign-in', 'account ')];
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) account.countName(address, 'anna', START);
    for (let time = 0; time < 25_000; time += 1) {
      basic.countFailure(`10.0.${time >> 8}.${time & 255}`, `user ${time}`, START);
      account.countName(`10.1.${time >> 8}.${time & 255}`, 'locked', START);
    }
    expect(account.secondsToWaitFor('192.0.2.9', 'anna', START)).toBe(60);
  });

  it('counts an IPv6 /64 network as one address and a mapped address as its IPv4 address', () => {
    const attempts = createFailureCounts(limits).attemptsOf('sign-in');
    for (const address of [
      '2001:db8:1:2::1',
      '2001:db8:1:2:ffff::9',
      '2001:db8:1:2:3:4:5:6',
      '192.0.2.1',
      '::ffff:192.0.2.1',
      '::ffff:c000:201',
    ])
      attempts.countFailure(address, 'ed', START);
    expect(attempts.secondsToWait('2001:db8:1:2::abcd', START)).toBe(60);
    expect(attempts.secondsToWait('2001:db8:1:3::1', START)).toBeUndefined();
    expect(attempts.secondsToWait('192.0.2.1', new Date(START.getTime() + 20_000))).toBe(40);
    expect(attempts.secondsToWait('192.0.2.2', START)).toBeUndefined();
  });

  it('ignores attempts of a kind that only a process of another version counts', () => {
    const counts = createFailureCounts(limits);
    const attempted = 'later' as 'sign-in';
    counts.addFailure({ attempted, key: 'address 192.0.2.1', until: START.getTime() + 1000 }, START);
    counts.loadWindows([{ attempted, key: 'address 192.0.2.1', window: { failures: 9, until: START.getTime() + 1000 } }]);
    expect(counts.currentWindows(START)).toEqual([]);
  });

  it('counts the failures of each purpose separately', () => {
    const { attemptsOf } = createFailureCounts(limits);
    for (let time = 0; time < few.perAddress; time += 1) attemptsOf('record-password', 'link ').countFailure('192.0.2.1', undefined, START);
    expect(attemptsOf('record-password', 'link ').secondsToWait('192.0.2.1', START)).toBe(60);
    expect(attemptsOf('record-password').secondsToWait('192.0.2.1', START)).toBeUndefined();
  });

  it('returns how long the limit still applies', () => {
    const attempts = createFailureCounts(limits).attemptsOf('sign-in');
    const waits = Array.from({ length: 4 }, (_, place) =>
      attempts.countFailure('192.0.2.1', `user${place}`, new Date(START.getTime() + place * 10_000)),
    );
    expect(waits).toEqual([undefined, undefined, undefined, 30]);
  });
  it('ignores failures that were counted while the clock was ahead', () => {
    const counts = createFailureCounts(limits);
    const ahead = new Date(START.getTime() + 3_600_000);
    for (let time = 0; time < 5; time += 1) counts.attemptsOf('sign-in').countFailure('192.0.2.1', undefined, ahead);
    expect(counts.attemptsOf('sign-in').secondsToWait('192.0.2.1', START)).toBeUndefined();
    expect(counts.currentWindows(START)).toEqual([]);
    expect(counts.attemptsOf('sign-in').countFailure('192.0.2.1', undefined, START)).toBeUndefined();
  });
  it('counts each kind separately', () => {
    const counts = createFailureCounts(limits);
    for (let time = 0; time < 5; time += 1) counts.attemptsOf('record-password').countFailure('192.0.2.1', undefined, START);
    expect(counts.attemptsOf('record-password').secondsToWait('192.0.2.1', START)).toBe(60);
    expect(counts.attemptsOf('sign-in').secondsToWait('192.0.2.1', START)).toBeUndefined();
  });
  it('shares one limit between processes, including later ones, with no more messages than needed', () => {
    const [one, other, late] = [createFailureCounts(limits), createFailureCounts(limits), createFailureCounts(limits)];
    let told = 0;
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const) {
      from.onFailure((failure) => {
        told += 1;
        to.addFailure(failure, START);
      });
    }
    const waits = [one, other, one, other, one].map((counts) => counts.attemptsOf('sign-in').countFailure('192.0.2.1', undefined, START));
    expect(waits).toEqual([undefined, undefined, undefined, 60, 60]);
    expect(told).toBe(3);
    late.loadWindows(one.currentWindows(START));
    expect(late.attemptsOf('sign-in').countFailure('192.0.2.1', undefined, START)).toBe(60);
    expect(one.currentWindows(new Date(START.getTime() + 60_000))).toEqual([]);
  });
  it('counts each different text of an address once, in all processes together', () => {
    const [one, other] = [createFailureCounts(limits), createFailureCounts(limits)];
    one.onFailure((failure) => other.addFailure(failure, START));
    other.onFailure((failure) => one.addFailure(failure, START));
    const send = (counts: typeof one, text: string, address = '192.0.2.1') =>
      counts.attemptsOf('right-password').countNew(address, text, START);
    const both = (text: string) => [send(one, text), send(other, text)];
    expect([both('a'), both('a'), both('b'), both('c'), both('c')].flat()).toEqual(Array.from({ length: 10 }, () => undefined));
    expect([send(other, 'd'), send(one, 'd'), send(one, 'e'), send(one, 'e', '192.0.2.2')]).toEqual([60, undefined, 60, undefined]);
    const later = new Date(START.getTime() + 60_000);
    expect(one.attemptsOf('right-password').countNew('192.0.2.1', 'f', later)).toBeUndefined();
  });
});
