import { setImmediate as nextTurn } from 'node:timers/promises';
import { nowUtc } from '../../wordpress/time.ts';
import type { Database } from '../engine/database.ts';
import { pagesOf } from '../engine/pages.ts';
import { verbatim } from '../engine/statement.ts';
import { distrustIndex, dropFacet, eventsOfTerm, eventsUnder, indexWithTranslations } from '../index/event-index.ts';
import { facetOf } from '../index/event-index-rows.ts';
import type { OptionalLanguages } from '../index/indexed-events.ts';
import { append, type Change, EVERYTHING, type JournalWriter, type Origin } from '../journal/entries.ts';
import { afterAppending, changedWithOthers } from '../journal/touched.ts';
import { termsBelow } from '../rows/terms.ts';
import {
  arePrintsComplete,
  currentPrints,
  differingKeys,
  nextKey,
  notePrintsComplete,
  type Print,
  type PrintSource,
  postsInGroups,
  printSources,
  storedPrints,
  storePrints,
  termKeys,
} from './prints.ts';

/** How many milliseconds one query should take: the next one reads as many keys as fit into that. */
const STEP_MS = 20;
const FIRST_KEYS = 512;
const FEWEST_KEYS = 512;
const MOST_KEYS = 65_536;
/** So many changes are taken over in one transaction. */
const AT_ONCE = 200;

/**
 * Finds what others have changed, by comparing the rows of all objects with their prints, and takes it over: into the
 * journal, the list index and the prints, all in one transaction for each change. What is committed before this begins
 * is taken over when it ends. Several processes may do so at once: each change is noted once.
 *
 * The first time there are no prints: then they are made, and the journal gets one entry that says that anything may
 * have changed. The index is left alone by that.
 *
 * Gives how many transactions that took.
 *
 * @param posts those that may have changed, if that is known (`row-ranges.ts`)
 * @param languages of the content, as they stand
 */
export async function takeOverChanges(
  db: Database,
  now: () => Date,
  {
    sources,
    posts,
    languages,
  }: { readonly sources?: readonly PrintSource[]; readonly posts?: readonly number[]; readonly languages?: OptionalLanguages } = {},
): Promise<number> {
  const isKnown = await arePrintsComplete(db, languages);
  const terms: number[] = [];
  let writes = 0;
  for (const source of sources ?? (await printSources(db, languages))) {
    // A group that has changed changes its members, whose own rows may be what they were.
    const given = source.kind === 'post' && posts ? [...new Set([...posts, ...(await postsInGroups(db, terms))])] : undefined;
    for await (const keys of given ? differencesAmong(db, source, given) : differences(db, source)) {
      if (source.kind === 'term') terms.push(...keys);
      for (const some of pagesOf(keys, AT_ONCE))
        writes += await db.transaction(async (trx) => {
          await lockChanges(trx);
          const found = await takeOver(trx, source, some, { now: isKnown ? now() : undefined, languages, writer: 'found' });
          return Math.min(found, 1);
        });
    }
  }
  if (isKnown) return writes;
  await db.transaction(async (trx) => {
    await notePrintsComplete(trx, languages);
    await append(trx, [EVERYTHING], { writer: 'found', at: nowUtc(now()), user: 0 });
  });
  return writes + 1;
}

/** Whether others have changed something that is not taken over yet, or may have. Only reads. */
export async function hasForeignChanges(db: Database, languages: OptionalLanguages): Promise<boolean> {
  if (!(await arePrintsComplete(db, languages))) return true;
  for (const source of await printSources(db, languages))
    for await (const keys of differences(db, source)) if (keys.length > 0) return true;
  return false;
}

/**
 * Keeps the prints of what this process changes itself, in its transactions, so that it is not found as a change of
 * others. What others have committed to the same object meanwhile is in its print, too: so its events are indexed once
 * more, by what can be read after the print.
 *
 * @param prints where they come from at that moment; undefined: there are none
 */
export function printOwnChanges(
  db: Database,
  prints: () => { readonly sources: readonly PrintSource[]; readonly languages: OptionalLanguages } | undefined,
): void {
  afterAppending(db, async (trx, changes, at) => {
    const { sources, languages } = prints() ?? { sources: [], languages: undefined };
    for (const source of sources) {
      const ids = changes.filter(({ kind }) => kind === source.kind).map(({ object }) => object);
      if (ids.length === 0) continue;
      changedWithOthers(trx);
      const keys = source.kind === 'post' ? ids : await termKeys(trx, ids);
      const [stored, current] = [await storedPrints(trx, source.kind, keys), await currentPrints(trx, source, keys)];
      const differences = keys.map((key): Difference => ({ before: stored.get(key), after: current.get(key) })).filter(isDifferent);
      await takeOverBeside(trx, differences, { own: changes, at, languages });
      const gone = keys.filter((key) => !current.has(key));
      await storePrints(trx, source.kind, [...current.values()], gone);
      const events = [...current.values()].filter(({ kind, type }) => kind === 'post' && type === EVENTS);
      if (events.length > 0)
        await indexWithTranslations(
          trx,
          events.map(({ object }) => Number(object)),
          languages,
        );
    }
  });
}

/**
 * Takes over what others have changed of the same objects a moment before an own change, which knows nothing of that:
 * an object was seen by everybody until then, is of another type by now, or a category is at another place. Its print
 * will not show that any more.
 */
async function takeOverBeside(
  db: Database,
  differences: readonly Difference[],
  { own, at, languages }: { readonly own: readonly Change[]; readonly at: string; readonly languages: OptionalLanguages },
): Promise<void> {
  const ofOwn = ({ kind, type, object }: Change) => own.filter((one) => one.kind === kind && one.type === type && one.object === object);
  const isTold = (change: Change): boolean => ofOwn(change).some(({ wasPublic }) => wasPublic || !change.wasPublic);
  const isOurs = (change: Change): boolean => ofOwn(change).some(({ what }) => what === change.what);
  const steps = differences.flatMap(stepsOf);
  const untold = steps.filter((step) => !isTold(changeOf(step)));
  const terms = steps.filter(({ before, after }) => (after ?? before)!.kind === 'term');
  // What we have made or removed ourselves is in the index, or out of it.
  for (const step of terms) if ((step.before && step.after) || !isOurs(changeOf(step))) await indexTerm(db, step, languages);
  const moved = terms.some(({ before }) => before) ? await movedBelow(db, terms) : [];
  const found = [...untold.map(changeOf), ...moved.filter((change) => !isTold(change))];
  if (found.length > 0) await append(db, found, { writer: 'found', at, user: 0 });
}

/** Keys of objects that differ from their prints, found in short steps. */
async function* differences(db: Database, source: PrintSource): AsyncGenerator<number[]> {
  let width = FIRST_KEYS;
  for (let from = await nextKey(db, source, 0); from !== undefined; ) {
    const begun = performance.now();
    const to: number = from + width;
    const keys = await differingKeys(db, source, { from, to });
    const took = performance.now() - begun;
    width = Math.max(FEWEST_KEYS, Math.min(MOST_KEYS, width * 2, Math.round((width * STEP_MS) / Math.max(took, 1))));
    if (keys.length > 0) yield keys;
    from = await nextKey(db, source, to);
    // SQLite answers at once: without this nobody else would get a turn.
    await nextTurn();
  }
}

/** Those of these keys whose objects differ from their prints. */
async function* differencesAmong(db: Database, { kind, ...source }: PrintSource, keys: readonly number[]): AsyncGenerator<number[]> {
  for (const some of pagesOf(keys, AT_ONCE)) {
    const [stored, current] = [await storedPrints(db, kind, some), await currentPrints(db, { kind, ...source }, some)];
    const differing = some.filter((key) => isDifferent({ before: stored.get(key), after: current.get(key) }));
    if (differing.length > 0) yield differing;
    await nextTurn();
  }
}

interface Difference {
  readonly before: Print | undefined;
  readonly after: Print | undefined;
}

/**
 * Makes all other writers wait until the end of this transaction. What it reads from now on is of one moment after
 * that: call it first.
 */
export async function lockChanges(db: Database): Promise<void> {
  await db.rows`SELECT counter FROM {fasti_changes} WHERE id = 1 ${verbatim(db.dialect.locks.update)}`;
}

export interface TakeOverOptions {
  /** Undefined: changes go into the prints alone. */
  readonly now: Date | undefined;
  readonly languages: OptionalLanguages;
  readonly writer: JournalWriter;
  /** The id of the user who made a change. Absent: nobody knows. */
  readonly userOf?: (change: Change) => number;
}

/**
 * Takes over those of these objects that differ from their prints, in a transaction that has called `lockChanges`.
 * Gives how many they were.
 */
export async function takeOver(
  db: Database,
  source: PrintSource,
  keys: readonly number[],
  { now, languages, writer, userOf = () => 0 }: TakeOverOptions,
): Promise<number> {
  const [stored, current] = [await storedPrints(db, source.kind, keys), await currentPrints(db, source, keys)];
  const differences = keys.map((key): Difference => ({ before: stored.get(key), after: current.get(key) })).filter(isDifferent);
  if (differences.length === 0) return 0;
  if (now) {
    const steps = differences.flatMap(stepsOf);
    if (source.kind === 'post') await indexPosts(db, differences, languages);
    else for (const step of steps) await indexTerm(db, step, languages);
    const moved = source.kind === 'term' ? await movedBelow(db, steps) : [];
    await appendByUser(db, [...steps.map(changeOf), ...moved], userOf, { writer, at: nowUtc(now) });
  } else await db.change`UPDATE {fasti_changes} SET counter = counter + 1 WHERE id = 1`;
  const gone = differences.flatMap(({ before, after }) => (before && !after ? [before.object] : []));
  await storePrints(
    db,
    source.kind,
    differences.flatMap(({ after }) => after ?? []),
    gone,
  );
  return differences.length;
}

/** Appends changes that several users may have made. */
export async function appendByUser(
  db: Database,
  changes: readonly Change[],
  userOf: (change: Change) => number,
  origin: Omit<Origin, 'user'>,
): Promise<void> {
  const users = new Set(changes.map(userOf));
  for (const user of users) {
    const own = changes.filter((change) => userOf(change) === user);
    await append(db, own, { ...origin, user });
  }
}

const isDifferent = ({ before, after }: Difference): boolean => before?.digest !== after?.digest || before?.type !== after?.type;

/** What becomes one of another type, or another term, is gone for all who know it as what it was. */
const stepsOf = ({ before, after }: Difference): Difference[] =>
  before && after && (before.type !== after.type || Number(before.term) !== Number(after.term))
    ? [
        { before, after: undefined },
        { before: undefined, after },
      ]
    : [{ before, after }];

function changeOf({ before, after }: Difference): Change {
  // One of them is there, or they would not differ.
  const print = (after ?? before)!;
  return {
    kind: print.kind === 'post' ? 'post' : 'term',
    type: print.type,
    object: Number(print.kind === 'post' ? print.object : print.term),
    what: before ? (after ? 'changed' : 'removed') : 'made',
    wasPublic: Boolean(before?.is_public),
    isPublic: Boolean(after?.is_public),
  };
}

/** Categories have addresses that hold the slugs of those above. Their own rows say nothing of a change of these. */
async function movedBelow(db: Database, differences: readonly Difference[]): Promise<Change[]> {
  const known = new Set(differences.map(({ before, after }) => Number((after ?? before)!.term)));
  const above = differences.flatMap(({ before, after }) => {
    const print = (after ?? before)!;
    return print.type === CATEGORIES && isElsewhere(before, after) ? [print] : [];
  });
  const below = await termsBelow(
    db,
    CATEGORIES,
    above.map(({ term }) => Number(term)),
  );
  const changed = { kind: 'term', type: CATEGORIES, what: 'changed', wasPublic: true, isPublic: true } as const;
  return below.filter((id) => !known.has(id)).map((object) => ({ ...changed, object }));
}

/** Whether a term may have another slug or another place than before, or is there only before or after. */
const isElsewhere = (before: Print | undefined, after: Print | undefined): boolean =>
  Number(before?.parent) !== Number(after?.parent) || nameIn(before) !== nameIn(after);

/** What the digest of a term says of its row in `terms`, which is its second part. Each database has its own form. */
const nameIn = (print: Print | undefined): string | undefined =>
  /^(?:[\da-f]{32}|\d+ \d+|-) ([\da-f]{32}|\d+ \d+|-)/.exec(print?.digest ?? '')?.[1];

const CATEGORIES = 'tribe_events_cat';
const EVENTS = 'tribe_events';

async function indexPosts(db: Database, differences: readonly Difference[], languages: OptionalLanguages): Promise<void> {
  const events = differences.filter(({ before, after }) => before?.type === EVENTS || after?.type === EVENTS);
  const ids = events.map(({ before, after }) => Number((after ?? before)!.object));
  await indexWithTranslations(db, ids, languages);
}

const HEADINGS = new Map<string, 'category' | 'tag'>([
  [CATEGORIES, 'category'],
  ['post_tag', 'tag'],
]);

/** Only its place in the tree counts, and whether it is there at all. */
async function indexTerm(db: Database, { before, after }: Difference, languages: OptionalLanguages): Promise<void> {
  const print = (after ?? before)!;
  const heading = HEADINGS.get(print.type);
  if (!heading || (before && after && Number(before.parent) === Number(after.parent))) return;
  const facet = facetOf(heading, Number(print.term));
  const events = await eventsOfTerm(db, facet, Number(print.object));
  // Categories may have waited for the one that they are below.
  const below = !before && heading === 'category' ? await eventsBelow(db, Number(print.term)) : [];
  if (!after) await dropFacet(db, facet);
  if (events && below) await indexWithTranslations(db, [...new Set([...events, ...below])], languages);
  else await distrustIndex(db);
}

/** Events in categories below this one; undefined: too many to be changed at once. */
async function eventsBelow(db: Database, category: number): Promise<number[] | undefined> {
  const all: number[] = [];
  for (const id of await termsBelow(db, CATEGORIES, [category])) {
    const events = await eventsUnder(db, id);
    if (!events) return undefined;
    all.push(...events);
  }
  return all;
}
