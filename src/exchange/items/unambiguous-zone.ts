import { offsetAt, parseZone, UTC, unixFromWall, type Zone } from '../../wordpress/zones.ts';

/**
 * A zone in which the local times of these moments are unambiguous: the given one, or a fixed offset where its clock
 * shows one of them twice and WordPress would take the other.
 */
export function unambiguousZone(zone: Zone, moments: readonly number[]): Zone {
  return moments.every((moment) => unixFromWall(wallIn(zone, moment), zone) === moment) ? zone : offsetZone(offsetIn(zone, moments[0]!));
}

/** What a zone's clock shows at a moment, in seconds read as UTC. */
export const wallIn = (zone: Zone, moment: number): number => moment + offsetIn(zone, moment);

/** `UTC+5:30` and its like; UTC itself where the offset is no zone's. */
export function offsetZone(seconds: number): Zone {
  const minutes = Math.round(Math.abs(seconds) / 60);
  const clock = `${Math.floor(minutes / 60)}${minutes % 60 === 0 ? '' : `:${String(minutes % 60).padStart(2, '0')}`}`;
  return parseZone(`UTC${seconds < 0 ? '-' : '+'}${clock}`) ?? UTC;
}

/** Seconds east of UTC. */
export const offsetIn = (zone: Zone, moment: number): number => offsetAt(moment, zone) * 60;
