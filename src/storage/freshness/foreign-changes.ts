import { setImmediate as nextTurn } from 'node:timers/promises';
import { utcFromDate } from '../../wordpress/time.ts';
import type { Database } from '../engine/database.ts';
import { pagesOf } from '../engine/pages.ts';
import { verbatim } from '../engine/statement.ts';
import { disableIndex, dropFacet, eventsBelowCategory, eventsOfTerm } from '../index/event-index.ts';
import { facetOf } from '../index/event-index-rows.ts';
import type { OptionalLanguages } from '../index/indexed-events.ts';
import { ANYTHING_CHANGED, appendChanges, type Change, type JournalWriter, type Origin } from '../journal/entries.ts';
import { afterAppending, reportConcurrentWriters } from '../journal/reported-changes.ts';
import { termsBelow } from '../rows/terms.ts';
import { type PostsAtOnce, readPostsAtOnce, withLockedTranslations } from './posts-at-once.ts';
import {
  arePrintsComplete,
  currentPrints,
  differingKeys,
  markPrintsComplete,
  nextKey,
  type Print,
  type PrintForm,
  type PrintKind,
  type PrintSource,
  postsInGroups,
  printSources,
  storedPrints,
  storePrints,
  termKeys,
} from './prints.ts';

/** Target duration of one query, in milliseconds. The number of keys that the next query reads is adjusted to it. */
const TARGET_QUERY_MS = 20;
const FIRST_KEYS = 512;
const MIN_KEYS = 512;
const MAX_KEYS = 65_536;
/** Maximum number of changes that are taken over in one transaction. */
const BATCH_SIZE = 200;
/**
 * Maximum number of events that are indexed again in one transaction for terms that another writer has moved. With
 * more, all writers would wait too long for its end, so the index is given up: a rebuild takes many short steps.
 */
const MAX_EVENTS_OF_MOVED_TERMS = 1000;

/**
 * Finds changes by other writers, by comparing the rows of all objects with their prints, and takes them over: into the
 * journal, the list index and the prints, in one transaction for each group of changes. Changes committed before this
 * function begins have been taken over when it ends. Several processes may run it at the same time: each change is
 * noted once.
 *
 * At the first run there are no prints. Then they are created, and the journal gets one entry which says that anything
 * may have changed. The list index is not updated in this case.
 *
 * Returns the number of transactions that wrote.
 *
 * @param posts the posts that may have changed, if that is known (`row-ranges.ts`); at the first run, all are compared
 * @param languages current languages of the content
 */
export async function takeOverChanges(
  db: Database,
  now: () => Date,
  {
    sources: knownSources,
    posts,
    languages,
  }: { readonly sources?: readonly PrintSource[]; readonly posts?: readonly number[]; readonly languages?: OptionalLanguages } = {},
): Promise<number> {
  const sources = knownSources ?? (await printSources(db, languages));
  const isKnown = await arePrintsComplete(db, { languages, sources });
  const terms: number[] = [];
  let writes = 0;
  for (const source of sources) {
    // A change of a group of translations affects its members, even if their own rows are unchanged.
    const suspects = source.kind === 'post' && posts && isKnown ? [...new Set([...posts, ...(await postsInGroups(db, terms))])] : undefined;
    for await (const keys of suspects ? differencesAmong(db, source, suspects) : differences(db, source)) {
      if (source.kind === 'term') terms.push(...keys);
      for (const page of pagesOf(keys, BATCH_SIZE))
        writes += await db.transaction(async (trx) => {
          await lockChanges(trx);
          const count = await takeOver(trx, source.kind, page, { sources, now: isKnown ? now() : undefined, languages, writer: 'found' });
          return Math.min(count, 1);
        });
    }
  }
  if (isKnown) return writes;
  await db.transaction(async (trx) => {
    await markPrintsComplete(trx, { languages, sources });
    await appendChanges(trx, [ANYTHING_CHANGED], { writer: 'found', at: utcFromDate(now()), user: 0 });
  });
  return writes + 1;
}

/** Whether other writers have, or may have, made changes that are not taken over yet. Only reads. */
export async function hasForeignChanges(db: Database, languages: OptionalLanguages): Promise<boolean> {
  const sources = await printSources(db, languages);
  if (!(await arePrintsComplete(db, { languages, sources }))) return true;
  for (const source of sources) for await (const keys of differences(db, source)) if (keys.length > 0) return true;
  return false;
}

/**
 * Updates the prints of objects that this process changes, in the same transactions, so that these changes are not
 * found as changes by other writers. The new print also covers what other writers have committed to the same object in
 * the meantime. Therefore the events among the objects are indexed again, as they were when the print was made.
 *
 * @param prints returns the current sources of prints and languages, in a transaction; undefined: there are no prints
 */
export function updatePrintsOfOwnChanges(db: Database, prints: (trx: Database) => Promise<PrintForm | undefined>): void {
  afterAppending(db, async (trx, { changes, at, indexed }) => {
    const { sources, languages } = (await prints(trx)) ?? { sources: [], languages: undefined };
    const scope = { sources, languages, takenOver: new Set<number>(), ...concurrentChanges(trx, changes, at) };
    for (const source of sources) {
      const objects = changes.filter(({ kind }) => kind === source.kind).map(({ object }) => object);
      if (source.kind === 'post' && source.isIndexed) objects.push(...indexed);
      // The events of a term that has moved have been taken over with it.
      const ids = source.kind === 'post' ? objects.filter((id) => !scope.takenOver.has(id)) : objects;
      if (ids.length === 0) continue;
      reportConcurrentWriters(trx);
      if (source.kind === 'post') await takeOverPosts(trx, scope, source, { keys: ids, isAlwaysIndexed: true });
      else await takeOverTerms(trx, scope, source, await termKeys(trx, ids));
    }
  });
}

/**
 * Returns how changes that other writers made to the same objects just before a change by this process are taken over:
 * only those that it does not cover, because the object was public until then, has another type, or a category has
 * moved. The new print would hide them.
 */
function concurrentChanges(db: Database, ownChanges: readonly Change[], at: string): Pick<Scope, 'note' | 'isDone'> {
  const sameObject = ({ kind, type, object }: Change) =>
    ownChanges.filter((one) => one.kind === kind && one.type === type && one.object === object);
  const isReported = (change: Change): boolean => sameObject(change).some(({ wasPublic }) => wasPublic || !change.wasPublic);
  return {
    // Terms that this process itself created or removed have already been added to or removed from the index.
    isDone: (step) => !(step.before && step.after) && sameObject(changeOf(step)).some(({ what }) => what === changeOf(step).what),
    note: async (changes) => {
      const unreported = changes.filter((change) => !isReported(change));
      if (unreported.length > 0) await appendChanges(db, unreported, { writer: 'found', at, user: 0 });
    },
  };
}

/** Yields the keys of objects that differ from their prints, in short steps. */
async function* differences(db: Database, source: PrintSource): AsyncGenerator<number[]> {
  let width = FIRST_KEYS;
  for (let from = await nextKey(db, source, 0); from !== undefined; ) {
    const startedAt = performance.now();
    const to: number = from + width;
    const keys = await differingKeys(db, source, { from, to });
    const took = performance.now() - startedAt;
    width = Math.max(MIN_KEYS, Math.min(MAX_KEYS, width * 2, Math.round((width * TARGET_QUERY_MS) / Math.max(took, 1))));
    if (keys.length > 0) yield keys;
    from = await nextKey(db, source, to);
    // SQLite runs queries synchronously: without this pause, no other work would get a turn.
    await nextTurn();
  }
}

/** Yields those of these keys whose objects differ from their prints. */
async function* differencesAmong(db: Database, { kind, ...source }: PrintSource, keys: readonly number[]): AsyncGenerator<number[]> {
  for (const page of pagesOf(keys, BATCH_SIZE)) {
    const [stored, current] = [await storedPrints(db, kind, page), await currentPrints(db, { kind, ...source }, page)];
    const changedKeys = page.filter((key) => isDifferent({ before: stored.get(key), after: current.get(key) }));
    if (changedKeys.length > 0) yield changedKeys;
    await nextTurn();
  }
}

interface Difference {
  readonly before: Print | undefined;
  readonly after: Print | undefined;
}

/**
 * Makes all other writers wait until the end of this transaction. Everything that the transaction reads afterwards is
 * consistent, so this must be called first.
 */
export async function lockChanges(db: Database): Promise<void> {
  await db.rows`SELECT counter FROM {fasti_changes} WHERE id = 1 ${verbatim(db.dialect.locks.update)}`;
}

export interface TakeOverOptions {
  readonly sources: readonly PrintSource[];
  /** Undefined: only the prints are updated, not the journal and the index. */
  readonly now: Date | undefined;
  readonly languages: OptionalLanguages;
  readonly writer: JournalWriter;
  /** Returns the id of the user who made a change. Absent: the user is not known. */
  readonly userOf?: (change: Change) => number;
}

/**
 * Takes over those of these objects that differ from their prints, and the translations of the events among them, in a
 * transaction that has called `lockChanges`. Returns their number.
 */
export async function takeOver(db: Database, kind: PrintKind, keys: readonly number[], options: TakeOverOptions): Promise<number> {
  const { sources, now, languages } = options;
  const source = sources.find((one) => one.kind === kind);
  if (!source) return 0;
  if (!now) {
    const differences = await differencesOf(db, kind, keys, await currentPrints(db, source, keys));
    if (differences.length > 0) await db.change`UPDATE {fasti_changes} SET counter = counter + 1 WHERE id = 1`;
    await storeDifferences(db, kind, differences);
    return differences.length;
  }
  const note = noteIn(db, { ...options, now });
  const maxEvents = MAX_EVENTS_OF_MOVED_TERMS;
  const scope = { sources, languages, takenOver: new Set<number>(), maxEvents, isDone: () => false, note };
  return kind === 'post' ? (await takeOverPosts(db, scope, source, { keys })).count : takeOverTerms(db, scope, source, keys);
}

/** Returns the function that appends changes to the journal. */
const noteIn =
  (db: Database, { now, writer, userOf = () => 0 }: Pick<TakeOverOptions, 'writer' | 'userOf'> & { readonly now: Date }): Scope['note'] =>
  async (changes) =>
    appendByUser(db, changes, userOf, { writer, at: utcFromDate(now) });

/**
 * Indexes these events and their translations again, and takes over their changes, in a transaction that has called
 * `lockChanges`. Returns all of them, and those that cannot be indexed.
 */
export async function reindexWithPrints(
  db: Database,
  keys: readonly number[],
  options: Pick<TakeOverOptions, 'sources' | 'languages'> & { readonly now: Date },
): Promise<{ readonly indexed: Iterable<number>; readonly unindexable: readonly number[] }> {
  const source = options.sources.find(({ kind }) => kind === 'post');
  const takenOver = new Set<number>();
  const scope = { ...options, takenOver, isDone: () => false, note: noteIn(db, { ...options, writer: 'found' }) };
  const { unindexable } = source ? await takeOverPosts(db, scope, source, { keys, isAlwaysIndexed: true }) : { unindexable: [] };
  return { indexed: takenOver, unindexable };
}

/** The way in which objects are taken over in a transaction. */
interface Scope extends Pick<TakeOverOptions, 'sources' | 'languages'> {
  /** Appends changes to the journal. */
  readonly note: (changes: readonly Change[]) => Promise<void>;
  /** As `MAX_EVENTS_OF_MOVED_TERMS`; absent: only the limits of the index apply. */
  readonly maxEvents?: number;
  /** The posts that have been taken over so far. */
  readonly takenOver: Set<number>;
  /** Whether the transaction has already done what follows from the creation or removal of a term. */
  readonly isDone: (step: Difference) => boolean;
}

/**
 * Takes over these posts. The prints are stored first: the index is made from them. Returns the number of posts that
 * differed from their prints, and the events that cannot be indexed.
 *
 * @param isAlwaysIndexed whether events are indexed again even if none of them differs from its print
 */
async function takeOverPosts(
  db: Database,
  { languages, note, takenOver }: Scope,
  source: PrintSource,
  { keys, isAlwaysIndexed = false }: { readonly keys: readonly number[]; readonly isAlwaysIndexed?: boolean },
): Promise<{ readonly count: number; readonly unindexable: readonly number[] }> {
  const all = source.isIndexed ? await withLockedTranslations(db, keys, languages) : keys;
  const differences: Difference[] = [];
  const pages: PostsAtOnce[] = [];
  for (const page of pagesOf(all, BATCH_SIZE)) {
    const posts = await readPostsAtOnce(db, source, page, languages);
    const differencesOfPage = await differencesOf(db, 'post', page, posts.prints);
    await storeDifferences(db, 'post', differencesOfPage);
    await note(differencesOfPage.flatMap(stepsOf).map(changeOf));
    differences.push(...differencesOfPage);
    pages.push(posts);
    for (const id of page) takenOver.add(id);
  }
  const unindexable: number[] = [];
  // The translations of an event may be on another page, so all prints must have been stored before.
  if (differences.length > 0 || isAlwaysIndexed) for (const posts of pages) unindexable.push(...(await posts.index()));
  return { count: differences.length, unindexable };
}

async function takeOverTerms(db: Database, scope: Scope, source: PrintSource, keys: readonly number[]): Promise<number> {
  const differences = await differencesOf(db, 'term', keys, await currentPrints(db, source, keys));
  await storeDifferences(db, 'term', differences);
  const steps = differences.flatMap(stepsOf);
  const open = steps.filter((step) => !scope.isDone(step));
  for (const step of source.isIndexed ? open : []) await indexTerm(db, scope, step);
  await scope.note([...steps.map(changeOf), ...(await changesOfDescendants(db, open))]);
  return differences.length;
}

async function differencesOf(
  db: Database,
  kind: PrintKind,
  keys: readonly number[],
  current: ReadonlyMap<number, Print>,
): Promise<Difference[]> {
  const stored = await storedPrints(db, kind, keys);
  return keys.map((key): Difference => ({ before: stored.get(key), after: current.get(key) })).filter(isDifferent);
}

async function storeDifferences(db: Database, kind: PrintKind, differences: readonly Difference[]): Promise<void> {
  const goneKeys = differences.flatMap(({ before, after }) => (before && !after ? [before.object] : []));
  const prints = differences.flatMap(({ after }) => after ?? []);
  await storePrints(db, kind, prints, goneKeys);
}

/** Appends changes that may have been made by several users. */
export async function appendByUser(
  db: Database,
  changes: readonly Change[],
  userOf: (change: Change) => number,
  origin: Omit<Origin, 'user'>,
): Promise<void> {
  const users = new Set(changes.map(userOf));
  for (const user of users) {
    const userChanges = changes.filter((change) => userOf(change) === user);
    await appendChanges(db, userChanges, { ...origin, user });
  }
}

const isDifferent = ({ before, after }: Difference): boolean => before?.digest !== after?.digest || before?.type !== after?.type;

/**
 * Splits a change of the type of an object, or of the term of a row, into a removal and a creation: for clients that
 * know the object under its old identity, it is gone.
 */
const stepsOf = ({ before, after }: Difference): Difference[] =>
  before && after && (before.type !== after.type || Number(before.term) !== Number(after.term))
    ? [
        { before, after: undefined },
        { before: undefined, after },
      ]
    : [{ before, after }];

function changeOf({ before, after }: Difference): Change {
  // One of the two is defined; otherwise they would not differ.
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

/**
 * Returns changes of the categories below these. The URL of a category contains the slugs of its ancestors, but its own
 * rows do not change with them.
 */
async function changesOfDescendants(db: Database, differences: readonly Difference[]): Promise<Change[]> {
  const knownIds = new Set(differences.map(({ before, after }) => Number((after ?? before)!.term)));
  const movedPrints = differences.flatMap(({ before, after }) => {
    const print = (after ?? before)!;
    return print.type === CATEGORIES && hasMoved(before, after) ? [print] : [];
  });
  const descendantIds = await termsBelow(
    db,
    CATEGORIES,
    movedPrints.map(({ term }) => Number(term)),
  );
  const change = { kind: 'term', type: CATEGORIES, what: 'changed', wasPublic: true, isPublic: true } as const;
  return descendantIds.filter((id) => !knownIds.has(id)).map((object) => ({ ...change, object }));
}

/** Whether a term may have another slug or another parent than before, or exists only before or after the change. */
const hasMoved = (before: Print | undefined, after: Print | undefined): boolean =>
  Number(before?.parent) !== Number(after?.parent) || nameDigestIn(before) !== nameDigestIn(after);

/**
 * Returns the second part of a term's digest, which covers its row in `terms`. The form of the digest depends on the
 * database.
 */
const nameDigestIn = (print: Print | undefined): string | undefined =>
  /^(?:[\da-f]{32}|\d+ \d+|-) ([\da-f]{32}|\d+ \d+|-)/.exec(print?.digest ?? '')?.[1];

const CATEGORIES = 'tribe_events_cat';

const HEADINGS = new Map<string, 'category' | 'tag'>([
  [CATEGORIES, 'category'],
  ['post_tag', 'tag'],
]);

/** Updates the index for a change of a term. Only the existence of the term and its parent matter to the index. */
async function indexTerm(db: Database, scope: Scope, { before, after }: Difference): Promise<void> {
  const print = (after ?? before)!;
  const heading = HEADINGS.get(print.type);
  if (!heading || (before && after && Number(before.parent) === Number(after.parent))) return;
  const facet = facetOf(heading, Number(print.term));
  const events = await eventsOfTerm(db, facet, Number(print.object));
  // Subcategories may already have existed before their parent.
  const subcategoryEvents = !before && heading === 'category' ? await eventsBelow(db, Number(print.term)) : [];
  if (!after) await dropFacet(db, facet);
  const source = scope.sources.find(({ kind }) => kind === 'post');
  if (!source || !events || !subcategoryEvents) return disableIndex(db);
  const { takenOver, maxEvents = Number.POSITIVE_INFINITY } = scope;
  // Those of another moved term have been indexed from the same rows, unless they lost some with this term.
  const keys = [...new Set([...events, ...subcategoryEvents])].filter((id) => !after || !takenOver.has(id));
  if (takenOver.size + keys.length > maxEvents) return disableIndex(db);
  await takeOverPosts(db, scope, source, { keys, isAlwaysIndexed: true });
}

/** Returns the events in categories below this one; undefined if there are too many to be indexed at once. */
async function eventsBelow(db: Database, category: number): Promise<number[] | undefined> {
  const all: number[] = [];
  for (const id of await termsBelow(db, CATEGORIES, [category])) {
    const events = await eventsBelowCategory(db, id);
    if (!events) return undefined;
    all.push(...events);
  }
  return all;
}
