/**
 * Packages that `npm run build` leaves in `node_modules`, because they have native code or threads that load their own
 * files.
 */
export const APART = ['better-sqlite3', 'better-sqlite3-compiled', 'pino', 'pino-pretty', 'sharp'];

/** Packages that are needed only while one of these is installed. */
export const ONLY_INSTALLING = new Set(['prebuild-install', 'node-addon-api', 'node-gyp-build']);
