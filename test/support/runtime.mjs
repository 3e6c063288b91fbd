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
  let ended = nothing;
  return {
    setGlobalsForRuntime: setGlobals,
    // jest-circus begins anew with every file.
    requireInternalModule: (path) => {
      delete require.cache[path];
      delete globalThis[LISTENERS];
      const [circus, storages] = storagesMadeBy(() => require(path));
      ended = () => {
        for (const storage of storages) storage.disable();
      };
      return circus;
    },
    requireModule: require,
    unstable_shouldLoadAsEsm: () => true,
    unstable_importModule: (path) => import(pathToFileURL(path).href),
    getSourceMaps: () => Object.assign(new Map(), { get: sourceMapOf }),
    getAllCoverageInfoCopy: nothing,
    enterTestCode: nothing,
    leaveTestCode: nothing,
    teardown: () => ended(),
  };
}

/**
 * What `work` gives, and what it makes to follow promises: whoever is not told to stop is told of every promise of the
 * process for good, which would be dearer with every file.
 */
function storagesMadeBy(work) {
  const usual = Object.getOwnPropertyDescriptor(hooks, 'AsyncLocalStorage');
  const { AsyncLocalStorage } = hooks;
  const made = [];
  const value = function Followed() {
    const storage = new AsyncLocalStorage();
    made.push(storage);
    return storage;
  };
  Object.defineProperty(hooks, 'AsyncLocalStorage', { configurable: true, enumerable: true, value });
  try {
    return [work(), made];
  } finally {
    Object.defineProperty(hooks, 'AsyncLocalStorage', usual);
  }
}
