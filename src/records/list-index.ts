import type { SiteSettings } from '../calendar/settings.ts';
import type { Site } from '../site.ts';
import type { Database } from '../storage/engine/database.ts';
import { arePrintsComplete } from '../storage/freshness/prints.ts';
import {
  distrustIndex,
  dropFacet,
  eventsUnder,
  eventsWith,
  INDEX_OPTION,
  indexEvents,
  indexLayout,
  indexNewEvents,
  indexWithTranslations,
  isOvertaken,
  layoutInUse,
} from '../storage/index/event-index.ts';
import { reindexEvents } from '../storage/index/event-index-rebuild.ts';
import { facetOf } from '../storage/index/event-index-rows.ts';
import type { EventRows } from '../storage/index/indexed-events.ts';
import { findTerm, lockTermLinks, removeTerm } from '../storage/rows/terms.ts';
import type { Term } from '../wordpress/rows.ts';
import type { Caller } from './caller.ts';

/** Whether there is an index of all events, made for the languages that the site has. */
export const hasIndex = ({ occurrenceTables, raw, contentLanguages }: SiteSettings): boolean =>
  occurrenceTables && raw.get(INDEX_OPTION) === indexLayout(contentLanguages);

/** What tells whether somebody who asks may have a list from the index. */
type Asking = Pick<Caller, 'settings' | 'arrived'>;

/**
 * Whether lists may be read from the index now. Where WordPress writes too, it knows nothing of the index: then only if
 * everything that it had written when the request came has been taken over, which may have made or given up the index.
 */
export async function trustsIndex(site: Site, { settings, arrived }: Asking): Promise<boolean> {
  if (!settings.shared) return hasIndex(settings);
  const upToDate = settings.occurrenceTables ? await site.upToDate(arrived) : undefined;
  return upToDate !== undefined && (await layoutInUse(site.db, upToDate.state)) === indexLayout(settings.contentLanguages);
}

/** Whether lists that show an event once can be read from the index, which has a row for each of its dates. */
export const trustsIndexOfEvents = async (site: Site, asking: Asking): Promise<boolean> =>
  asking.settings.recurrence === undefined && (await trustsIndex(site, asking));

/** Why lists are read from WordPress's tables: the index is still to be made, by the server itself or by a command. */
export type IndexLack = 'shared' | 'missing';

/**
 * To be asked at the start: where WordPress wrote while nobody of us looked on, the index is given up until it is
 * rebuilt, unless it can be found out what that was. Returns why lists go without it from now on; undefined where they
 * do not, or where there are no occurrences to make it of.
 */
export async function giveUpStaleIndex(site: Site): Promise<IndexLack | undefined> {
  const { shared, occurrenceTables, raw, contentLanguages } = await site.settings();
  const stale = shared ? raw.has(INDEX_OPTION) && !(await arePrintsComplete(site.db, contentLanguages)) : await isOvertaken(site.db);
  if (stale) await site.db.transaction(distrustIndex);
  if (!occurrenceTables || hasIndex(await site.settings())) return undefined;
  return shared ? 'shared' : 'missing';
}

/**
 * Makes the index again if lists were read from it until now: it says in which language events are, and a change of the
 * site's languages makes all of it old.
 */
export async function renewIndex(site: Site): Promise<void> {
  const { occurrenceTables, raw, contentLanguages: languages } = await site.settings();
  if (!occurrenceTables || !raw.has(INDEX_OPTION)) return;
  await reindexEvents(site.db, site.clock, { trust: true, languages });
}

type Known = Pick<Caller, 'settings'>;

/** Keeps the index in step with a write of these events, in its transaction, after everything else. */
export const keepIndexOf = (db: Database, caller: Known, ids: readonly number[]): Promise<void> =>
  keep(caller, async () => void (await indexWithTranslations(db, ids, caller.settings.contentLanguages)));

/** The same for events that have just been made, whose rows are known. Their translations are left to the caller. */
export const keepIndexOfNew = (db: Database, caller: Known, rows: readonly EventRows[]): Promise<void> =>
  keep(caller, () => indexNewEvents(db, rows, caller.settings.contentLanguages));

/** The same after a change of a term; `before`: as it was. Only another parent counts, for what is below it. */
export async function keepIndexOfMoved(db: Database, caller: Known, before: Term): Promise<void> {
  if (before.taxonomy !== 'tribe_events_cat') return;
  const after = await findTerm(db, before.taxonomy, before.term_id);
  if (after?.parent === before.parent) return;
  await keep(caller, async () => indexOrDistrust(db, caller, await eventsUnder(db, before.term_id)));
}

/** Removes a term for good, from the index too. */
export async function removeTermWithIndexRows(db: Database, caller: Known, term: Term): Promise<void> {
  const category = term.taxonomy === 'tribe_events_cat';
  // Whoever gives it to an event now has done so before it is looked for, or finds it gone.
  await lockTermLinks(db, term);
  // Events lose the categories above with it, unless others keep them there.
  const events = category && term.parent > 0 && isKept(caller) ? await eventsWith(db, term.term_taxonomy_id) : [];
  await removeTerm(db, term);
  await keep(caller, async () => {
    await dropFacet(db, facetOf(category ? 'category' : 'tag', term.term_id));
    await indexOrDistrust(db, caller, events);
  });
}

/** Beside a WordPress there may be no index yet; when it is made, what was written until then is found. */
const isKept = ({ settings: { shared, raw } }: Known): boolean => !shared || raw.has(INDEX_OPTION);

async function keep(caller: Known, work: () => Promise<void>): Promise<void> {
  if (isKept(caller)) await work();
}

async function indexOrDistrust(db: Database, { settings }: Pick<Caller, 'settings'>, ids: readonly number[] | undefined): Promise<void> {
  if (ids) await indexEvents(db, ids, settings.contentLanguages);
  else await distrustIndex(db);
}
