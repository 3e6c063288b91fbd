/** Runs the work of a key one at a time. Who asks while it runs waits for the next run, the same for all of them. */
export type SharedRuns<T> = (key: string, work: () => Promise<T>) => Promise<T>;

/**
 * Shares what several ask for at once, where a result must not be older than the question: each gets one of a run that
 * began after it asked.
 */
export function createSharedRuns<T>(): SharedRuns<T> {
  const runs = new Map<string, { readonly running: Promise<T>; next?: Promise<T> }>();
  const start = (key: string, work: () => Promise<T>): Promise<T> => {
    const run = {
      running: work().finally(() => {
        if (runs.get(key) === run) runs.delete(key);
      }),
    };
    runs.set(key, run);
    return run.running;
  };
  return (key, work) => {
    const run = runs.get(key);
    if (!run) return start(key, work);
    const begin = () => start(key, work);
    run.next ??= run.running.then(begin, begin);
    return run.next;
  };
}
