import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import nodeIcal from 'node-ical';
import { runCli } from '../../src/cli/program.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { bareFixture } from '../exchange/sites.ts';
import { openProxy } from '../support/database-proxy.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';
import { passwordOf, type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';

const NOW = new Date('2026-11-21T09:00:00Z');
const folder = mkdtempSync(join(tmpdir(), 'fasti-web-'));

describeDatabases('fasti import and export over the web', (open, engine) => {
  let original: Database;
  let old: RunningSite;
  let target: Database;
  beforeAll(async () => {
    original = await open();
    target = await open();
    await loadSite(original);
    old = await serveDatabase(original, { clock: () => NOW });
  });
  beforeEach(() => loadSite(target, bareFixture()));
  afterAll(() => old.close());

  /** Runs the command on the target database. `rounds`: number of waits before it ends. */
  const fasti = async (
    args: readonly string[],
    { rounds = 0, between = async () => {}, url = urlOf(target) }: { rounds?: number; between?: () => Promise<unknown>; url?: string } = {},
  ) => {
    const [out, err]: [string[], string[]] = [[], []];
    let left = rounds;
    const code = await runCli(args, {
      env: { DATABASE_URL: url, UPLOADS_DIR: join(folder, engine), LOG_LEVEL: 'silent' },
      isTerminal: false,
      temporary: join(folder, `walks-${engine}`),
      out: (text) => out.push(text),
      err: (text) => err.push(text),
      serve: async () => {},
      clock: () => NOW,
      wait: async () => {
        await between();
        left -= 1;
        return left >= 0;
      },
    });
    return { code, out: out.join(''), err: err.join('') };
  };
  const count = async (type: string) =>
    Number(((await target.from('posts').where('post_type', type).count({ rows: '*' }).first()) as { rows: number }).rows);

  it('read a calendar whose address does not show that it is one', async () => {
    const event = 'BEGIN:VEVENT\r\nUID:a\r\nSUMMARY:A calendar of the town\r\nDTSTART:20310101T190000Z\r\nEND:VEVENT\r\n';
    const server = http.createServer((req, res) => {
      if (req.url !== '/calendars/abc?export') res.writeHead(404);
      res.end(`BEGIN:VCALENDAR\r\n${event}END:VCALENDAR\r\n`);
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/calendars/abc?export`;
    expect(await fasti(['import', address])).toMatchObject({ code: 0, err: '' });
    expect(await target.from('posts').where('post_title', 'A calendar of the town').select('post_type')).toEqual([
      { post_type: 'tribe_events' },
    ]);
    expect(await fasti(['import', address, '--as=ical'])).toMatchObject({ code: 0, out: expect.stringMatching(/events +0 +0 +1 +0/) });
    server.close();
  });

  it('read tables on the web, and follow them', async () => {
    let cost = 5;
    const server = http.createServer((req, res) => {
      if (!['/list?output=csv', '/events.csv'].includes(req.url!)) res.writeHead(404);
      res.end(`Event name,Event start date,Event cost\nA table of the town,2031-01-01,${cost}\n`);
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const followed = await fasti(['import', `${base}/list?output=csv`, '--as=csv', '--follow=60'], {
      rounds: 1,
      between: async () => {
        cost += 2;
      },
    });
    expect(followed).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/^Imported from list\.csv:[\s\S]*events +1 +0 +0 +0/) });
    const [event] = (await target.from('posts').where('post_title', 'A table of the town').select('ID')) as { ID: number }[];
    expect(await target.from('postmeta').where({ post_id: event!.ID, meta_key: '_EventCost' }).select('meta_value')).toEqual([
      { meta_value: '7' },
    ]);
    expect(await fasti(['import', `${base}/events.csv`, '--date-order=dmy'])).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringMatching(/^Imported from events\.csv:/),
    });
    expect(await fasti(['import', `${base}/none.csv`])).toMatchObject({
      code: 1,
      err: expect.stringContaining('could not be fetched: the answer was an error'),
    });
    expect(readdirSync(join(folder, `walks-${engine}`)).filter((name) => name.startsWith('fasti-input-'))).toEqual([]);
    server.close();
  });

  it.each(['https://anna:secret@calendar.example', 'https://anna:secret@calendar.example/x.ics', 'webcal://anna@calendar.example/x'])(
    'do not print a password that is part of an address: %s',
    async (address) => {
      const { code, err } = await fasti(['import', address]);
      expect([code, err.includes('secret')]).toEqual([1, false]);
      expect(err).toMatch(/^Error: A user name or password cannot be part of the address https:\/\/calendar\.example\//);
    },
  );

  it('import a running site from its address', async () => {
    const { code, out } = await fasti(['import', old.base, '--rate=100000', `--remote-user=admin:${passwordOf('admin')}`]);
    expect(out).toMatch(/Imported from 127\.0\.0\.1:8081:[\s\S]*events +52 +0 +0 +0\n/);
    // The findings are users without a role and an event below another event.
    expect([code, await count('tribe_events'), await count('tribe_venue')]).toEqual([3, 52, 10]);
  });
  it('write nothing with --dry-run', async () => {
    expect((await fasti(['import', old.base, '--rate=100000', '--dry-run'])).out).toContain('Nothing was written');
    expect(await count('tribe_events')).toBe(0);
  });
  it('follow a site until the end, even if it is unreachable for a while', async () => {
    const changes = [
      () => old.send('POST', '/wp-json/tribe/events/v1/venues', { as: 'admin', body: { venue: 'New hall' } }),
      async () => undefined,
      () => old.send('POST', '/wp-json/tribe/events/v1/venues/12', { as: 'admin', body: { city: 'Lucca' } }),
    ];
    const { out } = await fasti(['import', old.base, '--rate=100000', '--follow=1'], {
      rounds: 3,
      between: async () => changes.shift()?.(),
    });
    // Password-protected records are not imported.
    expect(out.split('\n').filter((line) => line.startsWith('2026-11-21'))).toEqual([
      '2026-11-21 09:00:00: 1 created, 0 updated, 3 lost.',
      '2026-11-21 09:00:00: 0 created, 0 updated, 3 lost.',
      '2026-11-21 09:00:00: 0 created, 1 updated, 3 lost.',
    ]);
    await loadSite(original);
  });
  const itOnServer = (name: string, test: () => Promise<void>): void => (engine === 'MySQL' ? it(name, test) : undefined);
  // An embedded database cannot be away.
  itOnServer('follow a site although the database is unreachable for a while', async () => {
    const proxy = await openProxy(urlOf(target));
    const changes = [proxy.close, proxy.reopen];
    const { out, err } = await fasti(['import', old.base, '--rate=100000', '--follow=1'], {
      rounds: 2,
      between: async () => changes.shift()?.(),
      url: proxy.url,
    });
    await proxy.close();
    expect(err.split('\n').filter((line) => line.startsWith('2026-11-21'))).toEqual([
      expect.stringContaining('the database cannot be reached'),
    ]);
    expect(out.split('\n').filter((line) => line.startsWith('2026-11-21'))).toEqual(['2026-11-21 09:00:00: 0 created, 0 updated, 3 lost.']);
  });
  it('print one JSON line for each round when following a site', async () => {
    const { out } = await fasti(['import', old.base, '--rate=100000', '--follow=1', '--format=json'], {
      rounds: 1,
      between: () => old.send('POST', '/wp-json/tribe/events/v1/venues', { as: 'admin', body: { venue: 'New hall' } }),
    });
    const [first, second, ...more] = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect([first, second, more]).toEqual([
      expect.objectContaining({ created: expect.objectContaining({ venue: 8 }) }),
      expect.objectContaining({ time: '2026-11-21 09:00:00', created: { venue: 1 }, updated: {} }),
      [],
    ]);
    await loadSite(original);
  });
  it('refuse an address that is not a site or does not answer, in one line', async () => {
    const other = http.createServer((_, res) => res.writeHead(404).end());
    await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
    const base = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    expect(await fasti(['import', base])).toMatchObject({
      code: 1,
      err: `Error: ${base} does not have the API of The Events Calendar (wp-json/tribe/events/v1).\n`,
    });
    expect(await fasti(['import', `${base}/a.ics`])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^Error: http.*a\.ics could not be fetched: the answer was an error\.\n$/),
    });
    expect((await fasti(['import', old.base, '--remote-user=admin:wrong'])).err).toMatch(/refuses to answer \(401 incorrect_password\)/);
    other.close();
  });

  it('fetch nothing from a redirect to an address that is not public', async () => {
    const asked: string[] = [];
    const canary = http.createServer((req, res) => {
      asked.push(req.url!);
      res.end('BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n');
    });
    await new Promise<void>((listening) => canary.listen(0, '127.0.0.2', listening));
    const { port } = canary.address() as AddressInfo;
    const places = [
      `http://127.0.0.2:${port}/a.ics`,
      `http://127.2:${port}/a.ics`,
      `http://2130706434:${port}/a.ics`,
      `http://[::ffff:127.0.0.2]:${port}/a.ics`,
    ];
    const sends = http.createServer((req, res) => res.writeHead(302, { Location: places[Number(req.url![1])]! }).end());
    await new Promise<void>((listening) => sends.listen(0, '127.0.0.1', listening));
    const base = `http://127.0.0.1:${(sends.address() as AddressInfo).port}`;
    for (const place of places.keys())
      expect((await fasti(['import', `${base}/${place}/feed.ics`])).err).toMatch(/could not be fetched: it is in a private network\./);
    // Redirects from one site to another are not followed at all.
    expect((await fasti(['import', `${base}/0`])).err).toMatch(/redirects to http:\/\/127\.0\.0\.2/);
    expect(asked).toEqual([]);
    canary.close();
    sends.close();
  });

  const event = (uid: string, start: string, title: string) =>
    `BEGIN:VEVENT\r\nUID:${uid}\r\nDTSTART:${start}\r\nDTEND:${start.replace('T19', 'T21')}\r\nSUMMARY:${title}\r\nLOCATION:Hall\\, Street 1\r\nEND:VEVENT\r\n`;
  const calendar = (...events: string[]) => `BEGIN:VCALENDAR\r\nVERSION:2.0\r\n${events.join('')}END:VCALENDAR\r\n`;

  it('import a calendar and update it by its UIDs', async () => {
    const file = join(folder, `${engine}.ics`);
    writeFileSync(file, calendar(event('1', '20261224T190000Z', 'One'), event('2', '20261225T190000Z', 'Two')));
    expect(await fasti(['import', file])).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringMatching(/venues +1 +0 +0 +0\n.*events +2 +0 +0 +0\n/),
    });
    writeFileSync(
      file,
      calendar(
        event('1', '20261224T190000Z', 'One'),
        event('2', '20261226T190000Z', 'Two, moved'),
        event('3', '20261227T190000Z', 'Three'),
      ),
    );
    expect((await fasti(['import', file])).out).toMatch(/venues +0 +0 +1 +0\n.*events +1 +1 +1 +0\n/);
    const starts = await target.from('tec_occurrences').orderBy('start_date').select('start_date');
    expect(starts.map((row) => row.start_date)).toEqual(['2026-12-24 20:00:00', '2026-12-26 20:00:00', '2026-12-27 20:00:00']);
    expect(await count('tribe_venue')).toBe(1);
  });
  it('import a feed of Fasti', async () => {
    const { code, out } = await fasti(['import', `${old.base}/events/?ical=1`]);
    // Without --media, the image is not imported.
    expect([code, /events +(\d+)/.exec(out)?.[1]]).toEqual([3, '30']);
  });
  it('import recurring events within the given days', async () => {
    const file = join(folder, `${engine}-repeats.ics`);
    writeFileSync(file, calendar(event('1', '20260105T190000Z', 'Weekly').replace('END:VEVENT', 'RRULE:FREQ=WEEKLY\r\nEND:VEVENT')));
    await fasti(['import', file, '--from=2026-02-01', '--to=2026-02-28']);
    expect(await count('tribe_events')).toBe(4);
    for (const days of [['--from=tomorrow'], ['--from=0000-00-00'], ['--from=2026-02-30'], ['--from=2026-02-02', '--to=2026-02-01']])
      expect((await fasti(['import', file, ...days])).code).toBe(2);
  });
  it.each([
    ['BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:1', /broken\.ics, line 3: the file ends within VEVENT/],
    ['<!doctype html>', /broken\.ics, line 1: this is not an iCalendar file/],
    [Buffer.from([0x42, 0xff, 0xfe]), /broken\.ics, line 1: this is not an iCalendar file/],
  ])('refuse a broken file with its line, and write nothing (%#)', async (content, message) => {
    const file = join(folder, 'broken.ics');
    writeFileSync(file, content);
    expect(await fasti(['import', file])).toMatchObject({ code: 1, out: '', err: expect.stringMatching(message) });
    expect(await count('tribe_events')).toBe(0);
  });

  it('export a calendar', async () => {
    await loadSite(target);
    const file = join(folder, `${engine}-out.ics`);
    expect((await fasti(['export', file])).code).toBe(0);
    expect(readdirSync(dirname(file)).filter((one) => one.endsWith('.part'))).toEqual([]);
    const uids = Object.values(nodeIcal.sync.parseICS(readFileSync(file, 'utf8'))).flatMap((part) =>
      part?.type === 'VEVENT' ? [Number.parseInt(part.uid, 10)] : [],
    );
    const published = await target
      .from('posts')
      .where({ post_type: 'tribe_events', post_status: 'publish', post_password: '' })
      .orderBy('ID')
      .select('ID');
    expect(uids.sort((a, b) => a - b)).toEqual(published.map(({ ID }) => ID));
    const { out } = await fasti(['export', '-', '--format=ical', '--search=concert']);
    expect(out.match(/^SUMMARY:.*$/gm)).toEqual(expect.arrayContaining(['SUMMARY:Summer concert']));
    // As in feeds, the local time 21:00 to 23:30 on 1 July 2027 is read as UTC.
    expect(out).toMatch(/^UID:\d+-1814475600-1814484600@/m);
  });
});
