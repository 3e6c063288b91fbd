import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { copySqlite, rowsIn, rowsOfSqlite } from '../storage/audit/snapshot.ts';
import type { WantedCopy } from './backup.ts';

// On Linux this is for the one thread alone: whoever is served goes before a copy.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

const { path, part, prefix } = workerData as WantedCopy;
await copySqlite(path, part);
parentPort?.postMessage(await rowsIn(rowsOfSqlite(part, prefix)));
