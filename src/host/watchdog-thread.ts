import { write } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { WatchdogData } from './watchdog.ts';

const LOOK_MS = 1000;
/** Time for writing the last line; short, since a blocked standard error may be the reason why the process is stuck. */
const LAST_WORDS_MS = 100;
const STDERR = 2;

const { beats, seconds } = workerData as WatchdogData;
let seen = -1;
let silent = 0;

// Counts intervals instead of reading the clock, so that a suspended machine does not trigger it.
if (seconds > 0)
  setInterval(() => {
    const now = Atomics.load(beats, 0);
    silent = now === seen ? silent + LOOK_MS / 1000 : 0;
    seen = now;
    if (silent >= seconds) kill(`no sign of life for ${seconds} seconds`);
  }, LOOK_MS);

parentPort?.on('message', (milliseconds: number) => {
  setTimeout(() => kill('it was told to end and did not'), milliseconds);
});

function kill(why: string): void {
  const line = JSON.stringify({ level: 'fatal', time: new Date().toISOString(), pid: process.pid, msg: `killed: ${why}` });
  write(STDERR, `${line}\n`, () => undefined);
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), LAST_WORDS_MS);
}
