import { expect, it } from '@jest/globals';
import { readClaim } from '../../src/accounts/credentials.ts';
import { requireLoginKeys } from '../../src/accounts/login-keys.ts';
import { formNonce, isFormNonce, loginOf, signIn } from '../../src/accounts/logins.ts';
import { LOGIN_KEY_OPTIONS } from '../../src/wordpress/cookies.ts';
import { createNonce } from '../../src/wordpress/nonces.ts';
import { hashPassword } from '../../src/wordpress/passwords.ts';
import { unixFromDate } from '../../src/wordpress/time.ts';
import { describeTwoInstances } from '../support/site-client.ts';

describeTwoInstances('login keys that are stored in the options', ({ db, sites }) => {
  const statusesWith = async (cookie: string) =>
    Promise.all(sites().map(async ({ send }) => (await send('GET', '/admin/me', { headers: { Cookie: cookie } })).status));
  const note = () => db().from('fasti_changes').increment('counter');

  const begin = async () => {
    const { site } = sites()[0]!;
    const attempt = { name: 'ed', password: 'right', remember: false, address: '203.0.113.7', agent: undefined };
    const { cookie } = await signIn(site, await site.settings(), attempt);
    return `${cookie.name}=${encodeURIComponent(cookie.value)}`;
  };
  const storePassword = async () =>
    db()
      .from('users')
      .where('user_login', 'ed')
      .update({ user_pass: await hashPassword('right', 'current') });

  it('end all sessions in all processes if they are replaced or removed', async () => {
    await storePassword();
    const beginAndNote = async () => {
      const cookie = await begin();
      await note();
      return cookie;
    };
    const first = await beginAndNote();
    expect(await statusesWith(first)).toEqual([200, 200]);
    await db().from('options').where('option_name', 'logged_in_salt').update({ option_value: 'other' });
    await note();
    expect(await statusesWith(first)).toEqual([401, 401]);
    const second = await beginAndNote();
    expect(await statusesWith(second)).toEqual([200, 200]);
    await db().from('options').whereIn('option_name', ['logged_in_key', 'logged_in_salt']).delete();
    await note();
    expect(await statusesWith(second)).toEqual([401, 401]);
    expect(await statusesWith(await beginAndNote())).toEqual([200, 200]);
  });

  it('hold at a process whose settings are older than they are, for cookies, forms and nonces', async () => {
    await storePassword();
    await db().from('options').whereIn('option_name', Object.values(LOGIN_KEY_OPTIONS)).delete();
    await note();
    const { site } = sites()[1]!;
    const settings = await site.settings();
    const cookie = await begin();
    const login = await loginOf(site, settings, { cookie });
    expect(login?.user.row.user_login).toBe('ed');
    expect(await isFormNonce(site, settings, login!, await formNonce(site, settings, login!))).toBe(true);
    const { nonceKey, nonceSalt } = await requireLoginKeys(site, settings);
    const nonce = createNonce({ user: 2, token: login!.token, action: 'wp_rest' }, nonceKey + nonceSalt, unixFromDate(site.clock()));
    const { viewer } = await readClaim(site, settings, { cookie, secure: true, address: '203.0.113.7', isForeignPage: false }).identify(
      nonce,
    );
    expect(viewer.id).toBe(2);
  });
});
