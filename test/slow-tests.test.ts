import { existsSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { slowTests, withoutDatabase } from './slow-tests.mjs';

/* The list of the tests that `npm test -- --quick` leaves out. */

it('names existing files and tests on any database', () => {
  const listed = [...slowTests()];
  expect(listed.length).toBeGreaterThan(0);
  expect(listed.map(([file]) => file).filter((file) => !existsSync(new URL(file, import.meta.url)))).toEqual([]);
  const names = listed.flatMap(([, of]) => of);
  expect(names.filter((name) => withoutDatabase(name) !== name)).toEqual([]);
});
