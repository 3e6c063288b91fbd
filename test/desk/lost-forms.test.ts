import { expect, it } from '@jest/globals';
import { labelledInput } from '../../src/desk/labelled-input.ts';
import { i18nIn } from '../../src/html/i18n.ts';
import type { Values } from '../../src/kinds/param.ts';
import { DatabaseUnavailable } from '../../src/storage/engine/dialect.ts';
import { toSerialized } from '../../src/wordpress/php/serialized.ts';
import { formIn, openVisitor } from '../support/desk-visitor.ts';
import { describeRequests } from '../support/site-client.ts';

/*
 * Forms whose record can no longer be saved by their user.
 */

const DATES = { start_date: '2027-03-04 20:30:00', end_date: '2027-03-04 23:00:00' };

describeRequests('a form that can no longer be saved', (ask) => {
  const ownPending = async (path: string, values: Readonly<Record<string, unknown>>) => {
    const { id } = await ask.create(path, values);
    await ask.writeRows((db) => db.from('posts').where('ID', id).update({ post_author: 4, post_status: 'pending' }));
    return Number(id);
  };

  it.each([
    ['/events', { title: 'Jazz', ...DATES }, { title: 'Typed title', excerpt: 'Typed <text>' }],
    ['/venues', { venue: 'Barn' }, { venue: 'Typed title', city: 'Typed <text>' }],
    ['/organizers', { organizer: 'Anna' }, { organizer: 'Typed title', phone: 'Typed <text>' }],
  ])('shows what was typed after an editor has published the record, or deleted it: %s', async (path, values, typed) => {
    const person = await openVisitor(ask, 'contrib');
    const id = await ownPending(path, values);
    const own = `/admin${path}/${id}`;
    const page = await person.get(own);
    await ask.writeRows((db) => db.from('posts').where('ID', id).update({ post_status: 'publish' }));
    const refused = await person.submit(page, own, typed);
    expect([refused.status, /<dd>Typed title<\/dd>/.test(refused.text), /<dd>Typed &lt;text><\/dd>/.test(refused.text)]).toEqual([
      403,
      true,
      true,
    ]);
    expect(refused.text).toContain('so that you can copy it');
    expect((await ask.read(`${path}/${id}`, 'admin')).status).toBe('publish');
    await ask.writeRows((db) => db.from('posts').where('ID', id).delete());
    const gone = await person.submit(page, own, typed);
    expect([gone.status, /<dd>Typed title<\/dd>/.test(gone.text)]).toEqual([404, true]);
  });

  it('shows choices in the words of the form', async () => {
    const { site } = ask.running();
    const visit = { site, settings: await site.settings(), i18n: i18nIn(site.texts, 'it', 'it-IT') };
    const words = (path: string, fields: Values) => labelledInput(visit, path, fields).map(([, text]) => text);
    expect(words('/people', { role: 'author', login: 'bruno' })).toEqual(['Autore', 'bruno']);
    expect(words('/me/language', { language: 'it' })).toEqual(['italiano']);
    const options = { week_begins: 'monday', currency_position: 'postfix', currency_symbol: '€', language: 'it_IT' };
    expect(words('/settings', options)).toEqual(['lunedì', "dopo l'importo", '€', 'it_IT']);
    expect(words('/venues/7', { venue: 'Granaio', locate: '1' })).toEqual(['Granaio']);
  });

  it('shows the date that was to be added to an event', async () => {
    const person = await openVisitor(ask, 'contrib');
    const id = await ownPending('/events', { title: 'Jazz', ...DATES });
    await ask.writeRows((db) => db.from('posts').where('ID', id).update({ post_status: 'publish' }));
    const path = `/admin/events/${id}/dates`;
    const _wpnonce = new Map(formIn((await person.get('/admin/events/new')).text, '/admin/events/new')).get('_wpnonce')!;
    const refused = await person.post(path, { _wpnonce, 'start_date[date]': '2027-04-05', 'start_date[time]': '20:30' });
    expect([refused.status, refused.text.includes('2027-04-05 20:30')]).toEqual([403, true]);
  });

  it.each([
    ['/events/new', '/events/new', { title: 'Typed title' }],
    ['/categories', '/categories', { name: 'Typed title' }],
    ['/people', '/people', { login: 'Typed title' }],
  ])('shows what was typed after an administrator has taken away the right to it: %s', async (page, action, typed) => {
    const person = await openVisitor(ask, 'admin');
    const form = await person.get(`/admin${page}`);
    const own = { user_id: 1, meta_key: 'wp_capabilities' };
    await ask.writeRows((db) =>
      db
        .from('usermeta')
        .where(own)
        .update({ meta_value: toSerialized({ subscriber: true }) }),
    );
    const refused = await person.submit(form, `/admin${action}`, typed);
    expect([refused.status, refused.text.includes('<dd>Typed title</dd>')]).toEqual([403, true]);
    expect(refused.text.includes('deleted the record')).toBe(action !== '/people');
    expect(refused.text).toContain('Nothing has been saved');
    const foreign = { 'Sec-Fetch-Site': 'cross-site' };
    const sent = await person.post(`/admin${action}`, [...formIn(form.text, `/admin${action}`), ...Object.entries(typed)], foreign);
    expect([sent.status, sent.text.includes('<dd>Typed title</dd>')]).toEqual([403, false]);
  });

  it('shows what was typed if it may or may not have been saved', async () => {
    const person = await openVisitor(ask, 'admin');
    const { id } = await ask.create('/venues', { venue: 'Barn' });
    const forms = [
      ['/admin/venues/new', { venue: 'Typed title' }],
      [`/admin/venues/${id}`, { venue: 'Typed title' }],
      ['/admin/tags', { name: 'Typed title' }],
    ] as const;
    for (const [path, typed] of forms) {
      const form = await person.get(path);
      const { db } = ask.running().site;
      const { transaction } = db;
      Object.assign(db, { transaction: () => Promise.reject(new DatabaseUnavailable('uncertain')) });
      const answer = await person.submit(form, path, typed);
      Object.assign(db, { transaction });
      expect([path, answer.status, answer.text.includes('It may have been saved')]).toEqual([path, 503, true]);
      expect(answer.text).toContain('<dd>Typed title</dd>');
      expect(answer.text).not.toContain('Nothing has been saved');
    }
  });

  it('shows what was typed if a category or tag is gone', async () => {
    const person = await openVisitor(ask, 'ed');
    for (const [path, own] of [
      ['/tags', 'Loud'],
      ['/categories', 'Sort'],
    ] as const) {
      const { id } = await ask.create(path, { name: own });
      const form = `/admin${path}/${id}`;
      const page = await person.get(form);
      await ask.send('DELETE', `/wp-json/tribe/events/v1${path}/${id}`, { as: 'admin' });
      const gone = await person.submit(page, form, { name: 'Typed name' });
      expect([path, gone.status, gone.text.includes('<dd>Typed name</dd>')]).toEqual([path, 404, true]);
    }
  });
});
