/**
 * Opens a port and passes it to a program, as systemd does with a socket unit. If the program ends, it is started again
 * on the same port. A signal to end is passed to the program, and the keeper ends with it.
 *
 *   node test/support/port-keeper.mjs node dist/src/cli.js serve
 */
import { spawn } from 'node:child_process';
import { killOnExit } from './leave-nothing.mjs';

// A server of Node would accept connections itself. This socket only lets them wait.
const { TCP, constants } = process.binding('tcp_wrap');
const place = new TCP(constants.SERVER);
place.bind('127.0.0.1', 0);

let stopping = false;
let child;
start();
process.on('SIGTERM', () => {
  stopping = true;
  child.kill('SIGTERM');
});

function start() {
  // After exec the program has the process id of the shell.
  child = spawn('sh', ['-c', 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"', 'sh', ...process.argv.slice(2)], {
    stdio: ['ignore', 'inherit', 'inherit', place.fd],
  });
  killOnExit(child);
  child.once('exit', (code) => {
    if (!stopping) return start();
    place.close();
    process.exitCode = code ?? 1;
  });
}
