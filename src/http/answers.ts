import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import { memoizeByObject } from '../memo.ts';
import type { Site } from '../site.ts';
import type { Version } from '../storage/freshness/freshness.ts';
import { trackReads } from '../storage/journal/dependencies.ts';
import type { JournalFeed } from '../storage/journal/feed.ts';
import { type Derived, followChanges, type LatestChanges } from '../storage/journal/latest-changes.ts';
import { createObjectMemory, type ReadTime } from '../storage/journal/object-memory.ts';
import type { Texts } from '../texts.ts';
import { ANONYMOUS } from '../wordpress/viewer.ts';
import { notesOf } from './answered.ts';
import { type Answer, sizeOf } from './deliver.ts';

/** A cached answer: right until something that it depends on changes, or its time is up. */
interface Kept extends Derived {
  readonly answer: Answer;
  readonly version: Version;
  /** By the same clock as its version. */
  readonly read: ReadTime;
  /** The route that it answers, for the log. */
  readonly route: string | undefined;
}

/** What is to be answered. */
export interface Wanted {
  /** The same for all requests that get the same answer. */
  readonly key: string;
  /** Another name under which the answer can be recalled from then on. */
  readonly alias?: string | undefined;
  /** The database that is read, or an older answer would be kept under the version of a newer one. */
  readonly from: Site;
  /** Makes the answer from what it is given to read from. */
  readonly compute: (from: Site) => Promise<Answer>;
}

/** Answers to anonymous callers, in memory. */
export interface Answers {
  /**
   * The answer that is right at this moment, without waiting; undefined: there is none, or it is not known whether it
   * still is.
   */
  readonly recall: (req: IncomingMessage, key: string, from: Site) => Answer | undefined;
  /** The kept answer if it is still right, else a new one; computed once for all who ask at the same time. */
  readonly answerFor: (req: IncomingMessage, wanted: Wanted) => Promise<Answer>;
}

/** What every entry costs besides its body: its key, headers and place. */
const OVERHEAD_BYTES = 2048;
/** What one dependency of an answer takes. */
const DEPENDENCY_BYTES = 8;
/** The part of the memory for rendered records, of which answers that are not known any more are made. */
const RECORDS_PART = 0.25;
/** Longer bodies are not kept, so that one answer never pushes out all others. */
const LONGEST_BODY = 4 * 1024 * 1024;

export interface AnswersOptions {
  /** How much memory the bodies may take. */
  readonly bytes: number;
  readonly clock: () => Date;
}

/** An answer under its own key, or under an alias, which takes no more than its place. */
interface Entry {
  readonly kept: Kept;
  readonly isAlias: boolean;
  /** What it took when it was counted. */
  readonly bytes: number;
}

/**
 * A cache of answers that drops the least used ones. Each is right until the journal names a change of something that
 * it depends on, or the version changes (`Freshness`).
 */
export function createAnswers({ bytes, clock }: AnswersOptions): Answers {
  const forRecords = Math.floor(bytes * RECORDS_PART);
  const { current, keep, keepAlias } = createEntries({ bytes: bytes - forRecords, clock });
  const memoryAt = createObjectMemory(forRecords);
  const computing = new Map<string, Promise<Answer>>();
  const changesIn = memoizeByObject((journal: JournalFeed) => followChanges(journal));

  return {
    recall: (req, key, { freshness, journal }) => {
      const version = freshness.known();
      return version && current(req, key, version, changesIn(journal))?.answer;
    },
    answerFor: async (req, { key, alias, from, compute }) => {
      const notes = notesOf(req);
      const changes = changesIn(from.journal);
      const version = await from.freshness.version();
      const kept = version && current(req, key, version, changes);
      if (kept && alias !== undefined) keepAlias(alias, kept);
      if (kept) return kept.answer;
      notes.memory = 'miss';
      if (!version) return compute(from);
      const name = `${version.name} ${version.count} ${key}`;
      const running = computing.get(name);
      if (running) return running;
      const era = changes.era();
      const reading = trackReads(from.db);
      const memory = memoryAt({ version, changes, era });
      const work = compute({ ...from, db: reading.db, memory })
        .then((answer) => {
          const made = { answer, version, era, route: notes.route, dependencies: reading.dependencies() };
          if (isKeepable(answer)) keep(key, keptOf(made, memory.oldest()));
          return answer;
        })
        .finally(() => computing.delete(name));
      computing.set(name, work);
      return work;
    },
  };
}

/**
 * The cached answers by their keys and aliases. `current` gives one that is still right, and notes it of the request.
 */
function createEntries({ bytes: maxSize, clock }: AnswersOptions) {
  const entries = new LRUCache<string, Entry>({ maxSize, sizeCalculation: (entry) => entry.bytes + OVERHEAD_BYTES });

  const keep = (key: string, kept: Kept): void => void entries.set(key, { kept, isAlias: false, bytes: bytesOf(kept) });
  const keepAlias = (alias: string, kept: Kept): void => void entries.set(alias, { kept, isAlias: true, bytes: 0 });

  const current = (req: IncomingMessage, key: string, { name, mayServe }: Version, changes: LatestChanges): Kept | undefined => {
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    const { kept, isAlias, bytes } = entry;
    const { answer, version, read } = kept;
    if (version.name !== name || !mayServe(read) || answer.until <= clock().getTime() || !changes.isCurrent(kept)) return undefined;
    // It has been compressed since.
    if (!isAlias && bytes !== bytesOf(kept)) keep(key, kept);
    noteHit(req, kept);
    return kept;
  };

  return { current, keep, keepAlias };
}

function noteHit(req: IncomingMessage, { route }: Kept): void {
  const notes = notesOf(req);
  notes.route = route;
  notes.memory = 'hit';
  // Only they are answered from memory.
  notes.user = ANONYMOUS.id;
}

/** An answer that has just been made, to be kept from now on. `oldest`: as in `ReadTime`. */
const keptOf = (made: Pick<Kept, 'answer' | 'version' | 'era' | 'route' | 'dependencies'>, oldest: number): Kept => ({
  ...made,
  read: { from: made.version.at, until: performance.now(), oldest },
  count: made.version.count,
  checked: made.version.count,
});

const bytesOf = ({ answer, dependencies }: Kept): number => sizeOf(answer) + DEPENDENCY_BYTES * (dependencies?.length ?? 0);

const isKeepable = ({ shared, status, body }: Answer): boolean => shared && status === 200 && body.length <= LONGEST_BODY;

/**
 * The key under which an answer to this request is cached; undefined: it is not. Only requests of anonymous callers
 * without a body are. `asked`: what stands for the address, if not the address as it was sent. The preferred language
 * is part of the key; the origin is not, since headers that repeat it are added when the answer is sent.
 */
export function keyOf(req: IncomingMessage, language: (acceptLanguage: string | undefined) => string, asked?: string): string | undefined {
  const { method, headers } = req;
  const { url } = notesOf(req);
  if (method !== 'GET' && method !== 'HEAD') return undefined;
  if (headers.authorization !== undefined || headers['x-wp-nonce'] !== undefined || headers['transfer-encoding'] !== undefined)
    return undefined;
  if (headers['content-length'] !== undefined && headers['content-length'] !== '0') return undefined;
  if (headers.cookie?.includes('wordpress_logged_in_') || url.length > LONGEST_KEY || url.includes('_wpnonce')) return undefined;
  const acknowledged = headers['x-tec-eea'] ? '+' : '';
  return `${language(headers['accept-language'])}${acknowledged} ${asked ?? url}`;
}

/**
 * The name of what is the same for everybody who asks for a path in a language, whatever else the request holds. Nobody
 * has it made anew by a query that means nothing, or by credentials that nobody looks at.
 */
export const openKeyOf = ({ headers }: IncomingMessage, path: string, language: (acceptLanguage: string | undefined) => string): string =>
  `${language(headers['accept-language'])} ${path}`;

/** The language that a header alone leads to; an address or parameter that says another is part of the key anyway. */
export const languageKey =
  ({ chooseLanguage }: Texts) =>
  (acceptLanguage: string | undefined): string =>
    acceptLanguage === undefined ? '' : chooseLanguage({ acceptLanguage });

const LONGEST_KEY = 2000;
