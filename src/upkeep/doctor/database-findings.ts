import type { Site } from '../../site.ts';
import { addKey, addPrimaryKey, type MissingKey, missingKeys, missingPrimaryKeys } from '../../storage/audit/audit.ts';
import type { Inspection } from '../../storage/engine/dialect.ts';
import { positionOf, reachesPosition } from '../../storage/freshness/replicas.ts';
import { completeSchema, migrate, pendingMigrations } from '../../storage/schema/migrate.ts';
import { findMissingTables } from '../missing-tables.ts';
import { type ExaminedServer, type Finding, finding } from './findings.ts';

/** Returns findings about tables: damage, missing tables and keys, engines and character sets. */
export async function tableFindings(site: Site, inspection: Inspection, damage: readonly string[]): Promise<Finding[]> {
  const { db } = site;
  const missingNames = await findMissingTables(site);
  const ownTables = missingNames.filter((name) => name.startsWith(`${db.prefix}fasti_`));
  const primaryKeys = missingPrimaryKeys(db, inspection);
  const keys = missingKeys(db, inspection);
  const faultyTables = (faultKind: Inspection['faults'][number]['attribute']) =>
    inspection.faults.filter((fault) => fault.attribute === faultKind).map(({ of, value }) => [of, value].filter(Boolean).join(' '));
  const pendingSteps = missingNames.length > 0 ? [] : await pendingMigrations(db);
  return [
    ...finding('database-damaged', 'error', damage),
    // Only WordPress creates its own tables.
    ...finding('tables-missing', 'error', missingNames, ownTables.length === missingNames.length ? () => completeSchema(db) : undefined),
    ...finding('steps-pending', 'error', pendingSteps, async () => void (await migrate(db))),
    ...finding(
      'primary-keys-missing',
      'error',
      primaryKeys.map(keyInWords),
      primaryKeys.every(({ statement }) => statement !== undefined)
        ? () => addEach(primaryKeys, (key) => addPrimaryKey(db, key))
        : undefined,
    ),
    ...finding('keys-missing', 'warning', keys.map(keyInWords), () => addEach(keys, (key) => addKey(db, key))),
    ...finding('engine', 'warning', faultyTables('engine')),
    ...finding('charset', 'warning', faultyTables('charset')),
  ];
}

const keyInWords = ({ table, columns }: Pick<MissingKey, 'table' | 'columns'>): string => `${table} (${columns.join(', ')})`;

/** Adds keys. Duplicate rows prevent one key, but not the others. Throws the first error. */
async function addEach<Key>(keys: readonly Key[], add: (key: Key) => Promise<void>): Promise<void> {
  const failures: unknown[] = [];
  for (const key of keys) await add(key).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** Returns findings about unusable servers, and about replicas that lag behind. */
export async function serverFindings({ db, replicas, config }: Site, servers: readonly ExaminedServer[]): Promise<Finding[]> {
  const serverLines = (matches: (server: ExaminedServer) => boolean) =>
    servers.filter(matches).map(({ name, detail }) => (detail.startsWith(name) ? detail : `${name}: ${detail}`));
  const position = replicas.length > 0 ? await positionOf(db) : undefined;
  const laggingReplicas = await Promise.all(
    replicas.map(async (replica, index) => {
      const { name, fitness } = servers.filter((server) => server.replica)[index]!;
      if (fitness === 'unfit' || !position) return [];
      return (await reachesPosition(replica, position, config.databaseReadLag)) ? [] : [name];
    }),
  );
  return [
    ...finding(
      'servers-unfit',
      'warning',
      // A second server is usually read-only.
      serverLines(({ fitness, inUse, replica }) => !replica && fitness !== 'fit' && (fitness !== 'read-only' || inUse)),
    ),
    ...finding(
      'replicas-unfit',
      'warning',
      serverLines(({ fitness, replica }) => replica && fitness === 'unfit'),
    ),
    ...finding('replicas-behind', 'warning', laggingReplicas.flat()),
  ];
}
