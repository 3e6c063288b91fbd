import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { COMMAND } from '../support/program.mjs';
import { commandIn, embedded, temporaryFolder } from './command.ts';

describe('a command whose output nobody reads any more', () => {
  const env = embedded(temporaryFolder());
  const fasti = commandIn(env);
  const logins = async () => (await fasti('user', 'list', '--field=login')).out.trim().split('\n').sort();

  /** Runs a command and closes the other end of its output at once. Gives its exit code and what it says of errors. */
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

  it('is carried out whole where it changes something', async () => {
    expect(await unread('user', 'delete', 'one', 'two', 'three')).toEqual({ code: 0, err: '' });
    expect(await logins()).toEqual(['admin', 'four']);
  });

  it('ends with its own exit code then', async () => {
    expect(await unread('user', 'delete', 'four', 'nobody')).toEqual({ code: 1, err: expect.stringContaining('nobody') });
    expect(await logins()).toEqual(['admin']);
  });

  it('ends quietly where it only reads', async () => {
    expect(await unread('event', 'list')).toEqual({ code: 0, err: '' });
  });
});
