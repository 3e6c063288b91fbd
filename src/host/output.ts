import { fstatSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

const STDOUT = 1;
/** What may wait for a reader who is slow, in bytes; beyond that, lines are dropped rather than kept in memory. */
const MOST_WAITING = 2 ** 20;
const LOOK_MS = 5;

/**
 * Lines that wait for others, in characters and in milliseconds: writing them one by one costs more than making them.
 */
const MOST_GATHERED = 16_384;
const GATHERED_MS = 10;

/** Where lines go that nobody may have to wait for. */
export interface Output {
  readonly write: (lines: string) => void;
  /** Waits until everything is written, for this many milliseconds at most. */
  readonly written: (patience: number) => Promise<void>;
}

/** An output whose lines go out together with others. `urgent`: not this one, and nothing that waits. */
export interface GatheringOutput extends Output {
  readonly flush: () => void;
  readonly write: (line: string, urgent?: boolean) => void;
}

/** Lines of JSON, lines for people, or whichever fits who reads them. */
export type OutputFormat = 'auto' | 'json' | 'pretty';

let opened: GatheringOutput | undefined;

/**
 * Standard output as a place for the log. A reader who is slow loses lines and learns how many; one who has gone away
 * is not missed, nor is room on a disk that is full. None of them keeps the process from its work, or from ending.
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
 * Writes lines together, a few milliseconds later at most. Urgent ones, and all that wait, go out at once. `formed`: in
 * what form.
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

/** Lines in a file. What the disk has no room for is lost. */
export function fileOutput(descriptor: number): Output {
  return {
    write: (lines) => {
      try {
        writeSync(descriptor, lines);
      } catch {
        // The next line may find room again.
      }
    },
    written: async () => undefined,
  };
}

/** Lines in a pipe or a socket, or on a terminal. `formed`: the form of its own lines. */
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

/** Loaded where people read only. */
function readable(colorize: boolean): (line: string) => string {
  const { prettyFactory } = createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty');
  return prettyFactory({ ignore: 'pid', colorize, singleLine: true });
}
