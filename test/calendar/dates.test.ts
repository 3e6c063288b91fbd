import { describe, expect, it } from '@jest/globals';
import { type EventDates, eventDates, movedDates, occurrence, occurrenceHash, parseEventTime } from '../../src/calendar/dates.ts';
import { parseZone, UTC } from '../../src/wordpress/zones.ts';

const now = new Date('2026-11-20T08:06:31Z');
const site = { siteZone: 'Europe/Rome', cutoff: '00:00', now };
const rome = parseZone('Europe/Rome')!;

/** An event as stored: 11:00 to 13:00 on New Year's Day 2030 in Rome. */
const stored: EventDates = {
  start: '2030-01-01 11:00:00',
  end: '2030-01-01 13:00:00',
  startUtc: '2030-01-01 10:00:00',
  endUtc: '2030-01-01 12:00:00',
  timezone: 'Europe/Rome',
  abbreviation: 'CET',
  allDay: false,
  duration: 7200,
};
const allDay: EventDates = {
  ...stored,
  start: '2030-01-01 00:00:00',
  end: '2030-01-02 23:59:59',
  startUtc: '2029-12-31 23:00:00',
  endUtc: '2030-01-02 22:59:59',
  allDay: true,
  duration: null,
};

describe('parseEventTime', () => {
  it.each([
    ['2030-12-01 10:00', '2030-12-01 10:00:00'],
    ['2030-12-01', '2030-12-01 00:00:00'],
    ['2030-12-01T10:00:00Z', '2030-12-01 10:00:00'],
    ['2030-12-01T10:00:00+09:00', '2030-12-01 10:00:00'],
    ['12/01/2030 9:30 pm', '2030-12-01 21:30:00'],
    ['tomorrow 9am', '2026-11-21 09:00:00'],
    ['1970-01-01', '1970-01-01 00:00:00'],
    ['1922349600', '2030-12-01 11:00:00'],
    [1922349600, '2030-12-01 11:00:00'],
    ['@1922349600', '2030-12-01 11:00:00'],
  ])('reads %j in Rome as %s', (value, local) => {
    expect(parseEventTime(value, { zone: rome, now })).toBe(local);
  });

  it('reads a timestamp in the given zone for timestamps, not in the zone of the event', () => {
    expect(parseEventTime('1922349600', { zone: rome, now, timestamps: UTC })).toBe('2030-12-01 10:00:00');
  });

  it.each(['', 'abc', '2030-13-01', '+10000-01-01', '0000-00-00', '0500-01-01', '+99999 years', '1e30'])('returns null for %j', (value) => {
    expect(parseEventTime(value, { zone: rome, now })).toBeNull();
  });
});

describe('dates of a new event', () => {
  const create = (change: Parameters<typeof eventDates>[0], context = site) => eventDates(change, undefined, context);

  it('use the zone of the site and include local and UTC times', () => {
    expect(create({ start: '2030-12-01 10:00:00', end: '2030-12-01 12:00:00' })).toEqual({
      start: '2030-12-01 10:00:00',
      end: '2030-12-01 12:00:00',
      startUtc: '2030-12-01 09:00:00',
      endUtc: '2030-12-01 11:00:00',
      timezone: 'Europe/Rome',
      abbreviation: 'CET',
      allDay: false,
      duration: 7200,
    });
  });

  it.each([
    ['America/New_York', '2030-12-01 15:00:00', 'EST'],
    ['UTC+5.5', '2030-12-01 04:30:00', 'UTC+5.5'],
    ['UTC-5.5', '2030-12-01 15:30:00', 'UTC-5.5'],
    ['UTC-3:30', '2030-12-01 13:30:00', 'UTC-3:30'],
    ['CET', '2030-12-01 09:00:00', 'CET'],
    ['+02:00', '2030-12-01 08:00:00', 'GMT+0200'],
    ['europe/rome', '2030-12-01 09:00:00', 'CET'],
    ['Asia/Kathmandu', '2030-12-01 04:15:00', '+0545'],
    ['', '2030-12-01 09:00:00', 'CET'],
  ])('have a UTC start and an abbreviation for the zone %j', (timezone, startUtc, abbreviation) => {
    const dates = create({ start: '2030-12-01 10:00:00', end: '2030-12-01 12:00:00', timezone });
    expect(dates).toMatchObject({
      start: '2030-12-01 10:00:00',
      startUtc,
      abbreviation,
      timezone: timezone || 'Europe/Rome',
      duration: 7200,
    });
  });

  it('read a timestamp as UTC if no zone is sent, and in the zone that is sent', () => {
    expect(create({ start: '1922349600', end: '2030-12-01 12:00:00' })).toMatchObject({ start: '2030-12-01 10:00:00' });
    expect(create({ start: '1922349600', end: '2030-12-01 12:00:00', timezone: 'Europe/Rome' })).toMatchObject({
      start: '2030-12-01 11:00:00',
    });
  });

  it('move forward a local time that the clock skips', () => {
    const dates = create({ start: '2030-03-10 02:30:00', end: '2030-03-10 04:00:00', timezone: 'America/New_York' });
    expect(dates).toMatchObject({ start: '2030-03-10 03:30:00', startUtc: '2030-03-10 07:30:00', abbreviation: 'EDT', duration: 1800 });
  });

  it.each([
    ['02:30:00', '03:00:00', 1800, '04:00:00'],
    ['02:00:00', '03:00:00', 3600, '04:00:00'],
    ['02:15:00', '02:45:00', 1800, '03:45:00'],
    ['02:30:00', '03:45:00', 900, '03:45:00'],
  ])('keep their length rather than lose all of it if the clock skips the start: %s to %s', (from, to, duration, end) => {
    const sent = { start: `2030-03-31 ${from}`, end: `2030-03-31 ${to}` };
    const gap = { end: `2030-03-31 ${end}`, duration };
    expect(create(sent)).toMatchObject(gap);
    const before = create({ start: '2030-03-24 10:00:00', end: '2030-03-24 11:00:00' }) as EventDates;
    expect(eventDates(sent, before, site)).toMatchObject(gap);
  });

  it.each([
    ['02:15:00', '03:15:00', '2030-03-31 02:15:00', '2030-03-31 04:15:00'],
    ['02:30:00', '02:45:00', '2030-03-31 02:30:00', '2030-03-31 03:45:00'],
    ['01:30:00', '03:30:00', '2030-03-31 01:30:00', '2030-03-31 03:30:00'],
  ])('keep their length on a day on which the clock skips their start: %s to %s', (from, to, start, end) =>
    expect(movedDates({ start: `2030-03-24 ${from}`, end: `2030-03-24 ${to}` }, 7, rome)).toEqual({ start, end }),
  );

  it('have a duration in real seconds across a change of the UTC offset', () => {
    const dates = create({ start: '2030-11-03 01:30:00', end: '2030-11-03 03:00:00', timezone: 'America/New_York' });
    expect(dates).toMatchObject({ startUtc: '2030-11-03 05:30:00', endUtc: '2030-11-03 08:00:00', duration: 9000 });
  });

  it('span whole days and store no duration for an all-day event', () => {
    expect(create({ start: '2030-12-01 10:00:00', end: '2030-12-02 09:00:00', allDay: true })).toMatchObject({
      start: '2030-12-01 00:00:00',
      end: '2030-12-02 23:59:59',
      startUtc: '2030-11-30 23:00:00',
      endUtc: '2030-12-02 22:59:59',
      allDay: true,
      duration: null,
    });
  });

  it('begin and end at the cutoff for an all-day event', () => {
    const dates = create({ start: '2030-12-01 10:00:00', end: '2030-12-01 12:00:00', allDay: true }, { ...site, cutoff: '06:00' });
    expect(dates).toMatchObject({ start: '2030-12-01 06:00:00', end: '2030-12-02 05:59:59' });
  });

  it.each([
    [{ start: '2030-12-01 12:00:00', end: '2030-12-01 10:00:00' }, 'end-before-start', 'end_date'],
    [{ start: '2030-12-03', end: '2030-12-01', allDay: true }, 'end-before-start', 'end_date'],
    [{ start: '9999-01-01', end: '2030-12-01' }, 'end-before-start', 'end_date'],
    [{ end: '2030-12-01' }, 'start-missing', 'start_date'],
    [{ start: '2030-12-01' }, 'end-missing', 'end_date'],
    [{ start: 'abc', end: '2030-12-01' }, 'start-invalid', 'start_date'],
    [{ start: '2030-12-01', end: 'abc' }, 'end-invalid', 'end_date'],
    [{ start: '2030-12-01', end: '9999-12-31 23:00', timezone: 'America/New_York' }, 'end-invalid', 'end_date'],
    [{ start: '2030-12-01', end: '2030-12-02', timezone: 'Mars' }, 'timezone-invalid', 'timezone'],
  ])('are refused for %j: %s', (change, problem, field) => {
    expect(create(change)).toEqual({ problem, field });
  });

  it('may have the same start and end', () => {
    expect(create({ start: '2030-12-01 12:00:00', end: '2030-12-01 12:00:00' })).toMatchObject({ duration: 0 });
  });
});

describe('update of event dates', () => {
  const update = (change: Parameters<typeof eventDates>[0], before = stored, context = site) => eventDates(change, before, context);

  it('returns the stored dates if nothing is changed', () => {
    expect(update({ start: undefined })).toBe(stored);
  });

  it('moves only the start if only the start is sent (D2)', () => {
    expect(update({ start: '2030-01-01 09:00' })).toEqual({
      ...stored,
      start: '2030-01-01 09:00:00',
      startUtc: '2030-01-01 08:00:00',
      duration: 14400,
    });
  });

  it('moves only the end if only the end is sent (D2)', () => {
    expect(update({ end: '2037-01-01 10:00' })).toMatchObject({
      start: stored.start,
      end: '2037-01-01 10:00:00',
      endUtc: '2037-01-01 09:00:00',
    });
  });

  it('is refused if the end would precede the start (D3)', () => {
    expect(update({ end: '2030-01-01 10:00:00' })).toEqual({ problem: 'end-before-start', field: 'end_date' });
    expect(update({ start: '2031-01-01' })).toEqual({ problem: 'end-before-start', field: 'end_date' });
  });

  it('keeps the local times and recalculates UTC if only the zone is sent (D2)', () => {
    const dates = {
      ...stored,
      startUtc: '2030-01-01 16:00:00',
      endUtc: '2030-01-01 18:00:00',
      timezone: 'America/New_York',
      abbreviation: 'EST',
    };
    expect(update({ timezone: 'America/New_York' })).toEqual(dates);
  });

  it('returns to the zone of the site if an empty zone is sent', () => {
    const tokyo = eventDates({ timezone: 'Asia/Tokyo' }, stored, site) as EventDates;
    expect(update({ timezone: '' }, tokyo)).toEqual(stored);
    expect(update({ timezone: null }, tokyo)).toEqual(stored);
  });

  it('keeps the zone of the event and corrects stale UTC values if no zone is sent', () => {
    const stale = { ...stored, timezone: 'UTC+2', abbreviation: 'UTC+2' };
    const mended = { startUtc: '2030-01-01 06:00:00', endUtc: '2030-01-01 11:00:00', timezone: 'UTC+2', duration: 18000 };
    expect(update({ start: '2030-01-01 08:00:00' }, stale)).toMatchObject(mended);
  });

  it('extends the stored days to whole days if the event becomes all-day', () => {
    expect(update({ allDay: true })).toMatchObject({
      start: '2030-01-01 00:00:00',
      end: '2030-01-01 23:59:59',
      startUtc: '2029-12-31 23:00:00',
      allDay: true,
    });
  });

  it('does not move the end by a day each time all-day is sent again', () => {
    const once = update({ allDay: true }, stored, { ...site, cutoff: '06:00' }) as EventDates;
    expect(once.end).toBe('2030-01-02 05:59:59');
    expect(update({ allDay: true }, once, { ...site, cutoff: '06:00' })).toEqual(once);
  });

  it('keeps the length of an all-day event if its displayed times are sent back or moved to other days', () => {
    const late = { ...site, cutoff: '04:00' };
    const whole = eventDates({ start: '2031-01-05', end: '2031-01-06', allDay: true }, undefined, late) as EventDates;
    expect([whole.start, whole.end]).toEqual(['2031-01-05 04:00:00', '2031-01-07 03:59:59']);
    const { start, end } = whole;
    expect(update({ start, end, allDay: true, timezone: 'Europe/Rome' }, whole, late)).toEqual(whole);
    const moved = update({ start: '2031-01-12 04:00:00', end: '2031-01-14 03:59:59' }, whole, late);
    expect(moved).toMatchObject({ start: '2031-01-12 04:00:00', end: '2031-01-14 03:59:59' });
    expect(update({ end: '2031-01-07' }, whole, late)).toMatchObject({ start, end: '2031-01-08 03:59:59' });
  });

  it('keeps all-day times that were stored with another cutoff until different times are sent', () => {
    const late = { ...site, cutoff: '04:00' };
    const { start, end } = allDay;
    expect(update({ start, end, allDay: true }, allDay, late)).toEqual(allDay);
    expect(update({ start, end: '2030-01-02 23:59' }, allDay, late)).toMatchObject({
      start: '2030-01-01 04:00:00',
      end: '2030-01-03 03:59:59',
    });
  });

  it('keeps an all-day event all-day if new times are sent (D1)', () => {
    const dates = update({ start: '2030-01-02 15:00', end: '2030-01-04 16:00' }, allDay);
    expect(dates).toMatchObject({ start: '2030-01-02 00:00:00', end: '2030-01-04 23:59:59', allDay: true, duration: null });
    expect(update({ start: '2030-01-02 15:00' }, allDay)).toMatchObject({ start: '2030-01-02 00:00:00', end: allDay.end });
  });

  it('keeps the times if the all-day flag is removed', () => {
    expect(update({ allDay: false }, allDay)).toEqual({ ...allDay, allDay: false, duration: 172799 });
  });

  it('is refused for an event without dates that sends none', () => {
    expect(update({ allDay: true }, { ...stored, start: '' })).toEqual({ problem: 'start-missing', field: 'start_date' });
  });
});

describe('occurrence row', () => {
  const row = {
    start_date: stored.start,
    start_date_utc: stored.startUtc,
    end_date: stored.end,
    end_date_utc: stored.endUtc,
    duration: 7200,
  };

  it('contains local and UTC times and the duration', () => {
    expect(occurrence(stored)).toEqual(row);
  });

  it.each([
    ['an all-day event from its ends, whatever the meta says', { ...allDay, duration: 7200 }, 172799],
    ['an event without a duration from its ends', { ...stored, duration: null }, 7200],
    ['a shorter duration as stored', { ...stored, duration: 3600 }, 3600],
    [
      'a long event as far as the column goes',
      { ...stored, end: '2040-01-01 13:00:00', endUtc: '2040-01-01 12:00:00', duration: null },
      8388607,
    ],
  ])('takes the duration of %s', (_, dates, duration) => {
    expect(occurrence(dates)?.duration).toBe(duration);
  });

  it.each([
    ['ends before it starts', { ...stored, end: '2030-01-01 10:00:00' }],
    ['ends before it starts in UTC', { ...stored, endUtc: '2030-01-01 09:00:00' }],
    ['lasts longer than from start to end', { ...stored, duration: 7201 }],
    ['is in no known zone', { ...stored, timezone: 'Mars' }],
    ['has no date', { ...stored, start: '0000-00-00 00:00:00' }],
    ['has an unreadable date', { ...stored, endUtc: 'later' }],
  ])('is not written for an event that %s', (_, dates) => {
    expect(occurrence(dates)).toBeNull();
  });

  it('has the SHA-1 hash of the post ID and its own values', () => {
    // sha1 of '44:2030-01-01 11:00:00:2030-01-01 13:00:00:2030-01-01 10:00:00:2030-01-01 12:00:00:7200'
    expect(occurrenceHash(44, row)).toBe('e45d87aca8716dad0a999362418d14d0b470a642');
  });
});

describe('dates that state their moments', () => {
  // The clock of Rome shows the hour after two twice on 31 October 2027: from 00:00 and from 01:00 in UTC.
  it.each([
    ['offsets', { start: '2027-10-31T02:10:00+02:00', end: '2027-10-31T02:05:00+01:00' }],
    [
      'Unix times',
      { start: Date.UTC(2027, 9, 31, 0, 10) / 1000, end: String(Date.UTC(2027, 9, 31, 1, 5) / 1000), timezone: 'Europe/Rome' },
    ],
    ['Unix times after @', { start: `@${Date.UTC(2027, 9, 31, 0, 10) / 1000}`, end: '2027-10-31 02:05:00 +0100', timezone: 'Europe/Rome' }],
  ])('are at them within an hour that the clock shows twice: %s', (_, sent) => {
    const dates = { start: '2027-10-31 02:10:00', startUtc: '2027-10-31 00:10:00', endUtc: '2027-10-31 01:05:00', duration: 3300 };
    expect(eventDates(sent, undefined, site)).toMatchObject(dates);
    const other = { ...stored, ...dates, end: '2027-10-31 02:20:00', endUtc: '2027-10-31 01:20:00', startUtc: '2027-10-31 01:10:00' };
    expect(eventDates(sent, other, site)).toMatchObject(dates);
  });

  const newYork = { timezone: 'America/New_York' };
  it.each([
    ['the other moment of the end', { ...newYork, start: '2027-11-07T01:10:00-05:00', end: '2027-11-07 01:30:00' }, '06:10', '06:30'],
    ['the other moment of the start', { start: '2027-10-31 02:10:00', end: '2027-10-31T02:30:00+02:00' }, '00:10', '00:30'],
  ])('leave %s to a time that states none', (_, sent, start, end) => {
    const dates = eventDates(sent, undefined, site) as EventDates;
    expect([dates.startUtc.slice(11, 16), dates.endUtc.slice(11, 16), dates.duration]).toEqual([start, end, 1200]);
  });

  it('are refused in the wrong order, whatever the clock shows', () =>
    expect(eventDates({ start: '2027-10-31T02:10:00+01:00', end: '2027-10-31T02:30:00+02:00' }, undefined, site)).toMatchObject({
      problem: 'end-before-start',
    }));

  it.each(['2027-10-31 02:10:00 Europe/Rome', '2027-10-31 02:10:00'])('are not stated by the name of a zone: %s', (start) => {
    const first = { ...stored, start: '2027-10-31 02:10:00', startUtc: '2027-10-31 00:10:00', end: '2027-10-31 05:00:00' };
    expect(eventDates({ start }, { ...first, endUtc: '2027-10-31 04:00:00' }, site)).toMatchObject({ startUtc: first.startUtc });
  });

  it('keep their digits where the clock does not show them then', () => {
    expect(eventDates({ start: '2027-10-31T02:10:00+09:00', end: '2027-10-31T02:15:00Z' }, undefined, site)).toMatchObject({
      start: '2027-10-31 02:10:00',
      startUtc: '2027-10-31 01:10:00',
      endUtc: '2027-10-31 01:15:00',
    });
  });
});

describe('dates that are sent back as they are stored', () => {
  // The clock of Rome shows half past two twice on 31 October 2027.
  const change = { start: '2027-10-31 02:30:00', end: '2027-10-31 04:00:00' };
  const twice = {
    ...stored,
    ...change,
    startUtc: '2027-10-31 00:30:00',
    endUtc: '2027-10-31 03:00:00',
    abbreviation: 'CEST',
    duration: 9000,
  };

  it.each([change, { start: change.start }, { timezone: 'Europe/Rome' }, { ...change, timezone: 'Europe/Rome', allDay: false }])(
    'stay at the first of two moments with the same local time: %j',
    (sent) => expect(eventDates(sent, twice, site)).toEqual(twice),
  );

  it('get their UTC again if it is not at that time', () => {
    expect(eventDates(change, { ...twice, startUtc: '2027-10-30 22:00:00' }, site)).toMatchObject({ startUtc: '2027-10-31 01:30:00' });
  });

  it('keep their start when the end moves, and their end when the start moves', () => {
    const { startUtc, abbreviation } = twice;
    expect(eventDates({ end: '2027-10-31 05:00:00' }, twice, site)).toMatchObject({ startUtc, abbreviation, duration: 12_600 });
    const night = { ...twice, start: '2027-10-31 00:00:00', startUtc: '2027-10-30 22:00:00', end: twice.start, endUtc: startUtc };
    expect(eventDates({ start: '2027-10-31 01:00:00' }, night, site)).toMatchObject({ endUtc: startUtc, duration: 5400 });
    expect(eventDates({ start: '2027-10-31 02:15:00' }, night, site)).toMatchObject({ endUtc: '2027-10-31 01:30:00', duration: 900 });
  });

  /** From 01:30 in daylight saving time of New York to 01:15 in standard time, 45 minutes later. */
  const reversed = {
    ...stored,
    start: '2027-11-07 01:30:00',
    end: '2027-11-07 01:15:00',
    startUtc: '2027-11-07 05:30:00',
    endUtc: '2027-11-07 06:15:00',
    timezone: 'America/New_York',
    abbreviation: 'EDT',
    duration: 2700,
  };

  it('stay in an hour that the clock shows twice, also if the end is before the start on it', () => {
    const { start, end, timezone } = reversed;
    for (const sent of [{ start, end }, { start, end, timezone }, { end }, { start, end, timezone, allDay: false }])
      expect([sent, eventDates(sent, reversed, site)]).toEqual([sent, reversed]);
    expect(eventDates({ start, end, timezone }, undefined, site)).toMatchObject({ problem: 'end-before-start' });
    expect(occurrence(reversed)).toMatchObject({ start_date: start, end_date: end, duration: 2700 });
  });

  it.each([
    ['in UTC too', { endUtc: '2027-11-07 05:15:00' }],
    ['and its moments are others', { startUtc: '2027-11-07 05:31:00' }],
  ])('give no row if the end is before the start %s', (_, wrong) => expect(occurrence({ ...reversed, ...wrong })).toBeNull());
});
