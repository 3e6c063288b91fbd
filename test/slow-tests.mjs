#!/usr/bin/env node
/**
 * Lists the tests that take long, which `npm test -- --quick` leaves out, and those that need what a slow one has done.
 * The list is written anew from the results of a run of everything, and of one without the slow tests, in which the
 * others fail:
 *
 *   TEST_RESULTS=all.json npm test && node test/slow-tests.mjs all.json
 *   TEST_RESULTS=quick.json npm test -- --quick || node test/slow-tests.mjs all.json quick.json
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const LIST = join(FOLDER, 'slow-tests.json');
/** Tests that take longer are listed, in milliseconds. */
const LIMIT_MS = 350;

/** Name of a test without its database: what is slow on one of them is left out on all. */
export const withoutDatabase = (name) => name.replace(/ on (SQLite|MySQL)\b/, '');

/** Names of the slow tests, by their file. */
export const slowTests = () => new Map(Object.entries(JSON.parse(readFileSync(LIST, 'utf8'))));

/** The path of a test file as in the list. */
export const fileInList = (path) => relative(FOLDER, path).replaceAll('\\', '/');

/** Returns the names of some tests of a run, by their file. */
function namesOf({ testResults }, isListed) {
  const files = testResults.map(({ name, assertionResults }) => {
    const listed = assertionResults.filter(isListed);
    return [fileInList(name), listed.map(({ fullName }) => withoutDatabase(fullName))];
  });
  return files.filter(([, names]) => names.length > 0);
}

function listFrom(all, quick) {
  const slow = new Map(namesOf(all, ({ duration }) => (duration ?? 0) > LIMIT_MS));
  const needing = namesOf(quick, ({ status }) => status === 'failed');
  for (const [file, names] of needing) slow.set(file, [...(slow.get(file) ?? []), ...names]);
  const sorted = [...slow].sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(sorted.map(([file, names]) => [file, [...new Set(names)].sort()]));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [all, quick = { testResults: [] }] = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, 'utf8')));
  const slow = listFrom(all, quick);
  writeFileSync(LIST, JSON.stringify(slow));
  spawnSync('npx', ['biome', 'format', '--write', LIST], { stdio: 'inherit' });
  console.log(`${Object.values(slow).flat().length} slow tests in ${Object.keys(slow).length} files`);
}
