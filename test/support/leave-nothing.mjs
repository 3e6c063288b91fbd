/**
 * Processes and folders of scripts and tests that disappear with the process that created them, even if it is killed: a
 * shell waits for the end of a pipe that only this process can write to. The shell has its own process group, so that
 * it is not killed together with this process.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Deletes a folder repeatedly, since a process that was just killed may still be writing there. */
const REMOVE = 'for wait in 1 1 3 5; do sleep $wait; rm -rf "$0" && break; done';

/** Ensures that a process ends at the latest when this one does. */
export function killOnExit(child) {
  const guard = runOnExit('kill -9 "$0"', String(child.pid));
  child.once('exit', () => guard.kill('SIGKILL'));
}

/** Creates a temporary folder whose name begins with `name`. It is deleted when this process ends. */
export function scratchFolder(name) {
  const folder = mkdtempSync(join(tmpdir(), `${name}-`));
  runOnExit(REMOVE, folder);
  process.once('exit', () => {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // A process still writes there; the shell tries again.
    }
  });
  return folder;
}

/** Runs a shell command, with the subject as `$0`, once this process has ended. */
function runOnExit(command, subject) {
  const guard = spawn('sh', ['-c', `cat; ${command}`, subject], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  guard.unref();
  guard.stdin.unref();
  guard.on('error', () => undefined);
  return guard;
}
