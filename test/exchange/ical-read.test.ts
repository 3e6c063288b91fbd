import { describe, expect, it } from '@jest/globals';
import { recurringDates } from '../../src/calendar/recurring-dates.ts';
import { type CalendarOptions, calendarEntries, calendarSource } from '../../src/exchange/ical/read.ts';
import { type CalendarEvent, writeCalendar } from '../../src/exchange/ical/write.ts';
import { type Entry, isItem, type PostItem } from '../../src/exchange/items/items.ts';
import { addSeconds } from '../../src/wordpress/time.ts';
import { parseZone, toLocal } from '../../src/wordpress/zones.ts';

const NOW = new Date('2026-11-20T12:00:00Z');
const OPTIONS: CalendarOptions = {
  file: 'a.ics',
  settings: { zone: parseZone('Europe/Rome')!, timezone: 'Europe/Rome', calendar: { cutoff: '00:00' } as never },
  now: NOW,
};

/** Yields the content of a file in chunks with arbitrary boundaries. */
const fileOf = (content: string | Uint8Array) =>
  async function* () {
    const bytes = Buffer.from(content as Uint8Array);
    for (let at = 0; at < bytes.length; at += 4099) yield bytes.subarray(at, at + 4099);
  };
const calendar = (...components: string[]) =>
  ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:x', ...components, 'END:VCALENDAR', ''].join('\r\n');
const event = (...lines: string[]) =>
  [
    'BEGIN:VEVENT',
    ...(lines.some((line) => line.startsWith('UID')) ? [] : ['UID:one']),
    ...(lines.some((line) => line.startsWith('SUMMARY')) ? [] : ['SUMMARY:Concert']),
    ...lines,
    'END:VEVENT',
  ].join('\r\n');

async function read(
  text: string | Uint8Array,
  options: Partial<CalendarOptions> = {},
): Promise<{ entries: Entry[]; events: PostItem[]; losses: string[]; whole: string[] }> {
  const all: Entry[] = [];
  for await (const entry of calendarEntries(fileOf(text), { ...OPTIONS, ...options })) all.push(entry);
  const entries = all.filter(({ kind }) => kind !== 'dates');
  return {
    entries,
    whole: all.flatMap((entry) => (entry.kind === 'dates' ? [entry.name] : [])),
    events: entries.filter((entry): entry is PostItem => isItem(entry) && entry.kind === 'event'),
    losses: entries.flatMap((entry) => (entry.kind === 'loss' ? [`${entry.loss.reason} ${entry.loss.place}`] : [])),
  };
}
const meta = (item: PostItem | undefined, key: string) => item?.metas.find(([name]) => name === key)?.[1];
/** Returns start, end and zone of an event. */
const when = (item: PostItem | undefined) => [meta(item, '_EventStartDate'), meta(item, '_EventEndDate'), meta(item, '_EventTimezone')];
const starts = ({ events }: { events: PostItem[] }) => events.map((item) => meta(item, '_EventStartDate'));
/** Returns the reason and the detail of each loss. */
const lossesOf = ({ entries }: Awaited<ReturnType<typeof read>>) =>
  entries.flatMap((entry) => (entry.kind === 'loss' ? [[entry.loss.reason, entry.loss.detail]] : []));

describe('times of an event', () => {
  it.each([
    [
      ['DTSTART:20261224T190000Z', 'DTEND:20261224T210000Z'],
      ['2026-12-24 20:00:00', '2026-12-24 22:00:00', 'Europe/Rome'],
    ],
    [
      ['DTSTART;TZID=America/New_York:20261224T190000', 'DTEND;TZID=America/New_York:20261224T210000'],
      ['2026-12-24 19:00:00', '2026-12-24 21:00:00', 'America/New_York'],
    ],
    [
      ['DTSTART;TZID="America/New_York":20261224T190000', 'DTEND:20261225T020000Z'],
      ['2026-12-24 19:00:00', '2026-12-24 21:00:00', 'America/New_York'],
    ],
    [
      ['DTSTART:20261224T190000', 'DURATION:PT1H30M'],
      ['2026-12-24 19:00:00', '2026-12-24 20:30:00', 'Europe/Rome'],
    ],
    [['DTSTART:20261224T190000'], ['2026-12-24 19:00:00', '2026-12-24 19:00:00', 'Europe/Rome']],
    [
      ['DTSTART;VALUE=DATE:20261224', 'DTEND;VALUE=DATE:20261227'],
      ['2026-12-24 00:00:00', '2026-12-26 23:59:59', 'Europe/Rome'],
    ],
    [['DTSTART;VALUE=DATE:20261224'], ['2026-12-24 00:00:00', '2026-12-24 23:59:59', 'Europe/Rome']],
    [
      ['DTSTART;VALUE=DATE:20261224', 'DURATION:P3D'],
      ['2026-12-24 00:00:00', '2026-12-26 23:59:59', 'Europe/Rome'],
    ],
    [['DTSTART;TZID=/mozilla.org/20050126_1/Asia/Tokyo:20261224T190000'], ['2026-12-24 19:00:00', '2026-12-24 19:00:00', 'Asia/Tokyo']],
  ])('are read from %j', async (lines, expected) => expect(when((await read(calendar(event(...lines)))).events[0])).toEqual(expected));

  it('include UTC, the zone abbreviation and the duration', async () => {
    const [item] = (await read(calendar(event('DTSTART;TZID=Asia/Tokyo:20261224T190000')))).events;
    expect([meta(item, '_EventStartDateUTC'), meta(item, '_EventTimezoneAbbr'), meta(item, '_EventDuration')]).toEqual([
      '2026-12-24 10:00:00',
      'JST',
      '0',
    ]);
  });
  it('are marked as all-day if they are dates', async () =>
    expect(meta((await read(calendar(event('DTSTART;VALUE=DATE:20261224')))).events[0], '_EventAllDay')).toBe('1'));
  it('are in the zone of the calendar if the event names none', async () =>
    expect(when((await read(calendar('X-WR-TIMEZONE:Asia/Tokyo', event('DTSTART:20261224T190000Z')))).events[0])).toEqual([
      '2026-12-25 04:00:00',
      '2026-12-25 04:00:00',
      'Asia/Tokyo',
    ]));

  const zone = (id: string, ...lines: string[]) => ['BEGIN:VTIMEZONE', `TZID:${id}`, ...lines, 'END:VTIMEZONE'].join('\r\n');
  const berlin = [
    'BEGIN:STANDARD',
    'DTSTART:16010101T030000',
    'TZOFFSETFROM:+0200',
    'TZOFFSETTO:+0100',
    'RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10',
    'END:STANDARD',
    'BEGIN:DAYLIGHT',
    'DTSTART:16010101T020000',
    'TZOFFSETFROM:+0100',
    'TZOFFSETTO:+0200',
    'RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3',
    'END:DAYLIGHT',
  ];
  const eastern = [
    'BEGIN:STANDARD',
    'DTSTART:20071104T020000',
    'TZOFFSETFROM:-0400',
    'TZOFFSETTO:-0500',
    'RRULE:FREQ=YEARLY;BYDAY=1SU;BYMONTH=11',
    'END:STANDARD',
    'BEGIN:DAYLIGHT',
    'DTSTART:20070311T020000',
    'TZOFFSETFROM:-0500',
    'TZOFFSETTO:-0400',
    'RRULE:FREQ=YEARLY;BYDAY=2SU;BYMONTH=3',
    'END:DAYLIGHT',
  ];
  const fixed = ['BEGIN:STANDARD', 'DTSTART:19700101T000000', 'TZOFFSETFROM:+0530', 'TZOFFSETTO:+0530', 'END:STANDARD'];
  it.each([
    ['W. Europe Standard Time', berlin, 'Europe/Rome'],
    ['Customized Time Zone', eastern, 'America/New_York'],
    ['Nobody knows', ['X-LIC-LOCATION:America/New_York', ...eastern], 'America/New_York'],
    ['India', fixed, 'Asia/Calcutta'],
  ])('in the zone %s that the file describes are in %s', async (id, lines, expected) => {
    const inZone = event(`DTSTART;TZID=${id}:20260701T120000`);
    for (const text of [calendar(zone(id, ...lines), inZone), calendar(inZone, zone(id, ...lines))])
      expect(when((await read(text)).events[0])[2]).toBe(expected);
  });
  it.each([
    ['Utc', 'UTC'],
    ['Z', 'UTC'],
    ['zulu', 'UTC'],
    ['gmt', 'GMT'],
    ['est', 'EST'],
    ['america/new_york', 'America/New_York'],
    ['/example.org/1/AMERICA/PORT-AU-PRINCE', 'America/Port-au-Prince'],
    ['us-eastern', 'US/Eastern'],
    ['asia/calcutta', 'Asia/Calcutta'],
  ])('in the zone %s are stored under the correct name %s', async (written, name) =>
    expect(when((await read(calendar(event(`DTSTART;TZID=${written}:20261224T190000`)))).events[0])[2]).toBe(name),
  );
  it('are in the zone of the site if the zone of the calendar is unknown, which is reported with its line', async () => {
    const { events, losses } = await read(calendar('X-WR-TIMEZONE:Atlantis', event('DTSTART:20261224T190000')));
    expect([when(events[0])[2], losses]).toEqual(['Europe/Rome', ['ical-calendar-zone-unknown a.ics:4']]);
  });
  it('are in the zone of the site if their zone is unknown, which is reported', async () => {
    const { events, losses } = await read(calendar(event('DTSTART;TZID=Atlantis:20260701T120000')));
    expect([when(events[0])[2], losses]).toEqual(['Europe/Rome', ['ical-zone-unknown a.ics:4']]);
  });
});

describe('recurring event', () => {
  const weekly = ['DTSTART;TZID=Europe/Rome:20261005T200000', 'DTEND;TZID=Europe/Rome:20261005T213000'];
  it('becomes an event for each occurrence, at the same local time across daylight saving changes', async () => {
    const { events } = await read(calendar(event(...weekly, 'RRULE:FREQ=WEEKLY;COUNT=5')));
    expect(events.map((item) => [item.sourceId, meta(item, '_EventStartDate'), meta(item, '_EventStartDateUTC')])).toEqual([
      ['one#20261005T200000', '2026-10-05 20:00:00', '2026-10-05 18:00:00'],
      ['one#20261012T200000', '2026-10-12 20:00:00', '2026-10-12 18:00:00'],
      ['one#20261019T200000', '2026-10-19 20:00:00', '2026-10-19 18:00:00'],
      ['one#20261026T200000', '2026-10-26 20:00:00', '2026-10-26 19:00:00'],
      ['one#20261102T200000', '2026-11-02 20:00:00', '2026-11-02 19:00:00'],
    ]);
    expect(new Set(events.map((item) => meta(item, '_uid')))).toEqual(new Set(['one']));
  });
  it('excludes EXDATE in any zone', async () =>
    expect(
      starts(
        await read(
          calendar(
            event(
              ...weekly,
              'RRULE:FREQ=WEEKLY;COUNT=5',
              'EXDATE;TZID=Europe/Rome:20261012T200000,20261019T200000',
              'EXDATE:20261026T190000Z',
            ),
          ),
        ),
      ),
    ).toEqual(['2026-10-05 20:00:00', '2026-11-02 20:00:00']));
  it('includes RDATE', async () =>
    expect(starts(await read(calendar(event(...weekly, 'RRULE:FREQ=WEEKLY;COUNT=2', 'RDATE;TZID=Europe/Rome:20261024T110000'))))).toEqual([
      '2026-10-05 20:00:00',
      '2026-10-12 20:00:00',
      '2026-10-24 11:00:00',
    ]));
  it('replaces an occurrence by its changed version, in any order', async () => {
    const changed = event(
      'UID:one',
      'SUMMARY:Moved',
      'RECURRENCE-ID;TZID=Europe/Rome:20261012T200000',
      'DTSTART;TZID=Europe/Rome:20261013T210000',
    );
    const master = event(...weekly, 'RRULE:FREQ=WEEKLY;COUNT=3');
    for (const text of [calendar(changed, master), calendar(master, changed)]) {
      const { events } = await read(text);
      expect(events.map((item) => [item.sourceId, item.columns.post_title, meta(item, '_EventStartDate')]).sort()).toEqual([
        ['one#20261005T200000', 'Concert', '2026-10-05 20:00:00'],
        ['one#20261012T200000', 'Moved', '2026-10-13 21:00:00'],
        ['one#20261019T200000', 'Concert', '2026-10-19 20:00:00'],
      ]);
    }
  });
  const changes = (...lines: string[][]) => lines.map((some) => event('UID:u', ...some));
  const HOURS = event('UID:u', 'DTSTART:20270601T100000Z', 'RRULE:FREQ=DAILY;COUNT=3');
  const DAYS = event('UID:u', 'DTSTART;VALUE=DATE:20270601', 'RRULE:FREQ=DAILY;COUNT=3');
  it.each([
    ['in UTC and in a zone', HOURS, ':20270602T100000Z', ';TZID=Europe/Rome:20270602T120000'],
    ['in a zone and in none', HOURS, ';TZID=America/New_York:20270602T060000', ':20270602T100000'],
    ['as a day and as a time', HOURS, ';VALUE=DATE:20270602', ':20270602T100000Z'],
    ['as a time and as a day, of whole days', DAYS, ':20270602T000000', ';VALUE=DATE:20270602'],
    ['as a moment and as a day, of whole days', DAYS, ':20270601T220000Z', ';VALUE=DATE:20270602'],
  ])('identifies versions of one change by the time that they refer to: %s', async (_, series, one, other) => {
    for (const [first, second] of [
      [one, other],
      [other, one],
    ]) {
      const versions = changes(
        ['SEQUENCE:2', `RECURRENCE-ID${first}`, 'SUMMARY:New', 'DTSTART:20270602T150000Z'],
        ['SEQUENCE:1', `RECURRENCE-ID${second}`, 'SUMMARY:Old', 'DTSTART:20270602T160000Z'],
      );
      for (const order of [versions, [...versions].reverse()]) {
        const { events, losses } = await read(calendar(series, ...order));
        expect([events.map(({ columns }) => columns.post_title), losses]).toEqual([['Concert', 'Concert', 'New'], []]);
      }
    }
  });
  it('identifies versions of one change by the time that they refer to if the series is not in the file', async () => {
    const { events } = await read(
      calendar(
        ...changes(
          ['SEQUENCE:1', 'RECURRENCE-ID:20270602T100000Z', 'SUMMARY:Old', 'DTSTART:20270602T160000Z'],
          ['SEQUENCE:2', 'RECURRENCE-ID;TZID=Europe/Rome:20270602T120000', 'SUMMARY:New', 'DTSTART:20270602T150000Z'],
        ),
      ),
    );
    expect(events.map(({ columns }) => columns.post_title)).toEqual(['New']);
  });
  it('accepts the same change twice in different forms', async () => {
    const { events, losses } = await read(
      calendar(
        HOURS,
        ...changes(
          ['RECURRENCE-ID:20270602T100000Z', 'DTSTART:20270602T160000Z'],
          ['RECURRENCE-ID;TZID=Europe/Rome:20270602T120000', 'DTSTART;TZID=Europe/Rome:20270602T180000'],
        ),
      ),
    );
    expect([events.length, losses]).toEqual([3, []]);
  });
  it('prefers a change of one occurrence to a change of it and all later ones', async () => {
    const both = changes(
      ['RECURRENCE-ID:20270602T100000Z', 'SUMMARY:This', 'DTSTART:20270602T150000Z'],
      ['RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Rome:20270602T120000', 'SUMMARY:All', 'DTSTART:20270602T110000Z'],
    );
    for (const order of [both, [...both].reverse()]) {
      const { events } = await read(calendar(HOURS, ...order));
      expect(events.map((item) => [item.columns.post_title, meta(item, '_EventStartDateUTC')])).toEqual([
        ['Concert', '2027-06-01 10:00:00'],
        ['All', '2027-06-03 11:00:00'],
        ['This', '2027-06-02 15:00:00'],
      ]);
    }
  });
  it('is limited to a window', async () => {
    const daily = calendar(event('DTSTART:20200101T100000', 'RRULE:FREQ=DAILY'));
    const { events } = await read(daily, { from: '2026-11-01', to: '2026-11-03' });
    expect(starts({ events })).toEqual(['2026-11-01 10:00:00', '2026-11-02 10:00:00', '2026-11-03 10:00:00']);
    const whole = await read(daily);
    expect([starts(whole)[0], starts(whole).at(-1)]).toEqual(['2025-11-19 10:00:00', '2028-11-20 10:00:00']);
  });
  it('ends at UNTIL in UTC', async () =>
    expect(starts(await read(calendar(event(...weekly, 'RRULE:FREQ=WEEKLY;UNTIL=20261019T180000Z'))))).toEqual([
      '2026-10-05 20:00:00',
      '2026-10-12 20:00:00',
      '2026-10-19 20:00:00',
    ]));
  it('ends before an UNTIL date if it has times, and with the UNTIL date if it is all-day', async () => {
    const times = await read(calendar(event(...weekly, 'RRULE:FREQ=WEEKLY;UNTIL=20261019')));
    expect(starts(times)).toEqual(['2026-10-05 20:00:00', '2026-10-12 20:00:00']);
    expect(lossesOf(times)).toEqual([['ical-last-day', '2026-10-19 20:00:00']]);
    expect(lossesOf(await read(calendar(event(...weekly, 'RRULE:FREQ=WEEKLY;UNTIL=20261020'))))).toEqual([]);
    expect(lossesOf(await read(calendar(event(...weekly, 'RRULE:FREQ=WEEKLY;UNTIL=20261019', 'RDATE:20261019T200000'))))).toEqual([]);
    const days = calendar(event('DTSTART;VALUE=DATE:20261005', 'RRULE:FREQ=WEEKLY;UNTIL=20261012'));
    expect(starts(await read(days))).toEqual(['2026-10-05 00:00:00', '2026-10-12 00:00:00']);
  });
  it('repeats by days if it is all-day', async () => {
    const { events } = await read(
      calendar(event('DTSTART;VALUE=DATE:20261005', 'RRULE:FREQ=WEEKLY;COUNT=2', 'EXDATE;VALUE=DATE:20261005')),
    );
    expect(events.map((item) => [item.sourceId, ...when(item)])).toEqual([
      ['one#20261012', '2026-10-12 00:00:00', '2026-10-12 23:59:59', 'Europe/Rome'],
    ]);
  });
  it.each([
    ['FREQ=SECONDLY', '2026-11-24 20:33:19 · 50000+ · 2027-12-31 23:59:59'],
    ['FREQ=SECONDLY;COUNT=2010', '2026-11-24 20:33:19 · 10 · 2026-11-24 20:33:29'],
    ['FREQ=SECONDLY;COUNT=2000', undefined],
    ['FREQ=SECONDLY;COUNT=2000\r\nRRULE:FREQ=SECONDLY;COUNT=1000', undefined],
    ['FREQ=SECONDLY;COUNT=2000\r\nRDATE:20261225T190000Z', '2026-11-24 20:33:19 · 1 · 2026-12-25 20:00:00'],
  ])('with %s is cut at a limit, and the number and period of the omitted occurrences are reported', async (rule, told) => {
    const window = { from: '2026-11-01', to: '2027-12-31' };
    const result = await read(calendar(event('DTSTART:20261124T190000Z', `RRULE:${rule}`)), window);
    expect([starts(result).length, lossesOf(result)]).toEqual([2000, told === undefined ? [] : [['ical-rule-cut', told]]]);
  });
  it.each([
    ['DTSTART:20310113T100000Z', 'RRULE:FREQ=DAILY;COUNT=5', 0, [['ical-dates-later', '2031-01-13 11:00:00']]],
    ['DTSTART:20261101T100000Z', 'RRULE:FREQ=MONTHLY;COUNT=16', 14, [['ical-dates-later', '2028-01-01 11:00:00']]],
    ['DTSTART:20261101T100000Z', 'RRULE:FREQ=MONTHLY;UNTIL=20280115T000000Z', 14, [['ical-dates-later', '2028-01-01 11:00:00']]],
    [
      'DTSTART:20261101T100000Z',
      'RRULE:FREQ=MONTHLY;COUNT=16\r\nEXDATE:20280101T100000Z',
      14,
      [['ical-dates-later', '2028-02-01 11:00:00']],
    ],
    ['DTSTART:20261101T100000Z', 'RRULE:FREQ=MONTHLY;COUNT=15\r\nEXDATE:20280101T100000Z', 14, []],
    ['DTSTART:20261101T100000Z', 'RRULE:FREQ=MONTHLY', 14, []],
    ['DTSTART:20261101T100000Z', 'RDATE:20300101T100000Z', 1, [['ical-dates-later', '2030-01-01 11:00:00']]],
    ['DTSTART:20150101T100000Z', 'RRULE:FREQ=DAILY;COUNT=5', 0, [['ical-series-past', '2015-01-01 11:00:00']]],
    ['DTSTART:20150101T100000Z', 'RRULE:FREQ=WEEKLY;UNTIL=20270101T000000Z', 9, []],
    ['DTSTART;VALUE=DATE:20310113', 'RRULE:FREQ=YEARLY;COUNT=2', 0, [['ical-dates-later', '2031-01-13']]],
  ])('reports dates that are not imported if %s with %s ends outside of the window', async (start, rule, count, told) => {
    const result = await read(calendar(event(start, rule)), { from: '2026-11-01', to: '2027-12-31' });
    expect([starts(result).length, lossesOf(result)]).toEqual([count, told]);
    // Dates within the window that are missing in a later file go to the trash all the same.
    expect(result.whole).toEqual(['one']);
  });
  it.each([
    ['FREQ=DAILY', 10_227, 0],
    ['FREQ=DAILY;BYHOUR=9,12,15,18', 40_908, 0],
    ['FREQ=HOURLY', 40_908, 1],
  ])('with %s has at most four occurrences a day, even in a long window', async (rule, times, losses) => {
    const result = await read(calendar(event('DTSTART:20000101T090000Z', `RRULE:${rule}`)), { from: '2000-01-01', to: '2027-12-31' });
    expect([starts(result).length, lossesOf(result).length]).toEqual([times, losses]);
  });
});

describe('data of an event', () => {
  it('are imported', async () => {
    const text = calendar(
      event(
        'UID:uid@x.example',
        'DTSTAMP:20260101T000000Z',
        'CREATED:20260102T030405Z',
        'LAST-MODIFIED:20260203T040506Z',
        'DTSTART:20261224T190000Z',
        'SUMMARY:Rock & Roll\\, "live" <x>',
        'DESCRIPTION:First line\\nA < B\\; see',
        '  below',
        'LOCATION:Teatro Rossi\\, Via Roma 1\\, Pisa',
        'GEO:43.7;10.4',
        'ORGANIZER;CN="Rossi, Anna":mailto:anna@x.example',
        'CONTACT:Bruno\\, +39 050 12345\\, https://b.example',
        'CATEGORIES:Music,Open air',
        'CATEGORIES:Music',
        'URL:https://x.example/e',
        'ATTACH;FMTTYPE=image/png:https://x.example/p.png',
        'STATUS:CANCELLED',
        'CLASS:PRIVATE',
        'BEGIN:VALARM',
        'DESCRIPTION:beep',
        'END:VALARM',
      ),
    );
    const {
      entries,
      events: [item],
      losses,
    } = await read(text);
    expect(losses).toEqual([]);
    expect(item).toMatchObject({
      sourceId: 'uid@x.example',
      columns: {
        post_title: 'Rock &amp; Roll, "live" &lt;x&gt;',
        post_content: 'First line\nA &lt; B; see below',
        post_status: 'private',
        post_date_gmt: '2026-01-02 03:04:05',
        post_modified_gmt: '2026-02-03 04:05:06',
      },
      terms: [
        { kind: 'category', sourceId: 'music', name: 'Music' },
        { kind: 'category', sourceId: 'open air', name: 'Open air' },
        { kind: 'category', sourceId: 'music', name: 'Music' },
      ],
    });
    expect([meta(item, '_EventURL'), meta(item, '_uid'), meta(item, '_tribe_events_status')]).toEqual([
      'https://x.example/e',
      'uid@x.example',
      'canceled',
    ]);
    const others = entries.filter((entry): entry is PostItem => isItem(entry) && 'links' in entry && entry.kind !== 'event');
    expect(others.map(({ kind, columns, metas, url }) => [kind, columns.post_title, Object.fromEntries(metas), url])).toEqual([
      [
        'venue',
        'Teatro Rossi',
        { _VenueAddress: 'Via Roma 1, Pisa', _VenueLat: '43.7', _VenueLng: '10.4', _VenueShowMap: '1', _VenueShowMapLink: '1' },
        undefined,
      ],
      ['organizer', 'Rossi, Anna', { _OrganizerEmail: 'anna@x.example' }, undefined],
      ['organizer', 'Bruno', { _OrganizerWebsite: 'https://b.example', _OrganizerPhone: '+39 050 12345' }, undefined],
      ['attachment', 'p', {}, 'https://x.example/p.png'],
    ]);
    expect(item!.links.map((link) => [link.key, 'sourceId' in link && link.sourceId])).toEqual([
      ['_EventVenueID', 'venue:teatro rossi, via roma 1, pisa'],
      ['_EventOrganizerID', 'organizer:anna@x.example rossi, anna'],
      ['_EventOrganizerID', 'organizer:bruno'],
      ['_thumbnail_id', 'https://x.example/p.png'],
    ]);
  });
  it('contain a venue only once for several events', async () => {
    const both = calendar(
      event('UID:1', 'DTSTART:20261224T190000Z', 'LOCATION:Hall'),
      event('UID:2', 'DTSTART:20261225T190000Z', 'LOCATION:Hall'),
    );
    expect((await read(both)).entries.filter((entry) => entry.kind === 'venue')).toHaveLength(1);
  });
  it('identify a person by the email address, as organizer of one event and contact of another', async () => {
    const both = calendar(
      event('UID:1', 'DTSTART:20261224T190000Z', 'ORGANIZER;CN=Anna:mailto:anna@x.example'),
      event('UID:2', 'DTSTART:20261225T190000Z', 'CONTACT:Anna\\, anna@x.example'),
    );
    expect((await read(both)).entries.filter((entry) => entry.kind === 'organizer')).toHaveLength(1);
  });
  it.each([
    ['-//Site - ECPv6.17.2//NONSGML v1.0//EN', "Rossi: 'Figli', C.; È 100%"],
    ['-//Site - ECPv6.17.2//Fasti//EN', "Rossi%3A 'Figli'%2C C.%3B %C3%88 100%"],
    ['x', "Rossi%3A 'Figli'%2C C.%3B %C3%88 100%"],
  ])('decode names of organizers in calendars of The Events Calendar, and identify them as before: %s', async (prodid, name) => {
    const lines = ['DTSTART:20261224T190000Z', `ORGANIZER;CN="Rossi%3A 'Figli'%2C C.%3B %C3%88 100%":MAILTO:r@x.example`];
    const { entries } = await read(calendar(event(...lines)).replace('PRODID:x', `PRODID:${prodid}`));
    const organizers = entries.flatMap((entry) => (entry.kind === 'organizer' ? [[entry.sourceId, entry.columns.post_title]] : []));
    expect(organizers).toEqual([["organizer:r@x.example rossi%3a 'figli'%2c c.%3b %c3%88 100%", name]]);
  });
  it('keep organizers apart that share an email address', async () => {
    const both = calendar(
      event('UID:1', 'DTSTART:20261224T190000Z', 'ORGANIZER;CN=Osteria:mailto:noreply@facebookmail.com'),
      event('UID:2', 'DTSTART:20261225T190000Z', 'ORGANIZER;CN=Pro Loco:mailto:noreply@facebookmail.com'),
    );
    const titles = (await read(both)).entries.flatMap((entry) => (entry.kind === 'organizer' ? [entry.columns.post_title] : []));
    expect(titles).toEqual(['Osteria', 'Pro Loco']);
  });
  it.each([
    ['Teatro (Via Roma 1\\, Torino\\, Italy)', 'Teatro', 'Via Roma 1, Torino, Italy'],
    ['Teatro (sala grande)', 'Teatro (sala grande)', undefined],
    ['Teatro (sala grande)\\, Torino', 'Teatro (sala grande)', 'Torino'],
    ['Teatro (Torino\\, Italy) sul fiume', 'Teatro (Torino', 'Italy) sul fiume'],
  ])('split a location with the address in brackets: %s', async (location, name, address) => {
    const { entries } = await read(calendar(event('DTSTART:20261224T190000Z', `LOCATION:${location}`)));
    const [venue] = entries.filter((entry): entry is PostItem => entry.kind === 'venue');
    expect([venue!.columns.post_title, meta(venue, '_VenueAddress')]).toEqual([name, address]);
  });
  it("include coordinates in Apple's format, and a contact separated by semicolons", async () => {
    const { entries } = await read(
      calendar(
        event(
          'DTSTART:20261224T190000Z',
          'LOCATION:Teatro\\nVia Roma 1',
          'X-APPLE-STRUCTURED-LOCATION;VALUE=URI;X-ADDRESS="Via Roma 1\\\\nTorino";X-TITLE="Teatro":geo:45.07,7.68',
          'CONTACT:Bruno\\; +39 050 12345\\; b@x.example',
        ),
      ),
    );
    const [venue, organizer] = entries.filter((entry): entry is PostItem => entry.kind === 'venue' || entry.kind === 'organizer');
    expect([meta(venue, '_VenueLat'), meta(venue, '_VenueLng')]).toEqual(['45.07', '7.68']);
    expect([organizer!.columns.post_title, meta(organizer, '_OrganizerEmail')]).toEqual(['Bruno', 'b@x.example']);
  });
  it.each([
    ['45.07;7.68', '45.07', '7.68', 0],
    ['+45.07\\; -7.68', '45.07', '-7.68', 0],
    ['45,07;7,68', '45.07', '7.68', 0],
    ['37.24,-17.87', '37.24', '-17.87', 0],
    ['0;0', undefined, undefined, 0],
    [';', undefined, undefined, 0],
    ['45.07;', undefined, undefined, 1],
    ['145.07;7.68', undefined, undefined, 1],
    ['45°04 N;7°40 E', undefined, undefined, 1],
  ])('include the coordinates of GEO:%s', async (value, lat, lng, unreadable) => {
    const { entries } = await read(calendar(event('DTSTART:20261224T190000Z', 'LOCATION:Teatro', `GEO:${value}`)));
    const [venue] = entries.filter((entry): entry is PostItem => entry.kind === 'venue');
    expect([meta(venue!, '_VenueLat'), meta(venue!, '_VenueLng')]).toEqual([lat, lng]);
    expect(entries.filter((entry) => entry.kind === 'loss' && entry.loss.reason === 'ical-line-unreadable')).toHaveLength(unreadable);
  });
  it.each([
    ['CN=Comune:mailto:c_1a2b3c@group.calendar.google.com', 'Comune'],
    ['CN=Google Calendar:mailto:unknownorganizer@calendar.google.com', 'Google Calendar'],
    ['CN=c_1a2b3c@group.calendar.google.com:mailto:c_1a2b3c@group.calendar.google.com', undefined],
  ])('exclude addresses of Google calendars from the organizer: %s', async (organizer, name) => {
    const { entries } = await read(calendar(event('DTSTART:20261224T190000Z', `ORGANIZER;${organizer}`)));
    const found = entries.filter((entry): entry is PostItem => entry.kind === 'organizer');
    expect(found.map((one) => [one.columns.post_title, meta(one, '_OrganizerEmail')])).toEqual(
      name === undefined ? [] : [[name, undefined]],
    );
  });
  it('keep commas in names of venues and contacts if X-NAME specifies the name', async () => {
    const { entries } = await read(
      calendar(
        event(
          'DTSTART:20261224T190000Z',
          'ORGANIZER;CN="Rossi, Bianchi & C.":mailto:a@x.example',
          'CONTACT;X-NAME="Rossi, Bianchi & C.":Rossi\\, Bianchi & C.\\, +39 050 12345',
          'CONTACT;X-NAME="Ltd; Co":Ltd\\; Co',
          'CONTACT;X-NAME="Not, this":Carla\\, c@x.example',
          'LOCATION;X-NAME="Bar, Grill":Bar\\, Grill\\, Via Roma 1\\, Torino',
        ),
      ),
    );
    const [venue] = entries.filter((entry): entry is PostItem => entry.kind === 'venue');
    expect([venue!.columns.post_title, meta(venue, '_VenueAddress')]).toEqual(['Bar, Grill', 'Via Roma 1, Torino']);
    const people = entries.filter((entry): entry is PostItem => entry.kind === 'organizer');
    expect(people.map((one) => [one.columns.post_title, meta(one, '_OrganizerEmail'), meta(one, '_OrganizerPhone')])).toEqual([
      ['Rossi, Bianchi &amp; C.', 'a@x.example', '+39 050 12345'],
      ['Ltd; Co', undefined, undefined],
      ['Carla', 'c@x.example', undefined],
    ]);
  });
  it.each([
    ['IMAGE;VALUE=URI;DISPLAY=BADGE;FMTTYPE=image/png:https://x.example/p', 'image/png'],
    ['IMAGE;VALUE=URI:https://x.example/p', 'image/jpeg'],
  ])('include an image of RFC 7986: %s', async (line, type) => {
    const { entries } = await read(calendar(event('DTSTART:20261224T190000Z', line)));
    const images = entries.filter((entry): entry is PostItem => entry.kind === 'attachment');
    expect(images.map(({ url, columns }) => [url, columns.post_mime_type])).toEqual([['https://x.example/p', type]]);
  });
  it.each([
    ['data:text/html,%3Cp%3EA%20%3Cb%3Eb%3C%2Fb%3E%3C%2Fp%3E%3Cscript%3E', '<p>A <b>b</b></p>'],
    ['data:text/html;charset=utf-8;base64,PHA+QSA8Yj5iPC9iPjwvcD4=', '<p>A <b>b</b></p>'],
    ['cid:part1@x.example', 'A b'],
  ])('prefer an HTML description to plain text: %s', async (address, expected) => {
    const { events } = await read(calendar(event('DTSTART:20261224T190000Z', `DESCRIPTION;ALTREP="${address}":A b`)));
    expect(events[0]!.columns.post_content).toBe(expected);
  });
  it('of a changed occurrence do not inherit the HTML description or the coordinates if its texts differ', async () => {
    const text = calendar(
      event(
        'DTSTART:20261224T190000Z',
        'RRULE:FREQ=DAILY;COUNT=3',
        ...['DESCRIPTION:Old', 'X-ALT-DESC;FMTTYPE=text/html:<b>Old</b>', 'LOCATION:Hall', 'GEO:45;7'],
      ),
      event('DTSTART:20261225T190000Z', 'RECURRENCE-ID:20261225T190000Z', 'DESCRIPTION:New', 'LOCATION:Garden'),
      event('DTSTART:20261226T200000Z', 'RECURRENCE-ID:20261226T190000Z', 'DESCRIPTION:Old', 'LOCATION:Hall'),
    );
    const { entries, events } = await read(text);
    expect(events.map(({ columns }) => columns.post_content)).toEqual(['<b>Old</b>', 'New', '<b>Old</b>']);
    const venues = entries.filter((entry): entry is PostItem => entry.kind === 'venue');
    expect(venues.map((venue) => [venue.columns.post_title, meta(venue, '_VenueLat')])).toEqual([
      ['Hall', '45'],
      ['Garden', undefined],
    ]);
  });
  it('are marked as including all dates only if that is known', async () => {
    const at = (uid: string, ...lines: string[]) => event(`UID:${uid}`, 'DTSTART:20261224T190000Z', ...lines);
    const { whole } = await read(
      calendar(
        at('once'),
        at('weekly', 'RRULE:FREQ=WEEKLY;COUNT=3'),
        at('weekly', 'RECURRENCE-ID:20261231T190000Z'),
        at('part', 'RECURRENCE-ID:20261231T190000Z'),
        at('unknown', 'RRULE:FREQ=SOMETIMES'),
        at('endless', 'RRULE:FREQ=SECONDLY'),
        event('UID:undated', 'SUMMARY:x'),
      ),
    );
    expect(whole.sort()).toEqual(['endless', 'once', 'weekly']);
  });
  it('are not marked as including all dates if one of them cannot be stored', async () => {
    const { whole, losses } = await read(
      calendar(event('UID:far', 'DTSTART:20261224T190000Z', 'DTEND:99991231T235959Z'), event('UID:near', 'DTSTART:20261224T190000Z')),
    );
    expect([whole, losses]).toEqual([['near'], ['dates-not-storable a.ics:4']]);
  });
  it.each([
    [
      'a rule that ends with a day',
      ['DTSTART;TZID=America/New_York:20270104T200000', 'RRULE:FREQ=DAILY;UNTIL=20270106'],
      '2027-01-06 08:00:00',
    ],
    [
      'an all-day rule that ends with a moment',
      ['DTSTART;VALUE=DATE:20270104', 'RRULE:FREQ=DAILY;UNTIL=20270105T230000Z'],
      '2027-01-05 12:00:00',
    ],
    ['a rule beyond the limit', ['DTSTART:20261224T190000Z', 'RRULE:FREQ=SECONDLY'], '2026-12-24 09:13:12'],
    ['a rule without doubts', ['DTSTART:20261224T190000Z', 'RRULE:FREQ=DAILY;COUNT=3'], '2028-11-19 23:59:59'],
  ])('include all dates up to a time before the first one that is unknown: %s', async (_case, lines, last) => {
    const periods: unknown[] = [];
    for await (const entry of calendarEntries(fileOf(calendar(event(...lines))), OPTIONS))
      if (entry.kind === 'dates') periods.push(entry.between);
    expect(periods).toEqual([['2025-11-20 00:00:00', last]]);
  });
  it('are not all held if they are private and long, so that a venue comes again with a public one', async () => {
    const long = `DESCRIPTION:${'long text '.repeat(6000)}`;
    const events = Array.from({ length: 350 }, (_, at) =>
      event(`UID:${at}`, 'DTSTART:20261224T190000Z', 'CLASS:PRIVATE', 'LOCATION:Hall', long),
    );
    const halls = async (...files: string[]) =>
      (await read(calendar(...files, event('UID:open', 'DTSTART:20261224T190000Z', 'LOCATION:Hall')))).entries.flatMap((entry) =>
        entry.kind === 'venue' ? [entry.columns.post_status] : [],
      );
    expect(await halls(...events)).toEqual(['private', 'publish']);
    expect(await halls(...events.slice(0, 20))).toEqual(['publish']);
  });
  it('treat a location that is a URL as the website, not as a venue', async () => {
    const { entries, events } = await read(calendar(event('DTSTART:20261224T190000Z', 'LOCATION:https://meet.example/x')));
    expect([entries.length, meta(events[0], '_EventURL')]).toEqual([1, 'https://meet.example/x']);
  });
  it.each([
    ['X-ALT-DESC;FMTTYPE=text/html:<html><body><p onclick="x()">Hi</p><script>alert(1)</script></body></html>', '<p>Hi</p>'],
    ['X-ALT-DESC;FMTTYPE=text/html:<style>p {color: red}</style><p>Hi</p>', '<p>Hi</p>'],
    ['DESCRIPTION:<h2>One</h2><style type="text/css">p {color: red}</style>', '<h2>One</h2>'],
    ['X-ALT-DESC;FMTTYPE=text/html:<html><body><p>&nbsp\\;</p></body></html>\r\nDESCRIPTION:Hi', 'Hi'],
    ['X-ALT-DESC;FMTTYPE=text/html:<img src="https://x.example/p.png">\r\nDESCRIPTION:Hi', '<img src="https://x.example/p.png">'],
    ['DESCRIPTION:<p>One</p><img src=x onerror=alert(1)>', '<p>One</p><img src="x">'],
  ])('contain no scripts in HTML: %s', async (line, expected) =>
    expect((await read(calendar(event('DTSTART:20261224T190000Z', line)))).events[0]!.columns.post_content).toBe(expected),
  );
  it('are skipped for components other than events', async () => {
    const { entries } = await read(calendar('BEGIN:VTODO\r\nSUMMARY:x\r\nEND:VTODO', 'BEGIN:VFREEBUSY\r\nEND:VFREEBUSY'));
    expect(entries).toEqual([
      { kind: 'skipped', what: 'VTODO', count: 1 },
      { kind: 'skipped', what: 'VFREEBUSY', count: 1 },
    ]);
  });
  const START = 'DTSTART:20261224T190000Z';
  it.each([
    ['DTSTART:nonsense', 'ical-dates-unreadable'],
    ['DTSTART:00000000T000000Z', 'ical-dates-unreadable'],
    ['DTEND:20261324T190000Z', 'ical-dates-unreadable'],
    ['DTEND:20270230T240000Z', 'ical-dates-unreadable'],
    ['DTEND;VALUE=DATE:20270230', 'ical-dates-unreadable'],
    ['DURATION:PT1W', 'ical-dates-unreadable'],
    ['DURATION:P', 'ical-dates-unreadable'],
    ['RECURRENCE-ID:soon', 'ical-dates-unreadable'],
    ['RRULE:FREQ=SOMETIMES', 'ical-rule-unknown'],
    ['RRULE:INTERVAL=2', 'ical-rule-unknown'],
    ['RRULE:FREQ=DAILY;RSCALE=HEBREW', 'ical-rule-unknown'],
    ['RRULE:FREQ=MONTHLY;RSCALE=GREGORIAN;SKIP=FORWARD', 'ical-rule-unknown'],
    ['RRULE:FREQ=WEEKLY;UNTIL=Christmas', 'ical-rule-unknown'],
    ['RRULE:FREQ=WEEKLY;BYDAY=XX', 'ical-rule-unknown'],
    ['RRULE:FREQ=MONTHLY;BYMONTHDAY=32', 'ical-rule-unknown'],
    ['RRULE:FREQ=YEARLY;BYEASTER=0', 'ical-rule-unknown'],
    ['RRULE:FREQ=YEARLY;constructor=1', 'ical-rule-unknown'],
    ['RRULE:FREQ=YEARLY;__proto__=1', 'ical-rule-unknown'],
    ['EXRULE:FREQ=NEVER', 'ical-rule-unknown'],
  ])('are lost and reported with the line if the time is unknown: %j', async (line, reason) => {
    const lines = line.startsWith('DTSTART') ? [line] : [START, line];
    const { events, losses } = await read(calendar(event(...lines), event('UID:other', START)));
    expect([events.map(({ sourceId }) => sourceId), losses]).toEqual([['other'], [`${reason} a.ics:${6 + lines.length}`]]);
  });
  it.each(['DTEND:', 'DURATION:', 'RRULE:', 'EXDATE:', 'RDATE:', 'RRULE:FREQ=DAILY;COUNT=1;', 'RRULE:FREQ=DAILY;COUNT=1;X-LEN=3;BYDAY='])(
    'are read without empty or unknown properties: %j',
    async (line) => {
      const { events, losses } = await read(calendar(event(START, line)));
      expect([events.length, losses]).toEqual([1, []]);
    },
  );
  it('count as one loss, even if several lines are unreadable', async () => {
    const { entries } = await read(
      calendar(
        event('UID:two', 'DTSTART:nonsense', 'DTEND:nonsense', 'RRULE:FREQ=NEVER'),
        event('UID:none', 'DTEND:20261224T190000Z'),
        event(START),
        event('SUMMARY:Other', 'DTSTART:20261225T180000Z'),
        event('UID:kept', START, 'nonsense'),
      ),
    );
    const whole = entries.flatMap((entry) => (entry.kind === 'loss' && entry.isWhole ? [entry.loss.reason] : []));
    expect(whole).toEqual(['ical-dates-unreadable', 'ical-event-unreadable', 'ical-uid-twice']);
  });
  it('without a start are lost, which is reported with the line', async () => {
    const { events, losses } = await read(calendar(event('DTEND:20261224T190000Z')));
    expect([events, losses]).toEqual([[], ['ical-event-unreadable a.ics:4']]);
  });
  it('are lost if the year is out of the supported range, which is reported', async () => {
    const { events, losses } = await read(calendar(event('DTSTART:00990101T100000Z')));
    expect([events, losses]).toEqual([[], ['dates-not-storable a.ics:4']]);
  });
  it('include the readable dates of a list', async () => {
    const { events, losses } = await read(calendar(event(START, 'RDATE:20261226T190000Z,never,20261228T190000Z')));
    expect([events.length, losses]).toEqual([3, ['ical-line-unreadable a.ics:8']]);
  });
  it.each([
    [['DTSTART:20261224T190000Z', 'DTEND:20261224T180000Z'], 'end-before-start a.ics:4'],
    [['DTSTART:20261224T190000Z', 'DURATION:-PT1H'], 'end-before-start a.ics:4'],
    [['DTSTART:20261224T190000Z', 'EXDATE;TZID=Atlantis:20261225T190000'], 'ical-zone-unknown a.ics:4'],
  ])('are imported despite this error, which is reported: %j', async (lines, loss) => {
    const { events, losses } = await read(calendar(event(...lines)));
    expect([events.length, losses]).toEqual([1, [loss]]);
  });
  it('have an empty title if SUMMARY is missing, and a stable ID if UID is missing', async () => {
    const bare = calendar('BEGIN:VEVENT\r\nDTSTART:20261224T190000Z\r\nDESCRIPTION:x\r\nEND:VEVENT');
    const [one, same, other] = await Promise.all([read(bare), read(bare.replace(':x', ':y')), read(bare.replace('24T', '25T'))]);
    expect([one.losses, one.events[0]!.columns.post_title, one.events[0]!.sourceId.startsWith('nameless-')]).toEqual([[], '', true]);
    expect(same.events[0]!.sourceId).toBe(one.events[0]!.sourceId);
    expect(other.events[0]!.sourceId).not.toBe(one.events[0]!.sourceId);
  });
  it('keep quotes unescaped, so that searches find them', async () => {
    const { entries, events } = await read(
      calendar(
        event(
          `SUMMARY:Festa dell'Unità & "Co" <3`,
          'DTSTART:20261224T190000Z',
          "LOCATION:Bar dell'Arco",
          "CONTACT:D'Amico",
          "CATEGORIES:L'Opera",
          'DESCRIPTION:L\'ora & "noi"',
        ),
      ),
    );
    expect(entries.map((entry) => 'columns' in entry && entry.columns?.post_title)).toEqual([
      "Bar dell'Arco",
      "D'Amico",
      `Festa dell'Unità &amp; "Co" &lt;3`,
    ]);
    expect([events[0]!.columns.post_content, events[0]!.terms?.map(({ name }) => name)]).toEqual([`L'ora &amp; "noi"`, ["L'Opera"]]);
  });
  it('are reported if the UID belongs to another event, but not if they are an older version', async () => {
    const other = event('SUMMARY:Other', 'DTSTART:20261225T190000Z');
    const both = await read(calendar(event('DTSTART:20261224T190000Z'), other));
    expect([starts(both), both.losses]).toEqual([['2026-12-24 20:00:00'], ['ical-uid-twice a.ics:9']]);
    const versions = await read(calendar(event('SEQUENCE:3', 'DTSTART:20261224T190000Z'), other));
    expect([starts(versions), versions.losses]).toEqual([['2026-12-24 20:00:00'], []]);
    const same = await read(calendar(event('DTSTART:20261224T190000Z'), event('DTSTART:20261224T190000Z')));
    expect([starts(same), same.losses]).toEqual([['2026-12-24 20:00:00'], []]);
  });
  it('are correct in UTC during the hour that the clock repeats', async () => {
    const { events } = await read(calendar(event('UID:1', 'DTSTART:20261025T003000Z'), event('UID:2', 'DTSTART:20261025T013000Z')));
    expect(events.map((item) => [meta(item, '_EventStartDateUTC'), meta(item, '_EventStartDate'), meta(item, '_EventTimezone')])).toEqual([
      ['2026-10-25 00:30:00', '2026-10-25 02:30:00', 'UTC+2'],
      ['2026-10-25 01:30:00', '2026-10-25 02:30:00', 'Europe/Rome'],
    ]);
  });
  it('of a changed occurrence are inherited from its series', async () => {
    const { events } = await read(
      calendar(
        event('LOCATION:Hall', 'DTSTART:20261224T190000Z', 'DTEND:20261224T203000Z', 'RRULE:FREQ=DAILY;COUNT=2'),
        'BEGIN:VEVENT\r\nUID:one\r\nRECURRENCE-ID:20261225T190000Z\r\nDTSTART:20261225T210000Z\r\nEND:VEVENT',
      ),
    );
    expect(events.map((item) => [item.columns.post_title, ...when(item), item.links.length])).toEqual([
      ['Concert', '2026-12-24 20:00:00', '2026-12-24 21:30:00', 'Europe/Rome', 1],
      ['Concert', '2026-12-25 22:00:00', '2026-12-25 23:30:00', 'Europe/Rome', 1],
    ]);
  });
  it('are read despite unreadable lines', async () => {
    const { events, losses } = await read(calendar(event('DTSTART:20261224T190000Z', 'oops no colon', 'RRULE')));
    expect([events.length, losses]).toEqual([1, ['ical-line-unreadable a.ics:8', 'ical-line-unreadable a.ics:9']]);
  });
});

describe('iCalendar file', () => {
  it.each([
    ['', 'ical-none', 1],
    ['<html>\n</html>', 'ical-none', 1],
    ['BEGIN:VEVENT\nEND:VEVENT', 'ical-none', 1],
    ['BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1', 'ical-truncated', 3],
    ['BEGIN:VCALENDAR\nBEGIN:VEVENT\nEND:VCALENDAR', 'ical-structure', 3],
    ['BEGIN:VCALENDAR\nEND:VEVENT\nEND:VCALENDAR', 'ical-structure', 2],
    [`BEGIN:VCALENDAR\n${'BEGIN:X\n'.repeat(50)}`, 'ical-deep', 7],
    [`BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:x\n${` ${'y'.repeat(1000)}\n`.repeat(1200)}`, 'too-long', 3],
    [`BEGIN:VCALENDAR\nBEGIN:VEVENT\n${'X:1\n'.repeat(30_000)}`, 'too-long', 20_003],
  ])('is refused with the line if it is malformed or hostile (%#)', async (text, fault, line) => {
    await expect(read(text)).rejects.toMatchObject({ fault, values: { file: 'a.ics', line } });
  });
  it('may be followed by other text, which is counted as skipped', async () => {
    const { entries, events } = await read(`${calendar(event('DTSTART:20261224T190000Z'))}took 3 ms\n`);
    expect([events.length, entries.at(-1)]).toEqual([1, { kind: 'skipped', what: 'text after the calendar', count: 1 }]);
  });
  it.each([
    ['windows-1252', Buffer.from('SUMMARY:Citt\xe0 \x96 caff\xe8', 'latin1'), 'Città – caffè', ['encoding-assumed a.ics:6']],
    [
      'UTF-8 with a broken letter',
      Buffer.concat([Buffer.from('SUMMARY:Città '), Buffer.from([0xe2, 0x82])]),
      'Città \ufffd',
      ['ical-characters a.ics:6'],
    ],
  ])('is read in %s, which is reported with its line', async (_, summary, title, told) => {
    const [head, tail] = calendar('BEGIN:VEVENT\r\nUID:1\r\n@\r\nDTSTART:20261224T190000Z\r\nEND:VEVENT').split('@');
    const { events, losses } = await read(Buffer.concat([Buffer.from(head!), summary, Buffer.from(tail!)]));
    expect([events[0]!.columns.post_title, losses]).toEqual([title, told]);
  });
  it.each(['utf16le', 'utf16be'] as const)('may be encoded in %s', async (encoding) => {
    const bytes = Buffer.from(`\ufeff${calendar(event('SUMMARY:Città', 'DTSTART:20261224T190000Z'))}`, 'utf16le');
    const { events, losses } = await read(encoding === 'utf16be' ? bytes.swap16() : bytes);
    expect([events[0]!.columns.post_title, losses]).toEqual(['Città', []]);
  });
  it('may begin with a byte order mark and contain several calendars and any line endings', async () => {
    const text = `\ufeff${calendar(event('UID:1', 'DTSTART:20261224T190000Z')).replaceAll('\r\n', '\n')}\r\n${calendar(event('UID:2', 'DTSTART:20261224T190000Z'))}`;
    expect((await read(text)).events.map(({ sourceId }) => sourceId)).toEqual(['1', '2']);
  });
  it.each([
    'RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=31',
    'RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30',
    `RDATE:${Array.from({ length: 9000 }, (_, number) => `2026${String(1 + (number % 12)).padStart(2, '0')}10T${String(number % 24).padStart(2, '0')}0000`).join(',')}`,
    'RRULE:FREQ=DAILY;BYHOUR=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23;BYMINUTE=0,1,2,3,4,5,6,7,8,9',
  ])('is read in finite time with endless recurrence (%#)', async (line) => {
    const { events } = await read(calendar(event('DTSTART:19000101T000000', line)), { from: '2026-11-01', to: '2027-12-31' });
    expect(events.length).toBeLessThanOrEqual(2000);
  });
  it('is read in finite time with endless rules of a zone', async () => {
    const zone =
      'BEGIN:VTIMEZONE\r\nTZID:X\r\nBEGIN:STANDARD\r\nDTSTART:16010101T000000\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0100\r\nRRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=31\r\nEND:STANDARD\r\nEND:VTIMEZONE';
    expect(when((await read(calendar(zone, event('DTSTART;TZID=X:20261224T190000')))).events[0])[0]).toBe('2026-12-24 19:00:00');
  });
  it('is identified by the name of the calendar, or else by the file name', async () => {
    const named = calendarSource(fileOf(calendar('X-WR-CALNAME:Town\\, all')), OPTIONS);
    for await (const _ of named.entries()) expect(_).toBeUndefined();
    expect(named.name()).toBe('ical:Town, all');
    expect(calendarSource(fileOf(calendar()), OPTIONS).name()).toBe('ical:a.ics');
  });
});

describe('exported calendar', () => {
  it('is read back', async () => {
    const record = {
      id: 7,
      url: 'https://x.example/event/a/',
      title: 'A &#8220;b&#8221;; c, d\\e',
      description: '<p>One &amp; two</p>\n<p>Three</p>',
      excerpt: '',
      date_utc: '2026-01-01 10:00:00',
      modified_utc: '2026-01-02 10:00:00',
      all_day: false,
      start_date: '2026-10-25 02:30:00',
      end_date: '2026-10-25 05:00:00',
      utc_start_date: '2026-10-25 01:30:00',
      utc_end_date: '2026-10-25 04:00:00',
      timezone: 'Europe/Rome',
      cost: '',
      website: '',
      image: false,
      categories: [{ name: 'Caf&eacute;, bar' }],
      tags: [],
      custom_fields: [],
      venue: { id: 1, venue: 'Hall', address: 'Street 1', city: 'Pisa', geo_lat: 1.5, geo_lng: -2.5 },
      organizer: [
        { id: 2, organizer: 'Anna', email: 'a@x.example' },
        { id: 3, organizer: 'Bruno', phone: '+39 050 12345' },
      ],
    } as const;
    const pieces: string[] = [];
    for await (const piece of writeCalendar(
      [record, { ...record, id: 8, all_day: true, start_date: '2026-03-01 06:00:00', end_date: '2026-03-03 05:59:59' }],
      {
        name: 'Town',
        description: '',
        url: 'https://x.example',
        zone: parseZone('Europe/Rome')!,
        clock: 'event',
        language: 'en',
        host: 'x.example',
      },
    ))
      pieces.push(piece);
    const { entries, events, losses } = await read(pieces.join(''));
    expect(losses).toEqual([]);
    // The clock shows 2:30 for the second time, which the zone cannot express.
    expect(when(events[0])).toEqual(['2026-10-25 02:30:00', '2026-10-25 05:00:00', 'Europe/Rome']);
    expect(meta(events[0], '_EventStartDateUTC')).toBe('2026-10-25 01:30:00');
    expect(when(events[1])).toEqual(['2026-03-01 00:00:00', '2026-03-02 23:59:59', 'Europe/Rome']);
    expect(events[0]).toMatchObject({
      columns: { post_title: 'A “b”; c, d\\e', post_content: 'One &amp; two\n\nThree' },
      terms: [{ name: 'Café, bar' }],
    });
    expect(entries.filter((entry): entry is PostItem => isItem(entry) && 'links' in entry).map((item) => item.columns.post_title)).toEqual([
      'Hall',
      'Anna',
      'Bruno',
      events[0]!.columns.post_title,
      events[1]!.columns.post_title,
    ]);
  });
});

describe('exported event', () => {
  const HEAD = { name: 'Town', description: '', url: 'https://x.example', clock: 'event', language: 'en', host: 'x.example' } as const;
  const UNTIMED = {
    id: 7,
    url: 'https://x.example/event/a/',
    title: 'A',
    description: '',
    excerpt: '',
    date_utc: '2026-01-01 10:00:00',
    modified_utc: '2026-01-02 10:00:00',
    all_day: false,
    cost: '',
    website: '',
    image: false,
    categories: [],
    tags: [],
    custom_fields: [],
    venue: [],
    organizer: [],
    timezone: 'Africa/Cairo',
    start_date: '',
    end_date: '',
    utc_start_date: '',
    utc_end_date: '',
  } as const;
  const timesOf = async (more: Partial<CalendarEvent>): Promise<string[]> => {
    const record: CalendarEvent = { ...UNTIMED, ...more };
    const pieces = [];
    for await (const piece of writeCalendar([record], { ...HEAD, zone: parseZone('Africa/Cairo')! })) pieces.push(piece);
    return pieces
      .join('')
      .split('BEGIN:VEVENT')[1]!
      .match(/^DT(?:START|END).*(?=\r)/gm)!;
  };
  const days = (start_date: string, end_date: string) => timesOf({ all_day: true, start_date, end_date });

  it('includes all days if the clock skips midnight on the first one', async () =>
    expect(await days('2026-04-24 01:00:00', '2026-04-25 23:59:59')).toEqual(['DTSTART;VALUE=DATE:20260424', 'DTEND;VALUE=DATE:20260426']));
  it('has four-digit years up to the last supported day', async () => {
    expect(await days('9999-12-31 00:00:00', '9999-12-31 23:59:59')).toEqual(['DTSTART;VALUE=DATE:99991231']);
    expect(await days('9999-12-29 00:00:00', '9999-12-31 23:59:59')).toEqual(['DTSTART;VALUE=DATE:99991229', 'DTEND;VALUE=DATE:99991231']);
  });
  it('keeps the UTC times of occurrences when the clock repeats an hour, and excludes deleted ones', async () => {
    const zone = parseZone('Europe/Rome')!;
    const starts = ['2026-10-24 00:30:00', '2026-10-25 01:30:00', '2026-10-26 01:30:00'];
    const written = async (utc: readonly string[]) => {
      const dates = utc.map((startUtc) => ({ start: toLocal(startUtc, zone), startUtc, endUtc: addSeconds(startUtc, 900) }));
      const rule = 'DTSTART;TZID=Europe/Rome:20261024T023000\nDTEND;TZID=Europe/Rome:20261024T024500\nRRULE:FREQ=DAILY;COUNT=3';
      const recurs = recurringDates({ rule, dates }, zone);
      const pieces = [];
      const one = { ...UNTIMED, timezone: 'Europe/Rome', utc_start_date: utc[0]!, utc_end_date: addSeconds(utc[0]!, 900) };
      for await (const piece of writeCalendar([{ ...one, recurs }], { ...HEAD, zone })) pieces.push(piece);
      const { events } = await read(pieces.join(''), { from: '2026-10-01', to: '2026-10-31' });
      return events.map((event) => meta(event, '_EventStartDateUTC')).sort();
    };
    expect(await written(starts)).toEqual(starts);
    expect(await written([starts[0]!, starts[2]!])).toEqual([starts[0], starts[2]]);
  });
  it('has no end if the end precedes the start', async () =>
    expect(
      await timesOf({
        start_date: '2026-12-24 20:00:00',
        end_date: '2026-12-24 18:00:00',
        utc_start_date: '2026-12-24 18:00:00',
        utc_end_date: '2026-12-24 16:00:00',
      }),
    ).toEqual(['DTSTART;TZID=Africa/Cairo:20261224T200000']));
});

describe('very large values', () => {
  it('are accepted in the rules of a zone', async () => {
    const days = Array.from({ length: 45_000 }, (_, at) => new Date(at * 86_400_000).toISOString().slice(0, 10).replaceAll('-', ''));
    const zone = ['BEGIN:VTIMEZONE', 'TZID:Mine', 'BEGIN:STANDARD', 'DTSTART:19000101T000000', 'TZOFFSETTO:+0500'];
    const lists = [2, 3, 4].map((hour) => `RDATE:${days.map((day) => `${day}T0${hour}00`).join()}`);
    const { events } = await read(calendar(...zone, ...lists, 'END:STANDARD', 'END:VTIMEZONE', event('DTSTART;TZID=Mine:20261224T190000')));
    expect(when(events[0])).toEqual(['2026-12-24 19:00:00', '2026-12-24 19:00:00', 'Asia/Tashkent']);
  });
  it('are reported if they are occurrences of a series', async () => {
    const window = { from: '1950-01-01', to: '2049-12-31' };
    const hourly = fileOf(calendar(event('DTSTART:19500101T000000Z', 'RRULE:FREQ=HOURLY')));
    const { value: first } = await calendarEntries(hourly, { ...OPTIONS, ...window })
      [Symbol.asyncIterator]()
      .next();
    expect(first).toMatchObject({ kind: 'loss', loss: { reason: 'ical-rule-cut' } });
  });
});

describe('scripts in a calendar', () => {
  it('are removed from all metas, whoever imports', async () => {
    const script = '<img/src=x/onerror=alert(1)>';
    const { entries } = await read(
      calendar(
        event(
          'DTSTART:20261224T190000Z',
          `LOCATION:Hall\\, ${script} 5`,
          `ORGANIZER;CN=Ann:mailto:${script}@example.org`,
          `CONTACT:Bob\\, ${script}@example.org\\, https://example.org/"onmouseover="alert(1)`,
          'URL:https://example.org/"onmouseover="alert(1)',
          'ATTACH:https://example.org/"onmouseover="alert(1).png',
        ),
      ),
    );
    const values = entries.filter(isItem).flatMap((item) => ('metas' in item ? (item.metas ?? []).map(([, value]) => value) : []));
    expect(values.length).toBeGreaterThan(5);
    expect(values.filter((value) => /[<"]/.test(value))).toEqual([]);
    const guids = entries.flatMap((entry) => (isItem(entry) && entry.kind === 'attachment' ? [entry.columns.guid] : []));
    expect(guids).toEqual(['https://example.org/%22onmouseover=%22alert(1).png']);
    expect(values.filter((value) => value === 'https://example.org/%22onmouseover=%22alert(1)')).toHaveLength(2);
  });
});
