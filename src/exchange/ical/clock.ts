import { UTC, unixFromWall, type Zone } from '../../wordpress/zones.ts';
import { offsetIn, wallIn } from '../items/unambiguous-zone.ts';

/** A clock by which a file states times. Walls are what it shows, in seconds read as UTC; moments are Unix seconds. */
export interface Clock {
  /**
   * A wall that is shown twice means the first time, one that is skipped the moment after the gap (RFC 5545, 3.3.5).
   */
  readonly toMoment: (wall: number) => number;
  readonly toWall: (moment: number) => number;
  /** The zone to store for an event that begins at a moment by this clock. */
  readonly zoneAt: (moment: number) => Zone;
  /** Whether its zone is only what a name suggests: the name is in no table, and the file does not describe it. */
  readonly isGuess: boolean;
}

/** The clock of a zone. */
export const clockOf = (zone: Zone): Clock => ({
  toMoment: (wall) => firstMoment(wall, zone),
  toWall: (moment) => wallIn(zone, moment),
  zoneAt: () => zone,
  isGuess: false,
});

/** The clock of UTC, whose events are shown in the zone of another clock. */
export const utcClock = ({ zoneAt }: Clock): Clock => ({ ...clockOf(UTC), zoneAt });

/** No clock goes back by more. */
const LONGEST_REPEAT = 3 * 3600;

/** PHP takes the second of two moments that show the same wall in some zones. */
function firstMoment(wall: number, zone: Zone): number {
  const moment = unixFromWall(wall, zone);
  if (zone.rules === null) return moment;
  const earlier = wall - offsetIn(zone, moment - LONGEST_REPEAT);
  return earlier < moment && wallIn(zone, earlier) === wall ? earlier : moment;
}
