import { parseZone } from '../zones.ts';

/** A zone as PHP's `DateTime` shows it. Types: 1 an offset, 2 an abbreviation, 3 a name. */
export interface PhpZone {
  readonly timezone_type: 1 | 2 | 3;
  readonly timezone: string;
}

/** The zones that PHP chooses for offsets in seconds (`timezone_name_from_abbr` without an abbreviation). */
const ZONES_BY_OFFSET: ReadonlyMap<number, string> = new Map([
  [-39600, 'Pacific/Apia'],
  [-36000, 'Pacific/Honolulu'],
  [-32400, 'America/Anchorage'],
  [-28800, 'America/Los_Angeles'],
  [-25200, 'America/Denver'],
  [-21600, 'America/Chicago'],
  [-18000, 'America/New_York'],
  [-16200, 'America/Caracas'],
  [-14400, 'America/Halifax'],
  [-10800, 'America/Sao_Paulo'],
  [-3600, 'Atlantic/Azores'],
  [0, 'Europe/London'],
  [3600, 'Europe/Paris'],
  [7200, 'Europe/Helsinki'],
  [10800, 'Europe/Moscow'],
  [14400, 'Asia/Dubai'],
  [18000, 'Asia/Karachi'],
  [19800, 'Asia/Kolkata'],
  [20700, 'Asia/Katmandu'],
  [25200, 'Asia/Krasnoyarsk'],
  [28800, 'Asia/Shanghai'],
  [32400, 'Asia/Tokyo'],
  [36000, 'Australia/Melbourne'],
  [43200, 'Pacific/Auckland'],
]);

/**
 * Returns the zone that The Events Calendar makes from a stored name: manual offsets (`UTC+2`) become a place with that
 * offset, or UTC.
 */
export function phpZone(name: string): PhpZone {
  const zone = parseZone(name);
  if (zone === null) return { timezone_type: 3, timezone: 'UTC' };
  if (/^UTC./.test(name)) return { timezone_type: 3, timezone: ZONES_BY_OFFSET.get(zone.seconds) ?? 'UTC' };
  if (zone.rules !== null || name === 'UTC') return { timezone_type: 3, timezone: name };
  return { timezone_type: zone.label === null || /^[+-]/.test(name) ? 1 : 2, timezone: name };
}
