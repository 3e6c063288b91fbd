/**
 * What test files import from `@jest/globals`. The package itself only works within jest's own loader of modules
 * (`run-typescript.mjs` leads here instead). The bindings are live: each file finds those of its own run.
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
