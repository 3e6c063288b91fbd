import type { TableDefinition } from '../src/storage/engine/dialect.ts';
import type { Migration } from '../src/storage/schema/migration.ts';

/** Webhooks, and the messages that were or will be sent to them (`src/webhooks/`). */
export const webhooks: Migration = {
  name: '011-webhooks',
  tables: () => TABLES,
  up: async ({ knex, dialect, prefix }) => {
    for (const definition of TABLES) {
      for (const statement of dialect.createTable(definition, prefix)) await knex.schema.raw(statement);
    }
  },
};

const MOMENT = "varchar(19) NOT NULL DEFAULT ''";
const STATE = 'varchar(10) NOT NULL';

const TABLES: readonly TableDefinition[] = [
  {
    name: 'fasti_hooks',
    columns: {
      id: 'bigint(20) unsigned NOT NULL AUTO_INCREMENT',
      url: 'varchar(2000) NOT NULL',
      secret: 'varchar(100) NOT NULL',
      // Names of kinds, separated by commas; empty means all.
      kinds: "varchar(191) NOT NULL DEFAULT ''",
      // User whose rights it has; 0 means none, so that it receives only public data.
      user: 'bigint(20) unsigned NOT NULL DEFAULT 0',
      state: STATE,
      // Number of the journal entry up to which messages were created.
      position: 'bigint NOT NULL DEFAULT 0',
      // Time until which a process has reserved it.
      busy_until: MOMENT,
      created_at: MOMENT,
    },
    primary: ['id'],
  },
  {
    name: 'fasti_hook_messages',
    columns: {
      id: 'varchar(64) NOT NULL',
      hook: 'bigint(20) unsigned NOT NULL',
      number: 'bigint NOT NULL',
      // The record that the message is about; messages about the same record are sent in order.
      subject: 'varchar(60) NOT NULL',
      payload: 'longtext NOT NULL',
      state: STATE,
      attempts: 'int NOT NULL DEFAULT 0',
      next_at: MOMENT,
      created_at: MOMENT,
      status: 'int NOT NULL DEFAULT 0',
      error: "varchar(191) NOT NULL DEFAULT ''",
    },
    primary: ['id'],
    keys: {
      '{prefix}fasti_hook_due': ['hook', 'state', 'number'],
      '{prefix}fasti_hook_subject': ['hook', 'subject', 'number'],
      '{prefix}fasti_hook_age': ['created_at'],
    },
  },
];
