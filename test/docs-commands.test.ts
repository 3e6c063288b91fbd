import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Command } from 'commander';
import { createProgram, sayForCommand } from '../src/cli/program.ts';
import { loadTexts } from '../src/texts.ts';
import { commandIn, embedded, temporaryFolder } from './cli/command.ts';

/*
 * All command lines of README.md, docs/ and the help texts: the commands they name exist, and those that need no other
 * system are run.
 */

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');
const pages = ['README.md', ...readdirSync(join(ROOT, 'docs')).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : []))];
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

/** A command line as written, and the page that contains it. */
interface Line {
  readonly page: string;
  readonly text: string;
}

const blocks = (page: string): Line[] =>
  [...read(page).matchAll(/```(?:sh)?\n([\s\S]*?)```/g)].flatMap(([, block = '']) =>
    block
      .replace(/\\\n/g, ' ')
      .split('\n')
      .map((text) => ({ page, text: text.trim() })),
  );

/** Commands in running text: `fasti reindex`. */
const inline = (page: string): Line[] => [...read(page).matchAll(/`((?:bin\/)?fasti [^`]+)`/g)].map(([, text = '']) => ({ page, text }));

/** Optional text before the command: variables, and programs that run it on another machine or as another user. */
const BEFORE = /^(\$ |\w+=\S+ |runuser .* |docker compose exec (-T )?fasti |kubectl exec .* )*$/;
/** Commands whose examples ask questions, write a lot or need an empty database; these have tests of their own. */
const APART = ['backup', 'restore', 'export', 'doctor', 'seed', 'reindex'];

/** The arguments of `fasti` in a line, split as by a shell; undefined if the line does not run `fasti`. */
function argumentsIn(line: string): string[] | undefined {
  const [, before = '', given] = /^(.*?)(?:bin\/)?\bfasti ((?![.:]).*)$/.exec(line) ?? [];
  if (given === undefined || !BEFORE.test(before)) return undefined;
  const plain = given.replace(/\$\([^)]*\)/g, '1').replace(/\s[|>&#].*$/, '');
  return [...plain.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) => word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'));
}

const lines = [...new Set(pages)].flatMap((page) => [...blocks(page), ...inline(page)]);
const program = createProgram({
  io: { env: {}, out: () => undefined, err: () => undefined, isTerminal: false, serve: async () => undefined },
  language: 'en',
  say: sayForCommand(await loadTexts(['en']), 'en'),
});

/** The command that the words select, and the words after it. */
function commandOf(words: readonly string[]): { readonly command: Command; readonly rest: readonly string[] } {
  let command: Command = program;
  for (const [at, word] of words.entries()) {
    const next = command.commands.find((one) => one.name() === word);
    if (!next) return { command, rest: words.slice(at) };
    command = next;
  }
  return { command, rest: [] };
}

/** Words in place of a subcommand: flags, and what stands for any subcommand. */
const NO_SUBCOMMAND = /^(--|…|<|\w+ …)/;

/** The words that no command or flag has: a subcommand that does not exist, and unknown flags. */
function unknownWords(words: readonly string[]): string[] {
  const { command, rest } = commandOf(words);
  const [first] = rest;
  const hasToExist = command.commands.length > 0 && first !== undefined && !NO_SUBCOMMAND.test(first);
  const known = new Set(['--help', ...[...command.options, ...program.options].map(({ long }) => long)]);
  const flags = rest.flatMap((word) => /^--[\w-]+/.exec(word)?.[0] ?? []);
  // The flags of a command that is not named are unknown.
  const isNamed = command.commands.length === 0 || !rest.some((word) => /^(…|<)/.test(word));
  return [...(hasToExist ? [first] : []), ...(isNamed ? flags.filter((flag) => !known.has(flag)) : [])];
}

const leaves = (command: Command, path: readonly string[] = []): string[][] =>
  command.commands.length === 0 ? [[...path]] : command.commands.flatMap((one) => leaves(one, [...path, one.name()]));

describe('command lines on the pages', () => {
  const own = lines.flatMap(({ page, text }) => {
    const words = argumentsIn(text);
    return words ? [{ page, text, words }] : [];
  });

  it('name only commands and flags that exist', () => {
    expect(own.length).toBeGreaterThan(80);
    const wrong = own.flatMap(({ page, text, words }) => unknownWords(words).map((word) => `${page}: ${word} in ${text}`));
    expect(wrong).toEqual([]);
  });

  it.each([
    ['event gett 5', ['gett']],
    ['evnt get 5', ['evnt']],
    ['event get 5 --fieldz=id', ['--fieldz']],
    ['event list --no-such', ['--no-such']],
    ['event get 5 --fields=id', []],
  ])('are refused by this test if they are misspelt: fasti %s', (line, wrong) => expect(unknownWords(line.split(' '))).toEqual(wrong));

  it('name only npm scripts and files that exist', () => {
    const wrong = lines.filter(({ text }) => {
      const [, script] = /\bnpm (?:run(?: --silent)? |(?=start|test))([\w:]+)/.exec(text) ?? [];
      const [, file] = /\bnode ((?:bin|test|dist\/src)\/[\w./-]+)/.exec(text) ?? [];
      return (
        (script !== undefined && !(script in scripts)) || (file !== undefined && !file.startsWith('dist/') && !existsSync(join(ROOT, file)))
      );
    });
    expect(wrong.map(({ page, text }) => `${page}: ${text}`)).toEqual([]);
  });
});

describe('examples in the help of each command', () => {
  const folder = temporaryFolder();
  const fasti = commandIn(embedded(folder));
  beforeAll(async () => {
    expect((await fasti('init', '--sample', '--url=http://calendar.example')).code).toBe(0);
  });

  it('README.md shows an event as it is in the sample calendar', async () => {
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
    const shown = JSON.parse(/```json\n([\s\S]*?)```/.exec(readme)![1]!) as { id: number; url: string };
    const slug = shown.url.split('/').at(-2)!;
    const { out } = await fasti('event', 'get', slug, `--fields=${Object.keys(shown).join()}`, '--format=json');
    const { start_date, end_date, url, ...rest } = shown as Record<string, unknown>;
    expect(JSON.parse(out)).toMatchObject({
      ...rest,
      categories: expect.arrayContaining([expect.objectContaining((rest.categories as object[])[0]!)]),
    });
    expect(readme).toContain(`/events/${shown.id}\n`);
  });

  it.each(leaves(program).map((path) => path.join(' ')))('fasti %s: are understood', async (path) => {
    const { out } = await fasti(...path.split(' '), '--help');
    const examples = [...out.matchAll(/^ {2}\$ (.*\bfasti .*)$/gm)].map(([, line = '']) => line);
    expect(examples).not.toEqual([]);
    for (const example of examples) {
      const words = argumentsIn(example.replace(/^source <\((.*)\)$/, '$1'));
      // Commands that address other sites or databases are not run.
      if (!words || words.some((word) => /^\w+:\/\//.test(word)) || APART.includes(words[0] ?? '')) continue;
      const { code, err } = await fasti(...words);
      // The record may not exist, but the command exists and is used correctly.
      expect([example, code === 2 ? err : 'understood']).toEqual([example, 'understood']);
    }
  });
});
