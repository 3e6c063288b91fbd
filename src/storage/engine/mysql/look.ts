import { TimeoutError, withTimeout } from '../../../host/timeout.ts';
import { codeOf, isObject } from '../../../objects.ts';
import type { MysqlServer } from './address.ts';
import { ask, type Connection, type Connections } from './connections.ts';
import type { Look } from './server-choice.ts';

/** Classification of the driver's errors by what they say about a server. */
export interface ErrorChecks {
  /** The server can't be reached, or the connection broke. */
  readonly isConnectionFailure: (error: unknown) => boolean;
  /** The server must not be used: it is shutting down, or its part of the cluster has lost the majority. */
  readonly isServerUnusable: (error: unknown) => boolean;
  /** The server accepts no writes. */
  readonly isReadOnly: (error: unknown) => boolean;
  /** The server has no connection left. */
  readonly hasTooManyConnections: (error: unknown) => boolean;
}

/** Looks at servers, and remembers their state. */
export interface MysqlLooks {
  /** Looks at a server. Never fails, and takes bounded time. */
  readonly look: (server: MysqlServer) => Promise<Look>;
  /** Whether a server is a Galera node. Looks at it if that is not known yet. */
  readonly isNode: (server: MysqlServer) => Promise<boolean>;
  /** The state that a server reported last. */
  readonly detailOf: (server: MysqlServer) => string;
}

/** The variables and status values that are needed. A node that refuses all other statements still answers SHOW. */
const VARIABLES = "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('read_only', 'innodb_read_only', 'wsrep_provider')";
const STATUS = "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_local_state_comment', 'wsrep_cluster_size')";

/**
 * Creates the looks. `limit`: how long a look may take, in milliseconds. `writes`: whether a read-only server is less
 * useful.
 */
export function lookAtServers(
  connections: Connections,
  errors: ErrorChecks,
  { limit, writes }: { limit: number; writes: boolean },
): MysqlLooks {
  const nodes = new Map<MysqlServer, boolean>();
  const details = new Map<MysqlServer, string>();

  const readState = async (server: MysqlServer): Promise<Look> => {
    const connection = await connections.open(server, limit, []);
    try {
      const variables = await withTimeout(limit, readVariables(connection));
      const result = lookOf(variables, writes);
      nodes.set(server, isGalera(variables));
      details.set(server, result.detail);
      return result;
    } catch (error) {
      if (isNoAnswer(error) || errors.isConnectionFailure(error) || errors.isServerUnusable(error)) throw error;
      // The server is a proxy that accepts the connection but does not know these statements.
      nodes.set(server, false);
      return { fitness: 'fit', detail: '' };
    } finally {
      connections.drop(connection);
    }
  };

  const look = async (server: MysqlServer): Promise<Look> => {
    try {
      return await readState(server);
    } catch (error) {
      const fitness = errors.hasTooManyConnections(error) ? 'strained' : 'unfit';
      return { fitness, detail: `${server.name}: ${messageOf(error)}`, isSilent: isNoAnswer(error) };
    }
  };

  return {
    look,
    isNode: async (server) => {
      if (!nodes.has(server)) await look(server);
      return nodes.get(server) ?? false;
    },
    detailOf: (server) => details.get(server) ?? '',
  };
}

interface VariableRow {
  readonly Variable_name: string;
  readonly Value: string;
}

async function readVariables(connection: Connection): Promise<Map<string, string>> {
  const rows = [...(await ask<VariableRow>(connection, VARIABLES)), ...(await ask<VariableRow>(connection, STATUS))];
  return new Map(rows.map(({ Variable_name: name, Value: value }) => [name.toLowerCase(), value]));
}

const isGalera = (variables: ReadonlyMap<string, string>): boolean => !['', 'none', undefined].includes(variables.get('wsrep_provider'));

function lookOf(variables: ReadonlyMap<string, string>, writes: boolean): Look {
  // Readers of Aurora set only the second variable.
  const readOnly = writes && ['read_only', 'innodb_read_only'].some((name) => !['OFF', '0', undefined].includes(variables.get(name)));
  if (!isGalera(variables)) return readOnly ? { fitness: 'read-only', detail: 'read only' } : { fitness: 'fit', detail: '' };
  const state = variables.get('wsrep_local_state_comment') ?? '';
  const detail = `Galera: ${state}, nodes: ${variables.get('wsrep_cluster_size')}`;
  if (variables.get('wsrep_ready') !== 'ON') return { fitness: 'unfit', detail: `${detail}, not ready` };
  if (readOnly) return { fitness: 'read-only', detail: `${detail}, read only` };
  return { fitness: state === 'Synced' ? 'fit' : 'strained', detail };
}

/** Whether a server did not respond in time. */
export const isNoAnswer = (error: unknown): boolean => error instanceof TimeoutError || codeOf(error) === 'ETIMEDOUT';

/** Returns the message of an error. Node's error for a name with several addresses has only a code. */
export function messageOf(error: unknown): string {
  const message = isObject(error) && 'message' in error ? String(error.message) : '';
  return message || codeOf(error) || String(error);
}
