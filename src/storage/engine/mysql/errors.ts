import { codeOf, isObject } from '../../../objects.ts';

/* Meaning of the error numbers and codes of MySQL, MariaDB, their clusters and the client library. */

/** Whether the statement conflicted with another transaction. */
export const isBusy = (error: unknown): boolean => BUSY.has(numberOf(error));

/** Whether the server, or its part of the cluster, must not be used any more. */
export const isServerUnusable = (error: unknown): boolean => UNUSABLE.has(numberOf(error));

/** Whether the server accepts no writes. */
export const isServerReadOnly = (error: unknown): boolean => READ_ONLY.has(numberOf(error));

/** Whether the server accepts no writes, or none from this user. */
export const isReadOnly = (error: unknown): boolean => isServerReadOnly(error) || (DENIED.has(numberOf(error)) && !isDeniedToRead(error));

/** Whether the server has no connection left. */
export const hasTooManyConnections = (error: unknown): boolean => TOO_MANY_CONNECTIONS.has(numberOf(error));

/** Whether the connection broke or could not be opened. */
export const isConnectionFailure = (error: unknown): boolean => UNREACHABLE.has(codeOf(error)) || isFatal(error);

/** Whether the database can't be reached, is shutting down, or refuses the connection. */
export const isUnavailable = (error: unknown): boolean => isConnectionFailure(error) || REFUSING.has(numberOf(error));

/** Whether the server has stopped the statement after the time that it allows. */
export const isOverLimit = (error: unknown): boolean => OUT_OF_TIME.has(numberOf(error));

/** Whether a COMMIT that fails with this error has written nothing. */
export const isRolledBack = (error: unknown): boolean => ROLLED_BACK.has(numberOf(error));

/**
 * Whether an id that the server itself assigned to a row is already taken. Nodes of a Galera cluster assign ids
 * alternately, and the intervals change when a node is lost: at that moment two nodes may assign the same id. An id
 * that is among the bound values of a statement was not assigned by the server.
 */
export function isAssignedIdTaken(error: unknown, bindings: readonly unknown[]): boolean {
  if (numberOf(error) !== DUPLICATE || !(error instanceof Error)) return false;
  const takenId = DUPLICATE_PRIMARY_KEY.exec(error.message)?.[1];
  return takenId !== undefined && !bindings.some((value) => String(value) === takenId);
}

/** 1062: a row with this key already exists. */
const DUPLICATE = 1062;
/** Matches the message in any language of the server: a single number, and the primary key. */
const DUPLICATE_PRIMARY_KEY = /'(\d{1,20})'[^']{1,100}'(?:[^'.]{1,64}\.)?PRIMARY'/;

/** Whether the disk is full. */
export const isDiskFull = (error: unknown): boolean =>
  DISK_FULL.has(numberOf(error)) || (numberOf(error) === STORAGE_ENGINE && error instanceof Error && NO_SPACE.test(error.message));

/** Whether the error ends the connection. mysql2 marks such errors as fatal, including one without a code. */
export function isFatal(error: unknown): boolean {
  return isObject(error) && 'fatal' in error && error.fatal === true;
}

/**
 * Conflicts that end the whole transaction: 1213 deadlock (also between two nodes of Galera), 1020 record changed since
 * last read (MariaDB's snapshot isolation), 3101 conflict between two members of Group Replication, 9007, 8002, 8022,
 * 8028 of TiDB.
 */
const CONFLICT = new Set([1213, 1020, 3101, 9007, 8002, 8022, 8028]);

/** Conflicts, and in addition: 1205 lock wait timeout, 3572 row locked. */
const BUSY = new Set([...CONFLICT, 1205, 3572]);

/** 1047 node without a majority, or not yet up to date (Galera); 1053 shutting down. */
const UNUSABLE = new Set([1047, 1053]);
/**
 * 1290, 1792, 1836, 1874: the server, its transaction or its storage engine is read only (after a failover, or by an
 * option).
 */
const READ_ONLY = new Set([1290, 1792, 1836, 1874]);
/** 1040, 1203: too many connections; 1226: too many of this user, or more than its account allows in an hour. */
const TOO_MANY_CONNECTIONS = new Set([1040, 1203, 1226]);
/** 1969 (MariaDB), 3024 (MySQL): stopped after the time that the server allows. */
const OUT_OF_TIME = new Set([1969, 3024]);

/**
 * UNUSABLE and TOO_MANY_CONNECTIONS, and in addition: 1044, 1045, 1049, 1698 refused user or database; 1142, 1143
 * refused table or column (if the right to read is missing; a missing right to write counts as read only); 1077, 1079,
 * 1152, 1184 shutting down; 1129, 1130 host refused; 1180 error during COMMIT (a Galera node that loses its cluster
 * meanwhile); 1317 interrupted; 1927 connection killed; 4031 idle connection closed; 3100 a member of Group Replication
 * that can't take part.
 */
const REFUSING = new Set([
  ...[...UNUSABLE, ...TOO_MANY_CONNECTIONS],
  ...[1044, 1045, 1049, 1698, 1142, 1143, 1077, 1079, 1152, 1184, 1129, 1130, 1180, 1317, 1927, 4031, 3100],
]);

/** 1142, 1143, 1227, 1370: the user lacks a right on a table, a column, the server, a routine. */
const DENIED = new Set([1142, 1143, 1227, 1370]);

/**
 * The message contains the name of the command in every language of the server. `SELECT … FOR UPDATE`, which MySQL
 * calls `SELECT with locking clause`, takes a right to write.
 */
const isDeniedToRead = (error: unknown): boolean => error instanceof Error && /\bSELECT\b(?! with locking clause)/.test(error.message);

/**
 * A COMMIT that fails with one of these did not begin or was rolled back: conflicts, a server that accepts no writes,
 * 1047 a node that accepts no statements, 3100 a member of Group Replication that can't take part.
 */
const ROLLED_BACK = new Set([...CONFLICT, ...READ_ONLY, 1047, 3100]);

/** 1021 disk full, 1114 table full. */
const DISK_FULL = new Set([1021, 1114]);
/** 1030: an error of the storage engine. The message contains its number in every language of the server. */
const STORAGE_ENGINE = 1030;
/** Matches error 28 of the system, no space (`ENOSPC`). */
const NO_SPACE = /\b28\b/;

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
  'EACCES',
  'PROTOCOL_CONNECTION_LOST',
  'PROTOCOL_SEQUENCE_TIMEOUT',
  'HANDSHAKE_NO_SSL_SUPPORT',
  'ER_NET_READ_ERROR',
  'ER_NET_READ_INTERRUPTED',
  'ER_CLIENT_INTERACTION_TIMEOUT',
]);

function numberOf(error: unknown): number {
  const number = isObject(error) && 'errno' in error ? error.errno : 0;
  return typeof number === 'number' ? number : 0;
}
