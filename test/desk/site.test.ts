import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { passwordsOf } from '../../src/accounts/own-passwords.ts';
import { fetchImportFile, removeImportFile } from '../../src/desk/import-files.ts';
import { MAX_BYTES } from '../../src/kinds/grammars/grammar.ts';
import { callerFor } from '../../src/records/caller.ts';
import { openBackup } from '../../src/upkeep/backup-read.ts';
import { ANONYMOUS } from '../../src/wordpress/viewer.ts';
import { elements, formIn, openVisitor, textOf, type Visitor } from '../support/desk-visitor.ts';
import { insertAll } from '../support/insert-all.ts';
import type { Answer } from '../support/running-site.ts';
import { describeRequests, type Json, SUITE_TIME } from '../support/site-client.ts';

const CSV = 'Event Name,Event Start Date,Event End Date,Event Venue Name\nSpring fair,2027-04-10 10:00,2027-04-10 18:00,Market square\n';
/** An event that the sample site does not have. */
const NEW = CSV.replace('Spring fair', 'Barn dance');

const calendarOf = () =>
  [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'BEGIN:VEVENT',
    'UID:barn',
    'SUMMARY:Barn dance',
    'DTSTART:20270410T100000',
    'DTEND:20270410T180000',
    'END:VEVENT',
    'END:VCALENDAR',
    '',
  ].join('\r\n');
const pageOf = () =>
  `<script type="application/ld+json">${JSON.stringify({ '@type': 'Event', name: 'Barn dance', startDate: '2027-04-10T10:00', endDate: '2027-04-10T18:00' })}</script>`;

describeRequests('the other pages of the desk', (ask) => {
  /** Sends the import form of a page with a file, as a browser does. */
  const upload = (admin: Visitor, page: Answer, path: string, file: string | undefined, more: Record<string, string> = {}) => {
    const fields = [...formIn(page.text, path).filter(([name]) => !(name in more)), ...Object.entries(more)];
    const parts = fields.map(([name, value]) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`);
    const sent =
      file === undefined
        ? ''
        : `--x\r\nContent-Disposition: form-data; name="file"; filename="fair.csv"\r\nContent-Type: text/csv\r\n\r\n${file}\r\n`;
    const headers = { Cookie: admin.cookie(), 'Content-Type': 'multipart/form-data; boundary=x', 'Sec-Fetch-Site': 'same-origin' };
    return ask.send('POST', path, { headers, body: `${parts.join('')}${sent}--x--\r\n` });
  };

  it('shows the effect of an import, and carries it out only when confirmed', async () => {
    const admin = await openVisitor(ask, 'admin');
    const before = await ask.allRows();
    const shown = await upload(admin, await admin.get('/admin/import'), '/admin/import', CSV);
    expect(shown.status).toBe(200);
    expect(shown.text).toContain('Spring fair');
    expect((await ask.allRows()).posts).toEqual(before.posts);
    const done = await upload(admin, shown, '/admin/import', undefined, { run: '1' });
    expect(done.text).toContain('Import finished.');
    expect((await ask.read('/events?search=spring&start_date=2027-04-01')).events).toMatchObject([
      { title: 'Spring fair', start_date: '2027-04-10 10:00:00' },
    ]);
    // The file has been removed.
    const late = await upload(admin, shown, '/admin/import', undefined, { run: '1', 'columns[0]': 'Event Name', 'map[0]': 'name' });
    expect([late.status, late.text.includes('it may have been imported already')]).toEqual([422, true]);
    expect(late.text).not.toMatch(/ENOENT|fasti-imports|fair\.csv/);
    // The mapping applies to the file that is chosen next.
    expect(new Map(formIn(late.text, '/admin/import')).get('map[0]')).toBe('name');
    expect(late.text).toContain('What you chose for the columns is kept');
    expect((await admin.get('/admin/import')).text).not.toContain('What you chose for the columns');
    expect((await upload(admin, await admin.get('/admin/import'), '/admin/import', '\u0000\u0001nonsense')).status).toBe(422);
  });

  it('tells people to turn to the administrator if others can open the folder of uploaded files', async () => {
    const admin = await openVisitor(ask, 'admin');
    const page = await admin.get('/admin/import');
    const folder = join(tmpdir(), `fasti-imports-${process.geteuid?.() ?? 0}`);
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o755);
    try {
      const { status, text } = await upload(admin, page, '/admin/import', CSV);
      expect([status, text.includes('The server cannot keep files'), text.includes('imported already')]).toEqual([422, true, false]);
      expect(text).not.toContain(folder);
    } finally {
      chmodSync(folder, 0o700);
    }
  });

  it('says which field sets the order of day and month if it is ambiguous', async () => {
    const admin = await openVisitor(ask, 'admin');
    const page = await admin.get('/admin/import');
    const csv = 'Event Name,Event Start Date,Event End Date\nDance,04/10/2027 10:00,04/10/2027 18:00\n';
    const answer = await upload(admin, page, '/admin/import', csv);
    expect(answer.text).toContain('has to be given: choose the order');
    expect(answer.text).not.toContain('--date-order');
    // The file need not be uploaded again.
    expect(answer.text).toContain('fair.csv has already been uploaded');
    const shown = await upload(admin, answer, '/admin/import', undefined, { dates: 'dmy' });
    expect([shown.status, shown.text.includes('Monday, October 4, 2027')]).toEqual([200, true]);
  });

  it('names the rows that would be lost, says how many more there are, and what to do about missing venues', async () => {
    const admin = await openVisitor(ask, 'admin');
    const rows = Array.from({ length: 23 }, (_, row) => `,2027-04-${String(row + 1).padStart(2, '0')} 10:00,2027-04-30 12:00,\n`);
    const csv = `Event Name,Event Start Date,Event End Date,Event Venue Name\nBarn dance,2027-04-10 10:00,2027-04-10 18:00,Nowhere hall\n${rows.join('')}`;
    const { text } = await upload(admin, await admin.get('/admin/import'), '/admin/import', csv);
    const [losses] = elements(text, ({ attribs }) => attribs.class === 'losses');
    expect(textOf(losses!)).toMatch(/A row without a name was left out \(23\).*fair\.csv:3 .*fair\.csv:22 \| and 3 more/);
    expect(text).toContain('Import the files of venues and organizers first');
  });

  it('maps columns to fields as chosen, or to none, and keeps the choices after another error', async () => {
    const admin = await openVisitor(ask, 'admin');
    const csv = 'Venue Name,Where,Venue Phone\nMarket hall,Corso Italia 1,050 1\n';
    const page = await upload(admin, await admin.get('/admin/import'), '/admin/import', csv);
    for (const [label, choice] of Object.entries({ Address: 'address', 'Second line of the address': 'address2', 'not imported': '-' }))
      expect(page.text).toContain(`<option value="${choice}">${label}</option>`);
    expect(page.text).not.toContain('>Begins<');
    const mapped = await upload(admin, page, '/admin/import', undefined, { 'map[1]': 'address', 'map[2]': '-' });
    expect(mapped.text).toMatch(/<option value="-" selected>not imported<\/option>/);
    const done = await upload(admin, mapped, '/admin/import', undefined, { run: '1' });
    expect(done.text).toContain('Import finished.');
    const [hall] = (await ask.read('/venues?search=Market%20hall')).venues;
    expect(hall).toMatchObject({ address: 'Corso Italia 1' });
    expect(hall).not.toHaveProperty('phone');

    const dated = 'Event Name,Wann,Note\nDance,04/10/2027,x\n';
    const choices = { 'columns[0]': 'Wann', 'map[0]': 'start_date', 'columns[1]': 'Note', 'map[1]': '-' };
    const refused = await upload(admin, await admin.get('/admin/import'), '/admin/import', dated, choices);
    expect(refused.status).toBe(422);
    const again = await upload(admin, refused, '/admin/import', undefined, { dates: 'mdy' });
    expect([again.status, again.text.includes('April 10, 2027')]).toEqual([200, true]);
    // An impossible choice is not sent again.
    const wrong = await upload(admin, again, '/admin/import', undefined, { 'map[1]': 'nothing' });
    expect([wrong.status, formIn(wrong.text, '/admin/import').some(([name]) => name.startsWith('map'))]).toEqual([422, false]);
    expect((await upload(admin, wrong, '/admin/import', undefined)).status).toBe(422);
  });

  it('undoes exactly the records created by the last import, so that the file can be imported again', async () => {
    const admin = await openVisitor(ask, 'admin');
    await ask.create('/venues', { venue: 'Market square' });
    const send = async () => {
      const shown = await upload(admin, await admin.get('/admin/import'), '/admin/import', NEW);
      return upload(admin, shown, '/admin/import', undefined, { run: '1' });
    };
    expect((await send()).status).toBe(200);
    const page = await admin.get('/admin/import');
    expect(page.text).toContain('<p>fair.csv, ');
    // An import in progress cannot be undone.
    await ask.writeRows((db) => db.from('fasti_imports').where('source', 'csv fair.csv').update({ open: 1 }));
    expect((await admin.get('/admin/import')).text).not.toContain('/admin/import/undo');
    expect((await admin.confirm(page, '/admin/import/undo')).status).toBe(422);
    await ask.writeRows((db) => db.from('fasti_imports').where('source', 'csv fair.csv').update({ open: 0 }));
    const [fair] = (await ask.read('/events?search=barn&start_date=2027-04-01')).events;
    const undone = await admin.confirm(page, '/admin/import/undo');
    expect(undone.headers.location).toBe('/admin/import?done=trashed&count=1');
    expect(await ask.db().from('posts').where('ID', fair.id).first()).toMatchObject({ post_status: 'trash' });
    expect((await ask.read('/venues?search=Market')).venues).toHaveLength(1);
    // A second attempt changes nothing, and neither does one by a user who may not import.
    expect((await admin.confirm(page, '/admin/import/undo')).status).toBe(422);
    expect((await (await openVisitor(ask, 'auth')).post('/admin/import/undo', { id: '1', run: '1' })).status).toBe(403);
    await send();
    const again = (await ask.read('/events?search=barn&start_date=2027-04-01')).events;
    expect(again).toMatchObject([{ title: 'Barn dance', status: 'publish' }]);
    expect(again[0].id).not.toBe(fair.id);
  });

  it('undoes an import of many records 500 at a time, and says so', async () => {
    const admin = await openVisitor(ask, 'admin');
    const shown = await upload(admin, await admin.get('/admin/import'), '/admin/import', NEW);
    await upload(admin, shown, '/admin/import', undefined, { run: '1' });
    expect((await admin.get('/admin/import')).text).toContain('Move everything that this import created to the trash?');
    await ask.writeRows(async (db) => {
      const made = (await db.from('fasti_import_ids').where('kind', 'event').where('made', '>', 0).first())!;
      const event = (await db.from('posts').where('ID', made.target).first())!;
      const ids = Array.from({ length: 500 }, (_, place) => 900_000 + place);
      const [posts, ledger] = [ids.map((ID) => ({ ...event, ID })), ids.map((target) => ({ ...made, target, item: String(target) }))];
      await insertAll(db, 'posts', posts, 100);
      await insertAll(db, 'fasti_import_ids', ledger, 100);
    });
    expect((await admin.get('/admin/import')).text).toContain('Move the first 500 of these 501 records to the trash?');
  });

  it('does not undo changes that an import made to existing records', async () => {
    const admin = await openVisitor(ask, 'admin');
    const send = async (csv: string) =>
      upload(admin, await upload(admin, await admin.get('/admin/import'), '/admin/import', csv), '/admin/import', undefined, { run: '1' });
    await send(NEW);
    await send(NEW.replace('18:00', '19:00'));
    expect((await ask.read('/events?search=barn&start_date=2027-04-01')).events).toMatchObject([{ end_date: '2027-04-10 19:00:00' }]);
    expect((await admin.get('/admin/import')).text).not.toContain('/admin/import/undo');
  });

  it('shows the progress of an import, and its result', async () => {
    const admin = await openVisitor(ask, 'admin');
    const path = '/admin/import/progress?source=csv%20long.csv&total=900';
    expect((await admin.get(path)).headers.location).toBe('/admin/import');
    const run = { source: 'csv long.csv', run: 1, done: 400, report: '' };
    await ask.writeRows((db) =>
      db.from('fasti_imports').insert({ ...run, open: 1, touched_at: SUITE_TIME.slice(0, 19).replace('T', ' ') }),
    );
    expect((await admin.get(path)).text).toContain('400 of 900 entries are done.');
    ask.setClock('2026-11-20T13:00:00Z');
    const stopped = (await admin.get(path)).text;
    expect(stopped).toContain('The import stopped before its end, after 400 entries.');
    expect(stopped).not.toContain('The import is running');
    expect(elements(stopped, ({ name, attribs }) => name === 'a' && attribs.class === 'button').map(({ attribs }) => attribs.href)).toEqual(
      ['/admin/import'],
    );
    await ask.writeRows((db) => db.from('fasti_imports').where('source', run.source).update({ done: 1 }));
    expect((await admin.get(path)).text).toContain('before its end, after one entry.');
    await ask.writeRows((db) => db.from('fasti_imports').where('source', run.source).update({ open: 0 }));
    expect((await admin.get(path)).text).toContain('Imported from long.csv');
    await ask.writeRows((db) => db.from('fasti_imports').where('source', run.source).delete());
  });

  it('imports a file from a web address, but not from the internal network', async () => {
    const admin = await openVisitor(ask, 'admin');
    const server = createServer((_, res) => res.setHeader('Content-Type', 'text/csv; charset=utf-8').end(CSV));
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    try {
      const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/table`;
      const refused = await upload(admin, await admin.get('/admin/import'), '/admin/import', undefined, { address });
      expect([refused.status, /could not be fetched: it is in a private network\./.test(refused.text)]).toEqual([422, true]);
      expect(new Map(formIn(refused.text, '/admin/import')).get('address')).toBe(address);
      const { site } = ask.running();
      const caller = callerFor(site, await site.settings(), ANONYMOUS, { language: 'en' });
      const file = await fetchImportFile({ site, caller }, address, { allowAddress: () => true });
      expect([file.name, readFileSync(file.path, 'utf8')]).toEqual(['table.csv', CSV]);
      await removeImportFile({ caller }, file);
    } finally {
      server.close();
    }
  });

  it.each([
    ['text/calendar', '/calendar', 'calendar.ics', calendarOf],
    ['text/html', '/agenda/', 'agenda.html', pageOf],
    ['text/csv', '/table', 'table.csv', () => NEW],
  ] as const)('undoes an import from a web address (%s), so that it can be imported again', async (type, path, name, contentOf) => {
    const admin = await openVisitor(ask, 'admin');
    const server = createServer((_, res) => res.setHeader('Content-Type', type).end(contentOf()));
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    try {
      const { site } = ask.running();
      const viewer = { ...ANONYMOUS, id: 1 };
      const caller = callerFor(site, await site.settings(), viewer, { language: 'en' });
      const send = async () => {
        const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
        const { token, name: kept } = await fetchImportFile({ site, caller }, address, { allowAddress: () => true });
        return upload(admin, await admin.get('/admin/import'), '/admin/import', undefined, { kept: token, name: kept, run: '1' });
      };
      const found = async () => (await ask.read('/events?search=barn&start_date=2027-04-01')).events as Json[];
      expect((await send()).text).toContain('Import finished.');
      const [first] = await found();
      const page = await admin.get('/admin/import');
      expect(page.text).toContain(`<p>${name}, `);
      expect((await admin.confirm(page, '/admin/import/undo')).headers.location).toMatch(/^\/admin\/import\?done=trashed&count=[12]$/);
      expect(await found()).toEqual([]);
      expect((await send()).text).toContain('Import finished.');
      const again = await found();
      expect(again).toMatchObject([{ title: 'Barn dance', status: 'publish' }]);
      expect(again[0].id).not.toBe(first.id);
    } finally {
      server.close();
    }
  });

  it('makes a backup of the site, and says when the last one was made and by whom', async () => {
    const admin = await openVisitor(ask, 'admin');
    const { config, db } = ask.running().site;
    const folder = config.backupsDir;
    expect((await admin.get('/admin/health')).text).toContain('There is no backup here yet.');
    const made = await admin.submit(await admin.get('/admin/health'), '/admin/health/backup');
    expect([made.status, made.headers.location]).toEqual([303, expect.stringMatching(/^\/admin\/health(\?done=backup)?$/)]);
    // On a busy machine the backup continues after the answer.
    while (!readdirSync(folder).some((name) => name.endsWith('.backup'))) await sleep(50);
    const [file = '', ...others] = readdirSync(folder);
    expect([others, file]).toEqual([[], expect.stringMatching(/^\d{4}-\d\d-\d\d-\d{6}-admin\.backup$/)]);
    expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
    const backup = await openBackup(join(folder, file), db.prefix);
    let posts = 0;
    for await (const { name, rows } of backup.tables()) for await (const _ of rows) posts += name === 'posts' ? 1 : 0;
    expect(posts).toBe((await ask.allRows()).posts?.length);
    const after = await admin.get('/admin/health');
    expect(after.text).toMatch(/B\), by admin/);
    expect(after.text).toContain(file);
    expect(after.text).not.toContain('no backup here yet');

    const long = new Date(Date.parse(SUITE_TIME) - 20 * 86_400_000);
    utimesSync(join(folder, file), long, long);
    expect((await admin.get('/admin/health')).text).toContain('The last backup is 20 days old.');
    writeFileSync(join(folder, 'nightly.backup'), 'x');
    expect((await admin.get('/admin/health')).text).toMatch(/kB\), by a command/);

    // Only one backup is made at a time, by any process.
    writeFileSync(join(folder, 'other.backup.0123abcd.part'), '');
    const going = await admin.get('/admin/health');
    expect(going.text).toContain('A backup is being made.');
    const token = new Map(formIn(going.text, '/admin/sign-out')).get('_wpnonce')!;
    expect((await admin.post('/admin/health/backup', { _wpnonce: token })).headers.location).toBe('/admin/health');
    expect(readdirSync(folder).length).toBe(3);
    rmSync(folder, { recursive: true });
    writeFileSync(folder, 'no folder');
    const failed = await admin.submit(await admin.get('/admin/health'), '/admin/health/backup');
    expect([failed.status, failed.text.includes('The backup could not be made.')]).toEqual([500, true]);
    rmSync(folder);
  });

  it('accepts no file of another user, and no path', async () => {
    const admin = await openVisitor(ask, 'admin');
    const page = await admin.get('/admin/import');
    for (const [kept, name] of [
      ['../../etc', 'passwd'],
      ['0'.repeat(32), '../../../etc/passwd'],
      ['0'.repeat(32), '..'],
    ])
      expect((await upload(admin, page, '/admin/import', undefined, { kept: kept!, name: name! })).status).toBe(422);
  });

  it('sets options of the site, and names a value that is invalid', async () => {
    const admin = await openVisitor(ask, 'admin');
    const page = await admin.get('/admin/settings');
    const wrong = await admin.submit(page, '/admin/settings', { timezone: 'Europe/Nowhere' });
    expect(wrong.status).toBe(422);
    expect(new Map(formIn(wrong.text, '/admin/settings')).get('timezone')).toBe('Europe/Nowhere');
    expect((await admin.submit(page, '/admin/settings', { title: 'Town & country' })).headers.location).toBe(
      '/admin/settings?done=settings',
    );
    expect((await admin.get('/admin/settings')).text).toContain('Town &amp; country');
    expect((await admin.get('/admin/health')).status).toBe(200);
  });

  it('refuses the same slug for the list and for single events, whose addresses would be the same', async () => {
    const admin = await openVisitor(ask, 'admin');
    const page = await admin.get('/admin/settings');
    const wrong = await admin.submit(page, '/admin/settings', { event_slug: 'events' });
    expect(wrong.status).toBe(422);
    expect(wrong.text).toContain('neither that of the list of events nor the code of a language');
    const both = await admin.submit(page, '/admin/settings', { events_slug: 'fairs', event_slug: 'fairs' });
    for (const name of ['events_slug', 'event_slug']) expect(both.text).toContain(`id="${name}-error"`);
    expect((await admin.submit(page, '/admin/settings', { events_slug: 'event', event_slug: 'events' })).status).toBe(303);
  });

  it('writes days and times in the language of the reader and in the zone of the site', async () => {
    const admin = await openVisitor(ask, 'admin');
    const inItalian = async (path: string) => (await admin.get(path, { 'Accept-Language': 'it' })).text.replaceAll('&#39;', "'");
    const venue = await ask.create('/venues', { venue: 'Market square' });
    await ask.writeRows((db) =>
      db.from('posts').where('ID', venue.id).update({ post_modified: '2026-12-05 00:30:00', post_modified_gmt: '2026-12-04 23:30:00' }),
    );
    expect(await inItalian('/admin/venues?search=market')).toMatch(/>sabato 5 dicembre 2026 alle ore 12:30 AM</);
    const shown = await upload(admin, await admin.get('/admin/import'), '/admin/import', NEW);
    await upload(admin, shown, '/admin/import', undefined, { run: '1' });
    await ask.writeRows((db) => db.from('fasti_imports').where('source', 'csv fair.csv').update({ touched_at: '2026-12-04 23:30:00' }));
    expect(await inItalian('/admin/import')).toContain('<p>fair.csv, sabato 5 dicembre 2026 alle ore 12:30 AM. ');
    await admin.submit(await admin.get('/admin/me'), '/admin/me/passwords', { name: 'Newsletter' });
    expect(await inItalian('/admin/me')).toMatch(/<td data-label="Creata">[a-zì]+ \d+ [a-z]+ 20\d\d<\/td>/);
  });

  it('invites a contributor, and publishes their suggestion', async () => {
    const admin = await openVisitor(ask, 'admin');
    const people = await admin.get('/admin/people');
    expect((await admin.submit(people, '/admin/people', { login: 'admin', email: 'x@example.org' })).status).toBe(422);
    const invited = await admin.submit(people, '/admin/people', { login: 'bruno', email: 'bruno@example.org', role: 'contributor' });
    const address = /\/admin\/welcome\?[^<]*/.exec(invited.text)?.[0].replaceAll('&amp;', '&') ?? '';
    const bruno = await openVisitor(ask);
    const welcome = await bruno.get(address);
    await bruno.submit(welcome, '/admin/welcome', { password: 'a long enough password', again: 'a long enough password' });
    const form = await bruno.get('/admin/events/new');
    expect(new Map(formIn(form.text, '/admin/events/new')).get('status')).toBe('pending');
    for (const hidden of ['name="featured"', 'name="sticky"', 'name="author"', 'value="publish"']) expect(form.text).not.toContain(hidden);
    const sent = {
      ...{ title: 'Suggested walk', 'start_date[date]': '2027-06-01', 'start_date[time]': '10:00' },
      ...{ 'end_date[date]': '2027-06-01', 'end_date[time]': '12:00' },
    };
    const made = await bruno.submit(form, '/admin/events/new', { ...sent, status: 'publish' });
    const id = Number(/events\/(\d+)/.exec(made.headers.location ?? '')?.[1]);
    expect(await ask.read(`/events/${id}`, 'admin')).toMatchObject({ status: 'pending' });
    const list = await admin.get('/admin/events?status=pending');
    const published = await admin.submit(list, '/admin/events/bulk', { 'ids[]': String(id), action: 'publish' });
    expect(published.headers.location).toContain('done=published');
    expect(await ask.read(`/events/${id}`)).toMatchObject({ title: 'Suggested walk' });
  });

  it('invites the user of a name that is the id of another user, and not that other user', async () => {
    const admin = await openVisitor(ask, 'admin');
    const people = await admin.get('/admin/people');
    const invited = await admin.submit(people, '/admin/people', { login: '2', email: 'two@example.org', role: 'contributor' });
    expect(/\/admin\/welcome\?login=(\w+)/.exec(invited.text)?.[1]).toBe('2');
    expect((await ask.db().from('users').where('ID', 2).first())?.user_activation_key).toBe('');
  });

  it('creates application passwords, shows when they were used, and revokes them', async () => {
    const ed = await openVisitor(ask, 'ed');
    const made = await ed.submit(await ed.get('/admin/me'), '/admin/me/passwords', { name: 'Newsletter' });
    const taken = await ed.submit(made, '/admin/me/passwords', { name: 'Newsletter' });
    expect([taken.status, new Map(formIn(taken.text, '/admin/me/passwords')).get('name')]).toEqual([422, 'Newsletter']);
    const password = /<code class="shown-once">([^<]*)</.exec(made.text)?.[1] ?? '';
    const Authorization = `Basic ${Buffer.from(`ed:${password}`).toString('base64')}`;
    const me = () => ask.send('GET', '/wp-json/wp/v2/users/me', { headers: { Authorization } });
    expect((await me()).status).toBe(200);
    const page = await ed.get('/admin/me');
    const [path = ''] = [...page.text.matchAll(/\/admin\/me\/passwords\/[0-9a-f-]{36}\/revoke/g)].map(([found]) => found).slice(-1);
    expect((await ed.submit(page, path)).headers.location).toBe('/admin/me?done=revoked');
    expect((await me()).status).toBe(401);
    await ed.submit(page, '/admin/me/language', { language: 'it' });
    expect((await ed.get('/admin/me')).text).toContain('Il tuo profilo');
  });

  it('keeps the variety of a language that a user has, and shows dates in it', async () => {
    const ed = await openVisitor(ask, 'ed');
    const localeAfter = async (locale: string, language: string, WPLANG = '') => {
      await ask.options({ WPLANG });
      await ask.writeRows(async (db) => {
        await db.from('usermeta').where({ user_id: 2, meta_key: 'locale' }).delete();
        if (locale !== '') await db.from('usermeta').insert({ user_id: 2, meta_key: 'locale', meta_value: locale });
      });
      await ed.submit(await ed.get('/admin/me'), '/admin/me/language', { language });
      return (await ask.db().from('usermeta').where({ user_id: 2, meta_key: 'locale' })).map(({ meta_value: value }) => String(value));
    };
    expect(await localeAfter('en_GB', 'en')).toEqual(['en_GB']);
    expect(await localeAfter('en_GB', 'it')).toEqual(['it_IT']);
    expect(await localeAfter('', 'en')).toEqual(['en_US']);
    expect(await localeAfter('', 'en', 'en_GB')).toEqual(['en_GB']);
    expect(await localeAfter('en_GB', 'en', 'it_IT')).toEqual(['en_GB']);
    await ask.create('/events', {
      title: 'Mill day',
      start_date: '2027-03-04 10:00:00',
      end_date: '2027-03-04 12:00:00',
      status: 'publish',
    });
    expect((await ed.get('/admin/events?search=mill+day')).text).toMatch(/4 Mar(ch)? 2027/);
    expect((await ed.get('/admin/events/new')).text).toContain('data-locale="en-GB"');
  });

  it('says of a list that nothing is in it, or that nothing was found', async () => {
    const admin = await openVisitor(ask, 'admin');
    const said = async (path: string) =>
      /Nothing here yet|Nothing found|\d+ records? found|One record found/.exec((await admin.get(path)).text)?.[0];
    expect(await said('/admin/venues?search=qwertz')).toBe('Nothing found');
    expect(await said('/admin/events?month=1999-01')).toBe('Nothing found');
    expect(await said('/admin/venues?status=future&orderby=title&order=asc')).toBe('Nothing here yet');
    expect(await said('/admin/venues')).toMatch(/records? found/);
    await admin.submit(await admin.get('/admin/me'), '/admin/me/language', { language: 'it' });
    expect((await admin.get('/admin/venues?search=qwertz')).text).toContain('Nessun risultato.');
  });

  it('limits application passwords like the API: twenty in a quarter of an hour, a hundred in total', async () => {
    const ed = await openVisitor(ask, 'ed');
    const before = await passwordsOf(ask.running().site, 2);
    const make = async (name: string) => ed.submit(await ed.get('/admin/me'), '/admin/me/passwords', { name });
    for (let number = before.length; number < 100; number += 1) {
      if ((number - before.length) % 20 === 0) ask.setClock(new Date(Date.parse(SUITE_TIME) + number * 60_000).toISOString());
      const { status, text } = await make(`Program ${number} ${'x'.repeat(5000)}`);
      expect([number, status, text.includes('shown-once')]).toEqual([number, 200, true]);
      if (number - before.length !== 19) continue;
      const refused = await make('One more');
      expect([refused.status, refused.text.includes('Try again a little later.')]).toEqual([422, true]);
    }
    const refused = await make('One more');
    expect([refused.status, refused.text.includes('There are 100 application passwords already.')]).toEqual([422, true]);
    const after = await passwordsOf(ask.running().site, 2);
    expect([after.length, Math.max(...after.map(({ name }) => String(name).length))]).toEqual([100, MAX_BYTES.name]);
  });

  it('moves an event to another day, keeping its times, and edits a few fields in the list', async () => {
    const admin = await openVisitor(ask, 'admin');
    const { id } = await ask.create('/events', { title: 'Moved', start_date: '2027-01-01 10:00', end_date: '2027-01-01 12:00' });
    const month = await admin.get('/admin/month?month=2027-01');
    const moved = await admin.submit(month, '/admin/month/move', { id: String(id), day: '2027-02-03' });
    expect([moved.headers.location, moved.status === 303 ? '' : moved.text.slice(-900)]).toEqual([
      '/admin/month?month=2027-02&done=moved',
      '',
    ]);
    expect(await ask.read(`/events/${id}`)).toMatchObject({ start_date: '2027-02-03 10:00:00', end_date: '2027-02-03 12:00:00' });
    for (const day of ['0000-00-00', '2027-02-30', 'x'])
      expect((await admin.submit(month, '/admin/month/move', { id: String(id), day })).status).toBe(400);
    expect(await ask.read(`/events/${id}`)).toMatchObject({ start_date: '2027-02-03 10:00:00', end_date: '2027-02-03 12:00:00' });
    const list = await admin.get('/admin/events?search=moved');
    const [chosen] = (await ask.read('/categories')).categories;
    const saved = await admin.submit(list, `/admin/events/${id}`, { title: 'Moved again', 'categories[ids][]': String(chosen.id) });
    expect(saved.headers.location).toBe('/admin/events?search=moved&done=saved');
    expect(await ask.read(`/events/${id}`)).toMatchObject({
      title: 'Moved again',
      start_date: '2027-02-03 10:00:00',
      categories: [{ id: chosen.id }],
    });
    const none = await admin.submit(await admin.get('/admin/events?search=moved'), `/admin/events/${id}`, { 'categories[ids][]': null });
    expect([none.status, (await ask.read(`/events/${id}`)).categories]).toEqual([303, []]);
    const copy = await admin.get(`/admin/events/${id}/duplicate`);
    expect(new Map(formIn(copy.text, '/admin/events/new')).get('title')).toBe('Moved again');
  });

  it('keeps the length of an all-day event if days begin after midnight', async () => {
    await ask.options({ tribe_events_calendar_options: 'a:1:{s:14:"multiDayCutoff";s:5:"04:00";}' });
    const admin = await openVisitor(ask, 'admin');
    const { id, end_date: end } = await ask.create('/events', {
      title: 'Whole',
      all_day: true,
      start_date: '2027-01-05',
      end_date: '2027-01-06',
    });
    expect(end).toBe('2027-01-07 03:59:59');
    const path = `/admin/events/${id}`;
    const form = await admin.get(path);
    expect(new Map(formIn(form.text, path)).get('end_date[date]')).toBe('2027-01-06');
    expect((await admin.get('/admin/events?search=whole')).text).toMatch(/Tuesday, January 5\s–\sWednesday, January 6, 2027/);
    const moved = await admin.submit(await admin.get('/admin/month?month=2027-01'), '/admin/month/move', {
      id: String(id),
      day: '2027-01-12',
    });
    expect([moved.status, (await ask.read(`/events/${id}`)).end_date]).toEqual([303, '2027-01-14 03:59:59']);
    const copy = await admin.submit(await admin.get(`${path}/duplicate`), '/admin/events/new', { title: 'Whole again', status: 'publish' });
    const other = /events\/(\d+)\?done/.exec(copy.headers.location ?? '')?.[1];
    expect(await ask.read(`/events/${other}`)).toMatchObject({ start_date: '2027-01-12 04:00:00', end_date: '2027-01-14 03:59:59' });
  });

  it('refuses a time zone in which the clock skips the times of an event', async () => {
    const admin = await openVisitor(ask, 'admin');
    const dates = { start_date: '2027-03-28 02:30', end_date: '2027-03-28 02:45', timezone: 'Europe/London' };
    const { id } = await ask.create('/events', { title: 'Night', ...dates });
    const path = `/admin/events/${id}`;
    const form = await admin.get(path);
    const refused = await admin.submit(form, path, { timezone: 'Europe/Rome' });
    const faultOf = (name: string) => new RegExp(`id="${name}-error"[^>]*>[^<]*the clocks go forward over this hour`).test(refused.text);
    expect([refused.status, faultOf('start_date'), faultOf('end_date')]).toEqual([422, true, true]);
    expect(await ask.read(`/events/${id}`)).toMatchObject({ start_date: '2027-03-28 02:30:00', timezone: 'Europe/London' });
    expect((await admin.submit(form, path, { timezone: 'Asia/Tokyo' })).status).toBe(303);
    expect(await ask.read(`/events/${id}`)).toMatchObject({ start_date: '2027-03-28 02:30:00', timezone: 'Asia/Tokyo' });
  });

  it('keeps the length of an event that is moved to a day on which the clock skips its start', async () => {
    const admin = await openVisitor(ask, 'admin');
    const { id } = await ask.create('/events', { title: 'Night', start_date: '2027-03-21 02:15', end_date: '2027-03-21 04:15' });
    const month = await admin.get('/admin/month?month=2027-03');
    expect((await admin.submit(month, '/admin/month/move', { id: String(id), day: '2027-03-28' })).status).toBe(303);
    expect(await ask.read(`/events/${id}`)).toMatchObject({ start_date: '2027-03-28 03:15:00', end_date: '2027-03-28 05:15:00' });
  });

  it('moves an event of the early morning by the day that the calendar counts it to, if days begin after midnight', async () => {
    await ask.options({ tribe_events_calendar_options: 'a:1:{s:14:"multiDayCutoff";s:5:"04:00";}' });
    const admin = await openVisitor(ask, 'admin');
    const { id } = await ask.create('/events', { title: 'Late show', start_date: '2027-01-06 01:00', end_date: '2027-01-06 03:00' });
    const month = await admin.get('/admin/month?month=2027-01');
    const cellOf = (day: string) => elements(month.text, ({ attribs }) => attribs['data-day'] === day).map(textOf)[0];
    expect([cellOf('2027-01-05'), cellOf('2027-01-06')]).toEqual([
      expect.stringMatching(/Late show 1:00/),
      expect.not.stringContaining('Late'),
    ]);
    expect(month.text).toContain(`data-event="${id}"`);
    expect((await admin.submit(month, '/admin/month/move', { id: String(id), day: '2027-01-12' })).status).toBe(303);
    expect(await ask.read(`/events/${id}`)).toMatchObject({ start_date: '2027-01-13 01:00:00', end_date: '2027-01-13 03:00:00' });
    expect((await admin.submit(month, '/admin/month/move', { id: String(id), day: '2027-13-45' })).status).toBe(400);
  });

  it('keeps the length of an all-day event if a program sends back the dates that it has read', async () => {
    await ask.options({ tribe_events_calendar_options: 'a:1:{s:14:"multiDayCutoff";s:5:"04:00";}' });
    const span = { start_date: '2027-01-05 04:00:00', end_date: '2027-01-07 03:59:59' };
    const { id } = await ask.create('/events', { title: 'Whole', all_day: true, start_date: '2027-01-05', end_date: '2027-01-06' });
    for (const path of [`/wp-json/tribe/events/v1/events/${id}`, `/wp-json/tec/v1/events/${id}`]) {
      const headers = { 'X-TEC-EEA': 'yes' };
      const { body: read } = await ask.send('GET', path, { headers });
      const { all_day, start_date, end_date, timezone } = read;
      const { body } = await ask.send('PUT', path, { as: 'admin', headers, body: { all_day, start_date, end_date, timezone } });
      expect([path, body.start_date, body.end_date]).toEqual([path, span.start_date, span.end_date]);
    }
  });

  it('shows and moves events by the days of the calendar if that shows the times of the site', async () => {
    await ask.options({
      timezone_string: 'Europe/Rome',
      tribe_events_calendar_options: { tribe_events_timezone_mode: 'site', multiDayCutoff: '00:00' },
    });
    const admin = await openVisitor(ask, 'admin');
    const create = (title: string, timezone: string, start_date: string, end_date: string, more: object = {}) =>
      ask.create('/events', { title, timezone, start_date, end_date, ...more });
    const early = await create('In Tokyo', 'Asia/Tokyo', '2027-01-01 02:00', '2027-01-01 04:00');
    await create('In New York', 'America/New_York', '2027-01-31 20:00', '2027-01-31 21:00');
    await create('Day in Tokyo', 'Asia/Tokyo', '2027-01-01', '2027-01-01', { all_day: true });
    const daysOf = async (title: string) => {
      const found: [day: string | undefined, text: string][] = [];
      for (const month of ['2026-12', '2027-01', '2027-02']) {
        const { text } = await admin.get(`/admin/month?month=${month}`);
        const cells = elements(text, ({ attribs }) => attribs['data-day'] !== undefined);
        for (const cell of cells) if (textOf(cell).includes(title)) found.push([cell.attribs['data-day'], textOf(cell)]);
      }
      return found;
    };
    expect(await daysOf('In Tokyo')).toEqual([['2026-12-31', expect.stringContaining('In Tokyo 6:00')]]);
    expect(await daysOf('In New York')).toEqual([['2027-02-01', expect.stringContaining('In New York 2:00')]]);
    expect(await daysOf('Day in Tokyo')).toEqual([['2027-01-01', expect.stringContaining('Day in Tokyo')]]);
    for (const month of ['1000-01', '9999-12']) expect((await admin.get(`/admin/month?month=${month}`)).status).toBe(200);
    const month = await admin.get('/admin/month?month=2026-12');
    expect((await admin.submit(month, '/admin/month/move', { id: String(early.id), day: '2027-01-02' })).status).toBe(303);
    expect(await ask.read(`/events/${early.id}`)).toMatchObject({ start_date: '2027-01-03 02:00:00', end_date: '2027-01-03 04:00:00' });
  });

  it('shows an event on each of its days, in every month that it is part of', async () => {
    const admin = await openVisitor(ask, 'admin');
    await ask.create('/events', { title: 'Long week', all_day: true, start_date: '2027-01-29', end_date: '2027-02-02' });
    const shown = async (month: string) => (await admin.get(`/admin/month?month=${month}`)).text.split('Long week').length - 1;
    expect([await shown('2026-12'), await shown('2027-01'), await shown('2027-02'), await shown('2027-03')]).toEqual([0, 3, 2, 0]);
    expect((await admin.get('/admin/events?month=2027-02')).text).toContain('Long week');
    // Browsers without month inputs send the text as typed.
    for (const [typed, count] of [
      ['2/2027', 1],
      ['03.2031', 0],
    ] as const)
      expect((await admin.get(`/admin/events?month=${typed}`)).text.split('>Long week<').length - 1).toBe(count);
    for (const month of ['1000-01', '9999-12', '0000-01']) expect((await admin.get(`/admin/month?month=${month}`)).status).toBe(200);
    for (const month of ['1000-01', '9999-12'])
      expect((await admin.get(`/admin/month?month=${month}`)).text.match(/class="paging-\w+"/g)).toHaveLength(1);
  });

  it('says how many events of a month it does not show, and links to them', async () => {
    const admin = await openVisitor(ask, 'admin');
    // The last 30 are on the day before the month.
    const dayOf = (place: number) => (place < 502 ? '2031-05-02' : '2031-04-30');
    const body = (place: number) => ({ title: `Fair ${place}`, start_date: `${dayOf(place)} 10:00`, end_date: `${dayOf(place)} 11:00` });
    for (let first = 0; first < 532; first += 100) {
      const places = Array.from({ length: Math.min(100, 532 - first) }, (_, place) => first + place);
      const requests = places.map((place) => ({ method: 'POST', path: '/calendar/events/v1/events', body: body(place) }));
      expect((await ask.send('POST', '/wp-json/batch/v1', { as: 'admin', body: { requests } })).status).toBe(207);
    }
    // An event that lasts for years is included.
    for (const tribe_events_timezone_mode of ['event', 'site']) {
      await ask.options({ tribe_events_calendar_options: { tribe_events_timezone_mode } });
      const { text } = await admin.get('/admin/month?month=2031-05');
      expect(text).toContain('/admin/events?month=2031-05&amp;orderby=start_date&amp;order=desc">3 more events this month');
      expect(text.match(/>Fair \d+</g)).toHaveLength(499);
    }
    expect((await admin.get('/admin/month?month=2031-06')).text).not.toContain('more events this month');
  });

  it('does not move an event that another editor has saved since the month was shown', async () => {
    const admin = await openVisitor(ask, 'admin');
    const { id } = await ask.create('/events', { title: 'Wanted twice', start_date: '2027-01-01 10:00', end_date: '2027-01-01 12:00' });
    const month = await admin.get('/admin/month?month=2027-01');
    const version = new RegExp(`data-event="${id}" data-version="([^"]+)"`).exec(month.text)?.[1] ?? '';
    await ask.update(`/events/${id}`, { start_date: '2027-01-20 11:00', end_date: '2027-01-20 12:00' });
    const refused = await admin.submit(month, '/admin/month/move', { id: String(id), version, day: '2027-01-09' });
    expect([refused.status, refused.text.includes('“Wanted twice” was not moved')]).toEqual([409, true]);
    expect(await ask.read(`/events/${id}`)).toMatchObject({ start_date: '2027-01-20 11:00:00' });
  });

  it('creates, changes and deletes categories and tags', async () => {
    const admin = await openVisitor(ask, 'admin');
    for (const path of ['/admin/categories', '/admin/tags']) {
      expect((await admin.submit(await admin.get(path), path, { name: '' })).status).toBe(422);
      await admin.submit(await admin.get(path), path, { name: 'Open & air' });
      const list = await admin.get(path);
      const own = new RegExp(`href="(${path}/\\d+)">Open &amp; air`).exec(list.text)?.[1] ?? '';
      const page = await admin.get(own);
      await admin.submit(page, own, { description: 'Outside' });
      expect(new Map(formIn((await admin.get(own)).text, own)).get('description')).toBe('Outside');
      expect((await admin.submit(page, own, { description: 'Late' })).status).toBe(409);
      await admin.confirm(await admin.get(own), `${own}/delete`);
      expect((await admin.get(path)).text).not.toContain('Open &amp; air');
    }
  });

  it('offers as parent of a category neither the category itself nor those below it', async () => {
    const admin = await openVisitor(ask, 'admin');
    const below = async (name: string, parent: number): Promise<number> => (await ask.create('/categories', { name, parent })).id;
    const dances = await below('Dances', 0);
    const lindy = await below('Lindy', dances);
    const charleston = await below('Charleston', lindy);
    const polka = await below('Polka', dances);
    const zoo = await below('Zoo', 0);
    const offered = async (id: number) => {
      const { text } = await admin.get(`/admin/categories/${id}`);
      const [select] = elements(text, ({ attribs }) => attribs.name === 'parent');
      const values = (select?.children ?? []).map((option) => ('attribs' in option ? Number(option.attribs.value) : 0));
      return [dances, lindy, charleston, polka, zoo].filter((one) => values.includes(one));
    };
    expect(await offered(dances)).toEqual([zoo]);
    expect(await offered(lindy)).toEqual([dances, polka, zoo]);
    expect(await offered(polka)).toEqual([dances, lindy, charleston, zoo]);
    expect(await offered(zoo)).toEqual([dances, lindy, charleston, polka]);
  });
});
