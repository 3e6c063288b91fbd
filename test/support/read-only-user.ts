import type { Database } from '../../src/storage/engine/database.ts';
import { urlOf } from './databases.ts';

/** Calls `work` with the address of a MySQL database for a user who may only read it, and who is removed afterwards. */
export const asReader = (db: Database, work: (url: string) => Promise<void>): Promise<void> => asUserWith(db, ['SELECT'], work);

/** Does the same for a user who may read and write the tables, but not create any. */
export const asWriter = (db: Database, work: (url: string) => Promise<void>): Promise<void> =>
  asUserWith(db, ['SELECT', 'INSERT', 'UPDATE', 'DELETE'], work);

async function asUserWith(db: Database, rights: readonly string[], work: (url: string) => Promise<void>): Promise<void> {
  const url = new URL(urlOf(db));
  const name = `limited_${process.pid}`;
  await db.knex.raw(`CREATE USER '${name}'@'%' IDENTIFIED BY 'secret'`);
  try {
    await db.knex.raw(`GRANT ${rights.join(', ')} ON \`${url.pathname.slice(1)}\`.* TO '${name}'@'%'`);
    [url.username, url.password] = [name, 'secret'];
    await work(url.href);
  } finally {
    await db.knex.raw(`DROP USER '${name}'@'%'`);
  }
}
