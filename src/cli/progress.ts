import { confirm, isCancel, progress, text } from '@clack/prompts';

/** Runs a task of `total` steps, which calls `advance` with the number of further completed steps. */
export type Progress = <T>(message: string, total: number, work: (advance: (steps: number) => void) => Promise<T>) => Promise<T>;

/** Shows a progress bar on the terminal. */
export const showProgress: Progress = async (message, total, work) => {
  const bar = progress({ max: Math.max(1, total) });
  bar.start(message);
  try {
    const result = await work((steps) => bar.advance(steps));
    bar.stop(message);
    return result;
  } catch (error) {
    bar.error(message);
    throw error;
  }
};

/** Shows nothing, for files and pipes. */
export const noProgress: Progress = (_message, _total, work) => work(() => undefined);

/** The words for the two answers to a question. */
export interface Answers {
  readonly yes: string;
  readonly no: string;
}

/** Streams for questions: those of the terminal except in tests. */
type Streams = Pick<Parameters<typeof confirm>[0], 'input' | 'output'>;

/**
 * Asks for a yes or no at the terminal. Ends the process if the question is cancelled, so that no further ones are
 * asked.
 */
export async function askYesNo(question: string, { yes, no }: Answers, streams: Streams = {}): Promise<boolean> {
  const answer = await confirm({ message: question, initialValue: false, active: yes, inactive: no, ...streams });
  return isCancel(answer) ? process.exit(130) : answer;
}

/**
 * Asks for a text at the terminal; an empty answer means the suggestion. Ends the process if the question is cancelled.
 */
export async function askText(question: string, suggestion: string): Promise<string> {
  const answer = await text({ message: question, placeholder: suggestion, defaultValue: suggestion });
  return isCancel(answer) ? process.exit(130) : answer;
}
