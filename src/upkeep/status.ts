import { kinds } from '../kinds/index.ts';
import { type WhyIndexUnused, whyIndexUnused } from '../records/list-index.ts';
import type { Site } from '../site.ts';
import { countRecords, journalState, measureDatabase } from '../storage/audit/measures.ts';
import { type PluginState, pluginState } from '../storage/audit/plugin.ts';
import { decodeEntities } from '../wordpress/content/entities.ts';
import type { SiteState } from '../wordpress/network.ts';
import { utcFromDate } from '../wordpress/time.ts';
import { listBackups } from './backup-folder.ts';
import { findMissingTables } from './missing-tables.ts';

/** Number of records of a kind outside of the trash, and of those that are public. */
export interface RecordCount {
  readonly all: number;
  readonly public: number;
}

/** Basic facts about a site. Times are UTC, `YYYY-MM-DD HH:MM:SS`; null means that there is none. */
export interface Status {
  readonly name: string;
  readonly home: string;
  /** The number and the state of the site in a network; null if there is no network. */
  readonly network: { readonly site: number; readonly state: SiteState } | null;
  readonly database: { readonly version: string; readonly bytes: number; readonly tablesMissing: readonly string[] };
  /** Counts by the paths of the kinds. */
  readonly records: Readonly<Record<string, RecordCount>>;
  /** Codes of the content languages, the default first; empty if content has no languages. */
  readonly languages: readonly string[];
  /** Whether there is a list index, and whether lists would use it; null if the calendar's own tables are not used. */
  readonly index: 'built' | 'missing' | 'not-followed' | null;
  /** Null if its tables are missing. */
  readonly journal: { readonly entries: number; readonly latest: string | null; readonly latestOfOthers: string | null } | null;
  readonly plugin: PluginState | null;
  readonly backup: { readonly file: string; readonly at: string } | null;
}

const INDEX_STATES: Readonly<Record<WhyIndexUnused | 'used', Status['index']>> = {
  used: 'built',
  shared: 'missing',
  missing: 'missing',
  'not-followed': 'not-followed',
  'no-tables': null,
};

/**
 * Returns the facts about a site that are cheap to determine. It only reads, and works if our own tables do not exist
 * yet.
 *
 * @throws DatabaseUnavailable
 */
export async function statusOf(site: Site): Promise<Status> {
  const { db } = site;
  const tablesMissing = await findMissingTables(site);
  const hasJournal = !tablesMissing.some((name) => name.startsWith(`${db.prefix}fasti_journal`));
  const settings = await site.settings();
  const { name, home, contentLanguages, network } = settings;
  const counts = await countRecords(db);
  const emptyCount: RecordCount = { all: 0, public: 0 };
  const [backup] = (await listBackups(site)).backups;
  const codes = contentLanguages?.languages.map(({ code }) => code) ?? [];
  return {
    name: decodeEntities(name),
    home,
    network: network ? { site: site.config.networkSite, state: network.siteState } : null,
    database: { ...(await measureDatabase(db)), tablesMissing },
    records: Object.fromEntries(
      kinds.map((kind) => [kind.path, counts.get(kind.is === 'post' ? kind.postType : kind.taxonomy) ?? emptyCount]),
    ),
    languages: codes.toSorted(
      (one, other) => Number(other === contentLanguages?.defaultCode) - Number(one === contentLanguages?.defaultCode),
    ),
    index: INDEX_STATES[(await whyIndexUnused(site)) ?? 'used'],
    journal: hasJournal ? await journalState(db) : null,
    plugin: (hasJournal && (await pluginState(db))) || null,
    backup: backup ? { file: backup.file, at: utcFromDate(backup.madeAt) } : null,
  };
}
