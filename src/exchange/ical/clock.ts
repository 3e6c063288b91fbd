import { UTC, unixFromWall, type Zone } from '../../wordpress/zones.ts';
import { offsetIn, wallIn } from '../items/unambiguous-zone.ts';

/**
 * A clock by which a file states times. A wall time is what it shows, in seconds read as UTC; a moment is a Unix time
 * in seconds.
 */
export interface Clock {
  /**
   * Converts a wall time to a moment. A wall time that occurs twice means the first occurrence, one that is skipped the
   * moment after the gap (RFC 5545, 3.3.5).
   */
  readonly toMoment: (wall: number) => number;
  readonly toWall: (moment: number) => number;
  /** Returns the zone to store for an event that begins at this moment. */
  readonly zoneAt: (moment: number) => Zone;
  /** Whether the zone was only guessed from its name, which is in no table and not described in the file. */
  readonly isGuess: boolean;
}

/** Returns the clock of a zone. */
export const clockOf = (zone: Zone): Clock => ({
  toMoment: (wall) => firstMoment(wall, zone),
  toWall: (moment) => wallIn(zone, moment),
  zoneAt: () => zone,
  isGuess: false,
});

/** Returns a UTC clock whose events are shown in the zone of another clock. */
export const utcClock = ({ zoneAt }: Clock): Clock => ({ ...clockOf(UTC), zoneAt });

/** Longest period by which a clock is ever set back, in seconds. */
const LONGEST_REPEAT = 3 * 3600;

/** Returns the first moment that shows a wall time. In some zones, PHP picks the second of two such moments. */
function firstMoment(wall: number, zone: Zone): number {
  const moment = unixFromWall(wall, zone);
  if (zone.rules === null) return moment;
  const earlier = wall - offsetIn(zone, moment - LONGEST_REPEAT);
  return earlier < moment && wallIn(zone, earlier) === wall ? earlier : moment;
}
