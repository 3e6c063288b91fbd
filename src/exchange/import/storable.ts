import { ApiError } from '../../errors.ts';

/** Writes items of an import in one transaction. `from`: number of items before them. */
type WriteMany<Thing> = (things: readonly Thing[], from: number) => Promise<void>;
type LeaveOut<Thing> = (thing: Thing, from: number) => Promise<void>;

/**
 * Writes items together. If the tables cannot hold one of their texts (emoji in tables of an old WordPress), each half
 * is written separately, until only the one item is left out.
 *
 * @throws whatever `write` and `leaveOut` throw for another reason
 */
export async function writeStorableItems<Thing>(
  things: readonly Thing[],
  write: WriteMany<Thing>,
  leaveOut: LeaveOut<Thing>,
  from = 0,
): Promise<void> {
  try {
    await write(things, from);
  } catch (error) {
    if (!(error instanceof ApiError && error.problem === 'text-not-storable')) throw error;
    const half = Math.ceil(things.length / 2);
    if (half === things.length) {
      for (const thing of things) await leaveOut(thing, from);
      return;
    }
    await writeStorableItems(things.slice(0, half), write, leaveOut, from);
    await writeStorableItems(things.slice(half), write, leaveOut, from + half);
  }
}
