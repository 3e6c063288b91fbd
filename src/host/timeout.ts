/** Thrown if an operation does not finish in time. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

/**
 * Returns the result of `work`, unless it takes longer than this many milliseconds. Throws NoAnswer then; the work
 * itself is not cancelled.
 */
export async function withTimeout<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NoAnswer(`no answer within ${milliseconds} ms`)), milliseconds);
  });
  try {
    return await Promise.race([work, patience]);
  } finally {
    clearTimeout(timer);
  }
}
