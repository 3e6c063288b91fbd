import type { SiteSettings } from './calendar/settings.ts';
import { readSettings, settingNames } from './calendar/settings.ts';
import type { Config } from './config.ts';
import { createLog, type Log } from './log.ts';
import { type Database, openDatabase } from './storage/database.ts';
import { readOptions } from './storage/options.ts';
import { loadTexts, type Texts } from './texts.ts';

/** What every verb works with. Opened once, passed as first argument, closed at the end. */
export interface Site {
  readonly config: Config;
  readonly db: Database;
  readonly texts: Texts;
  readonly log: Log;
  /** The present moment; tests put a clock of their own here. */
  readonly clock: () => Date;
  /** The site's options as they stand now. */
  readonly settings: () => Promise<SiteSettings>;
  readonly close: () => Promise<void>;
}

/** Opens the database (without waiting for a server that is absent), the texts and the log. Throws where a setting cannot work. */
export async function openSite(config: Config, { clock = () => new Date(), log = createLog(config) }: { clock?: () => Date; log?: Log } = {}): Promise<Site> {
  const [db, texts] = await Promise.all([openDatabase({ url: config.databaseUrl, prefix: config.tablePrefix }), loadTexts(config.languages)]);
  return {
    config,
    db,
    texts,
    log,
    clock,
    settings: async () => readSettings(await readOptions(db, settingNames(db.prefix)), db.prefix, config.siteUrl),
    close: () => db.close(),
  };
}
