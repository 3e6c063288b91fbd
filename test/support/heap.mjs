/**
 * Loaded into a process before anything else (`--import`): tells what its heap holds once everything that nobody needs
 * is gone. On SIGUSR2 it collects and adds a line of JSON to the file that HEAP_TOLD names; on SIGUSR1 it writes a
 * snapshot of the heap beside it.
 */
import { appendFileSync, renameSync } from 'node:fs';
import { getHeapSpaceStatistics, setFlagsFromString, writeHeapSnapshot } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

const { HEAP_TOLD } = process.env;
if (isMainThread && HEAP_TOLD !== undefined) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  let snapshots = 0;
  process.on('SIGUSR2', () => {
    // What is freed by the first collection may be the last to hold something else.
    collect();
    collect();
    const { heapUsed, external, arrayBuffers, rss } = process.memoryUsage();
    // What V8 compiled of functions that are called often: more of them with time, and none is ever held twice.
    const code = getHeapSpaceStatistics()
      .filter(({ space_name: name }) => name.startsWith('code_'))
      .reduce((sum, { space_used_size: used }) => sum + used, 0);
    appendFileSync(HEAP_TOLD, `${JSON.stringify({ at: Date.now(), heapUsed, code, external, arrayBuffers, rss })}\n`);
  });
  process.on('SIGUSR1', () => {
    snapshots += 1;
    const file = `${HEAP_TOLD}.${snapshots}.heapsnapshot`;
    renameSync(writeHeapSnapshot(`${file}.part`), file);
  });
}
