import { describe, expect, it } from '@jest/globals';
import ICAL from 'ical.js';
import { zoneComponent, zoneId } from '../../src/exchange/ical/zone.ts';
import { unixFromFields } from '../../src/wordpress/time.ts';
import { localFromUnix, offsetAt, parseZone } from '../../src/wordpress/zones.ts';

const ZONES = [
  'Europe/Rome',
  'America/New_York',
  'Asia/Tokyo',
  'Australia/Lord_Howe',
  'Asia/Jerusalem',
  'America/Santiago',
  'Africa/Casablanca',
  'Europe/Moscow',
  'Asia/Kolkata',
  'UTC',
  'UTC+5.5',
  'UTC-3:30',
];

describe('VTIMEZONE of a zone', () => {
  it.each(ZONES)('of %s gives the correct offset for every time from 1990 to 2037', (name) => {
    const zone = parseZone(name)!;
    const told = new ICAL.Timezone(zoneComponent(zone));
    const wrong: string[] = [];
    for (let unix = unixFromFields(1990, 1, 2); unix < unixFromFields(2037, 12, 31); unix += 9 * 86_400 + 5 * 3600) {
      // A local time near a change of offset may be ambiguous or not exist.
      const [before, at, after] = [-86_400, 0, 86_400].map((shift) => offsetAt(unix + shift, zone)) as [number, number, number];
      if (before !== at || after !== at) continue;
      const wall = localFromUnix(unix, zone);
      const time = ICAL.Time.fromString(wall.replace(' ', 'T'), undefined as never);
      time.zone = told;
      if (told.utcOffset(time) !== at * 60) wrong.push(`${wall}: ${told.utcOffset(time)} is not ${at * 60}`);
    }
    expect(wrong).toEqual([]);
  });
  it('is short if the rules are simple', () => expect(zoneComponent(parseZone('Europe/Rome')!).toString().length).toBeLessThan(800));
  it.each([
    ['UTC+5:30', 'UTC+5.5'],
    ['UTC-3:45', 'UTC-3.75'],
    ['UTC+2', 'UTC+2'],
    ['Europe/Rome', 'Europe/Rome'],
  ])('of %s is named %s, without a colon', (name, id) => expect(zoneId(parseZone(name)!)).toBe(id));
});
