import { FITNESS, type Fitness } from '../cluster.ts';
import { DatabaseUnavailable } from '../dialect.ts';

/** What a look at a server shows. */
export interface Look {
  readonly fitness: Fitness;
  /** What it says about itself, or why it can't be used. For people. */
  readonly detail: string;
  /** Whether it did not answer in time. */
  readonly silent?: boolean;
}

/** Which of several servers a process uses. */
export interface Servers<Server> {
  /** The one in use; undefined while there is none. */
  readonly current: () => Server | undefined;
  /**
   * A number that changes whenever the server in use does: data read before may be newer or older than data read now.
   */
  readonly era: () => number;
  /** The server to use, where nobody has to wait for one. */
  readonly chosen: () => Server | undefined;
  /**
   * The server to use. If there is none, everybody who asks waits for the same choice.
   *
   * @throws DatabaseUnavailable `unreachable` when none can be used
   */
  readonly choose: () => Promise<Server>;
  /** Call it when a server must not be used any more. It is looked at before it is used again. */
  readonly leave: (server: Server, why: Omit<Look, 'fitness'>) => void;
  /** Call it when a server may have failed: looks at it, and leaves it if it has. */
  readonly doubt: (server: Server) => Promise<void>;
  /** Checks right away whether another server is fitter than the one in use. */
  readonly reconsider: () => void;
  /** A look at each of them, in the order of the configuration. */
  readonly looks: () => Promise<readonly Look[]>;
}

export interface ServersOptions<Server> {
  /** Looks at a server. Never fails, and takes bounded time. */
  readonly look: (server: Server) => Promise<Look>;
  /**
   * Called before a server is used: waits until it has what this process wrote through another one. Fails if that takes
   * too long.
   */
  readonly settle: (server: Server) => Promise<void>;
  /** Called when a server has been left because it failed. */
  readonly left: (server: Server, why: Omit<Look, 'fitness'>) => void;
  /** Called when another server is used from now on. */
  readonly taken: (server: Server) => void;
  /** Milliseconds of a clock that only goes forward. */
  readonly clock?: () => number;
}

/** Once a server turns out to be fit, the preferred ones before it get this many milliseconds more to answer. */
const HEAD_START_MS = 250;
/**
 * If no server can be used, the next look is one to two pauses later, at random, so that processes do not all come back
 * at the same moment.
 */
const PAUSE_MS = 200;
/** While requests come in, all servers are looked at again after one to two of these. */
const REVIEW_MS = 10_000;

/**
 * Chooses one of several servers and keeps to it: the first fit one, in the order of the configuration. When it fails,
 * the next one is used at once. A preferred server that is back is used again after two reviews in a row have found it
 * fit. While nobody asks, nothing is looked at. A single server is looked at only after it has failed.
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
    reviewing: false,
    returning: undefined,
  };
  const chosen = (): Server | undefined => {
    if (choice.choosing || choice.current === undefined) return undefined;
    if (servers.length > 1 && clock() >= choice.nextReview) void review(choice);
    return choice.current;
  };
  return {
    current: () => choice.current,
    era: () => choice.era,
    chosen,
    choose: async () => {
      const server = chosen();
      if (server !== undefined) return server;
      const { choosing, failure } = choice;
      if (choosing) return choosing;
      if (failure && clock() < failure.until) throw failure.error;
      return chosenBy(choice, elect(choice));
    },
    leave: (server, why) => leave(choice, server, why),
    doubt: oneAtATime(async (server) => {
      const { fitness, ...why } = await look(server);
      if (fitness === 'unfit') leave(choice, server, why);
    }),
    reconsider: () => void review(choice),
    looks: () => Promise.all(servers.map(look)),
  };
}

/** What was chosen so far, and what is being chosen. */
interface Choice<Server> extends Required<ServersOptions<Server>> {
  readonly servers: readonly Server[];
  current: Server | undefined;
  era: number;
  choosing: Promise<Server> | undefined;
  failure: { readonly error: DatabaseUnavailable; readonly until: number } | undefined;
  nextReview: number;
  reviewing: boolean;
  /** A preferred server that the last review found fit again. */
  returning: Server | undefined;
}

const later = ({ clock }: Pick<Choice<unknown>, 'clock'>, milliseconds: number): number => clock() + milliseconds * (1 + Math.random());

function leave<Server>(choice: Choice<Server>, server: Server, why: Omit<Look, 'fitness'>): void {
  if (server !== choice.current) return;
  choice.current = undefined;
  choice.era += 1;
  choice.left(server, why);
}

async function use<Server>(choice: Choice<Server>, server: Server): Promise<Server> {
  choice.current = server;
  choice.era += 1;
  choice.returning = undefined;
  choice.nextReview = later(choice, REVIEW_MS);
  try {
    // A write that still comes through on the old server waits for the new one itself, before it is acknowledged.
    await choice.settle(server);
  } catch (error) {
    leave(choice, server, { detail: error instanceof Error ? error.message : String(error) });
    throw new DatabaseUnavailable('unreachable', error);
  }
  choice.taken(server);
  return server;
}

async function elect<Server>(choice: Choice<Server>): Promise<Server> {
  const { server, detail } = await firstFit(choice.servers, choice.look);
  if (server !== undefined) return use(choice, server);
  const error = new DatabaseUnavailable('unreachable', new Error(detail));
  choice.failure = { error, until: later(choice, PAUSE_MS) };
  throw error;
}

/** Everybody who asks in the meantime waits for this choice. */
function chosenBy<Server>(choice: Choice<Server>, work: Promise<Server>): Promise<Server> {
  const mine = work.finally(() => {
    if (choice.choosing === mine) choice.choosing = undefined;
  });
  choice.choosing = mine;
  return mine;
}

async function review<Server>(choice: Choice<Server>): Promise<void> {
  const { servers, look } = choice;
  if (choice.reviewing || servers.length === 1) return;
  choice.reviewing = true;
  const looks = await Promise.all(servers.map(look));
  choice.reviewing = false;
  choice.nextReview = later(choice, REVIEW_MS);
  const { current, choosing, returning } = choice;
  const best = current === undefined || choosing ? undefined : betterThan(current, servers, looks);
  if (best && (best.isFitter || returning === best.server)) chosenBy(choice, use(choice, best.server)).catch(() => undefined);
  else choice.returning = best?.server;
}

/** Does work for each key once at a time: whoever asks meanwhile waits for the same. */
function oneAtATime<Key, Result>(work: (key: Key) => Promise<Result>): (key: Key) => Promise<Result> {
  const underWay = new Map<Key, Promise<Result>>();
  return (key) => {
    const known = underWay.get(key);
    if (known) return known;
    const mine = work(key).finally(() => underWay.delete(key));
    underWay.set(key, mine);
    return mine;
  };
}

/** The server that is preferred to this one by its looks or by its place; `isFitter`: by its looks. */
function betterThan<Server>(
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

/** The place of the fittest server, of several the first. Undefined if none can be used. */
function bestOf(looks: readonly (Look | undefined)[]): number | undefined {
  const ranks = looks.map(rank);
  const least = Math.min(...ranks);
  return least < rank(undefined) ? ranks.indexOf(least) : undefined;
}

/**
 * Looks at all at once and takes the first fit one. If there is none, takes the best of what can be used once all have
 * answered.
 */
async function firstFit<Server>(
  servers: readonly Server[],
  look: (server: Server) => Promise<Look>,
): Promise<{ server: Server | undefined; detail: string }> {
  const seen: (Look | undefined)[] = servers.map(() => undefined);
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((decided) => {
    servers.forEach(async (server, place) => {
      seen[place] = await look(server);
      const first = seen.findIndex((one) => one?.fitness === 'fit');
      const unknown = seen.indexOf(undefined);
      if (unknown < 0 || (first >= 0 && first < unknown)) decided();
      else if (first >= 0) timer ??= setTimeout(decided, HEAD_START_MS);
    });
  });
  clearTimeout(timer);
  const best = bestOf(seen);
  return { server: best === undefined ? undefined : servers[best], detail: seen.flatMap((one) => one?.detail ?? []).join('; ') };
}
