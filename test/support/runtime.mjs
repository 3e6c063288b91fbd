/**
 * How jest loads a test file: by Node's own `import`, in the process itself. What was loaded stays for the next file,
 * so that the sources are read, compiled and made fast by V8 once for each process rather than once for each file. It
 * takes the place of jest-runtime, which loads everything anew into a context of its own.
 *
 * Whatever a module keeps is therefore seen by every file after it: a test must not count on being the first.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { sourceMapOf } from './compile.mjs';
import { setGlobals } from './jest-globals.mjs';

const require = createRequire(import.meta.url);
const hooks = require('node:async_hooks');
/** Under which jest-circus keeps who is told of each test; every file brings its own. */
const LISTENERS = Symbol.for('EVENT_HANDLERS');

/** jest-runner calls this with `new`. */
export default function NativeRuntime() {
  const nothing = () => undefined;
  return {
    setGlobalsForRuntime: setGlobals,
    // jest-circus begins anew with every file.
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
 * What `work` gives, where it asks for something that follows promises: jest-circus would know by it which test a
 * promise belongs to, and Node would have to be told of every promise of the process. Tests run one after the other,
 * so it is the one that is running.
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

/** Remembers what is running, as far as jest-circus asks for it. */
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
