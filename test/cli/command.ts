import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll } from '@jest/globals';
import type { Io } from '../../src/cli/io.ts';
import { runCli } from '../../src/cli/program.ts';

/** The output and the exit code of a command. */
export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** Environment variables passed to the server, once for each start. */
  readonly served: readonly Readonly<Record<string, string>>[];
}

/**
 * Runs the command `fasti` with a separate database and uploads folder. The arguments are already split as by a shell.
 */
export type Fasti = (...args: readonly string[]) => Promise<Outcome>;

/** Creates a temporary folder for one suite and removes it afterwards. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'fasti-cli-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

interface Surroundings {
  readonly now?: Date;
  readonly terminal?: boolean;
  readonly input?: NodeJS.ReadableStream;
  readonly ask?: Io['ask'];
}

/**
 * Returns the command in an environment. `terminal`: whether it runs on a terminal; `input`: what is piped into it;
 * `ask`: gives the answers to its questions.
 */
export function commandIn(
  env: Readonly<Record<string, string>>,
  { now, terminal = false, input = Readable.from([]), ask }: Surroundings = {},
): Fasti {
  return async (...args) => {
    const [out, err, served]: [string[], string[], Readonly<Record<string, string>>[]] = [[], [], []];
    const code = await runCli(args, {
      env,
      isTerminal: terminal,
      out: (text) => out.push(text),
      err: (text) => err.push(text),
      serve: async (more) => {
        served.push(more);
      },
      ...(now ? { clock: () => now } : {}),
      ...(ask ? { ask } : {}),
      input: () => input,
    });
    return { code, out: out.join(''), err: err.join(''), served };
  };
}

/** Returns the environment of an embedded database in this folder. */
export const embedded = (folder: string): Record<string, string> => ({
  DATABASE_URL: `sqlite:${join(folder, 'site.sqlite')}`,
  UPLOADS_DIR: join(folder, 'uploads'),
  PORT: '0',
});
