import { expect, it } from '@jest/globals';
import { settingNames } from '../../src/calendar/settings.ts';
import { repairSharedSlugs, sharedSlugs } from '../../src/storage/audit/shared-slugs.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { noteChange } from '../../src/storage/journal/reported-changes.ts';
import { findLanguages } from '../../src/storage/languages/detect.ts';
import { readOptions } from '../../src/storage/rows/options.ts';
import { describeDatabases } from '../support/databases.ts';
import { loadLanguages } from '../support/languages.ts';
import { serveDatabase } from '../support/running-site.ts';

const [ENGLISH, ITALIAN, OTHER_ENGLISH] = [110, 111, 112];
const NOW = new Date('2026-11-22T21:30:00Z');

const [POTTERY, SAGRA] = [112, 113];

/** Activates plugins, and sets whether URLs contain the language. */
async function activate(db: Database, plugins: string, mode: number): Promise<void> {
  const settings = (await db.from('options').where('option_name', 'polylang').first())!.option_value;
  await db
    .from('options')
    .where('option_name', 'polylang')
    .update({ option_value: settings.replace(/"force_lang";i:\d/, `"force_lang";i:${mode}`) });
  await db.from('options').where('option_name', 'active_plugins').delete();
  await db.from('options').insert({ option_name: 'active_plugins', option_value: plugins, autoload: 'yes' });
}

describeDatabases('a slug that events share', (open) => {
  it.each([
    ['Polylang', 'a:1:{i:0;s:21:"polylang/polylang.php";}', false],
    ['Polylang Pro', 'a:1:{i:0;s:25:"polylang-pro/polylang.php";}', true],
  ])('does not move with an event into the language of the other one with %s if they may share it: %s', async (_, plugins, isRefused) => {
    const db = await loadLanguages(await open(), 'polylang');
    await activate(db, plugins, 1);
    await db.from('posts').where('ID', SAGRA).update({ post_name: 'pottery-workshop' });
    const { send, close } = await serveDatabase(db);
    const change = (id: number, body: object) => send('PATCH', `/wp-json/calendar/events/v1/events/${id}`, { as: 'admin', body });
    const moved = await change(SAGRA, { language: 'en' });
    if (isRefused) {
      expect([moved.status, Object.keys(moved.body.data.params)]).toEqual([400, ['language']]);
      const { body } = await change(SAGRA, { language: 'en', slug: 'village-fair' });
      expect([body.language, body.slug]).toEqual(['en', 'village-fair']);
      expect((await change(POTTERY, { language: 'it' })).body).toMatchObject({ language: 'it', slug: 'pottery-workshop' });
    } else expect(moved.body).toMatchObject({ language: 'en', slug: 'pottery-workshop' });
    await close();
  });

  it.each([
    ['Polylang', 'a:1:{i:0;s:21:"polylang/polylang.php";}', 1, [ENGLISH, ITALIAN]],
    ['Polylang Pro', 'a:1:{i:0;s:25:"polylang-pro/polylang.php";}', 1, undefined],
    ['Polylang Pro without languages in URLs', 'a:1:{i:0;s:25:"polylang-pro/polylang.php";}', 0, [ENGLISH, ITALIAN]],
  ])('is a fault with %s if it should be unique among all languages', async (_, plugins, mode, ids) => {
    const db = await loadLanguages(await open(), 'polylang');
    await activate(db, plugins, mode);
    const languages = await findLanguages(db, await readOptions(db, settingNames(db.prefix)), { setting: 'auto', isShared: true });
    expect(languages?.form).toBe('polylang');
    const share = (posts: readonly number[]) =>
      db
        .from('posts')
        .whereIn('ID', [...posts])
        .update({ post_name: 'shared-by-two', post_status: 'publish' });
    const shared = async () => (await sharedSlugs(db, languages)).filter(({ slug }) => slug === 'shared-by-two').map((one) => one.ids);
    await share([ENGLISH, ITALIAN]);
    expect(await shared()).toEqual(ids ? [ids] : []);
    await db.transaction(async (trx) => {
      await repairSharedSlugs(trx, languages);
      noteChange(trx, { now: NOW });
    });
    expect((await db.from('posts').where('ID', ITALIAN).first())?.post_name).toBe(ids ? 'shared-by-two-2' : 'shared-by-two');
    await share([ENGLISH, OTHER_ENGLISH]);
    expect(await shared()).toEqual([[ENGLISH, OTHER_ENGLISH]]);
  });
});
