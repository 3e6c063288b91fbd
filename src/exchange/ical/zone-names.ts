import { WINDOWS_TO_IANA_MAP } from 'windows-iana';
import { addToGroup } from '../../grouped-by.ts';
import { unixFromFields } from '../../wordpress/time.ts';
import { ZONE_ABBREVIATIONS } from '../../wordpress/time-abbreviations.ts';
import { offsetAt, parseZone, UTC, type Zone } from '../../wordpress/zones.ts';

/**
 * Returns the zone of an IANA name, alone or at the end of a path
 * (`/example.org/20260101_1/America/Argentina/Buenos_Aires`). Returns undefined for other names, including fixed
 * offsets, because a VTIMEZONE may say more than these.
 */
export function zoneNamed(id: string): Zone | undefined {
  if (id.length > MAX_NAME_LENGTH) return undefined;
  const parts = id.split('/').filter((part) => part !== '');
  for (const count of [3, 2, 1]) {
    if (count > parts.length || (count === 1 && parts.length > 1 && !isUtc(parts.at(-1)!))) continue;
    const zone = canonicalZone(parts.slice(-count).join('/'));
    if (zone && (zone.rules !== null || isUtc(zone.name))) return zone;
  }
  return undefined;
}

/**
 * Returns zones that other names may mean, the most likely first: Windows names (`Eastern Standard Time`), their
 * display names (`(UTC-05:00) Eastern Time (US & Canada)`, `(UTC+01:00) Amsterdam, Berlin, Rome`), abbreviations and
 * offsets. Windows names come from CLDR's table windowsZones.
 */
export function zonesWithName(id: string): Zone[] {
  if (id.length > MAX_NAME_LENGTH) return [];
  const name = withoutPrefix(id);
  const displayName = withoutOffset(name);
  const windows = [name, displayName, `${displayName.split(' Time')[0]} Standard Time`].flatMap(windowsZones);
  const fixedZone = canonicalZone(name);
  return [
    ...windows,
    ...zonesOfName(LINKS.get(name.toUpperCase()) ?? ''),
    ...zoneOfMisspelledName(name),
    ...citiesOf(name, displayName),
    ...(fixedZone && /^[\w+:.-]+$/.test(name) && isOffset(name) ? [fixedZone] : []),
  ];
}

/** Whether a name is in a table: CLDR's, with or without Microsoft's prefix, or that of IANA's links. */
export const isInTable = (id: string): boolean => WINDOWS.has(withoutPrefix(id).toLowerCase()) || LINKS.has(id.toUpperCase());

/**
 * Parses a zone and returns it with the canonical spelling of its name: `America/New_York`, `EST`, and `UTC` for all
 * its aliases.
 */
function canonicalZone(name: string): Zone | null {
  if (/^(?:UTC|Z|Zulu)$/i.test(name)) return UTC;
  const zone = parseZone(name);
  if (zone === null) return null;
  return { ...zone, name: zone.rules === null ? zone.name.replace(/^[a-z]+$/i, (letters) => letters.toUpperCase()) : canonicalName(name) };
}

let canonicalNames: Map<string, string> | undefined;

function canonicalName(name: string): string {
  canonicalNames ??= new Map(Array.from(ZONE_ABBREVIATIONS.matchAll(/(?<= )[A-Z][\w+/-]*(?=[ \n])/g), ([id]) => [id.toLowerCase(), id]));
  return canonicalNames.get(name.toLowerCase()) ?? name;
}

/** Returns the zone of an IANA name in the spelling of some programs: `America/New York`, `US-Eastern`. */
function zoneOfMisspelledName(name: string): Zone[] {
  const zone = canonicalZone(name.includes('/') ? name.replaceAll(' ', '_') : name.replaceAll('-', '/'));
  return zone && zone.rules !== null ? [zone] : [];
}

const withoutPrefix = (id: string): string => id.replace(/^tzone:\/\/Microsoft\//i, '');

/** Returns the main zone of each Windows zone. */
export const mainZones = (): Zone[] => [...WINDOWS.values()].flatMap(([main = '']) => zonesOfName(main));

const MAX_NAME_LENGTH = 200;

/** Zones with daylight saving time whose names PHP takes for abbreviations, and the zones that IANA links them to. */
const LINKS = new Map([
  ['CET', 'Europe/Brussels'],
  ['MET', 'Europe/Brussels'],
  ['EET', 'Europe/Athens'],
  ['WET', 'Europe/Lisbon'],
]);

/** Windows names in lower case -> their zones, starting with the one that CLDR assigns to the whole world. */
const WINDOWS: ReadonlyMap<string, readonly string[]> = windowsTable();

function windowsTable(): Map<string, string[]> {
  const table = new Map<string, string[]>();
  for (const { windowsName, iana } of WINDOWS_TO_IANA_MAP) {
    for (const zone of iana) addToGroup(table, windowsName.toLowerCase(), zone);
  }
  return table;
}

const windowsZones = (name: string): Zone[] => [...new Set(WINDOWS.get(name.toLowerCase()))].flatMap(zonesOfName);

function zonesOfName(name: string): Zone[] {
  const zone = canonicalZone(name);
  return zone ? [zone] : [];
}

const isUtc = (name: string): boolean => /^(?:UTC|GMT|Z|Zulu|Etc\/(?:UTC|GMT))$/i.test(name);

/**
 * Whether a name is a usable offset. A name that begins with UTC must have an offset here, although other callers
 * accept it without. A single letter is probably a file's own zone name, not a military zone.
 */
const isOffset = (name: string): boolean =>
  (!/^UTC./.test(name) && !/^[a-y]$/i.test(name)) || /^UTC[+-]\d{1,2}(?:[:.]\d{1,2})?$/.test(name);

/** The prefix of Windows display names: `(UTC-05:00) ` or `(GMT) `. */
const OFFSET = /^\((?:UTC|GMT) ?(?:([+-])(\d{1,2}):(\d\d))?\) ?/i;

const withoutOffset = (name: string): string => name.replace(OFFSET, '');

/** Returns the zones of the cities that a name lists, if they have the offset that the name states. */
function citiesOf(name: string, displayName: string): Zone[] {
  const [prefix, sign, hours = '0', minutes = '0'] = OFFSET.exec(name) ?? [];
  const offset = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  const zones = displayName
    .split(/[,:;]/)
    .flatMap((city) => zoneOfCity(city.trim()))
    .filter((zone) => prefix === undefined || WINTER_SUMMER.some((moment) => offsetAt(moment, zone) === offset));
  return zones.slice(0, MAX_CITIES);
}

const MAX_CITIES = 10;
const WINTER_SUMMER = [unixFromFields(2025, 1, 15), unixFromFields(2025, 7, 15)];

let cities: Map<string, string> | undefined;

function zoneOfCity(city: string): Zone[] {
  cities ??= new Map(
    Intl.supportedValuesOf('timeZone').flatMap((zone): [string, string][] => {
      const cityName = zone.split('/').at(-1);
      return zone.includes('/') && cityName !== undefined ? [[cityName.replaceAll('_', ' ').toLowerCase(), zone]] : [];
    }),
  );
  return zonesOfName(cities.get(city.toLowerCase()) ?? '');
}
