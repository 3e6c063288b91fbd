import { FITNESS, type Fitness } from './cluster.ts';
import { DatabaseUnavailable } from './dialect.ts';

/** What a look at a server shows. */
export interface Look {
  readonly fitness: Fitness;
  /** What it says of itself, or why it can't be used: for people. */
  readonly detail: string;
  /** Whether it did not say anything at all in the time it was given. */
  readonly silent?: boolean;
}

/** Which of several servers a process uses. */
export interface Servers<Server> {
  /** The one in use; undefined while there is none. */
  readonly current: () => Server | undefined;
  /** A number that changes whenever the server does: what was read before may be newer or older than what is read now. */
  readonly era: () => number;
  /**
   * The one to use. Where none is in use, all who ask wait for the same choice.
   *
   * @throws DatabaseUnavailable `unreachable` when none can be used
   */
  readonly choose: () => Promise<Server>;
  /** To be called when a server must not be used any more: it is not used again before it was looked at. */
  readonly leave: (server: Server, why: Omit<Look, 'fitness'>) => void;
  /** To be called when a server may have failed: looks at it, and leaves it if so. */
  readonly doubt: (server: Server) => Promise<void>;
  /** Looks at once whether another one is fitter than the one in use. */
  readonly reconsider: () => void;
  /** What each of them shows now, in the order in which they are written. */
  readonly looks: () => Promise<readonly Look[]>;
}

export interface ServersOptions<Server> {
  /** Looks at a server. Never fails, and takes bounded time. */
  readonly look: (server: Server) => Promise<Look>;
  /** Called before a server is used: waits until it has what this process has written elsewhere. It fails where that takes too long. */
  readonly settle: (server: Server) => Promise<void>;
  /** Called when a server was left because it failed. */
  readonly left: (server: Server, why: Omit<Look, 'fitness'>) => void;
  /** Called when another server is used from now on. */
  readonly taken: (server: Server) => void;
  /** Milliseconds of a clock that only goes forward. */
  readonly clock?: () => number;
}

/** When a server is fit, those written before it get so many milliseconds more to say that they are too. */
const HEAD_START_MS = 250;
/** Where none can be used, the next look is so many milliseconds later, up to twice as many: processes do not all come back at the same moment. */
const PAUSE_MS = 200;
/** While requests come in, all servers are looked at again after so many milliseconds, up to twice as many. */
const REVIEW_MS = 10_000;

/**
 * Chooses one of several servers and keeps to it: the first, in the order in which they are written, that is fit. One that fails is left for the next at
 * once; one that is back is used again after two reviews in a row that found it fit. Nothing is looked at while nobody asks. With one server alone there is no
 * choice, and it is looked at only once it has failed.
 */
export function chooseServers<Server>(
  servers: readonly [Server, ...Server[]],
  { look, settle, left, taken, clock = () => performance.now() }: ServersOptions<Server>,
): Servers<Server> {
  let current: Server | undefined = servers.length === 1 ? servers[0] : undefined;
  let era = 0;
  let choosing: Promise<Server> | undefined;
  let failure: { readonly error: DatabaseUnavailable; readonly until: number } | undefined;
  let nextReview = Number.NEGATIVE_INFINITY;
  let reviewing = false;
  /** An earlier server that the last review found fit again. */
  let returning: Server | undefined;
  const doubted = new Map<Server, Promise<void>>();

  const later = (milliseconds: number): number => clock() + milliseconds * (1 + Math.random());

  const leave: Servers<Server>['leave'] = (server, why) => {
    if (server !== current) return;
    current = undefined;
    era += 1;
    left(server, why);
  };

  const use = async (server: Server): Promise<Server> => {
    current = server;
    era += 1;
    returning = undefined;
    nextReview = later(REVIEW_MS);
    try {
      // What is still written through another one from here on is waited for by whoever writes it.
      await settle(server);
    } catch (error) {
      leave(server, { detail: error instanceof Error ? error.message : String(error) });
      throw new DatabaseUnavailable('unreachable', error);
    }
    taken(server);
    return server;
  };

  const elect = async (): Promise<Server> => {
    const { server, detail } = await firstFit(servers, look);
    if (server !== undefined) return use(server);
    const error = new DatabaseUnavailable('unreachable', new Error(detail));
    failure = { error, until: later(PAUSE_MS) };
    throw error;
  };

  /** Whoever asks meanwhile waits for this choice. */
  const chosenBy = (work: Promise<Server>): Promise<Server> => {
    const mine = work.finally(() => {
      if (choosing === mine) choosing = undefined;
    });
    choosing = mine;
    return mine;
  };

  const review = async (): Promise<void> => {
    if (reviewing) return;
    reviewing = true;
    const looks = await Promise.all(servers.map(look));
    reviewing = false;
    nextReview = later(REVIEW_MS);
    const best = bestOf(looks);
    const better = best === undefined ? undefined : servers[best];
    if (current === undefined || choosing || best === undefined || better === undefined || better === current) {
      returning = undefined;
      return;
    }
    const isFitter = rank(looks[best]) < rank(looks[servers.indexOf(current)]);
    if (isFitter || returning === better) chosenBy(use(better)).catch(() => undefined);
    else returning = better;
  };

  return {
    current: () => current,
    era: () => era,
    choose: async () => {
      if (choosing) return choosing;
      if (current === undefined) {
        if (failure && clock() < failure.until) throw failure.error;
        return chosenBy(elect());
      }
      if (servers.length > 1 && clock() >= nextReview) void review();
      return current;
    },
    leave,
    doubt: (server) => {
      const known = doubted.get(server);
      if (known) return known;
      const mine = look(server).then(({ fitness, ...why }) => {
        doubted.delete(server);
        if (fitness === 'unfit') leave(server, why);
      });
      doubted.set(server, mine);
      return mine;
    },
    reconsider: () => {
      if (servers.length > 1) void review();
    },
    looks: () => Promise.all(servers.map(look)),
  };
}

const rank = (look: Look | undefined): number => FITNESS.indexOf(look?.fitness ?? 'unfit');

/** The place of the fittest; of several the first. Undefined where none can be used. */
function bestOf(looks: readonly (Look | undefined)[]): number | undefined {
  const ranks = looks.map(rank);
  const least = Math.min(...ranks);
  return least < rank(undefined) ? ranks.indexOf(least) : undefined;
}

/** Looks at all at once and takes the first that is fit; else, when all have answered, the one that comes closest. */
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
