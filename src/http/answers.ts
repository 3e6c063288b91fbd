import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { Freshness, Version } from '../storage/freshness/freshness.ts';
import type { Texts } from '../texts.ts';
import { ANONYMOUS } from '../wordpress/viewer.ts';
import { notesOf } from './answered.ts';
import { type Answer, sizeOf } from './deliver.ts';

/** An answer that is remembered: it holds while the data's version is the same and its time is not up. */
interface Kept {
  readonly answer: Answer;
  readonly version: Version;
  /** The route that it answers, for the log. */
  readonly route: string | undefined;
}

/** What is to be answered. */
export interface Wanted {
  /** The same for all requests that get the same answer. */
  readonly key: string;
  /** Another name under which the answer can be recalled from then on. */
  readonly alias?: string | undefined;
  /** Of the database that `compute` reads, or an older answer would be kept under the version of a newer one. */
  readonly freshness: Freshness;
  readonly compute: () => Promise<Answer>;
}

/** Answers to anonymous callers, in memory. */
export interface Answers {
  /**
   * The answer that is right at this moment, without waiting; undefined: there is none, or it is not known whether it
   * still is.
   */
  readonly recall: (req: IncomingMessage, key: string, freshness: Freshness) => Answer | undefined;
  /** The kept answer if it is still right, else a new one; computed once for all who ask at the same time. */
  readonly answerFor: (req: IncomingMessage, wanted: Wanted) => Promise<Answer>;
}

/** What every entry costs besides its body: its key, headers and place. */
const OVERHEAD_BYTES = 2048;
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

/** A memory of answers that forgets the least used ones, and each as soon as there is another version of the data. */
export function createAnswers({ bytes, clock }: AnswersOptions): Answers {
  const entries = new LRUCache<string, Entry>({ maxSize: bytes, sizeCalculation: (entry) => entry.bytes + OVERHEAD_BYTES });
  const computing = new Map<string, Promise<Answer>>();

  const keep = (key: string, kept: Kept, isAlias = false): void => {
    entries.set(key, { kept, isAlias, bytes: isAlias ? 0 : sizeOf(kept.answer) });
  };

  const current = (req: IncomingMessage, key: string, { name, since }: Version): Kept | undefined => {
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    const { kept, isAlias, bytes } = entry;
    const { answer, version, route } = kept;
    if (version.name !== name || version.at < since || answer.until <= clock().getTime()) return undefined;
    // It has been compressed since.
    if (!isAlias && bytes !== sizeOf(answer)) keep(key, kept);
    const notes = notesOf(req);
    notes.route = route;
    notes.memory = 'hit';
    // Only they are answered from memory.
    notes.user = ANONYMOUS.id;
    return kept;
  };

  return {
    recall: (req, key, freshness) => {
      const version = freshness.known();
      return version && current(req, key, version)?.answer;
    },
    answerFor: async (req, { key, alias, freshness, compute }) => {
      const notes = notesOf(req);
      const version = await freshness.version();
      const kept = version && current(req, key, version);
      if (kept && alias !== undefined) keep(alias, kept, true);
      if (kept) return kept.answer;
      notes.memory = 'miss';
      const name = `${version?.name ?? ''} ${key}`;
      const running = version === undefined ? undefined : computing.get(name);
      if (running) return running;
      const work = compute()
        .then((answer) => {
          if (version && isKeepable(answer)) keep(key, { answer, version, route: notes.route });
          return answer;
        })
        .finally(() => computing.delete(name));
      if (version !== undefined) computing.set(name, work);
      return work;
    },
  };
}

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
