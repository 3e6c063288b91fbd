/**
 * Loaded into a process before anything else (`--import`) to report the size of its heap after garbage collection. On
 * SIGUSR2 it collects garbage and appends a line of JSON to the file that HEAP_TOLD names; on SIGUSR1 it writes a heap
 * snapshot next to it.
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
    // Objects freed by the first collection may have held the last references to others.
    collect();
    collect();
    const { heapUsed, external, arrayBuffers, rss } = process.memoryUsage();
    // Code that V8 compiled for hot functions: it grows with time, but no function is compiled twice.
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
