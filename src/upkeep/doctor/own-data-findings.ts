import { whyIndexUnused } from '../../records/list-index.ts';
import type { Site } from '../../site.ts';
import { type IndexState, indexState, openImports, unindexableEvents } from '../../storage/audit/audit.ts';
import type { PluginState } from '../../storage/audit/plugin.ts';
import type { Database } from '../../storage/engine/database.ts';
import { hasForeignChanges, takeOverChanges } from '../../storage/freshness/foreign-changes.ts';
import { rebuildIndex } from '../../storage/freshness/index-rebuild.ts';
import type { OptionalLanguages } from '../../storage/index/indexed-events.ts';
import { createChangeCounter } from '../../storage/journal/entries.ts';
import { countsChanges } from '../../storage/rows/changes.ts';
import { utcFromDate } from '../../wordpress/time.ts';
import { type Finding, finding } from './findings.ts';

/** Returns findings about our own rows: the change counter, the list index, imports. */
export async function ownDataFindings(site: Site): Promise<Finding[]> {
  const { db } = site;
  const { shared, contentLanguages: languages } = await site.settings();
  const reason = await whyIndexUnused(site);
  // Lists would not use an index that is built or repaired.
  const isIdle = reason === 'no-tables' || reason === 'not-followed';
  const index = isIdle ? 'trusted' : shared ? await indexStateBesideWordPress(db, languages) : await indexState(db, languages);
  const unindexableIds = index === 'off' ? await unindexableEvents(db, languages) : [];
  const reindex = async () => void (await rebuildIndex(db, site.clock, { marksComplete: true, languages, shared }));
  const takeOver = async () => {
    await takeOverChanges(db, site.clock, { languages });
    // The first time, it is unknown what was changed.
    if ((await indexState(db, languages)) !== 'trusted') await reindex();
  };
  return [
    ...finding(
      'counter-missing',
      'error',
      (await countsChanges(db)) ? [] : [''],
      async () => void (await createChangeCounter(db, utcFromDate(site.clock()))),
    ),
    ...finding('index-wrong', 'error', index === 'wrong' ? [''] : [], reindex),
    ...finding('index-behind', 'warning', index === 'behind' ? [''] : [], takeOver),
    ...finding('index-unfit', 'warning', unindexableIds.map(String)),
    ...finding('index-off', 'warning', index === 'off' && unindexableIds.length === 0 ? [''] : [], reindex),
    ...finding('imports-open', 'warning', await openImports(db)),
  ];
}

/**
 * Returns the state of the index next to a WordPress. Changes that WordPress has made since are not an error, since a
 * server takes them over.
 */
async function indexStateBesideWordPress(db: Database, languages: OptionalLanguages): Promise<IndexState | 'behind'> {
  const state = await indexState(db, languages);
  if (state !== 'wrong') return state;
  // A server may have taken the changes over after the index was read.
  return (await hasForeignChanges(db, languages)) ? 'behind' : indexState(db, languages);
}

/** Maximum age of notes. While requests come in, a server takes notes over with each look for changes. */
const MAX_NOTE_AGE_MS = 10 * 60_000;

/** Returns a finding about notes of the WordPress plugin that no server has taken over. */
export function pluginFindings({ clock }: Site, plugin: PluginState | undefined): Finding[] {
  const { waiting = 0, oldest = null } = plugin ?? {};
  const isStuck = oldest !== null && oldest < utcFromDate(new Date(clock().getTime() - MAX_NOTE_AGE_MS));
  return isStuck ? [{ name: 'plugin-unread', severity: 'warning', count: waiting, examples: [oldest] }] : [];
}
