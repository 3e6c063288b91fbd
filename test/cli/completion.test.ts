import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { createProgram, sayForCommand } from '../../src/cli/program.ts';
import { loadTexts } from '../../src/texts.ts';
import { commandIn, temporaryFolder } from './command.ts';

const fasti = commandIn({});
const folder = temporaryFolder();
const isThere = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0;
const texts = await loadTexts(['en']);
const nowhere = { env: {}, out: () => undefined, err: () => undefined, isTerminal: false, serve: async () => undefined };
const program = createProgram({ io: nowhere, language: 'en', say: sayForCommand(texts, 'en') });

/** Arguments that make each shell print its completions of `fasti …`. */
const COMPLETED: Readonly<Record<string, (file: string, words: readonly string[]) => readonly string[]>> = {
  bash: (file, words) => [
    '-c',
    `source ${file}; COMP_WORDS=(fasti ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _fasti; printf '%s\\n' "\${COMPREPLY[@]}"`,
  ],
  // Minimal versions of functions of zsh. Options are offered only after a hyphen.
  zsh: (file, words) => [
    '-fc',
    `compdef() { }
     _files() { print "a file" }
     _describe() {
       [[ $1 != -o || $words[CURRENT] = -* ]] || return 1
       local -a all; all=("\${(@P)@[-1]}"); print -l -- "\${(@M)\${(@)all%%:*}:#$words[CURRENT]*}"
     }
     source ${file}; words=(fasti ${words.map((word) => `'${word}'`).join(' ')}); CURRENT=${words.length + 1}; _fasti`,
  ],
  fish: (file, words) => [
    '-c',
    `source ${file}; complete -C ${JSON.stringify(['fasti', ...words].join(' '))} | string split -f 1 \\t; true`,
  ],
};

describe.each(['bash', 'zsh', 'fish'])('completion for %s', (shell) => {
  const file = join(folder, `fasti.${shell}`);

  it('lists every command and every option, in any language', async () => {
    for (const language of ['en', 'it']) {
      const { code, out } = await fasti('completion', shell, `--language=${language}`);
      expect(code).toBe(0);
      writeFileSync(file, out);
      const names = program.commands.flatMap((one) => [one.name(), ...one.commands.map((two) => two.name())]);
      expect(names.length).toBeGreaterThan(30);
      expect(names.filter((name) => !out.includes(name))).toEqual([]);
      expect(out).toMatch(/start_date/);
      if (isThere(shell)) expect(spawnSync(shell, ['-n', file], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
    }
  });

  const completed = COMPLETED[shell];
  if (!completed || !isThere(shell)) return;
  const offered = (...words: string[]) => execFileSync(shell, completed(file, words), { encoding: 'utf8' }).trim().split('\n').sort();

  it('offers valid continuations', () => {
    expect(offered('eve')).toEqual(['event']);
    expect(offered('event', 're')).toEqual(['restore']);
    expect(offered('event', 'list', '--start_date=today', '--start_d')).toContain('--start_date');
    expect(offered('user', 'application-password', 'rev')).toEqual(['revoke']);
    expect(offered('--user', 'venue', 'event', 'res')).toEqual(['restore']);
    expect(offered('--language', 'it', 'doctor', '--f')).toEqual(['--fix', '--format']);
    expect(offered('tag', '')).toEqual(['create', 'delete', 'get', 'list', 'update']);
  });

  it('leaves the completion of file names to the shell', () => {
    // Fish itself offers files of the current folder, so it must offer a file that the others leave to the shell.
    const own: Readonly<Record<string, readonly string[]>> = { zsh: ['a file'], bash: [''] };
    const files = offered('import', '');
    if (own[shell]) expect(files).toEqual(own[shell]);
    else expect(files.some((name) => name.startsWith('package'))).toBe(true);
  });
});

it('rejects other shells', async () => {
  expect(await fasti('completion', 'sh')).toMatchObject({ code: 2, err: expect.stringContaining('the shells are bash, zsh, fish') });
});
