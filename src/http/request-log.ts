import { type Log, loggedUrl } from '../log.ts';
import type { Answered, Observer } from './answered.ts';
import type { Head } from './head.ts';

/** What clients call themselves can be as long as a header. */
const LONGEST_AGENT = 300;
/** Whoever looks after the service asks every few seconds. */
const HEALTH = '/health/';

/**
 * Writes one entry for each request, under the id that the answer carries, and why it was refused if it was. Headers
 * and bodies are not written. Looks at the health of the service that went well are written at level `debug`.
 */
export function requestLog(log: Log): Observer {
  // Looking for names of secrets takes longer than everything else; an entry of ours has none but in its reasons.
  const plain = log.child({}, { formatters: { log: (entry) => entry } });
  return (answered) => {
    const { status, url, whole, refusal } = answered;
    const level = status >= 500 ? 'error' : url.startsWith(HEALTH) ? 'debug' : 'info';
    if (!log.isLevelEnabled(level)) return;
    (refusal === undefined ? plain : log)[level](entryOf(answered), whole ? 'request completed' : 'request aborted');
  };
}

function entryOf({ id, method, url, route, status, ms, bytes, memory, user, from, agent, refusal }: Answered): object {
  return {
    id,
    method,
    url: loggedUrl(url),
    route,
    status,
    ms: Math.round(ms * 10) / 10,
    bytes,
    memory,
    user,
    from,
    agent: agent?.slice(0, LONGEST_AGENT),
    refusal,
  };
}

/** A request as other log entries mention it. */
export const requestEntry = ({ method, notes }: Head): object => ({
  id: notes?.id,
  method,
  url: notes && loggedUrl(notes.url),
  from: notes?.from,
});
