import { beforeAll, expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { SITE_OPTIONS, type SiteOptionName } from '../../src/upkeep/site-options.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';
import { loadSite, setOptions } from '../support/site.ts';
import { commandIn, type Fasti, temporaryFolder } from './command.ts';

const folder = temporaryFolder();

/** Valid and invalid values of each option. */
const VALUES: Record<SiteOptionName, { good: string[]; bad: string[] }> = {
  title: { good: ['<b>"All\'s well"</b>', 'Città & “co”'], bad: ['a\u0000b', 'x'.repeat(201)] },
  tagline: { good: ['', 'Every week'], bad: ['a\nb'] },
  url: {
    good: ['https://calendar.example.org/sub'],
    bad: ['calendar', 'javascript:1', 'https://a/?b', 'https://u@a/', 'https:a.example', 'https:\\\\a', 'https://a/b c', ' https://a'],
  },
  email: { good: ['a@example.org'], bad: ['', 'a', 'a b@c', 'a@b'] },
  timezone: { good: ['America/New_York', 'UTC', 'UTC+5.5', 'UTC-3'], bad: ['', 'Roma', 'UTCx', 'UTC+15', 'EST'] },
  language: {
    good: ['it_IT', 'en_US', 'de_DE_formal', 'pt_PT_ao90', 'skr', 'eo'],
    bad: ['', 'italiano', 'it-IT', '../x', 'xx', 'zz_ZZ', 'it_XX'],
  },
  currency_symbol: { good: ['€', 'CHF'], bad: ['', 'a b'] },
  currency_code: { good: ['EUR', ''], bad: ['eur', 'EURO'] },
  currency_position: { good: ['postfix', 'prefix'], bad: ['', 'after'] },
  events_slug: { good: ['eventi'], bad: ['', 'Two words', 'a/b', 'admin', 'wp-json', 'doc', 'health', 'it', 'en'] },
  event_slug: { good: ['evento'], bad: ['', 'È', 'admin', 'venue', 'organizer', 'tag', 'it', 'en'] },
  suggest_slug: { good: ['', 'proponi'], bad: ['Two words', 'list', 'month', '2026-12', 'category', 'feed', 'a/b'] },
  day_begins: { good: ['04:30'], bad: ['24:00', '4:30'] },
  week_begins: { good: ['monday', 'saturday', 'sunday'], bad: ['', 'Monday', 'lunedì', '1', 'constructor'] },
  clock: { good: ['12', '24'], bad: ['', '0', 'H:i'] },
  timezone_mode: { good: ['site', 'event'], bad: ['both'] },
};

describeDatabases('fasti option', (open) => {
  let fasti: Fasti;
  let url: string;
  let db: Database;
  beforeAll(async () => {
    db = await open();
    await loadSite(db);
    url = urlOf(db);
    fasti = commandIn({ DATABASE_URL: urlOf(db), UPLOADS_DIR: `${folder}/${db.dialect.name}` });
  });

  it('lists every option with its value and meaning', async () => {
    const rows = JSON.parse((await fasti('option', 'list', '--format=json')).out) as { option: string; value: string; meaning: string }[];
    expect(rows.map(({ option }) => option)).toEqual([...SITE_OPTIONS]);
    expect(rows.filter(({ meaning }) => meaning === '')).toEqual([]);
    expect(rows.find(({ option }) => option === 'timezone')?.value).toBe('Europe/Rome');
  });

  it.each(SITE_OPTIONS)('sets %s to valid values only', async (name) => {
    const { good, bad } = VALUES[name];
    for (const value of good) {
      expect(await fasti('option', 'set', name, value)).toMatchObject({ code: 0, err: '' });
      expect((await fasti('option', 'get', name)).out).toBe(`${value}\n`);
    }
    for (const value of bad) {
      expect(await fasti('option', 'set', name, value)).toMatchObject({ code: 2, out: '' });
      expect((await fasti('option', 'get', name)).out).toBe(`${good.at(-1)}\n`);
    }
  });

  it('keeps the slugs of the list and of single events apart', async () => {
    await fasti('option', 'set', 'events_slug', 'eventi');
    await fasti('option', 'set', 'event_slug', 'evento');
    const [list, single] = [await fasti('option', 'set', 'events_slug', 'evento'), await fasti('option', 'set', 'event_slug', 'eventi')];
    expect([list.code, single.code]).toEqual([2, 2]);
    expect(list.err).toContain('neither that of single events nor the code of a language');
    expect(single.err).toContain('neither that of the list of events nor the code of a language');
    expect(await fasti('option', 'set', 'events_slug', '%e4%ba%8b')).toMatchObject({ code: 0 });
    expect(await fasti('option', 'set', 'event_slug', '%e4%ba%8b')).toMatchObject({ code: 2 });
    expect(await fasti('option', 'set', 'events_slug', 'eventi')).toMatchObject({ code: 0 });
  });

  it('makes WordPress find the pages at the addresses that follow from a new slug', async () => {
    const rules = async () => {
      const row = await db.from('options').where('option_name', 'rewrite_rules').first('option_value');
      return row?.option_value;
    };
    await fasti('option', 'set', 'events_slug', 'eventi');
    await setOptions(db, { rewrite_rules: 'a:1:{s:9:"eventi/?$";s:9:"index.php";}' });
    await fasti('option', 'set', 'currency_symbol', 'Fr.');
    await fasti('option', 'set', 'events_slug', 'eventi');
    expect(await rules()).toContain('eventi');
    await fasti('option', 'set', 'events_slug', 'manifestazioni');
    expect(await rules()).toBe('');
    await fasti('option', 'set', 'events_slug', 'eventi');
  });

  it.each([
    ['europe/rome', 'Europe/Rome'],
    ['AMERICA/PORT_OF_SPAIN', 'America/Port_of_Spain'],
    ['utc', 'UTC'],
  ])('stores the time zone %s as %s, which WordPress has in its list', async (given, stored) => {
    expect(await fasti('option', 'set', 'timezone', given)).toMatchObject({ code: 0, out: `Done: timezone is now ${stored}.\n` });
    expect(await db.from('options').where('option_name', 'timezone_string').first('option_value')).toEqual({ option_value: stored });
  });

  it('prints values in a table as they are, since they are not HTML', async () => {
    const value = 'a <3 b <i>';
    await fasti('option', 'set', 'tagline', value);
    const rows = (await fasti('option', 'list', '--fields=option,value')).out.split('\n');
    expect(rows).toContain(`tagline\t${value}`);
  });

  it('stores names in escaped form, as WordPress does', async () => {
    await fasti('option', 'set', 'title', `<img src=x onerror="alert('1')"> & co`);
    const row = await db.from('options').where('option_name', 'blogname').first('option_value');
    expect(row?.option_value).toBe('&lt;img src=x onerror=&quot;alert(&#039;1&#039;)&quot;&gt; &amp; co');
  });

  it.each([
    ['https://old.example/wp', 'https://new.example/wp', ''],
    ['https://www.old.example/wp', 'https://new.example/wp', ''],
    ['https://wp.example', 'https://wp.example', 'is still at https://wp.example (its option siteurl)'],
  ])('moves a site whose WordPress is at %s and leaves that at %s', async (before, after, warning) => {
    await setOptions(db, { home: 'https://old.example', siteurl: before });
    const { code, out, err } = await fasti('option', 'set', 'url', 'https://new.example/');
    expect([code, out]).toEqual([0, 'Done: url is now https://new.example.\n']);
    expect(err).toEqual(warning === '' ? '' : expect.stringContaining(warning));
    expect(await db.from('options').whereIn('option_name', ['home', 'siteurl']).orderBy('option_name').pluck('option_value')).toEqual([
      'https://new.example',
      after,
    ]);
  });

  it('reports that another address remains in force', async () => {
    await setOptions(db, { home: 'https://before.example', siteurl: 'https://before.example' });
    const fixed = commandIn({ DATABASE_URL: url, UPLOADS_DIR: folder, SITE_URL: 'https://fixed.example' });
    const set = (address: string) => fixed('option', 'set', 'url', address);
    expect(await set('https://other.example/')).toEqual(
      expect.objectContaining({
        code: 0,
        out: '',
        err: expect.stringContaining('the address in force is still https://fixed.example, because'),
      }),
    );
    expect((await fasti('option', 'get', 'url')).out).toBe('https://other.example\n');
    expect(await set('https://fixed.example/')).toMatchObject({ code: 0, err: '', out: 'Done: url is now https://fixed.example.\n' });
  });

  it('keeps the other calendar options', async () => {
    await fasti('option', 'set', 'currency_symbol', '£');
    expect((await fasti('option', 'get', 'events_slug')).out).toBe('eventi\n');
  });

  it.each([['get'], ['set']])('names the existing options for an unknown one (%s)', async (verb) =>
    expect(await fasti('option', verb, 'constructor', ...(verb === 'set' ? ['x'] : []))).toMatchObject({
      code: 2,
      err: expect.stringContaining('the options are title, tagline, url'),
    }),
  );
});
