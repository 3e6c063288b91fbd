/**
 * Installs the packages of package-lock.json, exactly these, and runs the one install script that is needed:
 * better-sqlite3's, which fetches or compiles native code. `npm start`, `npm test`, the image and CI all install in
 * this way. It uses nothing but Node, since nothing else may be there yet.
 *
 *   node bin/install.mjs
 */
import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
/** The packages whose install scripts run; the same that package.json allows for those who run npm themselves. */
const WITH_SCRIPTS = ['better-sqlite3'];

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const fault = install();
  if (fault !== undefined) {
    process.stderr.write(`${fault}\n`);
    process.exitCode = 1;
  }
}

/** Installs everything. Gives a line that says what went wrong, or undefined. */
export function install() {
  return npm('ci', '--ignore-scripts', '--include=dev', '--no-audit', '--no-fund') ?? npm('rebuild', ...WITH_SCRIPTS);
}

/** Runs npm, the one that runs this if there is one. What it says goes to standard error. */
export function npm(...args) {
  const own = process.env.npm_execpath;
  const [program, first] = own?.endsWith('.js') ? [process.execPath, [own]] : ['npm', []];
  const { status, error } = spawnSync(program, [...first, ...args], {
    cwd: ROOT,
    stdio: ['ignore', 2, 2],
    shell: program === 'npm' && process.platform === 'win32',
  });
  return status === 0 ? undefined : `npm ${args[0]} did not succeed${error ? `: ${error.message}` : '.'}`;
}
