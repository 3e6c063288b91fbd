import { executeQuery } from 'knex/lib/execution/internal/query-executioner.js';
import Runner, { type Client, type Compiled } from 'knex/lib/execution/runner.js';

/**
 * Runs single statements straight on. knex's own way to an answer goes through events, contexts and time limits that nothing here uses, and costs as much
 * as a small query; what is more than one statement still takes it.
 */
export class StraightRunner extends Runner {
  override async run(): Promise<unknown> {
    const query = this.builder.toSQL();
    return Array.isArray(query) ? super.run() : runStraight(this.client, query, this);
  }
}

/** Runs one statement with a client of knex and gives what knex would give for its method. */
export async function runStraight(client: Client, query: Compiled, runner?: Runner): Promise<unknown> {
  const done = client.readNow?.(query);
  if (done !== undefined) return client.processResponse(done, runner);
  const connection = await client.acquireConnection();
  try {
    return client.processResponse(await client.query(connection, query), runner);
  } finally {
    await client.releaseConnection(connection);
  }
}

/** Sends a statement on a connection, and tells those who listen for `query`. In the place of knex's own, which copies and formats it for its debugger. */
export function send(client: Client, connection: object, query: Compiled | string): Promise<unknown> {
  const compiled = typeof query === 'string' ? { method: 'raw', sql: query, bindings: [] } : query;
  client.emit('query', compiled);
  return executeQuery(connection, compiled, client);
}
