import { once } from 'node:events';
import type { Request, RequestHandler, Response } from 'express';
import { type Credentials, identifyAgain } from '../accounts/credentials.ts';
import { servedNamespaces } from '../config/config.ts';
import { fail } from '../errors.ts';
import { CHANGES_PARAMS, DEFAULT_CHANGES, MAX_CHANGES } from '../kinds/changes-params.ts';
import { keyText } from '../memo.ts';
import { type Caller, settingsFor } from '../records/caller.ts';
import { type Changes, type ChangesOptions, changesSince, tokenFromNow } from '../records/changes.ts';
import { acceptParams } from '../records/input.ts';
import type { Site } from '../site.ts';
import { lastNumber } from '../storage/journal/entries.ts';
import { ANONYMOUS } from '../wordpress/viewer.ts';
import { requireOpenSite } from './closed-site.ts';
import { corsHeaders } from './cors.ts';
import { deliver } from './deliver.ts';
import type { Lifecycle } from './health.ts';
import { disconnectSlowReader } from './limits.ts';
import { createPlaces, type Holder } from './places.ts';
import { toProblemReply } from './problem.ts';
import { NO_STORE, NO_WRAPPING, toAnswer } from './protocol.ts';
import { receiveRequest } from './receive.ts';
import { credentialsOf, type IncomingRequest, readRequest, requestLanguage } from './request.ts';
import { notesOf } from './request-notes.ts';
import type { Router } from './routing.ts';
import { SECURITY_HEADERS } from './security.ts';
import { createSharedReadings, type SharedReadings } from './shared-readings.ts';
import type { RequestLimits, Turns } from './turns.ts';

/*
 * Changes as server-sent events (HTML, 9.2): the content of `GET /changes`, sent as it happens. A client that
 * reconnects continues where it was, by `Last-Event-ID`.
 */

/** Interval at which the journal is checked for writes of other processes. */
const POLL_INTERVAL_MS = 1000;
/** Maximum interval between two lines, so that no proxy considers the connection dead. */
const HEARTBEAT_INTERVAL_MS = 15_000;
/** After this time the client has to reconnect and send its credentials again. */
const MAX_STREAM_MS = 5 * 60_000;
/** Enough for the tabs of a browser and for a few colleagues behind the same address. */
const MAX_STREAMS_PER_ADDRESS = 10;
/** Delay in milliseconds before a client reconnects after its stream has ended. */
const RECONNECT_DELAY_MS = 3000;

/** Matches the targets of all requests for the stream; in the parameter `rest_route`, slashes may be encoded. */
const STREAM_TARGET = /(?:\/|%2f)changes(?:\/|%2f)stream/i;

/** A client that receives changes as they happen. */
interface Stream {
  /** Sends new changes. */
  readonly sendChanges: () => void;
  /** Sends a heartbeat. */
  readonly sendHeartbeat: () => void;
  readonly end: () => void;
}

/** Serves the stream of changes, and passes on all other requests. */
export function serveChangeStream(site: Site, router: Router, limits: RequestLimits, lifecycle: Lifecycle): RequestHandler {
  const streams = createStreams(site, () => lifecycle.phase() !== 'serving' || lifecycle.isLeaving?.() === true);
  return async (req, res, next) => {
    if (!['GET', 'HEAD'].includes(req.method) || !STREAM_TARGET.test(req.originalUrl)) return next();
    const incoming = await readRequest(site, router, req);
    const isStreamPath =
      incoming && servedNamespaces(site.config).some((name) => incoming.path.toLowerCase() === `/${name}/changes/stream`);
    if (!isStreamPath || incoming.settings.calendar.restDisabled) return next();
    try {
      // Checks the total first, since identifying the caller takes a query.
      streams.requireRoom();
      const { caller, release } = await receiveRequest(site, incoming, limits.budget);
      release();
      const notes = notesOf(req);
      notes.user = caller.viewer.id;
      // The place is taken before anything is read, so that no more readings wait than there are places.
      const holder = { user: caller.viewer.id, address: notes.clientAddress ?? '' };
      if (res.destroyed) return;
      await streams.inPlace(res, holder, async ({ add, readings, onEnd }) => {
        const notices = streams.notices();
        const { changesOptions, found } = await readFirstChanges(site, incoming, caller, limits.turns);
        // The client has disconnected: the `close` event that would end the stream has already passed.
        if (res.destroyed) return;
        if (req.method === 'HEAD') return void res.writeHead(200, headersFor(req)).end();
        // This stream was not among those that were told of a change after the first ones were read.
        const firstChanges = { ...found, more: found.more || streams.notices() !== notices };
        const credentials = credentialsOf(incoming);
        add(openStream(site, { req, res, caller, credentials, changesOptions, firstChanges, readings, onEnd }));
      });
    } catch (error) {
      const reply = toProblemReply(site, req, requestLanguage(site, incoming, {}), error);
      await deliver(req, res, toAnswer(reply, { wrapping: NO_WRAPPING, method: 'GET', sentMethod: 'GET', isPersonal: true }));
    }
  };
}

/**
 * Reads the changes that a stream begins with, when it is the turn of the request.
 *
 * @throws rest_invalid_param for an invalid parameter or token, and the other errors of `changesSince` and `Turns.run`
 */
async function readFirstChanges(
  site: Site,
  incoming: IncomingRequest<Request>,
  caller: Caller,
  turns: Turns,
): Promise<{ readonly changesOptions: ChangesOptions; readonly found: Changes }> {
  const { req, query } = incoming;
  const { since: sinceParam, kinds, include, limit = DEFAULT_CHANGES } = await acceptParams(site, caller, CHANGES_PARAMS, query, 'read');
  const changesOptions: ChangesOptions = { kinds, records: include === 'records', limit: Math.min(limit, MAX_CHANGES) };
  const found = await turns.run(req, async () => {
    const since = req.get('last-event-id') ?? sinceParam ?? (await tokenFromNow(site, caller, changesOptions));
    return changesSince(site, caller, since, changesOptions);
  });
  return { changesOptions, found };
}

// ------------------------------------------------------------------------------------------------- all streams
/** Manages the streams of this process, and the timer that drives them while there are any. */
function createStreams(site: Site, isOver: () => boolean) {
  const places = createPlaces({ total: site.config.changeStreams, perAddress: MAX_STREAMS_PER_ADDRESS });
  const readings = createSharedReadings<NewChanges>();
  const streams = new Set<Stream>();
  let timer: NodeJS.Timeout | undefined;
  let lastSeen = -1;
  let lastHeartbeat = performance.now();

  let notices = 0;
  const tellAll = (): void => {
    notices += 1;
    readings.noteChange();
    for (const stream of streams) stream.sendChanges();
  };
  const poll = async (): Promise<void> => {
    if (isOver()) for (const stream of streams) stream.end();
    // Writes of other processes are looked for only while there are streams.
    await site.freshness.version().catch(() => undefined);
    const latestNumber = await lastNumber(site.db).catch(() => lastSeen);
    if (latestNumber !== lastSeen) tellAll();
    lastSeen = latestNumber;
    if (performance.now() - lastHeartbeat < HEARTBEAT_INTERVAL_MS) return;
    lastHeartbeat = performance.now();
    for (const stream of streams) stream.sendHeartbeat();
  };
  const pollUnlessBusy = unlessBusy(poll);
  // Writes of this process are known at once.
  site.journal.subscribe(tellAll);

  const requireRoom = (holder?: Holder): void => {
    if (!places.hasRoom(holder)) fail('server-busy', { detail: { ...places.usage(), user: holder?.user } });
  };
  const remove = (stream: Stream): void => {
    if (!streams.delete(stream) || streams.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };

  return {
    /** Returns how often the streams were told of changes. */
    notices: (): number => notices,
    /** Throws server-busy if there is no room for any stream. */
    requireRoom: (): void => requireRoom(),
    /**
     * Takes a place until the response is closed. `work` may add the stream that is sent with it.
     *
     * @throws server-busy if there is no room for this holder
     */
    inPlace: async (res: Response, holder: Holder, work: (room: StreamRoom) => Promise<void>): Promise<void> => {
      requireRoom(holder);
      places.take(holder);
      res.once('close', () => places.release(holder));
      const add = (stream: Stream): void => {
        streams.add(stream);
        timer ??= setInterval(() => void pollUnlessBusy(), POLL_INTERVAL_MS).unref();
      };
      await work({ add, readings, onEnd: remove });
    },
  };
}

/** A place for one stream among those of this process. */
interface StreamRoom {
  readonly add: (stream: Stream) => void;
  /** To be called when the stream has ended. */
  readonly onEnd: (stream: Stream) => void;
  /** The readings that anonymous streams share. */
  readonly readings: SharedReadings<NewChanges>;
}

/** Returns a function that does nothing while its previous run waits for a slow database. */
function unlessBusy(work: () => Promise<void>): () => Promise<void> {
  let isBusy = false;
  return async () => {
    if (isBusy) return;
    isBusy = true;
    await work().finally(() => {
      isBusy = false;
    });
  };
}

// ------------------------------------------------------------------------------------------------- one stream
interface StreamOptions {
  readonly req: Request;
  readonly res: Response;
  readonly caller: Caller;
  readonly credentials: Credentials;
  readonly changesOptions: ChangesOptions;
  readonly firstChanges: Changes;
  readonly readings: SharedReadings<NewChanges>;
  readonly onEnd: (stream: Stream) => void;
}

function writeCounted(res: Response, content: string | Buffer): void {
  const notes = notesOf(res.req);
  notes.bytes = (notes.bytes ?? 0) + Buffer.byteLength(content);
  res.write(content);
}

/** Writes an event, of which a client that reads slowly may keep much in memory. */
function writeEvent(res: Response, event: Buffer): void {
  if (res.writableEnded || res.destroyed) return;
  writeCounted(res, event);
  if (res.writableNeedDrain) disconnectSlowReader(res, res.writableLength);
}

function openStream(site: Site, options: StreamOptions): Stream {
  const { req, res, caller, credentials, changesOptions, firstChanges, readings, onEnd } = options;
  const closed = new AbortController();
  const view = sharedViewOf(caller, changesOptions);
  let token = firstChanges.next;
  let isSending = false;
  let hasMore = false;

  const write = (content: string): void => {
    if (!res.writableEnded && !res.destroyed) writeCounted(res, content);
  };
  const readAfter = async (since: string): Promise<NewChanges> =>
    toNewChanges(await changesSince(site, await refreshCaller(site, caller, credentials), since, changesOptions));
  const sendNewChanges = async (): Promise<void> => {
    try {
      do {
        await waitUntilRead(res, closed.signal);
        if (res.writableEnded || res.destroyed) return;
        const since = token;
        // In the same step as `share`, whose reading knows everything up to the last notice.
        hasMore = false;
        const { event, next, more } = await readings.share(view && `${since} ${view}`, () => readAfter(since));
        if (event) await readings.inTurn(() => writeEvent(res, event));
        token = next;
        hasMore ||= more;
      } while (hasMore);
    } finally {
      // In the same step as the last look at `hasMore`, so that no notice comes between.
      isSending = false;
    }
  };
  const stream: Stream = {
    sendChanges: () => {
      hasMore = true;
      if (isSending) return;
      isSending = true;
      sendNewChanges()
        // The client reconnects with its token and gets the error then.
        .catch(() => stream.end());
    },
    sendHeartbeat: () => write(`: ${res.writableLength}\n\n`),
    end: () => {
      if (res.writableEnded) return;
      res.end();
      disconnectSlowReader(res, res.writableLength);
    },
  };

  const timeLimit = setTimeout(() => stream.end(), MAX_STREAM_MS).unref();
  res.once('close', () => {
    clearTimeout(timeLimit);
    closed.abort();
    onEnd(stream);
  });
  res.writeHead(200, headersFor(req));
  write(`retry: ${RECONNECT_DELAY_MS}\n`);
  writeEvent(res, toEvent(firstChanges));
  if (firstChanges.more) stream.sendChanges();
  return stream;
}

/** Changes as they are sent; `event` is absent if there are none. */
interface NewChanges extends Pick<Changes, 'next' | 'more'> {
  readonly event: Buffer | undefined;
}

const toNewChanges = (found: Changes): NewChanges => ({
  event: found.changes.length > 0 ? toEvent(found) : undefined,
  next: found.next,
  more: found.more,
});

/** Returns bytes rather than a text, so that all streams that are sent them hold the same memory. */
const toEvent = ({ changes, next }: Changes): Buffer =>
  Buffer.from(`id: ${next}\nevent: changes\ndata: ${JSON.stringify({ changes, next })}\n\n`);

/**
 * Returns a key that is the same for all anonymous callers who see the same changes in the same form; undefined for a
 * signed-in caller, who shares with nobody. Everything that distinguishes two anonymous callers is in it, except what
 * `refreshCaller` replaces.
 */
function sharedViewOf(caller: Caller, options: ChangesOptions): string | undefined {
  const { viewer, settings: _settings, now: _now, receivedAt: _receivedAt, ...form } = caller;
  return viewer.id === ANONYMOUS.id ? keyText([form, options] as const) : undefined;
}

/** Waits until the client has read what was sent, so that changes do not pile up for slow clients. */
async function waitUntilRead(res: Response, closed: AbortSignal): Promise<void> {
  if (res.writableNeedDrain) await once(res, 'drain', { signal: closed }).catch(() => undefined);
}

const headersFor = (req: StreamOptions['req']) => ({
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
 * @throws site-deleted, site-inactive, site-suspended
 */
async function refreshCaller(site: Site, caller: Caller, credentials: Credentials): Promise<Caller> {
  const settings = await site.settings();
  requireOpenSite(settings);
  const viewer = (await identifyAgain(site, settings, { viewer: caller.viewer, credentials })) ?? fail('incorrect_password');
  return { ...caller, settings: settingsFor(settings, viewer), viewer, now: site.clock(), receivedAt: performance.now() };
}
