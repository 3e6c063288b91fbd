import { expect, it } from '@jest/globals';
import { publishDuePosts } from '../src/records/scheduled.ts';
import { describeDatabases } from './support/databases.ts';
import { serveDatabase } from './support/running-site.ts';
import { loadSite } from './support/site.ts';

describeDatabases('a scheduled record', (open) => {
  it('is published and counted at its time, and not before', async () => {
    const db = await loadSite(await open());
    let now = new Date('2026-11-20T10:00:00Z');
    const running = await serveDatabase(db, { clock: () => now });
    try {
      const made = await running.send('POST', '/wp-json/calendar/events/v1/events', {
        as: 'admin',
        body: {
          title: 'Soon',
          start_date: '2030-12-01 10:00',
          end_date: '2030-12-01 12:00',
          date: '2026-11-21 10:00:00',
          categories: ['jazz'],
        },
      });
      expect(made.body.status).toBe('future');
      const url = `/wp-json/calendar/events/v1/events/${made.body.id}`;
      const jazz = async () => (await db.from('term_taxonomy').where('term_id', 4).select('count').first())?.count;
      const before = await jazz();
      expect(await publishDuePosts(running.site)).toBe(0);
      expect((await running.send('GET', url)).status).toBe(403);

      now = new Date('2026-11-21T09:00:00Z');
      expect(await publishDuePosts(running.site)).toBe(1);
      expect(await publishDuePosts(running.site)).toBe(0);
      const { body } = await running.send('GET', url);
      expect([body.status, body.date, body.modified]).toEqual(['publish', made.body.date, made.body.modified]);
      expect(await jazz()).toBe(Number(before) + 1);
    } finally {
      await running.close();
    }
  });

  it('is published at its local time if a program left out the date in UTC, and not before', async () => {
    const db = await loadSite(await open());
    let now = new Date('2026-11-20T10:00:00Z');
    const running = await serveDatabase(db, { clock: () => now });
    try {
      const future = { post_status: 'future', post_date_gmt: '0000-00-00 00:00:00' };
      await db
        .from('posts')
        .where('ID', 38)
        .update({ ...future, post_date: '2026-11-21 10:00:00' });
      await db
        .from('posts')
        .where('ID', 39)
        .update({ ...future, post_date: '0000-00-00 00:00:00' });
      now = new Date('2026-11-21T08:59:00Z');
      expect(await publishDuePosts(running.site)).toBe(0);
      now = new Date('2026-11-21T09:00:00Z');
      expect(await publishDuePosts(running.site)).toBe(1);
      const statuses = await db.from('posts').whereIn('ID', [38, 39]).orderBy('ID').select('post_status');
      expect(statuses.map(({ post_status: status }) => status)).toEqual(['publish', 'future']);
    } finally {
      await running.close();
    }
  });

  it('is published with its drafts although its author no longer exists', async () => {
    const db = await loadSite(await open());
    let now = new Date('2026-11-20T10:00:00Z');
    const running = await serveDatabase(db, { clock: () => now });
    try {
      const { body: venue } = await running.send('POST', '/wp-json/calendar/events/v1/venues', {
        as: 'admin',
        body: { venue: 'Hall to come', status: 'draft' },
      });
      const { body } = await running.send('POST', '/wp-json/calendar/events/v1/events', {
        as: 'admin',
        body: { title: 'Soon', start_date: '2030-12-01 10:00', end_date: '2030-12-01 12:00', date: '2026-11-21 10:00:00', venue: venue.id },
      });
      await db.from('posts').whereIn('ID', [body.id, venue.id]).update({ post_author: 999 });
      now = new Date('2026-11-21T09:00:00Z');
      expect(await publishDuePosts(running.site)).toBe(1);
      expect((await db.from('posts').where('ID', venue.id).first())?.post_status).toBe('publish');
    } finally {
      await running.close();
    }
  });
});
