/** Custom fields of one site in another one, which has defined its fields in another order. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { MAX_CUSTOM_FIELDS } from '../../src/calendar/custom-fields.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { commandIn, type Fasti, temporaryFolder } from '../cli/command.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';
import { serveDatabase } from '../support/running-site.ts';

const folder = temporaryFolder();
const WINDOW = ['--start_date=2026-01-01', '--end_date=2028-01-01'];
const DATES = ['--start_date=2027-01-01 10:00', '--end_date=2027-01-01 11:00'];

type Shown = Readonly<Record<string, { readonly value: string }>>;

describeDatabases('custom fields of another site', (open) => {
  let db: Database;
  let from: Fasti;
  let to: Fasti;
  let copy: Database;

  const fastiOn = async (): Promise<[Database, Fasti]> => {
    const opened = await open({ migrated: false });
    const fasti = commandIn({ DATABASE_URL: urlOf(opened), UPLOADS_DIR: folder, PORT: '0' });
    expect((await fasti('init')).code).toBe(0);
    return [opened, fasti];
  };
  const made = async (fasti: Fasti, ...args: string[]) => {
    const { code, out, err } = await fasti('event', 'create', ...DATES, ...args, '--porcelain');
    expect([code, err]).toEqual([0, '']);
    return out.trim();
  };
  /** Returns the fields that each event shows, by its title. */
  const shown = async (fasti: Fasti): Promise<Record<string, Record<string, string>>> => {
    const { out } = await fasti('event', 'list', '--format=json', ...WINDOW);
    const events = JSON.parse(out) as { title: string; custom_fields: Shown }[];
    return Object.fromEntries(
      events.map(({ title, custom_fields: fields }) => [
        title,
        Object.fromEntries(Object.entries(fields).map(([name, { value }]) => [name, value])),
      ]),
    );
  };
  const imported = async (file: string, ...args: string[]) => {
    const { code, out } = await to('import', file, '--format=json', ...args);
    const report = JSON.parse(out) as { losses: { reason: string; examples: { detail?: string }[] }[] };
    const details = report.losses.flatMap(({ reason, examples }) =>
      ['setting-differs', 'id-taken'].includes(reason) ? [] : examples.map(({ detail }) => `${reason} ${detail}`),
    );
    return { code, details: details.sort() };
  };

  beforeAll(async () => {
    [db, from] = await fastiOn();
    await from('field', 'add', 'colour', '--type=choice', '--choices=red,blue');
    await from('field', 'add', 'note');
    await from('field', 'add', 'kids', '--type=checkbox', '--choices=small,big');
    await made(from, '--title=Fair', '--custom_fields=colour=red', '--custom_fields=note=boots', '--custom_fields=kids=small');
  });
  beforeEach(async () => {
    [copy, to] = await fastiOn();
  });
  afterAll(async () => undefined);

  describe.each([
    ['jsonl', []],
    ['jsonl', ['--kind=event']],
    ['xml', []],
    ['xml', ['--kind=event']],
  ])('in a file %s %s', (extension, args) => {
    const exported = async () => {
      const file = join(folder, `${copy.dialect.name}${args.length}.${extension}`);
      expect((await from('export', file, '--force', ...args)).code).toBe(0);
      return file;
    };

    it('have the values of the fields of the same name', async () => {
      await to('field', 'add', 'note');
      await to('field', 'add', 'kids', '--type=checkbox', '--choices=big,small,tiny');
      await to('field', 'add', 'colour', '--type=choice', '--choices=red,blue');
      const file = await exported();
      expect((await imported(file, '--dry-run')).details).toEqual([]);
      expect((await imported(file)).details).toEqual([]);
      expect(await shown(to)).toEqual({ Fair: { note: 'boots', kids: 'small', colour: 'red' } });
    });

    it('are reported if the site lacks them or does not accept a value, and come once it has them', async () => {
      await to('field', 'add', 'colour', '--type=choice', '--choices=green,blue');
      await to('field', 'add', 'price');
      const file = await exported();
      const losses = ['field-hidden kids', 'field-left-out note', 'value-refused colour: red'];
      expect((await imported(file, '--dry-run')).details).toEqual(losses);
      expect(await imported(file)).toEqual({ code: 3, details: losses });
      expect(await shown(to)).toEqual({ Fair: {} });
      await to('field', 'add', 'kids', '--type=checkbox', '--choices=small,big');
      await to('field', 'add', 'note');
      expect((await imported(file)).details).toEqual(['value-refused colour: red']);
      expect(await shown(to)).toEqual({ Fair: { note: 'boots', kids: 'small' } });
    });

    it('are added to those of the site by --settings, whose values stay', async () => {
      await to('field', 'add', 'note');
      await to('field', 'add', 'own');
      await made(to, '--title=Local', '--custom_fields=note=hello', '--custom_fields=own=mine');
      const file = await exported();
      expect((await imported(file, '--settings', '--dry-run')).details).toEqual([]);
      expect((await imported(file, '--settings')).details).toEqual([]);
      const all = { Local: { note: 'hello', own: 'mine' }, Fair: { note: 'boots', kids: 'small', colour: 'red' } };
      expect(await shown(to)).toEqual(all);
      await to('event', 'update', ...idOfFair(await listed()), '--custom_fields=own=here');
      await from('event', 'update', ...idOfFair(await listed(from)), '--custom_fields=note=shoes');
      expect((await imported(await exported(), '--settings')).details).toEqual([]);
      expect(await shown(to)).toEqual({ ...all, Fair: { ...all.Fair, note: 'shoes', own: 'here' } });
      await from('event', 'update', ...idOfFair(await listed(from)), '--custom_fields=note=boots');
    });
    const listed = async (fasti = to) =>
      JSON.parse((await fasti('event', 'list', '--format=json', ...WINDOW)).out) as { id: number; title: string }[];
    const idOfFair = (events: { id: number; title: string }[]) => events.flatMap(({ id, title }) => (title === 'Fair' ? [String(id)] : []));
  });

  it('come from a running site, also if they have been emptied there; those that only this site has stay', async () => {
    await to('field', 'add', 'own');
    await to('field', 'add', 'kids', '--type=checkbox', '--choices=small,big');
    await to('field', 'add', 'note');
    const id = await made(from, '--title=Emptied', '--external_id=e1', '--custom_fields=note=boots', '--custom_fields=kids=small');
    const old = await serveDatabase(db);
    const follow = async () => expect([0, 3]).toContain((await to('import', old.base, '--rate=1000')).code);
    const externalIdOf = (title: string) =>
      copy
        .from('postmeta')
        .where('meta_key', '_fasti_external_id')
        .whereIn('post_id', copy.from('posts').select('ID').where('post_title', title))
        .pluck('meta_value');
    try {
      await follow();
      expect([(await shown(to)).Emptied, await externalIdOf('Emptied')]).toEqual([{ note: 'boots', kids: 'small' }, ['e1']]);
      const [here] = (JSON.parse((await to('event', 'list', '--format=json', ...WINDOW)).out) as { id: number; title: string }[]).filter(
        ({ title }) => title === 'Emptied',
      );
      await to('event', 'update', String(here!.id), '--custom_fields=own=mine');
      await from('event', 'update', id, '--external_id=', '--custom_fields=note=', '--custom_fields=kids=');
      await follow();
      expect([(await shown(to)).Emptied, await externalIdOf('Emptied')]).toEqual([{ own: 'mine' }, []]);
    } finally {
      await old.close();
      await from('event', 'delete', id, '--force');
    }
  });

  it('of a running site that an event shows for the first time leave the other events as they were edited here', async () => {
    await to('field', 'add', 'note');
    await to('field', 'add', 'later');
    const id = await made(from, '--title=Edited');
    const other = await made(from, '--title=Other');
    const old = await serveDatabase(db);
    const follow = async () => expect([0, 3]).toContain((await to('import', old.base, '--rate=1000')).code);
    try {
      await follow();
      const events = JSON.parse((await to('event', 'list', '--format=json', ...WINDOW)).out) as { id: number; title: string }[];
      const here = String(events.find(({ title }) => title === 'Edited')!.id);
      await to('event', 'update', here, '--description=Written here', '--custom_fields=later=mine');
      await from('field', 'add', 'later');
      await from('event', 'update', other, '--custom_fields=later=shown');
      await follow();
      const { description } = JSON.parse((await to('event', 'get', here, '--format=json')).out) as { description: string };
      expect([description, (await shown(to)).Edited]).toEqual(['<p>Written here</p>', { later: 'mine' }]);
      expect((await shown(to)).Other).toEqual({ later: 'shown' });
    } finally {
      await old.close();
      await from('event', 'delete', id, other, '--force');
      await from('field', 'remove', 'later');
    }
  });

  it('come from a database, and stay if that has none', async () => {
    await to('field', 'add', 'note');
    await to('field', 'add', 'colour', '--type=choice', '--choices=red,blue');
    const { code, details } = await imported(urlOf(db), '--settings');
    expect([code, details]).toEqual([0, []]);
    expect((await shown(to)).Fair).toEqual({ note: 'boots', colour: 'red', kids: 'small' });
    const [bare] = await fastiOn();
    await imported(urlOf(bare), '--settings');
    expect((await shown(to)).Fair).toEqual({ note: 'boots', colour: 'red', kids: 'small' });
  });

  it('come from a running site by their names, and nothing else', async () => {
    await to('field', 'add', 'note');
    await to('field', 'add', 'price');
    const served = await serveDatabase(db);
    try {
      const { code, details } = await imported(served.base, '--rate=1000');
      expect([code, details.filter((detail) => detail.startsWith('field-'))]).toEqual([
        3,
        ['field-left-out colour', 'field-left-out kids'],
      ]);
    } finally {
      await served.close();
    }
    expect(await shown(to)).toEqual({ Fair: { note: 'boots' } });
    const names = [...['colour', 'note', 'kids'], ...[2, 3, 4].flatMap((number) => [`_ecp_custom_${number}`, `__ecp_custom_${number}`])];
    expect(await copy.from('postmeta').whereIn('meta_key', names).pluck('meta_key')).toEqual(['_ecp_custom_2']);
  });

  it('and settings are missing in files of WordPress, which is reported if they were asked for', async () => {
    const file = join(folder, `${copy.dialect.name}-bare.xml`);
    const head = '<rss xmlns:wp="http://wordpress.org/export/1.2/"><channel><wp:wxr_version>1.2</wp:wxr_version>';
    writeFileSync(
      file,
      `${head}<item><title>A</title><wp:post_id>9</wp:post_id><wp:post_type>tribe_venue</wp:post_type></item></channel></rss>`,
    );
    expect(await imported(file, '--settings')).toEqual({ code: 3, details: ['settings-none undefined'] });
    expect(await imported(file)).toEqual({ code: 0, details: [] });
  });

  it('are taken over up to the number that a site may have', async () => {
    const fields = Array.from({ length: 3 * MAX_CUSTOM_FIELDS }, (_, at) => ({
      ...{ meta: `_ecp_custom_${at + 2}`, name: `field-${at}`, label: `Field ${at}` },
      ...{ type: 'text', choices: [] },
    }));
    const file = join(folder, `${copy.dialect.name}-many.jsonl`);
    const lines = [
      { format: 'fasti', version: 1, home: 'https://many.example' },
      { kind: 'settings', sourceId: 'settings', options: {}, fields },
      { end: true, items: 1 },
    ];
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    expect((await imported(file, '--settings')).code).toBe(0);
    expect(JSON.parse((await to('field', 'list', '--format=json')).out)).toHaveLength(MAX_CUSTOM_FIELDS);
  });

  it('do not show the values of removed ones', async () => {
    await to('field', 'add', 'note');
    await made(to, '--title=Local', '--custom_fields=note=hello');
    await to('field', 'remove', 'note');
    await to('field', 'add', 'price');
    expect(await shown(to)).toEqual({ Local: {} });
  });
});
