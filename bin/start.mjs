/**
 * Script of `npm start`, also on a fresh clone: installs packages and builds if they are missing or out of date, and
 * continues as `fasti start`. It uses only Node, because nothing else may be installed yet.
 */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { installPackages, isInstalled, nodeFault } from './install.mjs';
import { compile, compileApart, isCompiled } from './native.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const COMMAND = join(ROOT, 'dist/src/cli.js');

const unfit = nodeFault(process.versions.node);
if (unfit !== undefined) stop(unfit);
// Development tools stay if they are already installed.
const everything = existsSync(join(ROOT, 'node_modules/jest'));
let apart;
if (!isInstalled({ everything }))
  await step('Installing what is needed', async () => {
    apart = await compileApart();
    return installPackages({ everything });
  });
const building = isBuilt() ? undefined : build();
if (!isCompiled()) await step('Fetching or compiling SQLite, which can take a minute', () => compile(ROOT, apart));
if (building) await building;

// Runs in this process, so that signals reach the server. Paths in the settings are relative to the project folder.
process.chdir(ROOT);
process.argv = [process.argv[0], COMMAND, 'start', ...process.argv.slice(2)];
await import(pathToFileURL(COMMAND).href);

/** Whether the last build is newer than all of its sources. */
function isBuilt() {
  if (!existsSync(COMMAND)) return false;
  const built = statSync(COMMAND).mtimeMs;
  const sources = ['src', 'migrations', 'locales'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true }).map((name) => join(folder, name)),
  );
  return [...sources, 'bin/build.mjs', 'tsconfig.json', 'package-lock.json'].every((file) => statSync(join(ROOT, file)).mtimeMs <= built);
}

/** Builds in a separate process while this one continues. Resolves after the build; exits if it fails. */
function build() {
  process.stderr.write('Building ...\n');
  const child = spawn(process.execPath, [join(ROOT, 'bin/build.mjs')], { stdio: ['ignore', 2, 2] });
  return new Promise((built) => {
    child.on('error', ({ message }) => stop(`It cannot be built: ${message}`));
    child.on('exit', (status) => (status === 0 ? built() : stop('It cannot be built.')));
  });
}

/** Runs one step. Exits if it resolves with a line, which describes the failure. */
async function step(message, work) {
  process.stderr.write(`${message} ...\n`);
  const fault = await work();
  if (fault !== undefined) stop(fault);
}

function stop(line) {
  process.stderr.write(`${line}\n`);
  process.exit(1);
}
