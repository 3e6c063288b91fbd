/** Runs the work of a key one at a time. All callers that arrive during a run share the next run. */
export type SharedRuns<T> = (key: string, work: () => Promise<T>) => Promise<T>;

/**
 * Creates a way to share work between concurrent callers if a result must not be older than the call: each caller gets
 * the result of a run that began after its call.
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
