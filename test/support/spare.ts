/**
 * For tests that run beside each other (`it.concurrent`): gives each of them a thing of its own, such as a database,
 * that one before it has done with, or a new one.
 */
export function spareOrNew<Thing>(make: () => Promise<Thing>): <Result>(work: (thing: Thing) => Promise<Result>) => Promise<Result> {
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
