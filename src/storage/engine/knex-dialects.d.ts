/** The classes of knex that this room extends; knex ships no types for them. Only what is used here is declared. */
declare module 'knex/lib/execution/runner.js' {
  /** A statement as it was compiled. */
  export interface Compiled {
    readonly method: string;
    readonly sql: string;
    readonly bindings: readonly unknown[];
  }
  export interface Client {
    readonly version: unknown;
    readonly config: unknown;
    readonly driver: unknown;
    readonly connectionSettings: unknown;
    readonly valueForUndefined: unknown;
    readonly logger: unknown;
    /** Ours: runs a statement that only reads, if nobody has to wait for it; undefined: it has to go the usual way. */
    readNow?(query: Compiled): unknown;
    /** Ours: begins a transaction. */
    begin(connection: object): Promise<void>;
    /** Ours: to be called after a COMMIT, before it is acknowledged. */
    committed?(connection: object): Promise<void>;
    /** Ours: which client to ask after such an error: the same one if it has other servers, another one, or none. */
    elsewhere?(error: unknown): Client | undefined;
    acquireConnection(): Promise<object>;
    releaseConnection(connection: object): Promise<void>;
    query(connection: object, query: Compiled | string): Promise<unknown>;
    emit(event: 'query', query: Compiled): void;
    processResponse(response: unknown, runner: Runner | undefined): unknown;
  }
  class Runner {
    constructor(client: unknown, builder: unknown);
    readonly client: Client;
    readonly builder: { toSQL(): Compiled | Compiled[] };
    run(): Promise<unknown>;
  }
  export default Runner;
}

declare module 'knex/lib/knex-builder/make-knex.js' {
  import type { Knex } from 'knex';

  export default function makeKnex(client: unknown): Knex;
}

declare module 'knex/lib/dialects/better-sqlite3/index.js' {
  import type { Knex } from 'knex';

  class Client {
    constructor(config: Knex.Config);
    readonly connectionSettings: { filename: string };
    /** Whether it is the client of a transaction. */
    readonly transacting?: boolean;
    emit(event: 'query', query: object): void;
    acquireConnection(): Promise<unknown>;
    destroy(): Promise<void>;
  }
  export default Client;
}

declare module 'knex/lib/dialects/sqlite3/execution/sqlite-transaction.js' {
  class Transaction {
    constructor(client: unknown, ...rest: unknown[]);
    _completed: boolean;
    trxClient: { begin(connection: unknown): Promise<void> };
  }
  export default Transaction;
}

declare module 'knex/lib/dialects/mysql2/index.js' {
  import type { Knex } from 'knex';

  class Client {
    constructor(config: Knex.Config);
    acquireConnection(): Promise<unknown>;
    acquireRawConnection(): Promise<unknown>;
    validateConnection(connection: object): boolean;
    destroy(): Promise<void>;
    emit(event: 'query', query: object): void;
  }
  export default Client;
}

declare module 'knex/lib/dialects/sqlite3/query/sqlite-querycompiler.js' {
  class QueryCompiler {
    constructor(client: unknown, ...rest: unknown[]);
    readonly single: { insert?: unknown; onConflict?: unknown; ignore?: boolean; merge?: { updates: unknown }; returning?: unknown };
    readonly tableName: string;
    readonly formatter: { columnize(columns: string[]): string };
    insert(): unknown;
    with(): string;
    where(): string;
    _prepInsert(rows: unknown[]): { columns: string[]; values: unknown[][] };
    _buildInsertValues(data: { columns: string[]; values: unknown[][] }): string;
    _ignore(columns: unknown): string;
    _merge(updates: unknown, columns: unknown, rows: unknown[]): string;
    _returning(columns: unknown): string;
  }
  export default QueryCompiler;
}
