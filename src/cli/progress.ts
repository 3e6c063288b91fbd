import { confirm, isCancel, progress, text } from '@clack/prompts';

/** Runs a work of `total` steps, which calls `done` with the number of further steps that are done. */
export type Progress = <T>(message: string, total: number, work: (done: (steps: number) => void) => Promise<T>) => Promise<T>;

/** A bar on the terminal. */
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

/** Nothing is shown, for files and pipes. */
export const quiet: Progress = (_message, _total, work) => work(() => undefined);

/** Where questions are asked: the terminal, unless tests say otherwise. */
type Streams = Pick<Parameters<typeof confirm>[0], 'input' | 'output'>;

/** Asks whoever watches for a yes or no. Ends the process where the question is cancelled: no other is asked then. */
export async function askYesNo(question: string, streams: Streams = {}): Promise<boolean> {
  const answer = await confirm({ message: question, initialValue: false, ...streams });
  return isCancel(answer) ? process.exit(130) : answer;
}

/**
 * Asks whoever watches for a text; what is suggested is taken if nothing is typed. Ends the process where the question
 * is cancelled.
 */
export async function askText(question: string, suggestion: string): Promise<string> {
  const answer = await text({ message: question, placeholder: suggestion, defaultValue: suggestion });
  return isCancel(answer) ? process.exit(130) : answer;
}
