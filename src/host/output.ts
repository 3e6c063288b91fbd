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
 * Returns standard output as destination for the log. A slow reader or a full disk loses lines, and the log says how
 * many; a closed pipe is ignored. None of this blocks the process or keeps it from ending.
 */
export function standardOutput(format: OutputFormat): BufferedOutput {
  openedOutput ??= openStandardOutput(format);
  return openedOutput;
}

function openStandardOutput(format: OutputFormat): BufferedOutput {
  const isFile = fstatSync(STDOUT).isFile();
  const isTerminal = !isFile && process.stdout.isTTY;
  const formatLine = format === 'pretty' || (format === 'auto' && isTerminal) ? prettyFormatter(isTerminal) : unchanged;
  const output = bufferOutput(isFile ? fileOutput(STDOUT, formatLine) : streamOutput(process.stdout, formatLine), formatLine);
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

/**
 * Returns an output to a file. Lines for which the disk has no space are lost. `formatLine`: formats the output's own
 * lines.
 */
export function fileOutput(descriptor: number, formatLine: (line: string) => string = unchanged): Output {
  let [droppedCount, isCut] = [0, false];
  /** Writes as much as there is space for. Returns the number of lines that are not complete. */
  const writeLines = (lines: string): number => {
    const bytes = Buffer.from(lines);
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(descriptor, bytes, written);
    } catch {
      // There may be space again for the next lines.
    }
    if (written > 0) isCut = bytes[written - 1] !== LINE_FEED;
    return countLines(bytes.toString('utf8', written));
  };
  const reportDropped = (): void => {
    const line = formatLine(droppedLine(droppedCount, 'the log could not be written'));
    if (writeLines((isCut ? '\n' : '') + line) === 0) droppedCount = 0;
  };
  return {
    write: (lines) => {
      if (droppedCount > 0) reportDropped();
      droppedCount += droppedCount > 0 ? countLines(lines) : writeLines(lines);
    },
    waitUntilWritten: async () => undefined,
  };
}

const LINE_FEED = 10;

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
      if (droppedCount > 0) stream.write(formatLine(droppedLine(droppedCount, 'the log was not read')));
      droppedCount = 0;
      stream.write(lines);
    },
    waitUntilWritten: async (patience) => {
      const deadline = performance.now() + patience;
      while (!hasFailed && stream.writableLength > 0 && performance.now() < deadline) await sleep(POLL_INTERVAL_MS);
    },
  };
}

/** Returns the line about dropped lines, as JSON. */
function droppedLine(dropped: number, msg: string): string {
  const entry = { level: 'warn', time: new Date().toISOString(), pid: process.pid, dropped, msg };
  return `${JSON.stringify(entry)}\n`;
}

const countLines = (text: string): number => text.split('\n').length - 1;

/** Returns a formatter of lines for people; the package is loaded only if it is needed. */
function prettyFormatter(colorize: boolean): (line: string) => string {
  const { prettyFactory } = createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty');
  return prettyFactory({ ignore: 'pid', colorize, singleLine: true });
}
