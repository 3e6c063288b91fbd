import { expect, it } from '@jest/globals';
import { loadViewer } from '../../src/accounts/viewer.ts';
import { publishDuePosts } from '../../src/records/scheduled.ts';
import { parseSerialized } from '../../src/wordpress/php/serialized.ts';
import { describeRequests, expectBody } from '../support/site-client.ts';

describeRequests('options of the earliest start and latest end of events', (ask) => {
  const noted = async () => {
    const row = await ask.db().from('options').where('option_name', 'tribe_events_calendar_options').first();
    const { earliest_date, earliest_date_markers, latest_date, latest_date_markers } = parseSerialized(row!.option_value) as Record<
      string,
      unknown
    >;
    return {
      first: [earliest_date, ...Object.values(earliest_date_markers as object)],
      last: [latest_date, ...Object.values(latest_date_markers as object)],
    };
  };
  const SAMPLE = { first: ['2019-12-31 21:00:00', 36], last: ['2036-12-31 17:00:00', 37] };
  const during = (year: number, more = {}) => ({
    title: `In ${year}`,
    start_date: `${year}-06-01 12:00`,
    end_date: `${year}-06-01 13:00`,
    ...more,
  });

  it('stay the same when an event in between is created', async () => {
    await ask.create('/events', during(2030));
    expect(await noted()).toEqual(SAMPLE);
  });
  it('change with each new event outside the range', async () => {
    const { id: late } = await ask.create('/events', during(2040));
    const { id: later } = await ask.create('/events', during(2041, { status: 'private' }));
    const { id: early } = await ask.create('/events', during(2010));
    expect(later).toBe(late + 1);
    expect(await noted()).toEqual({ first: ['2010-06-01 10:00:00', early], last: ['2041-06-01 11:00:00', later] });
    await ask.create('/events', during(2040, { title: 'Between' }));
    expect((await noted()).last).toEqual(['2041-06-01 11:00:00', later]);
  });
  it('ignore drafts', async () => {
    await ask.create('/events', during(2040, { status: 'draft' }));
    expect(await noted()).toEqual(SAMPLE);
  });
  it('are computed if they are empty', async () => {
    await ask.options({ tribe_events_calendar_options: { earliest_date: '', latest_date: '' } });
    const { id } = await ask.create('/events', during(2040));
    expect(await noted()).toEqual({ first: SAMPLE.first, last: ['2040-06-01 11:00:00', id] });
  });
  it('name the outermost of several events that are created concurrently', async () => {
    const years = [2040, 2047, 2041, 2046, 2042, 2045, 2043, 2044];
    const made = await Promise.all(years.map((year) => ask.create('/events', during(year))));
    expect(await noted()).toEqual({ first: SAMPLE.first, last: ['2047-06-01 11:00:00', made[1].id] });
  });
  it('are computed again when the outermost event moves or is deleted', async () => {
    const { id } = await ask.create('/events', during(2040));
    await ask.update(`/events/${id}`, { start_date: '2038-06-01 12:00', end_date: '2038-06-01 13:00' });
    expect((await noted()).last).toEqual(['2038-06-01 11:00:00', id]);
    await ask.del(`/events/${id}`);
    expect((await noted()).last).toEqual(SAMPLE.last);
  });
  it('include a scheduled event once it is published, and are computed again when it is deleted permanently', async () => {
    const { id } = await ask.create('/events', during(2040, { status: 'future', date: '2026-12-01 10:00:00' }));
    expect(await noted()).toEqual(SAMPLE);
    ask.setClock('2026-12-01T12:00:00Z');
    expect(await publishDuePosts(ask.running().site, loadViewer)).toBe(1);
    expect((await noted()).last).toEqual(['2040-06-01 11:00:00', id]);
    expectBody(await ask.send('DELETE', `/wp-json/wp/v2/tribe_events/${id}?force=true`, { as: 'admin' }));
    expect(await noted()).toEqual(SAMPLE);
  });
});
