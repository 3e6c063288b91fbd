import { write } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { WatchdogData } from './watchdog.ts';

const CHECK_INTERVAL_MS = 1000;
/** Time for writing the last line; short, since a blocked standard error may be the reason why the process is stuck. */
const FATAL_LOG_DELAY_MS = 100;
const STDERR = 2;

const { heartbeats, seconds } = workerData as WatchdogData;
let lastHeartbeat = -1;
let silentSeconds = 0;

// Counts intervals instead of reading the clock, so that a suspended machine does not trigger it.
if (seconds > 0)
  setInterval(() => {
    const now = Atomics.load(heartbeats, 0);
    silentSeconds = now === lastHeartbeat ? silentSeconds + CHECK_INTERVAL_MS / 1000 : 0;
    lastHeartbeat = now;
    if (silentSeconds >= seconds) kill(`no sign of life for ${seconds} seconds`);
  }, CHECK_INTERVAL_MS);

parentPort?.on('message', (milliseconds: number) => {
  setTimeout(() => kill('it was told to end and did not'), milliseconds);
});

function kill(reason: string): void {
  const line = JSON.stringify({ level: 'fatal', time: new Date().toISOString(), pid: process.pid, msg: `killed: ${reason}` });
  write(STDERR, `${line}\n`, () => undefined);
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), FATAL_LOG_DELAY_MS);
}
