/** Thrown if an operation does not finish in time. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

/**
 * Returns the result of `work`, unless it takes longer than this many milliseconds. Throws TimeoutError then; the work
 * itself is not cancelled. If the process was busy until then, data that has arrived meanwhile is read first.
 */
export async function withTimeout<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    const fail = (): void => reject(new TimeoutError(`no answer within ${milliseconds} ms`));
    timer = setTimeout(() => setImmediate(fail), milliseconds);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits for some work, which may go on after this many milliseconds. */
export const waitAtMost = (milliseconds: number, work: Promise<void>): Promise<void> =>
  withTimeout(milliseconds, work).catch((error: unknown) => {
    if (!(error instanceof TimeoutError)) throw error;
  });
