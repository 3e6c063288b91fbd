import { fstatSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

const STDOUT = 1;
/** What may wait for a reader who is slow, in bytes; beyond that, lines are dropped rather than kept in memory. */
const MOST_WAITING = 2 ** 20;
const LOOK_MS = 5;

/** Where lines go that nobody may have to wait for. */
export interface Output {
  readonly write: (line: string) => void;
  /** Waits until everything is written, for so many milliseconds at most. */
  readonly written: (patience: number) => Promise<void>;
}

let opened: Output | undefined;

/**
 * Standard output as a place for the log; on a terminal, its lines are made readable. A reader who is slow loses lines
 * and is told how many; one who has gone away is not missed, nor is room on a disk that is full. None of them keeps the
 * process from its work, or from ending.
 */
export function standardOutput(): Output {
  opened ??= fstatSync(STDOUT).isFile() ? fileOutput(STDOUT) : streamOutput(process.stdout, process.stdout.isTTY ? readable() : undefined);
  return opened;
}

/** Lines in a file. What the disk has no room for is lost. */
export function fileOutput(descriptor: number): Output {
  return {
    write: (line) => {
      try {
        writeSync(descriptor, line);
      } catch {
        // The next line may find room again.
      }
    },
    written: async () => undefined,
  };
}

/** Lines in a pipe or a socket, or on a terminal, in another form if need be. */
export function streamOutput(stream: Writable, formed: (line: string) => string = (line) => line): Output {
  let [gone, dropped] = [false, 0];
  stream.on('error', () => {
    gone = true;
  });
  return {
    write: (line) => {
      if (gone) return;
      if (stream.writableLength > MOST_WAITING) {
        dropped += 1;
        return;
      }
      if (dropped > 0)
        stream.write(
          formed(`${JSON.stringify({ level: 40, time: Date.now(), pid: process.pid, dropped, msg: 'the log was not read' })}\n`),
        );
      dropped = 0;
      stream.write(formed(line));
    },
    written: async (patience) => {
      const until = performance.now() + patience;
      while (!gone && stream.writableLength > 0 && performance.now() < until) await sleep(LOOK_MS);
    },
  };
}

/** Loaded where somebody watches only. */
function readable(): (line: string) => string {
  const { prettyFactory } = createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty');
  return prettyFactory({ ignore: 'pid', colorize: true });
}
