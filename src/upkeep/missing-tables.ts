import type { Site } from '../site.ts';
import { missingTables } from '../storage/schema/migrate.ts';

/** The calendar's own tables, which sites have since version 6 of the plugin migrated to them. */
const CALENDAR_TABLES = ['tec_events', 'tec_occurrences'] as const;

/** Returns the names of tables that the site should have but lacks. */
export async function findMissingTables({ db, settings }: Pick<Site, 'db' | 'settings'>): Promise<string[]> {
  const missing = await missingTables(db);
  if ((await settings()).occurrenceTables) return missing;
  const optional = CALENDAR_TABLES.map((name) => db.table(name));
  return missing.filter((name) => !optional.includes(name));
}
