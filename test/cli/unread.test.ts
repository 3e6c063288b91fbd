import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { COMMAND } from '../support/program.mjs';
import { commandIn, embedded, temporaryFolder } from './command.ts';

describe('command whose output is closed', () => {
  const env = embedded(temporaryFolder());
  const fasti = commandIn(env);
  const logins = async () => (await fasti('user', 'list', '--field=login')).out.trim().split('\n').sort();

  /**
   * Runs a command and closes the reading end of its output immediately. Returns its exit code and its error output.
   */
  const unread = async (...args: readonly string[]) => {
    const child = spawn(process.execPath, [COMMAND, ...args], {
      env: { ...process.env, ...env, NODE_OPTIONS: '', LANG: 'en' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    const [err, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    return { code: code as number, err };
  };

  beforeAll(async () => {
    expect((await fasti('init', '--sample')).code).toBe(0);
    for (const name of ['one', 'two', 'three', 'four'])
      expect(await fasti('user', 'create', name, `${name}@example.org`)).toMatchObject({ code: 0 });
  });

  it('is completed if it changes something', async () => {
    expect(await unread('user', 'delete', 'one', 'two', 'three')).toEqual({ code: 0, err: '' });
    expect(await logins()).toEqual(['admin', 'four']);
  });

  it('ends with its own exit code', async () => {
    expect(await unread('user', 'delete', 'four', 'nobody')).toEqual({ code: 1, err: expect.stringContaining('nobody') });
    expect(await logins()).toEqual(['admin']);
  });

  /** A device that has no room. Some systems do not have it. */
  const FULL = '/dev/full';
  if (existsSync(FULL)) {
    it.each([
      [['event', 'list', '--format=json'], 'Error: standard output cannot be written (ENOSPC).\n'],
      [['export', '-', '--format=jsonl', '--language=it'], "Errore: Non è possibile scrivere l'output standard (ENOSPC).\n"],
      [['user', 'create', 'five', 'five@example.org'], 'Error: standard output cannot be written (ENOSPC).\n'],
    ])('reports why the output cannot be written: %j', (args, err) => {
      const output = openSync(FULL, 'w');
      const done = spawnSync(process.execPath, [COMMAND, ...args], {
        env: { ...process.env, ...env, NODE_OPTIONS: '', LANG: 'en' },
        stdio: ['ignore', output, 'pipe'],
        encoding: 'utf8',
      });
      closeSync(output);
      expect({ code: done.status, err: done.stderr }).toEqual({ code: 1, err });
    });

    it('is completed even if its output cannot be written', async () => expect(await logins()).toEqual(['admin', 'five']));
  }

  it('ends without an error if it only reads', async () => {
    expect(await unread('event', 'list')).toEqual({ code: 0, err: '' });
  });
});
