import { LAST_SAVE_OPTION } from '../../calendar/settings.ts';
import { ZERO_DATE } from '../../wordpress/time.ts';
import type { Database } from '../engine/database.ts';
import { insertRows } from '../engine/insert.ts';
import { verbatim } from '../engine/statement.ts';

/** Reads the change counter. */
export const changeCount = async (db: Database): Promise<number> =>
  Number((await db.from('fasti_changes').where('id', 1).first())?.counter ?? 0);

/** Reads the time of the last change, UTC. */
export async function changedAt(db: Database): Promise<string> {
  const [row] = await db.rows<{ changed_at: string }>`SELECT changed_at FROM {fasti_changes} WHERE id = 1`;
  return row?.changed_at ?? ZERO_DATE;
}

/** Whether the row with the change counter exists. */
export const countsChanges = async (db: Database): Promise<boolean> =>
  (await db.from('fasti_changes').where('id', 1).first()) !== undefined;

/**
 * Reads the highest number in use, of the change counter or in the journal: the counter may have been replaced by an
 * earlier one, as a dump of single tables does.
 */
export async function highestNumber(db: Database): Promise<number> {
  const [row] = await db.rows<{ number: number | string | null }>`SELECT MAX(number) AS number FROM {fasti_journal}`;
  return Math.max(await changeCount(db), Number(row?.number ?? 0));
}

/** Locks the time of the last save (`tribe_last_save_post`) until the end of the transaction. */
export async function lockLastSave(db: Database): Promise<void> {
  await db.rows`SELECT option_id FROM {options} WHERE option_name = ${LAST_SAVE_OPTION} ${verbatim(db.dialect.locks.update)}`;
}

/**
 * Updates the change counter after all rows were replaced: it continues from the higher of its value `before` and the
 * value that came with the rows, so that no process takes outdated cached data for current. Must be called in the same
 * transaction.
 */
export async function continueCounting(db: Database, before: number, now: string): Promise<void> {
  const counter = Math.max(before, await changeCount(db)) + 1;
  await db.from('fasti_changes').delete();
  await insertRows(db, 'fasti_changes', [{ id: 1, counter, changed_at: now }]);
}
