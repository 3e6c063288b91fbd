import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { reindexEvents } from '../../src/storage/index/event-index-rebuild.ts';
import { noteChange, reportEverything } from '../../src/storage/journal/reported-changes.ts';
import { lockPost } from '../../src/storage/rows/posts.ts';
import { orphanFindings, rowFindings } from '../../src/upkeep/doctor/content-findings.ts';
import { dateFindings, recurrenceFindings } from '../../src/upkeep/doctor/event-findings.ts';
import { describeDatabases } from '../support/databases.ts';
import { loadRecurringSite } from '../support/recurring-site.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { snapshotTables } from '../support/site.ts';
import { until } from '../support/until.mjs';

const NOW = new Date('2030-12-31T12:00:00Z');
const ADDED = 'RDATE;TZID=Europe/Rome;VALUE=PERIOD:20310124T100000/20310124T110000';

describeDatabases('a repair by fasti doctor', (open, engine) => {
  let db: Database;
  let running: RunningSite;
  let putBack: () => Promise<void>;
  beforeAll(async () => {
    db = await loadRecurringSite(await open());
    await reindexEvents(db, () => NOW, { marksComplete: true });
    running = await serveDatabase(db, { clock: () => NOW, env: { SHARED_WITH_WORDPRESS: 'off' } });
    putBack = await snapshotTables(db);
  });
  beforeEach(() => putBack());
  afterAll(() => running.close());

  /**
   * Whether a transaction of this database waits for another one. The server shows what it knew at the last question if
   * that was less than a tenth of a second ago.
   */
  const waits = async (): Promise<boolean> =>
    (
      await db.ask<object>(`SELECT t.trx_id FROM information_schema.innodb_trx t
        JOIN information_schema.processlist p ON p.ID = t.trx_mysql_thread_id WHERE p.DB = DATABASE() AND t.trx_state = 'LOCK WAIT'`)
    ).length > 0;

  /** Makes the repair of a finding while another transaction, which has locked the post, is not finished. */
  async function repairBeside(find: typeof dateFindings, name: string, post: number, write: (trx: Database) => Promise<unknown>) {
    const repair = (await find(running.site)).find((finding) => finding.name === name)?.fix;
    if (!repair) throw new Error(`no repair of ${name}`);
    let repairing = Promise.resolve();
    await db.transaction(async (trx) => {
      await lockPost(trx, post);
      await write(trx);
      reportEverything(trx);
      noteChange(trx, { now: NOW });
      repairing = repair();
      // SQLite has one writer, so the repair does not even begin.
      if (engine === 'MySQL') await until('a repair that waits', waits, { pollMs: 200 });
    });
    await repairing;
  }

  const meta = (of: Database, post: number, key: string) => of.from('postmeta').where({ post_id: post, meta_key: key });
  const setMeta = (of: Database, post: number, key: string, value: string) => meta(of, post, key).update({ meta_value: value });
  const metaValue = async (post: number, key: string) => (await meta(db, post, key).select('meta_value'))[0]?.meta_value;

  it('keeps a date that is added to a recurring event at the same moment', async () => {
    await db.from('tec_occurrences').where('occurrence_id', 308).delete();
    await repairBeside(recurrenceFindings, 'recurrence-dates-differ', 502, async (trx) => {
      const { occurrence_id: _, ...row } = (await trx.from('tec_occurrences').where('post_id', 502).first())!;
      await trx.from('tec_occurrences').insert({
        ...row,
        start_date: '2031-01-24 10:00:00',
        end_date: '2031-01-24 11:00:00',
        start_date_utc: '2031-01-24 09:00:00',
        end_date_utc: '2031-01-24 10:00:00',
        duration: 3600,
        hash: 'added',
        is_rdate: 1,
      });
      const { rset } = (await trx.from('tec_events').where('post_id', 502).first())!;
      await trx
        .from('tec_events')
        .where('post_id', 502)
        .update({ rset: `${rset}\n${ADDED}` });
    });
    expect((await db.from('tec_events').where('post_id', 502).first())?.rset).toContain(ADDED);
    expect(await db.from('tec_occurrences').where({ post_id: 502, start_date: '2031-01-24 10:00:00' })).toHaveLength(1);
    expect((await recurrenceFindings(running.site)).map(({ name }) => name)).not.toContain('recurrence-dates-differ');
  });

  it('keeps the dates that an event gets at the same moment', async () => {
    await setMeta(db, 43, '_EventStartDateUTC', '2028-01-01 00:00:00');
    await repairBeside(dateFindings, 'event-utc-wrong', 43, async (trx) => {
      await setMeta(trx, 43, '_EventStartDate', '2028-05-04 10:00:00');
      await setMeta(trx, 43, '_EventStartDateUTC', '2028-05-04 08:00:00');
      await setMeta(trx, 43, '_EventEndDate', '2028-05-04 12:00:00');
      await setMeta(trx, 43, '_EventEndDateUTC', '2028-05-04 10:00:00');
    });
    expect([await metaValue(43, '_EventStartDate'), await metaValue(43, '_EventStartDateUTC')]).toEqual([
      '2028-05-04 10:00:00',
      '2028-05-04 08:00:00',
    ]);
  });

  it('keeps the slug that a record gets at the same moment', async () => {
    await db.from('posts').where('ID', 43).update({ post_name: '' });
    await repairBeside(rowFindings, 'slugs-empty', 43, (trx) => trx.from('posts').where('ID', 43).update({ post_name: 'chosen' }));
    expect((await db.from('posts').where('ID', 43).first())?.post_name).toBe('chosen');
  });

  it('keeps a link that leads to a record since the same moment', async () => {
    const { ID: venue } = (await db.from('posts').where({ post_type: 'tribe_venue', post_status: 'publish' }).first())!;
    await meta(db, 43, '_EventVenueID').delete();
    await db.from('postmeta').insert({ post_id: 43, meta_key: '_EventVenueID', meta_value: '999999' });
    await repairBeside(orphanFindings, 'links-to-nothing', 43, (trx) => setMeta(trx, 43, '_EventVenueID', String(venue)));
    expect(await metaValue(43, '_EventVenueID')).toBe(String(venue));
  });
});
