import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { verifyTypedPassword } from '../wordpress/passwords.ts';
import type { PasswordCheck, Verification } from './slow-passwords.ts';

// On Linux this applies to the current thread only. Serving requests has priority over verifying passwords.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

parentPort?.on('message', async ({ plain, stored, decoys }: PasswordCheck) => {
  const startedAt = performance.now();
  const matching = await firstMatching(plain, stored);
  if (matching < 0) await firstMatching(plain, decoys);
  const verification: Verification = { matching, durationMs: performance.now() - startedAt };
  parentPort?.postMessage(verification);
});

async function firstMatching(plain: string, hashes: readonly string[]): Promise<number> {
  for (const [index, hash] of hashes.entries()) if (await verifyTypedPassword(plain, hash)) return index;
  return -1;
}
