import { occurrences, parseRule } from '../../calendar/recurrence-rule.ts';
import { offsetAt, parseZone, unixFromFields, unixFromText, type Zone } from '../../wordpress/time.ts';
import { trimStartOf } from '../../wordpress/trim.ts';
import type { Line } from './components.ts';

/** Zones as a file names them. */
export interface FileZones {
  /** Notes a VTIMEZONE of the file. */
  readonly add: (lines: readonly Line[]) => void;
  /** The zone that a TZID means: by its name, by what the file tells of it, or undefined. */
  readonly find: (id: string) => Zone | undefined;
}

/** More zones in one file are not looked through for their likes. */
const MOST_MATCHED = 20;

/**
 * Finds zones by the names that programs give them: IANA's own, IANA's behind a path, a location said beside it. Others (`W. Europe Standard Time`,
 * `Custom`) are compared by their offsets, with the zone of the site first, since the same clock is all that counts. `year`: around which they must agree.
 */
export function createZones(site: Zone, year: number): FileZones {
  const told = new Map<string, readonly Line[]>();
  const known = new Map<string, Zone | undefined>();
  let matched = 0;
  const find = (id: string): Zone | undefined => {
    const lines = told.get(id);
    const named = [id, nameAtEnd(id), lines ? fieldOf(lines, 'X-LIC-LOCATION') : ''].flatMap((name) => zoneNamed(name))[0];
    if (named?.rules != null || !lines || matched >= MOST_MATCHED) return named;
    matched += 1;
    return alike(lines, site, year) ?? named;
  };
  return {
    add: (lines) => {
      const id = fieldOf(lines, 'TZID');
      if (id === '' || told.has(id) || told.size > MOST_TOLD) return;
      told.set(id, lines);
      known.delete(id);
    },
    find: (id) => {
      if (!known.has(id)) known.set(id, find(id));
      return known.get(id);
    },
  };
}

const MOST_TOLD = 1000;

/** The name of a zone that a longer name ends with, as some programs write it: `/example.org/20260101_1/Europe/Rome`. */
function nameAtEnd(id: string): string {
  const name = trimStartOf(id.split(/[^A-Za-z_/+-]/).at(-1) ?? '', '_/+-');
  return name.includes('/') ? name : '';
}

/** A zone of this very name. Whatever begins with UTC is a zone elsewhere; here it must say its offset. */
function zoneNamed(name: string): Zone[] {
  const zone =
    name === '' || name.length > 60 || (/^UTC./s.test(name) && !/^UTC[+-]\d{1,2}([:.]\d{1,2})?$/.test(name)) ? null : parseZone(name);
  return zone ? [zone] : [];
}

const fieldOf = (lines: readonly Line[], name: string): string =>
  lines
    .find(({ text }) => text.toUpperCase().startsWith(name) && /^[:;]/.test(text.slice(name.length)))
    ?.text.replace(/^[^:]*:/, '')
    .trim() ?? '';

/** A change of offset as a file tells it: from which wall clock on, and seconds east of UTC after it. */
interface Onset {
  readonly at: number;
  readonly offset: number;
}

/** A zone whose clock shows the same as the one that the file tells, in the years around. */
function alike(lines: readonly Line[], site: Zone, year: number): Zone | undefined {
  const onsets = onsetsOf(lines, year);
  if (onsets.length === 0) return undefined;
  const moments = Array.from({ length: 36 }, (_, month) => unixFromFields(year - 1, month + 1, 15, 12));
  const wanted = moments.map((moment) => offsetIn(onsets, moment));
  const fits = (zone: Zone) => moments.every((moment, place) => offsetAt(moment, zone) * 60 === wanted[place]);
  if (fits(site)) return site;
  const names = [...Intl.supportedValuesOf('timeZone')].sort((a, b) => rank(a) - rank(b));
  for (const name of names) {
    const zone = parseZone(name);
    if (zone && fits(zone)) return zone;
  }
  const hours = (wanted[0] ?? 0) / 3600;
  return wanted.every((offset) => offset === wanted[0]) ? (parseZone(`UTC${hours < 0 ? '' : '+'}${hours}`) ?? undefined) : undefined;
}

const REGIONS = ['Europe/', 'America/', 'Asia/', 'Australia/', 'Africa/', 'Pacific/'];
const rank = (name: string): number => {
  const place = REGIONS.findIndex((region) => name.startsWith(region));
  return place < 0 ? REGIONS.length : place;
};

function offsetIn(onsets: readonly Onset[], moment: number): number {
  let { offset } = onsets[0]!;
  for (const onset of onsets) if (onset.at <= moment) offset = onset.offset;
  return offset;
}

/** All changes that a file tells, in order, in UTC. */
function onsetsOf(lines: readonly Line[], year: number): Onset[] {
  const onsets: Onset[] = [];
  const last = unixFromFields(year + 3, 1, 1);
  let inner: Line[] | undefined;
  for (const line of lines) {
    if (/^BEGIN:(STANDARD|DAYLIGHT)$/.test(line.text)) inner = [];
    else if (/^END:(STANDARD|DAYLIGHT)$/.test(line.text) && inner) {
      onsets.push(...observed(inner, last));
      inner = undefined;
    } else inner?.push(line);
  }
  return onsets.sort((a, b) => a.at - b.at);
}

function observed(lines: readonly Line[], last: number): Onset[] {
  const [from, to] = [offsetOf(fieldOf(lines, 'TZOFFSETFROM')), offsetOf(fieldOf(lines, 'TZOFFSETTO'))];
  const start = wallOf(fieldOf(lines, 'DTSTART'));
  if (from === undefined || to === undefined || start === undefined) return [];
  const rule = parseRule(fieldOf(lines, 'RRULE'));
  const dates = fieldOf(lines, 'RDATE')
    .split(',')
    .flatMap((text) => wallOf(text) ?? []);
  const walls = rule ? [...occurrences(rule, start, last)] : [start];
  return [...walls, ...dates].map((wall) => ({ at: wall - from, offset: to }));
}

function offsetOf(text: string): number | undefined {
  const [, sign, hours, minutes, seconds = '0'] = /^([+-])(\d\d)(\d\d)(\d\d)?$/.exec(text) ?? [];
  return hours === undefined ? undefined : (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds));
}

/** `20260329T020000` as seconds read as UTC. Years before 1900 tell the begin of time. */
function wallOf(text: string): number | undefined {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)/.exec(text) ?? [];
  if (year === undefined) return undefined;
  const wall = unixFromText(`${Number(year) < 1900 ? '1900' : year}-${month}-${day} ${hour}:${minute}:${second}`);
  return Number.isNaN(wall) ? undefined : wall;
}
