/**
 * The jest runtime: loads a test file with Node's own `import`, in the process itself. Loaded modules are kept for the
 * next file, so that the sources are read, compiled and optimized by V8 once per process rather than once per file. It
 * replaces jest-runtime, which loads everything again into a separate context.
 *
 * The state of a module is therefore visible to every later file: a test must not rely on being the first.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { sourceMapOf } from './compile.mjs';
import { setGlobals } from './jest-globals.mjs';

const require = createRequire(import.meta.url);
const hooks = require('node:async_hooks');
/** The key under which jest-circus stores its event handlers; every file adds its own. */
const LISTENERS = Symbol.for('EVENT_HANDLERS');

/** jest-runner calls this with `new`. */
export default function NativeRuntime() {
  const nothing = () => undefined;
  return {
    setGlobalsForRuntime: setGlobals,
    // jest-circus is loaded again for every file.
    requireInternalModule: (path) => {
      delete require.cache[path];
      delete globalThis[LISTENERS];
      return withoutFollowing(() => require(path));
    },
    requireModule: require,
    unstable_shouldLoadAsEsm: () => true,
    unstable_importModule: (path) => import(pathToFileURL(path).href),
    getSourceMaps: () => Object.assign(new Map(), { get: sourceMapOf }),
    getAllCoverageInfoCopy: nothing,
    enterTestCode: nothing,
    leaveTestCode: nothing,
    teardown: nothing,
  };
}

/**
 * Runs `work` with a replacement of AsyncLocalStorage. jest-circus uses it to find the test that a promise belongs to,
 * for which Node would have to track every promise of the process. Since tests run one after the other, the promise
 * always belongs to the running test.
 */
function withoutFollowing(work) {
  const usual = Object.getOwnPropertyDescriptor(hooks, 'AsyncLocalStorage');
  Object.defineProperty(hooks, 'AsyncLocalStorage', { configurable: true, enumerable: true, value: Running });
  try {
    return work();
  } finally {
    Object.defineProperty(hooks, 'AsyncLocalStorage', usual);
  }
}

/** Stores the running test for jest-circus. */
class Running {
  #store;

  getStore() {
    return this.#store;
  }

  async run(store, work) {
    const outer = this.#store;
    this.#store = store;
    try {
      return await work();
    } finally {
      this.#store = outer;
    }
  }
}
