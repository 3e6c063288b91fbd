import type { Site } from '../site.ts';
import { missingTables } from '../storage/schema/migrate.ts';

/** The calendar's own tables, which sites have since version 6 of the plugin migrated to them. */
const OF_CALENDAR = ['tec_events', 'tec_occurrences'] as const;

/** Returns the names of tables that the site should have but lacks. */
export async function lackingTables({ db, settings }: Pick<Site, 'db' | 'settings'>): Promise<string[]> {
  const missing = await missingTables(db);
  if ((await settings()).occurrenceTables) return missing;
  const spared = OF_CALENDAR.map((name) => db.table(name));
  return missing.filter((name) => !spared.includes(name));
}
