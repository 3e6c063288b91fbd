import { expect, it } from '@jest/globals';
import { addCustomField } from '../../src/records/custom-fields.ts';
import { lockPost } from '../../src/storage/rows/posts.ts';
import { elements, formIn, openVisitor, textOf } from '../support/desk-visitor.ts';
import { describeRequests, type Json } from '../support/site-client.ts';

const EVENT = { title: 'Concert', start_date: '2030-05-01 20:00:00', end_date: '2030-05-01 22:00:00', status: 'publish' };

/* Unchanged fields in forms of the desk keep their values, even if the form cannot offer these as choices. */
describeRequests('choices in forms of the desk', (ask) => {
  const saved = async (id: number, changes: Record<string, string>) => {
    const admin = await openVisitor(ask, 'admin');
    const path = `/admin/events/${id}`;
    const answer = await admin.submit(await admin.get(path), path, changes);
    expect([answer.status, answer.status === 303 ? '' : answer.text.slice(-2000)]).toEqual([303, '']);
    return ask.read(`/events/${id}`, 'admin');
  };
  const shown = async (id: number, name: string) => {
    const path = `/admin/events/${id}`;
    return formIn((await (await openVisitor(ask, 'admin')).get(path)).text, path).flatMap(([own, value]) => (own === name ? [value] : []));
  };

  it('are kept if the site no longer offers them', async () => {
    await ask.options({});
    const { site } = ask.running();
    const stage = await addCustomField(site, { name: 'stage', type: 'choice', label: 'Stage', choices: ['Main stage', 'Garden'] });
    const spoken = await addCustomField(site, { name: 'spoken', type: 'checkbox', label: 'Spoken', choices: ['Italian', 'German'] });
    const { id } = await ask.create('/events', { ...EVENT, custom_fields: { stage: 'Garden', spoken: ['German', 'Italian'] } });
    await ask.writeRows(async (db) => {
      await db.from('postmeta').where('post_id', id).where('meta_key', stage.meta).update({ meta_value: 'Cellar' });
      await db.from('postmeta').where('post_id', id).where('meta_key', spoken.meta).update({ meta_value: 'Latin|Italian' });
    });
    expect(await shown(id, 'custom_fields[stage]')).toEqual(['Cellar']);
    expect(await shown(id, 'custom_fields[spoken][]')).toEqual(['', 'Italian', 'Latin']);
    const held = ({ custom_fields: fields }: Json) => [fields.stage?.value, fields.spoken?.value];
    expect(held(await saved(id, { title: 'Another title' }))).toEqual(['Cellar', 'Latin|Italian']);
    expect(held(await saved(id, { 'custom_fields[stage]': 'Garden' }))).toEqual(['Garden', 'Latin|Italian']);
  });

  it('of tags keep names with commas or quotes, and the linked one of several tags with the same name', async () => {
    const names = ['Rock, Pop', '"Quoted"', 'A "b", c', 'Plain'];
    const tags: number[] = [];
    for (const name of names) tags.push(Number((await ask.create('/tags', { name })).id));
    tags.push(Number((await ask.create('/tags', { name: 'Plain', slug: 'plain-again' })).id));
    const { id } = await ask.create('/events', { ...EVENT, tags });
    const before = await shown(id, 'tags');
    expect(before[0]?.split(', "').length).toBeGreaterThan(2);
    const event = await saved(id, { tags: `${before[0]}, "New, too", late` });
    const after = new Map((event.tags as Json[]).map((tag) => [Number(tag.id), tag.name]));
    expect([...after.keys()]).toEqual(expect.arrayContaining(tags));
    expect([...after.values()].filter((name) => ['New, too', 'late'].includes(String(name)))).toHaveLength(2);
    expect(after.size).toBe(tags.length + 2);
    expect((await saved(id, { tags: '"Rock, Pop"' })).tags).toEqual([expect.objectContaining({ id: tags[0] })]);
  });

  it("of custom fields have their labels, in errors and next to another editor's changes", async () => {
    await ask.options({});
    const { site } = ask.running();
    await addCustomField(site, { name: 'tickets', type: 'url', label: 'Tickets at', choices: [] });
    await addCustomField(site, { name: 'seats', type: 'number', label: 'Number of seats', choices: [] });
    await addCustomField(site, { name: 'spoken', type: 'checkbox', label: 'Spoken there', choices: ['Italian', 'German'] });
    const { id } = await ask.create('/events', EVENT);
    const path = `/admin/events/${id}`;
    const admin = await openVisitor(ask, 'admin');
    const form = await admin.get(path);
    const refused = await admin.submit(form, path, { 'custom_fields[tickets]': 'no address <x>' });
    const errors = elements(refused.text, ({ attribs }) => attribs.id === 'custom_fields-error').map(textOf);
    expect([refused.status, errors]).toEqual([422, ['Tickets at must be a web address.']]);
    await ask.update(`/events/${id}`, { custom_fields: { seats: 12.5, spoken: ['Italian', 'German'] } });
    const late = await admin.submit(form, path, { 'custom_fields[seats]': '7' });
    const theirs = elements(late.text, ({ attribs }) => attribs.class === 'saved-now').map(textOf);
    expect([late.status, theirs]).toEqual([409, ['Number of seats: 12.5; Spoken there: Italian, German']]);
    const { custom_fields: fields } = await saved(id, { 'custom_fields[seats]': '13,5' });
    expect(fields.seats.value).toBe('13.5');
  });

  it.each(['pitch', 'auto-draft'])('keep the status %s of another program until somebody chooses another one', async (status) => {
    const { id } = await ask.create('/events', { ...EVENT, status: 'draft' });
    await ask.writeRows((db) => db.from('posts').where('ID', id).update({ post_status: status }));
    const statusOf = async () => (await lockPost(ask.db(), id))?.post_status;
    expect(await shown(id, 'status')).toEqual([status]);
    const admin = await openVisitor(ask, 'admin');
    const path = `/admin/events/${id}`;
    const page = await admin.get(path);
    expect(elements(page.text, ({ attribs }) => attribs.class === 'status').map(textOf)).toEqual([status]);
    expect((await admin.submit(page, path, { title: 'Another title' })).status).toBe(303);
    expect(await statusOf()).toBe(status);
    await saved(id, { status: 'draft' });
    expect(await statusOf()).toBe('draft');
  });

  it('are copied with the seconds of start and end', async () => {
    await ask.options({});
    const { id } = await ask.create('/events', { ...EVENT, start_date: '2030-05-01 20:00:30', end_date: '2030-05-01 22:00:45' });
    const admin = await openVisitor(ask, 'admin');
    const copied = async (changes: Record<string, string>) => {
      const { headers } = await admin.submit(await admin.get(`/admin/events/${id}/duplicate`), '/admin/events/new', changes);
      const copy = await ask.read(`/events/${/events\/(\d+)/.exec(headers.location ?? '')?.[1]}`, 'admin');
      return [copy.start_date, copy.end_date];
    };
    expect(await copied({})).toEqual(['2030-05-01 20:00:30', '2030-05-01 22:00:45']);
    expect(await copied({ 'start_date[time]': '19:00' })).toEqual(['2030-05-01 19:00:00', '2030-05-01 22:00:45']);
  });
});
