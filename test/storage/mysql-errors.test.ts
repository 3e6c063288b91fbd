import { expect, it } from '@jest/globals';
import { asUnavailable, type UnavailableReason } from '../../src/storage/engine/dialect.ts';
import { mysql } from '../../src/storage/engine/mysql/dialect.ts';
import { hasTooManyConnections, isConnectionFailure, isDiskFull, isReadOnly } from '../../src/storage/engine/mysql/errors.ts';

it.each<[errno: number, message: string, isFull: boolean]>([
  [1021, 'Disk full (/tmp/#sql1.MAI); waiting for someone to free some space...', true],
  [1114, "The table 'wp_posts' is full", true],
  [1030, 'Got error 28 "No space left on device" from storage engine InnoDB', true],
  [1030, "Got error 28 - 'No space left on device' from storage engine", true],
  [1030, 'Fehler 28 (Speicher-Engine)', true],
  [1030, 'Got error 194 "Tablespace is missing for a table" from storage engine InnoDB', false],
  [1030, 'Got error 128 "Out of memory in engine" from storage engine InnoDB', false],
  [1213, 'Deadlock found when trying to get lock; try restarting transaction', false],
])('an error of MySQL or MariaDB means that the disk is full only if it says so: %i, %s', (errno, message, isFull) => {
  expect(isDiskFull(Object.assign(new Error(message), { errno }))).toBe(isFull);
});

it.each<[message: string, isMissing: boolean]>([
  ["SELECT command denied to user 'a'@'%' for table 'wp_posts'", false],
  ["SELECT with locking clause command denied to user 'a'@'%' for table 'wp_posts'", true],
  ["UPDATE command denied to user 'a'@'%' for table 'wp_posts'", true],
])('a refused right is the right to write unless it is that to read: %s', (message, isMissing) => {
  expect(isReadOnly(Object.assign(new Error(message), { errno: 1142 }))).toBe(isMissing);
});

it.each<[errno: number, message: string, reason: UnavailableReason, isCrowded: boolean]>([
  [1040, 'Too many connections', 'unreachable', true],
  [1203, "User a already has more than 'max_user_connections' active connections", 'unreachable', true],
  [1226, "User 'a' has exceeded the 'max_user_connections' resource (current value: 10)", 'unreachable', true],
  [1226, "User 'a' has exceeded the 'max_connections_per_hour' resource (current value: 10)", 'unreachable', true],
  [1226, "User 'a' has exceeded the 'max_questions' resource (current value: 10)", 'unreachable', true],
  [1226, "User 'a' has exceeded the 'max_queries_per_hour' resource (current value: 10)", 'unreachable', true],
  [1969, 'Query execution was interrupted (max_statement_time exceeded)', 'exhausted', false],
  [3024, 'Query execution was interrupted, maximum statement execution time exceeded', 'exhausted', false],
  [4031, 'The client was disconnected by the server because of inactivity.', 'unreachable', false],
])('a limit of the server is no fault of the request: %i %s', (errno, message, reason, isCrowded) => {
  const error = Object.assign(new Error(message), { errno });
  expect(asUnavailable(mysql, error)).toMatchObject({ reason });
  expect(hasTooManyConnections(error)).toBe(isCrowded);
});

it('a connection that the server has closed for its idleness is a broken one', () => {
  expect(isConnectionFailure(Object.assign(new Error(''), { errno: 4031, code: 'ER_CLIENT_INTERACTION_TIMEOUT' }))).toBe(true);
});
