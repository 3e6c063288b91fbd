import { describe, expect, it } from '@jest/globals';
import { serveDatabase } from '../support/running-site.ts';
import { describeRequests, expectBody, expectError, idsOf, type Json } from '../support/site-client.ts';

const ROOT = '/wp-json/calendar/events/v1';

describeRequests('parameters and methods of requests', (ask) => {
  it('D6 selects an event by the slug in the path, and uses the slug in the body as the new one', async () => {
    for (const [index, method] of ['POST', 'PUT', 'PATCH'].entries()) {
      const old = index === 0 ? 'spring-fair' : `fair-${index - 1}`;
      const event = expectBody(await ask.send(method, `${ROOT}/events/by-slug/${old}`, { as: 'admin', body: { slug: `fair-${index}` } }));
      expect([event.id, event.slug]).toEqual([38, `fair-${index}`]);
    }
    expect((await ask.read('/events/by-slug/fair-2')).id).toBe(38);
    expectError(await ask.get('/events/by-slug/spring-fair'), 400, 'rest_invalid_param', ['slug']);
  });
  it('D6 makes the new slug unique', async () => {
    expect(expectBody(await ask.patch('/events/by-slug/spring-fair', { slug: 'Summer Concert' })).slug).toBe('summer-concert-2');
  });
  it.each([
    ['/events', 38, 39],
    ['/venues', 12, 13],
    ['/organizers', 24, 25],
    ['/categories', 5, 6],
    ['/tags', 12, 13],
  ])('D6 selects a record of %s by the id in the path, ignoring the query and the body', async (path, id, other) => {
    expect((await ask.read(`${path}/${id}?id=${other}`)).id).toBe(id);
    const untouched = await ask.read(`${path}/${other}`, 'admin');
    for (const method of ['POST', 'PUT', 'PATCH']) {
      const changed = expectBody(
        await ask.send(method, `${ROOT}${path}/${id}?id=${other}`, { as: 'admin', body: { id: other, description: method } }),
      );
      expect([changed.id, changed.description.includes(method)]).toEqual([id, true]);
    }
    const form = await ask.send('POST', `${ROOT}${path}/${id}`, {
      as: 'admin',
      body: `id=${other}&description=form`,
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    expect(expectBody(form).id).toBe(id);
    expect(expectBody(await ask.send('DELETE', `${ROOT}${path}/${id}?id=${other}`, { as: 'admin', body: { id: other } })).id).toBe(id);
    expect({ ...(await ask.read(`${path}/${other}`, 'admin')), json_ld: 0 }).toEqual({ ...untouched, json_ld: 0 });
  });
  it.each([
    ['/events/by-slug/spring-fair', 38, '39', 'summer-concert'],
    ['/venues/by-slug/teatro-rossi', 12, '13', 'central-park'],
    ['/organizers/by-slug/acme-events', 24, '25', 'coop-friends'],
  ])('D6 selects %s by its path alone', async (path, id, otherId, otherSlug) => {
    expect((await ask.read(`${path}?id=${otherId}&slug=${otherSlug}`)).id).toBe(id);
    expect(expectBody(await ask.send('PATCH', `${ROOT}${path}`, { as: 'admin', body: { id: otherId, description: 'x' } })).id).toBe(id);
    expect(expectBody(await ask.send('DELETE', `${ROOT}${path}?id=${otherId}&slug=${otherSlug}`, { as: 'admin' })).id).toBe(id);
  });
  it('D6 checks the rights to the record of the path', async () => {
    expectError(await ask.patch('/events/38', { id: 79, excerpt: 'x' }, 'auth'), 403, 'rest_forbidden');
    expect(expectBody(await ask.patch('/events/79', { id: 38, excerpt: 'x' }, 'auth')).id).toBe(79);
  });

  it.each(['DELETE', 'PATCH', 'POST', 'delete'])('D40 does not treat a GET as %s', async (method) => {
    const before = await ask.allRows();
    const plain = await ask.send('GET', `${ROOT}/events/38`, { as: 'admin' });
    for (const answer of [
      await ask.send('GET', `${ROOT}/events/38?_method=${method}`, { as: 'admin' }),
      await ask.send('GET', `${ROOT}/events/38?_method=${method}&title=Changed`, { as: 'admin' }),
      await ask.send('GET', `${ROOT}/events/38`, { as: 'admin', headers: { 'X-HTTP-Method-Override': method } }),
      await ask.send('HEAD', `${ROOT}/events/38?_method=${method}`, { as: 'admin' }),
      await ask.send('OPTIONS', `${ROOT}/events/38?_method=${method}`, { as: 'admin' }),
    ]) {
      expect(answer.status).toBe(200);
    }
    expect(expectBody(await ask.send('GET', `${ROOT}/events/38?_method=${method}`, { as: 'admin' })).title).toBe(plain.body.title);
    expect(await ask.allRows()).toEqual(before);
  });
  it('D40 does not treat PUT, PATCH or DELETE as another method', async () => {
    const body = { excerpt: 'x' };
    for (const method of ['PUT', 'PATCH']) {
      expect(expectBody(await ask.send(method, `${ROOT}/events/38?_method=DELETE`, { as: 'admin', body })).status).toBe('publish');
      expect(
        expectBody(await ask.send(method, `${ROOT}/events/38`, { as: 'admin', body, headers: { 'X-HTTP-Method-Override': 'DELETE' } }))
          .status,
      ).toBe('publish');
    }
    expect(expectBody(await ask.send('DELETE', `${ROOT}/events/38?_method=GET`, { as: 'admin' })).status).toBe('trash');
  });
  it('D40 treats a POST as the method in _method', async () => {
    expect(expectBody(await ask.send('POST', `${ROOT}/events/38?_method=GET`)).json_ld).toBeDefined();
    expect(expectBody(await ask.send('POST', `${ROOT}/events/38?_method=patch`, { as: 'admin', body: { excerpt: 'x' } })).id).toBe(38);
    expect(expectBody(await ask.send('POST', `${ROOT}/events/38?_method=DELETE`, { as: 'admin' })).status).toBe('trash');
    expect(
      expectBody(await ask.send('POST', `${ROOT}/events/39`, { as: 'admin', headers: { 'X-HTTP-Method-Override': 'DELETE' } })).status,
    ).toBe('trash');
    expectError(await ask.send('POST', `${ROOT}/events/40?_method=DELETE`), 401, 'rest_forbidden');
  });
});

const EVERYWHERE = [
  '',
  '/doc',
  '/events',
  '/events/55',
  '/events/by-slug/free-event',
  '/venues',
  '/venues/12',
  '/venues/by-slug/teatro-rossi',
  '/organizers',
  '/organizers/24',
  '/organizers/by-slug/acme-events',
  '/categories',
  '/categories/5',
  '/tags',
  '/tags/12',
];

describeRequests('additions', (ask) => {
  const [english, italian] = ['Free', 'Gratis'];
  const freeEvent = () => ask.update('/events/55', { cost: 0 });
  const costIn = async (params: string) => (await ask.read(`/events/55?${params}`)).cost;

  it('Addition translation_language chooses the language of the texts', async () => {
    await freeEvent();
    expect([await costIn(''), await costIn('translation_language=en'), await costIn('translation_language=it')]).toEqual([
      english,
      english,
      italian,
    ]);
    const [one, other] = [await ask.get('/events/999999?translation_language=en'), await ask.get('/events/999999?translation_language=it')];
    expect(one.body.message).not.toBe(other.body.message);
    expect({ ...one.body, message: '' }).toEqual({ ...other.body, message: '' });
    expect((await ask.update('/events/55', { cost: 0, translation_language: 'it' })).cost).toBe(italian);
    expect((await ask.read('/doc?translation_language=it')).info.title).not.toBe((await ask.read('/doc')).info.title);
  });
  it.each(EVERYWHERE)('Addition translation_language accepts only en and it on GET %s', async (path) => {
    for (const language of ['en', 'it']) await ask.read(`${path}?translation_language=${language}`);
    for (const language of ['fr', 'EN', 'en-US', '', 'xx']) {
      const answer = await ask.get(`${path}?translation_language=${language}`);
      expectError(answer, 400, 'rest_invalid_param', ['translation_language']);
      expect(answer.body.data.details.translation_language).toMatchObject({
        code: 'rest_not_in_enum',
        data: null,
      });
    }
  });
  it('Addition translation_language is checked on writes too', async () => {
    const before = await ask.allRows();
    for (const [path, body] of [
      ['/events', { title: 'x', start_date: '2027-01-01', end_date: '2027-01-01' }],
      ['/events/38', {}],
      ['/venues/12', { venue: 'x' }],
      ['/tags', { name: 'x' }],
    ] as const) {
      expectError(await ask.post(path, { ...body, translation_language: 'fr' }), 400, 'rest_invalid_param', ['translation_language']);
    }
    expectError(await ask.del('/events/38?translation_language=fr'), 400, 'rest_invalid_param', ['translation_language']);
    expect(await ask.allRows()).toEqual(before);
  });
  it.each(['lang', 'wpml_language'])('Addition translation_language has the alias %s, used if it is one of the two', async (name) => {
    await freeEvent();
    expect([await costIn(`${name}=it`), await costIn(`${name}=en`)]).toEqual([italian, english]);
    for (const other of ['fr', 'all', '', 'IT-it', '0'])
      expect({ other, cost: await costIn(`${name}=${other}`) }).toEqual({ other, cost: english });
    expect(await costIn(`${name}=it&translation_language=en`)).toBe(english);
    expect(await costIn(`${name}=en&translation_language=it`)).toBe(italian);
    expect((await ask.update('/events/55', { cost: 0, [name]: 'it' })).cost).toBe(italian);
  });

  it.each(['/events/38', '/events?per_page=2', '/venues/12', '/venues', '/organizers/24', '/categories', '/tags/12', '/doc'])(
    'Addition validators let clients of %s send conditional requests',
    async (path) => {
      // E-mail addresses in JSON-LD are encoded differently each time, so only answers without one keep their ETag.
      const hasAddress = ['/events?per_page=2', '/venues', '/organizers/24'].includes(path);
      for (const as of [undefined, 'admin'] as const) {
        const first = await ask.send('GET', ROOT + path, as ? { as } : {});
        expectBody(first);
        const tag = String(first.headers.etag);
        expect(tag).toMatch(/^(W\/)?"[^"]+"$/);
        expect(JSON.stringify(first.body).includes('&#')).toBe(hasAddress);
        if (hasAddress) continue;
        for (const known of [tag, `"other", ${tag}`, '*']) {
          const again = await ask.send('GET', ROOT + path, { ...(as ? { as } : {}), headers: { 'If-None-Match': known } });
          expect({ known, status: again.status, text: again.text }).toEqual({ known, status: 304, text: '' });
          expect(again.headers.etag).toBe(tag);
        }
        expect((await ask.send('GET', ROOT + path, { ...(as ? { as } : {}), headers: { 'If-None-Match': '"other"' } })).status).toBe(200);
      }
    },
  );
  it('Addition validators change with the record', async () => {
    const tagOf = async () => String((await ask.get('/venues/13')).headers.etag);
    const before = await tagOf();
    await ask.update('/venues/13', { city: 'Brooklyn' });
    const after = await tagOf();
    expect(after).not.toBe(before);
    const answer = await ask.send('GET', `${ROOT}/venues/13`, { headers: { 'If-None-Match': before } });
    expect(expectBody(answer).city).toBe('Brooklyn');
  });

  describe.each([
    ['/events?start_date=2019-01-01&end_date=2040-01-01&', [38, 39, 40], 30],
    ['/venues?', [12, 13, 14], 5],
    ['/organizers?', [24, 25, 26], 2],
  ] as const)('in %s', (path, ids, others) => {
    it.each([
      ['modified', 'post_modified'],
      ['published', 'post_date'],
    ] as const)('Addition %s_after and %s_before filter by date', async (name, column) => {
      const times = ['2026-05-01 10:00:00', '2026-05-02 10:00:00', '2026-05-03 10:00:00'];
      await ask.writeRows(async (db) => {
        for (const [index, id] of ids.entries())
          await db
            .from('posts')
            .where('ID', id)
            .update({ [column]: times[index]!, [`${column}_gmt`]: times[index]!.replace('10:', '08:') });
      });
      const listed = async (params: string) =>
        idsOf(await ask.read(`${path}per_page=50&${params}`)).filter((id) => (ids as readonly number[]).includes(id));
      const window = `${name}_after=2026-04-30&${name}_before=2026-05-04`;
      expect((await listed(window)).sort()).toEqual([...ids]);
      expect((await ask.read(`${path}${window}`)).total).toBe(3);
      expect((await listed(`${name}_after=2026-05-01+10:00:00&${name}_before=2026-05-03+10:00:00`)).sort()).toEqual([ids[1]]);
      expect((await listed(`${name}_after=2026-05-02`)).sort()).toEqual([ids[1], ids[2]]);
      expect((await listed(`${name}_before=2026-05-02`)).sort()).toEqual([ids[0]]);
      expect((await ask.read(`${path}${name}_before=2026-05-02`)).total).toBeGreaterThan(others);
      expectError(await ask.get(`${path}${name}_after=whenever`), 400, 'rest_invalid_param', [`${name}_after`]);
    });
  });

  const by = (body: Json, member: string) => (body.events ?? body.venues ?? body.organizers).map((record: Json) => record[member]);
  it.each([
    ['/events?start_date=2027-01-01&end_date=2040-01-01&', 'date', 'date'],
    ['/events?start_date=2027-01-01&end_date=2040-01-01&', 'event_date', 'start_date'],
    ['/events?start_date=2027-01-01&end_date=2040-01-01&', 'start_date', 'start_date'],
    ['/events?start_date=2027-01-01&end_date=2040-01-01&', 'end_date', 'end_date'],
    ['/events?start_date=2027-01-01&end_date=2040-01-01&', 'id', 'id'],
    ['/events?start_date=2027-01-01&end_date=2040-01-01&', 'slug', 'slug'],
    ['/events?start_date=2027-01-01&end_date=2040-01-01&', 'modified', 'modified'],
    ['/venues?', 'date', 'date'],
    ['/venues?', 'id', 'id'],
    ['/venues?', 'modified', 'modified'],
    ['/organizers?', 'date', 'date'],
    ['/organizers?', 'id', 'id'],
    ['/organizers?', 'slug', 'slug'],
  ])('Addition order and orderby sort %s by %s', async (path, orderby, member) => {
    const [up, down] = [
      await ask.read(`${path}per_page=50&orderby=${orderby}&order=asc`),
      await ask.read(`${path}per_page=50&orderby=${orderby}&order=DESC`),
    ];
    const values: (string | number)[] = by(up, member);
    expect(values.length).toBeGreaterThan(4);
    expect(values).toEqual([...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)));
    expect(idsOf(down)).toEqual([...idsOf(up)].reverse());
  });
  it.each(['/events?start_date=2027-01-01&end_date=2040-01-01&', '/venues?', '/organizers?'])(
    'Addition order and orderby sort %s by title, ignoring case',
    async (path) => {
      const titles: string[] = by(
        await ask.read(`${path}per_page=50&orderby=title&order=asc`),
        path.startsWith('/events') ? 'title' : path.slice(1, -2),
      );
      const plain = titles.map((title) => title.toLowerCase()).filter((title) => /^[a-z0-9 ]+$/.test(title));
      expect(plain).toEqual([...plain].sort());
    },
  );
  it.each([
    'orderby=password',
    'orderby=post_password',
    'orderby=rand',
    'order=sideways',
    'orderby=meta_value&meta_key=x',
    "orderby=id'--",
    'orderby[]=id',
    'order[]=asc',
  ])('Addition order and orderby use the default for %s', async (params) => {
    for (const path of ['/events?start_date=2027-01-01&end_date=2040-01-01', '/venues?per_page=50', '/organizers?per_page=50']) {
      expect(idsOf(await ask.read(`${path}&${params}`))).toEqual(idsOf(await ask.read(path)));
    }
  });

  it.each([
    ['city', 'Pisa', true],
    ['city', 'pisa', true],
    ['city', 'Pis', false],
    ['country', 'Italy', true],
    ['country', 'Atlantis', false],
    ['state', 'PI', true],
    ['state', 'TO', false],
  ])('Addition city, country and state list the events of matching venues: %s=%s', async (name, value, matches) => {
    const ids = idsOf(await ask.read(`/events?start_date=2019-01-01&end_date=2040-01-01&per_page=50&${name}=${value}`));
    const venues = async (id: number) => [(await ask.read(`/events/${id}`)).venue].flat().map((venue: Json) => venue.id);
    if (!matches) expect(ids).toEqual([]);
    else expect(ids).toContain(39);
    for (const id of ids) {
      const found = await Promise.all((await venues(id)).map((venue: number) => ask.read(`/venues/${venue}`)));
      const member = name === 'state' ? 'stateprovince' : name;
      expect(found.map((venue: Json) => String(venue[member]).toLowerCase())).toContain(value.toLowerCase());
    }
  });

  it.each(['calendar/events/v1', 'tribe/events/v1'])('Addition both namespaces: %s answers with its own URLs', async (namespace) => {
    const other = namespace === 'tribe/events/v1' ? 'calendar/events/v1' : 'tribe/events/v1';
    for (const path of EVERYWHERE) {
      const answer = await ask.send('GET', `/wp-json/${namespace}${path}`);
      expect(expectBody(answer)).toBeDefined();
      expect({ path, foreign: answer.text.includes(`/${other}/`) }).toEqual({ path, foreign: false });
    }
    const list = expectBody(await ask.send('GET', `/wp-json/${namespace}/events?per_page=1`));
    expect(list.rest_url).toContain(`/wp-json/${namespace}/events/`);
    expect(list.next_rest_url).toContain(`/wp-json/${namespace}/events/`);
    expect(list.events[0].rest_url).toContain(`/wp-json/${namespace}/events/38`);
    const made = expectBody(await ask.send('POST', `/wp-json/${namespace}/categories`, { as: 'admin', body: { name: 'New' } }), 201);
    expect(made.urls.self).toContain(`/wp-json/${namespace}/categories/${made.id}`);
  });
  it('Addition both namespaces return the same records', async () => {
    for (const path of ['/events/37', '/venues/12', '/categories', '/tags/12']) {
      const [one, other] = [
        await ask.send('GET', `/wp-json/calendar/events/v1${path}`),
        await ask.send('GET', `/wp-json/tribe/events/v1${path}`),
      ];
      const plain = ({ text }: { text: string }) => text.replaceAll('calendar/events/v1', 'tribe/events/v1').replace(/(&#\d+;)+/g, '');
      expect(plain(one)).toBe(plain(other));
    }
  });

  it('Addition /index.php/wp-json serves sites without rewriting', async () => {
    for (const path of EVERYWHERE) {
      const [one, other] = [
        await ask.send('GET', `/index.php/wp-json/tribe/events/v1${path}`),
        await ask.send('GET', `/wp-json/tribe/events/v1${path}`),
      ];
      expect(expectBody(one)).toBeDefined();
      expect(one.text.replace(/(&#\d+;)+/g, '').length).toBe(other.text.replace(/(&#\d+;)+/g, '').length);
    }
    const event = expectBody(
      await ask.send('PATCH', '/index.php/wp-json/calendar/events/v1/events/38', { as: 'admin', body: { excerpt: 'x' } }),
    );
    expect(event.id).toBe(38);
    expect((await ask.send('GET', '/index.php/wp-json/')).status).toBe(200);
  });

  it.each([
    ['calendar/events/v1', 'calendar/events/v1'],
    ['calendar/events/v1', 'tribe/events/v1'],
    ['tribe/events/v1', 'calendar/events/v1'],
  ])('Addition namespace parameter: the root of %s describes the namespace %s', async (root, namespace) => {
    const body = expectBody(await ask.send('GET', `/wp-json/${root}?namespace=${namespace}`));
    expect(body.namespace).toBe(namespace);
    expect(Object.keys(body.routes)).toContain(`/${namespace}/events`);
    expect(expectBody(await ask.send('GET', `/wp-json/${root}`)).namespace).toBe(root);
  });
  it.each(['wp/v2x', 'calendar', 'nothing/v1', ' '])(
    'Addition namespace parameter: an unknown namespace such as %j is not found',
    async (namespace) => {
      expectError(await ask.get(`?namespace=${encodeURIComponent(namespace)}`), 404, 'rest_invalid_namespace');
    },
  );
});

describeRequests(
  'the date of the last change',
  (ask) => {
    it.each(['/venues/13', '/categories/5', '/venues', '/tags'])(
      'Addition validators include the date of the last change of %s',
      async (path) => {
        ask.setClock('2026-11-20T13:00:00Z');
        await ask.update('/venues/13', { city: 'Brooklyn' });
        ask.setClock('2026-11-20T14:00:00Z');
        const { headers } = await ask.get(path);
        expect(headers['last-modified']).toBe('Fri, 20 Nov 2026 13:00:00 GMT');
        const ifSince = (moment: string) => ask.send('GET', ROOT + path, { headers: { 'If-Modified-Since': moment } });
        expect((await ifSince('Fri, 20 Nov 2026 13:00:00 GMT')).status).toBe(304);
        expect((await ifSince('Fri, 20 Nov 2026 12:59:59 GMT')).status).toBe(200);
      },
    );

    it('Addition validators notice a change after the clock was set back', async () => {
      const path = `${ROOT}/venues/13`;
      const dateAt = async (moment: string, city: string) => {
        ask.setClock(moment);
        await ask.update('/venues/13', { city });
        ask.setClock('2026-11-20T16:00:00Z');
        return (await ask.send('GET', path)).headers['last-modified'] ?? '';
      };
      const before = await dateAt('2026-11-20T15:00:00Z', 'Brooklyn');
      // Before the start of the process, too.
      const after = await dateAt('2026-11-01T10:00:00Z', 'Queens');
      expect([before, after]).toEqual(['Fri, 20 Nov 2026 15:00:00 GMT', 'Sun, 01 Nov 2026 10:00:00 GMT']);
      const statuses = await Promise.all(
        [before, after].map(async (date) => (await ask.send('GET', path, { headers: { 'If-Modified-Since': date } })).status),
      );
      expect(statuses).toEqual([200, 304]);
    });

    it('Addition validators omit a date that a write in progress could still be given', async () => {
      ask.setClock('2026-11-20T13:00:00Z');
      await ask.update('/venues/13', { city: 'Brooklyn' });
      const pages = [`${ROOT}/venues/13`, '/venue/brooklyn-hall/', '/event/past-concert/?format=jsonld'];
      const datesAt = async (moment: string) => {
        ask.setClock(moment);
        return Promise.all(pages.map(async (path) => (await ask.send('GET', path)).headers['last-modified']));
      };
      expect(await datesAt('2026-11-20T13:00:00.900Z')).toEqual([undefined, undefined, undefined]);
      await ask.update('/venues/13', { city: 'Queens' });
      // As if a write had waited for others in the meantime.
      expect(await datesAt('2026-11-20T13:00:20Z')).toEqual([undefined, undefined, undefined]);
      ask.setClock('2026-11-20T13:00:00Z');
      await ask.update('/venues/13', { city: 'Siena' });
      const [date] = await datesAt('2026-11-20T13:01:01Z');
      expect(date).toBe('Fri, 20 Nov 2026 13:00:00 GMT');
    });

    it.each(['/events/999999', '/events?page=999', '/nothing', '/events/80', '/events?per_page=x'])(
      'Addition validators keep caches from showing the refusal of %s when it no longer applies',
      async (path) => {
        const { status, headers } = await ask.get(path);
        expect([status >= 400, headers['cache-control'], headers.etag]).toEqual([true, 'public, no-cache', undefined]);
      },
    );

    it('Addition validators include no date before the start of the process, which may have other settings', async () => {
      ask.setClock('2026-11-20T13:00:00Z');
      await ask.update('/venues/13', { city: 'Brooklyn' });
      const later = await serveDatabase(ask.db(), {
        env: { SHARED_WITH_WORDPRESS: 'off', MAX_PER_PAGE: '3' },
        clock: () => new Date('2026-11-20T15:00:00Z'),
      });
      const { status, headers } = await later.send('GET', `${ROOT}/venues?per_page=5`, {
        headers: { 'If-Modified-Since': 'Fri, 20 Nov 2026 13:00:00 GMT' },
      });
      await later.close();
      expect([status, headers['last-modified']]).toEqual([200, undefined]);
    });
  },
  { SHARED_WITH_WORDPRESS: 'off' },
);
