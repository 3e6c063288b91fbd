import { storedDates } from '../kinds/events/dates.ts';
import { ORGANIZER_LINK, VENUE_LINK } from '../kinds/events/metas.ts';
import { postKind, termKind } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import type { LinkedKindName, TermKindName } from '../kinds/kind-names.ts';
import type { Values } from '../kinds/param.ts';
import type { Caller } from '../records/caller.ts';
import { languagesOf, languagesOfRecords } from '../records/record-languages.ts';
import { createEvents, type EventInLanguage } from '../records/writes/new-events.ts';
import { deriveRows, fieldRows } from '../records/writes/post-rows.ts';
import type { Site } from '../site.ts';
import type { Database } from '../storage/engine/database.ts';
import { publishedIds } from '../storage/lists/posts-of-type.ts';
import type { NewEvent } from '../storage/rows/bulk.ts';
import { firstTerms } from '../storage/rows/terms.ts';
import { postUrl } from '../wordpress/links.ts';
import { storedTexts } from '../wordpress/php/serialized.ts';
import type { Metas } from '../wordpress/rows.ts';
import { sanitizeTitle } from '../wordpress/slug.ts';
import { addDaysTo, addSeconds } from '../wordpress/time.ts';
import { localFromDate, toUtc } from '../wordpress/zones.ts';
import type { SampleEvent } from './event.ts';
import { sampleEvents } from './events.ts';

/** Options for generating events. */
export interface SeedOptions {
  /**
   * Whether to use all languages of the site in turn, instead of the default one only. On average, every second round
   * writes one event and its translations.
   */
  readonly everyLanguage?: boolean | undefined;
  /** Called with the number of further events that were written. */
  readonly onProgress?: (steps: number) => void;
}

/**
 * Writes this many additional events for measurements. They are distributed over the five years before and after the
 * current day like those of a real calendar, and use existing venues, organizers, categories and tags. It writes
 * thousands per second, and the same events for the same time and count.
 */
export async function seedEvents(
  site: Site,
  caller: Caller,
  count: number,
  { everyLanguage = false, onProgress = () => undefined }: SeedOptions = {},
): Promise<void> {
  const supplies = await loadRecordChoices(site.db, caller, everyLanguage);
  const random = createRandom(count);
  // Slugs must differ from those of earlier runs.
  const runId = site.clock().getTime().toString(36);
  // An event and its translations must be in the same chunk.
  const chunkSize = EVENTS_PER_TRANSACTION - (EVENTS_PER_TRANSACTION % supplies.length);
  for (let first = 0; first < count; first += chunkSize) {
    const drafts: EventInLanguage[] = [];
    while (drafts.length < Math.min(chunkSize, count - first))
      drafts.push(...createRound(caller, supplies, random, `${runId}-${first + drafts.length}`));
    const chunk = drafts.slice(0, count - first);
    await site.db.transaction((db) => createEvents(db, caller, chunk));
    onProgress(chunk.length);
  }
}

/** Events per transaction; short transactions let others write in between. */
const EVENTS_PER_TRANSACTION = 500;
const MAX_DAYS_FROM_TODAY = 5 * 365;

/** Records to choose from for an event in a language. `code` is absent if content has no languages. */
interface RecordChoices {
  readonly code?: string;
  readonly venues: readonly number[];
  readonly organizers: readonly number[];
  readonly categories: readonly number[];
  readonly tags: readonly number[];
}

/** Number of records of each kind to choose from. */
const MAX_CHOICES = 200;

/** Returns one supply for each language in which events are written. */
async function loadRecordChoices(db: Database, caller: Caller, everyLanguage: boolean): Promise<readonly RecordChoices[]> {
  const posts = async (name: LinkedKindName) =>
    byLanguage(db, caller, postKind(name), await publishedIds(db, postKind(name).postType, MAX_CHOICES));
  const terms = async (name: TermKindName) => {
    const rows = await firstTerms(db, termKind(name).taxonomy, MAX_CHOICES);
    const idsIn = await byLanguage(
      db,
      caller,
      termKind(name),
      rows.map((term) => term.term_id),
    );
    return (code?: string) => rows.filter((term) => idsIn(code).includes(term.term_id)).map((term) => term.term_taxonomy_id);
  };
  const [venues, organizers] = [await posts('venue'), await posts('organizer')];
  const [categories, tags] = [await terms('category'), await terms('tag')];
  const { languages, defaultCode } = languagesOf(caller, postKind('event'))?.languages ?? {};
  const codes = everyLanguage ? languages?.map(({ code }) => code) : defaultCode === undefined ? undefined : [defaultCode];
  const supplyIn = (code?: string): RecordChoices => ({
    ...(code === undefined ? {} : { code }),
    venues: venues(code),
    organizers: organizers(code),
    categories: categories(code),
    tags: tags(code),
  });
  return codes?.map(supplyIn) ?? [supplyIn()];
}

/**
 * Returns a function that returns those of these records that are in a language; all of them if the kind has no
 * languages.
 */
async function byLanguage(
  db: Database,
  caller: Caller,
  kind: Kind,
  ids: readonly number[],
): Promise<(code: string | undefined) => readonly number[]> {
  const kindLanguages = languagesOf(caller, kind);
  if (!kindLanguages) return () => ids;
  const codes = await languagesOfRecords(db, kindLanguages, ids);
  return (code) => ids.filter((id) => codes.get(id) === (code ?? kindLanguages.languages.defaultCode));
}

// ------------------------------------------------------------------------------------------------- events
/**
 * Returns an event in each language: on average every second time, one event and its translations. `suffix`: suffix of
 * their slugs.
 */
function createRound(caller: Caller, supplies: readonly RecordChoices[], random: Random, suffix: string): EventInLanguage[] {
  const occasion = randomOccasion(caller, random);
  const isTranslated = supplies.length > 1 && random.chance(0.5);
  return supplies.map((supply, index) => {
    const ownOccasion = isTranslated || index === 0 ? occasion : randomOccasion(caller, random);
    const event = composeEvent(caller, ownOccasion, supply, random, index === 0 ? suffix : `${suffix}-${supply.code}`);
    return { ...event, ...(supply.code === undefined ? {} : { language: supply.code }), ...(isTranslated ? { group: suffix } : {}) };
  });
}

/** Text and dates of an event. */
interface Occasion {
  readonly model: SampleEvent;
  readonly dates: Values;
}

function randomOccasion({ settings, now }: Caller, random: Random): Occasion {
  const model = random.pickOne(sampleEvents)!;
  const day = randomDay(random, localFromDate(now, settings.zone).slice(0, 10));
  return { model, dates: randomDates(random, day) };
}

function composeEvent(caller: Caller, { model, dates }: Occasion, supply: RecordChoices, random: Random, suffix: string): NewEvent {
  const { settings, now, viewer } = caller;
  const kind = postKind('event');
  const { title, description } = supply.code === undefined || supply.code === model.language ? model : model.translation;
  const values: Values = {
    ...dates,
    title: `${title} ${random.integerBelow(1000)}`,
    description,
    ...randomExtras(random),
  };
  const rows = fieldRows(kind, values, { isTrusted: true });
  const derivedRows = deriveRows(kind, values, undefined, caller);
  const metas = {
    ...rows.metas,
    ...derivedRows.metas,
    ...links(VENUE_LINK, random.pickSeveral(supply.venues, 1)),
    ...links(ORGANIZER_LINK, random.pickSeveral(supply.organizers, random.chance(0.2) ? 2 : 1)),
  };
  const published = addSeconds(localFromDate(now, settings.zone), -random.integerBelow(300 * 86_400));
  const publication = { post_date: published, post_date_gmt: toUtc(published, settings.zone) };
  const columns = {
    ...rows.columns,
    ...publication,
    post_modified: publication.post_date,
    post_modified_gmt: publication.post_date_gmt,
    post_author: viewer.id,
    post_status: 'publish',
    post_type: kind.postType,
    post_name: `${sanitizeTitle(title).slice(0, 150)}-${suffix}`,
  };
  const place = {
    home: settings.home,
    permalinkStructure: settings.permalinkStructure,
    singleEventSlug: settings.calendar.singleEventSlug,
  };
  return {
    columns: { ...columns, guid: postUrl(place, { ...columns, ID: 0 }) },
    metas,
    terms: [
      ...new Set([
        ...random.pickSeveral(supply.categories, 1 + random.integerBelow(2)),
        ...random.pickSeveral(supply.tags, random.integerBelow(4)),
      ]),
    ],
    dates: storedDates({ metas: new Map(Object.entries(metas)) as Metas }),
  };
}

const links = (key: string, ids: readonly number[]) => (ids.length > 0 ? { [key]: storedTexts(ids.map(String)) } : {});

/** Returns a random day, preferring weekends: four of ten days are moved to the next Friday, Saturday or Sunday. */
function randomDay(random: Random, today: string): string {
  const day = addDaysTo(today, random.integerBelow(2 * MAX_DAYS_FROM_TODAY) - MAX_DAYS_FROM_TODAY);
  if (!random.chance(0.4)) return day;
  const weekday = new Date(`${day}T00:00:00Z`).getUTCDay();
  return addDaysTo(day, ((5 - weekday + 7) % 7) + random.integerBelow(3));
}

function randomDates(random: Random, day: string): Values {
  if (random.chance(0.1))
    return {
      all_day: true,
      start_date: day,
      end_date: addDaysTo(day, random.chance(0.3) ? random.integerBelow(10) : 0),
    };
  const start = `${day} ${String(9 + random.integerBelow(13)).padStart(2, '0')}:${random.chance(0.3) ? '30' : '00'}:00`;
  const days = random.chance(0.05) ? 1 + random.integerBelow(4) : 0;
  return { start_date: start, end_date: addSeconds(start, 3600 * (1 + random.integerBelow(4)) + days * 86_400) };
}

function randomExtras(random: Random): Values {
  return {
    ...(random.chance(0.7) ? { cost: random.chance(0.4) ? '0' : String(3 + random.integerBelow(40)) } : {}),
    ...(random.chance(0.3) ? { website: `https://example.org/events/${random.integerBelow(100_000)}` } : {}),
    ...(random.chance(0.05) ? { featured: true } : {}),
    show_map: true,
    show_map_link: random.chance(0.5),
  };
}

// ------------------------------------------------------------------------------------------------- chance
interface Random {
  /** Returns a whole number from 0 to `limit - 1`. */
  readonly integerBelow: (limit: number) => number;
  readonly chance: (share: number) => boolean;
  readonly pickOne: <T>(items: readonly T[]) => T | undefined;
  /** Returns up to this many different items. */
  readonly pickSeveral: <T>(items: readonly T[], count: number) => T[];
}

/**
 * Creates a random number generator that yields the same sequence for the same seed (a linear congruential generator
 * with the constants of Numerical Recipes).
 */
function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const integerBelow = (limit: number) => Math.floor(next() * limit);
  const pickOne = <T>(items: readonly T[]) => items[integerBelow(items.length)];
  return {
    integerBelow,
    pickOne,
    chance: (share) => next() < share,
    pickSeveral: (items, count) => (items.length === 0 ? [] : [...new Set(Array.from({ length: count }, () => pickOne(items)!))]),
  };
}
