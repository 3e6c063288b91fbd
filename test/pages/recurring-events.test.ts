import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { describeDatabases } from '../support/databases.ts';
import { elements, textOf } from '../support/desk-visitor.ts';
import { readPage } from '../support/html-page.ts';
import { EXPECTED_DATES, loadRecurringSite } from '../support/recurring-site.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { setOptions } from '../support/site.ts';

describeDatabases('pages of recurring events', (open) => {
  const BEFORE_ALL = '2030-12-31T12:00:00Z';
  let now = BEFORE_ALL;
  let site: RunningSite;
  beforeAll(async () => {
    site = await serveDatabase(await loadRecurringSite(await open()), { env: { PAGES: 'on' }, clock: () => new Date(now) });
  });
  beforeEach(() => {
    now = BEFORE_ALL;
  });
  afterAll(() => site?.close());

  const pageAt = async (moment: string, path: string) => {
    now = moment;
    const { status, text } = await site.send('GET', path);
    expect([path, status]).toEqual([path, 200]);
    const { links } = readPage(text);
    const google = new URL(links.find((link) => link.includes('google.com/calendar/event'))!).searchParams;
    return {
      isOver: text.includes('This event is over.'),
      dates: links.filter((link) => !link.endsWith(path)).flatMap((link) => /\/(\d{4}-\d\d-\d\d)\/$/.exec(link)?.[1] ?? []),
      added: [google.get('dates'), google.get('ctz')],
    };
  };

  it('show a date that is under way among the others, and are over only when the last one has ended', async () => {
    const series = '/event/course-on-three-dates/';
    expect(await pageAt('2031-06-12T07:30:00Z', series)).toMatchObject({ isOver: false, dates: ['2031-06-12', '2031-06-20'] });
    expect(await pageAt('2031-06-12T08:00:01Z', series)).toMatchObject({ isOver: false, dates: ['2031-06-20'] });
    expect(await pageAt('2031-06-20T22:59:59Z', series)).toMatchObject({ isOver: false, dates: ['2031-06-20'] });
    expect(await pageAt('2031-06-20T23:00:01Z', series)).toMatchObject({ isOver: true, dates: [] });
    const [first, last] = ['2031-06-05', '2031-06-20'].map((date) => `${series}${date}/`) as [string, string];
    expect(await pageAt('2031-06-20T22:59:59Z', first)).toMatchObject({ isOver: true, dates: ['2031-06-20'] });
    expect(await pageAt('2031-06-20T22:59:59Z', last)).toMatchObject({ isOver: false, dates: [] });
  });

  it('add their next date to Google, and the page of a date that date', async () => {
    for (const [moment, path, ...added] of [
      ['2031-06-01T12:00:00Z', '/event/course-on-three-dates/', '20310605T090000/20310605T100000', 'Europe/Rome'],
      ['2031-06-06T12:00:00Z', '/event/course-on-three-dates/', '20310612T090000/20310612T100000', 'Europe/Rome'],
      ['2031-06-13T12:00:00Z', '/event/course-on-three-dates/', '20310620T143000/20310621T010000', 'Europe/Rome'],
      ['2031-06-13T12:00:00Z', '/event/course-on-three-dates/2031-06-05/', '20310605T090000/20310605T100000', 'Europe/Rome'],
      ['2031-05-12T12:00:00Z', '/event/market-weekends/', '20310517/20310519', 'Europe/Rome'],
      ['2031-03-01T12:00:00Z', '/event/last-friday-jam/', '20310328T200000/20310328T230000', 'America/New_York'],
      ['2035-01-01T12:00:00Z', '/event/market-weekends/', '20310503/20310505', 'Europe/Rome'],
    ] as const)
      expect([moment, path, ...(await pageAt(moment, path)).added]).toEqual([moment, path, ...added]);
  });

  it('name the other dates by the days that the calendar shows', async () => {
    const path = '/event/last-friday-jam/';
    const namesIn = async (mode: string) => {
      await setOptions(site.site.db, { tribe_events_calendar_options: { tribe_events_timezone_mode: mode } });
      const { text } = await site.send('GET', path);
      return elements(text, ({ attribs }) => attribs.href?.includes(`${path}2031-0`) === true)
        .map(textOf)
        .slice(0, 2);
    };
    // It is at 20:00 in New York.
    expect(await namesIn('site')).toEqual(['Saturday, March 1, 2031', 'Saturday, March 29, 2031']);
    expect(await namesIn('event')).toEqual(['Friday, February 28, 2031', 'Friday, March 28, 2031']);
  });

  it('do not name the date that they show among the others', async () => {
    const series = '/event/course-on-three-dates/';
    expect(await pageAt(BEFORE_ALL, series)).toMatchObject({ dates: ['2031-06-12', '2031-06-20'] });
    expect(await pageAt(BEFORE_ALL, `${series}2031-06-12/`)).toMatchObject({ dates: ['2031-06-05', '2031-06-20'] });
  });

  it('of a date are those to which its short URL leads, and so are its calendars', async () => {
    const { home } = await site.site.settings();
    for (const { provisional_id: id, post_id: post, path } of EXPECTED_DATES.filter(({ slug }) =>
      /open-daily|two-tours|old-weekly/.test(slug),
    )) {
      const location = async (query: string) => (await site.send('GET', `/?p=${id ?? post}${query}`)).headers.location;
      expect([await location(''), await location('&ical=1')]).toEqual([home + path, `${home + path}?ical=1`]);
      const shortlinks = readPage((await site.send('GET', path)).text).elements.filter(({ attributes: { rel } }) => rel === 'shortlink');
      expect(shortlinks.map(({ attributes: { href } }) => href)).toEqual([`${home}/?p=${id ?? post}`]);
    }
    expect((await site.send('GET', '/?p=501')).headers.location).toBe(`${home}/event/tower-open-daily/`);
  });
});
