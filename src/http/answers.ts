import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import { madeOnce } from '../kinds/made-once.ts';
import type { Site } from '../site.ts';
import type { Version } from '../storage/freshness/freshness.ts';
import { trackReads } from '../storage/journal/dependencies.ts';
import type { JournalFeed } from '../storage/journal/feed.ts';
import { type Derived, followChanges, type LatestChanges } from '../storage/journal/latest-changes.ts';
import { createObjectMemory } from '../storage/journal/object-memory.ts';
import type { Texts } from '../texts.ts';
import { ANONYMOUS } from '../wordpress/viewer.ts';
import { notesOf } from './answered.ts';
import { type Answer, sizeOf } from './deliver.ts';

/** A cached answer: right until something that it depends on changes, or its time is up. */
interface Kept extends Derived {
  readonly answer: Answer;
  readonly version: Version;
  /** When it was put together, by the same clock as its version. */
  readonly until: number;
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

/** An answer under its own name, or under another one, which costs no more than its place. */
interface Entry {
  readonly kept: Kept;
  readonly isAlias: boolean;
  /** What it took when it was counted. */
  readonly bytes: number;
}

/**
 * A memory of answers that forgets the least used ones. Each is right until an entry of the journal names something
 * that went into it, or there is another version of what the journal does not tell of.
 */
export function createAnswers({ bytes, clock }: AnswersOptions): Answers {
  const forRecords = Math.floor(bytes * RECORDS_PART);
  const entries = new LRUCache<string, Entry>({
    maxSize: bytes - forRecords,
    sizeCalculation: (entry) => entry.bytes + OVERHEAD_BYTES,
  });
  const renderedAt = createObjectMemory(forRecords);
  const computing = new Map<string, Promise<Answer>>();
  const changesIn = madeOnce((journal: JournalFeed) => followChanges(journal));

  const keep = (key: string, kept: Kept, isAlias = false): void => {
    entries.set(key, { kept, isAlias, bytes: isAlias ? 0 : bytesOf(kept) });
  };

  const current = (req: IncomingMessage, key: string, { name, mayServe }: Version, changes: LatestChanges): Kept | undefined => {
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    const { kept, isAlias, bytes } = entry;
    const { answer, version, until, route } = kept;
    if (version.name !== name || !mayServe(version.at, until) || answer.until <= clock().getTime() || !changes.isCurrent(kept))
      return undefined;
    // It has been compressed since.
    if (!isAlias && bytes !== bytesOf(kept)) keep(key, kept);
    const notes = notesOf(req);
    notes.route = route;
    notes.memory = 'hit';
    // Only they are answered from memory.
    notes.user = ANONYMOUS.id;
    return kept;
  };

  return {
    recall: (req, key, { freshness, journal }) => {
      const version = freshness.known();
      return version && current(req, key, version, changesIn(journal))?.answer;
    },
    answerFor: async (req, { key, alias, from, compute }) => {
      const notes = notesOf(req);
      const changes = changesIn(from.journal);
      const version = await from.freshness.version();
      const era = changes.era();
      const kept = version && current(req, key, version, changes);
      if (kept && alias !== undefined) keep(alias, kept, true);
      if (kept) return kept.answer;
      notes.memory = 'miss';
      const name = `${version?.name ?? ''} ${version?.count ?? ''} ${key}`;
      const running = version === undefined ? undefined : computing.get(name);
      if (running) return running;
      const reading = trackReads(from.db);
      const work = compute({ ...from, db: reading.db, ...(version ? { rendered: renderedAt({ version, changes, era }) } : {}) })
        .then((answer) => {
          if (version && isKeepable(answer))
            keep(key, keptOf(answer, version, { route: notes.route, dependencies: reading.dependencies(), era }));
          return answer;
        })
        .finally(() => computing.delete(name));
      if (version !== undefined) computing.set(name, work);
      return work;
    },
  };
}

const keptOf = (answer: Answer, version: Version, more: Pick<Kept, 'route' | 'dependencies' | 'era'>): Kept => ({
  ...more,
  answer,
  version,
  until: performance.now(),
  count: version.count,
  checked: version.count,
});

const bytesOf = ({ answer, dependencies }: Kept): number => sizeOf(answer) + DEPENDENCY_BYTES * (dependencies?.length ?? 0);

const isKeepable = ({ shared, status, body }: Answer): boolean => shared && status === 200 && body.length <= LONGEST_BODY;

/**
 * Under which name an answer to this request is remembered; undefined: never. Only what anonymous callers ask for
 * without a body is; `asked`: what that is, if not its address. The language they prefer is part of it, their origin is
 * repeated in headers that are added when it goes out.
 */
export function keyOf(req: IncomingMessage, language: (acceptLanguage: string | undefined) => string, asked?: string): string | undefined {
  const { method, headers } = req;
  const { url } = notesOf(req);
  if (method !== 'GET' && method !== 'HEAD') return undefined;
  if (headers.authorization !== undefined || headers['x-wp-nonce'] !== undefined || headers['transfer-encoding'] !== undefined)
    return undefined;
  if (headers['content-length'] !== undefined && headers['content-length'] !== '0') return undefined;
  if (headers.cookie?.includes('wordpress_logged_in_') || url.length > LONGEST_KEY || url.includes('_wpnonce')) return undefined;
  const acknowledged = headers['x-tec-eea'] === undefined ? '' : '+';
  return `${language(headers['accept-language'])}${acknowledged} ${asked ?? url}`;
}

/** The language that a header alone leads to; an address or parameter that says another is part of the key anyway. */
export const languageKey =
  ({ chooseLanguage }: Texts) =>
  (acceptLanguage: string | undefined): string =>
    acceptLanguage === undefined ? '' : chooseLanguage({ acceptLanguage });

const LONGEST_KEY = 2000;
