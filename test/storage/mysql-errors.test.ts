import { expect, it } from '@jest/globals';
import { isDiskFull, isReadOnly } from '../../src/storage/engine/mysql/errors.ts';

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
