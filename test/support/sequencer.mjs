/**
 * The order of test files: the longest first, so that no process is left with a long one at the end. How long each took
 * is remembered from one run to the next; of what was not run here before, those named below are known to be long, and
 * of others the size has to do.
 */
import TestSequencer from '@jest/test-sequencer';

/** The longest files, each with about the seconds it takes. */
const SECONDS = {
  'visibility-oracles.test.ts': 140,
  'desk/states-in-browser.test.ts': 77,
  'fuzz.test.ts': 62,
  'roles.test.ts': 62,
  'visibility.test.ts': 60,
  'serve.test.ts': 60,
  'http/outside-names.test.ts': 55,
  'wordpress-writes.test.ts': 54,
  'exchange/verify.test.ts': 54,
  'growth.test.ts': 52,
  'cli/doctor.test.ts': 40,
  'exchange/verify-imports.test.ts': 42,
  'unseen-changes.test.ts': 47,
  'cache.test.ts': 46,
  'desk/browser.test.ts': 45,
  'storage/event-index.test.ts': 38,
  'safe-writes.test.ts': 36,
  'desk/translations.test.ts': 34,
  'languages/index.test.ts': 25,
  'languages/memory.test.ts': 23,
  'exchange/interrupted.test.ts': 22,
  'openapi-truth.test.ts': 22,
  'patterns.test.ts': 22,
  'cli/recurrence-doctor.test.ts': 18,
  'pages/scripts.test.ts': 17,
  'desk/suggestions.test.ts': 16,
  'accounts/credentials.test.ts': 15,
  'storage/servers.test.ts': 15,
  'recurrence.test.ts': 15,
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
