import { nowUtc } from '../wordpress/time.ts';
import type { Database } from './database.ts';
import { writeOption } from './options.ts';

/**
 * Says in the transaction that writes that something changed: our counter, which every process asks before it answers from memory, and the
 * option by which WordPress and the calendar drop what they keep (`tribe_last_save_post`, Unix time as a text with fraction).
 */
export async function noteChange(db: Database, now: Date): Promise<void> {
  await db
    .knex(db.table('fasti_changes'))
    .where('id', 1)
    .update({ counter: db.knex.raw('counter + 1'), changed_at: nowUtc(now) });
  await writeOption(db, 'tribe_last_save_post', String(now.getTime() / 1000), 'auto');
}
