/**
 * Processes and folders of scripts and tests, which go away with the process that made them however that ends, even if
 * it is killed: a shell waits for the end of what only this process can write to. The shell is in a group of its own,
 * so that nobody ends it together with us.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A process that has just been killed may still be writing there. */
const REMOVE = 'for wait in 1 1 3 5; do sleep $wait; rm -rf "$0" && break; done';

/** Has a process end when this one does, at the latest. */
export function endWithUs(child) {
  const guard = atOurEnd('kill -9 "$0"', String(child.pid));
  child.once('exit', () => guard.kill('SIGKILL'));
}

/** The path of a new temporary folder whose name begins so. It is removed when this process ends. */
export function scratchFolder(name) {
  const folder = mkdtempSync(join(tmpdir(), `${name}-`));
  atOurEnd(REMOVE, folder);
  process.once('exit', () => {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // Something still writes there; the shell tries again.
    }
  });
  return folder;
}

/** Runs a command of the shell with `$0` once this process has ended. */
function atOurEnd(command, subject) {
  const guard = spawn('sh', ['-c', `cat; ${command}`, subject], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  guard.unref();
  guard.stdin.unref();
  guard.on('error', () => undefined);
  return guard;
}
