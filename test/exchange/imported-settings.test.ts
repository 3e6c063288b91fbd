import { afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { CUSTOM_FIELDS_OPTION } from '../../src/calendar/custom-fields.ts';
import { CALENDAR_OPTION } from '../../src/calendar/settings.ts';
import { IMPORTED_MEMBERS, IMPORTED_OPTIONS } from '../../src/exchange/import/imported-settings.ts';
import type { ImportOptions } from '../../src/exchange/import/options.ts';
import type { Site } from '../../src/site.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { readOptions } from '../../src/storage/rows/options.ts';
import { serializedMembers, toSerialized } from '../../src/wordpress/php/serialized.ts';
import { describeDatabases } from '../support/databases.ts';
import { loadSite, setOptions } from '../support/site.ts';
import { bareSite, importDatabase, importSource, streamOf } from './sites.ts';

const OPTIONS = {
  blogname: 'Moved', blogdescription: 'From afar', timezone_string: 'Asia/Tokyo', gmt_offset: '9', WPLANG: 'it_IT', date_format: 'd/m/Y',
  time_format: 'G.i', start_of_week: '0', permalink_structure: '/%year%/%postname%/', category_base: 'argomento', tag_base: 'parola',
  posts_per_page: '7', posts_per_rss: '50', rss_use_excerpt: '1', use_smilies: '0', blog_public: '0', default_comment_status: 'closed',
  show_avatars: '0', avatar_default: 'blank', avatar_rating: 'X', thumbnail_size_w: '151', thumbnail_size_h: '152', thumbnail_crop: '0',
  medium_size_w: '301', medium_size_h: '302', medium_large_size_w: '701', medium_large_size_h: '702', large_size_w: '1025', large_size_h: '1026',
}; // biome-ignore format: a table

const MEMBERS = {
  posts_per_page: '11', postsPerPage: '13', viewOption: 'month', recurrenceMaxMonthsAfter: '24', multiDayCutoff: '05:00',
  tribe_events_timezone_mode: 'site', defaultCurrencySymbol: '¥', defaultCurrencyCode: 'JPY', reverseCurrencyPosition: '1', eventsSlug: 'eventi',
  singleEventSlug: 'evento', 'rest-v1-disabled': '1', dateWithYearFormat: 'j.n.Y', dateWithoutYearFormat: 'j.n.', dateTimeSeparator: ', ',
  timeRangeSeparator: ' to ',
}; // biome-ignore format: a table

/** Where custom fields are stored, which are merged with those of the site (foreign-fields.test.ts). */
const FIELDS = { option: CUSTOM_FIELDS_OPTION, member: 'custom-fields' };

describeDatabases('settings of an imported database', (open) => {
  let original: Database;
  let target: Site;
  beforeAll(async () => {
    original = await open();
  });
  beforeEach(async () => {
    await loadSite(original);
    await setOptions(original, { ...OPTIONS, [CALENDAR_OPTION]: MEMBERS });
    target = await bareSite(await open());
  });
  afterEach(() => target.close());

  const imported = (options: Partial<ImportOptions> = {}) => importDatabase(target, original, options);
  const stored = async () => {
    const options = await readOptions(target.db, [...Object.keys(OPTIONS), CALENDAR_OPTION]);
    return { ...Object.fromEntries(options), [CALENDAR_OPTION]: serializedMembers(options.get(CALENDAR_OPTION)) };
  };

  it('are all of this test', () => {
    expect([...Object.keys(OPTIONS), CALENDAR_OPTION, FIELDS.option].sort()).toEqual([...IMPORTED_OPTIONS].sort());
    expect([...Object.keys(MEMBERS), FIELDS.member].sort()).toEqual([...IMPORTED_MEMBERS].sort());
  });

  it('are reported without --settings, and imported with it', async () => {
    const before = await stored();
    const report = await imported({});
    expect(report.losses.find(({ reason }) => reason === 'setting-differs')?.count).toBe(Object.keys(OPTIONS).length + 1);
    expect(await stored()).toEqual(before);
    await imported({ settings: true });
    expect(await stored()).toMatchObject({ ...OPTIONS, [CALENDAR_OPTION]: MEMBERS });
    expect((await target.settings()).calendar).toMatchObject({
      postsPerPage: 11, eventsPerPage: 13, view: 'month', monthsAhead: 24, cutoff: '05:00', timezoneMode: 'site', currencySymbol: '¥',
      currencyCode: 'JPY', isCurrencyAfterAmount: true, eventsSlug: 'eventi', singleEventSlug: 'evento', restDisabled: true,
      formats: { date: 'j.n.Y', dateWithoutYear: 'j.n.', time: 'G.i', beforeTime: ', ', beforeEnd: ' to ' },
    }); // biome-ignore format: a table
  });

  it('that the source does not have get their defaults, among them the language', async () => {
    await setOptions(target.db, { WPLANG: 'it_IT', [CALENDAR_OPTION]: MEMBERS });
    await original.from('options').where('option_name', 'WPLANG').delete();
    await original
      .from('options')
      .where('option_name', CALENDAR_OPTION)
      .update({ option_value: toSerialized({ viewOption: 'day' }) });
    const report = await imported({});
    const differing = report.losses.filter(({ reason }) => reason === 'setting-differs').flatMap(({ examples }) => examples);
    expect(differing.map(({ of }) => of)).toContain('WPLANG');
    await imported({ settings: true });
    expect((await target.settings()).contentLanguage).toBe('en-US');
    const members = (await stored())[CALENDAR_OPTION];
    expect(Object.keys(MEMBERS).filter((name) => Object.hasOwn(members, name))).toEqual(['viewOption']);
    expect(members).toMatchObject({ viewOption: 'day', google_maps_js_api_key: expect.anything() });
  });

  it('stay if a file does not state them, because the version of Fasti that wrote it did not know them', async () => {
    const own = { 'rest-v1-disabled': '1', viewOption: 'month', dateWithYearFormat: 'j.n.Y', eventsSlug: 'eventi' };
    await setOptions(target.db, { WPLANG: 'it_IT', [CALENDAR_OPTION]: own });
    const options = { blogname: 'Moved', [CALENDAR_OPTION]: toSerialized({ eventsSlug: 'feste' }) };
    const entries = () => streamOf([{ kind: 'settings', sourceId: 'settings', options } as const]);
    await importSource(target, { name: () => 'older', entries, close: async () => undefined }, { settings: true });
    expect((await stored())[CALENDAR_OPTION]).toMatchObject({ ...own, eventsSlug: 'feste' });
    expect((await target.settings()).contentLanguage).toBe('it-IT');
  });
});
