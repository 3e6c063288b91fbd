#!/usr/bin/env node
/**
 * Packs Fasti as for publication, installs the package in an empty folder, and runs it there: first the command, then a
 * server that is asked for events. This takes a minute or two, so it is not part of `npm test`.
 *
 *   npm run test:package
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const folder = mkdtempSync(join(tmpdir(), 'fasti-package-'));
/** The environment without npm's settings, which are those of this project. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
let server;
try {
  run('npm', ['pack', '--silent', '--pack-destination', folder], ROOT);
  const file = readdirSync(folder).find((name) => name.endsWith('.tgz'));
  run('npm', ['init', '--yes'], folder);
  run('npm', ['install', '--no-audit', '--no-fund', `./${file}`], folder);
  require(run(command(), ['--version'], folder).trim() === version, 'the command says its version');
  server = spawn(command(), ['start'], { cwd: folder, env: { ...env, PORT: '0' }, stdio: ['ignore', 'pipe', 'inherit'] });
  const { total } = await (await fetch(`${await addressOf(server)}/wp-json/calendar/events/v1/events`)).json();
  require(total > 0, 'the server gives events');
  console.log(
    `The package installs and runs: ${total} events, ${readdirSync(join(folder, 'node_modules')).length} folders in node_modules.`,
  );
} finally {
  if (server?.exitCode === null) {
    server.kill('SIGTERM');
    await once(server, 'exit');
  }
  rmSync(folder, { recursive: true, force: true });
}

function command() {
  return join(folder, 'node_modules/.bin/fasti');
}

function run(program, args, cwd) {
  console.log(`${program.split('/').at(-1)} ${args.join(' ')}`);
  return execFileSync(program, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

/** The URL that the server listens on, from its log. */
async function addressOf({ stdout }) {
  let text = '';
  for await (const chunk of stdout) {
    text += chunk;
    const port = /"address":\{"address":"127\.0\.0\.1","family":"IPv4","port":(\d+)\}/.exec(text)?.[1];
    if (port) return `http://127.0.0.1:${port}`;
  }
  throw new Error(`The server did not listen:\n${text}`);
}

function require(holds, what) {
  if (!holds) throw new Error(`It does not hold that ${what}.`);
}
