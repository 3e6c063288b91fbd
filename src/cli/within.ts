import { readSettings, settingNames } from '../calendar/settings.ts';
import type { Site } from '../site.ts';
import type { Database } from '../storage/database.ts';
import { readOptions } from '../storage/options.ts';

/** The site as seen from inside a transaction: its verbs all write into that one, and read what was written there. */
export const within = (site: Site, db: Database): Site => ({
  ...site,
  db,
  settings: async () => readSettings(await readOptions(db, settingNames(db.prefix)), db.prefix, site.config.siteUrl),
});
