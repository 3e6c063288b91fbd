import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';

/**
 * Failed attempts to sign in or to open a protected record, by address and by the name that was tried, in the memory of
 * this process.
 */
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

const LIMITS: AttemptLimits = { perAddress: 200, perName: 100, windowSeconds: 900 };

const ofSites = new WeakMap<object, Attempts>();

/** What this process remembers for one site. */
export function attemptsOf(site: object): Attempts {
  const known = ofSites.get(site) ?? countAttempts();
  ofSites.set(site, known);
  return known;
}

/** The memory is bounded: the addresses that were quiet for longest are forgotten. */
const MOST_REMEMBERED = 20_000;

/** A new count. Windows begin with the first failure. */
export function countAttempts({ perAddress, perName, windowSeconds }: AttemptLimits = LIMITS): Attempts {
  const windows = new LRUCache<string, { failures: number; until: number }>({ max: MOST_REMEMBERED });
  const current = (key: string, now: Date) => {
    const window = windows.get(key);
    return window && window.until > now.getTime() ? window : undefined;
  };
  const count = (key: string, limit: number, now: Date): number | undefined => {
    const window = current(key, now) ?? { failures: 0, until: now.getTime() + windowSeconds * 1000 };
    window.failures += 1;
    windows.set(key, window);
    return window.failures > limit ? secondsLeft(window, now) : undefined;
  };
  const secondsLeft = ({ until }: { until: number }, now: Date) => Math.ceil((until - now.getTime()) / 1000);
  return {
    failed: (address, name, now) => {
      const waits = [
        count(addressKey(address), perAddress, now),
        name === undefined ? undefined : count(`name ${name}`, perName, now),
      ].filter((wait) => wait !== undefined);
      return waits.length > 0 ? Math.max(...waits) : undefined;
    },
    secondsToWait: (address, now) => {
      const window = current(addressKey(address), now);
      return window && window.failures >= perAddress ? secondsLeft(window, now) : undefined;
    },
  };
}

/** An IPv6 address counts by its network: who has one address has 2^64. */
function addressKey(address: string): string {
  if (!ipaddr.isValid(address)) return `address ${address}`;
  const parsed = ipaddr.process(address);
  return `address ${parsed.kind() === 'ipv6' ? parsed.toByteArray().slice(0, 8).join('.') : parsed.toString()}`;
}
