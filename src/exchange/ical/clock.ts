import { UTC, unixFromClockTime, type Zone } from '../../wordpress/zones.ts';
import { offsetIn, wallTimeIn } from '../items/unambiguous-zone.ts';

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
  readonly isZoneGuessed: boolean;
}

/** Returns the clock of a zone. */
export const clockOf = (zone: Zone): Clock => ({
  toMoment: (wall) => firstMomentShowing(wall, zone),
  toWall: (moment) => wallTimeIn(zone, moment),
  zoneAt: () => zone,
  isZoneGuessed: false,
});

/** Returns a UTC clock whose events are shown in the zone of another clock. */
export const utcClock = ({ zoneAt }: Clock): Clock => ({ ...clockOf(UTC), zoneAt });

/** Longest period by which a clock is ever set back, in seconds. */
const MAX_REPEAT_S = 3 * 3600;

/** Returns the first moment that shows a wall time. In some zones, PHP picks the second of two such moments. */
function firstMomentShowing(wall: number, zone: Zone): number {
  const moment = unixFromClockTime(wall, zone);
  if (zone.rules === null) return moment;
  const earlier = wall - offsetIn(zone, moment - MAX_REPEAT_S);
  return earlier < moment && wallTimeIn(zone, earlier) === wall ? earlier : moment;
}
