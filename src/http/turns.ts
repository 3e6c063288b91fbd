import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { addressKey } from '../accounts/attempts.ts';
import { ApiError, fail } from '../errors.ts';
import { ANONYMOUS } from '../wordpress/viewer.ts';
import type { BodyBudget } from './limits.ts';
import { createPlaces, type Holder } from './places.ts';
import { notesOf } from './request-notes.ts';

/*
 * The order of the requests that a process works on. Without it, all requests that have arrived would be computed at
 * the same time: each would take as long as all together, their data would be in memory together, and health checks,
 * cached answers and the watchdog would wait for all of them.
 */

/** Computations that may wait; further ones are refused. More than the parallel requests of any crawler. */
const MAX_WAITING = 256;
/** Those that may wait for anonymous callers at one address, which may be that of a proxy. */
const MAX_WAITING_PER_ADDRESS = 128;
/** A connection on which more requests wait is closed; hardly any program sends a second one before the answer. */
const MAX_WAITING_PER_CONNECTION = 100;
/** Those that may wait on all connections of the process, with heads of up to 16 kB each. */
const MAX_WAITING_ON_CONNECTIONS = 2000;

/** The limits of the requests that a process works on. */
export interface RequestLimits {
  readonly budget: BodyBudget;
  readonly turns: Turns;
}

/** Computes answers to requests that only read, and to anonymous writes, a few at a time. */
export interface Turns {
  /**
   * Runs `work`, which computes the answer to a request, when it is its turn: holders take turns, and those of one
   * holder have the order of their arrival.
   *
   * @throws server-busy if too many are waiting, request-aborted if the client disconnected before its turn
   */
  readonly run: <Result>(req: IncomingMessage, work: () => Promise<Result>) => Promise<Result>;
}

/** Creates turns of which none is taken. `atOnce`: number of computations in progress. */
export function createTurns(atOnce: number): Turns {
  const places = createPlaces({ total: MAX_WAITING, perAddress: MAX_WAITING_PER_ADDRESS });
  /** The starts of waiting computations, by holder. The first holder is next. */
  const waiting = new Map<string, (() => void)[]>();
  let running = 0;

  const wait = ({ socket }: IncomingMessage, holder: Holder): Promise<void> => {
    if (!places.hasRoom(holder)) fail('server-busy', { detail: { ...places.usage(), user: holder.user } });
    places.take(holder);
    const key = holder.user === ANONYMOUS.id ? addressKey(holder.address) : `user ${holder.user}`;
    return new Promise<void>((resolve, reject) => {
      const start = (): void => {
        socket.off('close', leave);
        places.release(holder);
        resolve();
      };
      // A client that has gone takes no place and no turn from others.
      const leave = (): void => {
        const others = waiting.get(key)?.filter((one) => one !== start) ?? [];
        if (others.length > 0) waiting.set(key, others);
        else waiting.delete(key);
        places.release(holder);
        reject(new ApiError('request-aborted'));
      };
      socket.once('close', leave);
      const starts = waiting.get(key);
      if (starts) starts.push(start);
      else waiting.set(key, [start]);
    });
  };
  const startNext = (): void => {
    const [next] = waiting;
    if (!next) {
      running -= 1;
      return;
    }
    const [key, [start, ...others]] = next;
    waiting.delete(key);
    if (others.length > 0) waiting.set(key, others);
    start?.();
  };
  return {
    run: async (req, work) => {
      if (req.socket.destroyed) fail('request-aborted');
      if (running >= atOnce) await wait(req, holderOf(req));
      else running += 1;
      try {
        return await work();
      } finally {
        // Not before other connections, timers and cached answers have had their turn: with an embedded database, many
        // computations end without waiting for anything.
        setImmediate(startNext);
      }
    },
  };
}

function holderOf(req: IncomingMessage): Holder {
  const { user = ANONYMOUS.id, clientAddress = '' } = notesOf(req);
  return { user, address: clientAddress };
}

/**
 * Creates a function that begins to handle a request as soon as the answer to the previous one on the same connection
 * has been sent. HTTP allows several requests in a row without waiting for the answers (RFC 9112, 9.3.2), but also to
 * handle them one after the other. `handle` is not called if the connection is closed first, by either side.
 */
export function createConnectionOrder(): (req: IncomingMessage, res: ServerResponse, handle: () => void) => void {
  const connections = new WeakMap<Socket, { latest: ServerResponse; waiting: number }>();
  let waiting = 0;
  return ({ socket }, res, handle) => {
    const connection = connections.get(socket);
    if (connection === undefined) {
      const begun = { latest: res, waiting: 0 };
      connections.set(socket, begun);
      // The answers to waiting requests are not closed with their connection.
      socket.once('close', () => {
        waiting -= begun.waiting;
        begun.waiting = 0;
      });
      return handle();
    }
    const previous = connection.latest;
    connection.latest = res;
    if (previous.writableFinished) return handle();
    connection.waiting += 1;
    waiting += 1;
    if (connection.waiting > MAX_WAITING_PER_CONNECTION || waiting > MAX_WAITING_ON_CONNECTIONS) socket.destroy();
    previous.once('close', () => {
      if (!socket.writable) return;
      connection.waiting -= 1;
      waiting -= 1;
      handle();
    });
  };
}
