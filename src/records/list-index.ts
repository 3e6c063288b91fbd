import type { SiteSettings } from '../calendar/settings.ts';
import type { Site } from '../site.ts';
import type { Database } from '../storage/engine/database.ts';
import {
  distrustIndex,
  dropFacet,
  type EventRows,
  eventsUnder,
  eventsWith,
  INDEX_OPTION,
  indexEvents,
  indexLayout,
  indexNewEvent,
  isOvertaken,
  withTranslations,
} from '../storage/index/event-index.ts';
import { reindexEvents } from '../storage/index/event-index-rebuild.ts';
import { facetOf } from '../storage/index/event-index-rows.ts';
import { findTerm, removeTerm } from '../storage/rows/terms.ts';
import type { Term } from '../wordpress/rows.ts';
import type { Caller } from './caller.ts';

/**
 * Whether lists may be read from the index: it is complete, and nobody else writes. WordPress knows nothing of it, so
 * that what is shared with a WordPress is read from WordPress's tables.
 */
export const trustsIndex = ({ shared, occurrenceTables, raw, contentLanguages }: SiteSettings): boolean =>
  !shared && occurrenceTables && raw.get(INDEX_OPTION) === indexLayout(contentLanguages);

/** Why lists are read from WordPress's tables: it writes to them too, or the index is still to be made. */
export type IndexLack = 'shared' | 'missing';

/**
 * To be asked at the start: where WordPress writes too, or wrote while nobody of us looked on, the index is given up
 * until it is rebuilt. Gives why lists go without it from now on; undefined where they do not, or where there are no
 * occurrences to make it of.
 */
export async function giveUpStaleIndex(site: Site): Promise<IndexLack | undefined> {
  const { shared, occurrenceTables, raw } = await site.settings();
  const stale = shared ? raw.has(INDEX_OPTION) : await isOvertaken(site.db);
  if (stale) await site.db.transaction(distrustIndex);
  if (!occurrenceTables) return undefined;
  if (shared) return 'shared';
  return trustsIndex(await site.settings()) ? undefined : 'missing';
}

/**
 * Makes the index again if lists were read from it until now: it says in which language events are, and a change of the
 * site's languages makes all of it old.
 */
export async function renewIndex(site: Site): Promise<void> {
  const { shared, occurrenceTables, raw, contentLanguages: languages } = await site.settings();
  if (shared || !occurrenceTables || !raw.has(INDEX_OPTION)) return;
  await reindexEvents(site.db, site.clock, { trust: true, languages });
}

/** Keeps the index in step with a write of these events, in its transaction, after everything else. */
export const keepIndexOf = (db: Database, caller: Pick<Caller, 'settings'>, ids: readonly number[]): Promise<void> =>
  keep(db, caller, async () => {
    await indexAll(db, caller, ids);
  });

/** The same for an event that has just been made, whose rows are known. */
export const keepIndexOfNew = (db: Database, caller: Pick<Caller, 'settings'>, rows: EventRows): Promise<void> =>
  keep(db, caller, async () => {
    const { contentLanguages } = caller.settings;
    await indexNewEvent(db, rows, contentLanguages);
    const others = await withTranslations(db, [rows.post.ID], contentLanguages);
    if (others.length > 1) await indexEvents(db, others, contentLanguages);
  });

/** Brings events into step, and those that they are translations of. */
async function indexAll(db: Database, { settings: { contentLanguages } }: Pick<Caller, 'settings'>, ids: readonly number[]): Promise<void> {
  await indexEvents(db, await withTranslations(db, ids, contentLanguages), contentLanguages);
}

/** The same after a change of a term; `before`: as it was. Only another parent counts, for what is below it. */
export async function keepIndexOfMoved(db: Database, caller: Caller, before: Term): Promise<void> {
  if (before.taxonomy !== 'tribe_events_cat') return;
  const after = await findTerm(db, before.taxonomy, before.term_id);
  if (after?.parent === before.parent) return;
  await keep(db, caller, async () => indexOrDistrust(db, caller, await eventsUnder(db, before.term_id)));
}

/** Removes a term for good, from the index too. */
export async function removeIndexedTerm(db: Database, caller: Caller, term: Term): Promise<void> {
  const category = term.taxonomy === 'tribe_events_cat';
  // Events lose the categories above with it, unless others keep them there.
  const events = category && term.parent > 0 && !caller.settings.shared ? await eventsWith(db, term.term_taxonomy_id) : [];
  await removeTerm(db, term);
  await keep(db, caller, async () => {
    await dropFacet(db, facetOf(category ? 'category' : 'tag', term.term_id));
    await indexOrDistrust(db, caller, events);
  });
}

/** Where WordPress writes as well the index is left alone, and not trusted again until it is rebuilt. */
async function keep(db: Database, { settings }: Pick<Caller, 'settings'>, work: () => Promise<void>): Promise<void> {
  if (!settings.shared) await work();
  else if (settings.raw.has(INDEX_OPTION)) await distrustIndex(db);
}

async function indexOrDistrust(db: Database, { settings }: Pick<Caller, 'settings'>, ids: readonly number[] | undefined): Promise<void> {
  if (ids) await indexEvents(db, ids, settings.contentLanguages);
  else await distrustIndex(db);
}
