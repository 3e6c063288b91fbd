import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { describeDatabases } from '../support/databases.ts';
import { loadLanguages, resetLanguages } from '../support/languages.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { expectError, ROOT } from '../support/site-client.ts';

describeDatabases('a keyed write', (open) => {
  let db: Database;
  let running: RunningSite;
  beforeAll(async () => {
    db = await loadLanguages(await open(), 'polylang');
    running = await serveDatabase(db);
  });
  beforeEach(() => resetLanguages(db, 'polylang'));
  afterAll(() => running.close());

  const create = (path: string, key: string) =>
    running.send('POST', path, {
      as: 'admin',
      headers: { Host: '127.0.0.1:8081', 'Idempotency-Key': key },
      body: { title: 'Teatro', name: 'Teatro', start_date: '2031-05-01 18:00:00', end_date: '2031-05-01 20:00:00' },
    });

  it.each(['events', 'categories'])('is another one in another language: %s', async (records) => {
    const first = await create(`${ROOT}/${records}`, 'one');
    expect(first.status).toBe(201);
    expectError(await create(`/it${ROOT}/${records}`, 'one'), 422, 'rest_idempotency_key_reused');
    const italian = await create(`/it${ROOT}/${records}`, 'two');
    expect([italian.status, italian.body.language]).toEqual([201, 'it']);
    const again = await create(`/it${ROOT}/${records}`, 'two');
    expect([again.text, again.headers['idempotency-replayed']]).toEqual([italian.text, 'true']);
    expect((await create(`${ROOT}/${records}`, 'one')).text).toBe(first.text);
  });
});
