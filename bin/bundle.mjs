/**
 * Copies the files needed at run time, and no others, into a folder: the build without source maps, and the few
 * packages that are not part of the build. The container image consists of this folder; `node dist/src/cli.js` in
 * it is the command. This script uses only Node.
 *
 *   node bin/bundle.mjs FOLDER
 */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { APART, ONLY_INSTALLING } from './apart.mjs';
import { packed } from './manifest.mjs';
import { COMPILED, isNewEnough, NATIVE } from './sqlite.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = process.argv[2];
if (!folder) {
  process.stderr.write('Name a folder: node bin/bundle.mjs FOLDER\n');
  process.exit(2);
}
mkdirSync(folder, { recursive: true });
cpSync(join(ROOT, 'dist'), join(folder, 'dist'), { recursive: true, filter: (path) => !path.endsWith('.map') });
for (const path of ['wordpress-plugin', 'bin/fasti', 'LICENSE']) cpSync(join(ROOT, path), join(folder, path), { recursive: true });
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(packed(readJson('package.json')), null, 2)}\n`);
for (const path of needed()) cpSync(join(ROOT, path), join(folder, path), { recursive: true, filter: isRun });

/** Returns the folders of the packages that are loaded from node_modules, and of their dependencies. */
function needed() {
  const { packages } = readJson('package-lock.json');
  const found = new Set();
  const add = (name, from) => {
    const path = placeOf(packages, name, from);
    if (path === undefined || found.has(path) || !existsSync(join(ROOT, path))) return;
    found.add(path);
    const { dependencies = {}, optionalDependencies = {} } = packages[path];
    for (const one of Object.keys({ ...dependencies, ...optionalDependencies })) if (!ONLY_INSTALLING.has(one)) add(one, path);
  };
  for (const name of compiled() ? APART.filter((one) => one !== NATIVE) : APART) add(name, '');
  return found;
}

/** Returns the folder in which Node finds a package that another one requires: its node_modules, or one above. */
function placeOf(packages, name, from) {
  for (let place = from; ; place = place.replace(/(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/, '')) {
    const path = `${place}${place && '/'}node_modules/${name}`;
    if (packages[path]) return path;
    if (place === '') return undefined;
  }
}

/** Whether the precompiled SQLite package is installed and this Node can run it. */
function compiled() {
  return isNewEnough && existsSync(join(ROOT, 'node_modules', COMPILED));
}

/** Whether a file of a package is needed at run time on this system: no native sources, no code for other systems. */
function isRun(path) {
  const within = path.slice(ROOT.length + 1);
  if (/\.(map|md|markdown|d\.[cm]?ts|ts|c|cc|cpp|h|hpp|o|a)$/.test(path)) return false;
  if (/^node_modules\/better-sqlite3(-compiled)?\/(deps|src)(\/|$)/.test(within)) return false;
  if (/\/build\/(?!Release(\/better_sqlite3\.node)?$)/.test(within)) return false;
  if (within.includes('/prebuilds/')) return basename(path) === `${system()}.node`;
  return !/^node_modules\/[^/]+\/(test|tests|benchmarks|docs|examples?|\.github)(\/|$)/.test(within);
}

/** Returns the name of this system, as better-sqlite3 spells it. */
function system() {
  const isMusl = process.platform === 'linux' && !process.report.getReport().header.glibcVersionRuntime;
  return `${process.platform}${isMusl ? 'musl' : ''}-${process.arch}`;
}

function readJson(name) {
  return JSON.parse(readFileSync(join(ROOT, name), 'utf8'));
}
