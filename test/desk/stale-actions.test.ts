import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { SUGGESTION_META, storedSuggestion } from '../../src/kinds/suggestion.ts';
import { noteChange } from '../../src/storage/journal/reported-changes.ts';
import { insertMetas, lockPost, updatePost } from '../../src/storage/rows/posts.ts';
import { elements, formIn, openVisitor, textOf, type Visitor } from '../support/desk-visitor.ts';
import type { Answer } from '../support/running-site.ts';
import { describeRequests, type SiteClient, SUITE_TIME } from '../support/site-client.ts';

const dates = { start_date: '2027-01-01 10:00', end_date: '2027-01-01 11:00' };

/** Clicks a button in a row of a list. It belongs to the form of the bulk actions. */
const click = (person: Visitor, list: Answer, path: string): Promise<Answer> =>
  person.post(path, formIn(list.text, `${path.split('/').slice(0, 3).join('/')}/bulk`));

const statusIn = (ask: SiteClient) => async (id: number) => (await lockPost(ask.db(), id))?.post_status;

describeRequests('an action on a record that somebody has changed since the page was shown', (ask) => {
  const statusOf = statusIn(ask);
  const trashed = async (title: string) => {
    const { id } = await ask.create('/events', { title, ...dates });
    await ask.update(`/events/${id}`, { status: 'trash' });
    return id;
  };
  const restore = (id: number) => ask.update(`/events/${id}`, { status: 'publish' });

  it('deletes no record that was restored, neither alone nor among the selected ones', async () => {
    const anna = await openVisitor(ask, 'admin');
    const [id, other] = [await trashed('One'), await trashed('Two')];
    const list = await anna.get('/admin/events?status=trash');
    await restore(id);
    const refused = await click(anna, list, `/admin/events/${id}/delete`);
    expect([refused.status, await statusOf(id)]).toEqual([409, 'publish']);
    expect(refused.text).toContain('Somebody has changed the status of this record in the meantime');
    const fields = [...formIn(list.text, '/admin/events/bulk').filter(([name]) => name !== 'action')];
    const ids: [string, string][] = [id, other].map((one) => ['ids[]', String(one)]);
    const done = await anna.post('/admin/events/bulk', [...fields, ['action', 'delete'], ['confirmed', '1'], ...ids]);
    expect(done.headers.location).toContain('done=deleted&count=1&failed=1');
    expect([await statusOf(id), await statusOf(other)]).toEqual(['publish', undefined]);
    const [notice] = elements((await anna.get(String(done.headers.location))).text, ({ attribs }) => /notice/.test(attribs.class ?? ''));
    expect(textOf(notice!)).toContain('or somebody has changed it in the meantime');
  });

  it('deletes no record that is restored while the trash is emptied', async () => {
    const anna = await openVisitor(ask, 'admin');
    const [first, last] = [await trashed('One'), await trashed('Two')];
    const list = await anna.get('/admin/events?status=trash');
    let emptying: Promise<Answer> | undefined;
    await ask.db().transaction(async (db) => {
      await lockPost(db, first);
      await updatePost(db, first, { post_status: 'publish' });
      noteChange(db, { now: new Date(SUITE_TIME) });
      emptying = anna.confirm(list, '/admin/events/empty-trash');
      // It finds both records, and waits for the lock.
      await sleep(500);
    });
    expect((await emptying)?.headers.location).toMatch(/done=deleted&count=\d+&failed=1$/);
    expect([await statusOf(first), await statusOf(last)]).toEqual(['publish', undefined]);
  });

  it('publishes no suggestion that was rejected or made private', async () => {
    const anna = await openVisitor(ask, 'admin');
    const made = async (title: string) => (await ask.create('/events', { title, ...dates, status: 'pending' })).id;
    const [rejected, hidden, waiting] = [await made('Rejected'), await made('Hidden'), await made('Waiting')];
    const list = await anna.get('/admin/events?status=pending');
    await ask.update(`/events/${rejected}`, { status: 'trash' });
    await ask.update(`/events/${hidden}`, { status: 'private' });
    for (const id of [rejected, hidden]) expect((await click(anna, list, `/admin/events/${id}/publish`)).status).toBe(409);
    const fields = formIn(list.text, '/admin/events/bulk').filter(([name]) => name !== 'action');
    const ids: [string, string][] = [rejected, hidden, waiting].map((one) => ['ids[]', String(one)]);
    const done = await anna.post('/admin/events/bulk', [...fields, ['action', 'publish'], ...ids]);
    expect(done.headers.location).toContain('done=published&count=1&failed=2');
    expect(await Promise.all([rejected, hidden, waiting].map(statusOf))).toEqual(['trash', 'private', 'publish']);
    const all = formIn((await anna.get('/admin/events')).text, '/admin/events/bulk').filter(([name]) => name !== 'action');
    await anna.post('/admin/events/bulk', [...all, ['action', 'publish'], ['ids[]', String(rejected)]]);
    expect(await statusOf(rejected)).toBe('trash');
  });

  it('publishes once if the button is clicked twice', async () => {
    const anna = await openVisitor(ask, 'admin');
    const { id } = await ask.create('/events', { title: 'Waiting', ...dates, status: 'pending' });
    const list = await anna.get('/admin/events?status=pending');
    const clicks = await Promise.all([1, 2].map(() => click(anna, list, `/admin/events/${id}/publish`)));
    expect(clicks.map(({ status, headers }) => [status, /done=published/.test(headers.location ?? '')])).toEqual([
      [303, true],
      [303, true],
    ]);
    const before = await lockPost(ask.db(), id);
    ask.setClock('2026-11-20T13:00:00Z');
    expect((await click(anna, list, `/admin/events/${id}/publish`)).status).toBe(303);
    expect(await lockPost(ask.db(), id)).toEqual(before);
  });

  it('schedules once if the button of an event with a date of publication ahead is clicked twice', async () => {
    const anna = await openVisitor(ask, 'admin');
    const waiting = { ...dates, status: 'pending', date: '2026-12-24 10:00:00' };
    const { id } = await ask.create('/events', { title: 'Waiting', ...waiting });
    const list = await anna.get('/admin/events?status=pending');
    const clicks = [1, 2].map(() => click(anna, list, `/admin/events/${id}/publish`));
    expect((await Promise.all(clicks)).map(({ status }) => status)).toEqual([303, 303]);
    expect(await statusOf(id)).toBe('future');
    const publishIn = async (page: Answer) => {
      const fields = formIn(page.text, '/admin/events/bulk').filter(([name]) => name !== 'action');
      return (await anna.post('/admin/events/bulk', [...fields, ['action', 'publish'], ['ids[]', String(id)]])).headers.location;
    };
    expect([await publishIn(list), await statusOf(id)]).toEqual([expect.stringMatching(/done=published&count=1$/), 'future']);
    // Among scheduled events the action means that they are published now.
    expect(await publishIn(await anna.get('/admin/events?status=future'))).toContain('count=1');
    expect(await statusOf(id)).toBe('publish');
  });

  it('rejects no suggestion that was published', async () => {
    const anna = await openVisitor(ask, 'admin');
    const { id } = await ask.create('/events', { title: 'Suggested', ...dates, status: 'pending' });
    const suggestion = { name: 'Rosa', email: 'rosa@example.org', note: '', venue: '', organizer: '' };
    await ask.writeRows((db) => insertMetas(db, new Map([[id, { [SUGGESTION_META]: [storedSuggestion(suggestion)] }]])));
    const page = await anna.get(`/admin/events/${id}`);
    await ask.update(`/events/${id}`, { status: 'publish' });
    expect((await anna.confirm(page, `/admin/events/${id}/trash`)).status).toBe(409);
    expect(await statusOf(id)).toBe('publish');
  });
});

describeRequests(
  'an old trash of a site that has none any more',
  (ask) => {
    const statusOf = statusIn(ask);

    it('loses no record that was restored since it was shown', async () => {
      const anna = await openVisitor(ask, 'admin');
      const made = async (venue: string) => (await ask.create('/venues', { venue, status: 'draft' })).id;
      const [id, other] = [await made('One'), await made('Two')];
      const setStatus = (status: string, ids: readonly number[]) =>
        ask.writeRows(async (db) => {
          await db.from('posts').whereIn('ID', ids).update({ post_status: status });
        });
      await setStatus('trash', [id, other]);
      const list = await anna.get('/admin/venues?status=trash');
      await setStatus('draft', [id]);
      expect((await click(anna, list, `/admin/venues/${id}/delete`)).status).toBe(409);
      expect((await click(anna, list, `/admin/venues/${other}/delete`)).status).toBe(303);
      expect([await statusOf(id), await statusOf(other)]).toEqual(['draft', undefined]);
    });
  },
  { EMPTY_TRASH_DAYS: '0' },
);
