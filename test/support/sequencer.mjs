/**
 * The order of test files: the longest first, so that no process is left with a long one at the end. How long each took
 * is remembered from one run to the next; of what was not run here before, those named below are known to be long, and
 * of others the size has to do.
 */
import TestSequencer from '@jest/test-sequencer';

/** The longest files, each with about the seconds it takes. */
const SECONDS = {
  'visibility-oracles.test.ts': 160,
  'http/outside-names.test.ts': 65,
  'desk/states-in-browser.test.ts': 65,
  'unseen-changes.test.ts': 50,
  'cli/doctor.test.ts': 50,
  'exchange/verify.test.ts': 50,
  'exchange/verify-imports.test.ts': 45,
  'wordpress-writes.test.ts': 45,
  'serve.test.ts': 45,
  'fuzz.test.ts': 45,
  'desk/browser.test.ts': 40,
  'safe-writes.test.ts': 40,
  'growth.test.ts': 40,
  'roles.test.ts': 40,
  'visibility.test.ts': 40,
  'cache.test.ts': 35,
  'storage/event-index.test.ts': 35,
  'exchange/interrupted.test.ts': 25,
  'languages/index.test.ts': 25,
  'patterns.test.ts': 25,
  'decisions/values.test.ts': 20,
  'decisions/changes.test.ts': 20,
};
/** Bytes of a test file that take a second. */
const BYTES_A_SECOND = 4000;

export default class LongestFirst extends TestSequencer {
  sort(tests) {
    // jest's own order sets how long each took, and puts those that failed first.
    const usual = super.sort(tests);
    const failed = usual.filter((test) => this.hasFailed(test));
    const others = usual.filter((test) => !this.hasFailed(test));
    return [...failed, ...others.sort((one, other) => secondsOf(other) - secondsOf(one))];
  }
}

function secondsOf({ path, duration, context }) {
  if (duration !== undefined) return duration / 1000;
  const [, known] = Object.entries(SECONDS).find(([name]) => path.endsWith(`/test/${name}`)) ?? [];
  return known ?? (context.hasteFS.getSize(path) ?? 0) / BYTES_A_SECOND;
}
