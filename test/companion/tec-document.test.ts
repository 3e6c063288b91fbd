import { beforeAll, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { addCustomField } from '../../src/records/custom-fields.ts';
import { describeRequests, expectBody, type Json, type UserName } from '../support/site-client.ts';

/* The document of `tec/v1` is correct: answers match it, and all their members are in it. */

const TEC = '/wp-json/tec/v1';
const EVENT = { title: 'New', start_date: '2027-01-01 10:00:00', end_date: '2027-01-01 11:00:00', venues: [12], organizers: [24] };

describeRequests('the document of tec/v1', (ask) => {
  let document: Json;
  let ajv: Ajv;
  const send = (method: string, path: string, as?: UserName, body?: object) =>
    ask.send(method, TEC + path, { ...(as ? { as } : {}), body: body ?? null, headers: { 'X-TEC-EEA': 'yes' } });
  beforeAll(async () => {
    document = (await ask.send('GET', `${TEC}/docs`)).body;
    ajv = new Ajv({ strict: false, allErrors: true });
    ajv.addSchema(document, 'doc');
  });
  const schemaOf = (path: string, method: string, status: number): Json =>
    document.paths[path][method].responses[status].content['application/json'].schema;
  /** Names of the members that a schema declares. */
  const declared = ({ $ref, allOf = [], properties = {} }: Json): string[] => [
    ...Object.keys(properties),
    ...($ref ? declared(document.components.schemas[$ref.split('/').pop()]) : []),
    ...allOf.flatMap(declared),
  ];

  it.each([
    ['GET', '/events?per_page=100&start_date=2000-01-01', 200, undefined],
    ['GET', '/events?per_page=100&start_date=2000-01-01', 200, 'admin'],
    ['GET', '/venues?per_page=100', 200, undefined],
    ['GET', '/organizers?per_page=100', 200, undefined],
    ['GET', '/events/40', 200, undefined],
    ['GET', '/events/73', 200, undefined],
    ['GET', '/venues/12', 200, undefined],
    ['GET', '/organizers/24', 200, 'admin'],
    ['GET', '/events/82', 401, undefined],
    ['GET', '/events/82', 403, 'sub'],
    ['GET', '/events/999999', 403, 'admin'],
    ['POST', '/events', 201, 'admin'],
    ['PUT', '/events/40', 200, 'admin'],
    ['DELETE', '/events/40', 200, 'admin'],
    ['DELETE', '/venues/12?force=true', 200, 'admin'],
  ] as const)('describes the answer to %s %s: %d for %s', async (method, path, status, as) => {
    await ask.writeRows(async () => undefined);
    await addCustomField(ask.running().site, { name: 'stage', label: 'Stage', type: 'text' });
    const answer = await send(method, path, as, method === 'GET' || method === 'DELETE' ? undefined : EVENT);
    expectBody(answer, status);
    const template = path.replace(/\?.*/, '').replace(/\d+/, '{id}');
    expect(Object.keys(document.paths[template][method.toLowerCase()].responses)).toContain(String(status));
    if (status >= 400) return;
    const schema = schemaOf(template, method.toLowerCase(), status);
    const validate = ajv.compile({
      ...schema,
      $ref: schema.$ref && `doc${schema.$ref}`,
      items: schema.items?.$ref ? { $ref: `doc${schema.items.$ref}` } : {},
    });
    validate(answer.body);
    expect((validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)).toEqual([]);
    const names = new Set(declared(schema.items ?? schema));
    const undeclared = [answer.body].flat().flatMap((record: Json) => Object.keys(record).filter((name) => !names.has(name)));
    expect([...new Set(undeclared)]).toEqual([]);
  });

  it('describes lists in a query in the form in which they are read', async () => {
    const { name, style, explode } = document.paths['/events'].get.parameters.find((one: Json) => one.name === 'venue');
    expect({ name, style, explode }).toEqual({ name: 'venue', style: 'form', explode: false });
    const idsOf = async (query: string) => (await send('GET', `/events?per_page=100&${query}`)).body.map(({ id }: Json) => id);
    expect(await idsOf('venue=12,13')).toEqual(await idsOf('venue[]=12&venue[]=13'));
    expect(await idsOf('venue=12&venue=13')).toEqual(await idsOf('venue=13'));
  });
});
