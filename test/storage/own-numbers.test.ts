import { beforeEach, expect, it } from '@jest/globals';
import { type EventDates, eventDates } from '../../src/calendar/dates.ts';
import { addPrimaryKey, inspectDatabase, missingKeys, missingPrimaryKeys } from '../../src/storage/audit/audit.ts';
import { ORPHANS } from '../../src/storage/audit/orphans.ts';
import { ROW_FAULTS } from '../../src/storage/audit/post-faults.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { insertRows } from '../../src/storage/engine/insert.ts';
import { reportPostChanged } from '../../src/storage/journal/reported-changes.ts';
import { writeOccurrence } from '../../src/storage/rows/occurrences.ts';
import { insertPost, removeCommentsOf, writeMetas } from '../../src/storage/rows/posts.ts';
import { lockUser, writeUserMeta } from '../../src/storage/rows/users.ts';
import { type StoredValue, storedText } from '../../src/wordpress/php/serialized.ts';
import { parseZone } from '../../src/wordpress/zones.ts';
import { describeDatabases, runScript } from '../support/databases.ts';
import { loadSite } from '../support/site.ts';

/*
 * A table that has lost its primary key gives each new row the number 0. A statement that names a row by its number
 * alone would then change the rows of all records.
 */

const TABLES = { postmeta: 'meta_id', usermeta: 'umeta_id', tec_events: 'event_id', tec_occurrences: 'occurrence_id' } as const;

async function loseKey(db: Database, name: string, number: string): Promise<void> {
  const table = db.prefix + name;
  await runScript(
    db,
    db.dialect.name === 'mysql'
      ? `ALTER TABLE ${table} MODIFY ${number} bigint unsigned NOT NULL DEFAULT 0, DROP PRIMARY KEY; UPDATE ${table} SET ${number} = 0`
      : `CREATE TABLE copy AS SELECT * FROM ${table}; DROP TABLE ${table}; ALTER TABLE copy RENAME TO ${table}; UPDATE ${table} SET ${number} = 0`,
  );
}

describeDatabases('tables without primary keys', (open, engine) => {
  let db: Database;
  const rowsOf = async (name: keyof typeof TABLES): Promise<string[]> =>
    (await db.ask<object>(`SELECT * FROM ${db.prefix}${name}`)).map((row) => JSON.stringify(Object.values(row).slice(1))).sort();
  /** The rows of each table that `work` removes and adds. */
  const changesOf = async (name: keyof typeof TABLES, work: (trx: Database) => Promise<unknown>) => {
    const before = await rowsOf(name);
    await db.transaction(work);
    const after = await rowsOf(name);
    return {
      removed: before.filter((row) => !after.includes(row)),
      added: after.filter((row) => !before.includes(row)),
      count: after.length - before.length,
    };
  };
  beforeEach(async () => {
    db = await loadSite(await open());
    for (const [name, number] of Object.entries(TABLES)) await loseKey(db, name, number);
  });

  it.each(Object.entries(TABLES))('refuse a transaction that changes %s by %s alone', async (name, number) => {
    const table = `${db.prefix}${name}`;
    const conditions = ['IN (1, 2)', 'NOT IN (1, 2)', '= 1', '!= 1', '> 1', 'BETWEEN 1 AND 2'];
    const refused = conditions.map((condition) => `DELETE FROM \`${table}\` WHERE \`${number}\` ${condition}`);
    for (const sql of [...refused, `UPDATE \`${table}\` SET ${number} = 1 WHERE ${number} = 1`])
      await expect(db.transaction((trx) => trx.ask(sql))).rejects.toThrow('must name its record beside its number');
  });

  it('keep the metas of other records and of other keys', async () => {
    const single = await changesOf('postmeta', (trx) => writeMetas(trx, 44, { _EventURL: [storedText('https://one.example/')] }));
    expect([single.added, single.removed.length, single.count]).toEqual([
      [JSON.stringify([44, '_EventURL', 'https://one.example/'])],
      1,
      0,
    ]);
    await db.transaction((trx) => writeMetas(trx, 44, { several: ['1', '2', '3'].map(storedText), kept: [storedText('4')] }));
    await runScript(db, `UPDATE ${db.prefix}postmeta SET meta_id = 0`);
    const several = await changesOf('postmeta', (trx) =>
      writeMetas(trx, 44, { several: ['1', '2'].map(storedText), kept: [storedText('4')] }),
    );
    expect(several).toEqual({ added: [], removed: [JSON.stringify([44, 'several', '3'])], count: -1 });
  });

  it('keep the metas of other users', async () => {
    const write = async (trx: Database, value: StoredValue | undefined) => {
      await lockUser(trx, 1);
      await writeUserMeta(trx, 1, 'session_tokens', value);
    };
    const written = await changesOf('usermeta', (trx) => write(trx, storedText('new')));
    expect([written.added, written.removed]).toEqual([[JSON.stringify([1, 'session_tokens', 'new'])], []]);
    await runScript(db, `UPDATE ${db.prefix}usermeta SET umeta_id = 0`);
    const removed = await changesOf('usermeta', (trx) => write(trx, undefined));
    expect(removed).toEqual({ added: [], removed: [JSON.stringify([1, 'session_tokens', 'new'])], count: -1 });
  });

  it('keep the dates of other events', async () => {
    const now = new Date('2026-11-21T09:00:00Z');
    const sent = { start: '2027-01-05 10:00:00', end: '2027-01-05 11:00:00', timezone: 'Europe/Rome', allDay: false };
    const dates = eventDates(sent, undefined, { siteZone: 'Europe/Rome', cutoff: '00:00', now }) as EventDates;
    for (const name of ['tec_events', 'tec_occurrences'] as const) {
      const startsOf = (condition: string) =>
        db.ask(`SELECT post_id, start_date FROM ${db.prefix}${name} WHERE post_id ${condition} ORDER BY post_id, start_date`);
      const others = await startsOf('<> 44');
      expect(others.length).toBeGreaterThan(1);
      for (let writes = 0; writes < 2; writes += 1) {
        await db.transaction((trx) => writeOccurrence(trx, 44, dates, { updatedAt: '2026-11-21 09:00:00', recurrence: undefined }));
        expect(await startsOf('<> 44')).toEqual(others);
        expect(await startsOf('= 44')).toEqual([{ post_id: 44, start_date: '2027-01-05 10:00:00' }]);
        await runScript(db, `UPDATE ${db.prefix}${name} SET ${TABLES[name]} = 0`);
      }
    }
  });

  it('keep the metas of comments on other posts, but not those of deleted comments', async () => {
    await loseKey(db, 'comments', 'comment_ID');
    const comment = (number: number, post: number) => `(${number}, ${post}, '', '')`;
    await runScript(
      db,
      `INSERT INTO wp_comments (comment_ID, comment_post_ID, comment_author, comment_content)
        VALUES ${[comment(0, 44), comment(0, 45), comment(7, 44)].join()};
      INSERT INTO wp_commentmeta (comment_id, meta_key, meta_value) VALUES (0, 'shared', '1'), (7, 'own', '2')`,
    );
    await db.transaction((trx) => removeCommentsOf(trx, [44]));
    expect(await db.from('comments').whereIn('comment_post_ID', [44, 45]).pluck('comment_post_ID')).toEqual([45]);
    expect(await db.from('commentmeta').whereIn('meta_key', ['shared', 'own']).pluck('meta_key')).toEqual(['shared']);
  });

  it('keep the rows of living records when orphans and repetitions are deleted', async () => {
    const meta = (post_id: number, meta_key: string, meta_value: string) => ({
      meta_id: 0,
      post_id,
      meta_key,
      meta_value: storedText(meta_value),
    });
    await insertRows(db, 'postmeta', [
      meta(99_999, 'lost', 'x'),
      meta(44, '_EventOrganizerID', '99998'),
      meta(44, '_EventVenueID', '12'),
      meta(44, '_EventVenueID', '12'),
      meta(44, '_thumbnail_id', '99997'),
      meta(44, '_EventURL', 'https://same.example/'),
      meta(44, '_EventURL', 'https://same.example/'),
    ]);
    const { removed, added } = await changesOf('postmeta', async (trx) => {
      reportPostChanged(trx, 44);
      for (const { fix } of ORPHANS) await fix(trx);
      for (const { name, fix } of ROW_FAULTS) if (name.endsWith('-twice')) await fix?.(trx, { zone: parseZone('UTC')!, now: new Date(0) });
    });
    expect(added).toEqual([]);
    expect(removed).toEqual([
      JSON.stringify([44, '_EventOrganizerID', '99998']),
      JSON.stringify([44, '_thumbnail_id', '99997']),
      JSON.stringify([99_999, 'lost', 'x']),
    ]);
  });

  it('are found, and get their keys and new numbers where no record is known by the number', async () => {
    const missing = async () => missingPrimaryKeys(db, await inspectDatabase(db));
    expect((await missing()).map(({ table, columns }) => `${table} ${columns.join()}`).sort()).toEqual(
      Object.entries(TABLES)
        .map(([name, number]) => `${db.prefix}${name} ${number}`)
        .sort(),
    );
    if (engine === 'SQLite') {
      expect((await missing()).filter(({ statement }) => statement !== undefined)).toEqual([]);
      expect(missingKeys(db, await inspectDatabase(db)).map(({ table }) => table)).toContain('wp_postmeta');
      return;
    }
    for (const key of await missing()) {
      if (key.table === 'wp_tec_events') await expect(addPrimaryKey(db, key)).rejects.toThrow('wp_tec_events has rows whose event_id is 0');
      else await addPrimaryKey(db, key);
    }
    expect((await missing()).map(({ table }) => table)).toEqual(['wp_tec_events']);
    const numbers = await db.from('postmeta').pluck('meta_id');
    expect([new Set(numbers).size, numbers.includes(0)]).toEqual([numbers.length, false]);
    await runScript(db, 'ALTER TABLE wp_postmeta MODIFY meta_id bigint unsigned NOT NULL');
    expect((await missing()).map(({ table }) => table).sort()).toEqual(['wp_postmeta', 'wp_tec_events']);
    for (const key of await missing()) if (key.table === 'wp_postmeta') await addPrimaryKey(db, key);
    expect((await missing()).map(({ table }) => table)).toEqual(['wp_tec_events']);
  });

  if (engine === 'MySQL')
    it('get no record with the number 0', async () => {
      await runScript(db, 'ALTER TABLE wp_posts MODIFY ID bigint unsigned NOT NULL DEFAULT 0, DROP PRIMARY KEY');
      const create = db.transaction((trx) => insertPost(trx, { post_title: 'No number', post_type: 'tribe_events' }));
      await expect(create).rejects.toThrow('wp_posts does not number its rows');
      expect(await db.from('posts').where('ID', 0)).toEqual([]);
    });

  it('do not include views', async () => {
    await runScript(db, `ALTER TABLE wp_users RENAME TO shared_users; CREATE VIEW wp_users AS SELECT * FROM shared_users`);
    const inspection = await inspectDatabase(db);
    expect([...missingKeys(db, inspection), ...missingPrimaryKeys(db, inspection)].map(({ table }) => table)).not.toContain('wp_users');
  });
});
