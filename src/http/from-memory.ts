import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Site } from '../site.ts';
import type { AnswerCache } from './answer-cache.ts';
import { cacheKeyOf, languageKeyOf } from './cache-keys.ts';
import { deliver, deliverSync } from './deliver.ts';
import { countHostHeaders } from './security.ts';

/**
 * Creates the handler that sends cached answers before the framework and the routes see the request. It returns false,
 * without sending anything, if there is no valid cached answer or the request must not get one. `isServing`: whether
 * the process is neither starting nor stopping.
 */
export function serveFromMemory(
  site: Site,
  answers: AnswerCache,
  isServing: () => boolean,
): (req: IncomingMessage, res: ServerResponse) => boolean {
  const language = languageKeyOf(site.texts);
  return (req, res) => {
    const key = isServing() && countHostHeaders(req) <= 1 ? cacheKeyOf(req, language) : undefined;
    const answer = key === undefined ? undefined : answers.findCached(req, key, site.forAnonymousReads());
    if (answer === undefined) return false;
    if (deliverSync(req, res, answer)) return true;
    deliver(req, res, answer).catch((err: unknown) => {
      site.log.error({ err }, 'an answer could not be compressed');
      res.destroy();
    });
    return true;
  };
}
