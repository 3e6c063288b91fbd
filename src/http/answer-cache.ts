import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import { memoizeByObject, textBytes } from '../memo.ts';
import type { Site } from '../site.ts';
import type { Version } from '../storage/freshness/freshness.ts';
import { trackReads } from '../storage/journal/dependencies.ts';
import type { JournalFeed } from '../storage/journal/feed.ts';
import { type Derived, followChanges, type LatestChanges } from '../storage/journal/latest-changes.ts';
import { createObjectMemory, type ObjectMemory, type ReadTime } from '../storage/journal/object-memory.ts';
import { ANONYMOUS } from '../wordpress/viewer.ts';
import { type Answer, sizeOf, withOwnBody } from './deliver.ts';
import { notesOf } from './request-notes.ts';
import type { Turns } from './turns.ts';

/** A cached answer. It is valid until one of its dependencies changes or it expires. */
interface CachedAnswer extends Derived {
  readonly answer: Answer;
  readonly version: Version;
  /** The date and time when its computation began, in milliseconds since 1970. */
  readonly madeAt: number;
  /** Measured by the same clock as `version`. */
  readonly readTime: ReadTime;
  /** The answer contains all changes that could be read before this moment; -Infinity: it may lack shown ones. */
  asOf: number;
  /** When the reading of the last answer with the same key ended. */
  shownUntil: number;
  /** The route that produced the answer, for the log. */
  readonly route: string | undefined;
}

/** A request for a cached answer. */
export interface CacheRequest {
  /** Cache key: the same for all requests that get the same shareable answer. */
  readonly key: string;
  /** A second key under which the answer can be recalled afterwards. */
  readonly alias?: string | undefined;
  /**
   * The site whose database is read. Versions are those of this database; with another one, an older answer could be
   * kept under a newer version.
   */
  readonly site: Site;
  /** Computes the answer, reading from the given site. It is called when it is the turn of the request. */
  readonly compute: (site: Site) => Promise<Answer>;
}

/** Answers to anonymous callers, in memory. */
export interface AnswerCache {
  /**
   * Returns the cached answer if it is valid, without waiting. Returns undefined if there is none, or if its validity
   * is unknown.
   */
  readonly findCached: (req: IncomingMessage, key: string, site: Site) => Answer | undefined;
  /**
   * Returns the cached answer if it is valid, otherwise a new one, which is computed once for all concurrent requests
   * if it is shareable.
   */
  readonly getOrCompute: (req: IncomingMessage, request: CacheRequest) => Promise<Answer>;
}

/** Bytes that every entry costs in addition to its answer, its dependencies and its keys. */
const OVERHEAD_BYTES = 1024;
/** Bytes that one dependency of an answer takes. */
const DEPENDENCY_BYTES = 8;
/** Share of the memory for rendered records, from which expired answers are computed again. */
const RECORDS_SHARE = 0.25;
/** Longer bodies are not kept, so that one answer never evicts all others. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

export interface AnswerCacheOptions {
  /** Memory limit of the cache, in bytes. */
  readonly bytes: number;
  readonly clock: () => Date;
  readonly turns: Turns;
  /** Returns milliseconds of the monotonic clock that versions are measured by. */
  readonly now?: () => number;
}

/** An answer under its own key, or the key of an answer under an alias: each answer is held, and counted, once. */
type Entry = { readonly cachedAnswer: CachedAnswer } | { readonly aliasOf: string };

/**
 * Creates a cache of answers that evicts the least recently used ones. Each is valid until the journal names a change
 * of one of its dependencies, or the version changes (`Freshness`).
 *
 * A request never gets an older state than an earlier answer to the same request has shown, although changes by other
 * writers are taken over some time after they can be read.
 */
export function createAnswerCache({ bytes, clock, turns, now = () => performance.now() }: AnswerCacheOptions): AnswerCache {
  const bytesForRecords = Math.floor(bytes * RECORDS_SHARE);
  const entries = createEntries({ bytes: bytes - bytesForRecords, clock });
  const { begin, inProgress, earlier, joinNone } = createComputations(entries, createObjectMemory(bytesForRecords, now), { clock, now });
  const changesOf = memoizeByObject((journal: JournalFeed) => followChanges(journal));
  const { findCurrent, findKept } = createLookups(entries, changesOf);

  const getOrCompute = async (req: IncomingMessage, request: CacheRequest, { hasWaited } = { hasWaited: false }): Promise<Answer> => {
    const { key, site, compute } = request;
    const notes = notesOf(req);
    const changes = changesOf(site.journal);
    const answerAtHand = findKept(req, request, site.freshness.cachedVersion());
    if (answerAtHand) return answerAtHand;
    // A computation at a version from before the last answer would overlap with that one.
    const version = await site.freshness.version(entries.shownUntil(key));
    // Not when it is the turn of the request: if the database was put back to an earlier state by then, the count of
    // the version is above those of the next changes.
    const era = changes.era();
    const cachedAnswer = findKept(req, request, version);
    if (cachedAnswer) return cachedAnswer;
    notes.memory = 'miss';
    // Afterwards nobody joins a computation that may have read an older state.
    const noteShown = () => {
      entries.noteUnkept(now());
      joinNone();
    };
    if (!version) return turns.run(req, () => compute(site)).finally(noteShown);
    const computation = { key, version, changes, era };
    const earlierAnswer = hasWaited ? undefined : earlier(computation);
    if (earlierAnswer) {
      // It is usually valid at this version too. Only once, so that writes without pause do not delay the request.
      await earlierAnswer.catch(() => undefined);
      return getOrCompute(req, request, { hasWaited: true });
    }
    // Nobody joins a request that still waits for its turn, because others may have theirs earlier.
    const answerInProgress = inProgress(computation);
    const { answer, isOwn } = answerInProgress
      ? { answer: answerInProgress, isOwn: false }
      : await turns.run(req, async () => {
          const answerOfAnother = findCurrent(req, computation) ?? inProgress(computation);
          // Not awaited, so that waiting for another request takes no turn.
          if (answerOfAnother) return { answer: answerOfAnother, isOwn: false };
          return { answer: await begin(computation, { site, compute, route: () => notes.route }), isOwn: true };
        });
    const firstAnswer = await answer;
    return isOwn || firstAnswer.isShareable ? firstAnswer : turns.run(req, () => compute(site));
  };

  return {
    findCached: (req, key, { freshness, journal }) => {
      const version = freshness.cachedVersion();
      return version && findCurrent(req, { key, version, changes: changesOf(journal) });
    },
    getOrCompute: (req, request) => getOrCompute(req, request),
  };
}

/**
 * Creates functions that find valid answers, and record the hit in the notes of the request. `findKept` also lets the
 * answer be recalled by the second key of its request.
 */
function createLookups(entries: ReturnType<typeof createEntries>, changesOf: (journal: JournalFeed) => LatestChanges) {
  const findCurrent = (req: IncomingMessage, { key, version, changes }: Computation): Answer | undefined => {
    const cachedAnswer = entries.findCurrent(key, version, changes);
    if (cachedAnswer) noteHit(req, cachedAnswer);
    return cachedAnswer?.answer;
  };
  const findKept = (req: IncomingMessage, { key, alias, site }: CacheRequest, version: Version | undefined): Answer | undefined => {
    const answer = version && findCurrent(req, { key, version, changes: changesOf(site.journal) });
    if (answer && alias !== undefined) entries.keepAlias(alias, key);
    return answer;
  };
  return { findCurrent, findKept };
}

/** An answer to be computed: its key, the version of the data, and their changes. */
interface Computation {
  readonly key: string;
  readonly version: Version;
  readonly changes: LatestChanges;
}

/**
 * Creates the computations of answers that are kept. `inProgress` returns one at the same version, which may be joined
 * unless an answer has been shown since it began, `earlier` one at another version; `joinNone` makes both return none
 * of those that have begun.
 */
function createComputations(
  { keepLater, shownUntil }: ReturnType<typeof createEntries>,
  memoryAt: ReturnType<typeof createObjectMemory>,
  { clock, now }: Required<Pick<AnswerCacheOptions, 'clock' | 'now'>>,
) {
  /** The last one that has begun of each answer. */
  const running = new Map<string, { readonly version: Version; readonly work: Promise<Answer> }>();
  const nameOf = ({ key, version }: Computation): string => `${version.name} ${key}`;
  const runningOf = (computation: Computation, isWanted: (version: Version) => boolean): Promise<Answer> | undefined => {
    const found = running.get(nameOf(computation));
    return found && isWanted(found.version) ? found.work : undefined;
  };

  const begin = (
    computation: Computation & { readonly era: number },
    { site, compute, route }: Pick<CacheRequest, 'site' | 'compute'> & { readonly route: () => string | undefined },
  ): Promise<Answer> => {
    const { key, version, changes, era } = computation;
    const name = nameOf(computation);
    const madeAt = clock().getTime();
    const reading = trackReads(site.db);
    const memory = memoryAt({ version, changes, era, shownUntil: shownUntil(key) });
    const work: Promise<Answer> = compute({ ...site, db: reading.db, memory })
      .then((computedAnswer) => {
        if (!isCacheable(computedAnswer)) return computedAnswer;
        const made = { answer: withOwnBody(computedAnswer), version, madeAt, era, route: route(), dependencies: reading.dependencies() };
        return keepLater(computation, toCachedAnswer(made, memory, now()));
      })
      .finally(() => {
        if (running.get(name)?.work === work) running.delete(name);
      });
    running.set(name, { version, work });
    return work;
  };
  return {
    begin,
    inProgress: (computation: Computation) =>
      runningOf(computation, ({ count, at }) => count === computation.version.count && at >= shownUntil(computation.key)),
    earlier: (computation: Computation) => runningOf(computation, ({ count }) => count !== computation.version.count),
    joinNone: () => running.clear(),
  };
}

/**
 * Creates the map of cached answers by key and alias. `findCurrent` returns an answer that is still valid. `keepLater`
 * keeps a new answer, and returns the one that the request gets. `noteUnkept` must be called after an answer without a
 * version has been computed, which may have shown any change. `shownUntil` returns when the reading of the last answer
 * ended that may have shown something a new one has to contain: the last one without a version, or one with this key.
 */
function createEntries({ bytes: maxSize, clock }: Pick<AnswerCacheOptions, 'bytes' | 'clock'>) {
  const entries = new LRUCache<string, Entry>({
    maxSize,
    sizeCalculation: (entry, key) =>
      OVERHEAD_BYTES + textBytes(key) + ('aliasOf' in entry ? textBytes(entry.aliasOf) : bytesOf(entry.cachedAnswer)),
  });
  /** When the last answer without a version ended; 0: there was none. */
  let unkeptUntil = 0;
  const shownUntil = (key?: string): number =>
    Math.max(unkeptUntil, (key === undefined ? undefined : answerIn(entries.peek(key)))?.shownUntil ?? 0);

  const keepAlias = (alias: string, key: string): void => void entries.set(alias, { aliasOf: key });
  const keep = (key: string, cachedAnswer: CachedAnswer): void => {
    if (laterOf(answerIn(entries.peek(key)), cachedAnswer) !== cachedAnswer) return;
    entries.set(key, { cachedAnswer });
    // Measured again, unless another answer has replaced it.
    cachedAnswer.answer.onGrowth = () => {
      if (answerIn(entries.peek(key)) === cachedAnswer) entries.set(key, { cachedAnswer });
    };
  };
  /** Finds an answer by its key or an alias. An alias whose answer has been evicted is dropped. */
  const find = (key: string): CachedAnswer | undefined => {
    const entry = entries.get(key);
    if (!entry || 'cachedAnswer' in entry) return entry?.cachedAnswer;
    const cachedAnswer = answerIn(entries.get(entry.aliasOf));
    if (!cachedAnswer) entries.delete(key);
    return cachedAnswer;
  };

  /** Whether an answer contains everything that was shown before, although it may have been read before. */
  const mayFollow = ({ completeUntil, mayBuildOn }: Version, { readTime, shownUntil: until }: CachedAnswer): boolean =>
    completeUntil >= Math.max(unkeptUntil, until) && mayBuildOn(readTime);
  const findCurrent = (key: string, version: Version, changes: LatestChanges): CachedAnswer | undefined => {
    const cachedAnswer = find(key);
    if (cachedAnswer === undefined) return undefined;
    const { version: own, readTime, asOf } = cachedAnswer;
    if (own.name !== version.name || !version.mayServe(readTime) || !isInTime(cachedAnswer, clock().getTime())) return undefined;
    if ((asOf < unkeptUntil && !mayFollow(version, cachedAnswer)) || !changes.isCurrent(cachedAnswer)) return undefined;
    return cachedAnswer;
  };
  /**
   * If an answer with the same key has been shown meanwhile and is valid for this computation too, the request gets
   * that one: after two overlapping answers, neither could be served.
   */
  const keepLater = ({ key, version, changes }: Computation, made: CachedAnswer): Answer => {
    const present = findCurrent(key, version, changes);
    if (present && made.asOf < present.shownUntil) return present.answer;
    keep(key, made);
    return made.answer;
  };

  const noteUnkept = (at: number): void => {
    unkeptUntil = at;
  };
  return { findCurrent, keepLater, shownUntil, noteUnkept, keepAlias };
}

/**
 * Returns which of two answers with the same key is kept, of which the present one is no longer valid: the one whose
 * computation began later. If they were computed at the same time, each may lack something that the other has shown.
 */
function laterOf(present: CachedAnswer | undefined, made: CachedAnswer): CachedAnswer {
  if (!present || made.asOf >= present.shownUntil) return made;
  const later = present.asOf > made.asOf ? present : made;
  later.shownUntil = Math.max(present.shownUntil, made.shownUntil);
  later.asOf = Number.NEGATIVE_INFINITY;
  return later;
}

const answerIn = (entry: Entry | undefined): CachedAnswer | undefined =>
  entry && 'cachedAnswer' in entry ? entry.cachedAnswer : undefined;

/**
 * Whether an answer has not expired. If the clock was set back since it was made, it may be an answer for a later day.
 */
const isInTime = ({ answer, madeAt }: CachedAnswer, now: number): boolean => madeAt <= now && now < answer.expiresAt;

function noteHit(req: IncomingMessage, { route }: CachedAnswer): void {
  const notes = notesOf(req);
  notes.route = route;
  notes.memory = 'hit';
  // Only anonymous callers are answered from memory.
  notes.user = ANONYMOUS.id;
}

/** Wraps a new answer for the cache. */
const toCachedAnswer = (
  computation: Pick<CachedAnswer, 'answer' | 'version' | 'madeAt' | 'era' | 'route' | 'dependencies'>,
  { oldest, asOf }: Pick<ObjectMemory, 'oldest' | 'asOf'>,
  until: number,
): CachedAnswer => ({
  ...computation,
  readTime: { from: computation.version.at, until, oldest: oldest() },
  asOf: asOf(),
  shownUntil: until,
  count: computation.version.count,
  checkedUntil: computation.version.count,
});

const bytesOf = ({ answer, dependencies }: CachedAnswer): number => sizeOf(answer) + DEPENDENCY_BYTES * (dependencies?.length ?? 0);

const isCacheable = ({ isShareable, status, body }: Answer): boolean => isShareable && status === 200 && body.length <= MAX_BODY_BYTES;
