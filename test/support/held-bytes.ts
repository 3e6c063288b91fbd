import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes by which the memory of a process may grow for other reasons, such as compiled code. */
export const OTHER_BYTES = 3_000_000;

/** Returns the bytes that the process holds after garbage collection. */
export function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  // Objects freed by the first collection may have held the last references to others.
  collect();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
