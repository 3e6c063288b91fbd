import { describe, expect, it } from '@jest/globals';
import { asListedDates, recurringDates } from '../../src/calendar/recurring-dates.ts';
import { recurringTimes } from '../../src/exchange/ical/write-recurrence.ts';
import { addDays, addSeconds } from '../../src/wordpress/time.ts';
import { parseZone, toUtc } from '../../src/wordpress/zones.ts';
import { countDates } from '../support/count-dates.ts';

const ROME = parseZone('Europe/Rome')!;
const HEAD = 'DTSTART;TZID=Europe/Rome:20310113T100000\nDTEND;TZID=Europe/Rome:20310113T110000\n';

/** Returns occurrences of one hour each, from their local starts. */
const rows = (...starts: string[]) =>
  starts.map((start) => {
    const startUtc = toUtc(`${start}:00`, ROME);
    return { start: `${start}:00`, startUtc, endUtc: addSeconds(startUtc, 3600) };
  });
const told = (rule: string, ...starts: string[]) => {
  const { start, rule: read, rdates, exdates } = recurringDates({ rule: HEAD + rule, dates: rows(...starts) }, ROME);
  return { start, rule: read?.text, rdates, exdates };
};

describe('dates of a recurring event', () => {
  it('are those of the rows, whatever the rule generates', () =>
    expect(told('RRULE:FREQ=DAILY;COUNT=3', '2031-01-13 10:00', '2031-01-15 10:00', '2031-01-15 18:00')).toEqual({
      start: '2031-01-13 10:00:00',
      rule: 'FREQ=DAILY;COUNT=3',
      rdates: ['2031-01-15 18:00:00'],
      exdates: ['2031-01-14 10:00:00'],
    }));

  it('exclude the dates of an exclusion rule up to the last row, and later dates that EXDATE names', () =>
    expect(
      told(
        'RRULE:FREQ=DAILY\nEXRULE:FREQ=DAILY;INTERVAL=2\nEXDATE:20310118,20310120T100000,20310121T090000',
        '2031-01-13 10:00',
        '2031-01-14 10:00',
        '2031-01-16 10:00',
      ).exdates,
    ).toEqual(['2031-01-15 10:00:00', '2031-01-18 10:00:00', '2031-01-20 10:00:00']));

  it('exclude nothing between the last row of an endless rule and a distant RDATE', () =>
    expect(
      told(
        'RRULE:FREQ=DAILY\nRDATE;TZID=Europe/Rome;VALUE=PERIOD:20310301T180000/20310301T190000',
        '2031-01-13 10:00',
        '2031-01-15 10:00',
        '2031-03-01 18:00',
      ),
    ).toEqual({
      start: '2031-01-13 10:00:00',
      rule: 'FREQ=DAILY',
      rdates: ['2031-03-01 18:00:00'],
      exdates: ['2031-01-14 10:00:00'],
    }));

  it.each([
    ['daily', 'FREQ=DAILY', 'FREQ=DAILY', ['2031-01-14 10:00:00', '2031-01-16 10:00:00']],
    ['of every second', 'FREQ=SECONDLY', undefined, []],
    ['of every second, with a single row', 'FREQ=SECONDLY', 'FREQ=SECONDLY', ['2031-01-13 10:00:05']],
  ])('are computed in few steps from a rule %s with a distant EXDATE', async (name, rule, readRule, exdates) => {
    const starts = name.includes('single') ? ['2031-01-13 10:00'] : ['2031-01-13 10:00', '2031-01-15 10:00'];
    let result: ReturnType<typeof told> | undefined;
    const steps = await countDates(() => {
      result = told(`RRULE:${rule}\nEXDATE:20310113T100005,20310116T100000,22981231T100000`, ...starts);
    });
    expect(result).toMatchObject({ rule: readRule, exdates });
    expect(steps).toBeLessThan(20_000);
  });

  it('treat a time that the clock skips in spring as the time that it shows instead', () => {
    const rule = 'DTSTART;TZID=Europe/Rome:20310323T023000\nDTEND;TZID=Europe/Rome:20310323T040000\nRRULE:FREQ=WEEKLY;COUNT=3';
    const dates = rows('2031-03-23 02:30', '2031-03-30 03:30', '2031-04-06 02:30');
    expect(recurringDates({ rule, dates }, ROME)).toMatchObject({ rdates: [], exdates: [] });
  });

  it.each([
    ['can’t be read', 'RRULE:FREQ=NEVER'],
    ['gives no date', 'RRULE:FREQ=DAILY;UNTIL=20300101T000000Z'],
    ['leaves out too much', 'RRULE:FREQ=MINUTELY;UNTIL=20310131T000000Z'],
  ])('are listed one by one if the rule %s', (_, rule) =>
    expect(told(rule, '2031-01-13 10:00', '2031-01-31 10:00')).toEqual({
      start: '2031-01-13 10:00:00',
      rule: undefined,
      rdates: ['2031-01-31 10:00:00'],
      exdates: [],
    }),
  );
});

describe('iCalendar lines of a recurring event', () => {
  const linesOf = (span: { readonly allDay: boolean }, rule: string, ...starts: string[]) =>
    recurringTimes(recurringDates({ rule: HEAD + rule, dates: rows(...starts) }, ROME), span);

  it('write UNTIL in the same form as DTSTART', () => {
    const rule = 'RRULE:FREQ=DAILY;UNTIL=20310115T225959Z;X-OTHER=1\nEXDATE:20310114';
    expect(linesOf({ allDay: false }, rule, '2031-01-13 10:00', '2031-01-15 10:00')).toEqual([
      [
        'DTSTART;TZID=Europe/Rome:20310113T100000',
        'DTEND;TZID=Europe/Rome:20310113T110000',
        'RRULE:FREQ=DAILY;UNTIL=20310115T225959Z',
        'EXDATE;TZID=Europe/Rome:20310114T100000',
      ],
    ]);
    expect(linesOf({ allDay: true }, rule, '2031-01-13 10:00', '2031-01-15 10:00')).toEqual([
      ['DTSTART;VALUE=DATE:20310113', 'DTEND;VALUE=DATE:20310114', 'RRULE:FREQ=DAILY;UNTIL=20310115', 'EXDATE;VALUE=DATE:20310114'],
    ]);
    // The rule ends before the start of the event on its last day.
    expect(linesOf({ allDay: true }, 'RRULE:FREQ=DAILY;UNTIL=20310115T080000Z', '2031-01-13 10:00', '2031-01-14 10:00')[0]).toContain(
      'RRULE:FREQ=DAILY;UNTIL=20310114',
    );
  });

  it('list the days of an all-day event whose rule uses hours', () =>
    expect(linesOf({ allDay: true }, 'RRULE:FREQ=DAILY;BYHOUR=10;COUNT=2', '2031-01-13 10:00', '2031-01-14 10:00')).toEqual([
      ['DTSTART;VALUE=DATE:20310113', 'DTEND;VALUE=DATE:20310114', 'RDATE;VALUE=DATE:20310113', 'RDATE;VALUE=DATE:20310114'],
    ]));

  it.each([
    ['have other days than its dates', 'Europe/Rome', '20310328T230000Z', '20310329T225959Z'],
    ['have the days of its dates', 'America/New_York', '20310329T040000Z', '20310330T035959Z'],
  ])('write the days of an all-day event, whose rule in UTC may %s', (_, name, start, end) => {
    const zone = parseZone(name)!;
    const days = ['2031-03-29', '2031-03-30', '2031-03-31'];
    const dates = days.map((day) => ({
      start: `${day} 00:00:00`,
      startUtc: toUtc(`${day} 00:00:00`, zone),
      endUtc: toUtc(`${day} 23:59:59`, zone),
    }));
    const rule = `DTSTART:${start}\nDTEND:${end}\nRRULE:FREQ=DAILY;COUNT=3`;
    const [lines] = recurringTimes(recurringDates({ rule, dates }, zone), { allDay: true });
    const first = ['DTSTART;VALUE=DATE:20310329', 'DTEND;VALUE=DATE:20310330'];
    expect(lines).toEqual(
      name === 'Europe/Rome'
        ? [...first, ...days.map((day) => `RDATE;VALUE=DATE:${day.replaceAll('-', '')}`)]
        : [...first, 'RRULE:FREQ=DAILY;COUNT=3'],
    );
  });

  it.each([
    ['INTERVAL=0;FREQ=DAILY;COUNT=2', 'RRULE:INTERVAL=1;FREQ=DAILY;COUNT=2'],
    ['FREQ=DAILY;COUNT=-1', 'RRULE:FREQ=DAILY'],
    ['FREQ=DAILY;COUNT=3;COUNT=2;INTERVAL=1', 'RRULE:FREQ=DAILY;COUNT=2;INTERVAL=1'],
  ])('write the rule %s as it is expanded', (rule, line) =>
    expect(linesOf({ allDay: false }, `RRULE:${rule}`, '2031-01-13 10:00', '2031-01-14 10:00')[0]).toEqual([
      'DTSTART;TZID=Europe/Rome:20310113T100000',
      'DTEND;TZID=Europe/Rome:20310113T110000',
      line,
    ]),
  );

  it.each([
    ['that calendars do not know', 'RRULE:FREQ=MONTHLY;BYMONTHDAY=31;SKIP=BACKWARD;COUNT=3', '2031-01-31 10:00', '2031-02-28 10:00'],
    ['with a number and an end', 'RRULE:FREQ=DAILY;COUNT=5;UNTIL=20310114T235959Z', '2031-01-13 10:00', '2031-01-14 10:00'],
    [
      'without an end if another rule excludes dates',
      'RRULE:FREQ=DAILY\nEXRULE:FREQ=DAILY;INTERVAL=2',
      '2031-01-14 10:00',
      '2031-01-16 10:00',
    ],
    ['if another rule excludes its last dates', 'RRULE:FREQ=DAILY;COUNT=3\nEXRULE:FREQ=DAILY;INTERVAL=2', '2031-01-14 10:00'],
  ])('list the dates of a rule %s', (_, rule, ...starts) => {
    const lines = linesOf({ allDay: false }, rule, ...starts).flat();
    expect(lines.filter((line) => /^(?:RRULE|EXDATE)/.test(line))).toEqual([]);
    expect(lines[0]).toBe(`DTSTART;TZID=Europe/Rome:${starts[0]!.replace(/[-:]/g, '').replace(' ', 'T')}00`);
  });

  it('keep a rule of which another one excludes dates before the last one', () =>
    expect(
      linesOf({ allDay: false }, 'RRULE:FREQ=DAILY;COUNT=4\nEXRULE:FREQ=DAILY;INTERVAL=2', '2031-01-14 10:00', '2031-01-16 10:00')[0],
    ).toContain('RRULE:FREQ=DAILY;COUNT=4'));

  it('write a date of another length as a separate component', () => {
    const [first, second] = rows('2031-01-13 10:00', '2031-01-14 10:00');
    const dates = asListedDates(recurringDates({ rule: '', dates: [first!, { ...second!, endUtc: addDays(second!.endUtc, 1) }] }, ROME));
    expect(recurringTimes(dates, { allDay: false })[1]).toEqual([
      'RECURRENCE-ID;TZID=Europe/Rome:20310114T100000',
      'DTSTART;TZID=Europe/Rome:20310114T100000',
      'DTEND;TZID=Europe/Rome:20310115T110000',
    ]);
  });
});
