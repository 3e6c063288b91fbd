import { beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { reindexEvents } from '../../src/storage/index/event-index-rebuild.ts';
import { createRecurrenceTables } from '../../src/storage/schema/recurrence-tables.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';
import { loadRecurringSite } from '../support/recurring-site.ts';
import { loadSite, snapshotTables } from '../support/site.ts';
import { commandIn, temporaryFolder } from './command.ts';

const NOW = new Date('2030-12-31T12:00:00Z');
/** Posts that use the old form of recurrence, which has no rows in the tables. */
const OLD_FORM = ['531', '532', '533', '534', '541', '542', '543', '551', '552', '553'];

describeDatabases('fasti doctor on recurring events', (open) => {
  const uploads = temporaryFolder();
  let db: Database;
  let putBack: () => Promise<void>;
  beforeAll(async () => {
    db = await loadRecurringSite(await open());
    await reindexEvents(db, () => NOW, { marksComplete: true });
    putBack = await snapshotTables(db);
  });
  beforeEach(() => putBack());

  const fasti = (...args: string[]) => fastiOn(db, ...args);
  const fastiOn = (of: Database, ...args: string[]) =>
    commandIn({ DATABASE_URL: urlOf(of), UPLOADS_DIR: uploads, LOG_LEVEL: 'silent', SHARED_WITH_WORDPRESS: 'off' }, { now: NOW })(
      'doctor',
      ...args,
    );
  /** Returns the findings about events, except for two of the sample site. */
  const told = async (of = db): Promise<[string, string[]][]> =>
    (JSON.parse((await fastiOn(of, '--format=json')).out).findings as { name: string; examples: string[] }[])
      .filter(({ name }) => /^(event|recurrence|index)-/.test(name))
      .map(({ name, examples }): [string, string[]] => [name, examples])
      .filter(([name]) => name !== 'event-utc-wrong');

  it('accepts valid rules and adds rows for events in the old form', async () => {
    expect(await told()).toEqual([['event-row-missing', OLD_FORM]]);
    const before = await db.from('tec_occurrences').where('has_recurrence', 1).orderBy('occurrence_id');
    expect((await fasti('--fix', '--yes')).code).toBe(0);
    expect(await told()).toEqual([]);
    expect(await db.from('tec_occurrences').where('has_recurrence', 1).orderBy('occurrence_id')).toEqual(before);
    const rows = await db.from('tec_occurrences').whereIn('post_id', OLD_FORM.map(Number)).orderBy('post_id');
    expect(rows.map(({ post_id: post, has_recurrence: flag }) => [String(post), flag])).toEqual(OLD_FORM.map((post) => [post, 0]));
    const recurring = await db.from('postmeta').where({ post_id: 532, meta_key: '_EventRecurrence' });
    expect(recurring).toHaveLength(1);
  });

  /** Changes the stored rules of an event. `changes` alternates texts and their replacements. */
  const rules = async (post: number, ...changes: string[]): Promise<void> => {
    const meta = () => db.from('postmeta').where({ post_id: post, meta_key: '_EventRecurrence' });
    let [{ meta_value: value } = { meta_value: '' }] = await meta();
    for (let place = 0; place < changes.length; place += 2) value = String(value).replace(changes[place]!, changes[place + 1]!);
    await meta().update({ meta_value: value });
  };

  const occurrences = () => db.from('tec_occurrences');
  /** Adds a copy of the row of an event that takes place once. */
  const addRow = async (post: number, changes: object) => {
    const { occurrence_id: _, ...row } = (await occurrences().where('post_id', post).first())!;
    await occurrences().insert({ ...row, ...changes });
  };

  it.each<[string, () => PromiseLike<unknown>, string, boolean]>([
    ['recurrence-dates-differ', () => occurrences().where('occurrence_id', 304).delete(), '501', true],
    [
      'recurrence-dates-differ',
      () => occurrences().where('occurrence_id', 304).update({ start_date_utc: '2031-01-16 08:00:00' }),
      '501',
      true,
    ],
    ['recurrence-flag-wrong', () => occurrences().where('post_id', 503).update({ has_recurrence: 0 }), '503', true],
    ['recurrence-flag-wrong', () => occurrences().where('post_id', 43).update({ has_recurrence: 1 }), '43', true],
    [
      'event-row-surplus',
      () => addRow(43, { start_date: '2028-03-09 10:00:00', start_date_utc: '2028-03-09 09:00:00', hash: 'other' }),
      '43',
      true,
    ],
    ['recurrence-saves-mixed', () => occurrences().where('occurrence_id', 310).update({ sequence: 7 }), '502', false],
    [
      'recurrence-first-differs',
      () => db.from('tec_events').where('post_id', 509).update({ end_date: '2031-06-05 10:30:00' }),
      '509',
      false,
    ],
    ['recurrence-rule-unreadable', () => db.from('tec_events').where('post_id', 504).update({ rset: 'RRULE:FREQ=NEVER' }), '504', false],
    ['recurrence-rules-differ', () => rules(501, '"5"', '"6"'), '501', false],
    ['recurrence-rules-differ', () => rules(502, '2031-01-30', '2031-01-23'), '502', false],
    ['recurrence-rules-differ', () => rules(504, 's:4:"Last"', 's:5:"Third"'), '504', false],
    ['recurrence-rules-differ', () => rules(510, 's:5:"Never"', 's:5:"After";s:9:"end-count";s:1:"9"', 'a:5', 'a:6'), '510', false],
    ['recurrence-series-gone', () => db.from('posts').where('ID', 520).delete(), '1', true],
    ['recurrence-parents-gone', () => db.from('posts').where('ID', 553).update({ post_parent: 9999 }), '553', false],
    [
      'recurrence-many-starts',
      () => db.from('postmeta').insert({ post_id: 513, meta_key: '_EventStartDate', meta_value: '2031-08-02 21:00:00' }),
      '513',
      false,
    ],
  ])('finds %s', async (name, harm, example, fixable) => {
    await fasti('--fix', '--yes');
    await harm();
    const found = (await told()).filter(([one]) => one !== 'index-wrong');
    expect(found.map(([one, examples]) => [one, examples[0]])).toEqual([[name, example]]);
    await fasti('--fix', '--yes');
    expect((await told()).map(([one]) => one)).toEqual(fixable ? [] : [name]);
  });

  it.each([
    ['start_date', 304, '2031-01-16 09:00:00'],
    ['end_date', 305, '2031-01-17 10:00:00'],
  ])('finds rows whose %s is not that of their moment, and keeps their ids', async (column, id, wrong) => {
    await fasti('--fix', '--yes');
    const rows = () => occurrences().where('post_id', 501).orderBy('occurrence_id').select('occurrence_id', 'start_date', 'end_date');
    const before = await rows();
    await occurrences()
      .where('occurrence_id', id)
      .update({ [column]: wrong });
    expect((await told()).filter(([name]) => name !== 'index-wrong')).toEqual([['recurrence-dates-differ', ['501']]]);
    await fasti('--fix', '--yes');
    expect([await told(), await rows()]).toEqual([[], before]);
  });

  it('does not take an event with two identical rows for a recurring one', async () => {
    await fasti('--fix', '--yes');
    const rows = () => occurrences().where('post_id', 43).select('occurrence_id', 'start_date', 'has_recurrence');
    const before = await rows();
    await addRow(43, { hash: 'copy' });
    expect(await told()).toContainEqual(['event-row-twice', ['43']]);
    await fasti('--fix', '--yes');
    expect([await told(), await rows()]).toEqual([[], before]);
  });

  it('reports post IDs that come close to the public IDs', async () => {
    await fasti('--fix', '--yes');
    const [{ highest } = { highest: 0 }] = await db.rows<{ highest: number }>`SELECT MAX(ID) AS highest FROM {posts}`;
    const baseIs = async (value: number) => {
      const option = {
        option_name: 'tec_custom_tables_v1_provisional_post_base_provisional_id',
        option_value: String(value),
        autoload: 'yes',
      };
      await db.from('options').where('option_name', option.option_name).delete();
      await db.from('options').insert(option);
    };
    await baseIs(Number(highest) + 50_001);
    expect((await told()).map(([name]) => name)).not.toContain('recurrence-base-near');
    await baseIs(Number(highest) + 50_000);
    expect(await told()).toContainEqual(['recurrence-base-near', [`${highest} / ${Number(highest) + 50_000}`]]);
    await fasti('--fix', '--yes');
    expect((await told()).map(([name]) => name)).not.toContain('recurrence-base-near');
  });

  it('reports options about recurring events if the tables lack the columns', async () => {
    const bare = await loadSite(await open());
    expect((await told(bare)).map(([name]) => name)).not.toContain('recurrence-columns-missing');
    const trace = { option_name: 'tec_ct1_series_relationship_table_schema_version', option_value: '1.0.0', autoload: 'yes' };
    await bare.from('options').insert(trace);
    expect((await told(bare)).map(([name]) => name)).toContain('recurrence-columns-missing');
    await createRecurrenceTables(bare);
    expect((await told(bare)).map(([name]) => name)).not.toContain('recurrence-columns-missing');
  });

  it('reports endless rules that get no further dates', async () => {
    const laterOn = (shared: string) =>
      commandIn(
        { DATABASE_URL: urlOf(db), UPLOADS_DIR: uploads, LOG_LEVEL: 'silent', SHARED_WITH_WORDPRESS: shared },
        { now: new Date('2031-03-20T12:00:00Z') },
      );
    const later = laterOn('off');
    const { findings } = JSON.parse((await later('doctor', '--format=json')).out);
    expect(findings).toContainEqual(expect.objectContaining({ name: 'recurrence-runs-out-here', examples: ['510'] }));
    const { out } = await later('doctor');
    expect(out).toContain('    Run the server: fasti serve.');
    expect(out).not.toContain('WordPress with the paid extension');
    const beside = await laterOn('on')('doctor', '--format=json');
    expect(JSON.parse(beside.out).findings).toContainEqual(expect.objectContaining({ name: 'recurrence-runs-out', examples: ['510'] }));
  });

  it('does not change an event that has a rule but no meta for it', async () => {
    await db.from('postmeta').where({ post_id: 502, meta_key: '_EventRecurrence' }).delete();
    await db.from('postmeta').where({ post_id: 502, meta_key: '_EventStartDateUTC' }).update({ meta_value: '2031-01-14 16:30:00' });
    const before = await occurrences().where('post_id', 502).orderBy('occurrence_id');
    await fasti('--fix', '--yes');
    expect(await occurrences().where('post_id', 502).orderBy('occurrence_id')).toEqual(before);
  });
});
