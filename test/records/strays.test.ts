import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { describeDatabases } from '../support/databases.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';

describeDatabases('stored parameters that are not fields', (open) => {
  let db: Database;
  let running: RunningSite;
  beforeAll(async () => {
    db = await loadSite(await open());
    running = await serveDatabase(db);
  });
  afterAll(() => running.close());

  it.each([
    ['venues', 'venue', '_VenueVenueID'],
    ['organizers', 'organizer', '_OrganizerOrganizerID'],
  ])('include the id sent with a new record of %s', async (path, field, key) => {
    const create = async (name: string, more: object) => {
      const { body } = await running.send('POST', `/wp-json/calendar/events/v1/${path}`, { as: 'admin', body: { [field]: name, ...more } });
      return (await db.from('postmeta').where({ post_id: body.id, meta_key: key })).map(({ meta_value }) => meta_value);
    };
    expect(await create('With an id', { id: 12 })).toEqual(['12']);
    for (const [index, id] of ['', null, []].entries()) expect(await create(`Without ${index}`, { id })).toEqual([]);
    expect(await create('Without', {})).toEqual([]);
  });
});
