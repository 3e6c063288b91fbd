/** Something did not answer in the time it was given. */
export class Silence extends Error {
  override readonly name = 'Silence';
}

/**
 * What `work` gives, unless it takes longer than so many milliseconds. Throws Silence then; the work itself is not
 * stopped by that.
 */
export async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Silence(`no answer within ${milliseconds} ms`)), milliseconds);
  });
  try {
    return await Promise.race([work, patience]);
  } finally {
    clearTimeout(timer);
  }
}
