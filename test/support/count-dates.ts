/**
 * Returns how many `Date` objects are created during some work of this process: the expansion of a rule creates at
 * least one for each day that it examines.
 */
export async function countDates(work: () => unknown): Promise<number> {
  const RealDate = globalThis.Date;
  let count = 0;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, values, newTarget) => {
      count += 1;
      return Reflect.construct(target, values, newTarget);
    },
  });
  try {
    await work();
  } finally {
    globalThis.Date = RealDate;
  }
  return count;
}
