import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from '@jest/globals';
import { until } from './support/until.mjs';

const TEST = fileURLToPath(new URL('.', import.meta.url));
const SCRIPTS = ['attacks', 'bench', 'faults'].flatMap((folder) =>
  readdirSync(join(TEST, folder))
    .filter((file) => file.endsWith('.mjs'))
    .map((file) => `${folder}/${file}`),
);
const folder = mkdtempSync(join(tmpdir(), 'fasti-leave-nothing-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The scripts whose source satisfies a condition. */
const scriptsWith = (isSo: (source: string) => boolean): string[] =>
  SCRIPTS.filter((script) => isSo(readFileSync(join(TEST, script), 'utf8')));

/** A script that starts a program which does not end by itself, creates a folder, and prints the id and the path. */
const SCRIPT = `
import { spawn } from 'node:child_process';
import { killOnExit, scratchFolder } from ${JSON.stringify(join(TEST, 'support/leave-nothing.mjs'))};
const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
killOnExit(child);
console.log(JSON.stringify({ pid: child.pid, folder: scratchFolder('fasti-left') }));
`;

const isThere = (pid: number): boolean => existsSync(`/proc/${pid}`) && !/^State:\sZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));

describe('scripts of attacks, faults and measurements', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL'] as const)('leave neither process nor folder behind after %s', async (signal) => {
    const file = join(folder, `${signal}.mjs`);
    writeFileSync(file, `${SCRIPT}setInterval(() => {}, 1000);\n`);
    const script = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(script.stdout!, 'data')) as [Buffer];
    const made = JSON.parse(line.toString()) as { pid: number; folder: string };
    expect(isThere(made.pid)).toBe(true);
    script.kill(signal);
    await until('the end of the process', () => !isThere(made.pid));
    await until('the end of the folder', () => !existsSync(made.folder));
  });

  it('leave neither process nor folder behind when they end by themselves', async () => {
    const file = join(folder, 'end.mjs');
    writeFileSync(file, `${SCRIPT}process.exit();\n`);
    const made = JSON.parse(execFileSync(process.execPath, [file], { encoding: 'utf8' })) as { pid: number; folder: string };
    await until('the end of the process', () => !isThere(made.pid));
    expect(existsSync(made.folder)).toBe(false);
  });

  const count = (source: string, pattern: RegExp) => source.match(pattern)?.length ?? 0;
  it.each<[string, { readonly isWrong: (source: string) => boolean; readonly wrong: string; readonly right: string }]>([
    [
      'make temporary folders only with the helper that removes them',
      {
        isWrong: (source) => /mkdtemp\w*\(\s*(?:join\(\s*tmpdir\(\)|`\$\{tmpdir\(\)\})/.test(source),
        wrong: "const folder = await mkdtemp(join(tmpdir(), 'x-'));",
        right: "const folder = mkdtempSync(join(scratchFolder('x'), 'run-'));",
      },
    ],
    [
      'have every process that they start end with them',
      {
        isWrong: (source) => count(source, /\bspawn\(/g) > count(source, /\bkillOnExit\(/g),
        wrong: "killOnExit(spawn('one')); const other = spawn('two');",
        right: "killOnExit(spawn('one'));",
      },
    ],
    [
      'wait for nothing without a timeout',
      {
        isWrong: (source) => /while \((?!.*(?:performance|Date)\.now).*\)\s*\{?\s*await sleep\(/.test(source),
        wrong: 'while (!isDone()) {\n  await sleep(10);\n}',
        right: 'while (!isDone() && performance.now() < deadline) await sleep(10);',
      },
    ],
  ])('%s', (_, { isWrong, wrong, right }) => {
    expect([wrong, right].filter(isWrong)).toEqual([wrong]);
    expect(SCRIPTS.length).toBeGreaterThan(20);
    expect(scriptsWith(isWrong)).toEqual([]);
  });
});

describe('until', () => {
  it('returns the value that was waited for', async () => {
    let turn = 0;
    expect(await until('the third turn', () => ++turn === 3 && 'third')).toBe('third');
  });

  it('fails with the name of the awaited event', async () => {
    await expect(until('the end of the world', () => false, { timeoutMs: 10, pollMs: 1 })).rejects.toThrow('the end of the world');
  });
});
