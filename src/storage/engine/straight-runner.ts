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

/**
 * Runs one statement with a client of knex and gives what knex would give for its method. A read that got no answer is
 * repeated if the client knows another place to ask. A write is never repeated: it may have been done.
 */
export async function runStraight(client: Client, query: Compiled, runner?: Runner): Promise<unknown> {
  const done = client.readNow?.(query);
  if (done !== undefined) return client.processResponse(done, runner);
  for (let [asked, tries]: [Client, number] = [client, 1]; ; tries += 1) {
    try {
      return asked.processResponse(await answerOf(asked, query), runner);
    } catch (error) {
      const next = isRead(query) && tries < MOST_TRIES ? asked.elsewhere?.(error) : undefined;
      if (!next) throw error;
      asked = next;
    }
  }
}

/** Enough for two servers that fail one after the other. */
const MOST_TRIES = 3;

async function answerOf(client: Client, query: Compiled): Promise<unknown> {
  const connection = await client.acquireConnection();
  try {
    return await client.query(connection, query);
  } finally {
    await client.releaseConnection(connection);
  }
}

/** Whether a statement changes nothing, by knex's name for its method. */
export const isRead = ({ method, sql }: Compiled): boolean => READING.has(method) || (method === 'raw' && /^\s*(SELECT|SHOW)\b/i.test(sql));

const READING = new Set(['select', 'first', 'pluck']);

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
