/** A private nginx on loopback (Debian's package `nginx-light`). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sendRequest } from './clients.mjs';
import { killOnExit } from './leave-nothing.mjs';
import { until } from './until.mjs';

const PROGRAM = ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/usr/bin/nginx', '/opt/homebrew/bin/nginx'].find((path) => existsSync(path));
const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

/** The reason why there is no nginx; undefined if there is one. */
export const whyNoNginx = PROGRAM === undefined ? 'there is no nginx here (apt-get install nginx-light)' : undefined;

/**
 * Starts nginx with this content of `http {}`, which must listen on `port` of 127.0.0.1, and waits until it forwards
 * `/health/live`. Its files are in a new subfolder of `folder`. Resolves with `stop`, which waits for its end.
 */
export async function startNginx(folder, port, http) {
  const place = join(folder, `nginx-${port}`);
  mkdirSync(place);
  const paths = TEMPORARY.map((name) => `${name}_temp_path ${place}/${name};`).join(' ');
  const conf = join(place, 'nginx.conf');
  // Its workers must be able to read the files in our folder.
  const user = process.getuid() === 0 ? 'user root;' : '';
  writeFileSync(
    conf,
    `${user} daemon off; pid ${place}/pid; error_log ${place}/error.log; events {} http { access_log off; ${paths} ${http} }`,
  );
  const nginx = spawn(PROGRAM, ['-p', place, '-c', conf], { stdio: 'inherit' });
  killOnExit(nginx);
  await until('an answer of nginx', async () => (await sendRequest({ port, path: '/health/live' })) === 200);
  return {
    stop: async () => {
      nginx.kill();
      if (nginx.exitCode === null && nginx.signalCode === null) await once(nginx, 'exit');
    },
  };
}
