/**
 * Writes the package.json of the published package. Most dependencies are left out, because they are part of the build.
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
/** Place of the project's manifest while the other one is in use. */
const ASIDE = join(ROOT, 'node_modules/.package.json');
/** Members that are needed only for development. */
const OWN = ['private', 'scripts', 'devDependencies', 'allowScripts'];

/**
 * Returns the manifest of the published package. better-sqlite3 is optional, because either it or the precompiled
 * package is enough.
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
