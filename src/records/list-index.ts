import { INDEX_OPTION, type SiteSettings } from '../calendar/settings.ts';
import { postKind } from '../kinds/index.ts';
import type { PostKind } from '../kinds/kind.ts';
import type { Site } from '../site.ts';
import type { Database } from '../storage/engine/database.ts';
import { rebuildIndex } from '../storage/freshness/index-rebuild.ts';
import { arePrintsComplete, printSources } from '../storage/freshness/prints.ts';
import {
  disableIndex,
  dropFacet,
  eventsBelowCategory,
  eventsWithTerm,
  indexEvents,
  indexLayout,
  indexNewEvents,
  indexWithTranslations,
  isIndexOutdated,
  layoutInUse,
} from '../storage/index/event-index.ts';
import { coversAllEvents } from '../storage/index/event-index-cover.ts';
import { facetOf } from '../storage/index/event-index-rows.ts';
import type { EventRows } from '../storage/index/indexed-events.ts';
import { joinWriters } from '../storage/journal/reported-changes.ts';
import { readOptions } from '../storage/rows/options.ts';
import { removeLinksTo } from '../storage/rows/posts.ts';
import { lockTermLinks } from '../storage/rows/term-links.ts';
import { findTerm, removeTerm } from '../storage/rows/terms.ts';
import { withHidden } from '../wordpress/content-languages.ts';
import type { Term } from '../wordpress/rows.ts';
import type { Caller } from './caller.ts';

/** Whether there is an index of all events for the current languages of the site. */
export const hasIndex = ({ occurrenceTables, raw, contentLanguages }: SiteSettings): boolean =>
  occurrenceTables && raw.get(INDEX_OPTION) === indexLayout(withHidden(contentLanguages));

/** The data that decides whether a request may read a list from the index. */
type IndexRequest = Pick<Caller, 'settings' | 'receivedAt'>;

/**
 * Whether lists may be read from the index now. If WordPress writes to the database too, it does not maintain the
 * index. The index is then only used if everything that WordPress had written when the request arrived has been taken
 * over, which may also create or drop the index.
 */
export async function canUseIndex(site: Site, { settings, receivedAt }: IndexRequest): Promise<boolean> {
  if (!settings.shared) return hasIndex(settings);
  const upToDate = settings.occurrenceTables ? await site.takenOverSince(receivedAt) : undefined;
  return upToDate !== undefined && (await layoutInUse(site.db, upToDate.state)) === indexLayout(withHidden(settings.contentLanguages));
}

/** Whether lists that show each event once can be read from the index, which has a row for each of its dates. */
export const canUseIndexOfEvents = async (site: Site, request: IndexRequest): Promise<boolean> =>
  request.settings.recurrence === undefined && (await canUseIndex(site, request));

/**
 * Reasons why lists are read from WordPress's tables: the calendar's own tables are not used (`no-tables`); an index
 * would not stay up to date, since changes of WordPress are not followed (`not-followed`); or it has to be built, by
 * the server (`shared`) or by a command (`missing`).
 */
export type WhyIndexUnused = 'no-tables' | 'not-followed' | 'shared' | 'missing';

/**
 * Checks the index at the start. If WordPress has written while no Fasti process was running, or if tables were
 * replaced, the index is given up until it is rebuilt, unless these writes can be determined. Returns the reason if
 * lists do not use the index (`whyIndexUnused`).
 */
export async function dropStaleIndex(site: Site): Promise<WhyIndexUnused | undefined> {
  const { shared, raw, contentLanguages } = await site.settings();
  const isStale = shared ? raw.has(INDEX_OPTION) && !(await hasPrints(site.db, contentLanguages)) : await isDistrusted(site.db);
  if (isStale) {
    await site.db.transaction(async (trx) => {
      joinWriters(trx);
      await disableIndex(trx);
    });
  }
  return whyIndexUnused(site);
}

/**
 * Returns the reason why the lists of a server, running or not, do not use the index, as far as settings tell;
 * undefined if there is an index that they may use.
 */
export async function whyIndexUnused({ config, settings: readSettings }: IndexedSite): Promise<WhyIndexUnused | undefined> {
  const settings = await readSettings();
  if (!settings.occurrenceTables) return 'no-tables';
  if (settings.shared && !config.followWordpress) return 'not-followed';
  if (hasIndex(settings)) return undefined;
  return settings.shared ? 'shared' : 'missing';
}

type IndexedSite = Pick<Site, 'config' | 'settings'>;

/** Whether the index may be out of date although WordPress does not write, since tables may have been replaced. */
const isDistrusted = async (db: Database): Promise<boolean> =>
  (await readOptions(db, [INDEX_OPTION])).has(INDEX_OPTION) && ((await isIndexOutdated(db)) || !(await coversAllEvents(db)));

/**
 * Rebuilds the index if lists use it. It contains the languages of events, so a change of the site's languages makes it
 * obsolete.
 */
export async function rebuildIndexIfUsed(site: Site): Promise<void> {
  const { occurrenceTables, raw, shared, contentLanguages: languages } = await site.settings();
  if (!occurrenceTables || !raw.has(INDEX_OPTION)) return;
  await rebuildIndex(site.db, site.clock, { marksComplete: true, languages, shared });
}

type WithSettings = Pick<Caller, 'settings'>;

/** Updates the index after a write of these events, in the same transaction, after all other changes. */
export const updateIndex = (db: Database, caller: WithSettings, ids: readonly number[]): Promise<void> =>
  ifIndexMaintained(caller, async () => void (await indexWithTranslations(db, ids, withHidden(caller.settings.contentLanguages))));

/** Whether changes by other programs are found by prints in their present form. */
const hasPrints = async (db: Database, languages: SiteSettings['contentLanguages']): Promise<boolean> =>
  arePrintsComplete(db, { languages, sources: await printSources(db, languages) });

/** Does the same for new events, whose rows are known. The caller has to update their translations. */
export const indexCreatedEvents = (db: Database, caller: WithSettings, rows: readonly EventRows[]): Promise<void> =>
  ifIndexMaintained(caller, () => indexNewEvents(db, rows, withHidden(caller.settings.contentLanguages)));

/**
 * Does the same after a change of a term; `before` is its previous state. Only a new parent of a category matters,
 * since its events move to other ancestors.
 */
export async function updateIndexAfterTermChange(db: Database, caller: WithSettings, before: Term): Promise<void> {
  if (before.taxonomy !== 'tribe_events_cat') return;
  const after = await findTerm(db, before.taxonomy, before.term_id);
  if (after?.parent === before.parent) return;
  await ifIndexMaintained(caller, async () => indexOrDistrust(db, caller, await eventsBelowCategory(db, before.term_id)));
}

/** Deletes a term permanently, from the index too. */
export async function removeTermWithIndexRows(db: Database, caller: WithSettings, term: Term): Promise<void> {
  const category = term.taxonomy === 'tribe_events_cat';
  // With this lock, a concurrent write assigns the term before its events are looked up, or finds it deleted.
  await lockTermLinks(db, term);
  // With the category, events also lose its ancestors, unless another category keeps them there.
  const events = category && term.parent > 0 && isIndexMaintained(caller) ? await eventsWithTerm(db, term.term_taxonomy_id) : [];
  await removeTerm(db, term);
  await ifIndexMaintained(caller, async () => {
    await dropFacet(db, facetOf(category ? 'category' : 'tag', term.term_id));
    await indexOrDistrust(db, caller, events);
  });
}

/** Removes a venue or organizer that is deleted from the events that link to it, and from the index. */
export async function removeLinksWithIndexRows(
  db: Database,
  caller: WithSettings,
  { name }: Pick<PostKind, 'name'>,
  id: number,
): Promise<void> {
  for (const [key, linked] of Object.entries(postKind('event').links)) {
    if (linked !== name) continue;
    await removeLinksTo(db, key, id);
    await ifIndexMaintained(caller, () => dropFacet(db, facetOf(linked, id)));
  }
}

/**
 * Whether the index is maintained. In a database shared with WordPress it may not exist yet; when it is built later, it
 * includes everything written until then.
 */
const isIndexMaintained = ({ settings: { shared, raw } }: WithSettings): boolean => !shared || raw.has(INDEX_OPTION);

async function ifIndexMaintained(caller: WithSettings, work: () => Promise<void>): Promise<void> {
  if (isIndexMaintained(caller)) await work();
}

async function indexOrDistrust(db: Database, { settings }: Pick<Caller, 'settings'>, ids: readonly number[] | undefined): Promise<void> {
  if (ids) await indexEvents(db, ids, withHidden(settings.contentLanguages));
  else await disableIndex(db);
}
