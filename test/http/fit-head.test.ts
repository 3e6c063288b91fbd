import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { fitHead } from '../../src/http/fit-head.ts';
import { describeDatabases } from '../support/databases.ts';
import { type Answer, type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';

/** Length of a head that nginx accepts with its default settings, a part of which its cache needs. */
const ACCEPTED = 3700;

const lengthOf = ({ headers }: Answer): number =>
  Object.entries(headers)
    .flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}\r\n`))
    .join('').length;

describeDatabases('the heads of answers', (open) => {
  let running: RunningSite;
  beforeAll(async () => {
    running = await serveDatabase(await loadSite(await open()));
    const requests = Array.from({ length: 60 }, (_, at) => ({
      path: '/calendar/events/v1/events',
      body: {
        title: `Event ${at}`,
        start_date: '2031-05-01 20:00',
        end_date: '2031-05-01 22:00',
        tags: [`first ${at}`, `second ${at}`],
        venue: { venue: `Venue ${at}` },
      },
    }));
    const { status, body } = await running.send('POST', '/wp-json/batch/v1', { as: 'admin', body: { requests } });
    expect([status, body.responses.every((one: { status: number }) => one.status === 201)]).toEqual([207, true]);
  });
  afterAll(() => running.close());

  const ask = (path: string, headers: Record<string, string> = {}) => running.send('GET', path, { headers });

  it.each([
    '/wp-json/calendar/events/v1/events?start_date=2031-05-01&end_date=2031-06-01&per_page=50',
    '/wp-json/wp/v2/tribe_events?per_page=100',
    '/events/?ical=1&per_page=1000',
    `/wp-json/wp/v2/tribe_events?per_page=1&page=2&include=${Array.from({ length: 250 }, (_, at) => at + 1).join()}`,
  ])('are short enough for nginx: %s', async (path) => {
    // The first request from another origin must not leave less room for those after it.
    const foreign = await ask(path, { Origin: `https://${'a'.repeat(3000)}.example.org` });
    const answer = await ask(path, { Origin: 'https://elsewhere.example.org' });
    expect(lengthOf(answer)).toBeLessThan(ACCEPTED);
    expect(answer.headers['surrogate-key']).toBe(foreign.headers['surrogate-key']);
    expect(String(answer.headers['surrogate-key']).replaceAll(' ', ',')).toBe(answer.headers['cache-tag']);
    expect(answer.headers['access-control-allow-origin']).toBe('https://elsewhere.example.org');
  });

  it('keep all keys of a list of usual length', async () => {
    const { headers } = await ask('/wp-json/calendar/events/v1/events?start_date=2031-05-01&end_date=2031-06-01&per_page=10');
    expect(String(headers['surrogate-key']).split(' ')).toHaveLength(1 + 10 * 4);
  });
});

it('shortens links to whole ones once there are no keys left', () => {
  const links = Array.from({ length: 20 }, (_, at) => `<https://example.org/${at}/${'x'.repeat(200)}>; rel="alternate"`);
  const head = new Map([
    ['Surrogate-Key', 'events event-1'],
    ['Cache-Tag', 'events,event-1'],
    ['Link', links.join(', ')],
  ]);
  fitHead(head);
  const kept = String(head.get('Link')).split(', <').length;
  expect([[...head.keys()], kept > 5 && kept < 20, head.get('Link')]).toEqual([['Link'], true, links.slice(0, kept).join(', ')]);
});
