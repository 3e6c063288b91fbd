/** The tables whose change signs are read. */
export interface SignedTables {
  readonly watched: readonly string[];
  /** Tables whose own signs are not read. A write to them may show only in the position. */
  readonly positionOnly: readonly string[];
}

/** The information about changes to some tables that a database server shows to any client. */
export interface ChangeSigns {
  /** One text for each watched table, in their order. It differs after a change that the server has recorded. */
  readonly signs: readonly string[];
  /**
   * Whether any further change is certain to give different signs. False while the server could record a further change
   * under the same second.
   */
  readonly isSettled: boolean;
  /**
   * For each watched table, in their order, whether the server has no record of its last change: either nothing was
   * written to it since the server started, or the server has evicted the record, as it does when it has more tables
   * than it keeps open. In that case a change may show only in the position.
   */
  readonly unrecorded: readonly boolean[];
  /**
   * A whole number that every commit in any database increases before the written rows can be read. Undefined if the
   * server does not show it, or if a watched table uses a storage engine whose commits do not increase it.
   */
  readonly position: string | undefined;
  /** Whether commits to the `positionOnly` tables increase the position as well. */
  readonly countsPositionOnly: boolean;
  /** Minimum amount by which each transaction that writes rows increases the position. Undefined if it is not known. */
  readonly positionStep: number | undefined;
  /**
   * Number of tables that the server has opened so far. The server reopens a table whose change record it has evicted,
   * so this number then increases.
   */
  readonly openedTables: string | undefined;
  /** Uptime of the server in seconds; undefined if there is no server. */
  readonly uptime: number | undefined;
}

/** The signs of one look, and what they mean compared with those of earlier looks. */
export interface Sighting {
  readonly signs: readonly string[];
  /** A number that increases whenever something has changed or may have changed. */
  readonly epoch: number;
  /** Whether rows that are read from now on may be cached under this epoch. */
  readonly isTrusted: boolean;
  /** Number of starts of the server that were noticed. */
  readonly restarts: number;
  /** Latest possible time at which these signs were first seen, in milliseconds. */
  readonly firstSeen: number;
  /** When the server was started, in milliseconds of the same clock, accurate to a second. */
  readonly startedAt: number | undefined;
}

/** Tolerance when comparing start times: `uptime` counts whole seconds, and the response takes a while to arrive. */
const START_TOLERANCE_MS = 2500;

/**
 * Compares a look with the previous one.
 *
 * Signs that differ in either direction mean a change: a server may show when a transaction began, which can be earlier
 * than the time it showed before. A restart of the server also means a change, since the server loses its signs then.
 * Signs that are not settled count as changed, so that an epoch is never reused, even if the clock of the server is set
 * back.
 *
 * @param at when the look began and ended, in milliseconds; what it saw may date from any moment in between
 * @param margin for how many milliseconds a change may show before its rows can be read
 */
export function nextSighting(
  last: Sighting | undefined,
  { signs, isSettled, uptime }: Pick<ChangeSigns, 'signs' | 'isSettled' | 'uptime'>,
  { at, endedAt }: { readonly at: number; readonly endedAt: number },
  margin: number,
): Sighting {
  const startedAt = uptime === undefined ? undefined : at - uptime * 1000;
  const sameStart = last !== undefined && isSameStart(last.startedAt, startedAt);
  const isSame = sameStart && signs.every((sign, index) => sign === last.signs[index]);
  const firstSeen = isSame ? last.firstSeen : endedAt;
  return {
    signs,
    epoch: (last?.epoch ?? 0) + (isSame && isSettled ? 0 : 1),
    isTrusted: isSettled && (margin === 0 || at - firstSeen >= margin),
    restarts: (last?.restarts ?? 0) + (sameStart ? 0 : 1),
    firstSeen,
    startedAt,
  };
}

const isSameStart = (one: number | undefined, other: number | undefined): boolean =>
  one === other || (one !== undefined && other !== undefined && Math.abs(one - other) < START_TOLERANCE_MS);
