import { readSettings, type SiteSettings, settingNames } from './calendar/settings.ts';
import type { Config } from './config.ts';
import { createLog, type Log } from './log.ts';
import { type Database, openDatabase } from './storage/database.ts';
import { createFreshness, type Freshness, lookAtVersion } from './storage/freshness.ts';
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
  /** What tells whether something remembered still holds. */
  readonly freshness: Freshness;
  /** Time of the last change, UTC, as of the version that is known; undefined where nobody can tell. */
  readonly changedAt: () => string | undefined;
  readonly close: () => Promise<void>;
}

/** Opens the database (without waiting for a server that is absent), the texts and the log. Throws where a setting cannot work. */
export async function openSite(
  config: Config,
  { clock = () => new Date(), log = createLog(config) }: { clock?: () => Date; log?: Log } = {},
): Promise<Site> {
  const [opened, texts] = await Promise.all([
    openDatabase({ url: config.databaseUrl, prefix: config.tablePrefix }),
    loadTexts(config.languages),
  ]);
  const reader = settingsReader(opened, config);
  let changedAt: string | undefined;
  const freshness = createFreshness(
    async () => {
      const settings = await reader();
      const looked = await lookAtVersion(opened, settings.shared);
      changedAt = looked.changedAt;
      return looked.version && `${looked.version}:${settings.edition}`;
    },
    { keep: config.cache ? config.cacheFreshness : 0 },
  );
  let remembered: { version: string; settings: SiteSettings } | undefined;
  return {
    config,
    db: forgetful(opened, freshness),
    texts,
    log,
    clock,
    settings: async () => {
      const version = freshness.known();
      if (version !== undefined && remembered?.version === version) return remembered.settings;
      const settings = await reader();
      if (version !== undefined && version === freshness.known()) remembered = { version, settings };
      return settings;
    },
    freshness,
    changedAt: () => changedAt,
    close: () => opened.close(),
  };
}

/** The database, where every transaction makes what is remembered old as soon as it is through. */
const forgetful = (db: Database, { forget }: Freshness): Database => ({
  ...db,
  transaction: async (work) => {
    try {
      return await db.transaction(work);
    } finally {
      forget();
    }
  },
});

/** Reads the options, and makes settings of them only where they differ from the last time. */
function settingsReader(db: Database, config: Config): () => Promise<SiteSettings> {
  let last: { options: ReadonlyMap<string, string>; settings: SiteSettings } | undefined;
  let edition = 0;
  return async () => {
    const options = await readOptions(db, settingNames(db.prefix));
    if (!last || !areEqual(last.options, options)) {
      edition += 1;
      last = { options, settings: { ...siteSettings(options, db, config), edition } };
    }
    return last.settings;
  };
}

function areEqual(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean {
  if (one.size !== other.size) return false;
  for (const [name, value] of one) if (other.get(name) !== value) return false;
  return true;
}

/** What the options say, as far as the configuration does not say otherwise. */
export function siteSettings(options: ReadonlyMap<string, string>, { prefix }: Database, config: Config): SiteSettings {
  const settings = readSettings(options, prefix, config.siteUrl);
  return { ...settings, shared: config.sharedWithWordpress === 'auto' ? settings.shared : config.sharedWithWordpress === 'on' };
}
