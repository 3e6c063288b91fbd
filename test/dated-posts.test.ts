import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Database } from '../src/storage/engine/database.ts';
import { describeDatabases } from './support/databases.ts';
import { EXPECTED_DATES } from './support/recurring-site.ts';
import type { RunningSite } from './support/running-site.ts';
import { serveRecurringSite } from './support/served-recurring-site.ts';

/* The old form of recurring events, in which each date is a post. Event 531 is the first date, and 532 the second. */

const NOW = new Date('2030-12-31T12:00:00Z');
const FIRST = EXPECTED_DATES.find(({ post_id: post }) => post === 531)!;
const DAY = FIRST.start_date.slice(0, 10);

describeDatabases('the address of a date that is a post', (open) => {
  let db: Database;
  let running: RunningSite;
  let putBack: () => Promise<void>;
  beforeAll(async () => {
    ({ db, running, putBack } = await serveRecurringSite(await open(), NOW, async (db) => {
      // Another date on the same day, earlier than the first: new dates of a day are numbered as they come.
      const metas = () => db.from('postmeta').where('post_id', 532);
      await metas()
        .where('meta_key', '_EventStartDate')
        .update({ meta_value: `${DAY} 00:30:00` });
      await metas().where('meta_key', '_EventSequence').delete();
      await db.from('postmeta').insert({ post_id: 532, meta_key: '_EventSequence', meta_value: '2' });
    }));
  });
  beforeEach(() => putBack());
  afterAll(() => running.close());

  /** Returns the id of the event at an address of this day, or the status of the answer. */
  const eventAt = async (ending: string): Promise<number> => {
    const { status, text } = await running.send('GET', `/event/${FIRST.slug}/${DAY}/${ending}?ical=1`);
    return status === 200 ? Number(/^UID:(\d+)-/m.exec(text)?.[1]) : status;
  };

  it('is that with its number, whichever begins first', async () => {
    const { body } = await running.send('GET', '/wp-json/tribe/events/v1/events/532');
    expect(body.url).toMatch(new RegExp(`/${DAY}/2/$`));
    expect([await eventAt(''), await eventAt('1/'), await eventAt('2/'), await eventAt('3/')]).toEqual([531, 531, 532, 404]);
  });

  it('remains if the other date of the day is deleted', async () => {
    await db.from('postmeta').where({ post_id: 531, meta_key: '_EventStartDate' }).update({ meta_value: '2031-12-24 18:00:00' });
    expect([await eventAt(''), await eventAt('2/')]).toEqual([532, 532]);
  });

  it.each(['draft', 'trash'])(
    'without a number leads to the published date if the first one of the day is in status %s',
    async (status) => {
      await db.from('postmeta').where({ post_id: 531, meta_key: '_EventSequence' }).delete();
      await db.from('posts').where('ID', 533).update({ post_status: status });
      await db
        .from('postmeta')
        .where({ post_id: 533, meta_key: '_EventStartDate' })
        .update({ meta_value: `${DAY} 00:10:00` });
      expect([await eventAt(''), await eventAt('2/')]).toEqual([531, 532]);
    },
  );
});
