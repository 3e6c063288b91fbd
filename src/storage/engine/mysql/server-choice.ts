import { FITNESS, type Fitness } from '../cluster.ts';
import { DatabaseUnavailable } from '../dialect.ts';

/** The result of looking at a server. */
export interface Look {
  readonly fitness: Fitness;
  /** The state that the server reports, or why it can't be used. For people. */
  readonly detail: string;
  /** Whether the server did not respond in time. */
  readonly isSilent?: boolean;
}

/** The choice of one server among several. */
export interface Servers<Server> {
  /** The server in use; undefined while there is none. */
  readonly current: () => Server | undefined;
  /**
   * A number that changes whenever the server in use changes. Data read earlier may be newer or older than data read
   * afterwards.
   */
  readonly era: () => number;
  /** Returns the server to use if no caller has to wait for one; otherwise undefined. */
  readonly readyServer: () => Server | undefined;
  /**
   * Returns the server to use. If there is none, all callers wait for the same choice.
   *
   * @throws DatabaseUnavailable `unreachable` if no server can be used
   */
  readonly choose: () => Promise<Server>;
  /** Must be called when a server must not be used any more. It is looked at before it is used again. */
  readonly leave: (server: Server, details: Omit<Look, 'fitness'>) => void;
  /** Must be called when a server may have failed: looks at it, and leaves it if it has. */
  readonly check: (server: Server) => Promise<void>;
  /** Checks immediately whether another server is fitter than the one in use. */
  readonly reconsider: () => void;
  /** Looks at each server, in the order of the configuration. */
  readonly lookAtAll: () => Promise<readonly Look[]>;
}

export interface ServersOptions<Server> {
  /** Looks at a server. Never fails, and takes bounded time. */
  readonly look: (server: Server) => Promise<Look>;
  /**
   * Called before a server is used: waits until it has the data that this process wrote through another server. Fails
   * if that takes too long.
   */
  readonly catchUp: (server: Server) => Promise<void>;
  /** Called when a server has been abandoned because it failed. */
  readonly onServerLeft: (server: Server, details: Omit<Look, 'fitness'>) => void;
  /** Called when a different server is used from now on. */
  readonly onServerTaken: (server: Server) => void;
  /** Returns milliseconds of a monotonic clock. */
  readonly clock?: () => number;
}

/** Once a server turns out to be fit, the preferred servers before it get this many more milliseconds to respond. */
const HEAD_START_MS = 250;
/**
 * If no server can be used, the next look is one to two pauses later, at random, so that processes do not all retry at
 * the same moment.
 */
const RETRY_PAUSE_MS = 200;
/** While requests come in, all servers are looked at again after one to two of these intervals. */
const REVIEW_INTERVAL_MS = 10_000;

/**
 * Chooses one of several servers and keeps using it: the first fit one, in the order of the configuration. If it fails,
 * the next one is used at once. A preferred server that is back is used again after two consecutive reviews have found
 * it fit. While there are no requests, no server is looked at. A single server is looked at only after it has failed.
 */
export function chooseServers<Server>(
  servers: readonly [Server, ...Server[]],
  { clock = () => performance.now(), ...options }: ServersOptions<Server>,
): Servers<Server> {
  const { look } = options;
  const choice: Choice<Server> = {
    ...options,
    servers,
    clock,
    current: servers.length === 1 ? servers[0] : undefined,
    era: 0,
    choosing: undefined,
    failure: undefined,
    nextReview: Number.NEGATIVE_INFINITY,
    isReviewing: false,
    recoveredServer: undefined,
  };
  const readyServer = (): Server | undefined => {
    if (choice.choosing || choice.current === undefined) return undefined;
    if (servers.length > 1 && clock() >= choice.nextReview) void review(choice);
    return choice.current;
  };
  return {
    current: () => choice.current,
    era: () => choice.era,
    readyServer,
    choose: async () => {
      const server = readyServer();
      if (server !== undefined) return server;
      const { choosing, failure } = choice;
      if (choosing) return choosing;
      if (failure && clock() < failure.until) throw failure.error;
      return registerChoice(choice, elect(choice));
    },
    leave: (server, details) => leave(choice, server, details),
    check: oneAtATime(async (server) => {
      const { fitness, ...details } = await look(server);
      if (fitness === 'unfit') leave(choice, server, details);
    }),
    reconsider: () => void review(choice),
    lookAtAll: () => Promise.all(servers.map(look)),
  };
}

/** State of the choice. */
interface Choice<Server> extends Required<ServersOptions<Server>> {
  readonly servers: readonly Server[];
  current: Server | undefined;
  era: number;
  choosing: Promise<Server> | undefined;
  failure: { readonly error: DatabaseUnavailable; readonly until: number } | undefined;
  nextReview: number;
  isReviewing: boolean;
  /** A preferred server that the last review found fit again. */
  recoveredServer: Server | undefined;
}

const randomTimeAfter = ({ clock }: Pick<Choice<unknown>, 'clock'>, milliseconds: number): number =>
  clock() + milliseconds * (1 + Math.random());

function leave<Server>(choice: Choice<Server>, server: Server, details: Omit<Look, 'fitness'>): void {
  if (server !== choice.current) return;
  choice.current = undefined;
  choice.era += 1;
  choice.onServerLeft(server, details);
}

async function switchTo<Server>(choice: Choice<Server>, server: Server): Promise<Server> {
  choice.current = server;
  choice.era += 1;
  choice.recoveredServer = undefined;
  choice.nextReview = randomTimeAfter(choice, REVIEW_INTERVAL_MS);
  try {
    // A write that still succeeds on the old server waits for the new one itself, before it is acknowledged.
    await choice.catchUp(server);
  } catch (error) {
    leave(choice, server, { detail: error instanceof Error ? error.message : String(error) });
    throw new DatabaseUnavailable('unreachable', error);
  }
  choice.onServerTaken(server);
  return server;
}

async function elect<Server>(choice: Choice<Server>): Promise<Server> {
  const { server, detail } = await firstFit(choice.servers, choice.look);
  if (server !== undefined) return switchTo(choice, server);
  const error = new DatabaseUnavailable('unreachable', new Error(detail));
  choice.failure = { error, until: randomTimeAfter(choice, RETRY_PAUSE_MS) };
  throw error;
}

/** Registers a pending choice, which all callers in the meantime wait for. */
function registerChoice<Server>(choice: Choice<Server>, work: Promise<Server>): Promise<Server> {
  const pending = work.finally(() => {
    if (choice.choosing === pending) choice.choosing = undefined;
  });
  choice.choosing = pending;
  return pending;
}

async function review<Server>(choice: Choice<Server>): Promise<void> {
  const { servers, look } = choice;
  if (choice.isReviewing || servers.length === 1) return;
  choice.isReviewing = true;
  const looks = await Promise.all(servers.map(look));
  choice.isReviewing = false;
  choice.nextReview = randomTimeAfter(choice, REVIEW_INTERVAL_MS);
  const { current, choosing, recoveredServer } = choice;
  const best = current === undefined || choosing ? undefined : findBetter(current, servers, looks);
  if (best && (best.isFitter || recoveredServer === best.server))
    registerChoice(choice, switchTo(choice, best.server)).catch(() => undefined);
  else choice.recoveredServer = best?.server;
}

/** Runs work for each key one at a time: callers that arrive meanwhile wait for the same run. */
function oneAtATime<Key, Result>(work: (key: Key) => Promise<Result>): (key: Key) => Promise<Result> {
  const underWay = new Map<Key, Promise<Result>>();
  return (key) => {
    const running = underWay.get(key);
    if (running) return running;
    const run = work(key).finally(() => underWay.delete(key));
    underWay.set(key, run);
    return run;
  };
}

/**
 * Returns the server that is preferable to the current one, by its fitness or by its position; `isFitter`: by its
 * fitness.
 */
function findBetter<Server>(
  current: Server,
  servers: readonly Server[],
  looks: readonly Look[],
): { readonly server: Server; readonly isFitter: boolean } | undefined {
  const best = bestOf(looks);
  const server = best === undefined ? undefined : servers[best];
  if (best === undefined || server === undefined || server === current) return undefined;
  return { server, isFitter: rank(looks[best]) < rank(looks[servers.indexOf(current)]) };
}

const rank = (look: Look | undefined): number => FITNESS.indexOf(look?.fitness ?? 'unfit');

/** Returns the position of the fittest server, the first one if there are several. Undefined if none can be used. */
function bestOf(looks: readonly (Look | undefined)[]): number | undefined {
  const ranks = looks.map(rank);
  const least = Math.min(...ranks);
  return least < rank(undefined) ? ranks.indexOf(least) : undefined;
}

/**
 * Looks at all servers at once and takes the first fit one. If none is fit, takes the best usable one after all have
 * responded.
 */
async function firstFit<Server>(
  servers: readonly Server[],
  look: (server: Server) => Promise<Look>,
): Promise<{ server: Server | undefined; detail: string }> {
  const looks: (Look | undefined)[] = servers.map(() => undefined);
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve) => {
    servers.forEach(async (server, index) => {
      looks[index] = await look(server);
      const first = looks.findIndex((one) => one?.fitness === 'fit');
      const firstUnknown = looks.indexOf(undefined);
      if (firstUnknown < 0 || (first >= 0 && first < firstUnknown)) resolve();
      else if (first >= 0) timer ??= setTimeout(resolve, HEAD_START_MS);
    });
  });
  clearTimeout(timer);
  const best = bestOf(looks);
  return { server: best === undefined ? undefined : servers[best], detail: looks.flatMap((one) => one?.detail ?? []).join('; ') };
}
