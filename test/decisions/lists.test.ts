import { expect, it } from '@jest/globals';
import { describeRequests, expectBody, expectError, idsOf, type Json, query, type UserName } from '../support/site-client.ts';

const EVENT = { title: 'Test event', start_date: '2027-05-01 10:00:00', end_date: '2027-05-01 12:00:00' };
const WIDE = 'start_date=2019-01-01&end_date=2040-01-01';
const sorted = (ids: Iterable<number>) => [...ids].sort((a, b) => a - b);

describeRequests('contents of lists of events', (ask) => {
  const ids = async (path: string, as?: UserName) => idsOf(await ask.read(path, as));

  it('D19 lists the events of include whenever they take place', async () => {
    expect(sorted(await ids('/events?include=33,81,44'))).toEqual([33, 44, 81]);
    expect(sorted(await ids('/events?include[]=36&include[]=34'))).toEqual([34, 36]);
  });
  it.each([
    'start_date=2035-01-01',
    'end_date=2010-01-01',
    'starts_after=2035-01-01',
    'ends_before=2010-01-01',
    'start_date=2035-01-01&strict_dates=true',
  ])('D19 ignores dates together with include: %s', async (dates) => {
    expect(sorted(await ids(`/events?include=33,81&${dates}`))).toEqual([33, 81]);
  });
  it('D19 lists a hidden event if its id is given, and only then', async () => {
    expect(await ids('/events?include=61')).toEqual([61]);
    expect(sorted(await ids('/events?include=61,63,38'))).toEqual([38, 61, 63]);
    expect(await ids(`/events?${WIDE}&per_page=50&search=hidden`)).toEqual([]);
    expect(await ids(`/events?${WIDE}&per_page=50&search=hidden`, 'admin')).toEqual([]);
  });
  it('D19 applies other filters together with include', async () => {
    expect(await ids('/events?include=33,38,81&categories=4')).toEqual([81]);
    expect(await ids('/events?include=33,38,82')).toEqual(expect.not.arrayContaining([82]));
    expect((await ask.read('/events?include=33,38,82')).total).toBe(2);
  });

  it('D20 lists events with any of the given tags, in whatever order the tags are given', async () => {
    const list = (tags: string) => ids(`/events?${WIDE}&per_page=50&tags=${tags}`);
    const [eleven, thirteen, twelve] = [await list('11'), await list('13'), await list('12')];
    expect([sorted(eleven), sorted(thirteen), twelve]).toEqual([[33, 44], [38, 40, 54], [38]]);
    const any = sorted(new Set([...eleven, ...thirteen]));
    for (const tags of ['11,13', '13,11', 'free,outdoor', 'outdoor,11', 'FREE,Outdoor'])
      expect({ tags, ids: sorted(await list(tags)) }).toEqual({ tags, ids: any });
    expect(sorted(await ids(`/events?${WIDE}&per_page=50&tags[]=13&tags[]=11&tags[]=12`))).toEqual(any);
  });
  it('refuses a number that is not the id of a term, even if it is the slug of one', async () => {
    await ask.create('/tags', { name: '9999', slug: '9999' });
    const { id } = await ask.create('/tags', { name: '11', slug: '11' });
    await ask.update('/events/38', { tags: [id] });
    for (const filter of ['/events?tags=9999', '/events?tags=11,9999', '/tags?include=9999'])
      expectError(await ask.get(filter), 400, 'rest_invalid_param', [filter.includes('include') ? 'include' : 'tags']);
    expect(await ids(`/events?${WIDE}&tags=11`)).toEqual([38]);
  });
  it('D20 requires both a tag and a category if both are given', async () => {
    expect(await ids(`/events?${WIDE}&per_page=50&tags=11,13&categories=5`)).toEqual([40]);
  });

  it.each([
    ['Europe/Rome', '2026-11-20T12:00:00Z', '2026-11-20', '2028-11-20'],
    ['Europe/Rome', '2026-11-20T23:30:00Z', '2026-11-21', '2028-11-21'],
    ['UTC', '2026-11-20T00:00:00Z', '2026-11-20', '2028-11-20'],
    ['UTC', '2026-11-20T23:59:59Z', '2026-11-20', '2028-11-20'],
    ['America/New_York', '2026-11-20T03:00:00Z', '2026-11-19', '2028-11-19'],
    ['America/New_York', '2026-11-20T12:00:00Z', '2026-11-20', '2028-11-20'],
    ['Asia/Tokyo', '2026-11-20T16:00:00Z', '2026-11-21', '2028-11-21'],
    ['Pacific/Honolulu', '2026-11-20T09:00:00Z', '2026-11-19', '2028-11-19'],
  ])('D23 lists events of the next 24 months in %s at %s', async (timezone_string, now, today, last) => {
    const dayBefore = new Date(Date.parse(`${today}T12:00:00Z`) - 86_400_000).toISOString().slice(0, 10);
    const dayAfter = new Date(Date.parse(`${last}T12:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
    const made = async (title: string, start_date: string, end_date: string) =>
      (await ask.create('/events', { title, start_date, end_date })).id;
    await made('Too early', `${dayBefore} 23:59:59`, `${today} 10:00:00`);
    const first = await made('First', `${today} 00:00:00`, `${today} 00:30:00`);
    const final = await made('Last', `${last} 22:00:00`, `${last} 23:59:59`);
    await made('Too late', `${last} 22:00:00`, `${dayAfter} 00:00:00`);
    await ask.options({ timezone_string });
    ask.setClock(now);
    const body = await ask.read('/events?per_page=50');
    expect(idsOf(body).filter((id) => id > 92)).toEqual([first, final]);
    expect(idsOf(body)[0]).toBe(first);
    expect(body.rest_url).toContain(query({ start_date: `${today} 00:00:00` }).replaceAll('+', '%20'));
    expect(body.rest_url).toContain(query({ end_date: `${last} 23:59:59` }).replaceAll('+', '%20'));
  });
  it('D23 begins days at the hour that the calendar is set to', async () => {
    await ask.options({ tribe_events_calendar_options: { multiDayCutoff: '06:00' } });
    const early = (await ask.create('/events', { ...EVENT, start_date: '2026-11-20 05:59:59', end_date: '2026-11-20 08:00:00' })).id;
    const later = (await ask.create('/events', { ...EVENT, start_date: '2026-11-20 06:00:00', end_date: '2026-11-20 08:00:00' })).id;
    expect(await ids('/events?per_page=50')).toEqual(expect.arrayContaining([later]));
    expect(await ids('/events?per_page=50')).not.toContain(early);
  });
});

describeRequests('URLs in lists', (ask) => {
  const pathOf = (url: string) => url.slice(url.indexOf('/wp-json/calendar/events/v1') + '/wp-json/calendar/events/v1'.length);
  const paramsOf = (url: string) => Object.fromEntries(new URL(url).searchParams);

  /** Follows the next pages to the end and the previous ones back. Returns the ids of both ways. */
  async function walk(path: string, as?: UserName): Promise<{ there: number[]; back: number[]; pages: number }> {
    const there: number[][] = [];
    const back: number[][] = [];
    let body: Json = await ask.read(path, as);
    there.push(idsOf(body));
    while (body.next_rest_url && there.length < 60) {
      body = await ask.read(pathOf(body.next_rest_url), as);
      there.push(idsOf(body));
    }
    back.unshift(idsOf(body));
    while (body.previous_rest_url && back.length < 60) {
      body = await ask.read(pathOf(body.previous_rest_url), as);
      back.unshift(idsOf(body));
    }
    return { there: there.flat(), back: back.flat(), pages: there.length };
  }

  it('filter correctly by the time of modification in the hour that occurs twice when clocks go back', async () => {
    ask.setClock('2031-10-26T00:45:00Z');
    const { id } = await ask.create('/venues', { venue: 'Clockmaker' });
    const drawn = await ask.create('/venues', { venue: 'Drawn', status: 'draft' });
    ask.setClock('2031-10-26T01:10:00Z');
    await ask.update(`/venues/${id}`, { phone: '1' });
    const found = async (query: string) => {
      const { venues } = await ask.read(`/venues?per_page=50&status=publish,draft&${query}`, 'admin');
      return venues.map((venue: { id: number }) => venue.id).filter((one: number) => one === id || one === drawn.id);
    };
    expect(await found('modified_after=2031-10-26T00:50:00Z')).toEqual([id]);
    expect(await found('modified_after=2031-10-26T02:50:00%2B02:00')).toEqual([id]);
    // Of a draft only the local time is stored.
    expect(await found('modified_after=2031-10-26T01:15:00Z')).toEqual([drawn.id]);
    expect(await found('modified_before=2031-10-26T01:05:00Z&modified_after=2031-10-25')).not.toContain(id);
  });

  it.each(
    (
      [
        ['/events', { start_date: '2019-01-01', end_date: '2040-01-01' }],
        ['/events', { start_date: '2027-04-01 08:00:00', end_date: '2040-01-01 08:00:00', strict_dates: 'true' }],
        // An event begins exactly at the start: a filter that is shifted by an hour for each page would lose it.
        ['/events', { start_date: '2030-01-01 10:00:00', end_date: '2030-08-06 08:00:00', strict_dates: 'true' }],
        ['/events', { starts_after: '2030-01-01' }],
        ['/events', { starts_before: '2030-06-01', ends_after: '2020-01-01' }],
        ['/events', { ends_before: '2030-09-01' }],
        ['/events', { start_date: '2019-01-01', end_date: '2040-01-01', search: 'event' }],
        ['/events', { start_date: '2019-01-01', end_date: '2040-01-01', categories: 'music,sport' }],
        ['/events', { start_date: '2019-01-01', end_date: '2040-01-01', tags: '11,13' }],
        ['/events', { start_date: '2019-01-01', end_date: '2040-01-01', venue: '12,13' }],
        ['/events', { start_date: '2019-01-01', end_date: '2040-01-01', organizer: '24,25' }],
        ['/events', { start_date: '2019-01-01', end_date: '2040-01-01', featured: 'true' }],
        ['/events', { start_date: '2019-01-01', end_date: '2040-01-01', featured: 'false' }],
        ['/events', { start_date: '2019-01-01', end_date: '2040-01-01', ticketed: 'false' }],
        ['/events', { start_date: '2019-01-01', end_date: '2040-01-01', geoloc: 'true' }],
        ['/events', { start_date: '2019-01-01', end_date: '2040-01-01', geoloc: 'false' }],
        ['/events', { start_date: '2019-01-01', end_date: '2040-01-01', geoloc_lat: '43.7', geoloc_lng: '10.4', geoloc_radius: '9000' }],
        ['/events', { start_date: '2019-01-01', end_date: '2040-01-01', city: 'Pisa' }],
        ['/events', { start_date: '2019-01-01', end_date: '2040-01-01', country: 'Italy' }],
        ['/events', { start_date: '2019-01-01', end_date: '2040-01-01', state: 'PI' }],
        ['/events', { start_date: '2019-01-01', end_date: '2040-01-01', modified_after: '2022-01-01', modified_before: '2022-02-01' }],
        ['/events', { start_date: '2019-01-01', end_date: '2040-01-01', published_after: '2019-01-01', published_before: '2040-01-01' }],
        ['/events', { start_date: '2019-01-01', end_date: '2040-01-01', orderby: 'title', order: 'desc' }],
        ['/events', { include: '33,38,39,40,81', orderby: 'include' }],
        ['/events', { start_date: '2019-01-01', end_date: '2040-01-01', status: 'draft,pending' }, 'ed'],
        ['/events', { start_date: '2019-01-01', end_date: '2040-01-01' }, 'ed'],
        ['/venues', {}],
        ['/venues', {}, 'ed'],
        ['/venues', { search: 'venue' }],
        ['/venues', { event: '77' }],
        ['/venues', { has_events: '1' }],
        ['/venues', { has_events: '0' }],
        ['/venues', { only_with_upcoming: '1' }],
        ['/venues', { status: 'publish,draft' }, 'ed'],
        ['/venues', { orderby: 'title', order: 'asc', modified_after: '2021-05-02' }],
        ['/venues', { published_after: '2019-01-01', published_before: '2040-01-01' }],
        ['/organizers', {}],
        ['/organizers', { published_after: '2019-01-01', published_before: '2040-01-01' }],
        ['/organizers', { search: 'organizer' }],
        ['/organizers', { event: '77' }],
        ['/organizers', { has_events: 'true' }],
        ['/organizers', { only_with_upcoming: 'yes' }],
        ['/organizers', { status: 'draft,publish' }, 'ed'],
      ] as [string, Record<string, string>, UserName?][]
    ).map(([path, params, as]) => [path, params, as ?? 'nobody'] as const),
  )('D21 contain every parameter of %s?%j (for %s) on the next and the previous page', async (path, params, who) => {
    const as = who === 'nobody' ? undefined : who;
    await ask.writeRows((db) =>
      db.from('postmeta').insert(
        [12, 13, 14].flatMap((id) => [
          { post_id: id, meta_key: '_VenueLat', meta_value: `4${id - 9}.7` },
          { post_id: id, meta_key: '_VenueLng', meta_value: '10.4' },
        ]),
      ),
    );
    const whole = await ask.read(`${path}?${query({ ...params, per_page: 50 })}`, as);
    const expected = idsOf(whole);
    if (whole.total_pages > 1) expected.push(...idsOf(await ask.read(`${path}?${query({ ...params, per_page: 50, page: 2 })}`, as)));
    const walked = await walk(`${path}?${query({ ...params, per_page: expected.length > 10 ? 7 : 1 })}`, as);
    expect(walked).toEqual({
      there: expected,
      back: expected,
      pages: expected.length > 10 ? Math.ceil(expected.length / 7) : Math.max(1, expected.length),
    });
    expect(expected.length).toBeGreaterThan(0);
    expect(idsOf(await ask.read(pathOf(whole.rest_url), as))).toEqual(idsOf(whole));
  });
  it('D21 contain whole days on the next page if days begin after midnight', async () => {
    await ask.options({ tribe_events_calendar_options: { multiDayCutoff: '06:00' } });
    const list = '/events?start_date=2030-06-01&end_date=2030-06-15';
    const { there, back } = await walk(`${list}&per_page=2`);
    const whole = idsOf(await ask.read(list));
    expect(whole).toHaveLength(6);
    expect([there, back]).toEqual([whole, whole]);
  });
  it('D21 contain the password that opened records, and the language', async () => {
    const path = `/events?${query({ start_date: '2030-01-01', end_date: '2040-01-01', categories: 5, password: 'opensesame', translation_language: 'it', per_page: 1 })}`;
    const open = await walk(path);
    expect(open.there).toEqual([73]);
    const body = await ask.read(
      `/events?${query({ start_date: '2030-01-01', end_date: '2040-01-01', venue: 12, password: 'opensesame', translation_language: 'it', per_page: 1 })}`,
    );
    expect(paramsOf(body.next_rest_url)).toMatchObject({ password: 'opensesame', translation_language: 'it' });
    const seen = await walk(
      `/events?${query({ start_date: '2030-01-01', end_date: '2040-01-01', venue: 12, password: 'opensesame', per_page: 1 })}`,
    );
    expect(seen.there).toContain(73);
  });
  it('D21 are percent-encoded', async () => {
    for (const path of ['/events', '/venues', '/organizers']) {
      const body = await ask.read(`${path}?${query({ search: 'e', per_page: 1, modified_before: '2030-01-01 10:00:00' })}`, 'ed');
      for (const url of [body.rest_url, body.next_rest_url].filter(Boolean)) {
        expect(url).toMatch(/^[!-~]+$/);
        expect(url).not.toMatch(/[+ "<>[\]|]/);
        expect(paramsOf(url).modified_before).toBe('2030-01-01 10:00:00');
      }
    }
    const { rest_url } = await ask.read(`/events?${query({ search: 'caffè & co = 100% "così"' })}`);
    expect(paramsOf(rest_url).search).toBe('caffè & co = 100% "così"');
    expect(rest_url).toMatch(/^[!-~]+$/);
  });
  it('D21 contain no page parameter for the first page', async () => {
    const second = await ask.read('/venues?per_page=2&page=2');
    expect(paramsOf(second.previous_rest_url)).not.toHaveProperty('page');
    expect(paramsOf(second.next_rest_url).page).toBe('3');
    expect(await ask.read('/venues?per_page=2')).not.toHaveProperty('previous_rest_url');
  });

  it.each([
    ['/categories', {}],
    ['/categories', { hide_empty: 'false' }],
    ['/categories', { search: 'e' }],
    ['/categories', { include: '2,3,4,5' }],
    ['/categories', { exclude: '5,6' }],
    ['/categories', { exclude: 'music' }],
    ['/categories', { exclude: 'Food & Drink,5' }],
    ['/categories', { order: 'desc' }],
    ['/categories', { orderby: 'count', order: 'desc' }],
    ['/categories', { parent: '0', hide_empty: '0' }],
    ['/categories', { post: '39' }],
    ['/categories', { event: '39' }],
    ['/tags', {}],
    ['/tags', { hide_empty: 'no' }],
    ['/tags', { search: 'o' }],
    ['/tags', { include: '11,12,13' }],
    ['/tags', { exclude: '11' }],
    ['/tags', { orderby: 'slug', order: 'desc' }],
    ['/tags', { event: '38' }],
    ['/tags', { slug: 'free' }],
  ] as [string, Record<string, string>][])('D25 contain the page size and every filter of %s?%j', async (path, params) => {
    const whole = idsOf(await ask.read(`${path}?${query({ ...params, per_page: 50 })}`));
    const walked = await walk(`${path}?${query({ ...params, per_page: 1 })}`);
    expect(whole.length).toBeGreaterThan(0);
    expect(walked.there).toEqual(whole);
    expect(walked.back).toEqual(walked.there);
    expect(walked.there.length).toBe((await ask.read(`${path}?${query({ ...params, per_page: 50 })}`)).total);
  });
  it('D55 count the empty categories that they list because a category below them is in use', async () => {
    const top = (await ask.create('/categories', { name: 'Empty ancestor' })).id;
    const middle = (await ask.create('/categories', { name: 'Empty ancestor of one', parent: top })).id;
    const used = (await ask.create('/categories', { name: 'Used', parent: middle })).id;
    await ask.create('/events', { title: 'Used', start_date: '2027-01-01', end_date: '2027-01-01', categories: [used] });
    const whole = await ask.read('/categories?per_page=50');
    const { categories, total } = whole;
    expect([total, idsOf(whole)]).toEqual([categories.length, expect.arrayContaining([top, middle, used])]);
    const walked = await walk('/categories?per_page=3');
    expect([walked.there, walked.back]).toEqual([idsOf(whole), idsOf(whole)]);
    expect(await ask.read('/categories?search=empty%20ancestor')).toMatchObject({ total: 2, total_pages: 1 });
    expect(await ask.read('/categories?search=empty%20ancestor&page=2&per_page=1')).toMatchObject({ total: 2, total_pages: 2 });
    const { body, headers } = await ask.send('GET', '/wp-json/wp/v2/tribe_events_cat?hide_empty=1&per_page=50', {});
    expect([body.length, headers['x-wp-total']]).toEqual([categories.length, String(total)]);
  });
  it('D25 lead to the same list of terms if only slugs were given', async () => {
    const body = await ask.read('/categories?include=music');
    expect(body).toMatchObject({ total: 0, categories: [] });
    expect(await ask.read(pathOf(body.rest_url))).toEqual(body);
  });
});

describeRequests('venues and organizers in lists', (ask) => {
  it.each([
    ['/venues', 'teatro', [12]],
    ['/venues', 'TEATRO rossi', [12]],
    ['/venues', 'pisa', [12]],
    ['/venues', '56126', [12]],
    ['/venues', '日本武道館', [15]],
    ['/venues', '武道', [15]],
    ['/venues', 'rock & roll', [14]],
    ['/venues', 'nothing like this', []],
    ['/venues', 'ÿþ', []],
    ['/organizers', 'acme', [24]],
    ['/organizers', '主催', [26]],
    ['/organizers', 'coop friends', [25]],
    ['/organizers', 'absent', []],
  ])('D22 contain in %s for %j exactly %j, and count them', async (path, search, ids) => {
    const body = await ask.read(`${path}?${query({ search, per_page: 50 })}`);
    expect(idsOf(body)).toEqual(ids);
    expect([body.total, body.total_pages]).toEqual([ids.length, ids.length > 0 ? 1 : 0]);
  });
  it.each([
    ['venues', 'venue'],
    ['organizers', 'organizer'],
  ])('a search of %s leaves out the trash, even with status=trash', async (path, name) => {
    const { id } = await ask.create(`/${path}`, { [name]: 'Quagga house' });
    await ask.del(`/${path}/${id}`, 'admin');
    expect(idsOf(await ask.read(`/${path}?status=trash&per_page=50`, 'admin'))).toContain(id);
    expect(idsOf(await ask.read(`/${path}?status=trash&search=quagga`, 'admin'))).toEqual([]);
  });
  it('D22 do not treat letters of other scripts as word separators', async () => {
    const { id } = await ask.create('/venues', { venue: 'Città Alta' });
    await ask.create('/venues', { venue: 'Citt a Alt b' });
    expect(idsOf(await ask.read(`/venues?${query({ search: 'città' })}`))).toEqual([id]);
    const { id: cyrillic } = await ask.create('/organizers', { organizer: 'Клуб любителей' });
    expect(idsOf(await ask.read(`/organizers?${query({ search: 'клуб' })}`))).toEqual([cyrillic]);
  });
  it.each([
    ['/venues', '_EventVenueID'],
    ['/organizers', '_EventOrganizerID'],
  ])('D22 consider all upcoming events for only_with_upcoming in %s', async (path, key) => {
    const upcoming = await ask
      .db()
      .knex('wp_tec_occurrences as o')
      .join('wp_posts as p', 'p.ID', 'o.post_id')
      .where('o.start_date', '>=', '2026-11-20 13:00:00')
      .where({ 'p.post_status': 'publish', 'p.post_password': '' })
      .whereNotIn('p.ID', ask.db().knex('wp_postmeta').select('post_id').where('meta_key', '_EventHideFromUpcoming'))
      .pluck('p.ID');
    expect(upcoming.length).toBeGreaterThan(30);
    const links: string[] = await ask.db().knex('wp_postmeta').whereIn('post_id', upcoming).where('meta_key', key).pluck('meta_value');
    const shown = idsOf(await ask.read(`${path}?per_page=50`));
    const body = await ask.read(`${path}?per_page=50&only_with_upcoming=1`);
    expect(sorted(idsOf(body))).toEqual(sorted(new Set(links.map(Number).filter((id) => shown.includes(id)))));
    expect(body.total).toBe(idsOf(body).length);
  });
});

describeRequests('the order of lists', (ask) => {
  it('by slug is that of the collation, in which underscores and dashes precede digits and letters', async () => {
    const slugs = ['zz_b', 'zz-b', 'zz1', 'zzb'];
    for (const [place, slug] of [...slugs.entries()].reverse()) {
      await ask.create('/tags', { name: `Tag ${place}`, slug });
      await ask.create('/events', { ...EVENT, title: `Event ${place}`, slug });
    }
    for (const [path, key] of [
      ['/tags?hide_empty=false&', 'tags'],
      [`/events?${WIDE}&`, 'events'],
    ] as const) {
      const body = await ask.read(`${path}orderby=slug&order=desc&per_page=4`);
      expect([path, body[key].map(({ slug }: Json) => slug)]).toEqual([path, slugs.toReversed()]);
    }
  });

  async function paged(path: string): Promise<number[]> {
    const ids: number[] = [];
    const { total } = await ask.read(`${path}&per_page=1`);
    for (let page = 1; page <= total; page++) ids.push(...idsOf(await ask.read(`${path}&per_page=1&page=${page}`)));
    return ids;
  }
  it('D24 is by id for events that are otherwise equal, in the requested direction', async () => {
    const tied = [74, 69, 70, 76];
    await ask.writeRows(async (db) => {
      await db
        .from('posts')
        .whereIn('ID', tied)
        .update({ post_date: '2022-02-08 09:00:00', post_title: 'Same', post_modified: '2022-02-08 09:00:00' });
      await db
        .from('tec_occurrences')
        .whereIn('post_id', tied)
        .update({ start_date: '2030-08-05 10:00:00', end_date: '2030-08-05 12:00:00' });
    });
    const path = '/events?start_date=2030-08-05&end_date=2030-08-05';
    for (const orderby of ['event_date', 'end_date', 'date', 'title', 'modified']) {
      const ascending = sorted(tied);
      const only = (ids: number[]) => ids.filter((id) => tied.includes(id));
      expect({ orderby, ids: only(await paged(`${path}&orderby=${orderby}&order=asc`)) }).toEqual({ orderby, ids: ascending });
      expect({ orderby, ids: only(await paged(`${path}&orderby=${orderby}&order=desc`)) }).toEqual({
        orderby,
        ids: [...ascending].reverse(),
      });
    }
    expect(await paged(path)).toEqual([69, 70, 74, 76, 71]);
  });
  it.each([
    ['/venues', 'tribe_venue'],
    ['/organizers', 'tribe_organizer'],
  ])('D24 is by id for equal records of %s, the newest first', async (path, post_type) => {
    await ask.writeRows((db) => db.from('posts').where({ post_type }).update({ post_date: '2021-05-01 10:00:00', post_title: 'Same' }));
    const whole = idsOf(await ask.read(`${path}?per_page=50`));
    expect(whole).toEqual(sorted(whole).reverse());
    expect(await paged(`${path}?page=1`.replace('?page=1', '?order=desc'))).toEqual(whole);
    expect(idsOf(await ask.read(`${path}?per_page=50&orderby=title&order=asc`))).toEqual([...whole].reverse());
  });
  it.each(['/categories', '/tags'])('D24 is by id for equal terms of %s', async (path) => {
    await ask.writeRows((db) => db.from('term_taxonomy').update({ count: 3 }));
    const whole = idsOf(await ask.read(`${path}?per_page=50&orderby=count&order=asc`));
    expect(whole).toEqual(sorted(whole));
    expect(await paged(`${path}?orderby=count&order=desc`)).toEqual([...whole].reverse());
  });

  it.each([
    '/events?start_date=2019-01-01&end_date=2040-01-01&per_page=3',
    '/venues?per_page=3',
    '/organizers?per_page=3',
    '/categories?per_page=3',
    '/tags?per_page=3',
    '/venues?search=nothing+of+this',
  ])('D26 answers with the totals of %s in four headers that every origin may read', async (path) => {
    const answer = await ask.send('GET', `/wp-json/calendar/events/v1${path}`, { headers: { Origin: 'https://other.example' } });
    const { total } = expectBody(answer);
    const pages = Math.ceil(total / 3);
    expect(answer.headers).toMatchObject({
      'x-tec-total': String(total),
      'x-tec-totalpages': String(pages),
      'x-wp-total': String(total),
      'x-wp-totalpages': String(pages),
      'access-control-allow-origin': 'https://other.example',
    });
    const exposed = String(answer.headers['access-control-expose-headers']).split(/, */);
    expect(exposed).toEqual(expect.arrayContaining(['X-TEC-Total', 'X-TEC-TotalPages', 'X-WP-Total', 'X-WP-TotalPages', 'Link']));
  });
});

describeRequests('places and tickets', (ask) => {
  /** Pisa, Lucca (17 km away), Florence (69 km), and a venue without coordinates. */
  const PLACES = { 12: [43.7167, 10.4], 13: [43.843, 10.505], 14: [43.7696, 11.2558] } as const;
  const place = () =>
    ask.writeRows((db) =>
      db.from('postmeta').insert(
        Object.entries(PLACES).flatMap(([id, [lat, lng]]) => [
          { post_id: Number(id), meta_key: '_VenueLat', meta_value: String(lat) },
          { post_id: Number(id), meta_key: '_VenueLng', meta_value: String(lng) },
        ]),
      ),
    );
  const venuesOf = (body: Json) => body.events.map((event: Json) => event.venue.id ?? event.venue[0]?.id);
  const UPCOMING = 'start_date=2027-01-01&end_date=2040-01-01&per_page=50';

  it('D27 accepts and returns coordinates of venues as numbers', async () => {
    const venue = await ask.create('/venues', { venue: 'Tower', geo_lat: 43.72301, geo_lng: '10.39663' });
    expect([venue.geo_lat, venue.geo_lng]).toEqual([43.72301, 10.39663]);
    expect([await ask.metaValues(venue.id, '_VenueLat'), await ask.metaValues(venue.id, '_VenueLng')]).toEqual([
      ['43.72301'],
      ['10.39663'],
    ]);
    expect((await ask.update(`/venues/${venue.id}`, { geo_lat: -1.5 })).geo_lat).toBe(-1.5);
    expect(await ask.update(`/venues/${venue.id}`, { geo_lat: null, geo_lng: '' })).not.toHaveProperty('geo_lat');
    expectError(await ask.post('/venues', { venue: 'X', geo_lat: 'north' }), 400, 'rest_invalid_param', ['geo_lat']);
    await place();
    expect((await ask.read('/events/39')).venue).toMatchObject({ geo_lat: 43.7167, geo_lng: 10.4 });
  });
  it.each([
    [{ geo_lat: 143, geo_lng: 999 }, ['geo_lat', 'geo_lng']],
    [{ geo_lat: '-90.1' }, ['geo_lat']],
    [{ geo_lat: 90, geo_lng: -180.5 }, ['geo_lng']],
  ])('D27 refuses coordinates that do not exist: %j', async (coordinates, refused) => {
    const venue = await ask.create('/venues', { venue: 'Pole', geo_lat: -90, geo_lng: 180 });
    expect([venue.geo_lat, venue.geo_lng]).toEqual([-90, 180]);
    const answers = [await ask.post('/venues', { venue: 'Nowhere', ...coordinates }), await ask.post(`/venues/${venue.id}`, coordinates)];
    for (const answer of answers) {
      expectError(answer, 400, 'rest_invalid_param', refused);
      expect(answer.text).toContain(refused.includes('geo_lat') ? 'A latitude is between -90 and 90 degrees.' : 'A longitude is between');
    }
    expect(await ask.read(`/venues/${venue.id}`)).toMatchObject({ geo_lat: -90, geo_lng: 180 });
    expect((await ask.read('/venues?search=Nowhere')).venues).toEqual([]);
  });
  it('D27 does not show coordinates that do not exist, whoever has stored them', async () => {
    await ask.writeRows((db) =>
      db.from('postmeta').insert([
        { post_id: 12, meta_key: '_VenueLat', meta_value: '143' },
        { post_id: 12, meta_key: '_VenueLng', meta_value: '9' },
      ]),
    );
    expect(await ask.read('/venues/12')).not.toHaveProperty('geo_lat');
  });
  it.each([
    'geoloc_lat=&geoloc_lng=',
    'geoloc_lat&geoloc_lng&geoloc_radius',
    'geoloc=',
    'modified_after=&modified_before=',
    'published_before=',
    'city=&state=&country=',
  ])('D27 ignores additional filters without a value: %s', async (query) => {
    await place();
    const { events, rest_url: url } = await ask.read(`/events?${UPCOMING}&per_page=50&${query}`);
    const all = await ask.read(`/events?${UPCOMING}&per_page=50`);
    expect([idsOf({ events }), url]).toEqual([idsOf(all), all.rest_url]);
  });
  it('D27 refuses half a point, and the empty ID of another system, which names a record', async () => {
    expectError(await ask.get('/events?geoloc_lat=45&geoloc_lng='), 400, 'rest_invalid_param', ['geoloc_lng']);
    expectError(await ask.get('/events?external_id='), 400, 'rest_invalid_param', ['external_id']);
  });
  it('D27 lists events near a point, the nearest first', async () => {
    await place();
    const near = async (lat: number, lng: number, km?: number) => [
      ...new Set(
        venuesOf(
          await ask.read(`/events?${UPCOMING}&geoloc_lat=${lat}&geoloc_lng=${lng}${km === undefined ? '' : `&geoloc_radius=${km}`}`),
        ),
      ),
    ];
    expect(await near(43.7167, 10.4)).toEqual([12, 13]);
    expect(await near(43.843, 10.505)).toEqual([13, 12]);
    expect(await near(43.7167, 10.4, 10)).toEqual([12]);
    expect(await near(43.7167, 10.4, 200)).toEqual([12, 13, 14]);
    expect(await near(43.7696, 11.2558)).toEqual([14]);
    expect(await near(0, 0)).toEqual([]);
  });
  it('D27 measures the distances of each of several requests at once from its own point', async () => {
    await place();
    const near = async (point: string) => [...new Set(venuesOf(await ask.read(`/events?${UPCOMING}&geoloc_radius=50&${point}`, 'admin')))];
    const [pisa, lucca] = ['geoloc_lat=43.7167&geoloc_lng=10.4', 'geoloc_lat=43.843&geoloc_lng=10.505'];
    const points = [pisa, lucca, pisa, lucca, pisa];
    expect(await Promise.all(points.map(near))).toEqual(points.map((point) => (point === pisa ? [12, 13] : [13, 12])));
  });
  it.each([
    ['143', '9'],
    ['43.7', '190'],
    ['north', '10.4'],
    ['43,7', '10,4'],
    ['0x10', '10.4'],
  ])('D27 finds no event by the coordinates %j and %j, which are not shown', async (lat, lng) => {
    await ask.writeRows((db) =>
      db.from('postmeta').insert([
        { post_id: 12, meta_key: '_VenueLat', meta_value: lat },
        { post_id: 12, meta_key: '_VenueLng', meta_value: lng },
      ]),
    );
    expect(await ask.read('/venues/12')).not.toHaveProperty('geo_lat');
    const found = async (query: string) => venuesOf(await ask.read(`/events?${UPCOMING}&${query}`));
    expect(await found('geoloc=true')).not.toContain(12);
    expect(await found('geoloc=false')).toContain(12);
    for (const point of ['0&geoloc_lng=10.4', '43.7&geoloc_lng=10.4', '43&geoloc_lng=10', '37&geoloc_lng=-171'])
      expect([point, (await found(`geoloc_lat=${point}&geoloc_radius=100`)).includes(12)]).toEqual([point, false]);
  });
  it('D27 filters events with and without coordinates by geoloc', async () => {
    await place();
    const [withPlace, without, every] = [
      await ask.read(`/events?${UPCOMING}&geoloc=true`),
      await ask.read(`/events?${UPCOMING}&geoloc=false`),
      await ask.read(`/events?${UPCOMING}`),
    ];
    expect(new Set(venuesOf(withPlace))).toEqual(new Set([12, 13, 14]));
    expect(venuesOf(without)).not.toEqual(expect.arrayContaining([12]));
    // Event 73 is protected, and so in neither list.
    expect(sorted([...idsOf(withPlace), ...idsOf(without), 73])).toEqual(sorted(idsOf(every)));
  });
  it.each([
    ['geoloc_lat=43.7', 'geoloc_lng'],
    ['geoloc_lng=10.4', 'geoloc_lat'],
    ['geoloc_lat=91&geoloc_lng=10', 'geoloc_lat'],
    ['geoloc_lat=43&geoloc_lng=181', 'geoloc_lng'],
    ['geoloc_lat=43&geoloc_lng=10&geoloc_radius=0', 'geoloc_radius'],
    ['geoloc_lat=here&geoloc_lng=10', 'geoloc_lat'],
  ])('D27 refuses %s', async (filter, param) => expectError(await ask.get(`/events?${filter}`), 400, 'rest_invalid_param', [param]));

  it.each([
    '_tribe_rsvp_for_event',
    '_tec_tickets_commerce_event',
    '_tribe_tpp_for_event',
    '_tribe_wooticket_for_event',
    '_tribe_eddticket_for_event',
  ])('D28 filters by %s of published tickets', async (key) => {
    const ticket = async (event: number, post_status: string) =>
      ask.writeRows(async (db) => {
        const page = (await db.from('posts').where('ID', 1).first())!;
        const [id] = await db
          .knex(db.table('posts'))
          .insert({ ...page, ID: undefined, post_type: 'ticket', post_status, post_name: `ticket-${event}` });
        await db.from('postmeta').insert({ post_id: Number(id), meta_key: key, meta_value: String(event) });
      });
    await ticket(39, 'publish');
    await ticket(40, 'draft');
    await ticket(54, 'publish');
    // A ticket without a price and stock.
    await ask.writeRows(async (db) => {
      const { post_id } = (await db.from('postmeta').where({ meta_value: '54' }).orderBy('meta_id', 'desc').first())!;
      await db.knex(db.table('postmeta')).insert({ post_id, meta_key: key, meta_value: null });
    });
    const every = idsOf(await ask.read(`/events?${UPCOMING}`));
    expect(idsOf(await ask.read(`/events?${UPCOMING}&ticketed=true`))).toEqual([39, 54]);
    expect(idsOf(await ask.read(`/events?${UPCOMING}&ticketed=false`))).toEqual(every.filter((id) => id !== 39 && id !== 54));
  });
});
