/**
 * Installs the packages of package-lock.json, exactly these, and runs the one install script that is needed:
 * better-sqlite3's, which fetches or compiles native code, where Node is too old for the package that comes compiled.
 * `npm start`, `npm test`, the image and CI all install in this way. It uses nothing but Node, since nothing else may
 * be there yet.
 *
 *   node bin/install.mjs             everything
 *   node bin/install.mjs --running   without what only development needs
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
/** The packages whose install scripts run; the same that package.json allows for those who run npm themselves. */
const WITH_SCRIPTS = ['better-sqlite3'];
/** The Node-API that better-sqlite3 13 is compiled for (src/storage/engine/sqlite/library.ts). */
const COMPILED_FOR = 10;
/**
 * How better-sqlite3 is compiled where it cannot be fetched: at SQLite's own usual level, which takes half the time of
 * the highest and is as fast, and without extensions of SQLite that are not used here.
 */
const UNUSED = ['FTS3', 'FTS3_PARENTHESIS', 'FTS4', 'FTS5', 'GEOPOLY', 'RTREE', 'DBSTAT_VTAB'];
const COMPILING = {
  CFLAGS: ['-O2', ...UNUSED.map((name) => `-USQLITE_ENABLE_${name}`)].join(' '),
  CXXFLAGS: '-O2',
  JOBS: String(availableParallelism()),
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const fault = install({ everything: !process.argv.includes('--running') });
  if (fault !== undefined) {
    process.stderr.write(`${fault}\n`);
    process.exitCode = 1;
  }
}

/**
 * Installs everything, or what running needs. Gives a line that says what went wrong, or undefined.
 */
export function install({ everything }) {
  const parts = everything ? '--include=dev' : '--omit=dev';
  const fault = npm('ci', '--ignore-scripts', parts, '--no-audit', '--no-fund');
  if (fault !== undefined || (comesCompiled() && !everything)) return fault;
  return npm('rebuild', ...WITH_SCRIPTS);
}

/**
 * Whether the packages that lie in node_modules are those of package-lock.json; optional ones depend on the machine.
 */
export function isInstalled({ everything }) {
  const installed = join(ROOT, 'node_modules/.package-lock.json');
  if (!existsSync(installed)) return false;
  const wanted = packagesIn(join(ROOT, 'package-lock.json'));
  const present = packagesIn(installed);
  return Object.entries(wanted).every(([path, { version, optional, dev, devOptional, link }]) => {
    if (path === '' || optional || devOptional || link || (dev && !everything)) return true;
    return present[path]?.version === version && existsSync(join(ROOT, path));
  });
}

/** Runs npm, the one that runs this if there is one. What it says goes to standard error. */
export function npm(...args) {
  const own = process.env.npm_execpath;
  const [program, first] = own?.endsWith('.js') ? [process.execPath, [own]] : ['npm', []];
  const { status, error } = spawnSync(program, [...first, ...args], {
    cwd: ROOT,
    env: { ...COMPILING, ...process.env },
    stdio: ['ignore', 2, 2],
    shell: program === 'npm' && process.platform === 'win32',
  });
  return status === 0 ? undefined : `npm ${args[0]} did not succeed${error ? `: ${error.message}` : '.'}`;
}

function packagesIn(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages ?? {};
}

/** Whether the package with compiled code is there and can be used. */
function comesCompiled() {
  return Number(process.versions.napi) >= COMPILED_FOR && existsSync(join(ROOT, 'node_modules/better-sqlite3-compiled'));
}
