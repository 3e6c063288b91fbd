/**
 * Prints while jest runs how many files are done and which are running. On a terminal jest shows that itself.
 */
import { relative } from 'node:path';

const EVERY_MS = 10_000;

/** jest calls this with `new`. */
export default function ProgressReporter({ maxWorkers, rootDir }) {
  if (process.stderr.isTTY) return {};
  const start = performance.now();
  const running = new Set();
  let total = 0;
  let done = 0;
  const say = () => {
    const seconds = Math.round((performance.now() - start) / 1000);
    const names = [...running].map((path) => relative(rootDir, path)).join(', ');
    process.stderr.write(`${done} of ${total} test files done after ${seconds} s, running: ${names}\n`);
  };
  let timer;
  return {
    onRunStart({ numTotalTestSuites }) {
      total = numTotalTestSuites;
      process.stderr.write(`Running ${total} test files, ${Math.min(maxWorkers, total)} at a time\n`);
      timer = setInterval(say, EVERY_MS);
    },
    onTestFileStart({ path }) {
      running.add(path);
    },
    onTestFileResult({ path }) {
      running.delete(path);
      done += 1;
    },
    onRunComplete: () => clearInterval(timer),
  };
}
