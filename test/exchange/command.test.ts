import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { openWordpressDatabase } from '../../src/exchange/wordpress-database.ts';
import { type Database, openDatabase } from '../../src/storage/engine/database.ts';
import type { TableName } from '../../src/storage/engine/tables.ts';
import { readOptions, writeOption } from '../../src/storage/rows/options.ts';
import { migrate } from '../../src/storage/schema/migrate.ts';
import { asStored } from '../../src/wordpress/php/serialized.ts';
import { commandIn, type Fasti } from '../cli/command.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';
import { forgetImports, loadSite, setOptions } from '../support/site.ts';
import { bareFixture, calendarOf, importSource, siteOf } from './sites.ts';

const folder = mkdtempSync(join(tmpdir(), 'fasti-command-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const path = (name: string) => join(folder, name);

describeDatabases('fasti import and fasti export', (open) => {
  let original: Database;
  let target: Database;
  const of = (db: Database, terminal = false): Fasti =>
    commandIn({ DATABASE_URL: urlOf(db), LOG_LEVEL: 'silent', UPLOADS_DIR: path('uploads') }, { terminal });
  beforeAll(async () => {
    [original, target] = [await open(), await open()];
    await loadSite(original);
  });
  beforeEach(async () => {
    await loadSite(target, bareFixture());
    await forgetImports(target);
  });

  it('report what would happen in a dry run, then do the same, and end with 0', async () => {
    const rehearsal = await of(target)('import', urlOf(original), '--dry-run');
    expect(rehearsal).toMatchObject({ code: 0, err: '' });
    expect(rehearsal.out).toContain('Nothing was written. This would happen to 127.0.0.1:8081:\n');
    expect(rehearsal.out).toMatch(/\n {2}events +53 +0 +0 +0\n/);
    expect(await target.from('posts')).toEqual([]);
    const done = await of(target)('import', urlOf(original));
    expect(done.code).toBe(0);
    expect(done.out.replace('Imported from', 'Nothing was written. This would happen to')).toBe(rehearsal.out);
    expect(done.out).toContain('Skipped, because it is not part of a calendar: page 1, post 1, revision 9\n');
  });

  it.each(['calendar.xml', 'calendar.jsonl'])('transfer a calendar in %s', async (name) => {
    const out = await of(original)('export', path(name), '--force');
    expect(out).toMatchObject({ code: 0, err: '', out: `96 records written to ${path(name)}.\n` });
    expect(readdirSync(dirname(path(name))).filter((one) => one.endsWith('.part'))).toEqual([]);
    const report = await of(target)('import', path(name), '--format=json');
    expect(JSON.parse(report.out)).toMatchObject({ source: '127.0.0.1:8081', created: { event: 53, venue: 11, organizer: 8 }, lost: {} });
    expect((await calendarOf(target)).posts).toEqual((await calendarOf(original)).posts);
  });

  it('are explained without the default dates of lists, since all events are exported', async () => {
    for (const [language, all] of [
      ['en', 'by default all.'],
      ['it', 'se manca, tutti.'],
    ] as const) {
      const { out } = await of(original)('export', '--help', `--language=${language}`);
      for (const name of ['start_date', 'end_date']) expect(out.replace(/\s+/g, ' ')).toMatch(new RegExp(`--${name} <value> [^-]*${all}`));
    }
  });

  it('write to standard output if the file is a hyphen, and apply the filters of lists', async () => {
    const { out, code } = await of(original)('export', '-', '--format=csv', '--search=jazz');
    expect(code).toBe(0);
    expect(out).toMatch(/^\ufeffEvent Name,Event Description,/);
    const all = await of(original)('export', '-', '--format=csv');
    expect(all.out.length).toBeGreaterThan(out.length);
    expect((await of(original)('export', '-', '--format=csv', '--kind=organizer')).out).toMatch(/^\ufeffOrganizer Name,/);
  });

  it('export drafts to CSV, which has no status, only on request', async () => {
    const [draft] = await original.from('posts').where({ post_type: 'tribe_venue', post_status: 'draft' });
    expect((await of(original)('export', '-', '--format=csv', '--kind=venue')).out).not.toContain(draft!.post_title);
    expect((await of(original)('export', '-', '--format=csv', '--kind=venue', '--status=draft')).out).toContain(draft!.post_title);
  });

  it.each(['csv', 'ical'])('export no password-protected records to %s, which cannot mark them', async (format) => {
    for (const [kind, title] of [
      ['event', 'Password protected'],
      ['venue', 'Secret venue'],
      ['organizer', 'Secret organizer'],
    ] as const) {
      if (format === 'ical' && kind !== 'event') continue;
      const { out, err, code } = await of(original)('export', '-', `--format=${format}`, `--kind=${kind}`);
      expect([code, out.includes(title), out.includes('ecret body')]).toEqual([0, false, false]);
      expect(err).toMatch(/^Protected by a password: not exported \(\d\)\n/);
    }
  });

  it.each(['csv', 'ical'])('name no venue or organizer in %s that is not exported itself', async (format) => {
    const { out, err } = await of(original)('export', '-', `--format=${format}`, '--kind=event');
    expect(out).toContain('With draft venue');
    for (const name of ['Draft venue', 'Draft organizer', 'Secret venue', 'Secret organizer']) expect(out).not.toContain(name);
    expect(err).toContain('A linked record is not exported (2)\n');
  });

  it('show how each column of a CSV file is read before anything is written', async () => {
    writeFileSync(path('venues.csv'), 'VENUE NAME,City,Colour\nTeatro,Roma,red\n');
    const { out } = await of(target)('import', path('venues.csv'), '--dry-run');
    expect(out).toContain(
      'venues.csv contains venues. Its columns:\n  VENUE NAME  name          Teatro\n  City        city          Roma\n  Colour      not imported  red\n',
    );
    expect(await target.from('posts')).toEqual([]);
  });

  it('report ignored columns of a CSV file, unless --map ignores them', async () => {
    writeFileSync(path('orders.csv'), 'Event Name,Start Date & Time,Colour,Empty,When\nJazz,2031-03-05 20:00,red,,tomorrow\n');
    const { code, out } = await of(target)('import', path('orders.csv'));
    expect([code, out]).toEqual([
      3,
      expect.stringContaining(
        `another column has the same meaning (2)\n    orders.csv · Colour\n    orders.csv · When\n--map "COLUMN=FIELD" says`,
      ),
    ]);
    expect(await target.from('posts').select('post_title', 'post_type')).toEqual([{ post_title: 'Jazz', post_type: 'tribe_events' }]);
    const wished = await of(target)('import', path('orders.csv'), '--map', 'colour=', '--map', 'When=');
    expect(wished).toMatchObject({ code: 0, out: expect.not.stringContaining('Colour') });
  });

  it('name skipped parts in the language of the command', async () => {
    writeFileSync(path('more.ics'), 'BEGIN:VCALENDAR\nBEGIN:VTODO\nEND:VTODO\nEND:VCALENDAR\nGoodbye\n');
    const { out } = await of(target)('--language=it', 'import', path('more.ics'));
    expect(out).toContain('non fa parte del calendario: VTODO 1, testo dopo il calendario 1\n');
  });

  it('give the records of a CSV file the status of --status', async () => {
    writeFileSync(path('venues.csv'), 'Venue Name\nTeatro\n');
    await of(target)('import', path('venues.csv'), '--status=draft');
    expect(await target.from('posts').select('post_title', 'post_status')).toEqual([{ post_title: 'Teatro', post_status: 'draft' }]);
  });

  it('preview the first records as they would be stored, and write nothing', async () => {
    writeFileSync(path('events.csv'), 'Titel,When,Event Cost\nConcert,31/12/2031 20:30,12\nFair,1/2/32,\nThird,2/2/32,\n');
    const options = [
      '--map',
      'Titel=name',
      '--map',
      'When=start_date',
      '--date-order=dmy',
      '--category=Music',
      '--category=Jazz',
      '--status=draft',
    ];
    const { code, out } = await of(target)('import', path('events.csv'), '--preview=2', ...options);
    expect(code).toBe(0);
    expect(out).toMatch(
      /The first records as they would be stored:\n {2}kind +name +start +end +time zone +status +categories, tags +cost\n {2}event +Concert +2031-12-31 20:30:00 +2031-12-31 20:30:00 +\S+ +draft +Music, Jazz +12\n {2}event +Fair +2032-02-01 00:00:00 .*\nNothing was written/,
    );
    const { preview } = JSON.parse((await of(target)('import', '--preview', path('events.csv'), '--format=json', ...options)).out);
    expect(preview).toHaveLength(3);
    expect(preview[0]).toMatchObject({
      kind: 'event',
      columns: { post_title: 'Concert', post_status: 'draft' },
      metas: expect.arrayContaining([['_EventStartDate', '2031-12-31 20:30:00']]),
      terms: [
        { kind: 'category', name: 'Music' },
        { kind: 'category', name: 'Jazz' },
      ],
    });
    expect(await target.from('posts')).toEqual([]);
    // The import stores the previewed values.
    await of(target)('import', path('events.csv'), ...options);
    const [concert] = await target.from('posts').where('post_title', 'Concert');
    const metas = await target.from('postmeta').where('post_id', concert!.ID);
    expect(metas.map(({ meta_key, meta_value }) => [meta_key, meta_value]).sort()).toEqual([...preview[0].metas].sort());
  });

  it('report what was imported with --skip-bad-rows if the bad rows cannot be written beside the file', async () => {
    // With the further part of its name, it is too long for the file system.
    const name = `${'a'.repeat(245)}.csv`;
    writeFileSync(path(name), 'Event Name,Event Start Date\nGood,2031-01-01\nBad,someday\n');
    const { code, out, err } = await of(target)('import', path(name), '--skip-bad-rows', '--format=json');
    expect([code, JSON.parse(out).created]).toEqual([3, { event: 1 }]);
    expect(err).toMatch(/the skipped rows could not be kept\. .*a\.rejected\.csv cannot be written \(ENAMETOOLONG\)\. To get them/);
    expect(await target.from('posts').where('post_type', 'tribe_events').pluck('post_title')).toEqual(['Good']);
  });

  it('skip bad rows of CSV files with --skip-bad-rows, and report their file', async () => {
    writeFileSync(path('mixed.csv'), 'Event Name,Event Start Date\nGood,2031-01-01\nBad,soon\n');
    expect((await of(target)('import', path('mixed.csv'))).code).toBe(1);
    expect((await of(target)('import', path('mixed.csv'), '--skip-bad-rows', '--dry-run')).out).not.toContain('rejected');
    expect(existsSync(path('mixed.rejected.csv'))).toBe(false);
    const { code, out } = await of(target)('import', path('mixed.csv'), '--skip-bad-rows');
    expect([code, out]).toEqual([3, expect.stringContaining(`Skipped rows are in ${path('mixed.rejected.csv')} (1): `)]);
    expect(readFileSync(path('mixed.rejected.csv'), 'utf8')).toBe('\ufeffEvent Name,Event Start Date\r\nBad,soon\r\n');
    rmSync(path('mixed.rejected.csv'));
  });

  it('apply status and category to records of any source without publishing unpublished ones', async () => {
    await of(original)('export', path('all.jsonl'));
    const before = await original.from('posts').whereIn('post_type', ['tribe_events', 'tribe_venue', 'tribe_organizer']);
    expect((await of(target)('import', path('all.jsonl'), '--status=private', '--category=From there')).code).toBe(0);
    const after = new Map((await target.from('posts')).map((post) => [post.ID, post.post_status]));
    expect(before.map(({ ID }) => after.get(ID))).toEqual(
      before.map(({ post_status: status }) => (['publish', 'future'].includes(status) ? 'private' : status)),
    );
    const [term] = await target.from('terms').where('name', 'From there');
    const [row] = await target.from('term_taxonomy').where({ term_id: term!.term_id, taxonomy: 'tribe_events_cat' });
    const events = before.filter(({ post_type }) => post_type === 'tribe_events').map(({ ID }) => ID);
    const carriers = await target.from('term_relationships').where('term_taxonomy_id', row!.term_taxonomy_id);
    expect(carriers.map(({ object_id }) => object_id).sort((a, b) => a - b)).toEqual(events.sort((a, b) => a - b));
    // A second import changes nothing.
    const again = JSON.parse(
      (await of(target)('import', path('all.jsonl'), '--status=private', '--category=From there', '--format=json')).out,
    );
    expect([again.created, again.updated]).toEqual([{}, {}]);
  });

  it('take an empty name of a source or a category, as of a variable that is not set, for none', async () => {
    writeFileSync(path('unset.csv'), 'Event Name,Event Start Date\nUnset,2031-01-01\n');
    const { code, out } = await of(target)('import', path('unset.csv'), '--source=', '--category=', '--format=json');
    expect([code, JSON.parse(out).source]).toEqual([0, 'csv']);
  });

  it('keep the status of records that are imported again without --status', async () => {
    writeFileSync(path('once.csv'), 'Organizer Name,Organizer Phone\nAnna,1\n');
    await of(target)('import', path('once.csv'), '--status=draft');
    writeFileSync(path('once.csv'), 'Organizer Name,Organizer Phone\nAnna,2\n');
    await of(target)('import', path('once.csv'));
    expect((await target.from('posts').where('post_title', 'Anna')).map(({ post_status }) => post_status)).toEqual(['draft']);
  });

  it.each([['=name'], ['Titel']])('refuse --map %s', async (pair) => {
    expect(await of(target)('import', path('events.csv'), '--map', pair)).toMatchObject({ code: 2 });
  });

  it('suggest what to do if records refer to records that are not in the source', async () => {
    writeFileSync(path('alone.csv'), 'Event Name,Event Start Date,Event Venue Name\nA,2031-01-01,Teatro\n');
    expect((await of(target)('import', path('alone.csv'), '--dry-run')).out).toContain('Import the files of venues and organizers first');
    await of(original)('export', path('alone.xml'));
    const items = readFileSync(path('alone.xml'), 'utf8').split(/(?=<item>)/);
    const xml = items.map((item) => (item.includes('tribe_venue') ? (item.split('</item>')[1] ?? '') : item)).join('');
    writeFileSync(path('alone.xml'), xml);
    const { code, out } = await of(target)('import', path('alone.xml'), '--dry-run');
    expect([code, out]).toEqual([3, expect.stringContaining('"All content"')]);
  });

  it('keep the most recently changed version of a record, in any order', async () => {
    await of(original)('export', path('whole.xml'), '--force');
    const xml = readFileSync(path('whole.xml'), 'utf8');
    const items = xml.split(/(?=<item>)/).map((item) => item.split('</channel>')[0]!);
    const [first, second] = items.filter((item) => item.includes('<![CDATA[tribe_venue]]>') || item.includes('>tribe_venue<'));
    const renamed = (item: string, title: string, modified: string) =>
      item
        .replace(/<title>.*?<\/title>/s, `<title>${title}</title>`)
        .replace(
          /<wp:post_modified(_gmt)?>.*?<\/wp:post_modified(?:_gmt)?>/gs,
          (_, gmt = '') => `<wp:post_modified${gmt}>${modified}</wp:post_modified${gmt}>`,
        );
    const more = [renamed(first!, 'Earlier', '2001-01-01 00:00:00'), renamed(second!, 'Later', '2031-01-01 00:00:00'), second!];
    writeFileSync(
      path('twice.xml'),
      xml.replace('</channel>', () => `${more.join('')}</channel>`),
    );
    const importing = async (...args: string[]) =>
      JSON.parse((await of(target)('import', path('twice.xml'), '--format=json', ...args)).out);
    const rehearsal = await importing('--dry-run');
    const done = await importing();
    expect(rehearsal).toEqual({ ...done, dryRun: true });
    expect(done).toMatchObject({ created: { venue: 11 }, updated: {} });
    expect(done.losses[0]).toMatchObject({ reason: 'version-older', count: 3 });
    const titles = await target.from('posts').where('post_type', 'tribe_venue').pluck('post_title');
    expect([titles.includes('Earlier'), titles.includes('Later')]).toEqual([false, true]);
    expect(await importing('--dry-run')).toMatchObject({ created: {}, updated: {} });
    expect(await importing()).toMatchObject({ created: {}, updated: {} });
  });

  it('end with 3 if something was lost, and report what and where', async () => {
    writeFileSync(
      path('events.csv'),
      'Event Name,Event Start Date,Event Venue Name\nTalks &amp; books,2031-01-01,Arts & crafts &amp; co.\n',
    );
    const { out: preview } = await of(target)('import', path('events.csv'), '--preview');
    expect(preview).toMatch(/ event +Talks & books +.* Arts & crafts & co\./);
    expect(preview).toContain('\nNothing was written. This would happen to events.csv:\n');
    const { code, out, err } = await of(target)('import', path('events.csv'));
    expect([code, err]).toEqual([3, 'Error: some data could not be kept; see the list above.\n']);
    expect(out).toContain('Imported from events.csv:\n');
    expect(out).toContain(
      '  A venue, organizer or image that it links to is missing (1)\n    events.csv:2 · Talks & books · venue: Arts & crafts & co.\n',
    );
  });

  it('explain which sources must be imported one at a time', async () => {
    for (const name of ['one.ics', 'two.ics']) writeFileSync(path(name), 'BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n');
    expect(await of(target)('import', path('one.ics'), path('two.ics'))).toMatchObject({
      code: 1,
      err: 'Error: Databases, addresses and iCalendar files are imported one at a time: run the command once for each.\n',
    });
  });

  it('show rate and remaining time on standard error on a terminal', async () => {
    const { err, out } = await of(target, true)('import', urlOf(original));
    expect(err).toContain('Reading the source\n');
    expect(err).toMatch(/\r\u001b\[KImporting: \d+ of \d+, \d+ per second, \d+:\d\d left/);
    expect(out).not.toContain('\r');
  });

  it('import settings only on request', async () => {
    await writeOption(target, 'timezone_string', asStored('UTC'));
    const told = await of(target)('import', urlOf(original), '--format=json');
    expect(JSON.parse(told.out).losses).toMatchObject([
      { reason: 'setting-differs', examples: [{ of: 'timezone_string', detail: 'Europe/Rome / UTC' }] },
    ]);
    expect(told.code).toBe(0);
    await of(target)('import', urlOf(original), '--settings');
    expect((await readOptions(target, ['timezone_string'])).get('timezone_string')).toBe('Europe/Rome');
  });

  it("import settings that the source leaves at the plugin's default, such as the currency", async () => {
    await setOptions(target, {
      tribe_events_calendar_options: { defaultCurrencySymbol: '€', eventsSlug: 'calendar' },
      rewrite_rules: { 'calendar/?$': 'index.php?post_type=tribe_events' },
    });
    await of(target)('import', urlOf(original), '--settings');
    expect((await readOptions(target, ['rewrite_rules'])).get('rewrite_rules')).toBe('');
    const option = (await readOptions(target, ['tribe_events_calendar_options'])).get('tribe_events_calendar_options');
    expect([option?.includes('defaultCurrencySymbol'), option?.includes('eventsSlug'), option?.includes('did_init')]).toEqual([
      false,
      false,
      true,
    ]);
  });

  it('report unreadable sources in the language of the command', async () => {
    const asked = async (...args: string[]) => {
      const { code, err } = await of(target)(...args);
      return [code, err];
    };
    expect(await asked('import', path('absent.xml'))).toEqual([1, `Error: ${path('absent.xml')} cannot be read (ENOENT).\n`]);
    expect(await asked('import', `sqlite:${path('absent.sqlite')}`)).toEqual([
      1,
      `Error: ${path('absent.sqlite')} cannot be read (ENOENT).\n`,
    ]);
    expect(existsSync(path('absent.sqlite'))).toBe(false);
    writeFileSync(path('nothing.sqlite'), '');
    expect(await asked('import', `sqlite:${path('nothing.sqlite')}`)).toEqual([
      1,
      'Error: There is no WordPress in that database: wp_posts is missing. Is --prefix right?\n',
    ]);
    writeFileSync(path('x.jsonl'), '{}\n');
    expect(await asked('import', path('x.jsonl'), '--language=it')).toEqual([
      1,
      'Errore: x.jsonl, riga 1: non è un file JSON lines scritto da fasti.\n',
    ]);
    expect((await asked('import', urlOf(original), '--resume'))[1]).toBe(
      'Error: There is no unfinished import from 127.0.0.1:8081 to continue.\n',
    );
    expect((await asked('export', path('a.xml'), '--kind=poem'))[0]).toBe(2);
    expect((await asked('export', path('a.xml'), '--kind=venue', '--categories=music'))[0]).toBe(2);
    expect(await asked('export', path('a.ics'), '--kind=venue')).toEqual([
      2,
      expect.stringContaining('iCalendar files hold only events: leave out --kind=venue, or choose another format.'),
    ]);
    expect((await asked('export', path('a.pdf')))[0]).toBe(1);
    // HTML pages can be imported but not exported.
    expect((await asked('export', path('a.html')))[1]).toMatch(/^Error: The format of a\.html .*\.csv .*\.vcs\.\n$/);
    expect(await asked('export', path('absent/a.xml'))).toEqual([1, `Error: ${path('absent/a.xml')} cannot be written (ENOENT).\n`]);
    expect(await asked('backup', path('absent/a.backup'), '--language=it')).toEqual([
      1,
      `Errore: Non è possibile scrivere ${path('absent/a.backup')} (ENOENT).\n`,
    ]);
    expect((await asked('export', '-'))[0]).toBe(2);
    expect(existsSync(path('a.xml'))).toBe(false);
  });

  it('keep the existing file if an export fails', async () => {
    writeFileSync(path('kept.xml'), 'as it was');
    expect(await of(original)('export', path('kept.xml'))).toMatchObject({
      code: 1,
      err: `Error: ${path('kept.xml')} already exists; --force overwrites it.\n`,
    });
    expect((await of(original)('export', path('kept.xml'), '--force', '--categories=unheard-of')).code).toBe(1);
    expect(readFileSync(path('kept.xml'), 'utf8')).toBe('as it was');
  });
});

describeDatabases('site of a network', (open) => {
  it('is imported from the tables with its number, with the users of the network and their roles on the site', async () => {
    const db = await loadSite(await open());
    const second = await openDatabase({ url: urlOf(db), prefix: 'wp_2_' });
    await migrate(second, { besideOthers: true });
    const tables: TableName[] = [
      'posts',
      'postmeta',
      'terms',
      'term_taxonomy',
      'term_relationships',
      'tec_events',
      'tec_occurrences',
      'options',
    ];
    for (const table of tables) {
      await second.knex(second.table(table)).del();
      await second.knex.raw('INSERT INTO ?? SELECT * FROM ??', [second.table(table), db.table(table)]);
      if (table !== 'options') await db.knex(db.table(table)).del();
    }
    await second.from('options').where('option_name', 'home').update({ option_value: 'https://network.example.org/two' });
    await second.from('options').where('option_name', 'wp_user_roles').update({ option_name: 'wp_2_user_roles' });
    await db.from('usermeta').where('meta_key', 'wp_capabilities').update({ meta_key: 'wp_2_capabilities' });
    const target = await open();
    await loadSite(target, bareFixture());
    const site = await siteOf(target);
    const source = await openWordpressDatabase({ url: urlOf(db), prefix: 'wp_', site: 2 });
    const report = await importSource(site, source);
    expect(report).toMatchObject({
      source: 'network.example.org/two',
      created: { event: 53, venue: 11, organizer: 8, author: 3 },
      lost: {},
    });
    const roles = await target.from('usermeta').where('meta_key', 'wp_capabilities').orderBy('user_id').select('user_id', 'meta_value');
    expect(roles[1]).toEqual({ user_id: 2, meta_value: 'a:1:{s:6:"editor";b:1;}' });
    await source.close();
    await site.close();
    await second.close();
  });
});
