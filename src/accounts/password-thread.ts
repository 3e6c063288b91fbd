import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { verifyTypedPassword } from '../wordpress/passwords.ts';
import type { PasswordCheck } from './slow-passwords.ts';

// On Linux this applies to the current thread only. Serving requests has priority over verifying passwords.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

parentPort?.on('message', async ({ plain, stored }: PasswordCheck) => {
  parentPort?.postMessage(await verifyTypedPassword(plain, stored));
});
