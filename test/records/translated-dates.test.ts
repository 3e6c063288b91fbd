import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { auditRecurrences } from '../../src/storage/audit/recurrence-audit.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { reindexEvents } from '../../src/storage/index/event-index-rebuild.ts';
import { noteChange } from '../../src/storage/journal/reported-changes.ts';
import { lockNames, slugLock } from '../../src/storage/rows/locks.ts';
import { lockPost } from '../../src/storage/rows/posts.ts';
import { commandIn, temporaryFolder } from '../cli/command.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';
import { loadLanguages } from '../support/languages.ts';
import { addRecurringEvents } from '../support/recurring-site.ts';
import { type Answer, type RunningSite, serveDatabase } from '../support/running-site.ts';

const NOW = new Date('2030-12-31T12:00:00Z');
const EVENTS = '/wp-json/tribe/events/v1/events';
/** An event on Tuesdays and Thursdays until the end of February, with one date excluded. */
const CHOIR = 502;
const A_DATE = 10_000_308;

const folder = temporaryFolder();

describeDatabases('translation of a recurring event', (open) => {
  let db: Database;
  let running: RunningSite;
  beforeAll(async () => {
    db = await loadLanguages(await open(), 'polylang');
    // The recurring events have fixed ids, so the existing rows must not use them.
    await db.change`UPDATE {tec_events} SET event_id = event_id + 5000`;
    await db.change`UPDATE {tec_occurrences} SET occurrence_id = occurrence_id + 5000, event_id = event_id + 5000`;
    await addRecurringEvents(db);
    running = await serveDatabase(db, { env: { SHARED_WITH_WORDPRESS: 'off' }, clock: () => NOW });
    await reindexEvents(running.site.db, () => NOW, { marksComplete: true });
    expect((await send('POST', `${EVENTS}/${CHOIR}`, { language: 'en' })).status).toBe(200);
  });
  afterAll(() => running.close());

  const send = (method: string, path: string, body?: object) => running.send(method, path, { as: 'admin', ...(body ? { body } : {}) });
  const remove = (id: number) => send('DELETE', `/wp-json/wp/v2/tribe_events/${id}?force=true`);
  const storedOf = async (id: number) => ({
    set: (await db.from('tec_events').where('post_id', id).first())?.rset,
    rules: (await db.from('postmeta').where({ post_id: id, meta_key: '_EventRecurrence' }).first())?.meta_value,
    dates: (await db.from('tec_occurrences').where('post_id', id).orderBy('start_date_utc')).map((row) => [
      row.start_date,
      row.end_date_utc,
      row.has_recurrence,
    ]),
  });
  const listed = async (language: string): Promise<[string, string][]> => {
    const { body } = await send(
      'GET',
      `${EVENTS}?start_date=2031-01-01&search=${language === 'it' ? 'coro' : 'choir'}&per_page=50&translation_language=${language}`,
    );
    return body.events.map((event: { start_date: string; url: string }) => [event.start_date, event.url]);
  };

  it.each([
    ['under the id of the event', CHOIR, {}],
    ['under the id of one of its dates', A_DATE, {}],
    ['where its first date is named', CHOIR, { start_date: '2031-01-14 18:30:00', end_date: '2031-01-14 20:00:00' }],
  ])('has the same dates, %s', async (_, translation_of, dates) => {
    const values = { translation_of, language: 'it', title: 'Coro, martedì e giovedì', ...dates };
    const { status, body } = await send('POST', EVENTS, values);
    expect([status, body.translations.en.id]).toEqual([201, CHOIR]);
    expect(await storedOf(body.id)).toEqual(await storedOf(CHOIR));
    for await (const { post } of auditRecurrences(db, '2030-12-31 12:00:00')) expect(post).not.toBe(body.id);
    const dated = await listed('it');
    expect(dated.map(([start]) => start)).toEqual((await listed('en')).map(([start]) => start));
    expect(dated.at(-1)![1]).toMatch(/\/it\/event\/coro-martedi-e-giovedi\/2031-02-27\/$/);
    expect((await remove(body.id)).status).toBe(200);
  });

  it('has the dates and the rules of one moment if the event changes while it is created', async () => {
    const rows = await db.from('tec_occurrences').where('post_id', CHOIR).orderBy('start_date_utc');
    const last = rows.at(-1)!;
    const rules = { post_id: CHOIR, meta_key: '_EventRecurrence' };
    const { meta_value } = (await db.from('postmeta').where(rules).first())!;
    const shorter = meta_value!.replace(/2031-02-\d\d/, '2031-02-25');
    expect(shorter).not.toBe(meta_value);
    let write: Promise<Answer> | undefined;
    await db.transaction(async (trx) => {
      await lockPost(trx, CHOIR);
      await lockNames(trx, [slugLock('tribe_events', 'coro-del-paese')]);
      write = send('POST', EVENTS, { translation_of: CHOIR, language: 'it', title: 'Coro del paese' });
      // Long enough for the write to read the event and to wait for the slug.
      await sleep(300);
      await trx.from('postmeta').where(rules).update({ meta_value: shorter });
      await trx.from('tec_occurrences').where({ post_id: last.post_id, occurrence_id: last.occurrence_id }).delete();
      noteChange(trx, { now: NOW });
    });
    const { status, body } = await write!;
    expect(status).toBe(201);
    expect(await storedOf(body.id)).toEqual(await storedOf(CHOIR));
    await remove(body.id);
    await db.from('postmeta').where(rules).update({ meta_value });
    await db.from('tec_occurrences').insert(last);
  });

  it('has a single date if it is created with another time', async () => {
    const span = { start_date: '2031-01-15 18:30:00', end_date: '2031-01-15 20:00:00' };
    const { status, body } = await send('POST', EVENTS, { translation_of: CHOIR, language: 'it', title: 'Coro', ...span });
    expect([status, (await storedOf(body.id)).dates.length]).toEqual([201, 1]);
    await remove(body.id);
  });

  it('can be linked by the id of a date', async () => {
    const span = { start_date: '2031-01-15 18:30:00', end_date: '2031-01-15 20:00:00' };
    const { body } = await send('POST', EVENTS, { language: 'it', title: 'Coro', ...span });
    const linked = await send('POST', `${EVENTS}/${body.id}`, { translations: { en: A_DATE } });
    expect([linked.status, linked.body.translations.en.id]).toEqual([200, CHOIR]);
    await remove(body.id);
  });

  it('can be linked on the command line by the IDs of dates, which lists show', async () => {
    const span = { start_date: '2031-01-15 18:30:00', end_date: '2031-01-15 20:00:00' };
    const { body } = await send('POST', EVENTS, { language: 'it', title: 'Coro', ...span });
    const fasti = commandIn({ DATABASE_URL: urlOf(db), UPLOADS_DIR: folder, LOG_LEVEL: 'silent' }, { now: NOW });
    const linked = await fasti('languages', 'link', String(A_DATE), String(body.id));
    expect(linked).toMatchObject({ code: 0, err: '', out: `Done: ${CHOIR}, ${body.id} are translations of one another.\n` });
    expect((await send('GET', `${EVENTS}/${body.id}`)).body.translations.en.id).toBe(CHOIR);
    await remove(body.id);
  });

  it('has an original whose dates can be moved by the whole record as it was read, but not to another language', async () => {
    const span = { start_date: '2031-01-18 10:00:00', end_date: '2031-01-18 12:00:00' };
    const { body: translation } = await send('POST', EVENTS, { translation_of: CHOIR, language: 'it', title: 'Coro' });
    const { body: date } = await send('POST', `${EVENTS}/${CHOIR}/dates`, span);
    const { body: read } = await send('GET', `${EVENTS}/${date.id}`);
    expect([read.language, read.translations.it.id]).toEqual(['en', translation.id]);
    const moved = { scope: 'date', start_date: '2031-01-19 10:00:00', end_date: '2031-01-19 12:00:00' };
    const answer = await send('POST', `${EVENTS}/${date.id}`, { ...read, ...moved });
    expect([answer.status, answer.body.start_date]).toEqual([200, moved.start_date]);
    for (const values of [{ language: 'it' }, { translations: { it: null } }, { translation_of: 503 }]) {
      const { status, body } = await send('POST', `${EVENTS}/${date.id}`, { ...values, ...moved });
      expect([status, Object.keys(body.data.params)]).toEqual([400, Object.keys(values)]);
    }
    await send('DELETE', `${EVENTS}/${date.id}?scope=date`);
    await remove(translation.id);
  });

  it.each([
    ['a date is added', 'POST', `${EVENTS}/503/dates`, { start_date: '2031-07-15 18:00:00', end_date: '2031-07-15 19:30:00' }, 503],
    ['one is left out', 'DELETE', `${EVENTS}/10000326?scope=date`, undefined, 504],
  ] as const)('gives an event without a language the default one when %s', async (_, method, path, body, id) => {
    expect((await send('GET', `${EVENTS}/${id}`)).body.language).toBeNull();
    expect((await send(method, path, body)).status).toBeLessThan(300);
    expect((await send('GET', `${EVENTS}/${id}`)).body.language).toBe('en');
  });
});
