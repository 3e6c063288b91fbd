import { expect, it } from '@jest/globals';
import { DomUtils } from 'htmlparser2';
import { createPasswordLink, linkQuery } from '../../src/accounts/password-links.ts';
import { deskRoutes, findRoute } from '../../src/desk/routes.ts';
import { postKinds } from '../../src/kinds/index.ts';
import { elements, formIn, openVisitor } from '../support/desk-visitor.ts';
import { describeRequests, type UserName } from '../support/site-client.ts';

const ROLES = ['admin', 'ed', 'auth', 'contrib', 'sub'] as const satisfies readonly UserName[];

/** Ids in the sample site for the parameters of a path. */
const IDS: Readonly<Record<string, string>> = {
  events: '9999',
  venues: '9999',
  organizers: '9999',
  categories: '9999',
  tags: '9999',
  people: '9999',
};
const pathOf = (path: string): string =>
  `/admin${path.replace(':id', IDS[path.split('/')[1] ?? ''] ?? '1').replace(':uuid', '00000000-0000-4000-8000-000000000000')}`;

/** The roles that may use each part of the desk, by the first segment of the path. */
const FOR: Readonly<Record<string, readonly (typeof ROLES)[number][]>> = {
  '': ROLES,
  'sign-out': ROLES,
  me: ROLES,
  authorize: ROLES,
  events: ['admin', 'ed', 'auth', 'contrib'],
  venues: ['admin', 'ed', 'auth', 'contrib'],
  organizers: ['admin', 'ed', 'auth', 'contrib'],
  find: ['admin', 'ed', 'auth', 'contrib'],
  month: ['admin', 'ed', 'auth', 'contrib'],
  categories: ['admin', 'ed', 'auth'],
  tags: ['admin', 'ed'],
  import: ['admin'],
  people: ['admin'],
  settings: ['admin'],
  health: ['admin'],
};
const guarded = deskRoutes.filter(({ allow }) => allow !== 'anyone');

/** Texts that, if inserted as HTML, would run a script, or end an attribute or an element. */
const ATTACKS = [
  '<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', "'><svg/onload=alert(1)>", '</textarea><script>alert(1)</script>', '</title><script>alert(1)</script>',
  'javascript:alert(1)', '{{constructor.constructor("alert(1)")()}}', '<a href="javascript:alert(1)">x</a>', '\u2028<b>', '&lt;script&gt;alert(1)&lt;/script&gt;',
]; // biome-ignore format: a list of texts

describeRequests('paths of the desk', (ask) => {
  it('are available to the roles that may use them, and to no other', async () => {
    for (const role of ROLES) {
      const person = await openVisitor(ask, role);
      const nonce = new Map(formIn((await person.get('/admin/me')).text, '/admin/sign-out')).get('_wpnonce')!;
      for (const { method, path } of guarded.filter((route) => route.path !== '/sign-out' && route.path !== '/health/repair')) {
        const part = path.split('/')[1] ?? '';
        const place = pathOf(path);
        const answer = method === 'GET' ? await person.get(place) : await person.post(place, { _wpnonce: nonce });
        const forbidden = answer.status === 403;
        // For users with access, the actions refuse a missing record with other errors.
        expect([role, method, place, forbidden || answer.status < 500]).toEqual([role, method, place, true]);
        if (!FOR[part]?.includes(role)) expect([role, method, place, forbidden]).toEqual([role, method, place, true]);
        else if (!path.includes(':id') && part !== 'people') expect([role, method, place, forbidden]).toEqual([role, method, place, false]);
      }
    }
  });

  it('are refused without a session, and change nothing without a nonce or for a form of another site', async () => {
    const [nobody, admin] = [await openVisitor(ask), await openVisitor(ask, 'admin')];
    const before = await ask.allRows();
    for (const { method, path, allow, ...more } of deskRoutes) {
      const place = pathOf(path);
      if (allow !== 'anyone') {
        const answer = method === 'GET' ? await nobody.get(place) : await nobody.post(place, {});
        // Somebody without a session is signed out already.
        expect([method, place, answer.status]).toEqual([method, place, 'endsLogin' in more ? 303 : 401]);
      }
      if (method === 'GET') continue;
      for (const headers of [{ 'Sec-Fetch-Site': 'cross-site' }, { 'Sec-Fetch-Site': 'same-site' }])
        expect([place, (await admin.post(place, {}, headers)).status]).toEqual([place, 403]);
      const fromElsewhere = await ask.send('POST', place, {
        headers: { Cookie: admin.cookie(), Origin: 'https://evil.example' },
        body: '',
      });
      expect([place, fromElsewhere.status]).toEqual([place, 403]);
      if (allow === 'anyone') continue;
      for (const fields of [{}, { _wpnonce: '0123456789' }])
        expect([place, (await admin.post(place, fields)).status]).toEqual([place, 403]);
    }
    expect(await ask.allRows()).toEqual(before);
  });

  it('neither keep nor show a password that a form sent, whether or not its session has ended', async () => {
    const [nobody, admin] = [await openVisitor(ask), await openVisitor(ask, 'admin')];
    const _wpnonce = new Map(formIn((await admin.get('/admin/me')).text, '/admin/sign-out')).get('_wpnonce')!;
    const link = `/admin/welcome?${linkQuery(await createPasswordLink(ask.running().site, 'ed', 1800))}`;
    const pages = ['/admin/sign-in', link, ...guarded.filter(({ method }) => method === 'GET').map(({ path }) => pathOf(path))];
    const secrets = new Map<string, ReadonlySet<string>>();
    for (const page of pages) {
      const { text } = await (page === link || page === '/admin/sign-in' ? nobody : admin).get(page);
      for (const form of elements(text, ({ name, attribs }) => name === 'form' && attribs.method === 'post')) {
        const typed = DomUtils.findAll(({ name, attribs }) => name === 'input' && attribs.type === 'password', [form]);
        const path = form.attribs.action!.replace('/admin', '');
        if (typed.length > 0) secrets.set(path, new Set([...(secrets.get(path) ?? []), ...typed.map(({ attribs }) => attribs.name!)]));
      }
    }
    expect([...secrets.keys()].sort()).toEqual(['/me/password', '/sign-in', '/welcome']);
    for (const [path, names] of secrets) {
      const { route } = findRoute('POST', path)!;
      expect([path, 'secrets' in route && new Set(route.secrets)]).toEqual([path, names]);
      const fields = Object.fromEntries([...names].map((name, index) => [name, `hush-hush-${index}`]));
      for (const [person, nonce] of [
        [nobody, {}],
        [admin, {}],
        [admin, { _wpnonce }],
      ] as const)
        for (const more of [{}, { more: 'seen' }]) {
          const { text, status } = await person.post(`/admin${path}`, { ...fields, ...more, ...nonce });
          expect([path, status, text.includes('hush-hush')]).toEqual([path, expect.any(Number), false]);
        }
    }
  });

  it('refuse a deeply nested text in place of a form', async () => {
    const [nobody, admin] = [await openVisitor(ask), await openVisitor(ask, 'admin')];
    const nonce = new Map(formIn((await admin.get('/admin/me')).text, '/admin/sign-out')).get('_wpnonce')!;
    const deep = `${'['.repeat(14_000)}${']'.repeat(14_000)}`;
    const kept = JSON.stringify({ path: '/events/new', fields: { title: '' } }).replace('""', deep);
    for (const { method, path } of deskRoutes.filter((route) => !['/sign-out', '/health/repair', '/health/backup'].includes(route.path))) {
      if (method === 'GET') continue;
      for (const [person, fields] of [
        [nobody, { kept, log: 'admin', pwd: 'wrong' }],
        [admin, { kept, fields: deep, _wpnonce: nonce }],
      ] as const)
        expect([path, (await person.post(pathOf(path), fields)).status < 500]).toEqual([path, true]);
    }
  });

  it('say in plain words that a record is gone', async () => {
    const admin = await openVisitor(ask, 'admin');
    for (const path of ['events', 'venues', 'organizers', 'categories', 'tags'])
      for (const below of ['9999', 'abc']) {
        const gone = await admin.get(`/admin/${path}/${below}`);
        expect([path, gone.status, gone.text.includes('There is nothing here'), gone.text.includes('been deleted for good')]).toEqual([
          path,
          404,
          true,
          true,
        ]);
      }
    const wrong = await admin.get('/admin/events?venue=none');
    expect([wrong.status, /role="alert">([^<]*)/.exec(wrong.text)?.[1]]).toEqual([
      400,
      '&quot;none&quot; is not a list of IDs. For example: 12,15',
    ]);
  });

  it('send pages that are not cached, framed or affected by inline scripts', async () => {
    const admin = await openVisitor(ask, 'admin');
    for (const { path } of deskRoutes.filter(({ method }) => method === 'GET')) {
      const { headers, text } = await admin.get(pathOf(path));
      expect([path, headers['cache-control'], headers['x-frame-options'], headers['referrer-policy']]).toEqual([
        path,
        'no-store',
        'DENY',
        'same-origin',
      ]);
      expect(headers['content-security-policy']).toMatch(/default-src 'none'.*script-src 'self'.*frame-ancestors 'none'/);
      expect([path, elements(text, isInline).length]).toEqual([path, 0]);
    }
    expect(findRoute('GET', '/nowhere')).toBeUndefined();
    expect((await admin.get('/admin/nowhere')).status).toBe(404);
    expect((await admin.get('/administration')).status).toBe(404);
  });

  it('have a nonce in each form that changes something', async () => {
    const admin = await openVisitor(ask, 'admin');
    let found = 0;
    for (const { path } of guarded.filter(({ method }) => method === 'GET')) {
      const { text } = await admin.get(pathOf(path));
      const forms = elements(text, ({ name, attribs }) => name === 'form' && attribs.method === 'post');
      found += forms.length;
      for (const form of forms) expect(formIn(text, form.attribs.action!).map(([name]) => name)).toContain('_wpnonce');
    }
    expect(found).toBeGreaterThan(20);
  });

  it('have no button that sends a form elsewhere and is held up by the required fields of that form', async () => {
    const admin = await openVisitor(ask, 'admin');
    let found = 0;
    for (const { path } of guarded.filter(({ method }) => method === 'GET')) {
      const { text } = await admin.get(pathOf(path));
      const buttons = elements(text, ({ attribs }) => attribs.formaction !== undefined);
      found += buttons.length;
      expect(
        buttons.filter(({ attribs }) => attribs.formnovalidate === undefined).map(({ attribs }) => [path, attribs.formaction]),
      ).toEqual([]);
    }
    expect(found).toBeGreaterThan(10);
  });

  it.each(postKinds.map((kind) => [kind.name, kind] as const))('escape every text of a %s', async (_, kind) => {
    const admin = await openVisitor(ask, 'admin');
    for (const attack of ATTACKS) {
      const page = await admin.get(`/admin/${kind.path}/new`);
      const texts = formIn(page.text, `/admin/${kind.path}/new`).flatMap(([name, value]) =>
        value === '' && !/date|website|geo|image|timezone|slug/.test(name) ? [[name, attack] as const] : [],
      );
      expect(texts.length).toBeGreaterThan(3);
      const dates = kind.hasDates ? { 'start_date[date]': '2027-01-02', 'end_date[date]': '2027-01-02' } : {};
      const done = await admin.submit(page, `/admin/${kind.path}/new`, { ...Object.fromEntries(texts), ...dates });
      const places = [done.headers.location ?? '', `/admin/${kind.path}`, `/admin/${kind.path}?search=${encodeURIComponent(attack)}`];
      // A refused text is shown in the form again.
      const shown = done.status === 303 ? await Promise.all(places.map((place) => admin.get(place))) : [done];
      for (const { text, status } of shown) {
        expect(status).toBeLessThan(500);
        expect(elements(text, isInline).map((element) => [attack, element.name, element.attribs])).toEqual([]);
        expect(elements(text, ({ name }) => name === 'svg' || name === 'b')).toEqual([]);
      }
    }
  });
});

/** Whether an element runs a script: inline, by an event handler or by a script URL. */
const isInline = ({ name, attribs }: { readonly name: string; readonly attribs: Readonly<Record<string, string>> }): boolean =>
  (name === 'script' && attribs.src === undefined) ||
  name === 'style' ||
  Object.entries(attribs).some(
    ([key, value]) =>
      /^on/i.test(key) || key === 'style' || (['href', 'src', 'action', 'formaction'].includes(key) && /^\s*javascript:/i.test(value)),
  );
