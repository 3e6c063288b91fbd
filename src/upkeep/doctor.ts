import type { Site } from '../site.ts';
import { inspectDatabase } from '../storage/audit/audit.ts';
import { type PluginState, pluginState } from '../storage/audit/plugin.ts';
import { accessFindings } from './doctor/access-findings.ts';
import { languageFindings, orphanFindings, rowFindings, valueFindings } from './doctor/content-findings.ts';
import { type FindDamage, findDamageInProcess } from './doctor/damage.ts';
import { serverFindings, tableFindings } from './doctor/database-findings.ts';
import { dateFindings, recurrenceFindings } from './doctor/event-findings.ts';
import type { ExaminedServer, Finding } from './doctor/findings.ts';
import { ownDataFindings, pluginFindings } from './doctor/own-data-findings.ts';
import { fileFindings, settingFindings } from './doctor/site-findings.ts';

/** Versions of the software that a site runs on. */
export interface Versions {
  readonly fasti: string;
  readonly node: string;
  readonly database: string;
  /** Version of the time zone database. */
  readonly zones: string;
}

export interface Health {
  readonly versions: Versions;
  /** Servers of the database and its replicas; none for an SQLite file. */
  readonly servers: readonly ExaminedServer[];
  /** The WordPress plugin that reports changes; absent if there is no sign of it. */
  readonly plugin?: PluginState;
  readonly findings: readonly Finding[];
}

/**
 * Examines a site: its database and tables, their contents, its files and settings. It only reads. Findings that can be
 * repaired without a decision have a `fix`. `findDamage`: how to check the file.
 *
 * @throws DatabaseUnavailable
 */
export async function examine(site: Site, version: string, findDamage: FindDamage = findDamageInProcess): Promise<Health> {
  const { db } = site;
  const inspection = await inspectDatabase(db);
  const versions = { fasti: version, node: process.versions.node, database: inspection.version, zones: process.versions.tz ?? '' };
  const tables = await tableFindings(site, inspection, await findDamage(site));
  const servers = [
    ...(await db.cluster.report()).map((server) => ({ ...server, replica: false })),
    ...(await Promise.all(site.replicas.map((replica) => replica.cluster.report()))).flat().map((server) => ({ ...server, replica: true })),
  ];
  // With tables missing, nothing else can be queried.
  if (tables.some(({ name }) => name === 'tables-missing')) return { versions, servers, findings: tables };
  const plugin = await pluginState(db);
  return {
    versions,
    servers,
    ...(plugin ? { plugin } : {}),
    findings: [
      ...tables,
      ...(await serverFindings(site, servers)),
      ...(await settingFindings(site)),
      ...(await orphanFindings(site)),
      ...(await rowFindings(site)),
      ...(await languageFindings(site)),
      ...(await dateFindings(site)),
      ...(await recurrenceFindings(site)),
      ...(await valueFindings(site)),
      ...(await fileFindings(site)),
      ...(await accessFindings(site)),
      ...(await ownDataFindings(site)),
      ...pluginFindings(site, plugin),
    ],
  };
}
