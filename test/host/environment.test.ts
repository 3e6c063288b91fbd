import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { EnvironmentError, readEnvironment } from '../../src/host/environment.ts';

const folder = mkdtempSync(join(tmpdir(), 'fasti-environment-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const write = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

describe('variables', () => {
  it('are those of the process where there is no file', () => {
    expect(readEnvironment({ PORT: '1' }, folder, ['PORT'])).toEqual({ variables: { PORT: '1' }, files: new Map() });
  });

  it('come from .env too, which the process outdoes', () => {
    const path = write('.env', 'PORT=1\nHOST="a b" # a comment\n');
    const { variables, files } = readEnvironment({ PORT: '2', HOST: '' }, folder, []);
    expect(variables).toEqual({ PORT: '2', HOST: 'a b' });
    expect([...files]).toEqual([['HOST', path]]);
    rmSync(path);
  });

  it('lose no name to the byte order mark that editors put before .env', () => {
    const path = write('.env', '\uFEFFDATABASE_URL=mysql://u:p@h/n\nPORT=1\n');
    expect(readEnvironment({}, folder, []).variables).toEqual({ DATABASE_URL: 'mysql://u:p@h/n', PORT: '1' });
    rmSync(path);
  });

  it('come from a file that is named, without line breaks at its end', () => {
    const path = write('secret', 'mysql://u:p@h/n\r\n\n');
    const { variables, files } = readEnvironment({ DATABASE_URL_FILE: 'secret' }, folder, ['DATABASE_URL']);
    expect(variables.DATABASE_URL).toBe('mysql://u:p@h/n');
    expect([...files]).toEqual([['DATABASE_URL', path]]);
  });

  it('come from a file to the letter, blanks at its end included', () => {
    write('key', ' key \n');
    expect(readEnvironment({ NONCE_KEY_FILE: 'key' }, folder, ['NONCE_KEY']).variables.NONCE_KEY).toBe(' key ');
  });

  it('are not read from files that no setting names', () =>
    expect(readEnvironment({ OTHER_FILE: 'nothing' }, folder, ['PORT']).variables).toEqual({ OTHER_FILE: 'nothing' }));

  it.each([
    [{ PORT_FILE: 'nothing' }, /^PORT_FILE names .*nothing, which cannot be read: /],
    [{ PORT_FILE: 'secret', PORT: '1' }, /^PORT and PORT_FILE are both given; keep one of them\.$/],
  ])('are refused with one line: %j', (own, message) => {
    expect(() => readEnvironment(own, folder, ['PORT'])).toThrow(EnvironmentError);
    expect(() => readEnvironment(own, folder, ['PORT'])).toThrow(message);
  });
});
