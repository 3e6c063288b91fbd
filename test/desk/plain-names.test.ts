import { expect, it } from '@jest/globals';
import { elements, formIn, openVisitor, textOf } from '../support/desk-visitor.ts';
import { describeRequests } from '../support/site-client.ts';

const DAY = { 'start_date[date]': '2026-12-06', 'start_date[time]': '21:00', 'end_date[date]': '2026-12-06', 'end_date[time]': '23:00' };

describeRequests('names at the desk', (ask) => {
  const textsOf = (html: string, name: string) => elements(html, (element) => element.name === name).map(textOf);

  it('are shown as typed, though they are stored as HTML for users who may not write HTML', async () => {
    const anna = await openVisitor(ask, 'auth');
    const sent = { title: 'Rock & Roll <3', ...DAY, status: 'publish', 'venue[add][]': 'Bar & Grill' };
    const done = await anna.submit(await anna.get('/admin/events/new'), '/admin/events/new', sent);
    expect([done.status, done.text]).toEqual([303, '']);
    const path = (done.headers.location ?? '').replace(/\?.*$/, '');
    expect(
      (
        await ask
          .db()
          .from('posts')
          .where('ID', Number(path.split('/').at(-1)))
          .first('post_title')
      )?.post_title,
    ).toBe('Rock &amp; Roll &lt;3');

    const form = await anna.get(path);
    expect(textsOf(form.text, 'h1')).toEqual(['Rock & Roll <3']);
    expect(new Map(formIn(form.text, path)).get('title')).toBe('Rock & Roll <3');
    for (const list of ['/admin/events?search=Rock', '/admin/month?month=2026-12'])
      expect(textsOf((await anna.get(list)).text, 'a')).toContain('Rock & Roll <3');
    expect(textsOf((await anna.get('/admin/venues?search=Grill')).text, 'a')).toContain('Bar & Grill');

    expect((await anna.submit(form, path, { title: 'Rock & Roll <3 again' })).status).toBe(303);
    expect((await ask.read(`/events/${path.split('/').at(-1)}`)).title).toBe('Rock &amp; Roll &lt;3 again');
  });

  it('in a script from right to left keep its direction in forms, in lists and in the month', async () => {
    const title = 'מסיבה (2)';
    const { id } = await ask.create('/events', { title, start_date: '2026-12-06 21:00', end_date: '2026-12-06 23:00' });
    const anna = await openVisitor(ask, 'admin');
    const form = await anna.get(`/admin/events/${id}`);
    const free = (name: string) => elements(form.text, ({ attribs }) => attribs.dir === 'auto' && (attribs.name ?? '') === name).length;
    for (const name of ['title', 'description', 'tags', 'venue[add][]', 'organizer[fresh][email]', 'image[alt]'])
      expect([name, free(name)]).toEqual([name, 1]);
    expect(elements(form.text, ({ name, attribs }) => name === 'h1' && attribs.dir === 'auto').map(textOf)).toEqual([title]);
    for (const list of [`/admin/events?search=${encodeURIComponent(title)}`, '/admin/month?month=2026-12'])
      expect(textsOf((await anna.get(list)).text, 'bdi')).toContain(title);
  });

  it('of venues and organizers are found when typed with quotes and apostrophes', async () => {
    const names = ["Teatro dell'Opera", 'Bar "Da Gigi" & Co', 'Sala -1'];
    const ids = new Map<string, number>();
    for (const venue of names) ids.set(venue, (await ask.create('/venues', { venue })).id);
    const { id } = await ask.create('/organizers', { organizer: "L'Arena" });
    for (const login of ['auth', 'contrib'] as const) {
      const anna = await openVisitor(ask, login);
      const form = await anna.get('/admin/events/new');
      const offered = elements(form.text, ({ name }) => name === 'option').map(({ attribs }) => attribs.value?.replace(/ \(#\d+\)$/, ''));
      expect(offered).toEqual(expect.arrayContaining([...names, "L'Arena"]));
      for (const typed of names) {
        const sent = { title: `At ${typed}`, ...DAY, status: 'draft', 'venue[add][]': typed.toLowerCase(), 'organizer[add][]': "L'Arena" };
        const done = await anna.submit(form, '/admin/events/new', sent);
        const event = await ask.read(`/events/${/(\d+)\?/.exec(done.headers.location ?? '')?.[1]}`, 'admin');
        expect([event.venue.id, event.organizer.map((one: { id: number }) => one.id)]).toEqual([ids.get(typed), [id]]);
      }
    }
  });

  it('of drafts of other people are not taken for the typed ones, and published ones before own drafts', async () => {
    const draft = await ask.create('/venues', { venue: 'Piazza Grande', city: 'Asti' }, 'contrib');
    const linkedAs = async (typed: string) => {
      const ed = await openVisitor(ask, 'ed');
      const form = await ed.get('/admin/events/new');
      const done = await ed.submit(form, '/admin/events/new', { title: 'Jazz', ...DAY, 'venue[add][]': typed });
      return (await ask.read(`/events/${/(\d+)\?/.exec(done.headers.location ?? '')?.[1]}`, 'admin')).venue.id;
    };
    // The shown text of a choice, whose ID the visitor has removed.
    expect(await linkedAs('Piazza Grande · Asti')).not.toBe(draft.id);
    const made = await linkedAs('piazza grande');
    expect(made).not.toBe(draft.id);
    await ask.update(`/venues/${draft.id}`, { author: 2 });
    expect(await linkedAs('Piazza Grande')).toBe(made);
    expect(await linkedAs(`Piazza Grande (#${draft.id})`)).toBe(draft.id);
  });

  it('come first among the choices if they are exactly as typed', async () => {
    for (let number = 10; number < 32; number += 1) await ask.create('/venues', { venue: `Hall of the Odeon ${number}` });
    const { id } = await ask.create('/venues', { venue: 'Odeon', city: 'Asti' });
    const { body } = await (await openVisitor(ask, 'ed')).get('/admin/find/venues?q=odeon');
    expect([body[0], body.length, new Set(body).size]).toEqual([`Odeon · Asti (#${id})`, 20, 20]);
  });

  it('of the site and of users are the same as in WordPress', async () => {
    await ask.options({ blogname: 'Food &amp; Wine', blogdescription: 'Eat &amp; drink' });
    await ask.writeRows((db) => db.from('users').where('user_login', 'ed').update({ display_name: 'Ed &amp; friends' }));
    const anna = await openVisitor(ask, 'admin');
    const settings = await anna.get('/admin/settings');
    expect(textsOf(settings.text, 'title')).toEqual(['Settings · Food & Wine']);
    const values = new Map(formIn(settings.text, '/admin/settings'));
    expect([values.get('title'), values.get('tagline')]).toEqual(['Food & Wine', 'Eat & drink']);
    expect(textsOf((await anna.get('/admin/people')).text, 'a')).toContain('Ed & friends');
    expect(textsOf((await anna.get('/admin/events/new')).text, 'option')).toContain('Ed & friends');
    expect(textsOf((await (await openVisitor(ask, 'ed')).get('/admin/me')).text, 'a')).toContain('Ed & friends');
  });

  it('of new tags are refused next to their field if the user may not create tags', async () => {
    const anna = await openVisitor(ask, 'auth');
    await ask.create('/tags', { name: 'Open air' });
    const sent = { title: 'Late night', ...DAY, status: 'publish', tags: 'open air, never heard of' };
    const refused = await anna.submit(await anna.get('/admin/events/new'), '/admin/events/new', sent);
    expect(refused.status).toBe(403);
    const [error = ''] = elements(refused.text, ({ attribs }) => attribs.id === 'tags-error').map(textOf);
    expect(error).toBe('Not in the list yet: never heard of. Only people who manage this list can add to it.');
    expect(new Map(formIn(refused.text, '/admin/events/new')).get('title')).toBe('Late night');
  });
});
