import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeDatabases } from '../support/databases.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';

const DATES = { start_date: '2031-05-01 20:00', end_date: '2031-05-01 22:00' };

describeDatabases('texts are kept whole or refused', (open) => {
  let running: RunningSite;

  beforeAll(async () => {
    const db = await loadSite(await open());
    running = await serveDatabase(db);
  });
  afterAll(() => running.close());

  const send = (path: string, body: object, method = 'POST') =>
    running.send(method, `/wp-json/calendar/events/v1/${path}`, { as: 'admin', body });

  it.each([
    ['events', 'title', { ...DATES, title: 'é'.repeat(32_767) }],
    ['events', 'excerpt', { ...DATES, title: 'x', excerpt: 'e'.repeat(65_535) }],
    ['venues', 'venue', { venue: 'v'.repeat(65_535) }],
    ['categories', 'name', { name: 'é'.repeat(200) }],
    ['tags', 'name', { name: `${'t'.repeat(195)}&amp;` }],
  ])('keeps a text in %s that fills %s', async (path, field, body) => {
    const { status, body: record } = await send(path, body);
    const read = (await send(`${path}/${record.id}`, {}, 'GET')).body[field] as string;
    const sent = (body as unknown as Record<string, string>)[field]!;
    expect({ status, length: read.replace(/<\/?p>|\s/g, '').length }).toEqual({ status: 201, length: sent.length });
  });

  it.each([
    ['POST', 'events', 'title', { ...DATES, title: 'é'.repeat(32_768) }],
    ['POST', 'events', 'excerpt', { ...DATES, title: 'x', excerpt: 'e'.repeat(65_536) }],
    ['PATCH', 'events/33', 'title', { title: 't'.repeat(65_536) }],
    ['POST', 'organizers', 'organizer', { organizer: 'o'.repeat(65_536) }],
    ['POST', 'categories', 'name', { name: 'é'.repeat(201) }],
    ['PATCH', 'categories/2', 'name', { name: 'n'.repeat(201) }],
    ['POST', 'tags', 'name', { name: `${'t'.repeat(196)}&amp;` }],
    ['POST', 'events', 'name', { ...DATES, title: 'x', tags: ['w'.repeat(201)] }],
  ])('refuses in %s %s a text that is longer than %s can hold', async (method, path, field, body) => {
    const { status, body: refusal } = await send(path, body, method);
    expect([status, refusal.code, refusal.data.params]).toEqual([
      400,
      'rest_invalid_param',
      { [field]: 'The text is longer than can be kept.' },
    ]);
  });
});
