#!/usr/bin/env node
import { constants } from 'node:os';
import { runCli } from './cli/program.ts';

// The library that computes with dates is right in this zone only.
process.env.TZ = 'UTC';
// Whoever reads may have had enough (`fasti event list | head`).
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

process.exitCode = await runCli(process.argv.slice(2), {
  env: process.env,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  terminal: process.stdout.isTTY === true,
  onInterrupt: (tell) => {
    const stop = (signal: 'SIGINT' | 'SIGTERM') => {
      process.stderr.write(tell());
      process.exit(128 + constants.signals[signal]);
    };
    process.on('SIGINT', stop).on('SIGTERM', stop);
    return () => process.off('SIGINT', stop).off('SIGTERM', stop);
  },
  serve: async (env) => {
    Object.assign(process.env, env);
    await import('./main.ts');
  },
});
