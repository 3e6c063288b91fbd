import { createHash } from 'node:crypto';
import type { Zone } from '../../wordpress/zones.ts';
import { type Clock, clockOf } from './clock.ts';
import type { Part } from './components.ts';
import { createZones } from './zones.ts';

/** Facts about a whole file that must be known before its events are read. */
export interface FileFacts {
  /** Name of the calendar. */
  readonly name: string | undefined;
  /** Returns the clock for times without a zone: the zone of their calendar, or else that of the site. */
  readonly clockOf: (calendar: number) => Clock;
  /** Zones that calendars state and that are unknown, with their lines. */
  readonly unknownZones: readonly { readonly line: number; readonly id: string }[];
  /** Finds the clock that a TZID of a calendar means. */
  readonly find: (id: string, calendar: number) => Clock | undefined;
  /** Whether a calendar cancels its events. */
  readonly isCancelled: (calendar: number) => boolean;
  /** Whether a calendar is in the older format vCalendar. */
  readonly isVCalendar: (calendar: number) => boolean;
  /** Whether several events of the file have this UID. */
  readonly isShared: (uid: string) => boolean;
}

/** Scans a file once for its zones and the UIDs of its events. `site`: zone of the site. */
export async function readFileFacts(parts: AsyncIterable<Part>, site: Zone): Promise<FileFacts> {
  const zones = createZones(site);
  const zoneIds = new Map<number, { readonly line: number; readonly id: string }>();
  const cancelledCalendars = new Set<number>();
  const vCalendars = new Set<number>();
  const seenKeys = new Set<string>();
  const sharedKeys = new Set<string>();
  let name: string | undefined;
  for await (const part of parts) {
    if (part.is === 'property') {
      const [, property = '', value = ''] = /^([\w-]+)(?:;[^:]*)?:(.*)$/.exec(part.text) ?? [];
      if (/^(X-WR-CALNAME|NAME)$/i.test(property) && value !== '') name = value.replace(/\\(.)/g, '$1').slice(0, 100);
      if (/^X-WR-TIMEZONE$/i.test(property)) zoneIds.set(part.calendar, { line: part.line, id: value.trim() });
      if (/^TIMEZONE-ID$/i.test(property) && !zoneIds.has(part.calendar)) zoneIds.set(part.calendar, { line: part.line, id: value.trim() });
      if (/^VERSION$/i.test(property) && value.trim() === '1.0') vCalendars.add(part.calendar);
      if (/^METHOD$/i.test(property) && /^CANCEL$/i.test(value.trim())) cancelledCalendars.add(part.calendar);
    } else if (part.is === 'component' && part.name === 'VTIMEZONE') zones.add(part.lines, part.calendar);
    else if (part.is === 'component' && part.name === 'VEVENT') {
      const uid = part.lines.find(({ text }) => /^UID[:;]/i.test(text));
      const key = keyOf(uid?.text.replace(/^[^:]*:/, '') ?? '');
      if (seenKeys.has(key)) sharedKeys.add(key);
      else seenKeys.add(key);
    }
  }
  const ownClock = (calendar: number) => zones.find(zoneIds.get(calendar)?.id ?? '', calendar);
  return {
    name,
    clockOf: (calendar) => ownClock(calendar) ?? clockOf(site),
    unknownZones: [...zoneIds].flatMap(([calendar, statedZone]) => (statedZone.id === '' || ownClock(calendar) ? [] : [statedZone])),
    find: zones.find,
    isCancelled: (calendar) => cancelledCalendars.has(calendar),
    isVCalendar: (calendar) => vCalendars.has(calendar),
    isShared: (uid) => sharedKeys.has(keyOf(uid)),
  };
}

/** Returns a short key for a UID, since UIDs may be long and numerous. Escapes and blanks are ignored. */
function keyOf(uid: string): string {
  const bareUid = uid.replace(/[\\\s]+/g, '');
  return bareUid.length <= MAX_PLAIN_UID_LENGTH ? bareUid : createHash('sha1').update(bareUid).digest('base64');
}

const MAX_PLAIN_UID_LENGTH = 64;
