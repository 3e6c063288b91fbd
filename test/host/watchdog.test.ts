import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Starts a process that gets stuck. `ended` resolves with its signal and its output on stderr. */
async function stuck(...args: string[]): Promise<{ child: ChildProcess; ended: Promise<{ signal: string | null; err: string }> }> {
  const child = spawn(process.execPath, ['--import', './test/support/run-typescript.mjs', 'test/support/stuck.ts', ...args], {
    cwd: ROOT,
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let err = '';
  child.stderr!.on('data', (text: Buffer) => {
    err += text.toString();
  });
  const ended = once(child, 'close').then(([, signal]) => ({ signal: signal as string | null, err }));
  await once(child.stdout!, 'data');
  return { child, ended };
}

describe('watchdog', () => {
  it('kills a process whose main thread is blocked, and logs it', async () => {
    const { signal, err } = await (await stuck('soon', '2')).ended;
    expect(signal).toBe('SIGKILL');
    expect(JSON.parse(err)).toMatchObject({ level: 'fatal', msg: 'killed: no sign of life for 2 seconds' });
  });

  it('kills a process that does not end after SIGTERM, and logs it', async () => {
    const { child, ended } = await stuck('later');
    child.kill('SIGTERM');
    const { signal, err } = await ended;
    expect(signal).toBe('SIGKILL');
    expect(JSON.parse(err)).toMatchObject({ level: 'fatal', msg: 'killed: it was told to end and did not' });
  });
});
