import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { type CustomField, MAX_CUSTOM_FIELDS } from '../src/calendar/custom-fields.ts';
import { openCsv } from '../src/exchange/csv/read.ts';
import { writeCsv } from '../src/exchange/csv/write.ts';
import { exportEntries, itemsOf } from '../src/exchange/exporter.ts';
import { FILE_FORMATS } from '../src/exchange/items/file-formats.ts';
import { isItem } from '../src/exchange/items/items.ts';
import { openSource, type SourceOptions } from '../src/exchange/sources.ts';
import { addCustomField, type NewCustomField } from '../src/records/custom-fields.ts';
import { readOptions } from '../src/storage/rows/options.ts';
import { parseSerialized } from '../src/wordpress/php/serialized.ts';
import { commandIn, temporaryFolder } from './cli/command.ts';
import { allOf, callerOf, textOfAll } from './exchange/sites.ts';
import { urlOf } from './support/databases.ts';
import { describeRequests, expectError, idsOf, type Json, ROOT, type SiteClient } from './support/site-client.ts';

const EVENT = { title: 'Concert', start_date: '2030-05-01 20:00:00', end_date: '2030-05-01 22:00:00', status: 'publish' };
const FIELDS: readonly NewCustomField[] = [
  { name: 'accessibility', type: 'checkbox', label: 'Step-free access' },
  { name: 'stage', type: 'choice', label: 'Stage', choices: ['Main stage', 'Garden'] },
  { name: 'seats', type: 'number', label: 'Seats' },
  { name: 'stream', type: 'url', label: 'Stream' },
  { name: 'note', type: 'text', label: 'Note' },
  { name: 'languages', type: 'checkbox', label: 'Languages', choices: ['Italian', 'German', 'English'] },
];
const temporaryUploads = temporaryFolder();
const WINDOW = 'start_date=2030-01-01&end_date=2031-01-01';

const CORE = '/wp-json/wp/v2/tribe_events';
/** A value of each of the fields, as stored. */
const HELD: Readonly<Record<string, string>> = {
  accessibility: 'yes', stage: 'Garden', seats: '120', stream: 'https://example.org/live', note: 'Bring; boots, "please"\\n', languages: 'Italian|German',
}; // biome-ignore format: pairs

async function define(ask: SiteClient, fields: readonly NewCustomField[] = FIELDS): Promise<CustomField[]> {
  // Marks the site as changed, so that the options are restored before the next test.
  await ask.options({});
  const defined: CustomField[] = [];
  for (const field of fields) defined.push(await addCustomField(ask.running().site, field));
  return defined;
}

const metasOf = (fields: readonly CustomField[]): Record<string, unknown> =>
  Object.fromEntries(fields.map(({ meta, name }) => [meta, HELD[name]]));
const optionsOf = async (ask: SiteClient) => ({ caller: await callerOf(ask.running().site) }) as SourceOptions;
const picked = (meta: Json, fields: readonly CustomField[]): Json => Object.fromEntries(fields.map(({ meta: key }) => [key, meta[key]]));

const values = ({ custom_fields: fields }: Json): Record<string, string> =>
  Object.fromEntries(Object.entries(fields as Record<string, Json>).map(([name, { value }]) => [name, value]));

describeRequests('custom fields that a site defines', (ask) => {
  it('are written and shown under their names', async () => {
    await define(ask);
    const made = await ask.create('/events', {
      ...EVENT,
      custom_fields: {
        accessibility: true,
        stage: 'Garden',
        seats: '120',
        stream: 'https://example.org/live',
        note: 'Bring \u0000<b>boots</b>\u0007',
        languages: ['German', 'Italian'],
      },
    });
    expect(made.custom_fields.stage).toEqual({ label: 'Stage', value: 'Garden' });
    const written = {
      accessibility: 'yes', stage: 'Garden', seats: '120', stream: 'https://example.org/live', note: 'Bring boots', languages: 'Italian|German',
    }; // biome-ignore format: pairs
    expect(values(made)).toEqual(written);
    expect(values(await ask.read(`/events/${made.id}`))).toEqual(written);
    expect(await ask.metaValues(made.id, '_ecp_custom_7')).toEqual(['Italian|German']);
    expect(await ask.metaValues(made.id, '__ecp_custom_7')).toEqual(['Italian', 'German']);
  });

  it('are set, left unchanged and cleared one by one, in forms as in JSON', async () => {
    await define(ask);
    const { id } = await ask.create('/events', { ...EVENT, custom_fields: { accessibility: 'yes', seats: 5 } });
    const form = 'custom_fields%5Bstage%5D=Main+stage&custom_fields%5Bseats%5D=&custom_fields%5Blanguages%5D%5B%5D=English';
    const sent = await ask.send('PUT', `${ROOT}/events/${id}`, {
      as: 'admin',
      body: form,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(values(sent.body)).toEqual({ accessibility: 'yes', stage: 'Main stage', languages: 'English' });
    expect(values(await ask.update(`/events/${id}`, { title: 'Again' }))).toEqual(values(sent.body));
    // Forms send an empty value with a group of checkboxes, so that a group without a tick is sent, too (decision D49).
    const boxes = await ask.update(`/events/${id}`, { custom_fields: { languages: ['', 'German', null], accessibility: [''] } });
    expect(values(boxes)).toEqual({ stage: 'Main stage', languages: 'German' });
    expect(
      (await ask.update(`/events/${id}`, { custom_fields: { accessibility: false, stage: null, languages: [] } })).custom_fields,
    ).toEqual([]);
    await ask.update(`/events/${id}`, { custom_fields: { note: 'x' } });
    expect((await ask.update(`/events/${id}`, { custom_fields: '' })).custom_fields).toEqual([]);
    expect(await ask.metaValues(id, '__ecp_custom_7')).toEqual([]);
  });

  it('refuse a value that is not allowed, with a sentence that names the field', async () => {
    await define(ask);
    const wrong: readonly (readonly [string, unknown])[] = [
      ['stage', 'Cellar'], ['stage', ['Garden']], ['seats', 'many'], ['seats', {}], ['stream', 'javascript:alert(1)'], ['note', ['a']],
      ['note', 'x'.repeat(65_536)], ['languages', 'Latin'], ['languages', { a: 'German' }], ['accessibility', 'perhaps'],
    ]; // biome-ignore format: pairs
    for (const [name, value] of wrong)
      expectError(await ask.post('/events', { ...EVENT, custom_fields: { [name]: value } }), 400, 'rest_invalid_param', ['custom_fields']);
    const answer = await ask.post('/events', { ...EVENT, custom_fields: { stage: 'Cellar' } });
    expect(answer.body.data.params.custom_fields).toBe('stage must be one of: Main stage, Garden. Received: {"stage":"Cellar"}.');
  });

  it('are refused under any name that is not defined', async () => {
    await define(ask);
    for (const name of ['unknown', '_thumbnail_id', '_ecp_custom_99']) {
      const body = `{"title":"x","start_date":"2030-05-01 20:00","end_date":"2030-05-01 21:00","custom_fields":{${JSON.stringify(name)}:"x"}}`;
      const answer = await ask.send('POST', `${ROOT}/events`, { as: 'admin', body, headers: { 'content-type': 'application/json' } });
      expect([name, answer.status, Object.keys(answer.body.data?.params ?? {})]).toEqual([name, 400, ['custom_fields']]);
    }
    // Names that no object may have are removed from every body before it is read.
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      const body = `{"title":"x","start_date":"2030-05-01 20:00","end_date":"2030-05-01 21:00","custom_fields":{"${name}":"x"}}`;
      const answer = await ask.send('POST', `${ROOT}/events`, { as: 'admin', body, headers: { 'content-type': 'application/json' } });
      expect([answer.status, answer.body.custom_fields]).toEqual([201, []]);
    }
    for (const name of ['unknown', '_thumbnail_id'])
      expectError(await ask.get(`/events?custom_fields%5B${name}%5D=x`), 400, 'rest_invalid_param', ['custom_fields']);
    for (const sent of ['x', ['x'], 5, true])
      expectError(await ask.post('/events', { ...EVENT, custom_fields: sent }), 400, 'rest_invalid_param', ['custom_fields']);
  });

  it('filter lists, and are kept in the URLs of their pages', async () => {
    await define(ask);
    const [one, other] = [
      await ask.create('/events', { ...EVENT, custom_fields: { accessibility: 'yes', languages: ['German', 'English'] } }),
      await ask.create('/events', { ...EVENT, title: 'Talk', custom_fields: { accessibility: 'yes', languages: ['English'], seats: 7 } }),
    ];
    await ask.create('/events', { ...EVENT, title: 'Walk' });
    const found = async (query: string) => idsOf(await ask.read(`/events?${WINDOW}&${query}`)).sort((a, b) => a - b);
    expect(await found('custom_fields[accessibility]=yes')).toEqual([one.id, other.id]);
    expect(await found('custom_fields[languages]=German')).toEqual([one.id]);
    expect(await found('custom_fields[languages]=German|English')).toEqual([one.id]);
    expect(await found('custom_fields[accessibility]=yes&custom_fields[seats]=7.0')).toEqual([other.id]);
    expect(await found('custom_fields[_ecp_custom_4]=7')).toEqual([other.id]);
    expect(await found('custom_fields[seats]=')).toEqual(await found('per_page=10'));
    const page = await ask.read(`/events?${WINDOW}&custom_fields[accessibility]=yes&per_page=1`);
    expect(page.total).toBe(2);
    expect(page.next_rest_url).toContain('custom_fields%5Baccessibility%5D=yes');
    const next = await ask.send('GET', page.next_rest_url.slice(page.next_rest_url.indexOf('/wp-json')));
    expect(idsOf(next.body)).toEqual([page.events[0].id === one.id ? other.id : one.id]);
  });

  it('add no queries to reads and lists', async () => {
    const { id } = await ask.create('/events', EVENT);
    const cost = async () => {
      const { db } = ask.running().site;
      const paths = [`/events/${id}`, `/events?${WINDOW}`, `/events?${WINDOW}&search=concert`];
      const queries: number[] = [];
      for (const path of paths) {
        let least = Number.POSITIVE_INFINITY;
        // The first request after a pause does further work, which does not count towards its cost.
        for (const _ of [1, 2, 3]) {
          await ask.writeRows(async () => undefined);
          const before = db.queries();
          await ask.read(path);
          least = Math.min(least, db.queries() - before);
        }
        queries.push(least);
      }
      return queries;
    };
    await cost();
    const without = await cost();
    await define(ask);
    await ask.update(`/events/${id}`, { custom_fields: { note: 'x', seats: 1 } });
    await cost();
    // Cached values may lower the cost.
    const now = await cost();
    expect(now.filter((queries, place) => queries > (without[place] ?? 0))).toEqual([]);
  });

  it('reveal nothing of protected events', async () => {
    await define(ask);
    const { id } = await ask.create('/events', { ...EVENT, custom_fields: { note: 'secret' } });
    await ask.writeRows((db) => db.from('posts').where('ID', id).update({ post_password: 'door' }));
    const of = async (query: string) => (await ask.read(`/events?${WINDOW}&${query}`)).total;
    expect(await of('custom_fields[note]=secret')).toBe(0);
    expect(await of('custom_fields[note]=secret&password=door')).toBe(1);
    const [record] = (await ask.read(`/events?${WINDOW}`)).events;
    expect(record.custom_fields).toEqual([]);
  });

  it('are described only if the site defines them', async () => {
    const described = async () => {
      const options = (await ask.send('OPTIONS', `${ROOT}/events`)).body;
      const { paths } = await ask.read('/doc');
      const { get, post } = paths['/events'];
      return {
        options: options.endpoints.map(({ args }: Json) => args.custom_fields?.properties),
        filter: get.parameters.find(({ name }: Json) => name === 'custom_fields'),
        field: post.requestBody.content['application/json'].schema.properties.custom_fields,
      };
    };
    await ask.options({});
    expect(await described()).toEqual({ options: [undefined, undefined], filter: undefined, field: undefined });
    expect((await ask.create('/events', { ...EVENT, custom_fields: { anything: 'x' } })).custom_fields).toEqual([]);
    await define(ask);
    const { options, filter, field } = await described();
    expect(options[0].stage).toEqual({ title: 'Stage', type: 'string', enum: ['Main stage', 'Garden'] });
    expect(options[1]).toEqual(options[0]);
    expect(filter).toMatchObject({ in: 'query', style: 'deepObject', schema: { type: 'object' } });
    expect(Object.keys(field.properties)).toEqual(FIELDS.map(({ name }) => name));
    expect([filter.description, field.description]).toEqual([expect.stringContaining('the site defines'), filter.description]);
  });

  it("of the paid extension have the extension's names, and no other meta is a field", async () => {
    const definition = (name: string, type: string, values = '') => ({ name, label: name, type, values });
    await ask.options({
      tribe_events_calendar_options: {
        'custom-fields': {
          2: definition('_ecp_custom_2', 'radio', 'Yes\r\nNo'),
          3: definition('_ecp_custom_3', 'textarea'),
          4: definition('_EventURL', 'text'),
          5: definition('constructor', 'text'),
        },
      },
    });
    const made = await ask.create('/events', { ...EVENT, custom_fields: { _ecp_custom_2: 'No', _ecp_custom_3: 'One\nTwo' } });
    expect(values(made)).toEqual({ _ecp_custom_2: 'No', _ecp_custom_3: 'One\nTwo' });
    expectError(await ask.post('/events', { ...EVENT, custom_fields: { _EventURL: 'x' } }), 400, 'rest_invalid_param', ['custom_fields']);
    await addCustomField(ask.running().site, { name: 'seats', type: 'number' });
    const options = await readOptions(ask.db(), ['tribe_events_calendar_options', 'fasti_custom_fields']);
    const stored = (name: string) => parseSerialized(options.get(name) ?? '') as Json;
    expect(stored('tribe_events_calendar_options')['custom-fields'][6]).toEqual({
      name: '_ecp_custom_6',
      label: 'seats',
      type: 'text',
      values: '',
    });
    expect(stored('tribe_events_calendar_options')['custom-fields'][2]).toEqual(definition('_ecp_custom_2', 'radio', 'Yes\r\nNo'));
    expect(stored('fasti_custom_fields')).toEqual({ _ecp_custom_6: { name: 'seats', type: 'number' } });
  });

  it('are added, listed, used and removed by the command', async () => {
    await ask.options({});
    const fasti = commandIn({ DATABASE_URL: urlOf(ask.db()), TABLE_PREFIX: ask.db().prefix, UPLOADS_DIR: temporaryUploads, PORT: '0' });
    const window = ['--start_date', '2030-01-01', '--end_date', '2031-01-01', '--format', 'ids'];
    expect(await fasti('event', 'list', '--custom_fields', 'stage=Garden')).toMatchObject({ code: 2 });
    expect((await fasti('field', 'remove', 'accessibility')).err).toBe(
      'Error: the site defines no custom fields. Add one with: fasti field add\n',
    );
    expect(await fasti('field', 'add', 'accessibility', '--type=checkbox')).toMatchObject({ code: 0, err: '' });
    expect(await fasti('field', 'add', 'stage', '--type=choice', '--choices=Main stage,Garden', '--label=Stage')).toMatchObject({
      code: 0,
    });
    const created = await fasti(
      'event', 'create', '--title=Concert', '--start_date=2030-05-01 20:00', '--end_date=2030-05-01 21:00', '--status=publish',
      '--custom_fields', 'accessibility=yes', '--custom_fields', 'stage=Garden', '--porcelain',
    ); // biome-ignore format: arguments
    expect(created).toMatchObject({ code: 0, err: '' });
    expect((await fasti('event', 'list', ...window, '--custom_fields', 'stage=Garden')).out).toBe(created.out);
    expect((await fasti('event', 'list', ...window, '--custom_fields', 'stage=Main stage')).out).toBe('');
    expect(await fasti('event', 'update', created.out.trim(), '--custom_fields', 'stage=Cellar')).toMatchObject({
      code: 1,
      err: expect.stringContaining('stage must be one of: Main stage, Garden.'),
    });
    const list = JSON.parse((await fasti('field', 'list', '--format=json')).out) as Json[];
    expect(list.map(({ name, type, meta }) => [name, type, meta])).toEqual([
      ['accessibility', 'checkbox', '_ecp_custom_2'],
      ['stage', 'choice', '_ecp_custom_3'],
    ]);
    for (const [args, code] of [
      [['add', 'stage'], 1],
      [['add', '__proto__'], 1],
      [['add', 'constructor'], 1],
      [['add', 'level', '--label=__proto__'], 1],
      [['add', 'level', '--type=choice', '--choices=__proto__'], 1],
      [['add', 'Capital'], 1],
      [['add', 'level', '--type=choice'], 1],
      [['add', 'level', '--type=colour'], 2],
      [['add', 'level', '--kind=venue'], 2],
      [['remove', 'unknown'], 1],
      [['remove', 'stage'], 0],
    ] as const)
      expect([args, (await fasti('field', ...args)).code]).toEqual([args, code]);
    expect(values(await ask.read(`/events/${created.out.trim()}`))).toEqual({ accessibility: 'yes' });
  });

  it('are limited in number', async () => {
    await define(
      ask,
      Array.from({ length: MAX_CUSTOM_FIELDS }, (_, place) => ({ name: `field-${place}`, type: 'text' })),
    );
    await expect(addCustomField(ask.running().site, { name: 'more', type: 'text' })).rejects.toMatchObject({ problem: 'field-number' });
  });

  it("are metas of wp/v2, read and written like WordPress's registered metas", async () => {
    const plain = (await ask.send('GET', `${CORE}/${(await ask.create('/events', EVENT)).id}`)).body.meta;
    expect(Object.keys(plain).filter((key) => key.includes('custom'))).toEqual([]);
    const fields = await define(ask);
    const made = await ask.send('POST', CORE, {
      as: 'admin',
      body: {
        title: 'Concert',
        status: 'publish',
        meta: { ...metasOf(fields), _EventStartDate: '2030-05-01 20:00:00', _EventEndDate: '2030-05-01 22:00:00' },
      },
    });
    const { id, meta } = made.body;
    expect([made.status, picked(meta, fields)]).toEqual([201, metasOf(fields)]);
    expect(values(await ask.read(`/events/${id}`))).toEqual(HELD);
    for (const { meta: key, name, type } of fields) {
      const cleared = await ask.send('POST', `${CORE}/${id}`, { as: 'admin', body: { meta: { [key]: null } } });
      expect([name, cleared.status, cleared.body.meta[key]]).toEqual([name, 200, '']);
      expect(await ask.metaValues(id, `_${key}`)).toEqual([]);
      const again = await ask.send('POST', `${CORE}/${id}`, { as: 'admin', body: { meta: metasOf(fields) } });
      expect([name, again.body.meta[key]]).toEqual([name, HELD[name]]);
      const wrong = await ask.send('POST', `${CORE}/${id}`, { as: 'admin', body: { meta: { [key]: [1] } } });
      expect([name, wrong.status]).toEqual([name, 400]);
      const none = await ask.send('POST', `${CORE}/${id}`, { as: 'admin', body: { meta: { [key]: '<i>?' } } });
      expect([name, none.status]).toEqual([name, type === 'text' ? 200 : 400]);
      if (type !== 'text') expect(none.body.message).toBe(`Invalid parameter(s): meta.${key}`);
    }
    const { endpoints } = (await ask.send('OPTIONS', CORE)).body;
    expect(Object.keys(endpoints[1].args.meta.properties)).toEqual(fields.map(({ meta: key }) => key));
    await ask.writeRows((db) => db.from('posts').where('ID', id).update({ post_password: 'door' }));
    const locked = await ask.send('GET', `${CORE}/${id}`);
    expect(picked(locked.body.meta, fields)).toEqual(Object.fromEntries(fields.map(({ meta: key }) => [key, ''])));
    expect((await ask.send('GET', `${CORE}/${id}?password=door`)).body.meta[fields[1]!.meta]).toBe('Garden');
  });

  it('are a member of tec/v1 that can be read and written', async () => {
    const headers = { 'x-tec-eea': 'I understand that this endpoint is experimental' };
    const tec = (method: string, path: string, body?: Json) =>
      ask.send(method, `/wp-json/tec/v1/events${path}`, { ...(body ? { as: 'admin' as const, body } : {}), headers });
    const { id: plain } = await ask.create('/events', EVENT);
    expect((await tec('GET', `/${plain}`)).body).not.toHaveProperty('custom_fields');
    await define(ask);
    const made = await tec('POST', '', { ...EVENT, custom_fields: HELD });
    expect([made.status, values(made.body)]).toEqual([201, HELD]);
    const { id } = made.body;
    for (const { name } of FIELDS) {
      const cleared = await tec('PUT', `/${id}`, { custom_fields: { [name]: null } });
      expect([name, Object.keys(cleared.body.custom_fields).includes(name)]).toEqual([name, false]);
      expect(values((await tec('PUT', `/${id}`, { custom_fields: HELD })).body)).toEqual(HELD);
    }
    expect((await tec('PUT', `/${id}`, { custom_fields: { stage: 'Cellar' } })).status).toBe(400);
    const { endpoints } = (await ask.send('OPTIONS', '/wp-json/tec/v1/events', { headers })).body;
    expect(Object.keys(endpoints[1].args.custom_fields.properties)).toEqual(FIELDS.map(({ name }) => name));
    await ask.writeRows((db) => db.from('posts').where('ID', id).update({ post_password: 'door' }));
    expect((await tec('GET', `/${id}`)).body.custom_fields).toEqual([]);
  });

  it.each(FILE_FORMATS)('are exported to and imported from files of the format %s', async (format) => {
    await define(ask);
    const { id } = await ask.create('/events', { ...EVENT, custom_fields: HELD });
    const fasti = commandIn({ DATABASE_URL: urlOf(ask.db()), TABLE_PREFIX: ask.db().prefix, UPLOADS_DIR: temporaryUploads, PORT: '0' });
    const path = join(temporaryUploads, `site.${{ wxr: 'xml', jsonl: 'jsonl', csv: 'csv', ical: 'ics' }[format]}`);
    expect(await fasti('export', path, '--force', '--include', String(id))).toMatchObject({ code: 0 });
    await ask.send('DELETE', `${CORE}/${id}?force=true`, { as: 'admin' });
    expect(await ask.metaValues(id, '_ecp_custom_3')).toEqual([]);
    expect(await fasti('import', path, '--user=admin')).toMatchObject({ code: 0 });
    await ask.writeRows(async () => undefined);
    const back = (await ask.read(`/events?${WINDOW}`)).events.find(({ title }: Json) => title === EVENT.title);
    expect(values(back)).toEqual(HELD);
    expect(await ask.metaValues(back.id, '__ecp_custom_7')).toEqual(['Italian', 'German']);
  });

  it('are reported as lost if an imported calendar has undefined fields or values that are not allowed', async () => {
    await define(ask);
    const lines = [
      'BEGIN:VCALENDAR', 'BEGIN:VEVENT', 'UID:1', 'DTSTART:20300501T200000Z', 'SUMMARY:Concert', 'X-FASTI-FIELD;X-NAME=stage:Cellar',
      'X-FASTI-FIELD;X-NAME=mood:good', 'X-FASTI-FIELD;X-NAME=note:dark\\, warm', 'X-FASTI-FIELD:x', 'END:VEVENT', 'END:VCALENDAR', '',
    ]; // biome-ignore format: lines
    const path = join(temporaryUploads, 'other.ics');
    writeFileSync(path, lines.join('\r\n').replace('\\\\', '\\'));
    const entries = await allOf((await openSource([path], await optionsOf(ask))).entries());
    expect(entries.flatMap((entry) => (entry.kind === 'loss' ? [[entry.loss.reason, entry.loss.detail]] : []))).toEqual([
      ['value-refused', 'mood: good'], ['value-refused', ': x'], ['value-refused', 'stage: Cellar'],
    ]); // biome-ignore format: pairs
    const [item] = entries.filter(isItem);
    expect((item as Json).metas.filter(([key]: [string]) => key.startsWith('_ecp'))).toEqual([['_ecp_custom_6', 'dark, warm']]);
  });

  it('are exported to and imported from columns of CSV files', async () => {
    await define(ask);
    const { site } = ask.running();
    await ask.create('/events', { ...EVENT, custom_fields: { stage: 'Garden', languages: ['German', 'English'], note: '=1+1' } });
    const caller = await callerOf(site);
    const items = itemsOf(exportEntries(site, caller, { kinds: ['event'], statuses: ['publish'] }), () => undefined);
    const text = await textOfAll(writeCsv('event', items, { customFields: caller.settings.calendar.customFields }));
    const [head = ''] = text.split('\r\n');
    expect(head.endsWith('Step-free access,Stage,Seats,Stream,Note,Languages')).toBe(true);
    const path = join(temporaryUploads, 'events.csv');
    writeFileSync(path, `${text}Reading,2030-06-01,Cellar\r\n`.replace(/Reading.*/, ''));
    const back = (await allOf(openCsv([path], { caller }).entries())).filter(isItem);
    const concert = back.find((item) => 'links' in item && item.columns.post_title === 'Concert') as Json;
    expect(concert.metas.filter(([key]: [string]) => key.includes('_ecp_custom_'))).toEqual([
      ['_ecp_custom_3', 'Garden'],
      ['_ecp_custom_6', '=1+1'],
      ['_ecp_custom_7', 'German|English'],
      ['__ecp_custom_7', 'German'],
      ['__ecp_custom_7', 'English'],
    ]);
    writeFileSync(path, 'Event Name,Event Start Date,stage\nReading,2030-06-01,Cellar\n');
    const [loss, item] = await allOf(openCsv([path], { caller }).entries());
    expect(loss).toMatchObject({ kind: 'loss', loss: { reason: 'value-refused', detail: 'stage: Cellar' } });
    expect((item as Json).metas.some(([key]: [string]) => key.startsWith('_ecp'))).toBe(false);
  });
});
