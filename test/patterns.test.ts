import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { parseSync } from '@swc/core';
import { type AttackPattern, check } from 'recheck';
import { measureCostRatio, measureCpuTime } from './support/growth.ts';

/*
 * Every regular expression of the program takes time in proportion to its input: otherwise a text from outside could
 * block the process. The patterns are taken from the source and checked for backtracking
 * (https://makenowjust-labs.github.io/recheck/).
 */

const SOURCE = join(dirname(fileURLToPath(import.meta.url)), '../src');
const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name) && !name.endsWith('.d.ts'));

/** Files that build patterns at run time, with the reason why this is harmless. */
const MADE_LATER: Readonly<Record<string, string>> = {
  'http/routing.ts': 'of the declared routes; test/growth.test.ts sends paths through all of them',
  'exchange/verify/compare.ts': 'of the two home addresses that the person at the command line names, escaped',
};

interface Found {
  readonly file: string;
  readonly source: string;
  readonly flags: string;
}

/**
 * The pattern literals of a file, and how often it builds a pattern inside a function from anything but another
 * pattern.
 */
function patternsIn(file: string): { literals: Found[]; later: number } {
  const literals: Found[] = [];
  let later = 0;
  // biome-ignore lint/suspicious/noExplicitAny: a tree of syntax, of which only a few members matter
  const visit = (node: any, deferred: boolean, isArgument: boolean): void => {
    if (Array.isArray(node)) for (const one of node) visit(one, deferred, isArgument);
    else if (node !== null && typeof node === 'object') {
      if (node.type === 'RegExpLiteral') literals.push({ file, source: node.pattern, flags: node.flags });
      const isFunction = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression', 'ClassMethod'].includes(node.type);
      // A function passed to a call, as to `map`, runs with the call.
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

/** Whether a file is the entry point of a process or a thread, whose work starts when it is loaded. */
const isEntry = (file: string): boolean => ['main.ts', 'cli.ts'].includes(file) || file.endsWith('-thread.ts');

/** Patterns that files assemble from parts when they are loaded. */
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

it('the program builds patterns at load time, never from input', () => {
  expect(files.filter((file) => found.get(file)!.later > 0).toSorted()).toEqual(Object.keys(MADE_LATER).toSorted());
});

/**
 * Files that cut their texts before matching them, to a length at which even quadratic time is negligible. The
 * checker's results for their long patterns vary.
 */
const SHORT: Readonly<Record<string, string>> = { 'wordpress/php/date-grammar.ts': 'a date has at most LONGEST_DATE bytes' };

/** Processor time of one search, in microseconds, from which its growth is measured. */
const SLOW_MICROSECONDS = 50_000;

/**
 * Whether a pattern is slow in practice: the checker tries random texts and may report a linear pattern, so its finding
 * is measured.
 */
async function isSlow(source: string, flags: string, { pumps, suffix }: AttackPattern): Promise<boolean> {
  const pattern = new RegExp(source, flags);
  const search = (times: number) => {
    const text = pumps.map(({ prefix, pump }) => prefix + pump.repeat(times)).join('') + suffix;
    return () => {
      pattern.lastIndex = 0;
      pattern.test(text);
    };
  };
  // For eight times the text, linear time grows eightfold, and quadratic time 64-fold.
  for (let times = 100; times <= 1_000_000; times *= 8) {
    if ((await measureCpuTime(search(times), 1)) <= SLOW_MICROSECONDS) continue;
    return (await measureCostRatio({ work: search(times), reference: search(times / 8), limit: 24 })) > 24;
  }
  return false;
}

it('no pattern of the program takes more than linear time', async () => {
  const all = [...files.flatMap((file) => found.get(file)!.literals), ...(await assembledPatterns())];
  const each = new Map(all.map((pattern) => [`/${pattern.source}/${pattern.flags}`, pattern]));
  expect(each.size).toBeGreaterThan(400);
  // A pattern without an unbounded quantifier cannot backtrack without limit.
  for (const [text, { source }] of each) if (!/[*+]|\{\d+,\}/.test(source)) each.delete(text);
  // For short texts only exponential time matters. A pattern that takes it for a part of a text also takes it if the
  // whole text must match, since the match fails more often.
  for (const [text, { file, source }] of each) if (file in SHORT && each.has(`/^(?:${source})$/`)) each.delete(text);
  const faults: string[] = [];
  for (const [text, { file, source, flags }] of each) {
    const found = await check(source, flags, { timeout: null });
    if (found.status === 'vulnerable') {
      const { complexity, attack } = found;
      const isReal = complexity.type !== 'polynomial' || (!(file in SHORT) && (await isSlow(source, flags, attack)));
      if (isReal) faults.push(`${file}: ${text} is ${complexity.summary}`);
    }
    if (found.status === 'unknown') faults.push(`${file}: ${text} is too much for the checker: ${found.error.kind}`);
  }
  expect(faults).toEqual([]);
  // There are hundreds of patterns, each of which takes a fraction of a second, or several times that on a busy
  // machine.
}, 900_000);
