/**
 * What `npm run attacks` and `npm run faults` run: the scripts of a folder, each of which measures one thing and ends
 * with status 1 where it misses its goal.
 *
 *   npm run faults                      lists the scripts, with the first line of what each says of itself
 *   npm run attacks                     the same, and runs the one that most want: what the most expensive requests
 *   cost
 *   npm run faults -- kills --rounds 20 runs one; further arguments go to it
 *   npm run faults -- short             runs all of them as short as they are still worth it, one after the other: each
 *   must reach its goal, so that none goes stale
 *   npm run faults -- all               runs all of them as they are
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SHORT } from './short-runs.mjs';

/** The script that runs where none is named. */
const USUAL = new Map([['attacks', 'cost']]);

const [folder, wanted, ...rest] = process.argv.slice(2);
const place = fileURLToPath(new URL(`../${folder}`, import.meta.url));
const scripts = readdirSync(place)
  .filter((file) => file.endsWith('.mjs') && !file.startsWith('_'))
  .map((file) => basename(file, '.mjs'));

if (wanted === undefined) {
  for (const name of scripts) console.log(`${name.padEnd(16)} ${summaryOf(name)}`);
  const usual = USUAL.get(folder);
  if (usual !== undefined) process.exitCode = run(usual, rest);
} else if (wanted === 'all' || wanted === 'short') {
  const argsOf = (name) => (wanted === 'all' ? rest : SHORT.get(`${folder}/${name}`).split(' ').filter(Boolean));
  const failed = scripts.filter((name) => run(name, argsOf(name)) !== 0);
  if (failed.length > 0) console.log(`Missed their goal: ${failed.join(', ')}`);
  process.exitCode = failed.length > 0 ? 1 : 0;
} else if (scripts.includes(wanted)) {
  process.exitCode = run(wanted, rest);
} else {
  console.error(`There is no script "${wanted}". There are: ${scripts.join(', ')}.`);
  process.exitCode = 2;
}

function run(name, args) {
  console.log(`== ${[name, ...args].join(' ')}`);
  return spawnSync(process.execPath, [join(place, `${name}.mjs`), ...args], { stdio: 'inherit' }).status ?? 1;
}

/** The first sentence of the comment that a script begins with. */
function summaryOf(name) {
  const [, text = ''] = /\/\*\*\s*\*?\s*([^\n]+)/.exec(readFileSync(join(place, `${name}.mjs`), 'utf8')) ?? [];
  return text.trim();
}
