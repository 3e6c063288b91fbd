#!/usr/bin/env node
/**
 * Lists the tests that take long, which `npm test` leaves to `npm test -- --all`. Written anew from the results of a
 * run of everything:
 *
 *   TEST_RESULTS=results.json npm test -- --all && node test/slow-tests.mjs results.json
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const LIST = join(FOLDER, 'slow-tests.json');
/** Tests that take longer are listed, in milliseconds. */
const LIMIT_MS = 400;

/** Name of a test without its database: what is slow on one of them is left out on all. */
export const withoutDatabase = (name) => name.replace(/ on (SQLite|MySQL)\b/, '');

/** Names of the slow tests, by their file. */
export const slowTests = () => new Map(Object.entries(JSON.parse(readFileSync(LIST, 'utf8'))));

/** The path of a test file as in the list. */
export const fileInList = (path) => relative(FOLDER, path).replaceAll('\\', '/');

function slowIn({ testResults }) {
  const files = testResults.map(({ name, assertionResults }) => {
    const slow = assertionResults.filter(({ duration }) => (duration ?? 0) > LIMIT_MS);
    return [fileInList(name), [...new Set(slow.map(({ fullName }) => withoutDatabase(fullName)))].sort()];
  });
  return Object.fromEntries(files.filter(([, names]) => names.length > 0).sort(([one], [other]) => (one < other ? -1 : 1)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const slow = slowIn(JSON.parse(readFileSync(process.argv[2], 'utf8')));
  writeFileSync(LIST, `${JSON.stringify(slow, undefined, 2)}\n`);
  console.log(`${Object.values(slow).flat().length} slow tests in ${Object.keys(slow).length} files`);
}
