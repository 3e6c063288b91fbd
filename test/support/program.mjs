/**
 * The program as built by `npm run build`, for tests that start it. Bundled into a few files, it starts in a quarter of
 * the time that the sources take.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Output folder with the layout of the package. */
const FOLDER = join(ROOT, 'node_modules/.cache/program');
/** File with the digest of the sources from which the program was built. */
const MARK = join(FOLDER, 'made-of');
/** Sources of the build; dependencies change with the lock file. */
const SOURCES = ['src', 'migrations', 'bin', 'package-lock.json'];

/** The script to start with Node. */
export const COMMAND = join(FOLDER, 'dist/src/cli.js');
/** The script that each of several serving processes runs. */
export const MAIN = join(FOLDER, 'dist/src/main.js');

/** Builds the program unless the sources are unchanged since the last build. jest calls this once, before all tests. */
export default async function buildProgram() {
  const made = madeOf();
  if (existsSync(MARK) && readFileSync(MARK, 'utf8') === made) return;
  const [{ build }, { COPIED, OPTIONS }] = await Promise.all([import('esbuild'), import('../../bin/build.mjs')]);
  rmSync(FOLDER, { recursive: true, force: true });
  await build({ ...OPTIONS, outdir: join(FOLDER, 'dist'), sourcemap: false });
  symlinkSync(join(ROOT, 'package.json'), join(FOLDER, 'package.json'));
  for (const [source, name] of COPIED) symlinkSync(join(ROOT, source), join(FOLDER, 'dist', name));
  writeFileSync(MARK, made);
}

function madeOf() {
  const digest = createHash('sha1');
  for (const name of SOURCES.flatMap(filesIn).sort()) digest.update(`${name}\n`).update(readFileSync(join(ROOT, name)));
  return digest.digest('hex');
}

const filesIn = (name) =>
  /\.\w+$/.test(name)
    ? [name]
    : readdirSync(join(ROOT, name), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(ROOT.length));
