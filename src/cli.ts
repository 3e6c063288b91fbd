#!/usr/bin/env node
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCli, startErrorLine } from './cli/program.ts';
import { askText, askYesNo } from './cli/progress.ts';
import { settingVariables } from './config/settings.ts';
import { EnvironmentError, readEnvironment } from './host/environment.ts';

const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
// The date library works correctly only in this time zone.
process.env.TZ = 'UTC';
// New files are only for the user who runs the command, unless the command sets other permissions.
process.umask(0o077);

let serves = false;
let changes = false;
let isUnread = false;
let isStreamed = false;
let unwritable = (code: string): string => `${code}\n`;
// The reader may close the pipe early (`fasti event list | head`). A server continues in that case, and a command that
// changes data is completed.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  isUnread = true;
  if (serves || isStreamed) return;
  if (code !== undefined && code !== 'EPIPE' && process.exitCode !== 1) {
    process.exitCode = 1;
    process.stderr.write(unwritable(code));
  }
  if (!changes) process.exit();
});
process.stderr.on('error', () => undefined);

const environment = await readVariables();
const result = await runCli(process.argv.slice(2), {
  env: environment.variables,
  files: environment.files,
  out: (text) => {
    if (!isUnread) process.stdout.write(text);
  },
  err: (text) => process.stderr.write(text),
  // Some programs claim to be a terminal of width 0, in which a progress bar would become a column of characters.
  isTerminal: process.stdout.isTTY === true && process.stdout.columns > 0,
  isErrorTerminal: process.stderr.isTTY === true && process.stderr.columns > 0,
  zone: timeZone,
  // A question that is read from a pipe would take the lines that follow for answers, or wait for ever.
  ...(process.stdout.isTTY && process.stdin.isTTY ? { ask: askText, confirm: askYesNo } : {}),
  onInterrupt: (message) => {
    const stop = (signal: 'SIGINT' | 'SIGTERM') => {
      process.stderr.write(message());
      process.exit(128 + constants.signals[signal]);
    };
    process.on('SIGINT', stop).on('SIGTERM', stop);
    return () => process.off('SIGINT', stop).off('SIGTERM', stop);
  },
  onUnwritable: (message) => {
    unwritable = message;
  },
  onFirstChange: () => {
    changes = true;
  },
  wait: async (milliseconds) => {
    if (!isUnread) await sleep(milliseconds);
    return !isUnread;
  },
  output: () => {
    isStreamed = true;
    return process.stdout;
  },
  serve: async (env) => {
    serves = true;
    Object.assign(process.env, env);
    await import('./main.ts');
  },
});
process.exitCode = result || process.exitCode;

async function readVariables() {
  try {
    return readEnvironment(process.env, process.env.FASTI_FOLDER || process.cwd(), settingVariables);
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    process.stderr.write(await startErrorLine(error, process.argv.slice(2), process));
    return process.exit(2);
  }
}
