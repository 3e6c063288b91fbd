import { fstatSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

const STDOUT = 1;
/** Maximum number of bytes that wait for a slow reader; beyond it, lines are dropped instead of using more memory. */
const MOST_WAITING = 2 ** 20;
const LOOK_MS = 5;

/**
 * Limits for gathering lines, in characters and in milliseconds. Writing lines individually costs more than creating
 * them.
 */
const MOST_GATHERED = 16_384;
const GATHERED_MS = 10;

/** An output for lines that never blocks. */
export interface Output {
  readonly write: (lines: string) => void;
  /** Waits until everything is written, for at most this many milliseconds. */
  readonly written: (patience: number) => Promise<void>;
}

/** An output that gathers lines and writes them together. `urgent` writes the line and all gathered ones at once. */
export interface GatheringOutput extends Output {
  readonly flush: () => void;
  readonly write: (line: string, urgent?: boolean) => void;
}

/** Lines of JSON, lines for people, or either depending on the reader. */
export type OutputFormat = 'auto' | 'json' | 'pretty';

let opened: GatheringOutput | undefined;

/**
 * Returns standard output as destination for the log. A slow reader loses lines and is told how many; a closed pipe or
 * a full disk is ignored. None of this blocks the process or keeps it from ending.
 */
export function standardOutput(format: OutputFormat): GatheringOutput {
  opened ??= openStandardOutput(format);
  return opened;
}

function openStandardOutput(format: OutputFormat): GatheringOutput {
  const isFile = fstatSync(STDOUT).isFile();
  const watched = !isFile && process.stdout.isTTY;
  const formed = format === 'pretty' || (format === 'auto' && watched) ? readable(watched) : unchanged;
  const output = gathering(isFile ? fileOutput(STDOUT) : streamOutput(process.stdout, formed), formed);
  process.once('exit', output.flush);
  return output;
}

/**
 * Returns an output that writes lines together, with a delay of a few milliseconds at most. Urgent lines are written at
 * once, with all that wait. `formed`: formats a line.
 */
export function gathering(output: Output, formed: (line: string) => string = unchanged): GatheringOutput {
  let waiting = '';
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting !== '') output.write(waiting);
    waiting = '';
  };
  return {
    flush,
    write: (line, urgent = false) => {
      waiting += formed(line);
      if (urgent || waiting.length > MOST_GATHERED) flush();
      else timer ??= setTimeout(flush, GATHERED_MS).unref();
    },
    written: (patience) => {
      flush();
      return output.written(patience);
    },
  };
}

const unchanged = (line: string): string => line;

/** Returns an output to a file. Lines for which the disk has no space are lost. */
export function fileOutput(descriptor: number): Output {
  return {
    write: (lines) => {
      try {
        writeSync(descriptor, lines);
      } catch {
        // There may be space again for the next line.
      }
    },
    written: async () => undefined,
  };
}

/** Returns an output to a pipe, a socket or a terminal. `formed`: formats the output's own lines. */
export function streamOutput(stream: Writable, formed: (line: string) => string = unchanged): Output {
  let [gone, dropped] = [false, 0];
  stream.on('error', () => {
    gone = true;
  });
  return {
    write: (lines) => {
      if (gone) return;
      if (stream.writableLength > MOST_WAITING) {
        dropped += linesIn(lines);
        return;
      }
      if (dropped > 0) stream.write(formed(`${JSON.stringify(droppedEntry(dropped))}\n`));
      dropped = 0;
      stream.write(lines);
    },
    written: async (patience) => {
      const until = performance.now() + patience;
      while (!gone && stream.writableLength > 0 && performance.now() < until) await sleep(LOOK_MS);
    },
  };
}

const droppedEntry = (dropped: number) => ({
  level: 'warn',
  time: new Date().toISOString(),
  pid: process.pid,
  dropped,
  msg: 'the log was not read',
});

const linesIn = (text: string): number => text.split('\n').length - 1;

/** Returns a formatter of lines for people; the package is loaded only if it is needed. */
function readable(colorize: boolean): (line: string) => string {
  const { prettyFactory } = createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty');
  return prettyFactory({ ignore: 'pid', colorize, singleLine: true });
}
