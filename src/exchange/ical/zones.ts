import { unixFromFields } from '../../wordpress/time.ts';
import { offsetAt, parseZone, type Zone } from '../../wordpress/zones.ts';
import { offsetZone } from '../items/unambiguous-zone.ts';
import { type Clock, clockOf } from './clock.ts';
import type { Line } from './lines.ts';
import { fieldOf, type TimezoneRules, timezoneRules } from './timezone-rules.ts';
import { isInTable, mainZones, zoneNamed, zonesWithName } from './zone-names.ts';

/** Time zones of a file. */
export interface FileZones {
  /** Adds a VTIMEZONE of a calendar of the file. */
  readonly add: (lines: readonly Line[], calendar: number) => void;
  /**
   * Returns the clock that a TZID of a calendar means: by its name, or by its VTIMEZONE in that calendar or else in
   * another one of the file. Undefined if it is unknown.
   */
  readonly find: (id: string, calendar: number) => Clock | undefined;
}

/** Maximum number of times that all zones are compared with the rules of one file. */
const MAX_SEARCHES = 6;
const MAX_DEFINITIONS = 1000;

/**
 * Creates a finder of zones by the names that programs give them. An IANA name, also at the end of a path, means that
 * zone. Any other name means its VTIMEZONE in the file, at the date in question; without a VTIMEZONE, the Windows zone
 * of that name. `site`: preferred zone if several show the same clock.
 */
export function createZones(site: Zone): FileZones {
  const definitions = new Map<string, readonly Line[]>();
  const clocks = new Map<string, Clock | undefined>();
  const search = createZoneSearch(site);
  const find = (id: string, calendar: number): Clock | undefined => {
    const ianaZone = zoneNamed(id);
    if (ianaZone) return clockOf(ianaZone);
    const lines = definitions.get(keyOf(id, calendar)) ?? definitions.get(keyOf(id));
    const rules = lines && timezoneRules(lines);
    const candidates = zonesWithName(id);
    if (rules) return rulesClock(rules, search(rules, [...zonesOfName(fieldOf(lines, 'X-LIC-LOCATION')), ...candidates]));
    const zone =
      candidates.find(({ name }) => name === site.name) ?? candidates[0] ?? (lines && zonesOfName(fieldOf(lines, 'X-LIC-LOCATION'))[0]);
    return zone && { ...clockOf(zone), isZoneGuessed: !isInTable(id) };
  };
  return {
    add: (lines, calendar) => {
      const id = unescapedId(fieldOf(lines, 'TZID'));
      if (id === '' || definitions.size > MAX_DEFINITIONS) return;
      for (const key of [keyOf(id, calendar), keyOf(id)]) if (!definitions.has(key)) definitions.set(key, lines);
      clocks.clear();
    },
    find: (rawId, calendar) => {
      const id = unescapedId(rawId);
      const key = JSON.stringify([id, calendar]);
      if (!clocks.has(key)) clocks.set(key, find(id, calendar));
      return clocks.get(key);
    },
  };
}

/** Returns the key of a zone's definition, for one calendar or for any; case is ignored. */
const keyOf = (id: string, calendar?: number): string => JSON.stringify([id.toLowerCase(), calendar]);

/** Removes the escapes that a TZID has as a value in a VTIMEZONE, and the quotes that it may have as a parameter. */
const unescapedId = (id: string): string =>
  id
    .replace(/\\([\\,;:])/g, '$1')
    .replace(/^"|"$/g, '')
    .trim();

const zonesOfName = (name: string): Zone[] => {
  const zone = zoneNamed(name);
  return zone ? [zone] : [];
};

const rulesClock = ({ offsetAt: offset, toMoment }: TimezoneRules, zoneAt: Clock['zoneAt']): Clock => ({
  toMoment,
  toWall: (moment) => moment + offset(moment),
  zoneAt,
  isZoneGuessed: false,
});

/**
 * Creates a finder of the zone that has the same offsets as the rules around a moment, or else around the year in which
 * the rules began; a fixed offset if there is none.
 */
function createZoneSearch(site: Zone): (rules: TimezoneRules, likelyZones: readonly Zone[]) => Clock['zoneAt'] {
  let searches = 0;
  const search = (rules: TimezoneRules, preferred: readonly Zone[], year: number): Zone[] => {
    const moments = Array.from({ length: 36 }, (_, month) => unixFromFields(year - 1, month + 1, 15, 12));
    const offsets = moments.map(rules.offsetAt);
    const fits = (zone: Zone) => moments.every((moment, index) => offsetAt(moment, zone) * 60 === offsets[index]);
    const match = preferred.find(fits);
    if (match) return [match];
    searches += 1;
    if (searches > MAX_SEARCHES) return [];
    for (const zone of allZones()) if (fits(zone)) return [zone];
    return [];
  };
  return (rules, likelyZones) => {
    const candidates = new Map<number, readonly Zone[]>();
    const zonesIn = (year: number): readonly Zone[] => {
      const zones = search(rules, [...new Set([...candidates.values()].flat()), site, ...likelyZones], year);
      return zones.length > 0 ? zones : [...likelyZones, ...search(rules, [site], rules.latestRuleYear + 2), site];
    };
    return (moment) => {
      const year = new Date(moment * 1000).getUTCFullYear();
      if (!candidates.has(year)) candidates.set(year, zonesIn(year));
      const offset = rules.offsetAt(moment);
      return candidates.get(year)?.find((zone) => offsetAt(moment, zone) * 60 === offset) ?? offsetZone(offset);
    };
  };
}

/** Yields all zones, the well-known ones first. */
function* allZones(): Generator<Zone> {
  yield* mainZones();
  for (const name of Intl.supportedValuesOf('timeZone')) {
    const zone = parseZone(name);
    if (zone) yield zone;
  }
}
