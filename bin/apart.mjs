/**
 * Packages that `npm run build` leaves in `node_modules`: they have native code, or threads that look for files of
 * their own.
 */
export const APART = ['better-sqlite3', 'better-sqlite3-compiled', 'pino', 'pino-pretty', 'sharp'];

/** Packages that only serve to install one of these. */
export const ONLY_INSTALLING = new Set(['prebuild-install', 'node-addon-api', 'node-gyp-build']);
