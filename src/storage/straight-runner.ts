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

/** A statement as it is to be run, told to those who listen for `query`. In the place of knex's own, which copies and formats it for its debugger. */
export function announced(client: Pick<Client, 'emit'>, query: Compiled | string): Compiled {
  const compiled = typeof query === 'string' ? { method: 'raw', sql: query, bindings: [] } : query;
  client.emit('query', compiled);
  return compiled;
}

/** An error that says which statement it is about, as knex has it. */
export function named({ sql }: Compiled, error: unknown): unknown {
  if (error instanceof Error) error.message = `${sql} - ${error.message}`;
  return error;
}
