import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { parseSync } from '@swc/core';
import { type AttackPattern, check } from 'recheck';

/*
 * Every regular expression of the program takes time in proportion to the text it is given: a text from outside could
 * otherwise keep the process busy for as long as it likes. Each pattern is taken from the source and looked at for ways
 * to backtrack (https://makenowjust-labs.github.io/recheck/).
 */

const SOURCE = join(dirname(fileURLToPath(import.meta.url)), '../src');
const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name) && !name.endsWith('.d.ts'));

/** Files that make patterns of what is only known while they run, with the reason why that does no harm. */
const MADE_LATER: Readonly<Record<string, string>> = {
  'http/routing.ts': 'of the declared routes; test/growth.test.ts sends paths through all of them',
  'exchange/verify/compare.ts': 'of the two home addresses that the person at the command line names, escaped',
};

interface Found {
  readonly file: string;
  readonly source: string;
  readonly flags: string;
}

/** The literals of a file, and how often it makes a pattern within a function out of anything but another pattern. */
function patternsIn(file: string): { literals: Found[]; later: number } {
  const literals: Found[] = [];
  let later = 0;
  // biome-ignore lint/suspicious/noExplicitAny: a tree of syntax, of which only a few members matter
  const visit = (node: any, deferred: boolean, isArgument: boolean): void => {
    if (Array.isArray(node)) for (const one of node) visit(one, deferred, isArgument);
    else if (node !== null && typeof node === 'object') {
      if (node.type === 'RegExpLiteral') literals.push({ file, source: node.pattern, flags: node.flags });
      const isFunction = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression', 'ClassMethod'].includes(node.type);
      // What is handed to a call, as to `map`, runs with the call.
      const within = deferred || (isFunction && !isArgument);
      const makes = ['NewExpression', 'CallExpression'].includes(node.type) && node.callee?.value === 'RegExp';
      if (makes && within && node.arguments?.[0]?.expression?.type !== 'Identifier') later += 1;
      for (const [name, member] of Object.entries(node))
        visit(member, within, name === 'arguments' || (name === 'expression' && isArgument));
    }
  };
  visit(
    parseSync(readFileSync(join(SOURCE, file), 'utf8'), { syntax: 'typescript', tsx: file.endsWith('x'), target: 'es2022' }).body,
    false,
    false,
  );
  return { literals, later };
}

const found = new Map(files.map((file) => [file, patternsIn(file)]));

/** Whether a file begins a process or a thread: it does its work as soon as it is loaded. */
const isEntry = (file: string): boolean => ['main.ts', 'cli.ts'].includes(file) || file.endsWith('-thread.ts');

/** The patterns that files put together of pieces as they are loaded. */
async function assembledPatterns(): Promise<Found[]> {
  const assembled: Found[] = [];
  const real = globalThis.RegExp;
  globalThis.RegExp = new Proxy(real, {
    construct(target, args) {
      const made: RegExp = Reflect.construct(target, args);
      const file = typeof args[0] === 'string' ? /\/src\/([\w/.-]+\.tsx?)/.exec(new Error().stack ?? '')?.[1] : undefined;
      if (file !== undefined) assembled.push({ file, source: made.source, flags: made.flags });
      return made;
    },
  });
  try {
    for (const file of files) if (!isEntry(file)) await import(`../src/${file}?anew`);
  } finally {
    globalThis.RegExp = real;
  }
  return assembled;
}

it('makes patterns while it loads, and none of what it is sent', () => {
  expect(files.filter((file) => found.get(file)!.later > 0).toSorted()).toEqual(Object.keys(MADE_LATER).toSorted());
});

/**
 * Files whose texts are cut off before any pattern sees them, so short that even the square of their length is nothing.
 * The checker finds something in their long patterns at one time and nothing at another.
 */
const SHORT: Readonly<Record<string, string>> = { 'wordpress/php/date-grammar.ts': 'a date has at most LONGEST_DATE bytes' };

/** The checker tries texts at random and may take a linear pattern for a slow one: what it found is tried out. */
function isSlow(source: string, flags: string, { pumps, suffix }: AttackPattern): boolean {
  const pattern = new RegExp(source, flags);
  const timeOf = (times: number): number => {
    const text = pumps.map(({ prefix, pump }) => prefix + pump.repeat(times)).join('') + suffix;
    pattern.lastIndex = 0;
    const begun = process.cpuUsage();
    pattern.test(text);
    return process.cpuUsage(begun).user / 1000;
  };
  // Eight times the text takes eight times as long where it is linear, and 64 times where it is not.
  for (let times = 100; times <= 1_000_000; times *= 8) if (timeOf(times) > 50) return timeOf(times) > 24 * timeOf(times / 8);
  return false;
}

it('has no pattern that takes more than linear time', async () => {
  const all = [...files.flatMap((file) => found.get(file)!.literals), ...(await assembledPatterns())];
  const each = new Map(all.map((pattern) => [`/${pattern.source}/${pattern.flags}`, pattern]));
  expect(each.size).toBeGreaterThan(400);
  // Without a quantifier that has no upper bound there is nothing to go over again.
  for (const [text, { source }] of each) if (!/[*+]|\{\d+,\}/.test(source)) each.delete(text);
  // Of a short text only exponential time matters. What takes that for a part of a text takes it all the more where the
  // whole text must match, since it fails more often.
  for (const [text, { file, source }] of each) if (file in SHORT && each.has(`/^(?:${source})$/`)) each.delete(text);
  const faults: string[] = [];
  for (const [text, { file, source, flags }] of each) {
    const found = await check(source, flags, { timeout: null });
    if (found.status === 'vulnerable') {
      const { complexity, attack } = found;
      const isReal = complexity.type !== 'polynomial' || (!(file in SHORT) && isSlow(source, flags, attack));
      if (isReal) faults.push(`${file}: ${text} is ${complexity.summary}`);
    }
    if (found.status === 'unknown') faults.push(`${file}: ${text} is too much for the checker: ${found.error.kind}`);
  }
  expect(faults).toEqual([]);
  // Hundreds of patterns, a fraction of a second each; a busy machine takes several times as long.
}, 900_000);
