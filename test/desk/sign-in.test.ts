import { expect, it } from '@jest/globals';
import { failureCountsOf } from '../../src/accounts/attempts.ts';
import { signIn } from '../../src/accounts/logins.ts';
import { changePassword, createPasswordLink, linkQuery } from '../../src/accounts/password-links.ts';
import { accountAttemptsOf } from '../../src/accounts/refused-sign-in.ts';
import { createUser } from '../../src/accounts/users.ts';
import { loadUsers, updateUser, writeUserMeta } from '../../src/storage/rows/users.ts';
import { sessionKey } from '../../src/wordpress/cookies.ts';
import { hashPassword, verifyPassword } from '../../src/wordpress/passwords.ts';
import { serializedMembers, toSerialized } from '../../src/wordpress/php/serialized.ts';
import { elements, formIn, openVisitor, textOf } from '../support/desk-visitor.ts';
import { setOptions } from '../support/site.ts';
import { describeRequests, SUITE_TIME } from '../support/site-client.ts';

const PASSWORD = 'a long enough password';

describeRequests('signing in to the desk', (ask) => {
  const withPassword = async (id = 1): Promise<void> => {
    const hash = await hashPassword(PASSWORD, 'current');
    await ask.writeRows((db) => updateUser(db, id, { user_pass: hash }));
  };

  it('shows the sign-in form on every page without a session', async () => {
    const nobody = await openVisitor(ask);
    const page = await nobody.get('/admin/events?search=jazz');
    expect(page.status).toBe(401);
    expect(page.headers['cache-control']).toBe('no-store');
    expect(formIn(page.text, '/admin/sign-in')).toContainEqual(['redirect_to', '/admin/events?search=jazz']);
  });

  it('signs in by name and password, continues to the page, and signs out for good', async () => {
    await withPassword();
    const anna = await openVisitor(ask);
    const page = await anna.get('/admin/events?search=jazz');
    const done = await anna.submit(page, '/admin/sign-in', { log: 'admin', pwd: PASSWORD });
    expect(done.status).toBe(303);
    expect(done.headers.location).toBe('/admin/events?search=jazz');
    expect(done.headers['set-cookie']?.[0]).toMatch(
      /^wordpress_logged_in_[0-9a-f]{32}=admin%7C\d+%7C\w{43}%7C[0-9a-f]{64}; Path=\/admin; HttpOnly; SameSite=Lax$/,
    );
    const inside = await anna.get('/admin/events');
    expect(inside.status).toBe(200);
    const cookie = anna.cookie();
    expect((await anna.submit(inside, '/admin/sign-out')).status).toBe(303);
    const after = await openVisitor(ask);
    expect((await after.get('/admin/events', { Cookie: cookie })).status).toBe(401);
  });

  it('works beside a cookie that is left from a time when logins were for the desk alone, or for the whole site', async () => {
    await withPassword();
    const anna = await openVisitor(ask);
    const signIn = async (kept: string) => {
      const fields = { log: 'admin', pwd: PASSWORD, redirect_to: '/admin/events' };
      const done = await anna.post('/admin/sign-in', fields, { Cookie: kept });
      return (done.headers['set-cookie'] ?? []).map((cookie) => cookie.replace(/^\w+=[^;]+/, 'x').replace(/^\w+=/, ''));
    };
    const setPlugins = (active_plugins: string) => ask.writeRows((db) => setOptions(db, { active_plugins }));
    const isInside = async (cookies: readonly string[]) => (await anna.get('/admin/events', { Cookie: cookies.join('; ') })).status === 200;

    expect(await signIn('')).toEqual(['x; Path=/admin; HttpOnly; SameSite=Lax']);
    const ofDesk = anna.cookie();
    const stale = ofDesk.replace(/[0-9a-f]{64}$/, '0'.repeat(64));
    await setPlugins('a:0:{}');
    expect(await signIn(stale)).toEqual(['x; Path=/; HttpOnly; SameSite=Lax', '; Path=/admin; HttpOnly; SameSite=Lax; Max-Age=0']);
    const ofSite = anna.cookie();
    // Browsers send the cookie of the longest path first.
    expect([await isInside([stale, ofSite]), await isInside([stale])]).toEqual([true, false]);

    const both = `${ofDesk}; ${ofSite}`;
    const page = await anna.get('/admin/events', { Cookie: both });
    const nonce = formIn(page.text, '/admin/sign-out').find(([name]) => name === '_wpnonce')![1];
    const out = await anna.post('/admin/sign-out', { _wpnonce: nonce }, { Cookie: both });
    expect(out.headers['set-cookie']?.map((cookie) => cookie.replace(/^\w+=/, ''))).toEqual([
      '; Path=/; HttpOnly; SameSite=Lax; Max-Age=0',
      '; Path=/admin; HttpOnly; SameSite=Lax; Max-Age=0',
    ]);
    expect([await isInside([ofDesk]), await isInside([ofSite])]).toEqual([false, false]);
    // WordPress's own cookie for the site stays where it has other keys.
    await setPlugins('a:1:{i:0;s:43:"the-events-calendar/the-events-calendar.php";}');
    expect(await signIn('')).toEqual(['x; Path=/admin; HttpOnly; SameSite=Lax']);
  });

  it('gives the same error for a wrong password and an unknown name, and never redirects to another site', async () => {
    await withPassword();
    const anna = await openVisitor(ask);
    const page = await anna.get('/admin/sign-in');
    const wrong = await anna.submit(page, '/admin/sign-in', { log: 'admin', pwd: 'wrong' });
    const unknown = await anna.submit(page, '/admin/sign-in', { log: 'nobody-here', pwd: 'wrong' });
    expect([wrong.status, unknown.status]).toEqual([403, 403]);
    expect(unknown.text.replace('nobody-here', 'admin')).toBe(wrong.text);
    for (const place of ['https://evil.example/', '//evil.example/admin', '/admin/../x', '/\\evil.example', '/administrator']) {
      const done = await anna.submit(page, '/admin/sign-in', { log: 'admin', pwd: PASSWORD, redirect_to: place });
      expect([place, done.headers.location]).toEqual([place, '/admin']);
    }
  });

  it.each([
    ['admin', '/admin/events'],
    ['ed', '/admin/events'],
    ['auth', '/admin/events'],
    ['contrib', '/admin/events'],
    ['sub', '/admin/me'],
  ] as const)('leads %s to a page that they may see', async (login, first) => {
    const { headers } = await (await openVisitor(ask, login)).get('/admin?done=welcome');
    expect(headers.location).toBe(`${first}?done=welcome`);
    const page = await (await openVisitor(ask, login)).get(headers.location ?? '');
    expect([page.status, page.text.includes('Welcome! You are signed in.')]).toEqual([200, true]);
  });

  it("accepts WordPress's cookie, with the same sessions", async () => {
    const ed = await openVisitor(ask, 'ed');
    expect((await ed.get('/admin/events')).text).toContain('Sign out');
    const stored = await ask.db().from('usermeta').where({ user_id: 2, meta_key: 'session_tokens' }).select('meta_value');
    expect(String(stored[0]?.meta_value)).toMatch(/^a:\d+:\{/);
  });

  it('sets a new password through a link that works once, for half an hour', async () => {
    const link = await createPasswordLink(ask.running().site, 'admin', 1800);
    const anna = await openVisitor(ask);
    const address = `/admin/welcome?${linkQuery(link)}`;
    const page = await anna.get(address);
    expect(page.status).toBe(200);
    expect((await anna.submit(page, '/admin/welcome', { password: 'short', again: 'short' })).status).toBe(422);
    expect((await anna.submit(page, '/admin/welcome', { password: PASSWORD, again: `${PASSWORD}!` })).status).toBe(422);
    const done = await anna.submit(page, '/admin/welcome', { password: PASSWORD, again: PASSWORD });
    expect([done.status, done.headers.location]).toEqual([303, '/admin?done=welcome']);
    expect((await anna.get('/admin/events')).status).toBe(200);
    expect((await anna.get(address)).status).toBe(403);
    const late = await createPasswordLink(ask.running().site, 'admin', 1800);
    ask.setClock('2026-11-20T12:30:01Z');
    expect((await anna.get(`/admin/welcome?${linkQuery(late)}`)).status).toBe(403);
  });

  it('offers to sign in if the form of a link is sent twice, or the link is opened again', async () => {
    const link = await createPasswordLink(ask.running().site, 'admin', 1800);
    const address = `/admin/welcome?${linkQuery(link)}`;
    const [anna, twice] = [await openVisitor(ask), await openVisitor(ask)];
    const page = await anna.get(address);
    expect(elements(page.text, ({ name }) => name === 'script').map(({ attribs }) => attribs.src)).toEqual([
      expect.stringMatching(/\/desk\.\w+\.js$/),
    ]);
    expect((await anna.submit(page, '/admin/welcome', { password: PASSWORD, again: PASSWORD })).status).toBe(303);
    for (const late of [await twice.submit(page, '/admin/welcome', { password: PASSWORD, again: PASSWORD }), await twice.get(address)]) {
      expect([late.status, late.text.includes('If you have chosen a password already, sign in')]).toEqual([403, true]);
      const signedIn = await (await openVisitor(ask)).submit(late, '/admin/sign-in', { log: 'admin', pwd: PASSWORD });
      expect([signedIn.status, signedIn.headers.location]).toEqual([303, '/admin']);
    }
    // Their other pages can be reached by the navigation.
    expect((await anna.get(address)).text).toContain('This link is no longer valid; ask for another one.');
  });

  it('passes a password with quotes on exactly as WordPress does', async () => {
    const quoted = `it's "mine" \\o/`;
    const anna = await openVisitor(ask);
    const link = await createPasswordLink(ask.running().site, 'admin', 1800);
    const page = await anna.get(`/admin/welcome?${linkQuery(link)}`);
    const long = '"'.repeat(2049);
    expect((await anna.submit(page, '/admin/welcome', { password: long, again: long })).status).toBe(422);
    expect((await anna.submit(page, '/admin/welcome', { password: quoted, again: quoted })).status).toBe(303);
    const { user_pass: stored } = (await ask.db().from('users').where('ID', 1).first('user_pass'))!;
    expect(await verifyPassword(`it\\'s \\"mine\\" \\\\o/`, String(stored))).toBe(true);
    const again = await openVisitor(ask);
    const done = await again.submit(await again.get('/admin/sign-in'), '/admin/sign-in', { log: 'admin', pwd: `${quoted} ` });
    expect(done.status).toBe(303);
  });

  it('keeps the typed values if the session has ended in the meantime', async () => {
    await withPassword();
    const anna = await openVisitor(ask, 'admin');
    const page = await anna.get('/admin/venues/new');
    const other = await openVisitor(ask);
    const fields = formIn(page.text, '/admin/venues/new').map(
      ([name, value]) => [name, name === 'venue' ? 'Typed hall' : value] as [string, string],
    );
    const refused = await other.post('/admin/venues/new', fields);
    expect(refused.status).toBe(401);
    const back = await other.submit(refused, '/admin/sign-in', { log: 'admin', pwd: PASSWORD });
    expect(back.status).toBe(200);
    const saved = await other.submit(back, '/admin/venues/new');
    expect(saved.headers.location).toMatch(/^\/admin\/venues\/\d+\?done=created$/);
  });

  it('keeps a long text full of line breaks and quotes, and says so if an image is too large to keep', async () => {
    await withPassword();
    const nobody = await openVisitor(ask);
    const page = await (await openVisitor(ask, 'admin')).get('/admin/venues/new');
    const long = '"è"\r\n'.repeat(5000);
    const fields = formIn(page.text, '/admin/venues/new').map(
      ([name, value]) => [name, { venue: 'Typed hall', description: long }[name] ?? value] as [string, string],
    );
    const multipart = (all: [string, string][], file = '') => {
      const part = (name: string, more: string, value: string) =>
        `--b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
      const body = [...all.map(([name, value]) => part(name, '', value)), part('image_file', '; filename="a.png"', file), '--b--\r\n'].join(
        '',
      );
      const headers = { 'Content-Type': 'multipart/form-data; boundary=b', 'Sec-Fetch-Site': 'same-origin' };
      return (path: string) => ask.send('POST', path, { headers, body });
    };
    const refused = await multipart(fields)('/admin/venues/new');
    expect([refused.status, refused.text.includes('What you typed has been kept')]).toEqual([401, true]);
    const signIn = formIn(refused.text, '/admin/sign-in').map(
      ([name, value]) => [name, { log: 'admin', pwd: PASSWORD }[name] ?? value] as [string, string],
    );
    const back = await multipart(signIn)('/admin/sign-in');
    expect(back.status).toBe(200);
    expect(new Map(formIn(back.text, '/admin/venues/new')).get('description')?.replace(/\r?\n/g, '\r\n')).toBe(long);
    const picture = await multipart(fields, 'x'.repeat(200_000))('/admin/venues/new');
    expect([picture.status, picture.text.includes('too large to be kept')]).toEqual([401, true]);
    const done = await nobody.submit(picture, '/admin/sign-in', { log: 'admin', pwd: PASSWORD });
    expect([done.status, done.headers.location]).toEqual([303, '/admin/venues/new']);
  });

  it('shows the kept values under the labels of the form', async () => {
    await withPassword();
    const shown = async (path: string, fields: Record<string, string>) => {
      const nobody = await openVisitor(ask);
      const refused = await nobody.post(path, { _wpnonce: 'x', fields: 'title', version: '', ...fields }, { 'Accept-Language': 'it' });
      const credentials = { ...Object.fromEntries(formIn(refused.text, '/admin/sign-in')), log: 'admin', pwd: PASSWORD };
      const { text } = await nobody.post('/admin/sign-in', credentials, { 'Accept-Language': 'it' });
      return ['dt', 'dd'].map((name) => elements(text, (element) => element.name === name).map(textOf));
    };
    const event = {
      title: 'Festa',
      'start_date[date]': '2027-03-04',
      'start_date[time]': '21:00',
      featured: '1',
      status: 'draft',
      author: '1',
      'image[id]': '0',
      'categories[ids][]': '3',
      'categories[fresh]': 'Balli',
      'venue[add][]': 'Sala',
    };
    expect(await shown('/admin/events/new', event)).toEqual([
      ['Titolo', 'Inizio', 'In evidenza', 'Stato', 'Categorie', 'Luogo'],
      ['Festa', '2027-03-04 21:00', 'Attivo', 'Bozza', 'Balli', 'Sala'],
    ]);
    const file = { name: 'a.csv', kept: '00', dates: 'dmy', skip: '1', run: '1', 'map[0]': 'post_title', 'columns[0]': 'Title' };
    expect(await shown('/admin/import', file)).toEqual([['Nome'], ['a.csv']]);
    expect(await shown('/admin/settings', { tagline: 'Tutto', 'begun[tagline]': '' })).toEqual([
      [expect.stringMatching(/sito/)],
      ['Tutto'],
    ]);
  });

  it.each([
    ['for as long as the browser is open', {}, false],
    ['for two weeks, where somebody asked for that', { rememberme: 'forever' }, true],
  ])('continues after a change of the password %s', async (_, asked, remembered) => {
    await withPassword();
    const anna = await openVisitor(ask);
    await anna.submit(await anna.get('/admin/me'), '/admin/sign-in', { log: 'admin', pwd: PASSWORD, ...asked });
    const changed = { before: PASSWORD, password: 'another password', again: 'another password' };
    const done = await anna.submit(await anna.get('/admin/me'), '/admin/me/password', changed);
    expect([done.status, /Max-Age=1252800/.test(String(done.headers['set-cookie']))]).toEqual([303, remembered]);
    expect((await anna.get('/admin/me')).status).toBe(200);
  });

  it('shows an error of a password or an invitation next to its field', async () => {
    await withPassword();
    const anna = await openVisitor(ask, 'admin');
    const wrongIn = ({ text }: { readonly text: string }) =>
      elements(text, ({ attribs }) => attribs.class === 'error').map((element) => [element.attribs.id, textOf(element)]);
    const [me, people] = [await anna.get('/admin/me'), await anna.get('/admin/people')];
    const own = { before: PASSWORD, password: 'another password', again: 'another password' };
    const change = (fields: Record<string, string>) => anna.submit(me, '/admin/me/password', { ...own, ...fields });
    expect(wrongIn(await change({ again: 'x' }))).toEqual([['again-error', 'The two passwords are not the same.']]);
    expect(wrongIn(await change({ password: 'x', again: 'x' }))).toEqual([
      ['password-error', 'The password is too short: it needs at least 10 characters.'],
    ]);
    expect(wrongIn(await change({ before: 'x' }))).toEqual([['before-error', 'The current password is not correct.']]);
    const invite = (fields: Record<string, string>) =>
      anna.submit(people, '/admin/people', { login: 'uma', email: 'u@example.org', ...fields });
    expect(wrongIn(await invite({ login: 'ed' }))).toEqual([['login-error', 'There is already a user with this name.']]);
    expect(wrongIn(await invite({ email: 'uma' }))).toEqual([['email-error', 'This is not an e-mail address.']]);
    const { site } = ask.running();
    const query = linkQuery(await createPasswordLink(site, 'ed', 60));
    const link = await anna.get(`/admin/welcome?${query}`);
    expect(wrongIn(await anna.submit(link, '/admin/welcome', { password: 'another password', again: 'x' }))).toEqual([
      ['again-error', 'The two passwords are not the same.'],
    ]);
  });

  it('keeps no password that was sent after the session ended, and leads back to its form', async () => {
    await withPassword();
    const anna = await openVisitor(ask);
    const refused = await anna.post('/admin/me/password', { _wpnonce: 'x', before: PASSWORD, password: 'another password', again: '' });
    expect([refused.status, refused.text.includes('Passwords are not kept')]).toEqual([401, true]);
    const wrong = await anna.submit(refused, '/admin/sign-in', { log: 'admin', pwd: 'wrong' });
    const back = await anna.submit(wrong, '/admin/sign-in', { log: 'admin', pwd: PASSWORD });
    expect([back.status, back.headers.location]).toEqual([303, '/admin/me']);
    const late = await anna.post('/admin/me/password', { _wpnonce: 'x', before: PASSWORD, password: 'another password', again: '' });
    expect([late.status, late.text.includes('href="/admin/me">Back to the form')]).toEqual([403, true]);
    expect(refused.text + wrong.text + late.text).not.toMatch(/a long enough password|another password/);
  });

  it('carries out no button that was pressed after the session ended, and leads back to its page', async () => {
    await withPassword();
    const { id } = await ask.create('/venues', { venue: 'Barn' });
    const buttons = [
      [`/admin/venues/${id}/trash`, {}, `/admin/venues/${id}`],
      ['/admin/venues/bulk', { action: 'trash', 'ids[]': String(id) }, '/admin/venues'],
      ['/admin/month/move', { id: '1', version: 'x', day: '2027-03-04' }, '/admin/month'],
      ['/admin/people/3/delete', { reassign: '1' }, '/admin/people/3'],
      ['/admin/import', { dates: '', status: '' }, '/admin/import'],
    ] as const;
    const [nobody, anna] = [await openVisitor(ask), await openVisitor(ask, 'admin')];
    for (const [path, fields, page] of buttons) {
      const refused = await nobody.post(path, { _wpnonce: 'x', ...fields });
      expect([path, refused.status, refused.text.includes('nothing has been changed')]).toEqual([path, 401, true]);
      const target = new Map(formIn(refused.text, '/admin/sign-in')).get('redirect_to');
      const late = await anna.post(path, { _wpnonce: 'x', ...fields });
      expect([path, late.status, late.text.includes(`href="${page}">Back to the page`)]).toEqual([path, 403, true]);
      expect([path, target, elements(late.text, ({ name }) => name === 'form').length]).toEqual([path, page, 1]);
    }
    // The second of two tabs with a button to sign out.
    const out = await nobody.post('/admin/sign-out', { _wpnonce: 'x' });
    expect([out.status, out.headers.location]).toEqual([303, '/admin/sign-in?done=signed-out']);
  });

  it("counts a user's wrong passwords together, however the name is written and wherever they are sent", async () => {
    const { site } = ask.running();
    const refused = (work: Promise<unknown>) =>
      work.then(
        () => 'done',
        ({ problem }: { readonly problem: string }) => problem,
      );
    const account = { login: 'BigAnna', email: 'anna@example.test', role: 'author', password: PASSWORD };
    await ask.writeRows(async () => {
      const { id } = await createUser(site, account);
      const from = (place: number) => ({ address: `198.51.100.${place}` });
      const asked = { name: ' BIGANNA ', password: 'wrong', remember: false, agent: undefined };
      for (const [place, name] of [
        [1, asked.name],
        [4, 'ANNA@example.test'],
        [5, 'Big\u0001Anna'],
      ] as const)
        expect(await refused(signIn(site, await site.settings(), { ...asked, name, ...from(place) }))).toBe('incorrect_password');
      expect(await refused(changePassword(site, id, { currentPassword: 'wrong', password: PASSWORD, ...from(2) }))).toBe(
        'incorrect_password',
      );
      const changes = ['first', 'second'].map((word) =>
        changePassword(site, id, { currentPassword: PASSWORD, password: `${PASSWORD}${word}`, ...from(3) }),
      );
      expect((await Promise.all(changes.map(refused))).sort()).toEqual(['done', 'incorrect_password']);
    });
    const names = failureCountsOf(site)
      .currentWindows(site.clock())
      .filter(({ key }) => /anna/i.test(key));
    // The e-mail address is another name: counted as one, it would show whose it is.
    const places = names.map(({ key, window }) => {
      const [, place = ''] = /name (\w+)/.exec(key) ?? [];
      return `${/biganna$/.test(key) ? 'login' : 'e-mail'} ${place}: ${window.failures}`;
    });
    expect(places.sort()).toEqual(['e-mail at: 1', 'e-mail everywhere: 1', ...Array(3).fill('login at: 1'), 'login everywhere: 3']);
  });

  it('refuses the right password to strangers after many wrong ones for the name, but not where the user has a session', async () => {
    await withPassword(2);
    const { site } = ask.running();
    const signInAs = async (address: string, password = PASSWORD) =>
      signIn(site, await site.settings(), { name: 'ed', password, remember: false, agent: undefined, address }).then(
        () => 'done',
        ({ problem }: { readonly problem: string }) => problem,
      );
    const [home, stranger] = ['203.0.113.1', '203.0.113.2'];
    await ask.writeRows(async () => {
      expect(await signInAs(home)).toBe('done');
      for (let place = 0; place < 99; place += 1) accountAttemptsOf(site).countName(`198.51.100.${place}`, 'ed', site.clock());
      expect(await signInAs(stranger)).toBe('done');
      await ask.db().from('usermeta').where({ user_id: 2, meta_key: 'session_tokens' }).delete();
      expect(await signInAs(home)).toBe('done');
      expect(await signInAs('198.51.100.200', 'wrong')).toBe('incorrect_password');
      expect([await signInAs(stranger), await signInAs(stranger, 'wrong')]).toEqual(['too-many-requests', 'too-many-requests']);
      expect([await signInAs(home, 'wrong'), await signInAs(home)]).toEqual(['too-many-requests', 'done']);
      expect(await signInAs(stranger, '')).toBe('too-many-requests');
    });
    // The window is of this site, which other tests use.
    ask.setClock('2026-11-20T12:15:01Z');
    await ask.writeRows(async () => expect(await signInAs(stranger)).toBe('done'));
  });

  it('refuses a change of the password, too, where too many wrong ones came from and the user has no session', async () => {
    await withPassword(3);
    const { site } = ask.running();
    const [home, stranger] = ['203.0.113.11', '203.0.113.12'];
    const changeAt = (address: string, currentPassword: string) =>
      changePassword(site, 3, { currentPassword, password: PASSWORD, address }).then(
        () => 'done',
        ({ problem }: { readonly problem: string }) => problem,
      );
    await ask.writeRows(async () => {
      await signIn(site, await site.settings(), { name: 'auth', password: PASSWORD, remember: false, agent: undefined, address: home });
      for (const address of [home, stranger]) {
        for (let time = 0; time < 9; time += 1) accountAttemptsOf(site).countName(address, 'auth', site.clock());
        expect(await changeAt(address, 'wrong')).toBe('incorrect_password');
      }
      expect([await changeAt(stranger, PASSWORD), await changeAt(home, PASSWORD)]).toEqual(['too-many-requests', 'done']);
    });
    // The window is of this site, which other tests use.
    ask.setClock('2026-11-20T12:15:01Z');
    await ask.writeRows(async () => expect(await changeAt(stranger, PASSWORD)).toBe('done'));
  });

  it('keeps the hundred sessions of a user that began last', async () => {
    await withPassword();
    const { site } = ask.running();
    const now = Date.parse(SUITE_TIME) / 1000;
    const sessions = Array.from({ length: 150 }, (_, place) => [
      sessionKey(`token ${place}`),
      { expiration: now + 90_000, ip: '192.0.2.1', login: now - 150 + place },
    ]);
    const noLonger = [sessionKey('expired'), { expiration: now - 1, login: now + 500 }];
    await ask.writeRows((db) => writeUserMeta(db, 1, 'session_tokens', toSerialized(Object.fromEntries([noLonger, ...sessions]))));
    const anna = await openVisitor(ask);
    await anna.submit(await anna.get('/admin/me'), '/admin/sign-in', { log: 'admin', pwd: PASSWORD });
    expect((await anna.get('/admin/me')).status).toBe(200);
    const stored = (await loadUsers(site.db, [1], ['session_tokens'])).get(1)!.metas.get('session_tokens');
    const kept = new Set(Object.keys(serializedMembers(stored)));
    expect(kept.size).toBe(100);
    expect(sessions.filter(([key]) => kept.has(String(key)))).toEqual(sessions.slice(-99));
  });
});
