import type { Site } from '../site.ts';
import { inspectDatabase } from '../storage/audit/audit.ts';
import { type PluginState, pluginState } from '../storage/audit/plugin.ts';
import { accessFindings } from './doctor/access-findings.ts';
import { languageFindings, orphanFindings, rowFindings, valueFindings } from './doctor/content-findings.ts';
import { damageHere, type FindDamage } from './doctor/damage.ts';
import { serverFindings, tableFindings } from './doctor/database-findings.ts';
import { dateFindings, recurrenceFindings } from './doctor/event-findings.ts';
import type { ExaminedServer, Finding } from './doctor/findings.ts';
import { noteFindings, pluginFindings } from './doctor/own-data-findings.ts';
import { fileFindings, settingFindings } from './doctor/site-findings.ts';

/** What a site runs on. */
export interface Versions {
  readonly fasti: string;
  readonly node: string;
  readonly database: string;
  /** Version of the rules of time zones. */
  readonly zones: string;
}

export interface Health {
  readonly versions: Versions;
  /** The servers of the database and its replicas; none for an SQLite file. */
  readonly servers: readonly ExaminedServer[];
  /** The WordPress plugin that reports changes; absent: there is no sign of it. */
  readonly plugin?: PluginState;
  readonly findings: readonly Finding[];
}

/**
 * Looks a site through: its database and tables, what is in them, its files and settings. It only reads; what can be
 * repaired without a choice to be made has a `fix`. `findDamage`: how a file is looked through.
 *
 * @throws DatabaseUnavailable
 */
export async function examine(site: Site, version: string, findDamage: FindDamage = damageHere): Promise<Health> {
  const { db } = site;
  const inspection = await inspectDatabase(db);
  const versions = { fasti: version, node: process.versions.node, database: inspection.version, zones: process.versions.tz ?? '' };
  const tables = await tableFindings(site, inspection, await findDamage(site));
  const servers = [
    ...(await db.cluster.report()).map((server) => ({ ...server, replica: false })),
    ...(await Promise.all(site.replicas.map((replica) => replica.cluster.report()))).flat().map((server) => ({ ...server, replica: true })),
  ];
  // Without all tables nothing else can be asked.
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
      ...(await noteFindings(site)),
      ...pluginFindings(site, plugin),
    ],
  };
}
