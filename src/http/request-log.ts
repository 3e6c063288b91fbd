import { type Log, loggedUrl } from '../log.ts';
import type { RequestHead } from './head.ts';
import type { FinishedRequest, Observer } from './request-notes.ts';

/** Maximum logged length of a user agent, which could be as long as a header may be. */
const MAX_AGENT_LENGTH = 300;
/** Maximum logged length of a URL: in JSON, one of 16 kB may take twice as much. */
const MAX_URL_LENGTH = 2000;
/** Prefix of the health checks, which monitoring requests every few seconds. */
const HEALTH = '/health/';

/**
 * Writes one log entry for each request, under the id that the answer carries, with the reason if it was refused.
 * Headers and bodies are not logged. Successful health checks are logged at level `debug`.
 */
export function requestLog(log: Log): Observer {
  // Searching an entry for names of secrets takes longer than all other steps. Only the details of a refusal may
  // contain any.
  const plainLog = log.child({}, { formatters: { log: (entry) => entry } });
  return (request) => {
    const { status, url, isComplete, refusal } = request;
    const level = status >= 500 ? 'error' : url.startsWith(HEALTH) ? 'debug' : 'info';
    if (!log.isLevelEnabled(level)) return;
    (refusal === undefined ? plainLog : log)[level](entryOf(request), isComplete ? 'request completed' : 'request aborted');
  };
}

function entryOf({
  id,
  method,
  url,
  route,
  status,
  ms,
  bytes,
  memory,
  user,
  clientAddress: from,
  agent,
  refusal,
}: FinishedRequest): object {
  return {
    id,
    method,
    url: shortUrl(url),
    route,
    status,
    ms: Math.round(ms * 10) / 10,
    bytes,
    memory,
    user,
    from,
    agent: agent?.slice(0, MAX_AGENT_LENGTH),
    refusal,
  };
}

/** Identifies a request in other log entries. */
export const requestEntry = ({ method, notes }: RequestHead): object => ({
  id: notes?.id,
  method,
  url: notes && shortUrl(notes.url),
  from: notes?.clientAddress,
});

const shortUrl = (url: string): string => loggedUrl(url).slice(0, MAX_URL_LENGTH);
