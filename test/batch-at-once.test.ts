import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Database } from '../src/storage/engine/database.ts';
import { describeDatabases } from './support/databases.ts';
import { loadLanguages, resetLanguages } from './support/languages.ts';
import { type Answer, type RunningSite, serveDatabase } from './support/running-site.ts';
import { loadSite } from './support/site.ts';
import { ROOT, SUITE_TIME } from './support/site-client.ts';

/* Consecutive new events in a batch are written together. The result must equal that of one request for each event. */

const DAY = { start_date: '2026-12-10 18:00:00', end_date: '2026-12-10 20:00:00' };
const OTHERS = { start_date: '2026-12-24 18:00:00', end_date: '2027-02-10 20:00:00', all_day: true };

/**
 * Events of different sorts: with equal titles, without slugs, outside the calendar's range, with new terms and venues.
 */
const EVENTS: readonly object[] = [
  { title: 'Same', ...DAY, categories: ['Of a batch'], tags: ['Loud'] },
  { title: 'Same', ...OTHERS, categories: ['Of a batch', 'Another'], cost: '9' },
  { title: 'Same 2', slug: 'same-2', ...DAY, featured: true },
  { title: 'Draft', status: 'draft', ...DAY, categories: ['Of a batch'] },
  { title: 'Another draft', status: 'draft', ...OTHERS },
  { title: 'Sticky', sticky: true, show_map: true, ...DAY },
  { title: 'Hidden', hide_from_listings: true, status: 'private', ...DAY },
  {
    title: 'With a place',
    ...DAY,
    venue: { venue: 'Brought along', city: 'Rome' },
    organizer: [{ organizer: 'Her' }, { organizer: 'Him' }],
  },
  { title: 'At the same place', ...OTHERS, venue: { venue: 'Brought along' }, organizer: { organizer: 'Her' } },
  { title: 'From elsewhere', ...DAY, external_id: 'crm 1', custom: 'unknown' },
  { title: 'From there, too', ...DAY, external_id: 'crm 2', description: '<p>Long <b>text</b></p>' },
  { title: 'Long ago', start_date: '1999-01-01 10:00', end_date: '1999-01-01 11:00' },
  { title: 'Longer ago', start_date: '1998-01-01 10:00', end_date: '1998-01-01 11:00', timezone: 'America/New_York' },
  { title: 'Far away', start_date: '2099-01-01 10:00', end_date: '2099-05-01 11:00' },
  { title: 'Locked', password: 'secret', ...DAY },
  { title: 'Later', status: 'future', date: '2027-01-01 10:00:00', ...DAY },
];
const SPOKEN: readonly object[] = [
  { title: 'Same', language: 'it', ...DAY, categories: ['Of a batch'] },
  { title: 'Same', language: 'it', ...OTHERS },
  { title: 'Bozza', language: 'it', status: 'draft', ...DAY },
];

const FORMS = ['none', 'polylang', 'wpml'] as const;
type Form = (typeof FORMS)[number];

describeDatabases('new events of a batch', (open) => {
  const sites = new Map<Form, { readonly db: Database; readonly running: RunningSite; readonly reset: () => Promise<unknown> }>();

  beforeAll(async () => {
    for (const form of FORMS) {
      const db = form === 'none' ? await loadSite(await open()) : await loadLanguages(await open(), form);
      const reset = () => (form === 'none' ? loadSite(db) : resetLanguages(db, form));
      sites.set(form, { db, reset, running: await serveDatabase(db, { clock: () => new Date(SUITE_TIME) }) });
    }
  });
  afterAll(() => Promise.all(Array.from(sites.values(), ({ running }) => running.close())));

  const at = (form: Form) => {
    const { db, running, reset } = sites.get(form)!;
    const create = (body: object) => running.send('POST', `${ROOT}/events`, { as: 'admin', body });
    const batch = async (all: readonly object[], more: object = {}): Promise<Answer['body']> => {
      const requests = all.map((body) => ({ path: '/calendar/events/v1/events', body }));
      return (await running.send('POST', '/wp-json/batch/v1', { as: 'admin', body: { requests, ...more } })).body;
    };
    return { db, queries: () => running.site.db.queries(), create, batch, begin: () => reset().then(() => numberFrom(db)) };
  };

  it.each(FORMS)('are stored and answered as by one request for each, with languages: %s', async (form) => {
    const { db, create, batch, begin } = at(form);
    const events = form === 'none' ? EVENTS : [...EVENTS, ...SPOKEN];
    await begin();
    const [alone, together]: [Answer['body'][], Answer['body'][]] = [[], []];
    for (const body of events) alone.push((await create(body)).body);
    const expected = described(alone, await rowsOf(db));
    await begin();
    const { responses } = await batch(events);
    for (const { body } of responses) together.push(body);
    expect(described(together, await rowsOf(db))).toEqual(expected);
    expect(alone.every(({ id }) => id > FIRST)).toBe(true);
  });

  it.each(FORMS)('cost one query each, with languages: %s', async (form) => {
    const { queries, batch, begin } = at(form);
    await begin();
    const costOf = async (count: number) => {
      const before = queries();
      const { responses } = await batch(Array.from({ length: count }, (_, place) => ({ title: `Many ${count} ${place}`, ...DAY })));
      expect(responses.map(({ status }: Answer) => status)).toEqual(Array(count).fill(201));
      return queries() - before;
    };
    await costOf(2);
    expect((await costOf(22)) - (await costOf(12))).toBe(10);
  });

  it.each([
    ['normal', [201, 400, 201, 400]],
    ['require-all-validate', [null, 400, null, null]],
  ])('are written one by one if one of them is refused: %s', async (validation, statuses) => {
    const { db, batch, begin } = at('none');
    await begin();
    const before = await rowsOf(db);
    const venue = { venue: 'Brought along', external_id: 'crm' };
    const { responses } = await batch(
      [
        { title: 'First', external_id: 'a', venue, ...DAY },
        { title: 'Second', external_id: 'a', venue, ...DAY },
        { title: 'Third', external_id: 'b', venue, ...DAY },
        { title: 'Fourth', external_id: 'b', venue, ...DAY },
      ],
      { validation },
    );
    expect(responses.map((one: Answer | null) => one?.status ?? null)).toEqual(statuses);
    expect(responses[1].body.data.params).toHaveProperty('external_id');
    const records = db.from('posts').where('ID', '>', FIRST).whereNot('post_type', 'revision').orderBy('ID');
    const titles = (await records.select('post_title')).map(({ post_title }) => post_title);
    if (validation === 'normal') expect(titles).toEqual(['Brought along', 'First', 'Third']);
    else expect(await rowsOf(db)).toEqual(before);
  });
});

// ------------------------------------------------------------------------------------------------- what is compared
/**
 * Lower bound of the ids of new rows: greater than any other number in the rows, and with a different range for each
 * table.
 */
const FIRST = 5_000_000;
const NUMBERED = /\b5[0-2]\d{5}\b/g;

async function numberFrom(db: Database): Promise<void> {
  for (const [table, column, first] of [
    ['posts', 'ID', FIRST],
    ['terms', 'term_id', 5_100_000],
    ['term_taxonomy', 'term_taxonomy_id', 5_200_000],
  ] as const) {
    await db.knex(db.table(table)).insert({ [column]: first, ...REST[table] });
    await db.knex(db.table(table)).where(column, first).delete();
  }
}

/** Values of columns without a default. */
const REST = {
  posts: { post_content: '', post_title: '', post_excerpt: '', to_ping: '', pinged: '', post_content_filtered: '' },
  terms: {},
  term_taxonomy: { description: '' },
};

/** Columns whose values depend on the order in which rows were written. */
const TABLES = {
  posts: [],
  postmeta: ['meta_id'],
  terms: [],
  term_taxonomy: [],
  term_relationships: [],
  tec_events: ['event_id'],
  tec_occurrences: ['occurrence_id', 'event_id', 'hash'],
  fasti_entries: [],
  fasti_days: [],
  options: ['option_id'],
} as const;

async function rowsOf(db: Database): Promise<Record<string, object[]>> {
  const tables = Object.entries(TABLES) as [keyof typeof TABLES, readonly string[]][];
  const all: Record<string, object[]> = {};
  for (const [name, hidden] of tables) {
    const rows: Record<string, unknown>[] = await db.knex(db.table(name)).select('*');
    all[name] = rows.map((row) => Object.fromEntries(Object.entries(row).filter(([column]) => !hidden.includes(column))));
  }
  return all;
}

/**
 * Answers and rows, with new ids replaced by numbers in the order in which the answers mention them, and rows sorted.
 */
function described(answers: readonly Answer['body'][], rows: Record<string, object[]>) {
  const names = new Map<string, string>();
  const named = (value: unknown): string =>
    JSON.stringify(value)
      .replace(/pll_\w+/g, 'a name drawn by lot')
      .replace(NUMBERED, (id) => {
        const name = names.get(id) ?? `new ${names.size}`;
        names.set(id, name);
        return name;
      });
  // The number of events of a term differs if all events are written first.
  const shown = named(answers).replaceAll(/"count":\d+/g, '"count":0');
  return {
    shown: shown.split(/(?<=,)(?="id":)/),
    rows: Object.fromEntries(Object.entries(rows).map(([table, all]) => [table, all.map(named).sort()])),
  };
}
