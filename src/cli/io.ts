import type { LanguageProblem } from '../records/site-languages.ts';
import type { Answers } from './progress.ts';

/** Input and output of the command, which tests replace. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Variables whose value was read from a file -> that file. */
  readonly files?: ReadonlyMap<string, string>;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Whether the output is a terminal, which enables progress and table frames. */
  readonly isTerminal: boolean;
  /** Whether standard error is a terminal; absent: as the output. */
  readonly isErrorTerminal?: boolean;
  /**
   * Serves until a signal ends the process, with these additional environment variables. Resolves when the server is
   * up.
   */
  readonly serve: (env: Readonly<Record<string, string>>) => Promise<void>;
  /**
   * Called before the first change. From then on, the command is completed even if its output can no longer be written.
   */
  readonly onFirstChange?: () => void;
  /** Current time. */
  readonly clock?: () => Date;
  /** A folder for temporary files; the default is a folder of this user in the system's temporary folder. */
  readonly temporary?: string;
  /**
   * Prints the returned message and ends the process if the command is interrupted (Ctrl-C), until the returned
   * function is called. Without it, an interrupted command just ends.
   */
  readonly onInterrupt?: (message: () => string) => () => void;
  /** Sets the message for output that cannot be written, such as to a file on a full disk. */
  readonly onUnwritable?: (message: (code: string) => string) => void;
  /** Waits for this many milliseconds; false if nobody reads the output any more, so that the command should end. */
  readonly wait?: (milliseconds: number) => Promise<boolean>;
  /** Standard input. Called at most once. */
  readonly input?: () => NodeJS.ReadableStream;
  /** Standard output, for a command that handles its errors itself. */
  readonly output?: () => NodeJS.WritableStream;
  /** Time zone of the machine, such as `Europe/Rome`. */
  readonly zone?: string;
  /** Asks for a text with a default; absent if there is nobody to ask. */
  readonly ask?: (question: string, suggestion: string) => Promise<string>;
  /** Asks for a yes or no, with the words for these answers; absent if there is nobody to ask. */
  readonly confirm?: (question: string, answers: Answers) => Promise<boolean>;
}

/** Exit codes, as in `sysexits.h` and the shell. */
export const EXIT_CODE = { done: 0, refused: 1, usage: 2, incomplete: 3, unavailable: 69 } as const;

export type CliProblem =
  | 'not-installed'
  | 'no-network-site'
  | 'no-database'
  | 'already-installed'
  | 'no-administrator'
  | 'not-found'
  | 'several-found'
  | 'unknown-field'
  | 'option-unknown'
  | 'option-invalid'
  | 'not-a-number'
  | 'not-an-id'
  | 'already-seeded'
  | 'unfit-for-index'
  | 'index-given-up'
  | 'json-invalid'
  | 'incomplete'
  | 'wrong-choice'
  | 'filter-unknown'
  | 'nothing-named'
  | 'one-by-one'
  | 'sites-differ'
  | 'no-credentials'
  | 'no-day'
  | 'days-turned'
  | 'no-map'
  | 'not-healthy'
  | 'not-repaired'
  | 'nobody-to-ask'
  | 'user-not-used'
  | 'file-exists'
  | 'format-unknown'
  | 'source-format-unknown'
  | 'nothing-to-follow'
  | 'format-events-only'
  | 'database-in-use'
  | 'network-in-use'
  | 'file-unreadable'
  | 'shell-unknown'
  | LanguageProblem
  | 'link-to-itself'
  | 'link-of-two-kinds'
  | 'link-refused'
  | 'no-custom-fields'
  | 'custom-field-form';

/**
 * An error that stops a command, in addition to those of the functions it calls. `problem` is the key of a sentence in
 * `cli:problems`.
 */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly problem: CliProblem;
  readonly values: Readonly<Record<string, string | number>>;
  readonly exit: number;

  constructor(problem: CliProblem, values: Readonly<Record<string, string | number>> = {}, exit: number = EXIT_CODE.refused) {
    super(problem);
    this.problem = problem;
    this.values = values;
    this.exit = exit;
  }
}
