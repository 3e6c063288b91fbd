import type { IncomingMessage } from 'node:http';
import type { Texts } from '../texts.ts';
import { notesOf } from './request-notes.ts';

/** Returns the language of a request for cache keys (`languageKeyOf`). */
type KeyLanguage = (acceptLanguage: string | undefined) => string;

/**
 * Returns the key for the URL of a request as it was sent, or undefined if its answer is not cached. Only requests of
 * anonymous callers without a body are cached. The preferred language is part of the key. The origin is not, since
 * headers that repeat it are added when the answer is sent.
 */
export function cacheKeyOf(req: IncomingMessage, language: KeyLanguage): string | undefined {
  const { method, headers } = req;
  const { url } = notesOf(req);
  if (method !== 'GET' && method !== 'HEAD') return undefined;
  if (headers.authorization !== undefined || headers['x-wp-nonce'] !== undefined || headers['transfer-encoding'] !== undefined)
    return undefined;
  if (headers['content-length'] !== undefined && headers['content-length'] !== '0') return undefined;
  if (headers.cookie?.includes('wordpress_logged_in_') || url.length > MAX_KEY_LENGTH) return undefined;
  return `url ${variantOf(req, language)} ${url}`;
}

/** Returns the key that all requests with the same canonical query share (`canonicalQuery`). */
export const canonicalKeyOf = (req: IncomingMessage, language: KeyLanguage, canonicalText: string): string =>
  `query ${variantOf(req, language)} ${canonicalText}`;

/**
 * Returns the key of an answer that is the same for everybody who requests a path in a language, whatever else the
 * request holds. Meaningless query parameters and unused credentials therefore cannot force a new computation.
 */
export const sharedCacheKeyOf = ({ headers }: IncomingMessage, path: string, language: KeyLanguage): string =>
  `path ${language(headers['accept-language'])} ${path}`;

/*
 * Each kind of key has a prefix of its own. A request target is almost any text, so without the prefixes it could equal
 * the canonical form of another query, and its answer would replace the right one.
 */

/** Returns the headers of a request on which its answer depends. */
const variantOf = ({ headers }: IncomingMessage, language: KeyLanguage): string =>
  `${language(headers['accept-language'])}${headers['x-tec-eea'] ? '+' : ''}`;

/**
 * Returns the language that `Accept-Language` alone leads to. A language in the address or in a parameter is part of
 * the key anyway.
 */
export const languageKeyOf =
  ({ chooseLanguage }: Texts) =>
  (acceptLanguage: string | undefined): string =>
    acceptLanguage === undefined ? '' : chooseLanguage({ acceptLanguage });

const MAX_KEY_LENGTH = 2000;
