import Runner from 'knex/lib/execution/runner.js';

/**
 * Runs single statements straight on. knex's own way to an answer goes through events, contexts and time limits that nothing here uses, and costs as much
 * as a small query; what is more than one statement still takes it.
 */
export class StraightRunner extends Runner {
  override async run(): Promise<unknown> {
    const query = this.builder.toSQL();
    if (Array.isArray(query)) return super.run();
    const { client } = this;
    const free = client.connectionFor?.(query);
    if (free !== undefined) return client.processResponse(await client.query(free, query), this);
    const connection = await client.acquireConnection();
    try {
      return client.processResponse(await client.query(connection, query), this);
    } finally {
      await client.releaseConnection(connection);
    }
  }
}
