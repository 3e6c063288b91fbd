/** The tables that signs are asked for. */
export interface SignedTables {
  readonly watched: readonly string[];
  /** Tables without signs of their own: only the position may show what is written to them. */
  readonly besides: readonly string[];
}

/** What a database server shows to everybody of the changes to some tables. */
export interface ChangeSigns {
  /** A text for each watched table, in their order: another one after a change that the server has noted. */
  readonly signs: readonly string[];
  /**
   * Whether any further change is certain to give other signs. Not so while the server could note it in the same
   * second.
   */
  readonly settled: boolean;
  /**
   * For each watched table, in their order, whether the server has no note of it: nobody has written to it since the
   * start, or the server has forgotten it, as it does where it holds more tables than it keeps open. Then a change may
   * show in the log alone.
   */
  readonly forgotten: readonly boolean[];
  /**
   * A whole number that every commit in any database raises before what it wrote can be read. Undefined where the
   * server does not say, or where a watched table is of an engine whose commits do not.
   */
  readonly position: string | undefined;
  /** Whether commits to the other tables raise it as well. */
  readonly countsBesides: boolean;
  /** By how much each transaction that writes rows raises it, at least. Undefined: not known. */
  readonly step: number | undefined;
  /** How many tables the server has opened so far. It forgets a change of a table only to open it again. */
  readonly opened: string | undefined;
  /** For how many seconds the server has been running; undefined where there is no server. */
  readonly uptime: number | undefined;
}

/** The signs of one look, and what they mean after those of the looks before it. */
export interface Sighting {
  readonly signs: readonly string[];
  /** A number that rises whenever something changed, or may have changed. */
  readonly epoch: number;
  /** Whether what is read from now on may be remembered under this epoch. */
  readonly trusted: boolean;
  /** How often the server was started, as far as was seen. */
  readonly starts: number;
  /** When these signs were first seen, at the latest, in milliseconds. */
  readonly firstSeen: number;
  /** When the server was started, in milliseconds of the same clock, to the second. */
  readonly startedAt: number | undefined;
}

/** `uptime` counts whole seconds, and the answer takes a while to arrive. */
const START_TOLERANCE_MS = 2500;

/**
 * Compares a look with the one before it.
 *
 * Signs that differ in either direction mean a change: a server may show when a transaction began, which can be earlier
 * than the time it showed before. A restart of the server means a change, too, since the server forgets its signs then.
 * Signs that are not settled count as changed, so that an epoch never comes back, not even after the server's clock was
 * set back.
 *
 * @param at when the look began and ended, in milliseconds: what it has seen may be of any moment between
 * @param margin for how many milliseconds a change may show before its rows can be read
 */
export function nextSighting(
  last: Sighting | undefined,
  { signs, settled, uptime }: Pick<ChangeSigns, 'signs' | 'settled' | 'uptime'>,
  { at, ended }: { readonly at: number; readonly ended: number },
  margin: number,
): Sighting {
  const startedAt = uptime === undefined ? undefined : at - uptime * 1000;
  const sameStart = last !== undefined && isSameStart(last.startedAt, startedAt);
  const same = sameStart && signs.every((sign, index) => sign === last.signs[index]);
  const firstSeen = same ? last.firstSeen : ended;
  return {
    signs,
    epoch: (last?.epoch ?? 0) + (same && settled ? 0 : 1),
    trusted: settled && (margin === 0 || at - firstSeen >= margin),
    starts: (last?.starts ?? 0) + (sameStart ? 0 : 1),
    firstSeen,
    startedAt,
  };
}

const isSameStart = (one: number | undefined, other: number | undefined): boolean =>
  one === other || (one !== undefined && other !== undefined && Math.abs(one - other) < START_TOLERANCE_MS);
