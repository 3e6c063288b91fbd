/** Whether this is the source, as in tests, or a file of the build. */
const RUNS_FROM_SOURCE = import.meta.url.endsWith('.ts');

/**
 * Returns the URL of a file that runs in a thread or process of its own, by its path below `src/`; `bin/build.mjs`
 * builds each of them separately.
 */
export const entryPointUrl = (path: string): URL => new URL(RUNS_FROM_SOURCE ? `../${path}.ts` : `./${path}.js`, import.meta.url);
