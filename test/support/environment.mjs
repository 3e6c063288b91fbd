/**
 * The environment of a test file: jest's own for Node, with two differences.
 *
 * Its global object is an ordinary one. jest puts a proxy and an interceptor behind it, which makes every use of
 * `Object`, `Number` or `Promise` in the sources some fifty times slower.
 *
 * Its folder for temporary files is its own and goes with it, whatever the tests leave there.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

// Each file compiles the sources anew and ends within seconds: V8 should not hurry to optimize what will soon be thrown
// away.
setFlagsFromString('--interrupt-budget=1000000');

/** jest calls this with `new`. */
export default function TestFileEnvironment(config, context) {
  const outer = process.env.TMPDIR;
  const folder = mkdtempSync(join(tmpdir(), `${basename(context.testPath, '.test.ts')}-`));
  // os.tmpdir() reads the variable at every call. A process runs one file at a time.
  process.env.TMPDIR = folder;
  const environment = withOrdinaryGlobal(() => new TestEnvironment(config, context));
  const teardown = environment.teardown.bind(environment);
  environment.teardown = async () => {
    await teardown();
    if (outer === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = outer;
    rmSync(folder, { recursive: true, force: true });
  };
  return environment;
}

function withOrdinaryGlobal(create) {
  const { createContext } = vm;
  vm.createContext = () => createContext(vm.constants.DONT_CONTEXTIFY);
  try {
    return create();
  } finally {
    vm.createContext = createContext;
  }
}
