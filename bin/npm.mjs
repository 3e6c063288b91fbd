/** Runs npm. This file needs only Node. */
import { spawn } from 'node:child_process';

/**
 * Runs npm in a folder: the one that runs this script, if any. Its output goes to standard error, unless it is `quiet`.
 * Resolves with a line that describes the failure, or undefined. npm ends if this process exits before it.
 */
export function npm(folder, args, { env = {}, quiet = false } = {}) {
  const own = process.env.npm_execpath;
  const [program, first] = own?.endsWith('.js') ? [process.execPath, [own]] : ['npm', []];
  const output = quiet ? 'ignore' : 2;
  const child = spawn(program, [...first, ...args], {
    cwd: folder,
    env: { ...env, ...process.env },
    stdio: ['ignore', output, output],
    shell: program === 'npm' && process.platform === 'win32',
  });
  const end = () => void child.kill();
  process.on('exit', end);
  return new Promise((ended) => {
    const finish = (fault) => {
      process.off('exit', end);
      ended(fault);
    };
    child.on('error', ({ message }) => finish(`npm ${args[0]} did not succeed: ${message}`));
    child.on('exit', (status) => finish(status === 0 ? undefined : `npm ${args[0]} did not succeed.`));
  });
}
