/**
 * The program as `npm run build` makes it, for tests that start it: of a few files, it starts in a quarter of the time
 * that the sources take.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Laid out as the package is. */
const FOLDER = join(ROOT, 'node_modules/.cache/program');
/** Says what the program was made of. */
const MARK = join(FOLDER, 'made-of');
/** What is built of it; packages change with the lock file. */
const SOURCES = ['src', 'migrations', 'bin', 'package-lock.json'];

/** What to start with Node. */
export const COMMAND = join(FOLDER, 'dist/src/cli.js');
/** What each of several processes that serve starts. */
export const MAIN = join(FOLDER, 'dist/src/main.js');

/** Builds it, unless this was done since the sources changed. jest calls this once, before all tests. */
export default async function buildProgram() {
  const made = madeOf();
  if (existsSync(MARK) && readFileSync(MARK, 'utf8') === made) return;
  const [{ build }, { OPTIONS }] = await Promise.all([import('esbuild'), import('../../bin/build.mjs')]);
  rmSync(FOLDER, { recursive: true, force: true });
  await build({ ...OPTIONS, outdir: join(FOLDER, 'dist'), sourcemap: false });
  for (const name of ['package.json', 'locales']) symlinkSync(join(ROOT, name), join(FOLDER, name));
  symlinkSync(join(ROOT, 'src/html/assets'), join(FOLDER, 'dist/assets'));
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
