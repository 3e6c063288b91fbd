import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { commandsPage } from '../../src/cli/commands-page.ts';
import { expandBooleanFlags, expandOptionalNumbers } from '../../src/cli/content-flags.ts';
import { manPage } from '../../src/cli/man-page.ts';
import { createProgram } from '../../src/cli/program.ts';
import { loadTexts, type Say } from '../../src/texts.ts';
import { commandIn, embedded, temporaryFolder } from './command.ts';

const NOW = new Date('2026-06-01T10:00:00Z');

const env = embedded(temporaryFolder());
const fasti = commandIn(env, { now: NOW });

const id = async (...args: string[]) => (await fasti(...args, '--porcelain')).out.trim();
const json = async (...args: string[]) => JSON.parse((await fasti(...args, '--format=json')).out);
const newEvent = (title: string, ...more: string[]) =>
  id('event', 'create', `--title=${title}`, '--start_date=2026-06-10 20:00', '--end_date=2026-06-10 22:00', ...more);

beforeAll(async () => {
  expect((await fasti('init')).code).toBe(0);
});

describe('records on the command line', () => {
  it('are created, shown, updated and moved to the trash', async () => {
    const event = await newEvent('Concert', '--featured', '--cost=12');
    expect(event).toMatch(/^\d+$/);
    expect(await json('event', 'get', event, '--fields=title,featured,cost_details')).toMatchObject({
      title: 'Concert',
      featured: true,
      cost_details: { values: ['12'] },
    });

    expect((await fasti('event', 'update', event, '--title=Late concert', '--no-featured')).out).toBe(`Done: ${event} changed.\n`);
    expect(await json('event', 'get', 'concert', '--fields=id,title,featured')).toEqual({
      id: Number(event),
      title: 'Late concert',
      featured: false,
    });

    expect(await fasti('event', 'delete', event)).toMatchObject({ code: 0, out: `Done: ${event} moved to the trash.\n` });
    expect(await fasti('event', 'get', event)).toMatchObject({ code: 1, out: '', err: 'Error: This event is in the trash.\n' });
  });

  it('accept dates with the day first only if the language of the site writes them so and no other reading is possible', async () => {
    const dates = ['--start_date=31/12/2026 21:00', '--end_date=31.12.2026 23:30'];
    expect(await fasti('event', 'create', '--title=31/12/2026', ...dates)).toMatchObject({
      code: 1,
      err: expect.stringContaining('--start_date'),
    });
    await fasti('option', 'set', 'language', 'it_IT');
    const event = await id('event', 'create', '--title=31/12/2026', ...dates);
    expect(await json('event', 'get', event, '--fields=title,start_date,end_date')).toEqual({
      title: '31/12/2026',
      start_date: '2026-12-31 21:00:00',
      end_date: '2026-12-31 23:30:00',
    });
    expect((await fasti('event', 'list', '--start_date=31/12/2026', '--format=ids')).out.trim()).toBe(event);
    await fasti('option', 'set', 'language', 'en_US');
    await fasti('event', 'delete', event, '--force');
  });

  it('are restored from the trash with status and slug, and deleted permanently with --force', async () => {
    const event = await newEvent('Lost and found', '--status=private');
    await fasti('event', 'delete', event);
    expect(await fasti('event', 'restore', 'lost-and-found')).toMatchObject({ code: 0, out: `Done: ${event} restored.\n` });
    expect(await json('event', 'get', event, '--fields=slug,status')).toEqual({ slug: 'lost-and-found', status: 'private' });
    expect(await fasti('event', 'restore', event)).toMatchObject({ code: 1, err: 'Error: The record is not in the trash.\n' });
    expect(await fasti('event', 'restore', '--language=it', 'nowhere')).toMatchObject({ code: 1 });
    expect((await fasti('event', 'delete', event, '--force')).out).toBe(`Done: ${event} deleted.\n`);
    expect((await fasti('event', 'get', event)).code).toBe(1);
  });

  it('are restored from the trash by ID rather than by a slug of the same digits', async () => {
    const event = await newEvent('Named by its ID');
    const namesake = await newEvent('Namesake', `--slug=${event}`);
    expect(await json('event', 'get', namesake, '--fields=slug')).toEqual({ slug: event });
    await fasti('event', 'delete', event, namesake);
    expect(await fasti('event', 'restore', event)).toMatchObject({ code: 0, out: `Done: ${event} restored.\n` });
    expect(await fasti('event', 'restore', `${event}__trashed`)).toMatchObject({ code: 0, out: `Done: ${namesake} restored.\n` });
    await fasti('event', 'delete', event, namesake, '--force');
  });

  it.each([
    ['a long slug', 'long-'.repeat(40).slice(0, 199)],
    ['a long slug of other letters', '日'.repeat(22)],
  ])('are restored from the trash by %s', async (_, slug) => {
    const event = await newEvent('Long', `--slug=${slug}`);
    await fasti('event', 'delete', event);
    expect(await fasti('event', 'restore', slug)).toMatchObject({ code: 0, out: `Done: ${event} restored.\n` });
    await fasti('event', 'delete', event, '--force');
  });

  it('are not restored from the trash by an empty reference', async () => {
    const draft = await newEvent('Draft', '--status=draft');
    await fasti('event', 'delete', draft);
    expect(await fasti('event', 'restore', '')).toMatchObject({ code: 1, out: '' });
    await fasti('event', 'delete', draft, '--force');
  });

  it('are not meant by a text that only becomes their slug', async () => {
    const event = await newEvent('C');
    expect(await fasti('event', 'delete', 'C#')).toMatchObject({ code: 1, out: '' });
    for (const slug of ['c', 'C', '/c/']) expect((await fasti('event', 'get', slug, '--field=id')).out).toBe(`${event}\n`);
    await fasti('event', 'delete', event);
    expect(await fasti('event', 'restore', 'C#')).toMatchObject({ code: 1, out: '' });
    await fasti('event', 'delete', event, '--force');
  });

  it('are not meant by a slug that several have, of which each is named by its ID', async () => {
    const twins = [await newEvent('Twin', '--slug=twin', '--status=draft'), await newEvent('Twin', '--slug=twin', '--status=draft')];
    for (const action of [['delete'], ['delete', '--force'], ['update', '--title=Other'], ['get']])
      expect(await fasti('event', ...action, 'twin')).toMatchObject({
        code: 1,
        out: '',
        err: expect.stringContaining(`"twin" is the name or slug of several records; name one by its id: ${twins.join(', ')}.\n`),
      });
    await fasti('event', 'delete', ...twins, '--force');
  });

  it('report which of several records failed and which were not processed', async () => {
    const [one, two] = [await newEvent('First of several'), await newEvent('Last of several')];
    expect(await fasti('event', 'update', one, '9999999', two, '--title=Several', '--porcelain')).toMatchObject({
      code: 1,
      out: `${one}\n`,
      err: `Error: 9999999: This event does not exist.\nNothing was done with: ${two}\n`,
    });
    expect(await fasti('event', 'delete', 'nowhere', one, two, '--language=it')).toMatchObject({
      code: 1,
      out: '',
      err: `Errore: nessun contenuto ha l'ID o lo slug "nowhere".\nNon è stato fatto nulla con: ${one} ${two}\n`,
    });
    expect((await fasti('event', 'delete', '9999999')).err).toBe('Error: This event does not exist.\n');
    expect((await fasti('user', 'delete', 'nobody', 'neither')).err).toBe(
      'Error: there is no user nobody.\nNothing was done with: neither\n',
    );
    await fasti('event', 'delete', one, two, '--force');
  });

  it('create new venues and organizers that are given as JSON', async () => {
    const event = await newEvent(
      'Reading',
      '--venue={"venue":"Library","city":"Lucca"}',
      '--organizer=[{"organizer":"Anna"},{"organizer":"Bruno"}]',
    );
    expect(await json('event', 'get', event, '--fields=venue.city')).toEqual({ 'venue.city': 'Lucca' });
    // Records without an external ID have no such member.
    expect(await json('event', 'get', event, '--fields=external_id')).toEqual({ external_id: null });
    expect((await fasti('organizer', 'list', '--event', event, '--field=organizer')).out.split('\n').filter(Boolean).sort()).toEqual([
      'Anna',
      'Bruno',
    ]);
  });

  it('clear a field that gets an empty value', async () => {
    const venue = await id('venue', 'create', '--venue=Mill', '--phone=123', '--city=Prato');
    await fasti('venue', 'update', venue, '--phone=');
    const changed = await json('venue', 'get', venue);
    expect(changed.city).toBe('Prato');
    expect(changed).not.toHaveProperty('phone');
  });

  it.each([
    ['event', ['--title=Guarded', '--start_date=2026-06-10', '--end_date=2026-06-11'], '--title=Other'],
    ['venue', ['--venue=Guarded'], '--venue=Other'],
    ['organizer', ['--organizer=Guarded'], '--organizer=Other'],
    ['category', ['--name=Guarded'], '--name=Other'],
    ['tag', ['--name=Guarded'], '--name=Other'],
  ])('of the kind %s are written with --if-match only if they have not changed', async (kind, fields, change) => {
    const record = await id(kind, 'create', ...fields);
    const { out: tag } = await fasti(kind, 'get', record, '--etag');
    expect(tag).toMatch(/^"[0-9a-f]{20}"\n$/);
    expect((await fasti(kind, 'update', record, change, `--if-match=${tag.trim()}`)).code).toBe(0);
    const conflict = { code: 1, out: '', err: expect.stringMatching(/^Error: Somebody has changed this record/) };
    expect(await fasti(kind, 'update', record, change, `--if-match=${tag.trim()}`)).toMatchObject(conflict);
    expect(await fasti(kind, 'delete', record, `--if-match=${tag.trim()}`)).toMatchObject(conflict);
    const { out: fresh } = await fasti(kind, 'get', record, '--etag');
    expect((await fasti(kind, 'delete', record, `--if-match=${fresh.trim().replaceAll('"', '')}`)).code).toBe(0);
  });

  it('of taxonomies are found by ID, slug or name', async () => {
    const music = await id('category', 'create', '--name=Live Music');
    const jazz = await id('category', 'create', '--name=Jazz', `--parent=${music}`);
    for (const reference of [music, 'live-music', 'Live Music'])
      expect((await fasti('category', 'get', reference, '--field=id')).out).toBe(`${music}\n`);
    const moved = await fasti('category', 'update', music, `--parent=${jazz}`);
    expect([moved.code, moved.err]).toEqual([
      0,
      'Warning: parent: it is below this category itself; the category is now at the top level\n',
    ]);
    expect(await json('category', 'list', `--parent=${music}`, '--fields=name,count')).toEqual([{ name: 'Jazz', count: 0 }]);
    expect((await fasti('category', 'delete', 'jazz')).out).toBe(`Done: ${jazz} deleted.\n`);
    expect((await fasti('category', 'get', 'jazz')).code).toBe(1);
  });

  it('are meant by digits only as an ID, even if the digits are the slug or name of another one', async () => {
    const kids = await id('category', 'create', '--name=Kids');
    const [bySlug, byName] = [
      await id('category', 'create', `--name=${kids}+`),
      await id('category', 'create', `--name=${kids}`, '--slug=ages'),
    ];
    expect((await fasti('category', 'delete', kids)).out).toBe(`Done: ${kids} deleted.\n`);
    expect(await fasti('category', 'delete', kids)).toMatchObject({ code: 1, out: '' });
    expect((await fasti('category', 'delete', `${kids}+`, 'ages', '--porcelain')).out).toBe(`${bySlug}\n${byName}\n`);
  });

  it('are categories or tags of exactly the given slug or name', async () => {
    const [c, plus] = [await id('tag', 'create', '--name=C'), await id('tag', 'create', '--name=C++')];
    expect(await json('tag', 'get', plus, '--fields=slug')).toEqual({ slug: 'c-2' });
    expect((await fasti('tag', 'get', 'C++', '--field=id')).out).toBe(`${plus}\n`);
    for (const other of ['C#', 'C%23', 'C%2B%2B', 'C<b>']) expect(await fasti('tag', 'delete', other)).toMatchObject({ code: 1, out: '' });
    for (const own of ['c', 'C', ' C ']) expect((await fasti('tag', 'get', own, '--field=id')).out).toBe(`${c}\n`);
    const rock = await id('tag', 'create', '--name=Rock & <Roll');
    for (const own of ['Rock & <Roll', 'Rock &amp; &lt;Roll', 'rock & <roll', 'Rock-Roll'])
      expect((await fasti('tag', 'get', own, '--field=id')).out).toBe(`${rock}\n`);
    const tea = await id('tag', 'create', '--name=Tea', '--slug=お茶');
    const slug = (await fasti('tag', 'get', tea, '--field=slug')).out.trim();
    for (const reference of ['お茶', slug]) expect((await fasti('tag', 'get', reference, '--field=id')).out).toBe(`${tea}\n`);
    await fasti('tag', 'delete', c, plus, rock, tea);
  });

  it('are not meant by a text that is the slug of one and the name of another', async () => {
    const renamed = await id('tag', 'create', '--name=jazz');
    await fasti('tag', 'update', renamed, '--name=swing');
    const other = await id('tag', 'create', '--name=jazz', '--slug=jazz-2');
    for (const reference of ['jazz', 'JAZZ'])
      expect(await fasti('tag', 'delete', reference)).toMatchObject({ code: 1, err: expect.stringContaining(`${renamed}, ${other}.`) });
    expect((await fasti('tag', 'delete', 'swing', 'jazz-2', '--porcelain')).out).toBe(`${renamed}\n${other}\n`);
  });

  it('are only changed by a name that several have if its spelling tells them apart', async () => {
    const above = await id('category', 'create', '--name=Above');
    const terms = [
      await id('category', 'create', '--name=Café', '--slug=coffee'),
      await id('category', 'create', '--name=Cafe', '--slug=canteen', `--parent=${above}`),
    ];
    expect((await fasti('category', 'get', 'Cafe', '--field=id')).out).toBe(`${terms[1]}\n`);
    expect(await fasti('category', 'delete', 'CAFE')).toMatchObject({
      code: 1,
      out: '',
      err: `Error: "CAFE" is the name or slug of several records; name one by its id: ${terms.join(', ')}.\n`,
    });
    await fasti('category', 'delete', above, ...terms);
  });

  it('are refused to users without the capability', async () => {
    await fasti('user', 'create', 'sub', 'sub@example.org');
    const refused = await fasti('venue', 'create', '--venue=Castle', '--user=sub');
    expect(refused).toMatchObject({ code: 1, out: '', err: 'Error: You are not allowed to do that.\n' });
    expect((await fasti('venue', 'list', '--search=Castle', '--format=count')).out).toBe('0\n');
  });
});

describe('list command', () => {
  beforeAll(async () => {
    for (const title of ['=HYPERLINK("x")', 'Plain, with comma', 'Bell \u0007 and <b>bold</b> &amp; more'])
      await newEvent(title, '--tags=listed');
  });

  const listed = (...more: string[]) => fasti('event', 'list', '--tags=listed', '--orderby=id', '--order=asc', ...more);

  it('prints IDs for use in other commands', async () => {
    expect((await listed('--format=ids')).out).toMatch(/^\d+ \d+ \d+\n$/);
  });

  it('prints the count', async () => {
    expect((await listed('--format=count')).out).toBe('3\n');
  });

  it('lists one page if a page size is given', async () => {
    expect((await listed('--per_page=2', '--format=ids')).out).toMatch(/^\d+ \d+\n$/);
  });

  it('prints no formulas in CSV', async () => {
    const lines = (await listed('--format=csv', '--fields=title,start_date')).out.split('\r\n');
    expect(lines[0]).toBe('title,start_date');
    expect(lines[1]).toMatch(/^'=HYPERLINK/);
    expect(lines[2]).toBe('"Plain, with comma",2026-06-10 20:00:00');
  });

  it('prints a table without control characters on a terminal', async () => {
    const watched = commandIn(env, { now: NOW, terminal: true });
    const { out } = await watched('event', 'list', '--tags=listed', '--search=Bell', '--fields=title,tags');
    expect(out.split('\n').slice(0, 5)).toEqual([
      '+----------------------+--------+',
      '| title                | tags   |',
      '+----------------------+--------+',
      '| Bell and bold & more | listed |',
      '+----------------------+--------+',
    ]);
  });

  it('separates columns by tabs in a pipe', async () => {
    expect((await listed('--search=comma', '--fields=title,status')).out).toBe('title\tstatus\nPlain, with comma\tpublish\n');
  });

  it('rejects fields that the records do not have', async () => {
    expect(await listed('--fields=id,colour')).toMatchObject({ code: 2, err: expect.stringContaining('no field colour') });
  });
});

describe('wrong usage', () => {
  it.each([
    [['event', 'lst'], 'there is no command lst'],
    [['event', 'list', '--colour=red'], 'there is no option --colour.'],
    [['event', 'create', '--titel=Jazz'], 'Did you mean --title?'],
    [['event', 'create', '--titel', 'Jazz'], 'Did you mean --title?'],
    [['event', 'create', '--start_dat=2026-12-31'], 'Did you mean --start_date?'],
    [['option', 'list', '--fields=option,vale'], 'Did you mean value?'],
    [['event', 'get'], 'the argument id-or-slug is missing'],
    [['event', 'list', '--format=yaml'], '--format must be one of table, json, csv, ids, count, not "yaml"'],
    [['event', 'update', '1'], 'no field to change was given'],
    [['event', 'update', '1', '2', '--title=x', '--if-match=y'], '--if-match works with one record at a time'],
    [['tag', 'delete', 'a', 'b', '--if-match=y'], '--if-match works with one record at a time'],
    [['event', 'create', '--title=x', '--venue={"venue":'], 'the value of --venue looks like JSON'],
    [['seed', '--events=many'], '--events must be a whole number'],
    [['option', 'list', '--format=ids'], 'the records have no field id; they have option, value, meaning.'],
    [['media', 'delete', '12abc'], 'Error: id must be an id, a whole number above 0, not "12abc".'],
    [['media', 'upload', 'a.png', '--post=0'], 'Error: --post must be an id, a whole number above 0, not "0".'],
    [['webhook', 'remove', 'x'], 'Error: id must be an id, a whole number above 0, not "x".'],
    [['languages', 'assign'], 'the option --to is missing.'],
    [['languages', 'assign', '--language=it'], "Errore: manca l'opzione --to.\n"],
  ])('exits with 2: %j', async (args, sentence) => {
    const { code, out, err } = await fasti(...args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(sentence);
  });
});

describe('flag of a command', () => {
  it('is explained on a separate line with an example if its value is invalid', async () => {
    const { code, err } = await fasti('event', 'create', '--title=x', '--start_date=31/31/2026 21:00', '--end_date=2026-12-31 23:00');
    expect(code).toBe(1);
    expect(err.split('\n')[1]).toBe(
      '--start_date: "31/31/2026 21:00" is not a date and time that can be understood. For example: 2026-12-31 21:00',
    );
  });
  it('is explained in the language of the command', async () => {
    const { err } = await fasti('event', 'list', '--per_page=abc', '--language=it');
    expect(err).toContain('\n--per_page: "abc" non è un numero intero maggiore di zero. Per esempio: 12\n');
  });
  it('may be written with hyphens', async () => {
    const flags = ['--title=Hyphens', '--start-date=2030-05-01 10:00', '--end-date', '2030-05-01 11:00', '--no-all-day'];
    const { code, out } = await fasti('event', 'create', ...flags, '--porcelain');
    expect(code).toBe(0);
    expect((await fasti('event', 'get', out.trim(), '--field=start_date')).out.trim()).toBe('2030-05-01 10:00:00');
  });
  it('causes a warning if it names a term that does not exist', async () => {
    const warning = 'Warning: tags: there is no term 99999; it was left out\n';
    const dates = ['--start_date=2030-05-01', '--end_date=2030-05-01'];
    const created = await fasti('event', 'create', '--title=Fair', ...dates, '--tags=Market,99999', '--porcelain');
    expect([created.code, created.err]).toEqual([0, warning]);
    const updated = await fasti('event', 'update', created.out.trim(), '--tags=99999');
    expect([updated.code, updated.err]).toEqual([0, warning]);
  });
  it('causes a warning if it contains an unknown field of a new record', async () => {
    const dates = ['--start_date=2030-05-01 10:00', '--end_date=2030-05-01 11:00'];
    const { code, err } = await fasti('event', 'create', '--title=Barn dance', ...dates, '--venue={"venue":"Barn","citty":"Asti"}');
    expect([code, err]).toEqual([0, 'Warning: unknown field: venue.citty (did you mean city?)\n']);
  });

  it('creates or updates a record without a warning if it is --upsert', async () => {
    const copy = (name: string, city: string) =>
      fasti('venue', 'create', '--upsert=external_id', '--external_id=crm 1', `--venue=${name}`, `--city=${city}`, '--porcelain');
    const first = await copy('Mill', 'Asti');
    expect(first).toMatchObject({ code: 0, err: '' });
    expect(await copy('Old mill', '')).toEqual(first);
    const changed = await json('venue', 'get', first.out.trim());
    expect([changed.venue, changed.city]).toEqual(['Old mill', undefined]);
  });

  it('is ignored if it is --fields without a value', async () => {
    expect((await fasti('venue', 'list', '--fields=')).out).toBe((await fasti('venue', 'list')).out);
  });
});

describe('refused command', () => {
  it.each([
    [['event', 'create', '--title=x'], 'Missing parameter(s): start_date, end_date'],
    [['event', 'create', '--title=x', '--start_date=bla', '--end_date=now'], 'Invalid parameter(s): start_date'],
    [['event', 'create', '--title=x', '--start_date=2026-06-02', '--end_date=2026-06-01'], 'The end must not come before the start.'],
    [['venue', 'get', '999999'], 'Invalid parameter(s): id'],
    [['event', 'get', 'no-such-slug'], 'nothing was found with the id or slug "no-such-slug"'],
    [['event', 'list', '--user=nobody'], 'there is no user nobody'],
  ])('exits with 1: %j', async (args, sentence) => {
    const { code, out, err } = await fasti(...args);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(sentence);
  });

  it('exits with 69 if the database cannot be reached', async () => {
    const away = commandIn({ ...env, DATABASE_URL: 'mysql://nobody:x@127.0.0.1:1/none' });
    expect(await away('event', 'list')).toMatchObject({ code: 69, err: expect.stringContaining('the database cannot be reached') });
  });
});

describe('boolean flags', () => {
  it.each([
    ['event update --featured 12', 'event update --featured=true 12'],
    ['event update --no-featured 12', 'event update --featured=false 12'],
    ['event update --featured no 12', 'event update --featured no 12'],
    ['event update --featured=no 12', 'event update --featured=no 12'],
    ['event update 12 --all_day 0', 'event update 12 --all_day 0'],
    ['venue update --show-map 0 5', 'venue update --show_map 0 5'],
    ['event update --featured 1', 'event update --featured=true 1'],
    ['--user 3 event update 12 --featured 1', '--user 3 event update 12 --featured=true 1'],
    ['event create --title update --all_day 1', 'event create --title update --all_day 1'],
    ['event list --featured 0', 'event list --featured 0'],
    ['event list --ticketed 1 --language it', 'event list --ticketed 1 --language it'],
    ['event list --strict_dates local', 'event list --strict_dates local'],
    ['event list --strict_dates --featured local', 'event list --strict_dates=true --featured=true local'],
    ['venue list --has_events', 'venue list --has_events=true'],
    ['venue list --has_events local', 'venue list --has_events=true local'],
    ['venue list --search event --no-has_events', 'venue list --search event --has_events=false'],
    ['tag list --search event --no-hide_empty', 'tag list --search event --hide_empty=false'],
    ['--user event --language=it venue list --has_events', '--user event --language=it venue list --has_events=true'],
    ['export --featured a.csv --start-date=today', 'export --featured=true a.csv --start_date=today'],
    ['export a.csv --strict-dates local --featured 1', 'export a.csv --strict_dates local --featured 1'],
    ['export --strict-dates a.csv', 'export --strict_dates=true a.csv'],
    ['export --no-has-events --kind=venue a.csv', 'export --has_events=false --kind=venue a.csv'],
    ['doctor --fix --yes', 'doctor --fix --yes'],
    ['event get --porcelain 1', 'event get --porcelain 1'],
    ['event get -- --featured', 'event get -- --featured'],
  ])('are spelled out: %s', (given, spelled) => {
    expect(expandBooleanFlags(given.split(' '))).toEqual(spelled.split(' '));
  });
});

describe('options with or without a number', () => {
  it.each([
    ['import --preview events.csv', 'import --preview=5 events.csv'],
    ['import --follow https://old.example', 'import --follow=300 https://old.example'],
    ['import --follow 60 2026.csv', 'import --follow 60 2026.csv'],
    ['import --follow 5m https://old.example', 'import --follow 5m https://old.example'],
    ['import --preview 10lines events.csv', 'import --preview 10lines events.csv'],
    ['import --follow 2026.csv --preview', 'import --follow=300 2026.csv --preview=5'],
    ['import --preview=2 events.csv', 'import --preview=2 events.csv'],
    ['import -- --preview', 'import -- --preview'],
    ['event list --preview x', 'event list --preview x'],
  ])('take only a number for their value: %s', (given, spelled) => {
    expect(expandOptionalNumbers(given.split(' '))).toEqual(spelled.split(' '));
  });
});

describe('language of the messages', () => {
  it.each([
    [{ LANG: 'it_IT.UTF-8' }, [], 'Errore: '],
    [{ LANG: 'it_IT.UTF-8' }, ['--language=en'], 'Error: '],
    [{ LANG: 'C' }, [], 'Error: '],
    [{ LC_ALL: 'it', LANG: 'en_GB' }, [], 'Errore: '],
    [{ LANG: 'C' }, ['--language=IT'], 'Errore: '],
    [{ LANG: 'C' }, ['--language=it_CH'], 'Errore: '],
    [{ LANG: 'C' }, ['--language', 'en', '--language', 'it'], 'Errore: '],
  ])('follows the environment and the option: %j %j', async (more, args, begin) => {
    expect((await commandIn({ ...env, ...(more as Record<string, string>) })('event', 'get', '99999', ...args)).err).toMatch(
      new RegExp(`^${begin}`),
    );
  });

  it.each([
    [{ PORT: 'x' }, /^Errore: PORT vale "x", che/],
    [{ LANGUAGES: 'x y' }, /^Errore: LANGUAGES vale "x y", che/],
    [{ LANGUAGES: 'de' }, /^Errore: LANGUAGES vale "de"; non ci sono testi nella lingua "de"/],
  ])('is accepted whatever is wrong with the settings, which is what is reported: %j', async (more, message) => {
    const settings: Record<string, string> = { ...env, ...more };
    expect((await commandIn(settings)('event', 'list', '--language=it')).err).toMatch(message);
  });

  it.each(['xx', 'english', ''])('must be one that has texts: %j', async (code) => {
    expect(await fasti('event', 'list', `--language=${code}`)).toMatchObject({
      code: 2,
      out: '',
      err: `Error: --language must be one of en, it, not "${code}".\n`,
    });
  });

  it('is also used for help, including default values', async () => {
    expect((await fasti('user', 'create', '--help', '--language=it')).out).toMatch(
      /--role <role> +il ruolo dell'utente \(valore predefinito: subscriber\)\n/,
    );
    expect((await fasti('user', 'create', '--help')).out).toMatch(/--role <role> +the role of the user \(default: subscriber\)\n/);
    for (const language of ['en', 'it']) {
      const about = (await fasti('user', 'link', '--help', `--language=${language}`)).out.split('\n')[2];
      expect(about).toMatch(/^\p{Lu}.*\.$/u);
    }
  });

  it('is not changed by arguments after --', async () => {
    expect((await fasti('event', 'get', '99999', '--', '--language=xx')).err).toContain('too many arguments');
  });
});

describe('help', () => {
  it('lists the flags of the kind and examples for every command', async () => {
    const { code, out } = await fasti('event', 'create', '--help');
    expect(code).toBe(0);
    for (const part of ['--start_date <text>', '--all_day [yes|no]', 'Examples:', '$ fasti event create', '--user <user>'])
      expect(out).toContain(part);
  });

  it('includes the version', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };
    expect(await fasti('--version')).toMatchObject({ code: 0, out: `${version}\n`, err: '' });
  });

  it('works without a database and with an invalid setting', async () => {
    expect(await commandIn({ PORT: 'nonsense' })('--help')).toMatchObject({ code: 0, err: '' });
  });

  it('matches docs/commands.md', async () => {
    expect(readFileSync(new URL('../../docs/commands.md', import.meta.url), 'utf8')).toBe(commandsPage(await loadTexts(['en'])));
  });

  it('matches the man page, which contains only the expected macros', async () => {
    const page = readFileSync(new URL('../../man/fasti.1', import.meta.url), 'utf8');
    expect(page).toBe(manPage(await loadTexts(['en'])));
    expect([...new Set(page.match(/^\.\S+/gm))].sort()).toEqual(['.B', '.I', '.RI', '.SH', '.SS', '.TH', '.TP', '.\\"']);
  });

  it.each(['en', 'it'])('has a text for each command, argument and option in %s', async (language) => {
    const texts = await loadTexts(['en', 'it']);
    const missing: string[] = [];
    const say: Say = (key) => {
      const keys = [key].flat().map((name) => (name.includes(':') ? name : `cli:${name}`));
      if (!keys.some((name) => texts.has(language, name))) missing.push(keys.join(' '));
      return '';
    };
    createProgram({
      io: { env: {}, out: () => undefined, err: () => undefined, isTerminal: false, serve: async () => undefined },
      language,
      say,
    });
    expect(missing).toEqual([]);
  });
});
