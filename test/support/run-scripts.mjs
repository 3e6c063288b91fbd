/**
 * Runner of `npm run attacks` and `npm run faults`: runs the scripts of a folder, each of which measures one thing and
 * exits with status 1 if it misses its goal.
 *
 *   npm run faults                      lists the scripts, with the first line of the comment of each
 *   npm run attacks                     lists them, too, and runs the usual one: the cost of expensive requests
 *   npm run faults -- kills --rounds 20 runs one script with further arguments
 *   npm run faults -- short             runs all scripts one after the other in their shortest useful form; each must
 *                                       reach its goal, so that none becomes outdated
 *   npm run faults -- all               runs all scripts in full
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SHORT } from './short-runs.mjs';

/** The script that runs if none is named. */
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
