import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { loadViewer } from '../../src/accounts/viewer.ts';
import { ApiError } from '../../src/errors.ts';
import { isReadEndpoint } from '../../src/http/answer-route.ts';
import { isNewRecord } from '../../src/kinds/grammars/links.ts';
import { type Caller, callerFor } from '../../src/records/caller.ts';
import { acceptParams } from '../../src/records/input.ts';
import { discardImages } from '../../src/records/writes/prepared-images.ts';
import { describeDatabases } from '../support/databases.ts';
import { servedRoutes } from '../support/outside-texts.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';

/*
 * Objects in a request may have members that are called like those of our own objects: fetched images, new linked
 * records, and writes of a batch.
 */

/** Members of our objects, with values that a request can have. */
const MEMBERS: readonly Readonly<Record<string, unknown>>[] = [
  { undo: 1 },
  { undo: {} },
  { values: null },
  { values: { image: { undo: 1 } } },
  { kind: { name: 'venue' }, values: { venue: 'Hall', image: { undo: 1 } } },
];
const SENT: readonly unknown[] = MEMBERS.flatMap((members) => [
  members,
  { id: 12, ...members },
  [members],
  { 0: members },
  { values: [members] },
  { values: { x: members } },
]);

/** Every parameter of every endpoint. */
const PARAMETERS = [...servedRoutes()].flatMap(([namespace, routes]) =>
  routes.flatMap(({ pattern, endpoints }) =>
    endpoints.flatMap((endpoint) =>
      Object.entries({ ...endpoint.params, ...endpoint.unlistedParams }).map(([name, param]) => ({
        name: `${endpoint.methods[0]} ${namespace}${pattern} ${name}`,
        params: { [name]: { ...param, required: false } },
        mode: isReadEndpoint(endpoint) ? ('read' as const) : endpoint.mode,
      })),
    ),
  ),
);

describeDatabases('members of sent objects', (open) => {
  let running: RunningSite;
  let caller: Caller;
  beforeAll(async () => {
    running = await serveDatabase(await loadSite(await open()));
    const { site } = running;
    const settings = await site.settings();
    caller = callerFor(site, settings, (await loadViewer(site.db, settings, 1))!, { language: 'en' });
  });
  afterAll(() => running.close());

  it('are never taken for those of our own objects, in whatever parameter they are sent', async () => {
    expect(PARAMETERS.length).toBeGreaterThan(1000);
    const { site } = running;
    const passedOn = new Set<string>();
    for (const { name, params, mode } of PARAMETERS)
      for (const sent of SENT) {
        const [parameter = ''] = Object.keys(params);
        const values = await acceptParams(site, caller, params, { [parameter]: sent }, mode).catch((error: unknown) => {
          if (error instanceof ApiError) return {};
          throw new Error(`${name}: ${JSON.stringify(sent)}`, { cause: error });
        });
        await discardImages(values).catch((cause: unknown) => {
          throw new Error(`${name}: ${JSON.stringify(sent)}`, { cause });
        });
        if (Object.values(values).flat().includes(sent)) passedOn.add(name);
        // Only in links, which have been read, are there new records.
        if (Object.values(values).flat().some(isNewRecord)) expect(name).toMatch(/(venue|organizer)s?$/);
      }
    // Such parameters exist: the costs of an event, for example.
    expect(passedOn).toContain('POST calendar/events/v1/events cost');
  });

  it.each(['order[undo]=1', 'has_events[undo]=1', 'slug[undo]=1', 'orderby[][values][x][undo]=1'])(
    'do not hide why a request is refused: %s',
    async (query) => {
      const { status, body } = await running.send('GET', `/wp-json/calendar/events/v1/events?page=0&${query}`);
      expect({ status, code: body.code }).toEqual({ status: 400, code: 'rest_invalid_param' });
      expect(Object.keys((body.data as { params: object }).params)).toContain('page');
    },
  );

  it('do not let a batch fail after it was written', async () => {
    const event = (title: string, more: object = {}) => ({
      path: '/calendar/events/v1/events',
      body: { title, start_date: '2031-05-01 20:00', end_date: '2031-05-01 22:00', ...more },
    });
    const requests = [event('A'), event('B', { end_date: '2031-05-01 19:00', cost: { undo: 1 } })];
    const { status, body } = await running.send('POST', '/wp-json/batch/v1', { as: 'admin', body: { validation: 'normal', requests } });
    expect({ status, statuses: (body.responses as { status: number }[]).map((one) => one.status) }).toEqual({
      status: 207,
      statuses: [201, 400],
    });
  });
});
