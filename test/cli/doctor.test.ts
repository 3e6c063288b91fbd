import { chmodSync, mkdirSync, mkdtempSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type EventDates, eventDates } from '../../src/calendar/dates.ts';
import { runCli } from '../../src/cli/program.ts';
import { copySqlite } from '../../src/storage/audit/snapshot.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { takeOverChanges } from '../../src/storage/freshness/foreign-changes.ts';
import { reindexEvents } from '../../src/storage/index/event-index-rebuild.ts';
import { ANYTHING_CHANGED, appendChanges } from '../../src/storage/journal/entries.ts';
import { pendingMigrations } from '../../src/storage/schema/migrate.ts';
import { loadTexts } from '../../src/texts.ts';
import { isBrokenArray, repairArray } from '../../src/wordpress/php/serialized-repair.ts';
import { openProxy, urlThrough } from '../support/database-proxy.ts';
import { describeDatabases, runScript, urlOf } from '../support/databases.ts';
import { asReader, asWriter } from '../support/read-only-user.ts';
import { loadSite, snapshotTables } from '../support/site.ts';
import { commandIn } from './command.ts';

const ZERO = '0000-00-00 00:00:00';
const NOW = new Date('2026-11-21T09:00:00Z');

interface Told {
  readonly name: string;
  readonly severity: string;
  readonly count: number;
  readonly examples: string[];
  readonly fixable: boolean;
}

describeDatabases('fasti doctor', (open, engine) => {
  const uploads = mkdtempSync(join(tmpdir(), 'fasti-doctor-'));
  let db: Database;
  let putBack: () => Promise<void>;
  beforeAll(async () => {
    db = await open();
    mkdirSync(join(uploads, '2026/11'), { recursive: true });
    for (const file of ['tiny.png', 'wide.jpg']) writeFileSync(join(uploads, '2026/11', file), '');
    await loadSite(db);
    await reindexEvents(db, () => NOW, { marksComplete: true });
    await db.from('postmeta').where('meta_key', '_wp_attached_file').where('post_id', 11).update({ meta_value: '2026/11/wide.jpg' });
    putBack = await snapshotTables(db);
  });
  beforeEach(() => putBack());

  const fasti = async (
    args: readonly string[],
    { answers, env = {}, isTerminal = false }: { answers?: boolean[]; env?: Record<string, string>; isTerminal?: boolean } = {},
  ) => {
    const [out, err, asked]: [string[], string[], string[]] = [[], [], []];
    const code = await runCli(['doctor', ...args], {
      env: { DATABASE_URL: urlOf(db), UPLOADS_DIR: uploads, LOG_LEVEL: 'silent', SHARED_WITH_WORDPRESS: 'off', ...env },
      isTerminal,
      out: (text) => out.push(text),
      err: (text) => err.push(text),
      serve: async () => {},
      clock: () => NOW,
      ...(answers
        ? {
            confirm: async (question: string) => {
              asked.push(question);
              return answers.shift() ?? false;
            },
          }
        : {}),
    });
    return { code, out: out.join(''), err: err.join(''), asked };
  };
  const found = async (): Promise<Told[]> => JSON.parse((await fasti(['--format=json'])).out).findings;
  /**
   * Returns the findings other than those that the sample site always has: events with offsets that the reference
   * misread.
   */
  const told = async () => (await found()).filter(({ name, examples }) => !(name === 'event-utc-wrong' && examples.join() === '50,51'));

  it('finds nothing in the sample site except for its known findings', async () => {
    expect((await found()).map(({ name, count, examples }) => [name, count, examples])).toEqual([['event-utc-wrong', 2, ['50', '51']]]);
    const { code, out } = await fasti(['--fix', '--yes']);
    expect(out).toMatch(/^fasti \d+\.\d+\.\d+, Node 2\d\.\S+, (SQLite|MariaDB|MySQL) \S+, time zones 20\d\d\w\n/);
    expect([code, out.endsWith('Afterwards:\nNo problems found.\n')]).toEqual([0, true]);
    expect((await db.from('tec_occurrences').where('post_id', 51).first())?.start_date_utc).not.toBe(
      (await db.from('tec_occurrences').where('post_id', 51).first())?.start_date,
    );
  });

  it('finds files and folders that all users can read, and restricts their permissions', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fasti-backups-'));
    const backup = join(folder, 'old.backup');
    writeFileSync(backup, '');
    const database = engine === 'SQLite' ? [urlOf(db).slice('sqlite:'.length)] : [];
    const opened = [...database, backup];
    for (const file of opened) chmodSync(file, 0o644);
    chmodSync(folder, 0o755);
    const env = { BACKUPS_DIR: folder };
    const told = async () =>
      (JSON.parse((await fasti(['--format=json'], { env })).out).findings as Told[]).filter(({ name }) => name === 'readable-by-all');
    const [first] = await told();
    expect(first).toMatchObject({ severity: 'warning', fixable: true });
    expect(first!.examples.filter((path) => !/-(wal|shm)$/.test(path))).toEqual([...opened, folder]);
    await fasti(['--fix', '--yes'], { env });
    expect(await told()).toEqual([]);
    expect([...opened, folder].map((path) => statSync(path).mode & 0o777)).toEqual([...opened.map(() => 0o600), 0o700]);
    // A folder that also contains other files may have to be open to others.
    writeFileSync(join(folder, 'other'), '');
    chmodSync(folder, 0o755);
    expect(await told()).toEqual([]);
  });

  it('finds backups and databases in the uploads folder', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fasti-everything-'));
    const backup = join(folder, 'old.backup');
    writeFileSync(backup, '', { mode: 0o600 });
    const found = async (env: Record<string, string>) =>
      (JSON.parse((await fasti(['--format=json'], { env })).out).findings as Told[]).filter(({ name }) => name === 'among-uploads');
    expect(await found({ BACKUPS_DIR: folder })).toEqual([]);
    expect(await found({ UPLOADS_DIR: folder })).toMatchObject([{ examples: [backup] }]);
    expect(await found({ BACKUPS_DIR: folder, UPLOADS_DIR: folder })).toMatchObject([
      { severity: 'warning', fixable: false, examples: [backup] },
    ]);
    if (engine !== 'SQLite') return;
    const database = urlOf(db).slice('sqlite:'.length);
    expect(await found({ UPLOADS_DIR: dirname(database) })).toMatchObject([{ examples: [database] }]);
  });

  it('notes keys that may have been cut', async () => {
    const whole = 'k'.repeat(64);
    const env = { LOGGED_IN_KEY: whole, LOGGED_IN_SALT: 'k', NONCE_KEY: whole, NONCE_SALT: 'k'.repeat(63) };
    const { findings } = JSON.parse((await fasti(['--format=json'], { env })).out) as { findings: Told[] };
    expect(findings.filter(({ name }) => name === 'keys-short')).toMatchObject([
      { severity: 'note', examples: ['LOGGED_IN_SALT', 'NONCE_SALT'], fixable: false },
    ]);
  });

  it('finds a backups folder that cannot be used', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fasti-backups-'));
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const found = async (backups: string) =>
      (
        JSON.parse((await fasti(['--format=json'], { env: { BACKUPS_DIR: backups, UPLOADS_DIR: join(folder, 'uploads') } })).out)
          .findings as Told[]
      )
        .filter(({ name }) => name === 'backups-refused')
        .flatMap(({ examples }) => examples);
    const [below, among] = [join(file, 'below'), join(folder, 'uploads', 'backups')];
    expect(await found(join(folder, 'backups'))).toEqual([]);
    expect([await found(below), await found(among)]).toEqual([[below], [among]]);
    mkdirSync(join(folder, 'real'));
    symlinkSync('real', join(folder, 'uploads'));
    const elsewhere = join(folder, 'real', 'backups');
    expect([await found(elsewhere), await found(among)]).toEqual([[elsewhere], [among]]);
  });

  const meta = (post_id: number, meta_key: string, meta_value: string) => db.from('postmeta').insert({ post_id, meta_key, meta_value });
  const first = async (post_id: number, meta_key: string) =>
    (await db.from('postmeta').where({ post_id, meta_key }).orderBy('meta_id').first())?.meta_value;
  const below = async (table: 'posts' | 'term_taxonomy', id: string, ...pairs: [child: number, parent: number][]) => {
    for (const [child, parent] of pairs)
      await db
        .from(table)
        .where(id, child)
        .update({ [table === 'posts' ? 'post_parent' : 'parent']: parent });
  };
  const comment = (comment_post_ID: number) =>
    db.from('comments').insert({ comment_post_ID, comment_content: 'x', comment_author: 'x', comment_date: ZERO, comment_date_gmt: ZERO });
  const twin = async (post_id: number) => {
    const { occurrence_id: _id, ...row } = (await db.from('tec_occurrences').where({ post_id }).first())!;
    await db.from('tec_occurrences').insert({ ...row, hash: 'another' });
  };
  /** Adds another occurrence row a month later, with an ID after or before that of the correct row. */
  const another = async (post_id: number, place: 'after' | 'before' = 'after') => {
    const { occurrence_id: id, ...row } = (await db.from('tec_occurrences').where({ post_id }).first())!;
    const times = { start_date: '2027-08-01 20:00:00', start_date_utc: '2027-08-01 18:00:00' };
    const ends = { end_date: '2027-08-01 22:00:00', end_date_utc: '2027-08-01 20:00:00' };
    if (place === 'after') await db.from('tec_occurrences').insert({ ...row, ...times, ...ends, hash: 'another' });
    else {
      await db
        .from('tec_occurrences')
        .where('occurrence_id', id)
        .update({ ...times, ...ends, hash: 'another' });
      await db.from('tec_occurrences').insert(row);
    }
  };
  const term = (term_id: number, columns: Readonly<Record<string, string>>) => db.from('terms').where({ term_id }).update(columns);
  const set = (post_id: number, meta_key: string, meta_value: string) =>
    db.from('postmeta').where({ post_id, meta_key }).update({ meta_value });
  it.each<[string, string, () => PromiseLike<unknown>, string[]]>([
    ['metas-without-post', 'warning', () => meta(9999, 'x', 'y'), ['9999 x']],
    [
      'links-without-post',
      'warning',
      () => db.from('term_relationships').insert({ object_id: 9999, term_taxonomy_id: 5, term_order: 0 }),
      ['9999 - 5'],
    ],
    [
      'links-without-term',
      'warning',
      () => db.from('term_relationships').insert({ object_id: 39, term_taxonomy_id: 999, term_order: 0 }),
      ['39 - 999'],
    ],
    [
      'taxonomies-without-term',
      'warning',
      () => db.from('term_taxonomy').insert({ term_id: 998, taxonomy: 'post_tag', description: '', parent: 0, count: 0 }),
      ['post_tag 998'],
    ],
    ['links-to-nothing', 'warning', () => meta(39, '_EventVenueID', '9999'), ['39 _EventVenueID 9999']],
    ['links-to-nothing', 'warning', () => meta(39, '_EventOrganizerID', '12'), ['39 _EventOrganizerID 12']],
    ['images-gone', 'warning', () => meta(39, '_thumbnail_id', '9999'), ['39 - 9999']],
    ['comments-without-post', 'warning', () => comment(9999), [expect.stringMatching(/^\d+ - 9999$/) as unknown as string]],
    [
      'comment-metas-without-comment',
      'warning',
      () => db.from('commentmeta').insert({ comment_id: 9998, meta_key: 'x', meta_value: 'y' }),
      ['9998 x'],
    ],
    ['attachments-of-nothing', 'warning', () => db.from('posts').where('ID', 10).update({ post_parent: 9997 }), ['10 - 9997']],
    ['parents-gone', 'warning', () => db.from('term_taxonomy').where('term_id', 10).update({ parent: 997 }), ['10 - 997']],
    [
      'counts-wrong',
      'error',
      () => db.from('term_taxonomy').where('term_id', 5).update({ count: 77 }),
      [expect.stringMatching(/: 77 \/ 4$/) as unknown as string],
    ],
    ['event-duration-wrong', 'error', () => set(39, '_EventDuration', '-5'), ['39']],
    ['event-row-missing', 'error', () => db.from('tec_occurrences').where('post_id', 39).delete(), ['39']],
    [
      'event-row-differs',
      'error',
      () => db.from('tec_occurrences').where('post_id', 39).update({ start_date: '2020-01-01 00:00:00' }),
      ['39'],
    ],
    ['values-mendable', 'warning', () => meta(39, 'x', 'a:1:{s:3:"url";s:5:"https://longer.example";}'), ['postmeta 39 x']],
    ['texts-as-objects', 'error', () => set(39, '_EventCost', 'a:1:{i:0;O:8:"stdClass":0:{}}'), ['39 _EventCost']],
    ['texts-as-objects', 'error', () => meta(39, '_fasti_external_id', ' O:8:"stdClass":0:{}'), ['39 _fasti_external_id']],
    [
      'texts-as-objects',
      'error',
      () => meta(39, '_tribe_events_status_reason', 'a:1:{i:0;C:11:"ArrayObject":21:{x:i:0;a:0:{};m:a:0:{}}}'),
      ['39 _tribe_events_status_reason'],
    ],
    [
      'values-mendable',
      'warning',
      () => db.from('options').insert({ option_name: 'widget_x', option_value: 'a:1:{i:0;s:99:"é";}', autoload: 'yes' }),
      ['options widget_x'],
    ],
    ['counter-missing', 'error', () => db.from('fasti_changes').delete(), ['']],
    ['index-off', 'warning', () => db.from('options').where('option_name', 'fasti_index').delete(), ['']],
    ['index-wrong', 'error', () => db.from('fasti_entries').where('post_id', 39).delete(), ['']],
    ['index-wrong', 'error', () => db.from('fasti_days').where('day', '<', 0).where('facet', 0).delete(), ['']],
    ['index-wrong', 'error', () => db.from('fasti_days').delete(), ['']],
    ['index-wrong', 'error', () => db.from('fasti_days').where('running', '>', 0).update({ running: 0 }), ['']],
    ['index-wrong', 'error', () => db.from('fasti_entries').where({ post_id: 39, facet: 0 }).update({ hidden: 1 }), ['']],
    ['terms-without-taxonomy', 'warning', () => db.from('terms').insert({ term_id: 998, name: 'Lost', slug: 'lost' }), ['998 Lost']],
    ['categories-below-themselves', 'error', () => below('term_taxonomy', 'term_id', [10, 10]), ['10']],
    ['categories-below-themselves', 'error', () => below('term_taxonomy', 'term_id', [5, 10], [10, 5]), ['5 - 10']],
    ['posts-below-themselves', 'warning', () => below('posts', 'ID', [39, 39]), ['39']],
    ['posts-below-themselves', 'warning', () => below('posts', 'ID', [40, 41], [41, 39], [39, 40]), ['39 - 40 - 41']],
    [
      'slugs-shared',
      'warning',
      () => db.from('posts').where('ID', 40).update({ post_name: 'summer-concert' }),
      [expect.stringMatching(/^tribe_events summer-concert: \d+, 40 \(2\)$/) as unknown as string],
    ],
    [
      'slugs-empty',
      'error',
      () => db.from('posts').where('ID', 39).update({ post_name: '' }),
      [expect.stringMatching(/^39 /) as unknown as string],
    ],
    [
      'post-dates-missing',
      'error',
      () => db.from('posts').where('ID', 39).update({ post_date: ZERO, post_date_gmt: ZERO }),
      [expect.stringMatching(/^39 /) as unknown as string],
    ],
    [
      'post-dates-missing',
      'error',
      () => db.from('posts').where('ID', 12).update({ post_date_gmt: ZERO }),
      [expect.stringMatching(/^12 /) as unknown as string],
    ],
    [
      'modified-dates-missing',
      'warning',
      () => db.from('posts').where('ID', 39).update({ post_modified: ZERO, post_modified_gmt: ZERO }),
      [expect.stringMatching(/^39 /) as unknown as string],
    ],
    [
      'modified-dates-missing',
      'warning',
      () => db.from('posts').where('ID', 12).update({ post_modified_gmt: ZERO }),
      [expect.stringMatching(/^12 /) as unknown as string],
    ],
    ['metas-twice', 'warning', async () => meta(39, '_EventStartDate', (await first(39, '_EventStartDate')) ?? ''), ['39 _EventStartDate']],
    ['event-row-missing', 'error', () => db.from('tec_events').where('post_id', 39).delete(), ['39']],
    ['event-row-differs', 'error', () => db.from('tec_events').where('post_id', 39).update({ end_date: '2020-01-01 00:00:00' }), ['39']],
    ['event-row-differs', 'error', () => db.from('tec_occurrences').where('post_id', 39).update({ event_id: 9999 }), ['39']],
    ['event-row-twice', 'error', () => twin(39), ['39']],
    ['event-row-surplus', 'error', () => another(39), ['39']],
    ['event-row-surplus', 'error', () => another(39, 'before'), ['39']],
    ['event-duration-wrong', 'error', () => set(39, '_EventDuration', 'abc'), ['39']],
    ['term-slugs-empty', 'error', () => term(10, { slug: '' }), [expect.stringMatching(/^10 \w/) as unknown as string]],
    ['term-names-empty', 'error', () => term(10, { name: ' ' }), [expect.stringMatching(/^10 \w/) as unknown as string]],
    ['term-metas-without-term', 'warning', () => db.from('termmeta').insert({ term_id: 9996, meta_key: 'x', meta_value: 'y' }), ['9996 x']],
    ['user-metas-without-user', 'warning', () => db.from('usermeta').insert({ user_id: 9995, meta_key: 'x', meta_value: 'y' }), ['9995 x']],
    [
      'links-twice',
      'warning',
      async () => meta(39, '_EventVenueID', (await first(39, '_EventVenueID')) ?? ''),
      [expect.stringMatching(/^39 _EventVenueID \d+$/) as unknown as string],
    ],
    [
      'links-twice',
      'warning',
      async () => meta(39, '_EventOrganizerID', (await first(39, '_EventOrganizerID')) ?? ''),
      [expect.stringMatching(/^39 _EventOrganizerID \d+$/) as unknown as string],
    ],
    [
      'event-all-day-times',
      'warning',
      () => set(39, '_EventAllDay', '1').then((rows) => (rows ? undefined : meta(39, '_EventAllDay', '1'))),
      ['39'],
    ],
  ])('repairs %s', async (name, severity, harm, examples) => {
    await harm();
    const [finding, ...others] = (await told()).filter(
      (one) => one.name === name || !['index-wrong', 'event-row-missing', 'event-row-differs', 'event-duration-wrong'].includes(one.name),
    );
    expect([finding, others]).toEqual([{ name, severity, count: 1, examples, fixable: true }, []]);
    expect((await fasti(['--fix', '--yes'])).code).toBe(0);
    expect(await told()).toEqual([]);
  });

  it('accepts all-day events that begin at 1:00 because the clock skips midnight', async () => {
    const whole = { start: '2026-04-24', end: '2026-04-25', timezone: 'Africa/Cairo', allDay: true };
    const dates = eventDates(whole, undefined, { siteZone: 'Europe/Rome', cutoff: '00:00', now: NOW }) as EventDates;
    await meta(39, '_EventAllDay', '1');
    await set(39, '_EventTimezone', dates.timezone);
    await set(39, '_EventStartDate', dates.start);
    await set(39, '_EventEndDate', dates.end);
    await set(39, '_EventStartDateUTC', dates.startUtc);
    await set(39, '_EventEndDateUTC', dates.endUtc);
    expect((await told()).map(({ name }) => name)).not.toContain('event-all-day-times');
    await fasti(['--fix', '--yes']);
    expect([await first(39, '_EventStartDate'), await told()]).toEqual(['2026-04-24 01:00:00', []]);
  });

  it('numbers slugs that published records share, and leaves the address to the one that visitors find by it', async () => {
    const rename = (ids: readonly number[], columns: Record<string, string>) => db.from('posts').whereIn('ID', ids).update(columns);
    await rename([38, 39, 40, 41], { post_name: 'fair' });
    await rename([38], { post_status: 'private' });
    await rename([41], { post_status: 'draft' });
    await rename([42], { post_name: 'fair-2' });
    const findings = (await told()).filter(({ name }) => name === 'slugs-shared');
    expect(findings).toMatchObject([{ fixable: true, examples: ['tribe_events fair: 39, 40, 38 (3)'] }]);
    await fasti(['--fix', '--yes']);
    const slugs = await db.from('posts').whereIn('ID', [38, 39, 40, 41, 42]).orderBy('ID').pluck('post_name');
    expect(slugs).toEqual(['fair-4', 'fair', 'fair-3', 'fair', 'fair-2']);
    const old = await db.from('postmeta').where('meta_key', '_wp_old_slug').orderBy('meta_id').select('post_id', 'meta_value');
    expect(old).toEqual([{ post_id: 40, meta_value: 'fair' }]);
    expect(await told()).toEqual([]);
  });

  it('keeps the row with the right dates for a single event that has two rows', async () => {
    await another(39, 'before');
    await fasti(['--fix', '--yes']);
    const [start] = await db.from('postmeta').where({ post_id: 39, meta_key: '_EventStartDate' }).pluck('meta_value');
    expect(await db.from('tec_occurrences').where('post_id', 39).pluck('start_date')).toEqual([start]);
  });

  it('ends with 1 if the roles cannot be read', async () => {
    for (const broken of ['nonsense', 'a:5:{s:13:"administrator";a:1:{']) {
      await db.from('options').where('option_name', 'wp_user_roles').update({ option_value: broken });
      expect(await told()).toContainEqual({
        name: 'roles-unreadable',
        severity: 'error',
        count: 1,
        examples: ['wp_user_roles'],
        fixable: false,
      });
      // A repair could not give the role to anyone.
      expect((await told()).map(({ name }) => name)).not.toContain('no-administrator');
      expect((await fasti([])).code).toBe(1);
    }
  });

  it.each([{ SHARED_WITH_WORDPRESS: 'on', FOLLOW_WORDPRESS: 'off' }, { CUSTOM_TABLES: 'off' }])(
    'does not report an index that lists would not use: %j',
    async (env: Record<string, string>) => {
      const ofIndex = async () => {
        const findings: Told[] = JSON.parse((await fasti(['--format=json'], { env })).out).findings;
        return findings.map(({ name }) => name).filter((name) => name.startsWith('index-'));
      };
      await db.from('fasti_entries').where('post_id', 38).delete();
      expect(await ofIndex()).toEqual([]);
      await db.from('options').where('option_name', 'fasti_index').delete();
      expect(await ofIndex()).toEqual([]);
    },
  );

  it('distinguishes changes by WordPress that are not taken over yet from errors in the index', async () => {
    const env = { SHARED_WITH_WORDPRESS: 'on' };
    const ofIndex = async () => {
      const findings: Told[] = JSON.parse((await fasti(['--format=json'], { env })).out).findings;
      return findings.filter(({ name }) => name.startsWith('index-')).map(({ name, severity }) => [name, severity]);
    };
    await db.from('fasti_prints').delete();
    await takeOverChanges(db, () => NOW);
    expect(await ofIndex()).toEqual([]);
    await runScript(db, "UPDATE wp_posts SET post_status = 'draft' WHERE ID = 39");
    expect(await ofIndex()).toEqual([['index-behind', 'warning']]);
    await fasti(['--fix', '--yes'], { env });
    expect(await ofIndex()).toEqual([]);
    await db.from('fasti_entries').where('post_id', 38).delete();
    expect(await ofIndex()).toEqual([['index-wrong', 'error']]);
    await db.from('fasti_prints').delete();
    expect(await ofIndex()).toEqual([['index-behind', 'warning']]);
    await fasti(['--fix', '--yes'], { env });
    expect(await ofIndex()).toEqual([]);
    await db.from('options').where('option_name', 'fasti_index').delete();
    expect(await ofIndex()).toEqual([['index-off', 'warning']]);
  });

  it.each<[string, string, () => PromiseLike<unknown>, string[]]>([
    ['event-dates-missing', 'error', () => db.from('postmeta').where({ post_id: 39, meta_key: '_EventStartDate' }).delete(), ['39']],
    ['event-dates-missing', 'error', () => set(39, '_EventStartDate', '2027-13-45'), ['39']],
    ['event-dates-missing', 'error', () => set(39, '_EventEndDate', '2099-02-30 20:00:00'), ['39']],
    [
      'term-slugs-shared',
      'warning',
      async () => term(10, { slug: (await db.from('terms').where('term_id', 5).first())!.slug }),
      [expect.stringMatching(/^tribe_events_cat \S+ \(2\)$/) as unknown as string],
    ],
    ['event-zone-unknown', 'error', () => set(39, '_EventTimezone', 'Atlantis'), ['39']],
    ['event-end-before-start', 'error', () => set(39, '_EventEndDate', '2020-01-01 00:00:00'), ['39']],
    ['values-broken', 'warning', () => meta(39, 'x', 'a:3:{i:0;s:1:"a";'), ['postmeta 39 x']],
    [
      'metas-contradict',
      'warning',
      () => meta(39, '_EventURL', 'https://other.example').then(() => meta(39, '_EventURL', 'https://x.example')),
      [expect.stringMatching(/^39 _EventURL: /) as unknown as string],
    ],
    ['authors-gone', 'warning', () => db.from('posts').where('ID', 39).update({ post_author: 99 }), ['39']],
    ['files-unreadable', 'warning', () => set(10, '_wp_attached_file', '2026/11/gone.png'), ['10 2026/11/gone.png']],
    ['files-astray', 'error', () => set(10, '_wp_attached_file', '../../etc/passwd'), ['10 ../../etc/passwd']],
    [
      'zone-of-site',
      'error',
      () => db.from('options').where('option_name', 'timezone_string').update({ option_value: 'Atlantis/X' }),
      ['Atlantis/X'],
    ],
    [
      'address-unusable',
      'error',
      () => db.from('options').where('option_name', 'home').update({ option_value: 'https://' }),
      ['home https://'],
    ],
    [
      'post-dates-contradict',
      'warning',
      () => db.from('posts').where('ID', 39).update({ post_date_gmt: '2026-11-20 10:00:01' }),
      [expect.stringMatching(/^39 .* \/ 2026-11-20 10:00:01 UTC$/) as unknown as string],
    ],
    [
      'post-dates-contradict',
      'warning',
      () => db.from('posts').where('ID', 39).update({ post_modified: '2026-11-21 10:00:00', post_modified_gmt: '2026-11-20 10:00:00' }),
      ['39 2026-11-21 10:00:00 / 2026-11-20 10:00:00 UTC'],
    ],
    [
      'post-dates-of-other-zone',
      'note',
      () => db.from('posts').where('ID', 39).update({ post_modified: '2026-11-20 10:00:00', post_modified_gmt: '2026-11-20 10:00:00' }),
      ['39 2026-11-20 10:00:00 / 2026-11-20 10:00:00 UTC'],
    ],
    [
      'external-ids-shared',
      'warning',
      async () => {
        // Neither another kind nor another text has the same one.
        for (const [id, value] of [
          [39, 'crm 7'],
          [40, 'crm 7'],
          [12, 'crm 7'],
          [41, 'CRM 7'],
        ] as const)
          await meta(id, '_fasti_external_id', value);
      },
      ['tribe_events crm 7: 39, 40'],
    ],
    [
      'slugs-of-languages',
      'error',
      () =>
        db
          .from('options')
          .where('option_name', 'tribe_events_calendar_options')
          .update({ option_value: 'a:1:{s:10:"eventsSlug";s:2:"it";}' }),
      ['events_slug it'],
    ],
    ['settings-missing', 'error', () => db.from('options').where('option_name', 'home').delete(), ['home']],
    ['no-administrator', 'warning', () => db.from('usermeta').where('user_id', 1).delete(), ['']],
    [
      'imports-open',
      'warning',
      () => db.from('fasti_imports').insert({ source: 'x.example', run: 1, open: 1, done: 0, report: '', touched_at: '' }),
      ['x.example'],
    ],
  ])('reports %s without repairing it', async (name, severity, harm, examples) => {
    await harm();
    expect(await told()).toEqual([{ name, severity, count: 1, examples, fixable: false }]);
    const before = await db.from('postmeta').where('post_id', 39).orderBy('meta_id');
    const texts = await loadTexts(['en', 'it']);
    for (const language of ['en', 'it']) {
      expect(texts.has(language, `upkeep:advice.${name}`)).toBe(true);
      const { out } = await fasti(['--language', language]);
      expect(out).toContain(`\n    ${texts.t(language, `upkeep:advice.${name}`)}\n`);
    }
    expect((await fasti(['--fix', '--yes'])).code).toBe(severity === 'error' ? 1 : 0);
    expect(await told()).toEqual([{ name, severity, count: 1, examples, fixable: false }]);
    expect(await db.from('postmeta').where('post_id', 39).orderBy('meta_id')).toEqual(before);
    await db.from('fasti_imports').delete();
  });

  it.each(['draft', 'pending', 'trash'])('accepts missing dates in a record with the status %s', async (status) => {
    await db.from('posts').where('ID', 39).update({ post_status: status });
    const dates = () => db.from('postmeta').where('post_id', 39).whereIn('meta_key', ['_EventStartDate', '_EventEndDate']);
    await dates().delete();
    const named = async () => (await found()).map(({ name }) => name);
    expect(await named()).not.toContain('event-dates-missing');
    await meta(39, '_EventStartDate', '2026-12-01 10:00:00');
    expect(await named()).toContain('event-dates-missing');
    await dates().delete();
    await db.from('posts').where('ID', 39).update({ post_status: 'publish' });
    expect(await named()).toContain('event-dates-missing');
  });

  it.each(['2027-03-06T20:30:00', '2027-03-06 20:30', '2027-03-06 20:30:00.000'])(
    'accepts the date format %s and normalizes it',
    async (start) => {
      await set(39, '_EventStartDate', start);
      await set(39, '_EventEndDate', '2027-03-06 22:30:00');
      await fasti(['--fix', '--yes']);
      expect(await told()).toEqual([]);
      expect(await first(39, '_EventStartDate')).toBe('2027-03-06 20:30:00');
      await set(39, '_EventStartDate', start);
      expect(await told()).toEqual([]);
    },
  );

  /** Moves an event in New York to an hour of 7 November 2027 that the clock shows twice. */
  const moveTo = async (
    id: number,
    times: Record<'_EventStartDate' | '_EventEndDate' | '_EventStartDateUTC' | '_EventEndDateUTC', string>,
  ) => {
    for (const [key, time] of Object.entries(times)) await set(id, key, `2027-11-07 ${time}:00`);
    await set(id, '_EventTimezone', 'America/New_York');
    await set(id, '_EventDuration', '2700');
  };

  it('accepts an event that ends before it starts on a clock that is set back meanwhile, and restores its row', async () => {
    await moveTo(39, { _EventStartDate: '01:30', _EventEndDate: '01:15', _EventStartDateUTC: '05:30', _EventEndDateUTC: '06:15' });
    expect((await told()).map(({ name }) => name)).toEqual(['event-row-differs']);
    await fasti(['--fix', '--yes']);
    expect(await told()).toEqual([]);
    const row = await db.from('tec_occurrences').where('post_id', 39).first();
    expect(row).toMatchObject({ end_date: '2027-11-07 01:15:00', end_date_utc: '2027-11-07 06:15:00', duration: 2700 });
  });

  it('repairs an event whose end is at the earlier of two moments, before its start', async () => {
    await moveTo(39, { _EventStartDate: '01:30', _EventEndDate: '01:45', _EventStartDateUTC: '06:30', _EventEndDateUTC: '05:45' });
    expect((await told()).map(({ name }) => name)).toEqual(['event-utc-wrong']);
    await fasti(['--fix', '--yes']);
    expect(await told()).toEqual([]);
    expect([await first(39, '_EventStartDateUTC'), await first(39, '_EventDuration')]).toEqual(['2027-11-07 05:30:00', '900']);
  });

  it('names the events that prevent the index from being built, and does not report a repair of it', async () => {
    await set(39, '_EventStartDate', 'in spring');
    await db.from('tec_occurrences').where('post_id', 39).update({ end_date: '1999-01-01 00:00:00' });
    await db.from('options').where('option_name', 'fasti_index').delete();
    const wanted = [
      ['event-dates-missing', ['39'], false],
      ['index-unfit', ['39'], false],
    ];
    const shown = async () => (await told()).map(({ name, examples, fixable }) => [name, examples, fixable]);
    expect(await shown()).toEqual(wanted);
    const { out, err } = await fasti(['--fix', '--yes']);
    expect(err).not.toContain('index');
    expect(out).toContain('Save these events again with dates, venues and organizers that can be read, and run fasti reindex.');
    expect(await shown()).toEqual(wanted);
  });

  // MySQL stores only dates in these columns.
  if (engine === 'SQLite') {
    it('sets a publication date if the stored one is not a date', async () => {
      await db.from('posts').where('ID', 39).update({ post_date: 'hello' });
      await db.from('posts').where('ID', 12).update({ post_date: 'x', post_date_gmt: '2026-07-01T10:00:00' });
      expect((await told()).filter(({ name }) => name !== 'index-wrong').map(({ name, count }) => [name, count])).toEqual([
        ['post-dates-missing', 2],
      ]);
      await fasti(['--fix', '--yes']);
      expect(await told()).toEqual([]);
      expect((await db.from('posts').where('ID', 12).first())?.post_date_gmt).toBe('2026-07-01 10:00:00');
    });
  }

  if (engine === 'MySQL') {
    it('finds faults of the index as a user who may only read', async () => {
      await db.from('fasti_entries').where({ post_id: 39, facet: 0 }).update({ hidden: 1 });
      await asReader(db, async (url) => {
        const { out } = await fasti(['--format=json'], { env: { DATABASE_URL: url } });
        expect(JSON.parse(out).findings).toContainEqual(expect.objectContaining({ name: 'index-wrong', severity: 'error' }));
      });
    });
  }

  it('does not change the rows of recurring events', async () => {
    await meta(39, '_EventRecurrence', 'a:1:{s:5:"rules";a:1:{i:0;a:1:{s:4:"type";s:6:"Weekly";}}}');
    await db.from('tec_occurrences').where('post_id', 39).update({ start_date: '2020-01-01 00:00:00' });
    await reindexEvents(db, () => NOW, { marksComplete: true });
    expect(await told()).toEqual([]);
  });

  it('does not report serialized values that contain objects', async () => {
    await meta(39, 'x', 'a:1:{i:0;O:8:"stdClass":1:{s:1:"a";s:9:"b";}}');
    expect(await told()).toEqual([]);
  });
  it('asks before each kind of repair', async () => {
    await meta(9999, 'x', 'y');
    await db.from('term_taxonomy').where('term_id', 5).update({ count: 77 });
    const { asked, err, out } = await fasti(['--fix'], { answers: [false, true] });
    expect(asked).toEqual([
      'Metas of posts that no longer exist (1). Repair it?',
      'Counts of terms are wrong (stored / real) (1). Repair it?',
      expect.stringContaining('UTC'),
    ]);
    expect(err).toMatch(/^Repaired: Counts of terms are wrong \(stored \/ real\)\nError: /);
    expect(out).toMatch(/Afterwards:\nwarning {2}Metas of posts that no longer exist · --fix repairs it\n {4}9999 x\n/);
    expect(await db.from('postmeta').where('post_id', 9999)).toHaveLength(1);
  });
  it.each([false, true])('repairs nothing if there is no terminal to ask on (output: %s)', async (isTerminal) => {
    await meta(9999, 'x', 'y');
    expect(await fasti(['--fix'], { isTerminal })).toMatchObject({ code: 2, err: expect.stringContaining('--yes') });
    expect(await db.from('postmeta').where('post_id', 9999)).toHaveLength(1);
    await db.from('postmeta').where('post_id', 9999).delete();
  });
  it('writes nothing without --fix', async () => {
    await db.from('term_taxonomy').where('term_id', 5).update({ count: 77 });
    const before = await db.from('fasti_changes').first();
    expect(await fasti([])).toMatchObject({ code: 1, err: 'Error: 2 kinds of errors were found.\n' });
    expect(await db.from('fasti_changes').first()).toEqual(before);
  });
  it('changes the version of cached answers after a repair', async () => {
    const before = (await db.from('fasti_changes').first())!.counter;
    await meta(9999, 'x', 'y');
    await fasti(['--fix', '--yes']);
    expect((await db.from('fasti_changes').first())!.counter).toBeGreaterThan(before);
  });
  it('reports an uploads folder that does not exist or is read-only', async () => {
    expect((await fasti([], { env: { UPLOADS_DIR: join(uploads, 'nothing') } })).out).toContain('The uploads folder does not exist');
    if (process.getuid?.() === 0) return;
    chmodSync(uploads, 0o500);
    expect((await fasti([])).out).toContain('The uploads folder is not writable');
    chmodSync(uploads, 0o700);
  });

  describe('on the WordPress plugin', () => {
    const note = (at: string) =>
      db
        .from('fasti_journal_inbox')
        .insert({ at, kind: 'post', type: '', object: 38, what: 'changed', user: 1, was_public: 0, is_public: 0 });
    const line = async () => /^WordPress plugin: .*$/m.exec((await fasti([])).out)?.[0];
    const activate = (plugins: string) => db.from('options').where('option_name', 'active_plugins').update({ option_value: plugins });
    beforeEach(async () => {
      await db.from('fasti_journal_inbox').delete();
      await db.from('fasti_journal').where('writer', 'wordpress').delete();
    });
    afterEach(() => db.from('fasti_journal_inbox').delete());

    it('reports nothing if the plugin is not active', async () => {
      expect(await line()).toBeUndefined();
      await activate('a:1:{i:0;s:23:"other/not-the-fasti.php";}');
      expect(await line()).toBeUndefined();
    });
    it('reports that the plugin is active and how many changes are waiting', async () => {
      await activate('a:1:{i:0;s:9:"fasti.php";}');
      expect(await line()).toBe('WordPress plugin: active; no recent change taken over, 0 waiting');
      await activate('a:1:{i:0;s:15:"fasti/fasti.php";}');
      await note('2026-11-21 08:59:30');
      expect(await line()).toBe('WordPress plugin: active; no recent change taken over, 1 waiting');
      expect(await told()).toEqual([]);
    });
    it('reports when the last change was taken over', async () => {
      const origin = { writer: 'wordpress', at: '2026-11-21 08:00:00', user: 1 } as const;
      await db.transaction((trx) => appendChanges(trx, [ANYTHING_CHANGED], origin));
      expect(await line()).toBe('WordPress plugin: at work; latest change taken over at 2026-11-21 08:00:00 UTC, 0 waiting');
    });
    it('warns if no process takes the changes over', async () => {
      await note('2026-11-21 08:40:00');
      await note('2026-11-21 08:59:00');
      const [plugin] = await told();
      expect(plugin).toMatchObject({ name: 'plugin-unread', severity: 'warning', count: 2, examples: ['2026-11-21 08:40:00'] });
      expect(await line()).toBe('WordPress plugin: not active; no recent change taken over, 2 waiting');
    });
  });

  describe('on the tables', () => {
    it('adds missing keys', async () => {
      const broken = await open();
      await loadSite(broken);
      await runScript(
        broken,
        engine === 'SQLite'
          ? 'DROP INDEX wp_postmeta_meta_key; DROP INDEX wp_posts_post_name;'
          : 'ALTER TABLE wp_postmeta DROP KEY meta_key; ALTER TABLE wp_posts DROP KEY post_name;',
      );
      const env = { DATABASE_URL: urlOf(broken) };
      expect((await fasti([], { env })).out).toMatch(
        /Indexes are missing.*\(2\)[\s\S]*wp_postmeta \(meta_key\)\n {4}wp_posts \(post_name\)\n/,
      );
      await fasti(['--fix', '--yes'], { env });
      expect((await fasti([], { env })).out).not.toContain('Indexes are missing');
    });
    it('misses no key that older versions of WordPress do not create', async () => {
      const older = await open();
      await loadSite(older);
      await runScript(
        older,
        engine === 'SQLite' ? 'DROP INDEX wp_posts_type_status_author;' : 'ALTER TABLE wp_posts DROP KEY type_status_author;',
      );
      expect((await fasti([], { env: { DATABASE_URL: urlOf(older) } })).out).not.toContain('Indexes are missing');
    });
    it('continues with other repairs if one fails, and ends with 1', async () => {
      const broken = await open();
      await loadSite(broken);
      await runScript(
        broken,
        `${
          engine === 'SQLite'
            ? 'DROP INDEX wp_options_option_name; DROP INDEX wp_posts_post_name;'
            : 'ALTER TABLE wp_options DROP KEY option_name; ALTER TABLE wp_posts DROP KEY post_name;'
        } INSERT INTO wp_options (option_name, option_value) VALUES ('blogname', 'Twice');
        INSERT INTO wp_postmeta (post_id, meta_key, meta_value) VALUES (999999, 'left', 'x');`,
      );
      const env = { DATABASE_URL: urlOf(broken) };
      const { err } = await fasti(['--fix', '--yes'], { env });
      expect(err).toMatch(/Not repaired: Indexes are missing[^\n]*\([^\n]*\)\n[\s\S]*Repaired: Metas of posts that no longer exist\n/);
      const after = await fasti([], { env });
      expect(after.out).toMatch(/Indexes are missing[^(]*\n {4}wp_options \(option_name\)\n/);
      expect(after.out).not.toContain('Metas of posts');
      const again = await fasti(['--fix', '--yes'], { env });
      expect(again).toMatchObject({ code: 1, err: expect.stringMatching(/\nError: \d (repairs? failed|kinds? of errors? w)/) });
    });
    it('repairs in one run what fails until another repair is made', async () => {
      const twice = await open();
      await loadSite(twice);
      await runScript(
        twice,
        `${engine === 'SQLite' ? 'DROP INDEX wp_tec_occurrences_hash;' : 'ALTER TABLE wp_tec_occurrences DROP KEY hash;'}
        INSERT INTO wp_tec_occurrences (event_id, post_id, start_date, start_date_utc, end_date, end_date_utc, duration, hash, updated_at)
        SELECT event_id, post_id, start_date, start_date_utc, end_date, end_date_utc, duration, hash, updated_at
        FROM wp_tec_occurrences WHERE post_id = 39;`,
      );
      const env = { DATABASE_URL: urlOf(twice) };
      const { code, out, err } = await fasti(['--fix', '--yes'], { env });
      expect(err).toMatch(/Not repaired: Indexes are missing[\s\S]*Repaired: Indexes are missing/);
      expect(out).toMatch(/Indexes are missing[\s\S]*two identical rows[\s\S]*Afterwards:/);
      expect(out.slice(out.indexOf('Afterwards:'))).not.toMatch(/Indexes are missing|two identical rows/);
      expect(code).toBe(0);
    });
    it('creates missing tables of Fasti but not those of WordPress', async () => {
      const bare = await open();
      await loadSite(bare);
      await runScript(bare, 'DROP TABLE wp_fasti_entries; DROP TABLE wp_fasti_migrations;');
      const env = { DATABASE_URL: urlOf(bare) };
      expect((await fasti([], { env })).out).toMatch(/Tables are missing · --fix repairs it\n {4}wp_fasti_entries\n/);
      await fasti(['--fix', '--yes'], { env });
      expect((await fasti([], { env })).out).not.toContain('Tables are missing');
      // A later migration adds a column to this table.
      await runScript(bare, 'DROP TABLE wp_fasti_entries; DROP TABLE wp_fasti_hooks;');
      expect((await fasti(['--fix', '--yes'], { env })).err).not.toContain('Not repaired');
      expect((await fasti([], { env })).out).not.toMatch(/Tables are missing|index/);
      await runScript(bare, 'DROP TABLE wp_termmeta;');
      expect((await fasti([], { env })).out).toMatch(/error {4}Tables are missing\n {4}wp_termmeta\n/);
    });
    if (engine === 'MySQL')
      it('leaves a site that can start if the user may not create the missing tables', async () => {
        const bare = await open();
        await loadSite(bare);
        await runScript(bare, 'DROP TABLE wp_fasti_answers;');
        await asWriter(bare, async (url) => {
          const env = { DATABASE_URL: url };
          expect((await fasti(['--fix', '--yes'], { env })).err).toContain('CREATE command denied');
          expect(await pendingMigrations(bare)).toEqual([]);
          expect((await fasti([], { env })).out).toMatch(/Tables are missing · --fix repairs it\n {4}wp_fasti_answers\n/);
        });
      });
    it('misses none of the calendar where it never had some, and there is no index to be made', async () => {
      const old = await loadSite(await open());
      await runScript(old, 'DROP TABLE wp_tec_occurrences; DROP TABLE wp_tec_events;');
      const env = { DATABASE_URL: urlOf(old) };
      expect((await fasti([], { env })).out).toMatch(/Tables are missing \(2\)\n {4}wp_tec_events\n/);
      await old.from('options').whereIn('option_name', ['tec_ct1_migration_state', 'tec_custom_tables_v1_active']).delete();
      const { code, out, err } = await fasti(['--fix', '--yes'], { env });
      expect([code, out.includes('Tables are missing'), err.includes('Not repaired')]).toEqual([0, false, false]);
      expect(out.split('Afterwards:')[1]).not.toContain('error');
      const reindex = await commandIn({ ...env, UPLOADS_DIR: uploads, LOG_LEVEL: 'silent' }, { now: NOW })('reindex');
      expect(reindex).toMatchObject({ code: 0, out: expect.stringMatching(/^Nothing to do/) });
    });
    if (engine === 'MySQL')
      it('reports unsuitable storage engines and character sets', async () => {
        const old = await open();
        await loadSite(old);
        await runScript(old, 'ALTER TABLE wp_termmeta ENGINE=MyISAM; ALTER TABLE wp_links CONVERT TO CHARACTER SET latin1;');
        const { out } = await fasti([], { env: { DATABASE_URL: urlOf(old) } });
        expect(out).toMatch(/without transactions.*\n {4}wp_termmeta MyISAM\n[\s\S]*utf8mb4 is needed\)\n {4}wp_links latin1/);
      });
    if (engine === 'MySQL')
      it('reports which of several servers is used, and why others cannot be', async () => {
        const [shut, used] = [await openProxy(urlOf(db)), await openProxy(urlOf(db))];
        await shut.close();
        const { out } = await fasti([], { env: { DATABASE_URL: urlThrough(shut, used), DATABASE_READ_URL: used.url } });
        await used.close();
        expect(out).toContain(`\ndatabase server 127.0.0.1:${shut.port} · connect ECONNREFUSED`);
        expect(out).toContain(`\ndatabase server 127.0.0.1:${used.port}, in use\nread replica 127.0.0.1:${used.port}\n`);
        expect(out).toMatch(/warning {2}Some database servers cannot be used as they are\n {4}127\.0\.0\.1:\d+: connect ECONNREFUSED/);
      });
    if (engine === 'SQLite')
      it('reports that a file is damaged if it cannot be queried', async () => {
        const file = join(uploads, 'damaged.sqlite');
        await copySqlite(urlOf(db).slice('sqlite:'.length), file);
        const { rootpage } = await db.knex('sqlite_master').where('name', 'wp_options').first('rootpage');
        const [bytes, page] = [readFileSync(file), 4096];
        writeFileSync(file, bytes.fill(255, (rootpage - 1) * page, rootpage * page));
        const { code, out } = await fasti([], { env: { DATABASE_URL: `sqlite:${file}` } });
        expect([code, out]).toEqual([1, expect.stringContaining('\nerror    The database is damaged; restore it from a backup\n')]);
      });
    it('reports in one line that there are none', async () => {
      const empty = await open({ migrated: false });
      expect(await fasti([], { env: { DATABASE_URL: urlOf(empty) } })).toMatchObject({
        code: 1,
        err: expect.stringContaining('there is no site'),
      });
    });
  });
});

describe('serialized array', () => {
  it.each([
    ['a:0:{}', false],
    ['a:1:{s:1:"a";i:1;}', false],
    ['a:1:{s:2:"é";a:1:{i:0;b:1;}}', false],
    ['a:1:{s:2:"a";i:1;}', true],
    ['a:2:{s:1:"a";i:1;}', true],
    ['a:1:{s:1:"a";i:1', true],
    ['a:1:{i:0;O:1:"X":0:{}}', false],
    ['a:2:{i:0;s:1:"a";i:1;R:2;}', false],
    ['about: x', false],
  ])('is recognized as broken: %s, %s', (text, broken) => expect(isBrokenArray(text)).toBe(broken));
  it.each([
    ['a:1:{s:9:"a";s:1:"long text";}', 'a:1:{s:1:"a";s:9:"long text";}'],
    ['a:1:{s:1:"a";s:3:"say "hi"; ok";}', 'a:1:{s:1:"a";s:12:"say "hi"; ok";}'],
    ['a:1:{s:1:"a";a:1:{i:0;s:1:"é";}}', 'a:1:{s:1:"a";a:1:{i:0;s:2:"é";}}'],
  ])('is repaired: %s', (text, mended) => expect(repairArray(text)).toBe(mended));
  it.each(['a:2:{s:1:"a";s:1:"b";}', 'a:1:{s:1:"a";s:4:"b'])('cannot be repaired: %s', (text) => expect(repairArray(text)).toBeUndefined());
});
