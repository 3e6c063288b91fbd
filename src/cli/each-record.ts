/** An error in a command that processes several records. `cause` is the original error. */
export class OneOfSeveral extends Error {
  override readonly name = 'OneOfSeveral';
  /** The record that failed, as given on the command line. */
  readonly reference: string;
  /** The records after it, which were not processed. */
  readonly unprocessed: readonly string[];

  constructor(reference: string, remaining: readonly string[], cause: unknown) {
    super(`failed with ${reference}`, { cause });
    this.reference = reference;
    this.unprocessed = remaining;
  }
}

/**
 * Processes each record given on the command line, in order. Stops at the first error.
 *
 * @throws OneOfSeveral if there are several records
 */
export async function withEach(references: readonly string[], work: (reference: string) => Promise<void>): Promise<void> {
  for (const [index, reference] of references.entries()) {
    try {
      await work(reference);
    } catch (error) {
      throw references.length === 1 ? error : new OneOfSeveral(reference, references.slice(index + 1), error);
    }
  }
}
