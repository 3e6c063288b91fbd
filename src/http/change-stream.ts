import { once } from 'node:events';
import type { Request, RequestHandler, Response } from 'express';
import { type Credentials, stillIdentified } from '../accounts/credentials.ts';
import { servedNamespaces } from '../config/config.ts';
import { fail } from '../errors.ts';
import { CHANGES, MOST_CHANGES, USUAL_CHANGES } from '../kinds/changes-params.ts';
import { type Caller, settingsFor } from '../records/caller.ts';
import { type Changes, changesSince, type Following, tokenFromNow } from '../records/changes.ts';
import { acceptParams } from '../records/input.ts';
import type { Site } from '../site.ts';
import { lastNumber } from '../storage/journal/entries.ts';
import { notesOf } from './answered.ts';
import { corsHeaders } from './cors.ts';
import { deliver } from './deliver.ts';
import type { Lifecycle } from './health.ts';
import { type Budget, cutSlowReader } from './limits.ts';
import { problemOf } from './problem.ts';
import { answerOf, NO_STORE, PLAIN } from './protocol.ts';
import { receive } from './receive.ts';
import { credentialsOf, readRequest, requestLanguage } from './request.ts';
import { createRoom } from './room.ts';
import type { Router } from './routing.ts';
import { SECURITY_HEADERS } from './security.ts';

/*
 * Changes as server-sent events (HTML, 9.2): what `GET /changes` answers, sent as it happens. Whoever comes back goes
 * on where they were, by `Last-Event-ID`.
 */

/** How often the journal is looked at for what other processes have written. */
const LOOK_MS = 1000;
/** A line goes out at least as often, so that no proxy takes the connection for dead. */
const HEARTBEAT_MS = 15_000;
/** After this time the client has to come back, and show its credentials again. */
const LONGEST_MS = 5 * 60_000;
/** After how many milliseconds a client comes back whose stream has ended. */
const RETRY_MS = 3000;

/**
 * The part of all streams that callers who have not signed in may have together, so that they never keep out those who
 * have; a user who has signed in may have as many.
 */
const STREAMS_OF_EACH = 0.75;

const PATH = /\/changes\/stream\/?(?:[?&]|$)/i;

/** A client that gets changes as they happen. */
interface Stream {
  /** Sends what is new. */
  readonly notify: () => void;
  /** Sends a sign of life. */
  readonly beat: () => void;
  readonly end: () => void;
}

/** Serves the stream of changes, and passes on everything else. */
export function serveChangeStream(site: Site, router: Router, budget: Budget, { phase }: Lifecycle): RequestHandler {
  const streams = createStreams(site, () => phase() !== 'serving');
  return async (req, res, next) => {
    if (req.method !== 'GET' || !PATH.test(req.originalUrl)) return next();
    const incoming = await readRequest(site, router, req);
    const served = incoming && servedNamespaces(site.config).some((name) => incoming.path.toLowerCase() === `/${name}/changes/stream`);
    if (!served || incoming.settings.calendar.restDisabled) return next();
    try {
      // Whether there is room for anybody at all; who calls takes a query to know.
      streams.requireRoom();
      const { caller, release } = await receive(site, incoming, budget);
      release();
      const { since: asked, kinds, include, limit = USUAL_CHANGES } = await acceptParams(site, caller, CHANGES, incoming.query, 'read');
      const following: Following = { kinds, records: include === 'records', limit: Math.min(limit, MOST_CHANGES) };
      const since = req.get('last-event-id') ?? asked ?? (await tokenFromNow(site, caller, following));
      // What is wrong with the token goes out as an ordinary answer.
      const first = await changesSince(site, caller, since, following);
      // Others have come in the meantime.
      const { id: user } = caller.viewer;
      streams.requireRoom(user);
      // It has gone away: what would take its stream from the list again is over.
      if (res.destroyed) return;
      const credentials = credentialsOf(incoming);
      streams.add(openStream(site, { req, res, caller, credentials, following, first, ended: (stream) => streams.remove(stream) }), user);
    } catch (error) {
      const reply = problemOf(site, req, requestLanguage(site, incoming, {}), error);
      await deliver(req, res, answerOf(reply, { wrapping: PLAIN, method: 'GET', sent: 'GET', personal: true }));
    }
  };
}

// ------------------------------------------------------------------------------------------------- all streams
/** The streams of this process, and the clock that drives them while there are any. */
function createStreams(site: Site, isOver: () => boolean) {
  const most = site.config.changeStreams;
  const places = createRoom({ all: most, strangers: Math.ceil(most * STREAMS_OF_EACH), each: Math.ceil(most * STREAMS_OF_EACH) });
  /** With the ids of those who listen, 0 for callers who have not signed in. */
  const streams = new Map<Stream, number>();
  let clock: NodeJS.Timeout | undefined;
  let seen = -1;
  let beaten = performance.now();

  const look = async (): Promise<void> => {
    if (isOver()) for (const stream of streams.keys()) stream.end();
    // What others write is looked for only while somebody wants to know.
    await site.freshness.version().catch(() => undefined);
    const last = await lastNumber(site.db).catch(() => seen);
    if (last !== seen) for (const stream of streams.keys()) stream.notify();
    seen = last;
    if (performance.now() - beaten < HEARTBEAT_MS) return;
    beaten = performance.now();
    for (const stream of streams.keys()) stream.beat();
  };
  // Writes of this process are known at once.
  site.journal.subscribe(() => {
    for (const stream of streams.keys()) stream.notify();
  });

  return {
    /** Throws server-busy where there is no place for this user, or for anybody. */
    requireRoom: (user?: number): void => {
      const isFull = user === undefined ? streams.size >= most : !places.has(user, 1);
      if (isFull) fail('server-busy', { detail: { ...places.state(), user } });
    },
    add: (stream: Stream, user: number): void => {
      streams.set(stream, user);
      places.count(user, 1);
      clock ??= setInterval(() => void look(), LOOK_MS).unref();
    },
    remove: (stream: Stream): void => {
      const user = streams.get(stream);
      if (user === undefined) return;
      streams.delete(stream);
      places.count(user, -1);
      if (streams.size > 0) return;
      clearInterval(clock);
      clock = undefined;
    },
  };
}

// ------------------------------------------------------------------------------------------------- one stream
interface Opening {
  readonly req: Request;
  readonly res: Response;
  readonly caller: Caller;
  readonly credentials: Credentials;
  readonly following: Following;
  readonly first: Changes;
  readonly ended: (stream: Stream) => void;
}

function openStream(site: Site, { req, res, caller, credentials, following, first, ended }: Opening): Stream {
  const closed = new AbortController();
  let token = first.next;
  let running = false;
  let again = first.more;

  const write = (text: string): void => {
    if (!res.writableEnded) res.write(text);
  };
  const send = ({ changes, next }: Changes): void => {
    token = next;
    write(`id: ${next}\nevent: changes\ndata: ${JSON.stringify({ changes, next })}\n\n`);
  };
  /** Waits until the client has read what was sent: changes are not piled up for those who are slow. */
  const isRead = async (): Promise<void> => {
    if (res.writableNeedDrain) await once(res, 'drain', { signal: closed.signal }).catch(() => undefined);
  };
  const run = async (): Promise<void> => {
    do {
      again = false;
      await isRead();
      if (res.writableEnded || res.destroyed) return;
      const found = await changesSince(site, await callerNow(site, caller, credentials), token, following);
      if (found.changes.length > 0) send(found);
      else token = found.next;
      again ||= found.more;
    } while (again);
  };
  const stream: Stream = {
    notify: () => {
      again = true;
      if (running) return;
      running = true;
      run()
        // The client comes back with its token, and gets the error then.
        .catch(() => stream.end())
        .finally(() => {
          running = false;
        });
    },
    beat: () => write(`: ${res.writableLength}\n\n`),
    end: () => {
      res.end();
      cutSlowReader(res, res.writableLength);
    },
  };

  const longest = setTimeout(() => stream.end(), LONGEST_MS).unref();
  res.once('close', () => {
    clearTimeout(longest);
    closed.abort();
    ended(stream);
  });
  res.writeHead(200, headersFor(req));
  write(`retry: ${RETRY_MS}\n`);
  send(first);
  if (again) stream.notify();
  return stream;
}

const headersFor = (req: Opening['req']) => ({
  ...SECURITY_HEADERS,
  ...NO_STORE,
  ...corsHeaders(req.headers.origin),
  'Content-Type': 'text/event-stream; charset=UTF-8',
  // Asks nginx to pass on what comes at once.
  'X-Accel-Buffering': 'no',
  'X-Request-Id': notesOf(req).id,
});

/**
 * The caller at this moment, with the rights that the database says now.
 *
 * @throws incorrect_password where the password or the session was taken back
 */
async function callerNow(site: Site, caller: Caller, credentials: Credentials): Promise<Caller> {
  const settings = await site.settings();
  const viewer = (await stillIdentified(site, settings, { viewer: caller.viewer, credentials })) ?? fail('incorrect_password');
  return { ...caller, settings: settingsFor(settings, viewer), viewer, now: site.clock(), arrived: performance.now() };
}
