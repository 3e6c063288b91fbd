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
 * Changes as server-sent events (HTML, 9.2): the content of `GET /changes`, sent as it happens. A client that
 * reconnects continues where it was, by `Last-Event-ID`.
 */

/** Interval at which the journal is checked for writes of other processes. */
const LOOK_MS = 1000;
/** Maximum interval between two lines, so that no proxy considers the connection dead. */
const HEARTBEAT_MS = 15_000;
/** After this time the client has to reconnect and send its credentials again. */
const LONGEST_MS = 5 * 60_000;
/** Delay in milliseconds before a client reconnects after its stream has ended. */
const RETRY_MS = 3000;

/**
 * Share of all streams that anonymous callers may hold together, so that they never lock out signed-in users. A single
 * signed-in user may hold as many.
 */
const STREAMS_OF_EACH = 0.75;

const PATH = /\/changes\/stream\/?(?:[?&]|$)/i;

/** A client that receives changes as they happen. */
interface Stream {
  /** Sends new changes. */
  readonly notify: () => void;
  /** Sends a heartbeat. */
  readonly beat: () => void;
  readonly end: () => void;
}

/** Serves the stream of changes, and passes on all other requests. */
export function serveChangeStream(site: Site, router: Router, budget: Budget, { phase }: Lifecycle): RequestHandler {
  const streams = createStreams(site, () => phase() !== 'serving');
  return async (req, res, next) => {
    if (req.method !== 'GET' || !PATH.test(req.originalUrl)) return next();
    const incoming = await readRequest(site, router, req);
    const served = incoming && servedNamespaces(site.config).some((name) => incoming.path.toLowerCase() === `/${name}/changes/stream`);
    if (!served || incoming.settings.calendar.restDisabled) return next();
    try {
      // Checks the total first, since identifying the caller takes a query.
      streams.requireRoom();
      const { caller, release } = await receive(site, incoming, budget);
      release();
      const { since: asked, kinds, include, limit = USUAL_CHANGES } = await acceptParams(site, caller, CHANGES, incoming.query, 'read');
      const following: Following = { kinds, records: include === 'records', limit: Math.min(limit, MOST_CHANGES) };
      const since = req.get('last-event-id') ?? asked ?? (await tokenFromNow(site, caller, following));
      // An invalid token is reported as an ordinary answer.
      const first = await changesSince(site, caller, since, following);
      // Checks again for this user, since other clients may have connected in the meantime.
      const { id: user } = caller.viewer;
      streams.requireRoom(user);
      // The client has disconnected: its `close` event, which would remove the stream from the list, has already
      // passed.
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
/** Manages the streams of this process, and the timer that drives them while there are any. */
function createStreams(site: Site, isOver: () => boolean) {
  const most = site.config.changeStreams;
  const places = createRoom({ all: most, strangers: Math.ceil(most * STREAMS_OF_EACH), each: Math.ceil(most * STREAMS_OF_EACH) });
  /** Streams with the ids of their users, 0 for anonymous callers. */
  const streams = new Map<Stream, number>();
  let clock: NodeJS.Timeout | undefined;
  let seen = -1;
  let beaten = performance.now();

  const look = async (): Promise<void> => {
    if (isOver()) for (const stream of streams.keys()) stream.end();
    // Writes of other processes are looked for only while there are streams.
    await site.freshness.version().catch(() => undefined);
    const last = await lastNumber(site.db).catch(() => seen);
    if (last !== seen) for (const stream of streams.keys()) stream.notify();
    seen = last;
    if (performance.now() - beaten < HEARTBEAT_MS) return;
    beaten = performance.now();
    for (const stream of streams.keys()) stream.beat();
  };
  let looking = false;
  /** Does nothing while the previous look waits for a slow database. */
  const lookOnce = async (): Promise<void> => {
    if (looking) return;
    looking = true;
    await look().finally(() => {
      looking = false;
    });
  };
  // Writes of this process are known at once.
  site.journal.subscribe(() => {
    for (const stream of streams.keys()) stream.notify();
  });

  return {
    /** Throws server-busy if there is no room for this user or, without a user, for any stream. */
    requireRoom: (user?: number): void => {
      const isFull = user === undefined ? streams.size >= most : !places.has(user, 1);
      if (isFull) fail('server-busy', { detail: { ...places.state(), user } });
    },
    add: (stream: Stream, user: number): void => {
      streams.set(stream, user);
      places.count(user, 1);
      clock ??= setInterval(() => void lookOnce(), LOOK_MS).unref();
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
  /** Waits until the client has read what was sent, so that changes do not pile up for slow clients. */
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
        // The client reconnects with its token and gets the error then.
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
  // Asks nginx not to buffer the response.
  'X-Accel-Buffering': 'no',
  'X-Request-Id': notesOf(req).id,
});

/**
 * Returns the caller with the rights that the database grants at this moment.
 *
 * @throws incorrect_password if the password or the session was revoked
 */
async function callerNow(site: Site, caller: Caller, credentials: Credentials): Promise<Caller> {
  const settings = await site.settings();
  const viewer = (await stillIdentified(site, settings, { viewer: caller.viewer, credentials })) ?? fail('incorrect_password');
  return { ...caller, settings: settingsFor(settings, viewer), viewer, now: site.clock(), arrived: performance.now() };
}
