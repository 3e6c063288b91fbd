import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import { loadViewer } from '../src/accounts/viewer.ts';
import { publishDuePosts } from '../src/records/scheduled.ts';
import type { Database } from '../src/storage/engine/database.ts';
import { writeOption } from '../src/storage/rows/options.ts';
import { storedText, toSerialized } from '../src/wordpress/php/serialized.ts';
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
      expect(await publishDuePosts(running.site, loadViewer)).toBe(0);
      expect((await running.send('GET', url)).status).toBe(403);

      now = new Date('2026-11-21T09:00:00Z');
      expect(await publishDuePosts(running.site, loadViewer)).toBe(1);
      expect(await publishDuePosts(running.site, loadViewer)).toBe(0);
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
      expect(await publishDuePosts(running.site, loadViewer)).toBe(0);
      now = new Date('2026-11-21T09:00:00Z');
      expect(await publishDuePosts(running.site, loadViewer)).toBe(1);
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
      expect(await publishDuePosts(running.site, loadViewer)).toBe(1);
      expect((await db.from('posts').where('ID', venue.id).first())?.post_status).toBe('publish');
    } finally {
      await running.close();
    }
  });

  describe('by WordPress', () => {
    /** An event with a draft venue and a draft organizer. */
    const [EVENT, VENUE, ORGANIZER] = [67, 18, 29];
    const DUE = new Date('2026-11-21T09:00:00Z');
    let db: Database;
    let now: Date;
    let close = async () => {};
    const serve = async (shared: 'on' | 'off') => {
      db = await loadSite(await open());
      now = DUE;
      const running = await serveDatabase(db, { env: { SHARED_WITH_WORDPRESS: shared }, clock: () => now });
      close = running.close;
      return running.site;
    };
    afterEach(() => close());

    /** Schedules the event as `_future_post_hook` does. `cronTime`: the time of the entry, in Unix seconds. */
    const schedule = async (cronTime: number, columns: object = {}) => {
      const dates = { post_date: '2026-11-21 10:00:00', post_date_gmt: '2026-11-21 09:00:00' };
      await db
        .from('posts')
        .where('ID', EVENT)
        .update({ post_status: 'future', ...dates, ...columns });
      const job = { schedule: false, args: [EVENT] };
      const key = createHash('md5').update(toSerialized(job.args)).digest('hex');
      const other = { wp_version_check: { '40cd750bba9870f18aada2478b24840a': { schedule: 'twicedaily', args: [], interval: 43200 } } };
      const hooks = { publish_future_post: { [key]: job } };
      await writeOption(db, 'cron', toSerialized({ 1: other, [cronTime]: hooks, version: 2 }), 'on');
    };
    const statuses = async () =>
      (await db.from('posts').whereIn('ID', [VENUE, ORGANIZER, EVENT]).orderBy('ID')).map((row) => row.post_status);

    it('is left to it, until it is ten minutes late', async () => {
      const site = await serve('on');
      await schedule(DUE.getTime() / 1000);
      expect(await publishDuePosts(site, loadViewer)).toBe(0);
      now = new Date('2026-11-21T09:09:59Z');
      expect(await publishDuePosts(site, loadViewer)).toBe(0);
      now = new Date('2026-11-21T09:10:00Z');
      expect(await publishDuePosts(site, loadViewer)).toBe(1);
      expect(await statuses()).toEqual(['publish', 'publish', 'publish']);
    });

    it('is left to it if its schedule cannot be read', async () => {
      const site = await serve('on');
      await schedule(DUE.getTime() / 1000);
      await writeOption(db, 'cron', storedText('a:1:{i:1;O:8:"stdClass":0:{}}'), 'on');
      expect(await publishDuePosts(site, loadViewer)).toBe(0);
      now = new Date('2026-11-21T09:10:00Z');
      expect(await publishDuePosts(site, loadViewer)).toBe(1);
    });

    it('is published at its time if that is now before the one that WordPress knows', async () => {
      const site = await serve('on');
      await schedule(DUE.getTime() / 1000 + 3600);
      expect(await publishDuePosts(site, loadViewer)).toBe(1);
    });

    it('is published at its time once WordPress no longer runs, with the drafts that its author may publish', async () => {
      const site = await serve('off');
      await schedule(DUE.getTime() / 1000);
      expect(await publishDuePosts(site, loadViewer)).toBe(1);
      expect(await statuses()).toEqual(['publish', 'publish', 'publish']);
    });

    it('leaves drafts that its author may not edit', async () => {
      const site = await serve('off');
      await schedule(DUE.getTime() / 1000, { post_author: 3 });
      expect(await publishDuePosts(site, loadViewer)).toBe(1);
      expect(await statuses()).toEqual(['draft', 'draft', 'publish']);
    });
  });
});
