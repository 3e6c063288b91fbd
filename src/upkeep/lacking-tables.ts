import type { Site } from '../site.ts';
import { missingTables } from '../storage/schema/migrate.ts';

/** The calendar's own, which a site has that its plugin, of version 6 or later, has moved to them. */
const OF_CALENDAR = ['tec_events', 'tec_occurrences'] as const;

/** Names of the tables that are not there though the site should have them. */
export async function lackingTables({ db, settings }: Pick<Site, 'db' | 'settings'>): Promise<string[]> {
  const missing = await missingTables(db);
  if ((await settings()).occurrenceTables) return missing;
  const spared = OF_CALENDAR.map((name) => db.table(name));
  return missing.filter((name) => !spared.includes(name));
}
