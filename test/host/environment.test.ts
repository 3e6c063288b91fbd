import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { EnvironmentError, readEnvironment, type Variables, variablesToPass } from '../../src/host/environment.ts';

const folder = mkdtempSync(join(tmpdir(), 'fasti-environment-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const write = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

describe('environment variables', () => {
  it('are those of the process if there is no .env file', () => {
    expect(readEnvironment({ PORT: '1' }, folder, ['PORT'])).toEqual({ variables: { PORT: '1' }, files: new Map() });
  });

  it('of a worker are those of its service, or read again if an earlier version of the service passes none', () => {
    const earlierPath = write('.env', 'PORT_FILE=port\nHOST=a\n');
    const portPath = write('port', '1\n');
    const names = ['PORT', 'HOST', 'SITE_URL'];
    const service = readEnvironment({ PATH: '/bin' }, folder, names).variables;
    write('.env', 'PORT_FILE=port\nHOST=b\nSITE_URL=https://b.example\n');
    write('port', '2\n');
    const shown = (own: Variables) => names.map((name) => readEnvironment({ ...own, FASTI_WORKER: '0' }, folder, names).variables[name]);
    expect(shown(variablesToPass({ PATH: '/bin' }, service, names))).toEqual(['1', 'a', undefined]);
    expect(shown({ PATH: '/bin' })).toEqual(['2', 'b', 'https://b.example']);
    for (const path of [earlierPath, portPath]) rmSync(path);
  });

  it('are also read from .env, with lower precedence than the process', () => {
    const path = write('.env', 'PORT=1\nHOST="a b" # a comment\n');
    const { variables, files } = readEnvironment({ PORT: '2', HOST: '' }, folder, []);
    expect(variables).toEqual({ PORT: '2', HOST: 'a b' });
    expect([...files]).toEqual([['HOST', path]]);
    rmSync(path);
  });

  it('are read from .env despite a byte order mark', () => {
    const path = write('.env', '\uFEFFDATABASE_URL=mysql://u:p@h/n\nPORT=1\n');
    expect(readEnvironment({}, folder, []).variables).toEqual({ DATABASE_URL: 'mysql://u:p@h/n', PORT: '1' });
    rmSync(path);
  });

  it('are read from .env as they are in single quotes, with every sign of the keys of wp-config.php', () => {
    const signs = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)).filter((sign) => sign !== "'");
    for (let turn = 0; turn < signs.length; turn += 1) {
      const key = [...signs.slice(turn), ...signs.slice(0, turn)].join('');
      const path = write('.env', `NONCE_KEY='${key}'\nPORT=1\n`);
      expect(readEnvironment({}, folder, []).variables).toEqual({ NONCE_KEY: key, PORT: '1' });
      rmSync(path);
    }
  });

  it('are read from a file named by NAME_FILE, without trailing line breaks', () => {
    const path = write('secret', 'mysql://u:p@h/n\r\n\n');
    const { variables, files } = readEnvironment({ DATABASE_URL_FILE: 'secret' }, folder, ['DATABASE_URL']);
    expect(variables.DATABASE_URL).toBe('mysql://u:p@h/n');
    expect([...files]).toEqual([['DATABASE_URL', path]]);
  });

  it.each([
    [{ DATABASE_URL: 'own' }, 'DATABASE_URL_FILE=file', 'own'],
    [{ DATABASE_URL_FILE: 'own-file' }, 'DATABASE_URL=dotenv', 'in own file'],
    [{ DATABASE_URL_FILE: 'own-file' }, 'DATABASE_URL_FILE=nothing', 'in own file'],
    [{ DATABASE_URL: '', DATABASE_URL_FILE: '' }, 'DATABASE_URL_FILE=file', 'in file'],
    [{ DATABASE_URL: 'own' }, 'DATABASE_URL=dotenv\nDATABASE_URL_FILE=nothing', 'own'],
  ])('of the process take precedence over .env as NAME and as NAME_FILE: %j, %j', (own, dotenv, value) => {
    const path = write('.env', dotenv);
    write('file', 'in file');
    write('own-file', 'in own file');
    expect(readEnvironment(own, folder, ['DATABASE_URL']).variables.DATABASE_URL).toBe(value);
    rmSync(path);
  });

  it('are refused if .env gives both NAME and NAME_FILE', () => {
    const path = write('.env', 'PORT=1\nPORT_FILE=file');
    expect(thrownBy(() => readEnvironment({ HOST: 'a' }, folder, ['PORT', 'HOST']))).toMatchObject({ problem: 'given-twice' });
    rmSync(path);
  });

  it('keep spaces at the start and end of a file', () => {
    write('key', ' key \n');
    expect(readEnvironment({ NONCE_KEY_FILE: 'key' }, folder, ['NONCE_KEY']).variables.NONCE_KEY).toBe(' key ');
  });

  it('are not read from NAME_FILE if NAME is not a setting', () =>
    expect(readEnvironment({ OTHER_FILE: 'nothing' }, folder, ['PORT']).variables).toEqual({ OTHER_FILE: 'nothing' }));

  it.each([
    [
      { PORT_FILE: 'nothing' },
      { problem: 'named-file-unreadable', values: { name: 'PORT_FILE', file: expect.stringMatching(/nothing$/) } },
    ],
    [{ PORT_FILE: 'empty' }, { problem: 'named-file-empty', values: { name: 'PORT_FILE', file: expect.stringMatching(/empty$/) } }],
    [
      { PORT_FILE: 'secret', PORT: '1' },
      { problem: 'given-twice', values: { name: 'PORT', other: 'PORT_FILE' } },
    ],
  ])('are refused: %j', (own, error) => {
    write('empty', ' \n');
    expect(() => readEnvironment(own, folder, ['PORT'])).toThrow(EnvironmentError);
    expect(thrownBy(() => readEnvironment(own, folder, ['PORT']))).toMatchObject(error);
  });
});

function thrownBy(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
