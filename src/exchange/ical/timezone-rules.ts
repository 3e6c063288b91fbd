import { occurrences, parseRule } from '../../calendar/recurrence-rule.ts';
import { unixFromFields, unixFromText } from '../../wordpress/time.ts';
import type { Line } from './lines.ts';

/** Offsets of a VTIMEZONE: seconds east of UTC at a moment, and the moment of a wall time (seconds read as UTC). */
export interface TimezoneRules {
  /** The year from which on the latest of its rules applies. */
  readonly latestRuleYear: number;
  readonly offsetAt: (moment: number) => number;
  readonly toMoment: (wall: number) => number;
}

/** A change of offset: its moment, and the seconds east of UTC before and after it. */
interface Onset {
  readonly moment: number;
  readonly from: number;
  readonly to: number;
}

/** Rules are expanded until this time. */
const EXPANDED_UNTIL = unixFromFields(2100, 1, 1);
const MAX_ONSETS = 2000;
const DAY = 86_400;

/** Parses the rules of a VTIMEZONE (RFC 5545, 3.6.5); returns undefined if it has none. */
export function timezoneRules(lines: readonly Line[]): TimezoneRules | undefined {
  const onsets = onsetsOf(lines);
  if (onsets.length === 0) return undefined;
  const offsetAt = (moment: number): number => {
    let [low, high] = [0, onsets.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (onsets[middle]!.moment <= moment) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? onsets[0]!.from : onsets[low - 1]!.to;
  };
  return {
    latestRuleYear: lines.reduce((latest, { text }) => Math.max(latest, Number(/^DTSTART[^:]*:(\d{4})/i.exec(text)?.[1] ?? 0)), 0),
    offsetAt,
    toMoment: (wall) => {
      const [before, after] = [wall - offsetAt(wall - DAY), wall - offsetAt(wall + DAY)];
      return wall - offsetAt(before) === before || wall - offsetAt(after) !== after ? before : after;
    },
  };
}

/** Returns the value of a VTIMEZONE property, without its parameters; empty if it is absent. */
export const fieldOf = (lines: readonly Line[], name: string): string => fieldsOf(lines, name)[0] ?? '';

const fieldsOf = (lines: readonly Line[], name: string): string[] =>
  lines
    .filter(({ text }) => text.toUpperCase().startsWith(name) && /^[:;]/.test(text.slice(name.length)))
    .map(({ text }) => text.replace(/^[^:]*:/, '').trim());

/** Returns all changes of offset in the file, in order. */
function onsetsOf(lines: readonly Line[]): Onset[] {
  const onsets: Onset[] = [];
  let inner: Line[] | undefined;
  for (const line of lines) {
    if (/^BEGIN:(STANDARD|DAYLIGHT)$/.test(line.text)) inner = [];
    else if (/^END:(STANDARD|DAYLIGHT)$/.test(line.text) && inner) {
      for (const onset of onsetsIn(inner)) onsets.push(onset);
      inner = undefined;
    } else inner?.push(line);
  }
  return onsets.sort((a, b) => a.moment - b.moment);
}

function onsetsIn(lines: readonly Line[]): Onset[] {
  const to = offsetOf(fieldOf(lines, 'TZOFFSETTO'));
  if (to === undefined) return [];
  const startText = fieldOf(lines, 'DTSTART');
  // A rule without a start applies from 1900.
  const start = wallOf(startText === '' ? '19000101' : startText);
  if (start === undefined) return [];
  const from = offsetOf(fieldOf(lines, 'TZOFFSETFROM')) ?? to;
  const dates = fieldsOf(lines, 'RDATE').flatMap((text) => text.split(',').flatMap((date) => wallOf(date) ?? []));
  const rules = fieldsOf(lines, 'RRULE').flatMap((text) => parseRule(text) ?? []);
  const walls = new Set([start, ...dates]);
  for (const rule of rules) {
    for (const wall of occurrences(rule, start, EXPANDED_UNTIL)) {
      if (walls.size >= MAX_ONSETS) break;
      walls.add(wall);
    }
  }
  return [...walls].map((wall) => ({ moment: wall - from, from, to }));
}

/** Parses an offset: `+0100`, `-053000`, and variants that some programs write: `+01`, `-500`, `+1:00`. */
function offsetOf(text: string): number | undefined {
  const [, sign, hours, minutes = '0', seconds = '0'] = /^([+-]?)(\d{1,2})(?::?(\d\d):?(\d\d)?)?$/.exec(text) ?? [];
  return hours === undefined ? undefined : (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds));
}

/** Parses `20260329T020000` or `20260329` to seconds read as UTC. Years before 1900 are treated as 1900. */
function wallOf(text: string): number | undefined {
  const [, year, month, day, hour = '00', minute = '00', second = '00'] =
    /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)?)?/.exec(text.trim()) ?? [];
  if (year === undefined) return undefined;
  const wall = unixFromText(`${Number(year) < 1900 ? '1900' : year}-${month}-${day} ${hour}:${minute}:${second}`);
  return Number.isNaN(wall) ? undefined : wall;
}
