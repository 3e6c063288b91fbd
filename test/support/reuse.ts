/**
 * For tests that run concurrently (`it.concurrent`): gives each of them its own thing, such as a database. An earlier
 * test may have used it before; otherwise it is created.
 */
export function reuseOrCreate<Thing>(make: () => Promise<Thing>): <Result>(work: (thing: Thing) => Promise<Result>) => Promise<Result> {
  const spare: Thing[] = [];
  return async (work) => {
    const thing = spare.pop() ?? (await make());
    try {
      return await work(thing);
    } finally {
      spare.push(thing);
    }
  };
}
