import type { LanguageProblem } from '../records/site-languages.ts';

/** Where the command reads and writes; tests put texts here. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** By the name of a variable: the file that its value was read from, unless it is the environment's own. */
  readonly files?: ReadonlyMap<string, string>;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Whether a person watches: only then there is progress, and tables have frames. */
  readonly terminal: boolean;
  /**
   * Serves until a signal ends it, with these variables of the environment besides. Comes back as soon as the server is
   * up.
   */
  readonly serve: (env: Readonly<Record<string, string>>) => Promise<void>;
  /**
   * Called before something is changed: from then on the command is carried out whole, though nobody reads what it
   * prints.
   */
  readonly changes?: () => void;
  /** The present moment. */
  readonly clock?: () => Date;
  /** A folder for temporary files; the default is a folder of this user in the system's temporary folder. */
  readonly temporary?: string;
  /**
   * Prints what `message` gives and ends the process if the command is interrupted (Ctrl-C), until the returned
   * function is called. Without it, an interrupted command just ends.
   */
  readonly onInterrupt?: (message: () => string) => () => void;
  /** Says what `message` gives where what is printed cannot be written, such as into a file on a full disk. */
  readonly onUnwritable?: (message: (code: string) => string) => void;
  /** Waits for this many milliseconds; false: nobody reads any more, so it is time to end. */
  readonly wait?: (milliseconds: number) => Promise<boolean>;
  /** The time zone of the machine, such as `Europe/Rome`. */
  readonly zone?: string;
  /** Asks for a text, with one that can be taken as it is; absent where nobody can be asked. */
  readonly ask?: (question: string, suggestion: string) => Promise<string>;
  /** Asks for a yes or no; without it, the person at the terminal is asked. */
  readonly confirm?: (question: string) => Promise<boolean>;
}

/** What the command ends with, as `sysexits.h` and the shell have it. */
export const EXIT = { done: 0, refused: 1, usage: 2, incomplete: 3, unavailable: 69 } as const;

export type CliProblem =
  | 'not-installed'
  | 'no-database'
  | 'already-installed'
  | 'no-administrator'
  | 'not-found'
  | 'unknown-field'
  | 'option-unknown'
  | 'option-invalid'
  | 'not-a-number'
  | 'not-an-id'
  | 'already-seeded'
  | 'unfit-for-index'
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
  | 'file-exists'
  | 'format-unknown'
  | 'format-events-only'
  | 'database-in-use'
  | 'file-unreadable'
  | 'shell-unknown'
  | LanguageProblem
  | 'link-to-itself'
  | 'link-of-two-kinds'
  | 'link-refused'
  | 'no-custom-fields'
  | 'custom-field-form';

/** What stops a command, besides the errors of what it calls. `problem` names a sentence in `cli:problems`. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly problem: CliProblem;
  readonly values: Readonly<Record<string, string | number>>;
  readonly exit: number;

  constructor(problem: CliProblem, values: Readonly<Record<string, string | number>> = {}, exit: number = EXIT.refused) {
    super(problem);
    this.problem = problem;
    this.values = values;
    this.exit = exit;
  }
}
