import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { loadViewer } from '../../src/accounts/viewer.ts';
import { postKind } from '../../src/kinds/index.ts';
import { callerFor } from '../../src/records/caller.ts';
import { valueRefusals } from '../../src/records/writes/value-refusals.ts';
import { describeDatabases } from '../support/databases.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';

describeDatabases('all errors about the values of a form', (open) => {
  let running: RunningSite;
  beforeAll(async () => {
    running = await serveDatabase(await loadSite(await open()));
  });
  afterAll(() => running.close());

  it('include that the slug of a published event is missing, beside others', async () => {
    const { site } = running;
    const settings = await site.settings();
    const caller = callerFor(site, settings, (await loadViewer(site.db, settings, 1))!, { language: 'en' });
    const raw = { title: '<b></b>', slug: '', end_date: '2001-01-01 10:00' };
    const errors = await valueRefusals(site, caller, postKind('event'), { raw, id: 38 });
    expect(errors.flatMap(({ details }) => [...(details.faults?.keys() ?? [])])).toEqual(['title', 'slug', 'end_date']);
  });
});
