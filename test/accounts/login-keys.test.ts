import { expect, it } from '@jest/globals';
import { signIn } from '../../src/accounts/logins.ts';
import { hashPassword } from '../../src/wordpress/passwords.ts';
import { describeTwoInstances } from '../support/site-client.ts';

describeTwoInstances('login keys that are stored in the options', ({ db, sites }) => {
  const statusesWith = async (cookie: string) =>
    Promise.all(sites().map(async ({ send }) => (await send('GET', '/admin/me', { headers: { Cookie: cookie } })).status));
  const note = () => db().from('fasti_changes').increment('counter');

  it('end all sessions in all processes if they are replaced or removed', async () => {
    await db()
      .from('users')
      .where('user_login', 'ed')
      .update({ user_pass: await hashPassword('right') });
    const begin = async () => {
      const { site } = sites()[0]!;
      const attempt = { name: 'ed', password: 'right', remember: false, address: '203.0.113.7', agent: undefined };
      const { cookie } = await signIn(site, await site.settings(), attempt);
      await note();
      return `${cookie.name}=${encodeURIComponent(cookie.value)}`;
    };
    const first = await begin();
    expect(await statusesWith(first)).toEqual([200, 200]);
    await db().from('options').where('option_name', 'logged_in_salt').update({ option_value: 'other' });
    await note();
    expect(await statusesWith(first)).toEqual([401, 401]);
    const second = await begin();
    expect(await statusesWith(second)).toEqual([200, 200]);
    await db().from('options').whereIn('option_name', ['logged_in_key', 'logged_in_salt']).delete();
    await note();
    expect(await statusesWith(second)).toEqual([401, 401]);
    expect(await statusesWith(await begin())).toEqual([200, 200]);
  });
});
