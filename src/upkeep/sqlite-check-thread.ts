import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { damageInSqlite } from '../storage/audit/snapshot.ts';

// On Linux this applies to this thread only, so that requests take precedence over a check.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

parentPort?.postMessage(damageInSqlite(workerData as string));
