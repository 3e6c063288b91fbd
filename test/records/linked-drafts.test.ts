import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { loadViewer } from '../../src/accounts/viewer.ts';
import { publishDuePosts } from '../../src/records/scheduled.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { describeDatabases } from '../support/databases.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite, resetSite } from '../support/site.ts';

/** A published event with a draft venue and a draft organizer. */
const [EVENT, VENUE, ORGANIZER] = [67, 18, 29];
const EVENTS = '/wp-json/calendar/events/v1/events';

describeDatabases('drafts linked by a published event', (open) => {
  let db: Database;
  let running: RunningSite;
  const statuses = async () => (await db.from('posts').whereIn('ID', [VENUE, ORGANIZER]).orderBy('ID')).map((row) => row.post_status);
  const change = (as: string, body: object) => running.send('PATCH', `${EVENTS}/${EVENT}`, { as, body });
  beforeAll(async () => {
    db = await loadSite(await open());
    running = await serveDatabase(db);
  });
  beforeEach(() => resetSite(db));
  afterAll(() => running.close());

  it('are published with the next change of the event', async () => {
    const { body } = await change('admin', { title: 'Saved again' });
    expect(await statuses()).toEqual(['publish', 'publish']);
    expect([body.venue.status, body.organizer[0].status]).toEqual(['publish', 'publish']);
    const [venue] = await db.from('posts').where('ID', VENUE);
    expect(venue?.post_name).not.toBe('');
    const { body: shown } = await running.send('GET', `${EVENTS}/${EVENT}`);
    expect(shown.venue.id).toBe(VENUE);
  });

  it('remain drafts if nothing changes, the link is removed or the event becomes a draft', async () => {
    await change('admin', {});
    expect(await statuses()).toEqual(['draft', 'draft']);
    await change('admin', { venue: 12, organizer: [] });
    expect(await statuses()).toEqual(['draft', 'draft']);
    await resetSite(db);
    await change('admin', { status: 'draft' });
    expect(await statuses()).toEqual(['draft', 'draft']);
    await change('admin', { status: 'publish' });
    expect(await statuses()).toEqual(['publish', 'publish']);
  });

  it('remain drafts when a new event links to them', async () => {
    const dates = { start_date: '2031-01-01 10:00:00', end_date: '2031-01-01 12:00:00' };
    expect((await running.send('POST', EVENTS, { as: 'admin', body: { title: 'New', ...dates, venue: VENUE } })).status).toBe(201);
    expect(await statuses()).toEqual(['draft', 'draft']);
  });

  it('are never those of somebody else that have the name of a new venue or organizer', async () => {
    const ROOT = '/wp-json/calendar/events/v1';
    const create = async (as: string, path: string, body: object) => {
      const answer = await running.send('POST', `${ROOT}${path}`, { as, body });
      expect(answer.status).toBe(201);
      return answer.body;
    };
    const dates = { start_date: '2031-01-01 10:00:00', end_date: '2031-01-01 12:00:00' };
    for (const [kind, path] of [['venue', '/venues'], ['organizer', '/organizers']] as const) {
      const named = { [kind]: 'Piazza Grande' };
      const linkedBy = async (as: string, status: string) => {
        const { [kind]: linked } = await create(as, '/events', { title: 'Jazz', ...dates, status, [kind]: named });
        return [linked].flat()[0] ?? {};
      };
      const draft = await create('contrib', path, { ...named, website: 'https://evil.example/' });
      expect(draft.status).toBe('draft');
      const shown = await linkedBy('ed', 'publish');
      expect(shown).toMatchObject({ ...named, status: 'publish' });
      expect(shown).not.toHaveProperty('website');
      expect(shown.id).not.toBe(draft.id);
      // The contributor may not edit the published one.
      expect((await linkedBy('contrib', 'draft')).id).toBe(draft.id);
      await running.send('PATCH', `${ROOT}${path}/${draft.id}`, { as: 'ed', body: { author: 2 } });
      expect((await create('ed', path, named)).id).toBe(shown.id);
      expect((await running.send('GET', `${ROOT}${path}/${draft.id}`, { as: 'ed' })).body.status).toBe('draft');
    } // biome-ignore format: a list of kinds
  });

  it('remain drafts if the editor of the event may not edit them', async () => {
    await db.from('posts').where('ID', EVENT).update({ post_author: 3 });
    expect((await change('auth', { title: 'Mine' })).status).toBe(200);
    expect(await statuses()).toEqual(['draft', 'draft']);
  });

  describe('that is scheduled', () => {
    const NOON = '2026-11-21 12:00:00';
    let now = new Date('2026-11-20T10:00:00Z');
    let clocked: RunningSite;
    const send = (as: string, body: object) => clocked.send('PATCH', `${EVENTS}/${EVENT}`, { as, body });
    const notes = () => db.from('postmeta').where('meta_key', 'like', '_fasti_published%').select('post_id', 'meta_value');
    beforeAll(async () => {
      clocked = await serveDatabase(db, { clock: () => now });
    });
    beforeEach(() => {
      now = new Date('2026-11-20T10:00:00Z');
    });
    afterAll(() => clocked.close());
    const noonComes = async () => {
      now = new Date('2026-11-21T11:00:00Z');
      expect(await publishDuePosts(clocked.site, loadViewer)).toBe(1);
    };

    it('are published at the scheduled time if the editor may publish them', async () => {
      expect((await send('admin', { status: 'publish', date: NOON })).body.status).toBe('future');
      expect(await statuses()).toEqual(['draft', 'draft']);
      await noonComes();
      expect([await statuses(), await notes()]).toEqual([['publish', 'publish'], []]);
      const { body } = await clocked.send('GET', `${EVENTS}/${EVENT}`);
      expect([body.venue.id, body.organizer[0].id]).toEqual([VENUE, ORGANIZER]);
      expect((await db.from('posts').where('ID', VENUE).first())?.post_name).not.toBe('');
    });

    it.each(['one by one', 'in a batch'])('are published with a new scheduled event, too (%s)', async (way) => {
      const body = { title: 'New', start_date: '2031-01-01 10:00', end_date: '2031-01-01 12:00', date: NOON, venue: VENUE };
      const requests = [body, { ...body, title: 'Newer', organizer: ORGANIZER }].map((one) => ({
        method: 'POST',
        path: EVENTS.slice(8),
        body: one,
      }));
      if (way === 'in a batch') await clocked.send('POST', '/wp-json/batch/v1', { as: 'admin', body: { requests } });
      else for (const request of requests) await clocked.send('POST', EVENTS, { as: 'admin', body: request.body });
      expect(await statuses()).toEqual(['draft', 'draft']);
      now = new Date('2026-11-21T11:00:00Z');
      expect(await publishDuePosts(clocked.site, loadViewer)).toBe(2);
      expect([await statuses(), await notes()]).toEqual([['publish', 'publish'], []]);
    });

    it('remain drafts if the editor may not publish them or the link is removed', async () => {
      await db.from('posts').where('ID', EVENT).update({ post_author: 3 });
      expect((await send('auth', { status: 'publish', date: NOON })).body.status).toBe('future');
      await noonComes();
      expect(await statuses()).toEqual(['draft', 'draft']);
      await resetSite(db);
      now = new Date('2026-11-20T10:00:00Z');
      await send('admin', { status: 'publish', date: NOON });
      await send('admin', { venue: 12 });
      await noonComes();
      expect([await statuses(), await notes()]).toEqual([['draft', 'publish'], []]);
    });

    it('are published even if another user changes the event meanwhile, but are unmarked if it becomes a draft again', async () => {
      await db.from('posts').where('ID', EVENT).update({ post_author: 3 });
      await send('admin', { status: 'publish', date: NOON });
      expect((await send('auth', { title: 'Mine' })).status).toBe(200);
      await noonComes();
      expect(await statuses()).toEqual(['publish', 'publish']);
      await resetSite(db);
      now = new Date('2026-11-20T10:00:00Z');
      await send('admin', { status: 'publish', date: NOON });
      await send('admin', { status: 'draft' });
      expect(await notes()).toEqual([]);
    });
  });
});
