/**
 * The package.json of the package, which is what is built: most dependencies are part of it already.
 *
 *   node bin/manifest.mjs pack     before `npm pack`
 *   node bin/manifest.mjs unpack   after it
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { APART } from './apart.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const MANIFEST = join(ROOT, 'package.json');
/** Where the manifest of the project is while the other one is in its place. */
const ASIDE = join(ROOT, 'node_modules/.package.json');
/** What only concerns those who develop. */
const OWN = ['private', 'scripts', 'devDependencies', 'allowScripts'];

/**
 * The manifest of what is built. better-sqlite3 need not succeed where the package that comes compiled does; one of
 * the two is enough.
 */
export function packed(manifest) {
  const { dependencies, optionalDependencies = {}, ...rest } = manifest;
  const kept = Object.fromEntries(Object.entries(dependencies).filter(([name]) => APART.includes(name)));
  const { 'better-sqlite3': sqlite, ...others } = kept;
  for (const name of OWN) delete rest[name];
  return { ...rest, dependencies: others, optionalDependencies: { 'better-sqlite3': sqlite, ...optionalDependencies } };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv[2] === 'pack') {
    const text = readFileSync(MANIFEST, 'utf8');
    writeFileSync(ASIDE, text);
    writeFileSync(MANIFEST, `${JSON.stringify(packed(JSON.parse(text)), null, 2)}\n`);
  } else if (existsSync(ASIDE)) renameSync(ASIDE, MANIFEST);
}
