import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { describeDatabases } from '../support/databases.ts';
import { passwordOf, type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';
import { SUITE_TIME } from '../support/site-client.ts';
import { commandIn } from './command.ts';

describeDatabases('fasti verify', (open) => {
  const sites: RunningSite[] = [];
  let db: Database;
  const fasti = commandIn({});
  const verify = (...args: string[]) =>
    fasti('verify', sites[0]!.base, sites[1]!.base, '--rate=100000', '--sample=3', '--no-filters', ...args);
  beforeAll(async () => {
    for (let number = 0; number < 2; number += 1) {
      db = await loadSite(await open());
      sites.push(await serveDatabase(db, { clock: () => new Date(SUITE_TIME) }));
    }
  });
  afterAll(() => Promise.all(sites.map((site) => site.close())));

  it('succeeds if nothing differs', async () => {
    const { code, out, err } = await verify();
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/\d+ answers compared[\s\S]*events +44 +44\n[\s\S]*No other differences\.\n$/);
  });
  it('does not print a password that is part of an address', async () => {
    const named = sites[0]!.base.replace('://', '://anna:secret@');
    const { code, out, err } = await fasti('verify', named, sites[1]!.base);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toBe(`Error: A user name or password cannot be part of the address ${sites[0]!.base}/.\n`);
  });
  it('checks its options before it sends requests', async () => {
    const { code, err } = await fasti('verify', 'http://127.0.0.1:1', 'http://127.0.0.1:1', '--sample=0');
    expect([code, err]).toEqual([2, 'Error: --sample must be a whole number from 1 to 9999999, not "0".\n']);
  });
  it('prints Italian messages', async () =>
    expect((await verify('--language=it')).out).toMatch(/luoghi +\d+ +\d+\n[\s\S]*Nessun'altra differenza\./));
  it('compares what a user may see', async () =>
    expect((await verify(`--old-user=admin:${passwordOf('admin')}`, `--new-user=admin:${passwordOf('admin')}`)).out).toMatch(
      /events +50 +50\n/,
    ));
  it('reports each difference once, by record and field, and ends with 1', async () => {
    await db.from('postmeta').where({ post_id: 12, meta_key: '_VenueCity' }).update({ meta_value: 'Else\u001b[31mwhere' });
    await db.from('fasti_changes').increment('counter');
    const { code, out, err } = await verify();
    expect([code, err]).toEqual([1, expect.stringMatching(/^Error: the sites differ \(\d+ differences\)\.\n$/)]);
    expect(out.match(/^venues\/12 "Teatro Rossi" city\n.*- "Pisa"\n.*\+ "Else.*where"$/gm)).toHaveLength(1);
    expect(out).not.toContain('\u001b');
  });
  it('reports differences as JSON', async () => {
    const { code, out } = await verify('--format=json');
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      differences: expect.any(Number),
      deliberate: {},
      findings: expect.arrayContaining([expect.objectContaining({ record: 'venues/12', member: 'city', old: 'Pisa' })]),
    });
  });
  it.each([
    [['--rate=0'], /--rate must be a whole number/],
    [['--old-user=admin'], /USERNAME:PASSWORD/],
    [['--format=csv'], /--format must be one of text, json, not "csv"/],
  ])('refuses %j', async (args, message) => expect(await verify(...args)).toMatchObject({ code: 2, err: expect.stringMatching(message) }));
});
