/** Whether this is the source itself, as tests run it, or one of the few files that are built of it. */
const IN_SOURCE = import.meta.url.endsWith('.ts');

/**
 * A file that runs by itself, in a thread or a process of its own, by its path below `src/`; `bin/build.mjs` makes one
 * of each.
 */
export const runnable = (path: string): URL => new URL(IN_SOURCE ? `../${path}.ts` : `./${path}.js`, import.meta.url);
