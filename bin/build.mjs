/**
 * Script of `npm run build`: bundles the sources and most of the packages they use into a few files in `dist/`. A
 * starting process looks up, reads and links each file separately; with hundreds of files, that takes longer than
 * everything else before the first answer.
 */
import { chmodSync, cpSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { APART } from './apart.mjs';
import { putBack, replaceFolder } from './folders.mjs';

/** Modules loaded by name: the command, the generator of `docs/`, and modules that the tools in `test/` use. */
const ENTRIES = [
  'cli',
  'cli/docs',
  'config/config',
  'site',
  'http/app',
  'storage/engine/collation',
  'storage/engine/database',
  'storage/schema/migrate',
];
/** Modules that run in a separate process or thread (`src/host/entry-point.ts`). */
const RUNNABLE = ['main', 'host/watchdog-thread', 'accounts/password-thread', 'upkeep/sqlite-copy-thread', 'upkeep/sqlite-check-thread'];

/** Drivers that knex imports for other databases. They are not installed. */
export const ABSENT = ['mariadb/callback', 'mysql', 'oracledb', 'pg', 'pg-native', 'pg-query-stream', 'sqlite3', 'tedious'];

/** Bundled CommonJS packages expect `require`. */
const REQUIRE = "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** Options of esbuild. */
export const OPTIONS = {
  absWorkingDir: ROOT,
  entryPoints: [...ENTRIES, ...RUNNABLE].map((name) => `src/${name}.ts`),
  outbase: '.',
  outdir: 'dist',
  chunkNames: 'src/[name]-[hash]',
  bundle: true,
  splitting: true,
  external: [...APART, ...ABSENT],
  banner: { js: REQUIRE },
  platform: 'node',
  target: 'node20.19',
  format: 'esm',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  sourcemap: true,
  logLevel: 'warning',
};

/**
 * Folders that the program reads, and their names in the build. Texts are among them, so that a running service does
 * not read those of the next version.
 */
export const COPIED = [
  ['src/html/assets', 'assets'],
  ['locales', 'locales'],
];

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  // A service may be running from the former build, which also stays if this one fails.
  const [target, fresh, former] = ['dist', 'dist.new', 'dist.old'].map((name) => join(ROOT, name));
  // An earlier run may have been killed between the two steps of the replacement.
  putBack(target, former);
  for (const folder of [fresh, former]) rmSync(folder, { recursive: true, force: true });
  await build({ ...OPTIONS, outdir: fresh });
  for (const [source, name] of COPIED) cpSync(join(ROOT, source), join(fresh, name), { recursive: true });
  chmodSync(join(fresh, 'src/cli.js'), 0o755);
  replaceFolder(target, fresh, former);
  rmSync(former, { recursive: true, force: true });
}
