import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';

/** What is counted apart, so that who guesses one thing locks nobody out of another. */
export type Attempted = 'sign-in' | 'record-password' | 'suggestion';

/** Attempts of one kind, by address and by the name that was tried. */
export interface Attempts {
  /**
   * Counts a failure; `name`: the name that was tried, if one was. Returns the seconds until the limit that it went
   * beyond is lifted, or undefined while all is within the limits.
   */
  readonly failed: (address: string, name: string | undefined, now: Date) => number | undefined;
  /** The seconds until an address that has failed too often may try again; undefined for every other one. */
  readonly secondsToWait: (address: string, now: Date) => number | undefined;
}

/** How many failures are answered as such within the window; passwords of 24 letters are not guessed by one more. */
export interface AttemptLimits {
  readonly perAddress: number;
  readonly perName: number;
  readonly windowSeconds: number;
}

const PASSWORDS: AttemptLimits = { perAddress: 200, perName: 100, windowSeconds: 900 };
/** Each suggestion counts, not only those that fail. Nobody says a name. */
const SUGGESTIONS: AttemptLimits = { perAddress: 10, perName: Number.POSITIVE_INFINITY, windowSeconds: 3600 };

const LIMITS: Readonly<Record<Attempted, AttemptLimits>> = {
  'sign-in': PASSWORDS,
  'record-password': PASSWORDS,
  suggestion: SUGGESTIONS,
};
const KINDS: readonly Attempted[] = ['sign-in', 'record-password', 'suggestion'];
const ofEach = <Made>(make: (attempted: Attempted) => Made): Readonly<Record<Attempted, Made>> => ({
  'sign-in': make('sign-in'),
  'record-password': make('record-password'),
  suggestion: make('suggestion'),
});

/** How often somebody has failed since the window began, and when it ends. */
interface FailureWindow {
  readonly failures: number;
  readonly until: number;
}

/** That somebody failed once more, for those who count the same: their window ends then if it begins with this. */
export interface Failure {
  readonly attempted: Attempted;
  readonly key: string;
  readonly until: number;
}

/** Windows as one process knows them, for another that knows none yet. */
export type KnownFailures = readonly { readonly attempted: Attempted; readonly key: string; readonly window: FailureWindow }[];

/** All that is counted for one site, in the memory of this process. */
export interface FailureCounts {
  readonly of: (attempted: Attempted) => Attempts;
  /** Has somebody told of what is counted here, so that all processes of a service keep to one limit. */
  readonly listen: (listener: (failure: Failure) => void) => void;
  /** Counts what failed elsewhere. */
  readonly take: (failure: Failure, now: Date) => void;
  readonly known: (now: Date) => KnownFailures;
  /** Takes over what others knew before this process began. */
  readonly learn: (known: KnownFailures) => void;
}

/** New counts. Windows begin with the first failure. */
export function countFailures(limits: Readonly<Record<Attempted, AttemptLimits>> = LIMITS): FailureCounts {
  const listeners: ((failure: Failure) => void)[] = [];
  const windows = ofEach(rememberedWindows);
  const add = ({ attempted, key, until }: Failure, now: Date): FailureWindow => {
    const before = currentWindow(windows[attempted], key, now);
    const window = { failures: (before?.failures ?? 0) + 1, until: before?.until ?? until };
    windows[attempted].set(key, window);
    return window;
  };
  const count = (attempted: Attempted, key: string, limit: number, now: Date): number | undefined => {
    const failure = { attempted, key, until: now.getTime() + limits[attempted].windowSeconds * 1000 };
    const window = add(failure, now);
    // Of who is beyond the limit, the others know that already.
    if (window.failures <= limit) for (const listener of listeners) listener(failure);
    return window.failures > limit ? secondsLeft(window, now) : undefined;
  };
  const attemptsAt = (attempted: Attempted): Attempts => {
    const { perAddress, perName } = limits[attempted];
    return {
      failed: (address, name, now) => {
        const waits = [
          count(attempted, addressKey(address), perAddress, now),
          name === undefined ? undefined : count(attempted, `name ${name}`, perName, now),
        ].filter((wait) => wait !== undefined);
        return waits.length > 0 ? Math.max(...waits) : undefined;
      },
      secondsToWait: (address, now) => {
        const window = currentWindow(windows[attempted], addressKey(address), now);
        return window && window.failures >= perAddress ? secondsLeft(window, now) : undefined;
      },
    };
  };
  const attempts = ofEach(attemptsAt);
  return {
    of: (attempted) => attempts[attempted],
    listen: (listener) => void listeners.push(listener),
    take: (failure, now) => void add(failure, now),
    known: (now) =>
      KINDS.flatMap((attempted) =>
        [...windows[attempted]].filter(([, { until }]) => until > now.getTime()).map(([key, window]) => ({ attempted, key, window })),
      ),
    learn: (known) => {
      for (const { attempted, key, window } of known) windows[attempted].set(key, window);
    },
  };
}

type Windows = LRUCache<string, FailureWindow>;

/** The memory is bounded: the addresses that were quiet for longest are forgotten. */
const MOST_REMEMBERED = 20_000;
const rememberedWindows = (): Windows => new LRUCache({ max: MOST_REMEMBERED });

function currentWindow(windows: Windows, key: string, now: Date): FailureWindow | undefined {
  const window = windows.get(key);
  return window && window.until > now.getTime() ? window : undefined;
}

const secondsLeft = ({ until }: FailureWindow, now: Date) => Math.ceil((until - now.getTime()) / 1000);

/** What stands behind a proxy that passes on anything as address is not kept at any length. */
const ADDRESS_LETTERS = 64;

/** An IPv6 address counts by its network: who has one address has 2^64. */
function addressKey(address: string): string {
  if (!ipaddr.isValid(address)) return `address ${address.slice(0, ADDRESS_LETTERS)}`;
  const parsed = ipaddr.process(address);
  return `address ${parsed.kind() === 'ipv6' ? parsed.toByteArray().slice(0, 8).join('.') : parsed.toString()}`;
}

// ------------------------------------------------------------------------------------------------- of a site
const ofSites = new WeakMap<object, FailureCounts>();

/** What this process counts for one site. */
export function failureCountsOf(site: object): FailureCounts {
  const known = ofSites.get(site) ?? countFailures();
  ofSites.set(site, known);
  return known;
}

/** Attempts of one kind at one site. */
export const attemptsOf = (site: object, attempted: Attempted): Attempts => failureCountsOf(site).of(attempted);
