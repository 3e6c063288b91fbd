import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { postKind, postKinds } from '../../src/kinds/index.ts';
import type { Field } from '../../src/kinds/param.ts';
import { tecFields, tecNameOf } from '../../src/kinds/tec/params.ts';
import { describeDatabases } from '../support/databases.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';

describe('the name of a field in tec/v1', () => {
  it.each(postKinds.map((kind) => ({ name: kind.name, kind })))('is one that these routes accept: $name', ({ kind }) => {
    const names = Object.entries<Field>(kind.fields).flatMap(([field, { names: others }]) =>
      others?.tec === false ? [] : [tecNameOf(kind, field)],
    );
    const accepted = Object.keys(tecFields(kind, postKind('event')));
    expect(names.filter((name) => !accepted.includes(name))).toEqual([]);
    expect(names.length).toBeGreaterThan(5);
  });
});

describeDatabases('a refusal of tec/v1', (open) => {
  let running: RunningSite;
  beforeAll(async () => {
    running = await serveDatabase(await loadSite(await open()));
  });
  afterAll(() => running.close());

  it.each<[path: string, name: string, value: unknown, explanation: string]>([
    ['venues/12', 'title', '<b></b>', '‹b›‹/b›'],
    ['venues/12', 'date_gmt', '0500-01-01 00:00:00', '0500-01-01'],
    ['organizers/24', 'title', '<b></b>', '‹b›‹/b›'],
    ['events/38', 'end_date_utc', '2001-01-01 10:00:00', 'before the start'],
    ['events/38', 'tribe_events_cat', Array.from({ length: 51 }, (_, number) => `New ${number}`), 'At most 50'],
  ])('of %s names the parameter as it was sent: %s', async (path, name, value, explanation) => {
    const { status, body } = await running.send('PUT', `/wp-json/tec/v1/${path}`, { as: 'admin', body: { [name]: value } });
    const { params } = body.data as { readonly params: Readonly<Record<string, string>> };
    expect({ status, names: Object.keys(params) }).toEqual({ status: 400, names: [name] });
    expect(params[name]).toContain(explanation);
  });
});
