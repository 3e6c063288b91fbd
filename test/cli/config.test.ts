import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { runCli } from '../../src/cli/program.ts';
import { settings } from '../../src/config/settings.ts';

async function config(env: Record<string, string>, files: ReadonlyMap<string, string> = new Map()) {
  const [out, err]: [string[], string[]] = [[], []];
  const io = { env, files, isTerminal: false, out: (text: string) => out.push(text), err: (text: string) => err.push(text) };
  const code = await runCli(['config', '--format=json'], { ...io, serve: async () => undefined });
  const rows = JSON.parse(out.join('')) as { setting: string; value: string; from: string }[];
  return { code, err: err.join(''), rows: new Map(rows.map((row) => [row.setting, row])) };
}

describe('fasti config', () => {
  it('lists every setting with its value and source', async () => {
    const { code, rows } = await config({ PORT: '1', HOST: 'localhost' }, new Map([['HOST', '/etc/fasti/.env']]));
    expect(code).toBe(0);
    expect([...rows.keys()]).toEqual(Object.values(settings).map(({ env }) => env));
    expect(rows.get('PORT')).toEqual({ setting: 'PORT', value: '1', from: 'environment' });
    expect(rows.get('HOST')).toMatchObject({ value: 'localhost', from: '/etc/fasti/.env' });
    expect(rows.get('CACHE')).toMatchObject({ value: 'on', from: 'default' });
  });

  it('hides secrets', async () => {
    const secrets = Object.values(settings).flatMap((setting) => ('secret' in setting ? [setting.env] : []));
    const env = Object.fromEntries(secrets.map((name) => [name, name.startsWith('DATABASE') ? 'mysql://u:s/ec@ret@h/n' : 'sec@ret']));
    const { rows } = await config(env);
    expect(secrets.length).toBeGreaterThan(4);
    for (const name of secrets) expect(JSON.stringify(rows.get(name))).not.toMatch(/ec@ret/);
    expect(rows.get('DATABASE_URL')!.value).toBe('mysql://u:(hidden)@h/n');
  });

  it.each([
    ['mysql://fasti:pa', 'mysql://(hidden)'],
    ['mysql://fasti:12 34', 'mysql://(hidden)'],
    ['mysql://fasti:a/b', 'mysql://(hidden)'],
    ['mysql://fasti:a@h/n', 'mysql://fasti:(hidden)@h/n'],
    ['mysql://fasti@h:3306,i:3306/n?ssl=true', 'mysql://fasti@h:3306,i:3306/n?ssl=true'],
    ['mysql://localhost/n', 'mysql://localhost/n'],
    ['mysql://u:12345/n', 'mysql://(hidden)'],
    ['mysql://anna.rossi:12345,7/n', 'mysql://(hidden)'],
    ['mysql://fasti@h:3306/n', 'mysql://fasti@h:3306/n'],
    ['mysql:///n?socketPath=/run/db.sock', 'mysql:///n?socketPath=/run/db.sock'],
    ['mysql://[::1]:3306/n', 'mysql://[::1]:3306/n'],
    ['mysql://u:p@h/n?ssl=true', 'mysql://u:(hidden)@h/n?ssl=true'],
    ['mysql://us/er:pw@h/n', 'mysql://(hidden)'],
    ['mysql://u:p@w', 'mysql://(hidden)'],
    ['mysql://h/n?user=u&password=pw', 'mysql://(hidden)'],
    ['mysql:/u:pw@h/n', '(hidden)'],
    ['mysql+ssl://u:pw@h/n', '(hidden)'],
    ['jdbc:mysql://u:pw@h/n', '(hidden)'],
    ['u:pw@h/n', '(hidden)'],
    ['u@h/n', '(hidden)'],
    ['sqlite:data/a:b.sqlite', 'sqlite:data/a:b.sqlite'],
  ])('shows the database address %s, which may be mistyped or cut within its password, as %s', async (given, shown) => {
    const { rows } = await config({ DATABASE_URL: given });
    expect(rows.get('DATABASE_URL')!.value).toBe(shown);
  });

  it.each([
    ['DATABASE_URL', 'mysql://user:hush@localhost', /^Error: DATABASE_URL cannot be used: .* must end with its name/],
    ['DATABASE_URL', 'mysql://user:hu/sh@localhost/n', /^Error: DATABASE_URL cannot be used: .* must look like mysql:/],
    ['DATABASE_URL', 'mysql://user:12/hush@localhost', /^Error: DATABASE_URL cannot be used: .* must look like mysql:/],
    ['DATABASE_URL', 'mysql://user:12/n?hush@localhost', /^Error: DATABASE_URL cannot be used: .* must look like mysql:/],
    ['DATABASE_URL', 'mysql+ssl://user:hush@localhost/n', /^Error: DATABASE_URL /],
    ['DATABASE_READ_URL', 'mysql://localhost/n?tls=1', /^Error: DATABASE_READ_URL cannot be used: .* not known: tls/],
  ])('rejects a database address that names no database: %s=%s', async (name, address, message) => {
    const { code, err } = await config({ DATABASE_URL: 'mysql://localhost/n', [name]: address });
    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(message) });
    expect(err).not.toMatch(/hu\/?sh/);
  });

  it('lists all settings before it rejects an invalid one', async () => {
    const { code, err, rows } = await config({ PORT: 'x' });
    expect({ code, err }).toEqual({ code: 2, err: 'Error: PORT is "x"; it must be a whole number from 0 to 65535.\n' });
    expect(rows.get('PORT')).toMatchObject({ value: 'x' });
  });

  it('rejects a language without texts', async () => {
    const folder = fileURLToPath(new URL('../../locales/de', import.meta.url));
    const { code, err, rows } = await config({ LANGUAGES: 'en,de' });
    expect({ code, err }).toEqual({
      code: 2,
      err: `Error: LANGUAGES is "en,de"; there are no texts in the language "de", because the folder ${folder} is absent.\n`,
    });
    expect(rows.get('LANGUAGES')).toMatchObject({ value: 'en,de' });
  });
});
