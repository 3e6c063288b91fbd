import { expect, it } from '@jest/globals';
import { loadViewer } from '../../src/accounts/viewer.ts';
import { resolveLinks } from '../../src/forms/control-data.ts';
import { i18nIn } from '../../src/html/i18n.ts';
import { callerFor } from '../../src/records/caller.ts';
import { openVisitor } from '../support/desk-visitor.ts';
import { describeRequests } from '../support/site-client.ts';

describeRequests('long names at the desk', (ask) => {
  /** The number of queries that it takes to look up these names of venues, of which there are none. */
  const queriesFor = async (...names: readonly string[]) => {
    const { site } = ask.running();
    const settings = await site.settings();
    const viewer = (await loadViewer(site.db, settings, 1))!;
    const context = { site, settings, caller: callerFor(site, settings, viewer, { language: 'en' }), i18n: i18nIn(site.texts, 'en', 'en') };
    const before = site.db.queries();
    expect(await resolveLinks(context, 'venue', { add: names }, '')).toEqual(names.map((venue) => ({ venue })));
    return site.db.queries() - before;
  };

  it('are not searched beyond the length of a search, nor looked up beyond that of a name', async () => {
    const [searched, exact, unused] = [
      await queriesFor('q'.repeat(1600)),
      await queriesFor('q'.repeat(1601)),
      await queriesFor('q'.repeat(65_536)),
    ];
    expect(searched).toBeGreaterThan(exact);
    expect([exact > 0, unused]).toEqual([true, 0]);
    const names = Array.from({ length: 22 }, (_, index) => `q${index}`);
    expect(await queriesFor(...names)).toBe(20 * searched + 2 * exact);
  });

  it('are refused, and cut where they are searched', async () => {
    const anna = await openVisitor(ask, 'admin');
    const day = {
      'start_date[date]': '2026-12-06',
      'start_date[time]': '21:00',
      'end_date[date]': '2026-12-06',
      'end_date[time]': '23:00',
    };
    const sent = { title: 'Fair', ...day, 'venue[add][]': 'q'.repeat(200_000) };
    expect((await anna.submit(await anna.get('/admin/events/new'), '/admin/events/new', sent)).status).toBe(422);
    const long = 'q'.repeat(5000);
    expect((await anna.get(`/admin/find/venues?q=${long}`)).body).toEqual([]);
    for (const path of ['/admin/categories', '/admin/people']) {
      const { status, text } = await anna.get(`${path}?search=${long}`);
      expect([path, status, /value="(q+)"/.exec(text)?.[1]?.length]).toEqual([path, 200, 1600]);
    }
  });
});
