import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { damageInSqlite } from '../storage/audit/snapshot.ts';

// On Linux this is for the one thread alone: whoever is served goes before a check.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

parentPort?.postMessage(damageInSqlite(workerData as string));
