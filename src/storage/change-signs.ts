/** What a database server shows to everybody of the changes to some tables. */
export interface ChangeSigns {
  /** A text for each table, in their order: another one after a change that the server has noted. */
  readonly signs: readonly string[];
  /** Whether any further change will give other signs. A server that notes seconds can't say so of the second it is in. */
  readonly settled: boolean;
  /** For how many seconds the server has been running; undefined where there is no server. */
  readonly uptime: number | undefined;
}

/** The signs of one look, and what they mean after those of the looks before it. */
export interface Sighting {
  readonly signs: readonly string[];
  /** Rises whenever something changed, or may have. Never the same again for other data, as far as the signs show it. */
  readonly epoch: number;
  /** Whether what is read from now on may be remembered under this epoch. */
  readonly trusted: boolean;
  /** When these signs were first seen, in milliseconds. */
  readonly firstSeen: number;
  /** When the server was started, in milliseconds of the same clock, to the second. */
  readonly startedAt: number | undefined;
}

/** `uptime` counts whole seconds, and the answer takes a while. */
const START_TOLERANCE_MS = 2500;

/**
 * What a look at time `at` means after the look before it; `margin`: for how many milliseconds a change may show before its rows can be read. Signs that differ in either direction are a change, since a server may show the time at which
 * a transaction began, not at which it ended; so is another start of the server, which forgets the signs. What is not settled counts as changed,
 * so that signs which come back later, as after the server's clock was set back, mean nothing.
 */
export function nextSighting(last: Sighting | undefined, { signs, settled, uptime }: ChangeSigns, at: number, margin: number): Sighting {
  const startedAt = uptime === undefined ? undefined : at - uptime * 1000;
  const same = last !== undefined && signs.every((sign, index) => sign === last.signs[index]) && isSameStart(last.startedAt, startedAt);
  const firstSeen = same ? last.firstSeen : at;
  return {
    signs,
    epoch: (last?.epoch ?? 0) + (same && settled ? 0 : 1),
    trusted: settled && at - firstSeen >= margin,
    firstSeen,
    startedAt,
  };
}

const isSameStart = (one: number | undefined, other: number | undefined): boolean =>
  one === other || (one !== undefined && other !== undefined && Math.abs(one - other) < START_TOLERANCE_MS);
