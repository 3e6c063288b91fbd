import { describe, expect, it } from '@jest/globals';
import { applicationAddress } from '../../src/wordpress/application-address.ts';
import { hashPassword } from '../../src/wordpress/passwords.ts';
import { formIn, openVisitor } from '../support/desk-visitor.ts';
import type { Answer } from '../support/running-site.ts';
import { describeRequests, type SiteClient } from '../support/site-client.ts';

const PAGE = '/admin/authorize';
const SITE_URL = 'https://calendar.example.org';
const APP = { app_name: 'Pocket calendar', app_id: 'c3f0a1de-0d3b-4f0e-9a63-0f6ac4d1b2aa' };
const page = (query: Readonly<Record<string, string>>) => `${PAGE}?${new URLSearchParams({ ...APP, ...query })}`;
const basic = (login: string, password: string) => ({ Authorization: `Basic ${Buffer.from(`${login}:${password}`).toString('base64')}` });

const suite = (ask: SiteClient) => {
  /** Asks the API for the user that a password belongs to. */
  const ownerOf = (login: string, password: string) => ask.send('GET', '/wp-json/wp/v2/users/me', { headers: basic(login, password) });

  it('is redirected from the URL in the API to a page for signed-in users', async () => {
    const { body } = await ask.send('GET', '/wp-json/');
    const named = new URL(body.authentication['application-passwords'].endpoints.authorization);
    const led = await ask.send('GET', `${named.pathname}?app_name=A%20b&success_url=https%3A%2F%2Fapp.example%2F`);
    expect([led.status, led.headers.location]).toEqual([302, `${PAGE}?app_name=A%20b&success_url=https%3A%2F%2Fapp.example%2F`]);
    const nobody = await openVisitor(ask);
    const asked = await nobody.get(led.headers.location!);
    expect(asked.status).toBe(401);
    expect(formIn(asked.text, '/admin/sign-in')).toContainEqual([
      'redirect_to',
      `${PAGE}?app_name=A+b&success_url=https%3A%2F%2Fapp.example%2F`,
    ]);
  });

  it('gets a password that authenticates the account, appended to the query of its own URL', async () => {
    const ed = await openVisitor(ask, 'ed');
    const asked = await ed.get(page({ success_url: 'https://app.example/done?a=1' }));
    expect([asked.status, asked.text.includes('app.example'), asked.text.includes('Pocket calendar')]).toEqual([200, true, true]);
    const done = await ed.submit(asked, PAGE, { decision: 'approve' });
    expect(done.status).toBe(303);
    const to = new URL(done.headers.location!);
    const { a, site_url, user_login, password } = Object.fromEntries(to.searchParams);
    const { url } = await ask.send('GET', '/wp-json/').then(({ body }) => body);
    expect([to.origin, to.pathname, a, site_url, user_login]).toEqual(['https://app.example', '/done', '1', url, 'ed']);
    expect((await ownerOf('ed', password!)).body.slug).toBe('ed');
    expect((await ed.get('/admin/me')).text).toContain('Pocket calendar');
    // An application password of this name exists already.
    expect((await ed.submit(asked, PAGE, { decision: 'approve' })).status).toBe(422);
  });

  it('gets no password if the user refuses, and is told so', async () => {
    const ed = await openVisitor(ask, 'ed');
    for (const [query, to] of [
      [{ success_url: 'https://app.example/done?a=1' }, 'https://app.example/done?a=1&success=false'],
      [{ success_url: 'https://app.example/', reject_url: 'pocket://cancelled' }, 'pocket://cancelled'],
      [{}, '/admin/me'],
    ] as const) {
      const done = await ed.submit(await ed.get(page(query)), PAGE, { decision: 'reject' });
      expect([done.status, done.headers.location]).toEqual([303, to]);
    }
    expect((await ed.get('/admin/me')).text).not.toContain('Pocket calendar');
  });

  it.each(['expired', 'ended'])('gets the password also if the session of its user has %s before the decision', async (how) => {
    const ed = await openVisitor(ask, 'ed');
    const asked = await ed.get(page({ success_url: 'https://app.example/done', reject_url: 'pocket://no' }));
    const decision = { decision: 'approve', app_name: 'Pocket 2' };
    let again: Answer;
    if (how === 'expired') {
      again = await ed.submit(asked, PAGE, { ...decision, _wpnonce: 'old' });
      expect(again.status).toBe(403);
    } else {
      const hash = await hashPassword('a long enough password', 'current');
      await ask.writeRows((db) => db.from('users').where('user_login', 'ed').update({ user_pass: hash }));
      const signIn = await ed.submit(asked, PAGE, decision);
      expect(signIn.status).toBe(401);
      again = await ed.submit(signIn, '/admin/sign-in', { log: 'ed', pwd: 'a long enough password' });
      expect(again.status).toBe(200);
    }
    expect(again.headers['content-security-policy']).toContain("form-action 'self' https://app.example pocket:;");
    expect(formIn(again.text, PAGE)).toContainEqual(['app_name', 'Pocket 2']);
    const done = await ed.submit(again, PAGE, { decision: 'approve' });
    expect(done.status).toBe(303);
    const password = new URL(done.headers.location!).searchParams.get('password');
    expect((await ownerOf('ed', password!)).body.slug).toBe('ed');
  });

  it('without a return URL gets a password that is shown on the page', async () => {
    const ed = await openVisitor(ask, 'ed');
    const done = await ed.submit(await ed.get(page({})), PAGE, { decision: 'approve' });
    const [, shown] = /class="shown-once">([\w ]+)</.exec(done.text) ?? [];
    expect((await ownerOf('ed', shown!)).body.slug).toBe('ed');
  });

  it("redirects only to the URL shown on the page, and only after that page's form was sent", async () => {
    const ed = await openVisitor(ask, 'ed');
    const asked = await ed.get(page({ success_url: 'https://app.example/x', reject_url: 'pocket://no' }));
    expect(asked.headers['content-security-policy']).toContain("form-action 'self' https://app.example pocket:;");
    expect((await ed.get('/admin/me')).headers['content-security-policy']).toContain("form-action 'self';");
    const forged = await ed.post(PAGE, { ...APP, decision: 'approve', success_url: 'https://evil.example/' });
    expect([forged.status, forged.headers.location]).toEqual([403, undefined]);
    const foreign = await ed.submit(asked, PAGE, { decision: 'approve', success_url: 'javascript:alert(1)' });
    expect([foreign.status, foreign.headers.location]).toEqual([400, undefined]);
    for (const query of [{ success_url: 'http://app.example/' }, { reject_url: 'data:text/html,x' }, { app_id: 'x' }] as const)
      expect((await ed.get(page(query))).status).toBe(400);
  });
};
describeRequests('a program that asks for an application password', suite, { PAGES: 'on' });

describeRequests(
  'a program that asks a site with another SITE_URL than its stored address, which serves no pages',
  (ask) => {
    it('is redirected at this address, and is told it with the password', async () => {
      const { body } = await ask.send('GET', '/wp-json/');
      const named: string = body.authentication['application-passwords'].endpoints.authorization;
      expect([body.url, body.home, named]).toEqual([SITE_URL, SITE_URL, `${SITE_URL}/wp-admin/authorize-application.php`]);
      const led = await ask.send('GET', new URL(named).pathname);
      expect([led.status, led.headers.location]).toEqual([302, PAGE]);
      const ed = await openVisitor(ask, 'ed');
      const done = await ed.submit(await ed.get(page({ success_url: 'https://app.example/' })), PAGE, { decision: 'approve' });
      expect(new URL(done.headers.location!).searchParams.get('site_url')).toBe(SITE_URL);
    });

    it('is redirected from the folder of WordPress if it has one', async () => {
      await ask.options({ home: 'https://before.example', siteurl: 'https://before.example/wp' });
      const { body } = await ask.send('GET', '/wp-json/');
      const named: string = body.authentication['application-passwords'].endpoints.authorization;
      expect([body.url, named]).toEqual([`${SITE_URL}/wp`, `${SITE_URL}/wp/wp-admin/authorize-application.php`]);
      for (const path of [new URL(named).pathname, '/wp-admin/authorize-application.php'])
        expect((await ask.send('GET', path)).headers.location).toBe(PAGE);
      expect((await ask.send('GET', '/other/wp-admin/authorize-application.php')).status).toBe(404);
    });
  },
  { PAGES: 'off', SITE_URL, BASIC_AUTH: 'always' },
);

describe('the return URL of a program', () => {
  it.each([
    'https://app.example/x?y#z',
    'http://127.0.0.1:8080/',
    'http://[::1]/',
    'http://localhost:3000/cb',
    'com.example.app://connected',
  ])('%s is accepted', (text) => expect(applicationAddress(text)?.href).toBe(new URL(text).href));
  it.each([
    '',
    'app.example',
    '//app.example/',
    'http://app.example/',
    'http://127.0.0.1.evil.example/',
    'javascript:alert(1)',
    'JaVaScript://app.example/%0aalert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'blob:https://app.example/1',
    'mailto:a@b.example',
    "https://a;script-src/'",
    'https://a,b.example/',
    'pocket:///nowhere',
    `https://app.example/${'x'.repeat(2000)}`,
  ])('%j is refused', (text) => expect(applicationAddress(text)).toBeUndefined());
});
