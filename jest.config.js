export default {
  testEnvironment: '<rootDir>/test/support/environment.mjs',
  testMatch: ['<rootDir>/test/**/*.test.ts', '<rootDir>/test/**/*.test.tsx'],
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  transform: {
    '^.+\\.tsx?$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', tsx: true },
          transform: { react: { runtime: 'automatic', importSource: 'preact' } },
        },
        module: { type: 'es6' },
      },
    ],
  },
  testTimeout: 120000,
  maxWorkers: '100%',
  // A process of its own for every file: what a file loads and leaves in memory would stay, and slow down those after it.
  workerIdleMemoryLimit: 0,
  // Compiled sources and the time each file took, from one run to the next.
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  testSequencer: '<rootDir>/test/support/sequencer.mjs',
  reporters: ['default', '<rootDir>/test/support/progress.mjs'],
};
