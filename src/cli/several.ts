/** What stopped a command that does the same with several records. `cause`: the error itself. */
export class OneOfSeveral extends Error {
  override readonly name = 'OneOfSeveral';
  /** The one that failed, as the command line names it. */
  readonly reference: string;
  /** Those behind it, with which nothing was done. */
  readonly left: readonly string[];

  constructor(reference: string, left: readonly string[], cause: unknown) {
    super(`failed with ${reference}`, { cause });
    this.reference = reference;
    this.left = left;
  }
}

/**
 * Does something with each record that the command line names, in their order. The first that fails ends it.
 *
 * @throws OneOfSeveral where there are several
 */
export async function withEach(references: readonly string[], work: (reference: string) => Promise<void>): Promise<void> {
  for (const [place, reference] of references.entries()) {
    try {
      await work(reference);
    } catch (error) {
      throw references.length === 1 ? error : new OneOfSeveral(reference, references.slice(place + 1), error);
    }
  }
}
