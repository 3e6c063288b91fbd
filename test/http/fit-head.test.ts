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

  it('keep the link to the next page, without the previous one if it must be', async () => {
    const list = '/wp-json/wp/v2/tribe_events?page=2&include=';
    const pages = async (count: number, perPage: number) => {
      const ids = Array.from({ length: count }, (_, at) => 10_000 + at).join();
      const existing = (await running.send('GET', '/wp-json/wp/v2/tribe_events?per_page=5&_fields=id')).body.map(
        ({ id }: { id: number }) => id,
      );
      const { headers } = await ask(`${list}${existing.join()},${ids}&per_page=${perPage}`);
      return [...String(headers.link).matchAll(/page=(\d+)[^>]*>; rel="(?:prev|next)"/g)].map(([, page]) => page);
    };
    expect(await pages(3, 1)).toEqual(['1', '3']);
    expect(await pages(75, 1)).toEqual(['1', '3']);
    expect(await pages(200, 1)).toEqual(['3']);
  });

  it('links that were shortened lead to the same list', async () => {
    const ids: number[] = (await ask('/wp-json/wp/v2/tribe_events?per_page=60&_fields=id')).body.map(({ id }: { id: number }) => id);
    const found: number[] = [];
    const absent = Array.from({ length: 70 }, (_, at) => 90_000 + at);
    for (let path: string | undefined = `/wp-json/wp/v2/tribe_events?per_page=20&include=${[...ids, ...absent].join()}`; path; ) {
      const { headers, body } = await ask(path);
      found.push(...body.map(({ id }: { id: number }) => id));
      const next: string | undefined = /<([^>]*)>; rel="next"/.exec(String(headers.link))?.[1];
      path = next && new URL(next).pathname + new URL(next).search;
    }
    expect([found.length, new Set(found)]).toEqual([60, new Set(ids)]);
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

it('removes the link to the previous page before others, and the one to the next page last', () => {
  const link = (rel: string, length: number) => `<https://example.org/${'x'.repeat(length)}>; rel="${rel}"`;
  const kept = (length: number) => {
    const head = new Map([['Link', [link('https://api.w.org/', 20), link('prev', length), link('next', length)].join(', ')]]);
    fitHead(head);
    return [...(head.get('Link') ?? '').matchAll(/rel="([^"]*)"/g)].map(([, rel]) => rel);
  };
  expect([1000, 3000, 3250, 4000].map(kept)).toEqual([
    ['https://api.w.org/', 'prev', 'next'],
    ['https://api.w.org/', 'next'],
    ['next'],
    [],
  ]);
});
