/**
 * Fetches or compiles the native code of SQLite, where Node is too old for the precompiled package. Compiling takes
 * longer than installing all packages, so it can be done meanwhile, in a folder of its own. This file needs only Node.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { npm } from './npm.mjs';
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
/** The file with the native code. */
const CODE = `node_modules/${NATIVE}/build/Release/better_sqlite3.node`;

/** Whether the native code of SQLite is installed and runs on this Node, for which it may not have been built. */
export const isCompiled = (folder = ROOT) => (isNewEnough && opens(COMPILED, folder)) || opens(NATIVE, folder);

/**
 * Fetches or compiles the native code for the packages of a folder. `apart`: what `compileApart` returned, if it was
 * called. Resolves with a line that describes the failure, or undefined.
 */
export async function compile(folder = ROOT, apart = undefined) {
  if (apart && (await apart.isReady) && existsSync(join(apart.folder, CODE))) cpSync(join(apart.folder, CODE), join(folder, CODE));
  apart?.remove();
  if (isCompiled(folder) || (await rebuild(folder)) === undefined) return undefined;
  return 'SQLite could neither be fetched nor compiled. Install a C++ compiler, make and Python 3 and try again, or use Node 22 or later, which needs none. Without access to nodejs.org, also set npm_config_nodedir to the folder of Node, whose include/node has its headers.';
}

/**
 * Begins to fetch or compile the native code in a folder of its own, where it is needed. Resolves when that has begun,
 * with the exact packages of package-lock.json: two installations at once would take longer than one after the other.
 * Nothing is said if it fails: `compile` then tries it again among the packages.
 */
export async function compileApart() {
  if (isNewEnough) return undefined;
  const folder = join(ROOT, 'node_modules.sqlite');
  const remove = () => rmSync(folder, { recursive: true, force: true });
  remove();
  process.on('exit', remove);
  if ((await installApart(folder)) !== undefined) return undefined;
  return { folder, remove, isReady: rebuild(folder, { quiet: true }).then((fault) => fault === undefined) };
}

async function installApart(folder) {
  const read = (name) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'));
  const write = (name, content) => writeFileSync(join(folder, name), JSON.stringify(content));
  const { dependencies = {}, allowScripts } = read('package.json');
  const lock = read('package-lock.json');
  const root = { name: 'sqlite', version: '1.0.0', dependencies: { [NATIVE]: dependencies[NATIVE] } };
  mkdirSync(folder);
  write('package.json', { ...root, private: true, allowScripts });
  // npm installs the packages that the root needs, and leaves out the others that the file names.
  write('package-lock.json', { ...lock, ...root, packages: { ...lock.packages, '': root } });
  if (existsSync(join(ROOT, '.npmrc'))) cpSync(join(ROOT, '.npmrc'), join(folder, '.npmrc'));
  return npm(folder, ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { quiet: true });
}

const rebuild = (folder, options = {}) => npm(folder, ['rebuild', ...WITH_SCRIPTS], { ...options, env: COMPILING });
