import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Site } from '../site.ts';
import { type Answers, keyOf, languageKey } from './answers.ts';
import { deliver, deliverNow } from './deliver.ts';
import { hostsOf } from './security.ts';

/**
 * Creates the handler that sends cached answers before the framework and the routes see the request. It returns false,
 * without sending anything, if there is no valid cached answer or the request must not get one. `isServing`: whether
 * the process is neither starting nor stopping.
 */
export function fromMemory(site: Site, answers: Answers, isServing: () => boolean): (req: IncomingMessage, res: ServerResponse) => boolean {
  const language = languageKey(site.texts);
  return (req, res) => {
    const key = isServing() && hostsOf(req) <= 1 ? keyOf(req, language) : undefined;
    const answer = key === undefined ? undefined : answers.recall(req, key, site.reading());
    if (answer === undefined) return false;
    if (deliverNow(req, res, answer)) return true;
    deliver(req, res, answer).catch((err: unknown) => {
      site.log.error({ err }, 'an answer could not be compressed');
      res.destroy();
    });
    return true;
  };
}
