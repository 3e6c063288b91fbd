/**
 * Installs exactly the packages of package-lock.json and, if Node is too old for the precompiled SQLite package, runs
 * the one install script that is needed: better-sqlite3's, which fetches or compiles native code, beside the
 * installation of the other packages. `npm start`, `npm test`, the image and CI all install in this way. This script uses only Node, because nothing else may be
 * installed yet.
 *
 *   node bin/install.mjs             all packages
 *   node bin/install.mjs --running   without packages for development
 */
import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMPILED, isNewEnough, NATIVE, opens } from './sqlite.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
/** Packages whose install scripts run. package.json allows the same ones for users who run npm themselves. */
const WITH_SCRIPTS = ['better-sqlite3'];
/**
 * Options for compiling better-sqlite3 if it cannot be fetched. The optimization level takes half as long as the next
 * one, without a measurable effect on requests. Extensions of SQLite that are not used here are left out. Looking for
 * misleading indentation takes gcc more than a third of the time for SQLite's one large file, and nobody sees the result.
 */
const UNUSED = ['FTS3', 'FTS3_PARENTHESIS', 'FTS4', 'FTS5', 'GEOPOLY', 'RTREE', 'DBSTAT_VTAB'];
const COMPILING = {
  CFLAGS: ['-O1', '-Wno-misleading-indentation', ...UNUSED.map((name) => `-USQLITE_ENABLE_${name}`)].join(' '),
  CXXFLAGS: '-O1',
  JOBS: String(availableParallelism()),
};

/** Installs all packages, or those needed at run time. Returns a line that describes the failure, or undefined. */
export function installPackages({ everything }) {
  return npm('ci', '--ignore-scripts', everything ? '--include=dev' : '--omit=dev', '--no-audit', '--no-fund');
}

/** Fetches or compiles the native code of SQLite for this Node. Returns the same as `installPackages`. */
export function compile() {
  if (isCompiled() || npm('rebuild', ...WITH_SCRIPTS) === undefined) return undefined;
  return 'SQLite could neither be fetched nor compiled. Install a C++ compiler, make and Python 3 and try again, or use Node 22 or later, which needs none. Without access to nodejs.org, also set npm_config_nodedir to the folder of Node, whose include/node has its headers.';
}

/** The native code within its package. */
const ADDON = 'node_modules/better-sqlite3/build/Release/better_sqlite3.node';

/**
 * Begins to fetch or compile the native code in a folder of its own, so that it need not wait for the other packages.
 * Returns a function to be called once these are installed: it waits for the code, puts it in its place, and returns
 * the same as `compile`, which is tried again there if anything went wrong.
 */
export function beginCompiling() {
  if (isNewEnough || isCompiled()) return async () => compile();
  const folder = mkdtempSync(join(tmpdir(), 'fasti-sqlite-'));
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', removeFolder);
  const lock = withOnly(NATIVE, JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages);
  const dependencies = { [NATIVE]: lock[`node_modules/${NATIVE}`].version };
  const { allowScripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ dependencies, allowScripts }));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages: { '': { dependencies }, ...lock } }));
  // Within a script of npm, the environment names this project's folder as the one to work in.
  const { program, args, options } = npmCommand('ci', '--no-audit', '--no-fund', '--prefix', folder);
  const child = spawn(program, args, { ...options, cwd: folder, stdio: 'ignore' });
  const ended = new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('exit', (status) => resolve(status === 0));
  });
  return async () => {
    if ((await ended) && existsSync(join(folder, ADDON))) {
      mkdirSync(dirname(join(ROOT, ADDON)), { recursive: true });
      copyFileSync(join(folder, ADDON), join(ROOT, ADDON));
    }
    removeFolder();
    return compile();
  };
}

/** Returns the entries of a lock file for a package and everything that it depends on. */
function withOnly(name, packages) {
  const found = {};
  const add = (dependency, parent) => {
    const path = `${parent === '' ? '' : `${parent}/`}node_modules/${dependency}`;
    if (!Object.hasOwn(packages, path)) {
      // Packages are looked for beside their users, and then further up.
      if (parent !== '') add(dependency, parent.slice(0, Math.max(0, parent.lastIndexOf('/node_modules/'))));
      return;
    }
    if (Object.hasOwn(found, path)) return;
    found[path] = packages[path];
    for (const next of Object.keys({ ...packages[path].dependencies, ...packages[path].optionalDependencies })) add(next, path);
  };
  add(name, '');
  return found;
}

/** Whether the native code of SQLite is installed and runs on this Node, for which it may not have been built. */
export const isCompiled = () => (isNewEnough && opens(COMPILED)) || opens(NATIVE);

/**
 * Whether the packages in node_modules are those of package-lock.json. Optional packages depend on the machine and are
 * not checked, except for the precompiled SQLite package.
 */
export function isInstalled({ everything }) {
  const installed = join(ROOT, 'node_modules/.package-lock.json');
  if (!existsSync(installed)) return false;
  const wanted = packagesIn(join(ROOT, 'package-lock.json'));
  const present = packagesIn(installed);
  return Object.entries(wanted).every(([path, { version, optional, dev, devOptional, link }]) => {
    const isLeftOut = optional && !(isNewEnough && path === `node_modules/${COMPILED}`);
    if (path === '' || isLeftOut || devOptional || link || (dev && !everything)) return true;
    return present[path]?.version === version && existsSync(join(ROOT, path));
  });
}

/** Runs npm: the one that runs this script, if any. Its output goes to standard error. */
export function npm(...args) {
  const { program, args: all, options } = npmCommand(...args);
  const { status, error } = spawnSync(program, all, { ...options, stdio: ['ignore', 2, 2] });
  return status === 0 ? undefined : `npm ${args[0]} did not succeed${error ? `: ${error.message}` : '.'}`;
}

function npmCommand(...args) {
  const own = process.env.npm_execpath;
  const [program, first] = own?.endsWith('.js') ? [process.execPath, [own]] : ['npm', []];
  const options = { cwd: ROOT, env: { ...COMPILING, ...process.env }, shell: program === 'npm' && process.platform === 'win32' };
  return { program, args: [...first, ...args], options };
}

function packagesIn(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages ?? {};
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const everything = !process.argv.includes('--running');
  const finishCompiling = beginCompiling();
  const fault = installPackages({ everything }) ?? (await finishCompiling());
  if (fault !== undefined) {
    process.stderr.write(`${fault}\n`);
    process.exitCode = 1;
  }
}
