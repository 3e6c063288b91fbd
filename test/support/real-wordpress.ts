import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { killOnExit } from './leave-nothing.mjs';
import { freePort } from './private-mysql.mjs';

/*
 * A real WordPress on a test database, if one is installed (Debian's packages wordpress, php-cli and php-mysql).
 */

const DIRECTORY = process.env.WORDPRESS_DIR ?? '/usr/share/wordpress';
const OURS = fileURLToPath(new URL('../fixtures/wordpress/', import.meta.url));
const PLUGIN = fileURLToPath(new URL('../../wordpress-plugin/fasti.php', import.meta.url));
/** The host in the options of the sample site. */
const SITE_HOST = '127.0.0.1:8081';

export const hasWordPress: boolean =
  existsSync(join(DIRECTORY, 'wp-settings.php')) &&
  spawnSync('php', ['-r', 'exit(extension_loaded("mysqli") ? 0 : 1);'], { stdio: 'ignore' }).status === 0;

/** The name of a WordPress function, and its arguments. */
export type Call = readonly [name: string, ...given: unknown[]];

export interface RealWordPress {
  /** Calls functions as an administrator, in one request. Resolves with their return values. */
  readonly run: (...calls: Call[]) => Promise<unknown[]>;
  /** Sends a GET request to the REST API, as the user with this id or anonymously. */
  readonly get: (path: string, user?: number) => Promise<Response>;
  readonly stop: () => Promise<void>;
}

/**
 * Starts WordPress on a MySQL database. `now` is the time that decides which events are over, as `YYYY-MM-DD HH:MM:SS`.
 * `withPlugin` activates Fasti's own plugin.
 */
export async function startWordPress(databaseUrl: string, { now = '1970', withPlugin = false } = {}): Promise<RealWordPress> {
  const content = mkdtempSync(join(tmpdir(), 'fasti-wordpress-'));
  const plugins = join(content, 'mu-plugins');
  mkdirSync(plugins);
  cpSync(join(OURS, 'calendar.php'), join(plugins, 'calendar.php'));
  if (withPlugin) cpSync(PLUGIN, join(plugins, 'fasti.php'));
  const port = await freePort();
  const env = {
    ...process.env,
    ...connectionTo(databaseUrl),
    WORDPRESS_DIR: DIRECTORY,
    WP_CONTENT_DIR: content,
    WPMU_PLUGIN_DIR: plugins,
    SITE_HOST,
    NOW: now,
  };
  const server = spawn('php', ['-d', 'display_errors=stderr', '-S', `127.0.0.1:${port}`, join(OURS, 'router.php')], {
    env,
    stdio: 'ignore',
  });
  killOnExit(server);
  const base = `http://127.0.0.1:${port}`;
  await waitUntilItAnswers(server, base);
  return {
    run: async (...calls) => {
      const response = await fetch(`${base}/do`, { method: 'POST', body: JSON.stringify(calls) });
      const text = await response.text();
      if (!response.ok || !text.startsWith('[')) throw new Error(`WordPress answers ${response.status}: ${text.slice(0, 500)}`);
      return JSON.parse(text) as unknown[];
    },
    get: (path, user) => fetch(`${base}/wp-json${path}`, user === undefined ? {} : { headers: { 'X-User': String(user) } }),
    stop: async () => {
      const exit = new Promise((done) => server.once('exit', done));
      server.kill();
      await exit;
    },
  };
}

/** Environment variables that give WordPress the database connection. */
function connectionTo(databaseUrl: string): Record<string, string> {
  const { hostname, port, username, password, pathname, searchParams } = new URL(databaseUrl);
  const socket = searchParams.get('socketPath');
  return {
    DB_NAME: pathname.slice(1),
    DB_USER: decodeURIComponent(username),
    DB_PASSWORD: decodeURIComponent(password),
    DB_HOST: socket ? `localhost:${socket}` : `${hostname}:${port || 3306}`,
  };
}

async function waitUntilItAnswers(server: ChildProcess, base: string): Promise<void> {
  while (server.exitCode === null) {
    const response = await fetch(base).catch(() => undefined);
    if (response) return;
    await sleep(100);
  }
  throw new Error(`PHP's server ended with ${server.exitCode}`);
}
