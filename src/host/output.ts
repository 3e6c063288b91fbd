import { fstatSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

const STDOUT = 1;
/** Maximum number of bytes that wait for a slow reader; beyond it, lines are dropped instead of using more memory. */
const MAX_PENDING_BYTES = 2 ** 20;
const POLL_INTERVAL_MS = 5;

/**
 * Limits for gathering lines, in characters and in milliseconds. Writing lines individually costs more than creating
 * them.
 */
const MAX_BUFFERED_CHARACTERS = 16_384;
const FLUSH_DELAY_MS = 10;

/** An output for lines that never blocks. */
export interface Output {
  readonly write: (lines: string) => void;
  /** Waits until everything is written, for at most this many milliseconds. */
  readonly waitUntilWritten: (patience: number) => Promise<void>;
}

/** An output that gathers lines and writes them together. `urgent` writes the line and all gathered ones at once. */
export interface BufferedOutput extends Output {
  readonly flush: () => void;
  readonly write: (line: string, urgent?: boolean) => void;
}

/** Lines of JSON, lines for people, or either depending on the reader. */
export type OutputFormat = 'auto' | 'json' | 'pretty';

let openedOutput: BufferedOutput | undefined;

/**
 * Returns standard output as destination for the log. A slow reader loses lines and is told how many; a closed pipe or
 * a full disk is ignored. None of this blocks the process or keeps it from ending.
 */
export function standardOutput(format: OutputFormat): BufferedOutput {
  openedOutput ??= openStandardOutput(format);
  return openedOutput;
}

function openStandardOutput(format: OutputFormat): BufferedOutput {
  const isFile = fstatSync(STDOUT).isFile();
  const isTerminal = !isFile && process.stdout.isTTY;
  const formatLine = format === 'pretty' || (format === 'auto' && isTerminal) ? prettyFormatter(isTerminal) : unchanged;
  const output = bufferOutput(isFile ? fileOutput(STDOUT) : streamOutput(process.stdout, formatLine), formatLine);
  process.once('exit', output.flush);
  return output;
}

/**
 * Returns an output that writes lines together, with a delay of a few milliseconds at most. Urgent lines are written at
 * once, with all that wait. `formatLine`: formats a line.
 */
export function bufferOutput(output: Output, formatLine: (line: string) => string = unchanged): BufferedOutput {
  let buffered = '';
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (buffered !== '') output.write(buffered);
    buffered = '';
  };
  return {
    flush,
    write: (line, urgent = false) => {
      buffered += formatLine(line);
      if (urgent || buffered.length > MAX_BUFFERED_CHARACTERS) flush();
      else timer ??= setTimeout(flush, FLUSH_DELAY_MS).unref();
    },
    waitUntilWritten: (timeoutMs) => {
      flush();
      return output.waitUntilWritten(timeoutMs);
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
    waitUntilWritten: async () => undefined,
  };
}

/** Returns an output to a pipe, a socket or a terminal. `formatLine`: formats the output's own lines. */
export function streamOutput(stream: Writable, formatLine: (line: string) => string = unchanged): Output {
  let [hasFailed, droppedCount] = [false, 0];
  stream.on('error', () => {
    hasFailed = true;
  });
  return {
    write: (lines) => {
      if (hasFailed) return;
      if (stream.writableLength > MAX_PENDING_BYTES) {
        droppedCount += countLines(lines);
        return;
      }
      if (droppedCount > 0) stream.write(formatLine(`${JSON.stringify(droppedLinesEntry(droppedCount))}\n`));
      droppedCount = 0;
      stream.write(lines);
    },
    waitUntilWritten: async (patience) => {
      const deadline = performance.now() + patience;
      while (!hasFailed && stream.writableLength > 0 && performance.now() < deadline) await sleep(POLL_INTERVAL_MS);
    },
  };
}

const droppedLinesEntry = (droppedCount: number) => ({
  level: 'warn',
  time: new Date().toISOString(),
  pid: process.pid,
  dropped: droppedCount,
  msg: 'the log was not read',
});

const countLines = (text: string): number => text.split('\n').length - 1;

/** Returns a formatter of lines for people; the package is loaded only if it is needed. */
function prettyFormatter(colorize: boolean): (line: string) => string {
  const { prettyFactory } = createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty');
  return prettyFactory({ ignore: 'pid', colorize, singleLine: true });
}
