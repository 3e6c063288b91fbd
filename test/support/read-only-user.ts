import type { Database } from '../../src/storage/engine/database.ts';
import { urlOf } from './databases.ts';

/** Calls `work` with the address of a MySQL database for a user who may only read it, and who is removed afterwards. */
export async function asReader(db: Database, work: (url: string) => Promise<void>): Promise<void> {
  const url = new URL(urlOf(db));
  const name = `reader_${process.pid}`;
  await db.knex.raw(`CREATE USER '${name}'@'%' IDENTIFIED BY 'secret'`);
  try {
    await db.knex.raw(`GRANT SELECT ON \`${url.pathname.slice(1)}\`.* TO '${name}'@'%'`);
    [url.username, url.password] = [name, 'secret'];
    await work(url.href);
  } finally {
    await db.knex.raw(`DROP USER '${name}'@'%'`);
  }
}
