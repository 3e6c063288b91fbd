export default {
  testEnvironment: '<rootDir>/test/support/environment.mjs',
  testMatch: ['<rootDir>/test/**/*.test.ts', '<rootDir>/test/**/*.test.tsx'],
  runtime: '<rootDir>/test/support/runtime.mjs',
  // Node loads the sources itself (test/support/run-typescript.mjs).
  transform: {},
  testTimeout: 120000,
  maxWorkers: '100%',
  workerIdleMemoryLimit: '1200MB',
  // Compiled sources and the time each file took, from one run to the next.
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  testSequencer: '<rootDir>/test/support/sequencer.mjs',
  reporters: ['default', '<rootDir>/test/support/progress.mjs'],
};
