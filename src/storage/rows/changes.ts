import { ZERO_DATE } from '../../wordpress/time.ts';
import type { Database } from '../engine/database.ts';
import { insertRows } from '../engine/insert.ts';

/** How often something was changed. */
export const changeCount = async (db: Database): Promise<number> =>
  Number((await db.from('fasti_changes').where('id', 1).first())?.counter ?? 0);

/** When anything was changed last, UTC. */
export async function changedAt(db: Database): Promise<string> {
  const [row] = await db.rows<{ changed_at: string }>`SELECT changed_at FROM {fasti_changes} WHERE id = 1`;
  return row?.changed_at ?? ZERO_DATE;
}

/** Whether the row that counts changes is there. */
export const countsChanges = async (db: Database): Promise<boolean> =>
  (await db.from('fasti_changes').where('id', 1).first()) !== undefined;

/**
 * After all rows were replaced: the count goes on from the higher of what it was `before` and what came with the rows,
 * so that nobody takes an outdated memory for the present state. Call it in that transaction.
 */
export async function countOn(db: Database, before: number, now: string): Promise<void> {
  const counter = Math.max(before, await changeCount(db)) + 1;
  await db.from('fasti_changes').delete();
  await insertRows(db, 'fasti_changes', [{ id: 1, counter, changed_at: now }]);
}
