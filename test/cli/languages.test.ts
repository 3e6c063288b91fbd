import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { parseSerialized } from '../../src/wordpress/php/serialized.ts';
import { databaseAt } from '../support/databases.ts';
import { commandIn, embedded, type Fasti, temporaryFolder } from './command.ts';

const folder = temporaryFolder();
/** Further databases, each for one test. */
const furtherSites = temporaryFolder();
const furtherSite = () => embedded(mkdtempSync(join(furtherSites, 'site-')));
const fasti: Fasti = commandIn(embedded(folder), { now: new Date('2026-11-20T12:00:00Z') });
const DATES = ['--start-date=2027-06-01 21:00', '--end-date=2027-06-01 23:00', '--status=publish'];

const idOf = async (...args: string[]): Promise<string> => {
  const { code, out, err } = await fasti(...args, '--porcelain');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out.trim();
};
const list = async () => JSON.parse((await fasti('languages', 'list', '--format=json')).out) as Record<string, unknown>[];

describe('fasti languages', () => {
  beforeAll(async () => {
    expect((await fasti('init')).code).toBe(0);
  });

  it('explains how to add a language if there is none', async () => {
    const { code, err } = await fasti('languages', 'list');
    expect(code).toBe(1);
    expect(err).toContain('fasti languages add');
    expect((await fasti('event', 'create', '--title=A', ...DATES, '--content-language=it')).code).toBe(2);
  });

  it('assigns all existing records to the first language', async () => {
    await idOf('event', 'create', '--title=Before', ...DATES);
    const { code, out } = await fasti('languages', 'add', 'en');
    expect([code, out]).toEqual([0, 'Language en was added.\n1 record is now in the language en.\n']);
    expect((await fasti('languages', 'add', 'it')).out).toBe('Language it was added.\n');
    expect(await list()).toMatchObject([
      { code: 'en', name: 'English', locale: 'en_US', default: true, events: 1 },
      { code: 'it', name: 'Italiano', locale: 'it_IT', default: false, events: 0 },
      { code: null, events: 0 },
    ]);
  });

  it.each([
    ['--content-language=zz', /^--content-language: "zz" is not one of en, it/m],
    ['--translation-of=99', /^--translation-of: There is no such record/m],
  ])('name the option %s in errors about it', async (option, said) => {
    const { code, err } = await fasti('event', 'create', '--title=A', ...DATES, option);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(said) });
  });

  it.each([
    [['add', 'it'], 'already has'],
    [['add', 'Italian'], 'cannot be the code'],
    [['add', 'de', '--locale=German'], 'not a locale'],
    [['assign', '--to=fr'], 'does not have the language fr'],
    [['assign', '--to=it', '--kind=thing'], 'thing'],
    [['link', '1', '2'], 'id or slug "2"'],
  ])('refuses %j', async (args, said) => {
    const { code, err } = await fasti('languages', ...args);
    expect(code).toBeGreaterThan(0);
    expect(err).toContain(said);
  });

  it('refuses a code with which addresses of pages begin, as the doctor reports it', async () => {
    expect((await fasti('option', 'set', 'event_slug', 'ev')).code).toBe(0);
    for (const code of ['ev', 'tag', 'doc', 'wp-json']) {
      const added = await fasti('languages', 'add', code, '--locale=ee', '--name=Name');
      expect(added).toMatchObject({ code: 1, err: expect.stringContaining(`begin with "${code}"`) });
    }
    expect((await fasti('option', 'set', 'event_slug', 'event')).code).toBe(0);
    expect(await list()).toHaveLength(3);
  });

  it.each([
    ['pt-ao90', 'pt_PT_ao90', 'Português', false],
    ['es-lat', 'es_MX', 'Español', false],
    ['ar-lat', 'ar', 'العربية', true],
  ])('adds the language %s, whose code is no language tag', async (code, locale, name, rtl) => {
    const env = furtherSite();
    const other = commandIn(env, { now: new Date('2026-11-20T12:00:00Z') });
    expect((await other('init')).code).toBe(0);
    expect(await other('languages', 'add', code, `--locale=${locale}`, `--name=${name}`)).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse((await other('languages', 'list', '--format=json')).out)).toMatchObject([{ code, locale, name }, { code: null }]);
    const db = await databaseAt(String(env.DATABASE_URL));
    const rows = await db.from('term_taxonomy').where('taxonomy', 'language').select('description');
    await db.close();
    expect(rows.map(({ description }) => parseSerialized(description))).toEqual([{ locale, rtl, flag_code: '' }]);
  });

  it.each([
    ['auto', /activate Polylang .* CONTENT_LANGUAGES=polylang/],
    ['wpml', /^(?!.*activate).* CONTENT_LANGUAGES=polylang/],
  ])('refuses a language that the site would not have (CONTENT_LANGUAGES=%s), and says what to do', async (setting, advice) => {
    const env = furtherSite();
    expect((await commandIn(env)('init')).code).toBe(0);
    const shared = commandIn({ ...env, SHARED_WITH_WORDPRESS: 'on', CONTENT_LANGUAGES: setting });
    const { code, err } = await shared('languages', 'add', 'en');
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(advice) });
    expect((await commandIn({ ...env, CONTENT_LANGUAGES: 'polylang' })('languages', 'add', 'en')).code).toBe(0);
  });

  it('creates and links translations', async () => {
    const english = await idOf('event', 'create', '--title=Concert', ...DATES, '--categories=Music');
    const italian = await idOf(
      'event',
      'create',
      '--title=Concerto',
      `--translation-of=${english}`,
      '--content-language=it',
      '--status=publish',
    );
    const shown = JSON.parse((await fasti('event', 'get', italian, '--format=json')).out) as Record<string, unknown>;
    expect(shown).toMatchObject({
      title: 'Concerto',
      start_date: '2027-06-01 21:00:00',
      categories: [{ name: 'Music', slug: 'music-it' }],
    });
    const other = await idOf('event', 'create', '--title=Fair', ...DATES);
    const fiera = await idOf('event', 'create', '--title=Fiera', ...DATES, '--content-language=it');
    expect((await fasti('languages', 'link', other, fiera)).code).toBe(0);
    expect((await fasti('languages', 'link', english, fiera)).err).toContain('cannot be linked');
    expect(await list()).toMatchObject([{ events: 3, categories: 1 }, { events: 2, categories: 1 }, { events: 0 }]);
  });

  it('names the language of a new record if --language may have been meant for it', async () => {
    const created = (...flags: string[]) => fasti('event', 'create', '--title=Mercato', ...DATES, '--status=draft', ...flags);
    expect((await created('--language=it')).err).toBe(
      'Avviso: --language=it è la lingua dei messaggi; il nuovo contenuto è in en. Con --content-language=it è in it.\n',
    );
    for (const flags of [[], ['--language=en'], ['--language=it', '--content-language=it'], ['--language=it', '--content-language=en']])
      expect([flags, (await created(...flags)).err]).toEqual([flags, '']);
  });

  it('explains how to link records that are not in different languages', async () => {
    const [one, other] = [
      await idOf('event', 'create', '--title=Same', ...DATES),
      await idOf('event', 'create', '--title=Same too', ...DATES),
    ];
    const linked = await fasti('languages', 'link', one, other);
    expect(linked).toMatchObject({ code: 1, out: '', err: expect.stringContaining(`${one} and ${other} are both in the language en`) });
    expect(linked.err).toContain(`fasti event update ${other} --content-language=CODE`);
    expect((await fasti('event', 'update', other, '--content-language=it')).code).toBe(0);
    expect(await fasti('languages', 'link', one, other)).toMatchObject({ code: 0, err: '' });
  });

  it('explains why records cannot be linked, without naming options that were not used', async () => {
    const event = await idOf('event', 'create', '--title=Fair', ...DATES);
    const fiera = await idOf('event', 'create', '--title=Fiera', ...DATES, '--content-language=it');
    const venue = await idOf('venue', 'create', '--venue=Piazza', '--content-language=it');
    const link = (...args: string[]) => fasti('languages', 'link', ...args);
    expect(await link(event, event)).toMatchObject({
      code: 1,
      out: '',
      err: `Error: ${event} cannot be a translation of itself: name another record, in another language.\n`,
    });
    expect(await link(event, venue)).toMatchObject({
      code: 1,
      err: `Error: translations must be of the same kind, but ${venue} is one of the venues, and ${event} is one of the events.\n`,
    });
    expect((await link(event, fiera, '--kind=tag')).err).toBe(`Error: nothing was found with the id or slug "${event}".\n`);
    await fasti('user', 'create', 'carla', 'carla@example.org', '--role=author');
    const own = await idOf('event', 'create', '--title=Sua', ...DATES, '--content-language=it', '--user=carla');
    expect((await link(event, own, '--user=carla')).err).toBe(
      `Error: ${own} cannot be linked with ${event}: you are not allowed to edit one of them, or one of its translations.\n`,
    );
    expect((await link(event, fiera, fiera)).out).toBe(`Done: ${event}, ${fiera} are translations of one another.\n`);
  });

  it('leaves nothing for fasti doctor to report', async () => {
    const { findings } = JSON.parse((await fasti('doctor', '--format=json')).out) as { findings: { name: string }[] };
    expect(findings.map(({ name }) => name).filter((name) => /lang|trans/.test(name))).toEqual([]);
  });
});
