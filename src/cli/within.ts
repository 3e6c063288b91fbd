import { settingNames } from '../calendar/settings.ts';
import { siteSettings } from '../known-settings.ts';
import type { Site } from '../site.ts';
import type { Database } from '../storage/engine/database.ts';
import { readOptions } from '../storage/rows/options.ts';

/** The site as seen from inside a transaction: its verbs all write into that one, and read what was written there. */
export const within = (site: Site, db: Database): Site => ({
  ...site,
  db,
  settings: async () => siteSettings(await readOptions(db, settingNames(db.prefix)), db, site.config),
});
