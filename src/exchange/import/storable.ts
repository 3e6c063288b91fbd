import { ApiError } from '../../errors.ts';

/** Writes things of an import as one transaction. `from`: how many of all came before them. */
type WriteMany<Thing> = (things: readonly Thing[], from: number) => Promise<void>;
type LeaveOut<Thing> = (thing: Thing, from: number) => Promise<void>;

/**
 * Writes things together. Where the tables cannot hold a text in them (emoji, on those of an old WordPress), each half
 * is written by itself, down to the one thing that is left out.
 *
 * @throws whatever `write` and `leaveOut` throw for another reason
 */
export async function writeStorable<Thing>(
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
    await writeStorable(things.slice(0, half), write, leaveOut, from);
    await writeStorable(things.slice(half), write, leaveOut, from + half);
  }
}
