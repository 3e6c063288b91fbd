/**
 * Orders test files with the longest first, so that no process is left with a long one at the end. jest caches the
 * duration of each file between runs. For files without one, the list below or else the file size is used.
 */
import TestSequencer from '@jest/test-sequencer';

/** Approximate durations of the longest files, in seconds. */
const SECONDS = {
  'visibility-oracles.test.ts': 200,
  'desk/states-in-browser.test.ts': 180,
  'desk/browser.test.ts': 95,
  'pages/browser.test.ts': 80,
  'serve.test.ts': 78,
  'exchange/verify.test.ts': 75,
  'desk/translations.test.ts': 70,
  'fuzz.test.ts': 68,
  'http/outside-names.test.ts': 67,
  'visibility.test.ts': 64,
  'unseen-changes.test.ts': 59,
  'growth.test.ts': 52,
  'wordpress-writes.test.ts': 51,
  'roles.test.ts': 49,
  'exchange/verify-imports.test.ts': 48,
  'storage/event-index.test.ts': 47,
  'cache.test.ts': 45,
  'safe-writes.test.ts': 43,
  'exchange/interrupted.test.ts': 40,
  'languages/index.test.ts': 38,
  'pages/scripts.test.ts': 35,
  'patterns.test.ts': 34,
  'cli/doctor.test.ts': 33,
  'desk/map.test.ts': 28,
  'recurrence.test.ts': 28,
  'desk/suggestions.test.ts': 27,
  'languages/memory.test.ts': 27,
  'http/eviction.test.ts': 27,
  'openapi-truth.test.ts': 23,
  'writing.test.ts': 21,
  'cli/recurrence-doctor.test.ts': 18,
  'accounts/credentials.test.ts': 15,
  'storage/servers.test.ts': 15,
};
/** Size of a test file, in bytes, that takes about one second. */
const BYTES_A_SECOND = 4000;

export default class LongestFirst extends TestSequencer {
  sort(tests) {
    // jest's own sort sets the durations and puts files that failed first.
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
