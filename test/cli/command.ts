import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from '@jest/globals';
import { runCli } from '../../src/cli/program.ts';

/** What a command said and ended with. */
export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** With which variables the server was started, each time. */
  readonly served: readonly Readonly<Record<string, string>>[];
}

/** Runs the command `fasti` with a database and uploads of its own; the arguments as the shell would split them. */
export type Fasti = (...args: readonly string[]) => Promise<Outcome>;

/** A folder of its own for one suite, removed after it. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'fasti-cli-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The command in an environment. `terminal`: as if somebody watched. */
export function commandIn(
  env: Readonly<Record<string, string>>,
  { now, terminal = false }: { now?: Date; terminal?: boolean } = {},
): Fasti {
  return async (...args) => {
    const [out, err, served]: [string[], string[], Readonly<Record<string, string>>[]] = [[], [], []];
    const code = await runCli(args, {
      env,
      terminal,
      out: (text) => out.push(text),
      err: (text) => err.push(text),
      serve: async (more) => {
        served.push(more);
      },
      ...(now ? { clock: () => now } : {}),
    });
    return { code, out: out.join(''), err: err.join(''), served };
  };
}

/** The environment of an embedded database in this folder. */
export const embedded = (folder: string): Record<string, string> => ({
  DATABASE_URL: `sqlite:${join(folder, 'site.sqlite')}`,
  UPLOADS_DIR: join(folder, 'uploads'),
  PORT: '0',
});
