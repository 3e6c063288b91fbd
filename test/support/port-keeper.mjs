/**
 * Opens a port and hands it to a program, as systemd does with a socket unit; when the program ends, it is started
 * again on the same port. Told to end, it tells the program, and ends with it.
 *
 *   node test/support/port-keeper.mjs node dist/src/cli.js serve
 */
import { spawn } from 'node:child_process';
import { endWithUs } from './leave-nothing.mjs';

// A server of Node's own would take connections itself. This is only a place where they wait.
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
  // The shell's own id becomes that of the program.
  child = spawn('sh', ['-c', 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"', 'sh', ...process.argv.slice(2)], {
    stdio: ['ignore', 'inherit', 'inherit', place.fd],
  });
  endWithUs(child);
  child.once('exit', (code) => {
    if (!stopping) return start();
    place.close();
    process.exitCode = code ?? 1;
  });
}
