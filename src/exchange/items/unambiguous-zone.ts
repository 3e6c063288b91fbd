import { offsetAt, parseZone, UTC, unixFromClockTime, type Zone } from '../../wordpress/zones.ts';

/**
 * Returns a zone in which the local times of these moments are unambiguous: the given zone, or a fixed offset if the
 * clock shows one of the times twice and WordPress would pick the wrong one.
 */
export function unambiguousZone(zone: Zone, moments: readonly number[]): Zone {
  return moments.every((moment) => unixFromClockTime(wallTimeIn(zone, moment), zone) === moment)
    ? zone
    : offsetZone(offsetIn(zone, moments[0]!));
}

/** Returns the wall time of a zone at a moment, in seconds read as UTC. */
export const wallTimeIn = (zone: Zone, moment: number): number => moment + offsetIn(zone, moment);

/** Returns a zone such as `UTC+5:30`; UTC itself if no zone has this offset. */
export function offsetZone(seconds: number): Zone {
  const minutes = Math.round(Math.abs(seconds) / 60);
  const clock = `${Math.floor(minutes / 60)}${minutes % 60 === 0 ? '' : `:${String(minutes % 60).padStart(2, '0')}`}`;
  return parseZone(`UTC${seconds < 0 ? '-' : '+'}${clock}`) ?? UTC;
}

/** Returns the offset in seconds east of UTC. */
export const offsetIn = (zone: Zone, moment: number): number => offsetAt(moment, zone) * 60;
