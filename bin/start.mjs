/**
 * What `npm start` runs, on a fresh clone too: it installs and builds where that is missing or out of date, and goes on
 * as `fasti start`. It uses nothing but Node, since nothing else may be there yet.
 */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { compile, installPackages, isCompiled, isInstalled } from './install.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const OLDEST_NODE = [20, 19];
const COMMAND = join(ROOT, 'dist/src/cli.js');

requireNode();
// Where the tools for development were installed before, they stay.
const everything = existsSync(join(ROOT, 'node_modules/jest'));
if (!isInstalled({ everything })) step('Installing what is needed', () => installPackages({ everything }));
const building = isBuilt() ? undefined : build();
if (!isCompiled()) step('Fetching or compiling SQLite, which can take a minute', compile);
if (building) await building;

// In this very process, so that signals reach the server. Paths in the settings count from the folder of the project.
process.chdir(ROOT);
process.argv = [process.argv[0], COMMAND, 'start', ...process.argv.slice(2)];
await import(pathToFileURL(COMMAND).href);

function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  stop(`Node ${OLDEST_NODE.join('.')} or later is needed; this is ${process.versions.node}.`);
}

/** Whether the last build is younger than everything it is made of. */
function isBuilt() {
  if (!existsSync(COMMAND)) return false;
  const built = statSync(COMMAND).mtimeMs;
  const sources = ['src', 'migrations'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true }).map((name) => join(folder, name)),
  );
  return [...sources, 'bin/build.mjs', 'tsconfig.json', 'package-lock.json'].every((file) => statSync(join(ROOT, file)).mtimeMs <= built);
}

/** Builds in a process of its own, meanwhile this one goes on. Resolves when it is built; stops where it cannot be. */
function build() {
  process.stderr.write('Building ...\n');
  const child = spawn(process.execPath, [join(ROOT, 'bin/build.mjs')], { stdio: ['ignore', 2, 2] });
  return new Promise((built) => {
    child.on('error', ({ message }) => stop(`It cannot be built: ${message}`));
    child.on('exit', (status) => (status === 0 ? built() : stop('It cannot be built.')));
  });
}

/** Does one step, which gives a line if it did not succeed. */
function step(message, work) {
  process.stderr.write(`${message} ...\n`);
  const fault = work();
  if (fault !== undefined) stop(fault);
}

function stop(line) {
  process.stderr.write(`${line}\n`);
  process.exit(1);
}
