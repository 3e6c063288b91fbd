import { createHash } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import type { Config } from '../config/config.ts';
import type { Site } from '../site.ts';
import { typedKeys } from '../typed-keys.ts';

/** Kinds of attempts that are counted separately, so that guessing of one kind does not lock out another. */
export type AttemptKind = 'sign-in' | 'record-password' | 'right-password' | 'suggestion';

/** Attempts of one kind, by address and by the name that was tried. */
export interface Attempts {
  /**
   * Counts a failure; `name`: the name that was tried, if any. Returns the seconds until the exceeded limit is lifted,
   * or undefined if no limit is exceeded.
   */
  readonly countFailure: (address: string, name: string | undefined, now: Date) => number | undefined;
  /** Does the same for a text, such as a password, that an address sends for the first time within the window. */
  readonly countNew: (address: string, text: string, now: Date) => number | undefined;
  /**
   * Returns the seconds until an address that has failed too often may try again; undefined for all other addresses.
   */
  readonly secondsToWait: (address: string, now: Date) => number | undefined;
  /**
   * Counts a failure for a name that only `secondsToWaitFor` looks at, and returns the same as `countFailure`. Those of
   * one network count up to a limit, so that it takes many networks to keep the owner of a name out.
   */
  readonly countName: (address: string, name: string, now: Date) => number | undefined;
  /** Returns the seconds until an address may try a name again for which it, or all together, have failed too often. */
  readonly secondsToWaitFor: (address: string, name: string, now: Date) => number | undefined;
}

/** The purpose of attempts by pages of other sites, which can send them from the browser of any of their visitors. */
const FOREIGN_PAGE = 'foreign page ';

/** Returns the purpose of attempts, for `attemptsOf`: those by pages of other sites are counted apart. */
export const purposeOf = ({ isForeignPage }: { readonly isForeignPage: boolean }): string => (isForeignPage ? FOREIGN_PAGE : '');

/**
 * Number of failures within the window before further attempts are refused. One attempt more or less does not matter.
 */
export interface AttemptLimits {
  readonly perAddress: number;
  readonly perName: number;
  /** Failures of one network that count for a name (`countName`). */
  readonly perNameAndNetwork: number;
  readonly windowSeconds: number;
}

const PASSWORDS: AttemptLimits = { perAddress: 200, perName: 100, perNameAndNetwork: 10, windowSeconds: 900 };
const NO_NAMES = { perName: Number.POSITIVE_INFINITY, perNameAndNetwork: Number.POSITIVE_INFINITY };
/**
 * Different right passwords of records: those that an address may send without limit. A user who may publish can make
 * guesses at the password of another record right ones, since a list shows both records, and an event shows its venue.
 */
const RIGHT_PASSWORDS: AttemptLimits = { ...NO_NAMES, perAddress: 20, windowSeconds: 900 };
/** Every suggestion counts, not only failed ones. Suggestions have no name. */
const SUGGESTIONS: AttemptLimits = { ...NO_NAMES, perAddress: 10, windowSeconds: 3600 };

const LIMITS: Readonly<Record<AttemptKind, AttemptLimits>> = {
  'sign-in': PASSWORDS,
  'record-password': PASSWORDS,
  'right-password': RIGHT_PASSWORDS,
  suggestion: SUGGESTIONS,
};
const KINDS = typedKeys(LIMITS);
const forEachKind = <Made>(make: (kind: AttemptKind) => Made): Readonly<Record<AttemptKind, Made>> => ({
  'sign-in': make('sign-in'),
  'record-password': make('record-password'),
  'right-password': make('right-password'),
  suggestion: make('suggestion'),
});

/** Number of failures since the window began, and its end. */
interface FailureWindow {
  readonly failures: number;
  readonly until: number;
}

/**
 * One more failure, reported to the other processes. `until` is the end of the window if it begins with this failure.
 */
export interface Failure {
  readonly attempted: AttemptKind;
  readonly key: string;
  readonly until: number;
}

/** All current windows of one process, for a process that has just started. */
export type KnownFailures = readonly { readonly attempted: AttemptKind; readonly key: string; readonly window: FailureWindow }[];

/** All failures counted for one site, in the memory of this process. */
export interface FailureCounts {
  /** `purpose`: attempts with the same limits whose failures are counted apart; empty for the usual ones. */
  readonly attemptsOf: (kind: AttemptKind, purpose?: string) => Attempts;
  /** Registers a listener for the failures counted here, so that all processes of a service apply one limit. */
  readonly onFailure: (listener: (failure: Failure) => void) => void;
  /** Counts a failure from another process. */
  readonly addFailure: (failure: Failure, now: Date) => void;
  readonly currentWindows: (now: Date) => KnownFailures;
  /** Takes over the failures that other processes counted before this one started. */
  readonly loadWindows: (failures: KnownFailures) => void;
}

/** Creates empty counts. A window begins with its first failure. */
export function createFailureCounts(limits: Readonly<Record<AttemptKind, AttemptLimits>> = LIMITS): FailureCounts {
  const listeners: ((failure: Failure) => void)[] = [];
  const windows = forEachKind(createWindows);
  /** A window that ends later than one that begins now was counted by a clock that was ahead, and is ignored. */
  const isCurrent = (kind: AttemptKind, { until }: FailureWindow, now: Date): boolean =>
    until > now.getTime() && until <= now.getTime() + limits[kind].windowSeconds * 1000;
  const currentWindow = (kind: AttemptKind, key: string, now: Date): FailureWindow | undefined => {
    const window = windows[kind].get(key);
    return window && isCurrent(kind, window, now) ? window : undefined;
  };
  const add = ({ attempted: kind, key, until }: Failure, now: Date): FailureWindow => {
    const previous = currentWindow(kind, key, now);
    const window = { failures: (previous?.failures ?? 0) + 1, until: previous?.until ?? until };
    windows[kind].set(key, window);
    return window;
  };
  const count = (kind: AttemptKind, key: string, limit: number, now: Date): number | undefined => {
    const failure = { attempted: kind, key, until: now.getTime() + limits[kind].windowSeconds * 1000 };
    const window = add(failure, now);
    // Beyond the limit, the other processes know the key already.
    if (window.failures <= limit) for (const listener of listeners) listener(failure);
    return window.failures > limit ? secondsLeft(window, now) : undefined;
  };
  const waitAt = (kind: AttemptKind, key: string, limit: number, now: Date): number | undefined => {
    const window = currentWindow(kind, key, now);
    return window && window.failures >= limit ? secondsLeft(window, now) : undefined;
  };
  return {
    attemptsOf: (kind, purpose = '') =>
      createAttempts(limits[kind], purpose, {
        count: (key, limit, now) => count(kind, key, limit, now),
        waitAt: (key, limit, now) => waitAt(kind, key, limit, now),
        isCounted: (key, now) => currentWindow(kind, key, now) !== undefined,
      }),
    onFailure: (listener) => void listeners.push(listener),
    addFailure: (failure, now) => {
      if (isKnown(failure)) add(failure, now);
    },
    currentWindows: (now) =>
      KINDS.flatMap((kind) =>
        windows[kind]
          .all()
          .filter(([, window]) => isCurrent(kind, window, now))
          .map(([key, window]) => ({ attempted: kind, key, window })),
      ),
    loadWindows: (failures) => {
      for (const { attempted: kind, key, window } of failures.filter(isKnown)) windows[kind].set(key, window);
    },
  };
}

/** The windows of one kind of attempts, by key. */
interface KeyCounts {
  /** Counts a failure. Returns the seconds until the window ends if it has more than `limit` now. */
  readonly count: (key: string, limit: number, now: Date) => number | undefined;
  /** Returns the seconds until the window ends if it has `limit` failures. */
  readonly waitAt: (key: string, limit: number, now: Date) => number | undefined;
  readonly isCounted: (key: string, now: Date) => boolean;
}

function createAttempts(limits: AttemptLimits, purpose: string, { count, waitAt, isCounted }: KeyCounts): Attempts {
  const { perAddress, perName, perNameAndNetwork } = limits;
  const keyOf = (address: string) => purpose + addressKey(address);
  const nameKeys = (address: string, name: string) => ({
    here: `${purpose}name at ${networkKey(address)} ${name}`,
    everywhere: `${purpose}name everywhere ${name}`,
  });
  return {
    countFailure: (address, name, now) => {
      const byAddress = count(keyOf(address), perAddress, now);
      // An address beyond its limit adds no names. With a new one each time, it would displace the windows of others.
      if (byAddress !== undefined || name === undefined) return byAddress;
      return count(`${purpose}name ${name}`, perName, now);
    },
    countNew: (address, text, now) => {
      const key = `text ${keyOf(address)} ${createHash('sha256').update(text).digest('base64')}`;
      if (isCounted(key, now)) return undefined;
      count(key, 1, now);
      return count(keyOf(address), perAddress, now);
    },
    secondsToWait: (address, now) => waitAt(keyOf(address), perAddress, now),
    countName: (address, name, now) => {
      const { here, everywhere } = nameKeys(address, name);
      return count(here, perNameAndNetwork, now) ?? count(everywhere, perName, now);
    },
    secondsToWaitFor: (address, name, now) => {
      const { here, everywhere } = nameKeys(address, name);
      return waitAt(here, perNameAndNetwork, now) ?? waitAt(everywhere, perName, now);
    },
  };
}

/** While a service is upgraded without a pause, its processes are of two versions, and may count other kinds. */
const isKnown = ({ attempted }: { readonly attempted: string }): boolean => KINDS.some((kind) => kind === attempted);

/** The windows of one kind of attempts. */
interface Windows {
  readonly get: (key: string) => FailureWindow | undefined;
  readonly set: (key: string, window: FailureWindow) => void;
  readonly all: () => readonly (readonly [key: string, window: FailureWindow])[];
}

/** The memory is bounded: of the keys of one form, the least recently used are forgotten. */
const MAX_WINDOWS_OF_FORM = 20_000;
/** The form of a key: its purpose, and the words before the address or the name. */
const KEY_FORM = /^.*?(?:address|name at|name everywhere|name|text) /;

/**
 * Creates the windows of one kind. Keys of each form have a memory of their own, so that failures under many keys of
 * one form, such as invented names, do not lift the limits of another.
 */
function createWindows(): Windows {
  const forms = new Map<string, LRUCache<string, FailureWindow>>();
  const ofForm = (key: string): LRUCache<string, FailureWindow> => {
    const form = KEY_FORM.exec(key)?.[0] ?? '';
    const windows = forms.get(form) ?? new LRUCache({ max: MAX_WINDOWS_OF_FORM });
    forms.set(form, windows);
    return windows;
  };
  return {
    get: (key) => ofForm(key).get(key),
    set: (key, window) => void ofForm(key).set(key, window),
    all: () => [...forms.values()].flatMap((windows) => [...windows]),
  };
}

const secondsLeft = ({ until }: FailureWindow, now: Date) => Math.ceil((until - now.getTime()) / 1000);

/** Maximum length of an invalid address that is kept. A proxy may pass on any text as the address. */
const MAX_ADDRESS_LENGTH = 64;

/** An address with the client's port, as some proxies send it: `192.0.2.1:50000`, `[2001:db8::1]:50000`. */
const ADDRESS_WITH_PORT = /^(?:\[(?<v6>[\da-f:.]+)\]|(?<v4>[\d.]+))(?::\d+)?$/i;

/**
 * Returns the key of an address, without the port, which differs with each connection. IPv6 addresses count by network,
 * since a client has 2^64 of them.
 */
export function addressKey(sent: string): string {
  return `address ${withV6Bytes(sent, CLIENT_BYTES)}`;
}

/** Bytes of the part of an IPv6 address that a client does not choose. */
const CLIENT_BYTES = 8;
/** Bytes of the part that a customer of a provider does not choose, who has 65,536 keys of addresses. */
const CUSTOMER_BYTES = 6;

/** Returns the key of the network of an address. */
const networkKey = (sent: string): string => withV6Bytes(sent, CUSTOMER_BYTES);

/** Returns an address without its port; if it is an IPv6 address, only its first bytes. */
function withV6Bytes(sent: string, bytes: number): string {
  const { v6, v4 } = ADDRESS_WITH_PORT.exec(sent)?.groups ?? {};
  const address = v6 ?? v4 ?? sent;
  if (!ipaddr.isValid(address)) return address.slice(0, MAX_ADDRESS_LENGTH);
  const ip = ipaddr.process(address);
  return ip.kind() === 'ipv6' ? ip.toByteArray().slice(0, bytes).join('.') : ip.toString();
}

// ------------------------------------------------------------------------------------------------- of a site
/** By the configuration, which a site and its replicas share: a limit applies to both together. */
const countsByConfig = new WeakMap<Config, FailureCounts>();

/** Returns the failures that this process counts for a site. */
export function failureCountsOf({ config }: Pick<Site, 'config'>): FailureCounts {
  const counts = countsByConfig.get(config) ?? createFailureCounts();
  countsByConfig.set(config, counts);
  return counts;
}

/** Returns the attempts of one kind at a site; `purpose` as in `FailureCounts`. */
export const attemptsOf = (site: Pick<Site, 'config'>, kind: AttemptKind, purpose?: string): Attempts =>
  failureCountsOf(site).attemptsOf(kind, purpose);
