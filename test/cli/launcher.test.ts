import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { temporaryFolder } from './command.ts';

const LAUNCHER = fileURLToPath(new URL('../../bin/fasti', import.meta.url));

describe('bin/fasti', () => {
  const project = join(temporaryFolder(), 'a project');
  const elsewhere = temporaryFolder();
  mkdirSync(join(project, 'bin'), { recursive: true });
  copyFileSync(LAUNCHER, join(project, 'bin/fasti'));
  const link = join(elsewhere, 'fasti');
  symlinkSync(join(project, 'bin/fasti'), link);
  const run = (env = {}) =>
    execFileSync(link, ['event', 'a b'], { cwd: elsewhere, encoding: 'utf8', env: { PATH: process.env.PATH, ...env } });

  it('explains what to do if the program is not built', () => expect(() => run()).toThrow(/fasti is not built yet: run npm start once/));

  it('runs from any folder and through a symbolic link, in the current folder, with the settings of the project', () => {
    mkdirSync(join(project, 'dist/src'), { recursive: true });
    writeFileSync(
      join(project, 'dist/src/cli.js'),
      'console.log(JSON.stringify([process.argv.slice(2), process.cwd(), process.env.FASTI_FOLDER]))',
    );
    expect(JSON.parse(run())).toEqual([['event', 'a b'], elsewhere, project]);
    expect(JSON.parse(run({ FASTI_FOLDER: '/srv/fasti' }))[2]).toBe('/srv/fasti');
  });
});
