/**
 * Installs exactly the packages of package-lock.json and, if Node is too old for the precompiled SQLite package, runs
 * the one install script that is needed: better-sqlite3's, which fetches or compiles native code. `npm start`,
 * `npm test`, the image and CI all install in this way. This script uses only Node, because nothing else may be
 * installed yet.
 *
 *   node bin/install.mjs             all packages
 *   node bin/install.mjs --running   without packages for development
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMPILED, isNewEnough, NATIVE, opens } from './sqlite.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
/** Packages whose install scripts run. package.json allows the same ones for users who run npm themselves. */
const WITH_SCRIPTS = ['better-sqlite3'];
/**
 * Options for compiling better-sqlite3 if it cannot be fetched. The optimization level takes two thirds of the time of
 * `-O1`, which takes half that of `-O2`; the compiled file is 6% larger. Extensions of SQLite that are not used here are
 * left out. Looking for misleading indentation takes gcc more than a third of the time for SQLite's one large file, and
 * nobody sees the result.
 */
const UNUSED = ['FTS3', 'FTS3_PARENTHESIS', 'FTS4', 'FTS5', 'GEOPOLY', 'RTREE', 'DBSTAT_VTAB'];
const COMPILING = {
  CFLAGS: ['-Og', '-Wno-misleading-indentation', ...UNUSED.map((name) => `-USQLITE_ENABLE_${name}`)].join(' '),
  CXXFLAGS: '-Og',
  JOBS: String(availableParallelism()),
};

/** The first release of each version of Node that is supported, as in `engines` of package.json. */
const NODE = [
  [20, 19],
  [22, 12],
  [24, 0],
];

/**
 * Returns a line that describes why a version of Node is not suitable; undefined if it is. Versions after the last
 * supported one may work.
 */
export function nodeFault(version) {
  const [major, minor] = version.split('.').map(Number);
  if (major > NODE.at(-1)[0] || NODE.some(([suited, first]) => major === suited && minor >= first)) return undefined;
  return `Node 20.19, 22.12 or 24, or a later release of one of these, is needed; this is ${version}.`;
}

/**
 * Installs all packages, or those needed at run time. A service may be running with the former ones, so they stay until
 * the new ones are complete, and if that fails. `prepare` gets the folder whose node_modules has the new packages, before
 * they are used.
 *
 * Returns a line that describes the failure, or undefined; `prepare` does the same.
 */
export function installPackages({ everything }, prepare = () => undefined) {
  const [target, fresh, former] = ['node_modules', 'node_modules.new', 'node_modules.old'].map((name) => join(ROOT, name));
  const clean = () => {
    for (const folder of [fresh, former]) rmSync(folder, { recursive: true, force: true });
  };
  const install = (folder) => {
    const kinds = everything ? '--include=dev' : '--omit=dev';
    return npm(folder, 'ci', '--ignore-scripts', kinds, '--no-audit', '--no-fund') ?? prepare(folder);
  };
  // An earlier run may have been killed between the two steps of the replacement.
  putBack(target, former);
  clean();
  mkdirSync(fresh);
  for (const name of ['package.json', 'package-lock.json', '.npmrc'])
    if (existsSync(join(ROOT, name))) cpSync(join(ROOT, name), join(fresh, name));
  let fault = install(fresh);
  if (fault === undefined && !isReplaced(target, join(fresh, 'node_modules'), former)) fault = install(ROOT);
  clean();
  return fault;
}

/**
 * Puts one folder in the place of another, which gets a new name. False if one of them cannot be renamed, such as a
 * volume or, on Windows, a folder that is in use; the other one is still in its place then.
 */
function isReplaced(target, fresh, former) {
  try {
    if (existsSync(target)) renameSync(target, former);
    renameSync(fresh, target);
    return true;
  } catch {
    putBack(target, former);
    return false;
  }
}

/** Gives a folder its name back, if nothing has taken that. */
function putBack(target, former) {
  if (existsSync(former) && !existsSync(target)) renameSync(former, target);
}

/** Fetches or compiles the native code of SQLite for this Node. Returns the same as `installPackages`. */
export function compile(folder = ROOT) {
  if (isCompiled(folder) || npm(folder, 'rebuild', ...WITH_SCRIPTS) === undefined) return undefined;
  return 'SQLite could neither be fetched nor compiled. Install a C++ compiler, make and Python 3 and try again, or use Node 22 or later, which needs none. Without access to nodejs.org, also set npm_config_nodedir to the folder of Node, whose include/node has its headers.';
}

/** Whether the native code of SQLite is installed and runs on this Node, for which it may not have been built. */
export const isCompiled = (folder = ROOT) => (isNewEnough && opens(COMPILED, folder)) || opens(NATIVE, folder);

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

/** Runs npm in a folder: the one that runs this script, if any. Its output goes to standard error. */
function npm(folder, ...args) {
  const own = process.env.npm_execpath;
  const [program, first] = own?.endsWith('.js') ? [process.execPath, [own]] : ['npm', []];
  const { status, error } = spawnSync(program, [...first, ...args], {
    cwd: folder,
    env: { ...COMPILING, ...process.env },
    stdio: ['ignore', 2, 2],
    shell: program === 'npm' && process.platform === 'win32',
  });
  return status === 0 ? undefined : `npm ${args[0]} did not succeed${error ? `: ${error.message}` : '.'}`;
}

function packagesIn(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages ?? {};
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const everything = !process.argv.includes('--running');
  const fault = nodeFault(process.versions.node) ?? installPackages({ everything }, compile);
  if (fault !== undefined) {
    process.stderr.write(`${fault}\n`);
    process.exitCode = 1;
  }
}
