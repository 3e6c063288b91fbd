import ICAL from 'ical.js';
import { unixFromFields } from '../../wordpress/time.ts';
import { abbreviation, localFromUnix, offsetAt, type Zone } from '../../wordpress/zones.ts';

/** Years for which each change of a zone's offset is written; after the last one, its rules continue without end. */
const YEARS = { first: 1990, last: 2037 } as const;
/** The moment from which the offsets of a zone are written, in Unix seconds. */
export const ZONES_BEGIN = unixFromFields(YEARS.first, 1, 1);
/** Step of the search for changes in seconds; no two changes are closer to each other. */
const STEP_S = 5 * 86_400;

const components = new Map<string, ICAL.Component>();

/**
 * Returns the VTIMEZONE of a zone (RFC 5545, 3.6.5): each change of its offset since 1990, with yearly changes as one
 * rule. A zone with a fixed offset has a single observance.
 */
export function zoneComponent(zone: Zone): ICAL.Component {
  const cached = components.get(zone.name);
  if (cached) return cached;
  const component = new ICAL.Component('vtimezone');
  component.addPropertyWithValue('tzid', zoneId(zone));
  const offset = offsetAt(ZONES_BEGIN, zone);
  component.addSubcomponent(
    observance({ from: offset, to: offset, name: nameAt(ZONES_BEGIN, zone), moment: 0, daylight: false }, undefined),
  );
  for (const { changes, rule } of changeRuns(changesOf(zone))) component.addSubcomponent(observance(changes[0]!, rule));
  components.set(zone.name, component);
  return component;
}

/**
 * Returns the TZID of a zone: its name, with manual offsets as decimal fractions, since a colon is a separator in
 * files.
 */
export const zoneId = ({ name }: Zone): string => {
  const [, sign, hours, minutes] = /^UTC([+-])(\d+):(\d\d)$/.exec(name) ?? [];
  return sign === undefined ? name : `UTC${sign}${Number(hours) + Number(minutes) / 60}`;
};

/** A change of offset: minutes east of UTC before and after it, and the moment in Unix seconds. */
interface Change {
  readonly from: number;
  readonly to: number;
  readonly name: string;
  readonly moment: number;
  readonly daylight: boolean;
}

/** Changes in successive years that one rule describes. */
interface ChangeRun {
  readonly changes: Change[];
  /** `FREQ=YEARLY;...`, without an end; undefined for a single change. */
  rule?: string;
}

function changesOf(zone: Zone): Change[] {
  if (zone.rules === null) return [];
  const changes: Change[] = [];
  const end = unixFromFields(YEARS.last + 1, 1, 1);
  for (let moment = ZONES_BEGIN; moment < end; moment += STEP_S) {
    const [from, to] = [offsetAt(moment, zone), offsetAt(moment + STEP_S, zone)];
    if (from === to) continue;
    let [low, high] = [moment, moment + STEP_S];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (offsetAt(middle, zone) === from) low = middle;
      else high = middle;
    }
    changes.push({ from, to, name: nameAt(high, zone), moment: high, daylight: to > from });
  }
  return changes;
}

/**
 * Returns the abbreviation for an offset from a moment on. It is read a day later, when wall clock times are
 * unambiguous again.
 */
const nameAt = (unix: number, zone: Zone): string => abbreviation(localFromUnix(unix + 86_400, zone), zone);

const DAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];

/** Returns the wall clock time before a change, on which rules are based. */
function wallOf({ moment, from }: Change) {
  const date = new Date((moment + from * 60) * 1000);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()];
  const inMonth = new Date(Date.UTC(year, month, 0)).getUTCDate();
  const places = [...(day + 7 > inMonth ? [-1] : []), ...(day <= 28 ? [Math.ceil(day / 7)] : [])];
  return { year, month, time: date.toISOString().slice(11, 19), weekday: DAYS[date.getUTCDay()]!, places };
}

/** Groups changes of the same kind that fall on the same weekday of a month in successive years. */
function changeRuns(changes: readonly Change[]): ChangeRun[] {
  const runs: ChangeRun[] = [];
  const runsByKind = new Map<string, { run: ChangeRun; places: readonly number[]; year: number }>();
  for (const change of changes) {
    const wall = wallOf(change);
    const kind = [change.from, change.to, change.name, wall.month, wall.weekday, wall.time].join(' ');
    const before = runsByKind.get(kind);
    const places = before && before.year + 1 === wall.year ? before.places.filter((place) => wall.places.includes(place)) : [];
    if (before && places.length > 0) {
      before.run.changes.push(change);
      runsByKind.set(kind, { run: before.run, places, year: wall.year });
      before.run.rule = `FREQ=YEARLY;BYMONTH=${wall.month};BYDAY=${places[0]}${wall.weekday}`;
    } else {
      const run: ChangeRun = { changes: [change] };
      runs.push(run);
      runsByKind.set(kind, { run, places: wall.places, year: wall.year });
    }
  }
  return runs.map(({ changes: runChanges, rule }) => {
    const lastChange = runChanges.at(-1)!;
    const continues = wallOf(lastChange).year === YEARS.last;
    return rule === undefined
      ? { changes: runChanges }
      : { changes: runChanges, rule: continues ? rule : `${rule};UNTIL=${basicUtc(lastChange.moment)}Z` };
  });
}

function observance({ from, to, name, moment, daylight }: Change, rule: string | undefined): ICAL.Component {
  const component = new ICAL.Component(daylight ? 'daylight' : 'standard');
  component.addPropertyWithValue('tzname', name);
  component.addPropertyWithValue('tzoffsetfrom', ICAL.UtcOffset.fromSeconds(from * 60));
  component.addPropertyWithValue('tzoffsetto', ICAL.UtcOffset.fromSeconds(to * 60));
  component.addPropertyWithValue(
    'dtstart',
    ICAL.Time.fromString(new Date((moment + from * 60) * 1000).toISOString().slice(0, 19), undefined as never),
  );
  if (rule !== undefined) component.addPropertyWithValue('rrule', ICAL.Recur.fromString(rule));
  return component;
}

/** Formats a moment in UTC as `20261120T120000`. */
const basicUtc = (unix: number): string => new Date(unix * 1000).toISOString().slice(0, 19).replace(/[-:]/g, '');
