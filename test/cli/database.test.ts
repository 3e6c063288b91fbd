import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { runCli } from '../../src/cli/program.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { loadAllUsers } from '../../src/storage/rows/users.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';
import { loadSite } from '../support/site.ts';
import { commandIn, embedded, type Fasti, temporaryFolder } from './command.ts';

const NOW = new Date('2026-06-03T10:00:00Z');
const folder = temporaryFolder();
/** Output that shows the password of a new administrator. */
const SHOWN = /Administrator, shown only once:\n {2}user name +admin\n {2}application password +(\w{4} ){5}\w{4}\n$/;

describeDatabases('empty database', (open) => {
  let db: Database;
  let fasti: Fasti;
  const json = async (...args: string[]) => JSON.parse((await fasti(...args, '--format=json')).out);
  const count = async (table: Parameters<Database['from']>[0]) =>
    Number(((await db.from(table).count({ rows: '*' }).first()) as { rows: number }).rows);

  beforeAll(async () => {
    db = await open({ migrated: false });
    fasti = commandIn(environment(), { now: NOW });
  });
  const environment = () => ({ DATABASE_URL: urlOf(db), UPLOADS_DIR: `${folder}/${db.dialect.name}`, PORT: '8123' });

  it('is reported as empty', async () => {
    for (const args of [['event', 'list'], ['seed'], ['user', 'list'], ['serve']]) {
      expect(await fasti(...args)).toMatchObject({
        code: 1,
        out: '',
        served: [],
        err: expect.stringContaining('there is no site with the table prefix wp_'),
      });
    }
  });

  it('is not created by a command that only reads', async () => {
    const file = `${folder}/${db.dialect.name}-misspelt/site.sqlite`;
    const elsewhere = commandIn({ DATABASE_URL: `sqlite:${file}`, UPLOADS_DIR: `${folder}/none` });
    for (const args of [['event', 'list'], ['doctor'], ['export', '-', '--format=csv'], ['serve'], ['migrate']])
      expect(await elsewhere(...args)).toMatchObject({
        code: 1,
        served: [],
        err: expect.stringContaining(`there is no database file ${file}`),
      });
    expect(existsSync(dirname(file))).toBe(false);
  });

  it.each([
    ['url', 'calendar.example.org'],
    ['url', 'https://example.org/?x=1'],
    ['timezone', 'Mars/Olympus'],
    ['title', 'x'.repeat(201)],
  ])('does not become a site if %s is an invalid value: %s', async (name, value) => {
    const { code, out, err } = await fasti('init', `--${name}=${value}`);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(`${name} cannot be "${value}"`);
    expect((await fasti('option', 'list')).code).toBe(1);
  });

  it.each([
    [{ CONTENT_LANGUAGES: 'off' }, 'CONTENT_LANGUAGES'],
    [{ CONTENT_LANGUAGES: 'wpml' }, 'CONTENT_LANGUAGES'],
    [{ SHARED_WITH_WORDPRESS: 'on' }, 'Polylang'],
  ])('does not become a site if it could not have the requested languages: %j', async (env, word) => {
    const { code, out, err } = await commandIn({ ...environment(), ...env })('init', '--languages=en,it');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(word);
    expect((await fasti('option', 'list')).code).toBe(1);
  });

  it('becomes a site once, with a password for the administrator', async () => {
    const made = await fasti('init', '--title=Prova');
    expect(made).toMatchObject({ code: 0, err: '' });
    // Without a terminal, the output may be kept in a log.
    const [, file = ''] =
      /^Done: a new site at http:\/\/localhost:8123\.\nAdministrator admin: the application password is in (\S+); delete that file once you have read it\.\nadmin has no e-mail address yet, and neither has the site: .+\n$/.exec(
        made.out,
      ) ?? [];
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toMatch(SHOWN);
    expect(await json('user', 'list', '--fields=login,email,roles')).toEqual([{ login: 'admin', email: '', roles: ['administrator'] }]);
    expect((await fasti('option', 'get', 'email')).out).toBe('\n');
    const refusal = 'Error: there is already a site in this database.\n';
    expect(await fasti('init')).toMatchObject({ code: 1, out: '', err: refusal });
    expect(await commandIn(environment(), { ask: () => Promise.reject(new Error('asked in vain')) })('init')).toMatchObject({
      code: 1,
      err: refusal,
    });
    expect((await loadAllUsers(db, [])).length).toBe(1);
  });

  it('gets the sample calendar once', async () => {
    expect(await fasti('seed')).toMatchObject({ code: 0, err: '', out: 'Done: the sample calendar with 60 events.\n' });
    const before = await count('posts');
    expect(await fasti('seed')).toMatchObject({ code: 1, out: '', err: expect.stringContaining('the sample calendar is already there') });
    expect(await count('posts')).toBe(before);
  });

  it('contains a varied year of sample events around the current date, in two languages', async () => {
    const [english, italian] = (await Promise.all(
      ['en', 'it'].map((code) => json('event', 'list', '--start_date=2000-01-01', '--end_date=2100-01-01', `--content-language=${code}`)),
    )) as [Record<string, unknown>[], Record<string, unknown>[]];
    const events = english;
    expect([english, italian].map((list) => list.length)).toEqual([59, 59]);
    const pairs = english.map(({ id, translations }) => [id, (translations as Record<string, { id: number }>).it?.id]);
    expect(pairs.map(([, other]) => other).sort()).toEqual(italian.map(({ id }) => id).sort());
    expect((await fasti('event', 'list', '--search=riservate', '--format=count')).out).toBe('0\n');
    const some = (test: (event: Record<string, unknown>) => boolean) => events.filter(test).length;
    expect(some(({ start_date }) => String(start_date) < '2026-06-03')).toBeGreaterThan(8);
    expect(some(({ start_date }) => String(start_date) > '2026-06-03')).toBeGreaterThan(40);
    expect(
      events
        .map(({ start_date }) => String(start_date))
        .sort()
        .at(0)! >= '2026-04-01',
    ).toBe(true);
    expect(
      events
        .map(({ end_date }) => String(end_date))
        .sort()
        .at(-1)! <= '2027-05-10',
    ).toBe(true);
    expect(some(({ all_day }) => all_day === true)).toBeGreaterThan(2);
    expect(some(({ featured }) => featured === true)).toBeGreaterThan(3);
    expect(some(({ sticky }) => sticky === true)).toBe(1);
    expect(some(({ cost }) => cost === 'Free')).toBeGreaterThan(10);
    expect(some(({ cost }) => /–/.test(String(cost)))).toBeGreaterThan(5);
    expect(some(({ image }) => image !== false)).toBeGreaterThan(30);
    expect(some(({ status }) => status === 'draft')).toBe(1);
    expect(some(({ status }) => status === 'private')).toBe(1);
  });

  it('uses one language for all texts of a language', async () => {
    const countries = async (language: string) =>
      new Set(
        ((await json('venue', 'list', `--content-language=${language}`, '--fields=country')) as Record<string, unknown>[]).map(
          ({ country }) => country,
        ),
      );
    expect([await countries('en'), await countries('it')]).toEqual([new Set(['Italy']), new Set(['Italia'])]);
  });

  it('has sample markets on Saturdays', async () => {
    const [market] = (await json('event', 'list', '--search="Market day in Piazza"', '--start_date=2026-06-01')) as {
      start_date: string;
    }[];
    expect(market?.start_date).toBe('2026-06-06 08:00:00');
  });

  it('counts all posts with a term, including blog posts', async () => {
    const tag = await json('tag', 'get', 'volunteers', '--fields=id,count');
    const events = Number(
      (await fasti('event', 'list', '--tags=volunteers', '--start_date=2000-01-01', '--end_date=2100-01-01', '--format=count')).out,
    );
    expect(tag.count).toBe(events + 2);
  });

  describe('with many more events', () => {
    let before: number;

    beforeAll(async () => {
      before = await count('tec_occurrences');
      expect(await fasti('seed', '--events=700')).toMatchObject({ code: 0, err: '', out: 'Done: 700 more events.\n' });
    });

    it('has calendar rows for each event', async () => {
      expect((await count('tec_occurrences')) - before).toBe(700);
      expect(await count('tec_events')).toBe(await count('tec_occurrences'));
      expect(Number((await fasti('event', 'list', '--start_date=2000-01-01', '--end_date=2100-01-01', '--format=count')).out)).toBe(818);
    });

    it('has the same metas and columns as events created through the API', async () => {
      const [venue, organizer] = (await Promise.all(['venue', 'organizer'].map((kind) => json(kind, 'list')))) as { id: number }[][];
      const made = Number(
        (
          await fasti(
            'event',
            'create',
            '--title=By hand',
            '--start_date=2026-07-01 20:00',
            '--end_date=2026-07-01 22:00',
            `--venue=${venue![0]!.id}`,
            `--organizer=${organizer![0]!.id}`,
            '--cost=3',
            '--show_map',
            '--show_map_link',
            '--porcelain',
          )
        ).out,
      );
      const [generated] = await db
        .knex({ p: db.table('posts') })
        .join({ m: db.table('postmeta') }, 'm.post_id', 'p.ID')
        .where('m.meta_key', '_EventCost')
        .where('p.ID', '<', made)
        .orderBy('p.ID', 'desc')
        .limit(1)
        .select('p.ID as id');
      const keys = async (post: number) =>
        new Set((await db.from('postmeta').where('post_id', post).select('meta_key')).map(({ meta_key: key }) => key));
      const [byHand, inBulk] = [await keys(made), await keys(generated.id)];
      expect([...byHand].filter((key) => !inBulk.has(key) && key !== '_EventDuration')).toEqual([]);

      const row = async (post: number) => db.from('posts').where('ID', post).first();
      const blank = ({ comment_status, ping_status, to_ping, post_mime_type, post_parent }: Record<string, unknown>) => ({
        comment_status,
        ping_status,
        to_ping,
        post_mime_type,
        post_parent,
      });
      expect(blank((await row(generated.id)) as never)).toEqual(blank((await row(made)) as never));
    });

    it('distributes events over all languages with --every-language and translates half of them', async () => {
      const spoken = async () => (await json('languages', 'list')).map(({ events }: { events: number }) => events);
      const groups = async () =>
        Number((await db.from('term_taxonomy').where('taxonomy', 'post_translations').count({ rows: '*' }).first())?.rows);
      const state = { spoken: await spoken(), groups: await groups(), findings: (await json('doctor')).findings };
      const later = commandIn({ DATABASE_URL: urlOf(db), UPLOADS_DIR: `${folder}/${db.dialect.name}` }, { now: new Date(+NOW + 1000) });
      expect(await later('seed', '--events=601', '--every-language')).toMatchObject({ code: 0, out: 'Done: 601 more events.\n' });
      const [english, italian, neutral] = state.spoken;
      expect(await spoken()).toEqual([english + 301, italian + 300, neutral]);
      const linked = (await groups()) - state.groups;
      expect([linked > 100, linked < 200]).toEqual([true, true]);
      expect((await json('doctor')).findings).toEqual(state.findings);
    });

    it('has correct term counts and a correct date range', async () => {
      const counted = await db
        .knex({ tt: db.table('term_taxonomy') })
        .leftJoin({ r: db.table('term_relationships') }, 'r.term_taxonomy_id', 'tt.term_taxonomy_id')
        .leftJoin({ p: db.table('posts') }, (on) => {
          on.on('p.ID', 'r.object_id').andOnVal('p.post_status', 'publish');
        })
        .whereIn('tt.taxonomy', ['tribe_events_cat', 'post_tag', 'language'])
        .groupBy('tt.term_taxonomy_id', 'tt.count')
        .select('tt.count as stored')
        .count({ found: 'p.ID' });
      expect(counted.filter(({ stored, found }: Record<string, unknown>) => Number(stored) !== Number(found))).toEqual([]);

      const [edges] = (await db.from('tec_occurrences').min({ first: 'start_date_utc' }).max({ last: 'end_date_utc' })) as unknown as {
        first: string;
        last: string;
      }[];
      const options = (await db.from('options').where('option_name', 'tribe_events_calendar_options').first())?.option_value;
      expect(options).toContain(edges!.first);
      expect(options).toContain(edges!.last);
    });
  });
});

describeDatabases('empty database that two processes start on', (open) => {
  it('becomes one site, which both serve', async () => {
    const db = await open({ migrated: false });
    const start = commandIn({ DATABASE_URL: urlOf(db), UPLOADS_DIR: `${folder}/twice-${db.dialect.name}`, PORT: '0' }, { now: NOW });
    const outcomes = await Promise.all([start('start'), start('start')]);
    expect(outcomes.map(({ code, err, served }) => ({ code, err, served: served.length }))).toEqual([
      { code: 0, err: '', served: 1 },
      { code: 0, err: '', served: 1 },
    ]);
    expect(outcomes.filter(({ out }) => out.includes('a new site'))).toHaveLength(1);
    expect(await loadAllUsers(db, [])).toHaveLength(1);
    expect(await db.from('terms').where('slug', 'uncategorized')).toHaveLength(1);
  });
});

describeDatabases('site with existing terms', (open) => {
  it('gets the sample calendar, which reuses terms of the same name and leaves others alone', async () => {
    const db = await open({ migrated: false });
    const fasti = commandIn({ DATABASE_URL: urlOf(db), UPLOADS_DIR: `${folder}/terms-${db.dialect.name}` }, { now: NOW });
    expect((await fasti('init')).code).toBe(0);
    const made = async (...args: string[]) => (await fasti(...args, '--porcelain')).out.trim();
    const film = await made('category', 'create', '--name=Film');
    const evening = await made('tag', 'create', '--name=evening');
    const cycles = await made('category', 'create', '--name=Bicycles', '--slug=dance');
    expect(await fasti('seed')).toMatchObject({ code: 0, err: '', out: 'Done: the sample calendar with 60 events.\n' });
    const used = async (kind: string, id: string) => Number((await fasti(kind, 'get', id, '--field=count')).out);
    expect([(await used('category', film)) > 0, (await used('tag', evening)) > 0, await used('category', cycles)]).toEqual([true, true, 0]);
    expect((await fasti('doctor')).code).toBe(0);
  });
});

describeDatabases('database of a WordPress site', (open) => {
  it('is served unchanged and without sample events', async () => {
    const db = await loadSite(await open());
    const rows = async () =>
      Object.fromEntries(
        await Promise.all(
          (['posts', 'postmeta', 'options', 'users', 'usermeta', 'terms'] as const).map(async (name) => [name, await db.from(name)]),
        ),
      );
    const before = await rows();
    const started = await commandIn({ DATABASE_URL: urlOf(db), UPLOADS_DIR: folder, PORT: '0' })('start');
    expect(started).toMatchObject({ code: 0, err: '', served: [{}] });
    expect(started.out).not.toContain('password');
    expect(await rows()).toEqual(before);
  });
});

describe('fasti start', () => {
  const [place, data] = [temporaryFolder(), temporaryFolder()];
  const start = commandIn({ ...embedded(place), PORT: '0' }, { terminal: true });

  it('creates an embedded site with the sample calendar and serves it', async () => {
    const started = await start('start');
    expect(started).toMatchObject({ code: 0, err: '', served: [{ SITE_URL: 'http://localhost' }] });
    for (const part of ['the sample calendar with 60 events', 'http://localhost/wp-json/calendar/events/v1/events', '/doc'])
      expect(started.out).toContain(part);
    expect(started.out).toMatch(new RegExp(SHOWN.source.replace('$', '')));
    expect(readdirSync(place).filter((name) => name.includes('password'))).toEqual([]);
  });

  it('does not report that it serves if no server answers or the server is not ready', async () => {
    const program = createServer((_, response) => response.writeHead(503).end()).listen(0, '127.0.0.1');
    await once(program, 'listening');
    const { port } = program.address() as AddressInfo;
    const tried = async () => {
      const out: string[] = [];
      const code = await runCli(['start'], {
        env: { ...embedded(place), PORT: String(port), HOST: '127.0.0.1', LANG: 'en' },
        isTerminal: true,
        out: (text) => out.push(text),
        err: () => undefined,
        serve: async () => undefined,
        wait: async () => true,
      });
      return { code, out: out.join('') };
    };
    const expected = {
      code: 0,
      out: expect.stringContaining(`not ready after ten seconds. The log and http://127.0.0.1:${port}/health/ready`),
    };
    expect(await tried()).toEqual(expected);
    program.close();
    const after = await tried();
    expect(after).toEqual(expected);
    expect(after.out).not.toContain('Serving');
  });

  it('shows the password only once', async () => {
    expect((await start('start')).out).not.toContain('password');
  });

  it('writes the password to a new file each time if there is no terminal', async () => {
    for (const [number, name] of ['administrator-password.txt', 'administrator-password-2.txt'].entries()) {
      const env = { ...embedded(data), DATABASE_URL: `sqlite:${data}/${number}.sqlite`, PORT: '0' };
      const { out } = await commandIn(env)('init', '--timezone=UTC+2');
      expect((await commandIn(env)('option', 'get', 'timezone')).out).toBe('UTC+2\n');
      const told = readFileSync(`${data}/${name}`, 'utf8');
      expect(told).toMatch(SHOWN);
      expect(out).toContain(`${data}/${name}`);
      expect(out).not.toContain(/(\w{4} ){5}\w{4}/.exec(told)![0]);
    }
  });
});
