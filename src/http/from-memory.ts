import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Site } from '../site.ts';
import { type Answers, keyOf, languageKey } from './answers.ts';
import { deliver, deliverNow } from './deliver.ts';
import { hostsOf } from './security.ts';

/**
 * Sends what is remembered, before anything else looks at the request: no framework, no routes. Returns false where
 * there is nothing that can be sent at once, or something speaks against it; then nothing was sent. `isServing`:
 * whether the process is neither starting nor stopping.
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
