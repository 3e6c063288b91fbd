/**
 * Installs exactly the packages of package-lock.json and, if Node is too old for the precompiled SQLite package, runs
 * the one install script that is needed: better-sqlite3's, which fetches or compiles native code. `npm start`,
 * `npm test`, the image and CI all install in this way. This script uses only Node, because nothing else may be
 * installed yet.
 *
 *   node bin/install.mjs             all packages
 *   node bin/install.mjs --running   without packages for development
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { putBack, replaceFolder } from './folders.mjs';
import { compile, compileApart } from './native.mjs';
import { npm } from './npm.mjs';
import { COMPILED, isNewEnough } from './sqlite.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
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
 * Resolves with a line that describes the failure, or undefined; `prepare` does the same.
 */
export async function installPackages({ everything }, prepare = async () => undefined) {
  const [target, fresh, former] = ['node_modules', 'node_modules.new', 'node_modules.old'].map((name) => join(ROOT, name));
  const clean = () => {
    for (const folder of [fresh, former]) rmSync(folder, { recursive: true, force: true });
  };
  const install = async (folder) => {
    const kinds = everything ? '--include=dev' : '--omit=dev';
    return (await npm(folder, ['ci', '--ignore-scripts', kinds, '--no-audit', '--no-fund'])) ?? prepare(folder);
  };
  // An earlier run may have been killed between the two steps of the replacement.
  putBack(target, former);
  clean();
  mkdirSync(fresh);
  for (const name of ['package.json', 'package-lock.json', '.npmrc'])
    if (existsSync(join(ROOT, name))) cpSync(join(ROOT, name), join(fresh, name));
  let fault = await install(fresh);
  if (fault === undefined && !isReplaced(target, join(fresh, 'node_modules'), former)) fault = await install(ROOT);
  clean();
  return fault;
}

/** Replaces a folder as `replaceFolder` does. False if that is not possible. */
function isReplaced(target, fresh, former) {
  try {
    replaceFolder(target, fresh, former);
    return true;
  } catch {
    return false;
  }
}

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

function packagesIn(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages ?? {};
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const everything = !process.argv.includes('--running');
  const fault = nodeFault(process.versions.node) ?? (await installAll({ everything }));
  if (fault !== undefined) {
    process.stderr.write(`${fault}\n`);
    process.exitCode = 1;
  }
}

async function installAll(kinds) {
  const apart = await compileApart();
  return installPackages(kinds, (folder) => compile(folder, apart));
}
