import { mayHaveRecurrence, occurrenceBase, readSettings, type SiteSettings, settingNames } from './calendar/settings.ts';
import { type Config, localAddress } from './config/config.ts';
import type { Database } from './storage/engine/database.ts';
import type { TableName } from './storage/engine/tables.ts';
import { findLanguages } from './storage/languages/detect.ts';
import { beforeOptionsChange, beforeWritesTo, readOptions } from './storage/rows/options.ts';
import { findRecurrenceTables } from './storage/schema/recurrence-tables.ts';

/** Reads the settings of a site from its options. */
export interface SettingsReader {
  /** Returns the current settings. */
  readonly read: () => Promise<SiteSettings>;
  /**
   * Returns settings that include all changes of this process; changes of other processes may be missing for a while.
   */
  readonly cached: () => Promise<SiteSettings>;
  /** Returns the settings as they were last read, however long ago; undefined if they never were. */
  readonly latest: () => SiteSettings | undefined;
  /** To be called at the end of every transaction. `open`: number of other open transactions. */
  readonly transactionEnded: (open: number) => void;
  /** To be called when another process may have changed the settings. */
  readonly invalidate: () => void;
}

export interface SettingsReaderOptions {
  /** Time for which changes of other processes may stay unnoticed, in milliseconds. */
  readonly maxAgeMs: number;
  /**
   * Returns an identifier of the database state at this moment (of `performance.now()`) or later. It stays the same
   * until another process commits a change. Undefined if there is none.
   */
  readonly stateSince: (at: number) => Promise<string | undefined>;
}

/**
 * Tables whose rows are part of the settings, in addition to the options; below, those that are if the content has
 * languages.
 */
export const SETTINGS_TABLES = ['sitemeta', 'blogs'] as const satisfies readonly TableName[];
export const LANGUAGE_TABLES = [
  'terms',
  'term_taxonomy',
  'icl_languages',
  'icl_languages_translations',
  'icl_locale_map',
] as const satisfies readonly TableName[];

/**
 * Creates a reader that reads the options only if the database may have changed since the last time, and parses them
 * only if they differ.
 */
export function createSettingsReader(db: Database, config: Config, { maxAgeMs, stateSince }: SettingsReaderOptions): SettingsReader {
  const names = settingNames(db.prefix);
  let latest: { options: ReadonlyMap<string, string>; settings: SiteSettings; at: number; state: string | undefined } | undefined;
  let readingNumber = 0;
  /** Whether an open transaction has changed a setting, and when the last such transaction ended. */
  let isChanging = false;
  let lastChange = Number.NEGATIVE_INFINITY;
  /** Number of writes by this process to tables of the settings, and to tables of the languages. */
  const writeCounts = { settings: 0, languages: 0 };
  beforeOptionsChange(db, names, () => {
    isChanging = true;
    writeCounts.settings += 1;
  });
  beforeWritesTo(db, SETTINGS_TABLES, () => {
    writeCounts.settings += 1;
  });
  beforeWritesTo(db, LANGUAGE_TABLES, () => {
    writeCounts.languages += 1;
  });

  /** Returns an identifier of the state that the settings depend on; undefined if there is none. */
  const stateOf = async (at: number): Promise<string | undefined> => {
    const foreignState = await stateSince(at);
    const languages = latest && mayHaveLanguages(latest.options) ? writeCounts.languages : '';
    return foreignState && `${foreignState} ${writeCounts.settings} ${languages}`;
  };
  const read = async () => {
    const at = performance.now();
    const state = await stateOf(at);
    if (latest && state !== undefined && state === latest.state) {
      latest = { ...latest, at: Math.max(at, latest.at) };
      return latest.settings;
    }
    const options = await readOptions(db, names);
    if (latest && areEqual(latest.options, options) && (await areLanguagesUnchanged(latest.settings, options, db, config))) {
      if (at >= latest.at) latest = { ...latest, at, state };
      return latest.settings;
    }
    const settings = await toSiteSettings(options, db, config);
    if (!latest || at > latest.at) {
      readingNumber += 1;
      latest = { options, settings: { ...settings, readingNumber }, at, state };
    }
    return latest.settings;
  };
  return {
    read,
    latest: () => latest?.settings,
    cached: async () =>
      latest && !isChanging && latest.at > lastChange && performance.now() - latest.at < maxAgeMs ? latest.settings : read(),
    transactionEnded: (open) => {
      if (!isChanging) return;
      lastChange = performance.now();
      isChanging = open > 0;
    },
    invalidate: () => {
      lastChange = performance.now();
    },
  };
}

function areEqual(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean {
  if (one.size !== other.size) return false;
  for (const [name, value] of one) if (other.get(name) !== value) return false;
  return true;
}

/** Whether the languages of the content are unchanged. They are stored in rows, so the options do not show changes. */
async function areLanguagesUnchanged(
  { contentLanguages: languages, shared }: SiteSettings,
  options: ReadonlyMap<string, string>,
  db: Database,
  { contentLanguages: setting }: Config,
): Promise<boolean> {
  if (!mayHaveLanguages(options)) return true;
  return JSON.stringify(await findLanguages(db, options, { setting, isShared: shared })) === JSON.stringify(languages);
}

/** Whether an option suggests that the content has languages. */
const mayHaveLanguages = (options: ReadonlyMap<string, string>): boolean =>
  options.has('polylang') || options.has('icl_sitepress_settings');

/**
 * Parses the options, with overrides from the configuration. If they show traces of recurring events, the schema is
 * queried for the columns that these need.
 */
export async function toSiteSettings(options: ReadonlyMap<string, string>, db: Database, config: Config): Promise<SiteSettings> {
  const settings = readSettings(options, db.prefix, config.siteUrl, localAddress(config));
  const occurrenceTables = settings.occurrenceTables && config.customTables === 'auto';
  const tables = occurrenceTables && mayHaveRecurrence(options) ? await findRecurrenceTables(db) : undefined;
  const shared = config.sharedWithWordpress === 'auto' ? settings.shared : config.sharedWithWordpress === 'on';
  return {
    ...settings,
    occurrenceTables,
    shared,
    contentLanguages: mayHaveLanguages(options)
      ? await findLanguages(db, options, { setting: config.contentLanguages, isShared: shared })
      : undefined,
    recurrence: tables?.columns ? { base: occurrenceBase(options), series: tables.series } : undefined,
  };
}

/**
 * Whether the calendar is served as HTML pages: if WordPress serves none, unless the configuration decides otherwise.
 */
export const servesPages = ({ pages }: Pick<Config, 'pages'>, { shared }: Pick<SiteSettings, 'shared'>): boolean =>
  pages === 'auto' ? !shared : pages === 'on';
