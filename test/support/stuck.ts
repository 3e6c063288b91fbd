/** A process whose main thread gets stuck immediately or when it receives SIGTERM, for tests of the watchdog. */
import { startWatchdog } from '../../src/host/watchdog.ts';

const [, , when, seconds = '0'] = process.argv;
const watchdog = startWatchdog(Number(seconds));
process.on('SIGTERM', () => {
  watchdog.killAfter(200);
  for (;;);
});
process.stdout.write('running\n');
if (when === 'soon')
  setTimeout(() => {
    for (;;);
  }, 500);
else setInterval(() => undefined, 1000);
