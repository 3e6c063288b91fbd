/**
 * Replaces `@jest/globals` for test files (`run-typescript.mjs` redirects the import), since that package only works
 * within jest's own module loader. The bindings are live: each file sees those of its own run.
 */
export let afterAll;
export let afterEach;
export let beforeAll;
export let beforeEach;
export let describe;
export let expect;
export let it;
export let test;

export function setGlobals(globals) {
  ({ afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } = globals);
}
