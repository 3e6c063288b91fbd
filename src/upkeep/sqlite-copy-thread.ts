import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { copySqlite, rowsIn, rowsOfSqlite } from '../storage/audit/snapshot.ts';
import type { CopyRequest } from './backup.ts';

// On Linux this applies to this thread only, so that requests take precedence over a copy.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

const { path, part, prefix } = workerData as CopyRequest;
await copySqlite(path, part);
parentPort?.postMessage(await rowsIn(rowsOfSqlite(part, prefix)));
