/**
 * What `npm run build` runs: the sources and most of the packages they use as a few files in `dist/`. A process that
 * starts looks up, reads and links each file by itself; with hundreds of them that takes longer than all else until the
 * first answer.
 */
import { chmodSync, cpSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { APART } from './apart.mjs';

/**
 * What is loaded by its name: the command, the writer of `docs/`, and parts of the service that the tools in `test/`
 * take.
 */
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
/** What runs in a process or a thread of its own (`src/host/runnable.ts`). */
const RUNNABLE = ['main', 'host/watchdog-thread', 'accounts/password-thread', 'upkeep/sqlite-copy-thread', 'upkeep/sqlite-check-thread'];

/** Drivers that knex names for databases of others; they are not installed. */
export const ABSENT = ['mariadb/callback', 'mysql', 'oracledb', 'pg', 'pg-native', 'pg-query-stream', 'sqlite3', 'tedious'];

/** Packages in CommonJS that are taken in expect it. */
const REQUIRE = "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** What esbuild is asked for. */
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

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  rmSync(join(ROOT, 'dist'), { recursive: true, force: true });
  await build(OPTIONS);
  // Stylesheets and scripts for browsers go out as they are.
  cpSync(join(ROOT, 'src/html/assets'), join(ROOT, 'dist/assets'), { recursive: true });
  chmodSync(join(ROOT, 'dist/src/cli.js'), 0o755);
}
