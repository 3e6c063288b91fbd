import { ApiError } from '../../errors.ts';

/** Writes items of an import in one transaction. `from`: number of items before them. */
type WriteMany<Item> = (items: readonly Item[], from: number) => Promise<void>;
type LeaveOut<Item> = (item: Item, from: number) => Promise<void>;

/**
 * Writes items together. If the tables cannot hold one of their texts (emoji in tables of an old WordPress), each half
 * is written separately, until only the one item is left out.
 *
 * @throws whatever `write` and `leaveOut` throw for another reason
 */
export async function writeStorableItems<Item>(
  items: readonly Item[],
  write: WriteMany<Item>,
  leaveOut: LeaveOut<Item>,
  from = 0,
): Promise<void> {
  try {
    await write(items, from);
  } catch (error) {
    if (!(error instanceof ApiError && error.problem === 'text-not-storable')) throw error;
    const half = Math.ceil(items.length / 2);
    if (half === items.length) {
      for (const item of items) await leaveOut(item, from);
      return;
    }
    await writeStorableItems(items.slice(0, half), write, leaveOut, from);
    await writeStorableItems(items.slice(half), write, leaveOut, from + half);
  }
}
