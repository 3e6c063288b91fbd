export default {
  testEnvironment: '<rootDir>/test/support/environment.mjs',
  testMatch: ['<rootDir>/test/**/*.test.ts', '<rootDir>/test/**/*.test.tsx'],
  runtime: '<rootDir>/test/support/runtime.mjs',
  // Node loads the sources itself (test/support/run-typescript.mjs).
  transform: {},
  globalSetup: '<rootDir>/test/support/program.mjs',
  testTimeout: 120000,
  maxWorkers: '100%',
  workerIdleMemoryLimit: '1200MB',
  // The half second that is usual is too short for a process to end in while the machine is busy.
  workerGracefulExitTimeout: 30000,
  // Compiled sources and the time each file took, from one run to the next.
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  testSequencer: '<rootDir>/test/support/sequencer.mjs',
  reporters: ['default', '<rootDir>/test/support/progress.mjs'],
};
