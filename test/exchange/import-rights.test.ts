import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { deskRoutes } from '../../src/desk/routes.ts';
import { importItems } from '../../src/exchange/import/importer.ts';
import type { ImportOptions } from '../../src/exchange/import/options.ts';
import { mayImportAnything } from '../../src/exchange/import/rights.ts';
import { undoableImport } from '../../src/exchange/import/undo.ts';
import type { Entry, PostItem, TermItem } from '../../src/exchange/items/items.ts';
import { writeJsonLines } from '../../src/exchange/items/json-lines.ts';
import type { Report } from '../../src/exchange/items/report.ts';
import { openSource } from '../../src/exchange/sources.ts';
import { writeWxr } from '../../src/exchange/wxr/write.ts';
import { termKind } from '../../src/kinds/index.ts';
import type { Caller } from '../../src/records/caller.ts';
import type { Site } from '../../src/site.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { insertMetaRows, insertPosts } from '../../src/storage/rows/new-rows.ts';
import { findTermsLike, insertTerm } from '../../src/storage/rows/terms.ts';
import { storedText } from '../../src/wordpress/php/serialized.ts';
import { commandIn } from '../cli/command.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';
import { forgetImports, resetSite } from '../support/site.ts';
import { callerOf, metaRows, NOW, siteOf, streamOf, textOfAll } from './sites.ts';

/*
 * What an import may write, by the rights of its user: kind × role × owner × state. Each role has the capability to
 * import besides its own ones; a shop manager has it from another plugin, and none of the calendar's.
 */

const ROLES = { admin: 1, ed: 2, auth: 3, contrib: 4, shop: 5 } as const;
type Role = keyof typeof ROLES;
const KINDS = ['event', 'venue', 'organizer', 'attachment'] as const;
type PostKindOfTest = (typeof KINDS)[number];
const TYPES = { event: 'tribe_events', venue: 'tribe_venue', organizer: 'tribe_organizer', attachment: 'attachment' } as const;
const STATES = ['publish', 'draft', 'pending', 'private', 'future', 'trashed when published', 'trashed as draft'] as const;
type State = (typeof STATES)[number];
/** Author of the records that belong to another user: a deleted account. */
const STRANGER = 999;

interface Cell {
  readonly id: number;
  readonly state: State;
  readonly isOwn: boolean;
}
const CELLS: readonly Cell[] = STATES.flatMap((state, index) => [
  { id: 1000 + index, state, isOwn: false },
  { id: 1100 + index, state, isOwn: true },
]);

// ------------------------------------------------------------------------------------------------- the model
const writes = (role: Role) => role !== 'shop';
const writesPublished = (role: Role) => ['auth', 'ed', 'admin'].includes(role);
const writesOthers = (role: Role) => ['ed', 'admin'].includes(role);
/** Authors have what categories need, but not what tags need. */
const managesTerms = (role: Role, kind: TermItem['kind']) => (kind === 'tag' ? writesOthers(role) : writesPublished(role));
const wasPublished = (state: State) => ['publish', 'future', 'trashed when published'].includes(state);
/** A file has no status of its own, so that whoever writes posts may change the own ones. */
const mayChange = (role: Role, kind: PostKindOfTest, { state, isOwn }: Cell) => {
  if (!isOwn) return writesOthers(role);
  return kind === 'attachment' || !wasPublished(state) ? writes(role) : writesPublished(role);
};
const mayCreate = (role: Role, kind: PostKindOfTest) => (kind === 'attachment' ? writesPublished(role) : writes(role));
const settled = (role: Role, status: string) =>
  !writesPublished(role) && ['publish', 'future', 'private'].includes(status) ? 'pending' : status;

// ------------------------------------------------------------------------------------------------- the items
const WHEN = metaRows([
  ['_EventStartDate', '2031-05-01 20:00:00'],
  ['_EventEndDate', '2031-05-01 22:00:00'],
  ['_EventTimezone', 'Europe/Rome'],
]);
const FEATURED = metaRows([['_tribe_featured', '1']]);
const FILE = metaRows([['_wp_attached_file', '2026/11/a.jpg']]);
const metasOfKind = (kind: PostKindOfTest) => (kind === 'event' ? WHEN : kind === 'attachment' ? FILE : []);
const guidOf = (id: number) => `https://other.example.org/?p=${id}`;

/** Returns a record of a source, which states no status, so that an existing one keeps its own. */
const post = (kind: PostKindOfTest, id: number, title: string, { columns = {}, ...more }: Partial<PostItem> = {}): PostItem => ({
  kind,
  sourceId: String(id),
  id,
  columns: { post_title: title, guid: guidOf(id), ...columns },
  metas: metasOfKind(kind),
  links: [],
  complete: false,
  ...more,
});

const term = (kind: TermItem['kind'], slug: string, more: Partial<TermItem> = {}): TermItem => ({
  ...{ kind, sourceId: slug, name: slug, slug, description: '' },
  ...more,
});

describeDatabases('the rights of the importing user', (open) => {
  let db: Database;
  let site: Site;
  beforeAll(async () => {
    db = await open();
    site = await siteOf(db);
  });
  beforeEach(async () => {
    await resetSite(db);
    await forgetImports(db);
  });
  afterAll(() => site.close());

  /** Returns a user with the capability to import. */
  const importer = async (role: Role): Promise<Caller> => {
    const caller = await callerOf(site, ROLES[role]);
    const can = (capability: string) => capability === 'import' || caller.viewer.can(capability);
    return { ...caller, viewer: { ...caller.viewer, can } };
  };
  const taken = async (role: Role, entries: readonly Entry[], options: Partial<ImportOptions> = {}): Promise<Report> =>
    importItems(site, await importer(role), streamOf(entries), { source: 'other.example.org', ...options });
  const reasonsOf = ({ losses }: Report) => losses.map(({ reason, count }) => [reason, count]);
  const rowsIn = (ids: readonly number[]) =>
    db
      .from('posts')
      .whereIn('ID', [...ids])
      .orderBy('ID');
  const rowOf = async (title: string) => (await db.from('posts').where('post_title', title).whereNot('post_type', 'revision').first())!;

  /** Adds a record for each cell. */
  async function addRecords(kind: PostKindOfTest, role: Role): Promise<void> {
    await insertPosts(
      db,
      CELLS.map(({ id, state, isOwn }) => ({
        ...{ ID: id, post_type: TYPES[kind], post_title: 'Before', post_name: `cell-${id}`, guid: guidOf(id) },
        post_status: kind === 'attachment' ? 'inherit' : state.startsWith('trashed') ? 'trash' : state,
        post_author: isOwn ? ROLES[role] : STRANGER,
        post_date: state === 'future' ? '2036-01-01 10:00:00' : '2026-01-01 10:00:00',
        post_date_gmt: state === 'future' ? '2036-01-01 09:00:00' : '2026-01-01 09:00:00',
      })),
    );
    const trashed = CELLS.filter(({ state }) => state.startsWith('trashed'));
    const trashedFrom = (state: State) => storedText(state === 'trashed when published' ? 'publish' : 'draft');
    await insertMetaRows(
      db,
      trashed.map(({ id, state }) => ({ post_id: id, meta_key: '_wp_trash_meta_status', meta_value: trashedFrom(state) })),
    );
  }

  const cases = KINDS.flatMap((kind) => (Object.keys(ROLES) as Role[]).map((role) => [kind, role] as const));

  it.each(cases)('decide which existing %s records are changed: %s', async (kind, role) => {
    await addRecords(kind, role);
    const items = CELLS.map(({ id }) => post(kind, id, 'Changed'));
    const ids = CELLS.map(({ id }) => id);
    const before = await rowsIn(ids);
    const rehearsal = await taken(role, items, { dryRun: true });
    const report = await taken(role, items);
    const after = await rowsIn(ids);
    const changed = CELLS.filter((cell) => mayChange(role, kind, cell)).map(({ id }) => id);
    expect(after.filter((row, at) => JSON.stringify(row) !== JSON.stringify(before[at])).map(({ ID }) => ID)).toEqual([...changed].sort());
    expect(after.map(({ post_status }) => post_status)).toEqual(before.map(({ post_status }) => post_status));
    const refusedCount = CELLS.length - changed.length;
    expect([report.updated, report.lost]).toEqual([
      changed.length > 0 ? { [kind]: changed.length } : {},
      refusedCount > 0 ? { [kind]: refusedCount } : {},
    ]);
    expect(reasonsOf(report)).toEqual(refusedCount > 0 ? [['record-forbidden', refusedCount]] : []);
    expect({ ...rehearsal, dryRun: false }).toEqual(report);
    // Everything that was refused is written by the next user who may.
    expect((await taken('admin', items)).updated).toEqual(refusedCount > 0 ? { [kind]: refusedCount } : {});
  });

  it.each(cases)('decide which new %s records are created, and with which status: %s', async (kind, role) => {
    const statuses = kind === 'attachment' ? ['inherit'] : ['publish', 'future', 'draft', 'pending', 'private', 'trash'];
    const items = statuses.map((status, index) =>
      post(kind, 1000 + index, 'New', {
        columns: { post_status: status, ...(status === 'future' ? { post_date: '2036-01-01 10:00:00' } : {}) },
      }),
    );
    const rehearsal = await taken(role, items, { dryRun: true });
    const report = await taken(role, items);
    const expected = mayCreate(role, kind) ? statuses.map((status) => settled(role, status)) : [];
    expect((await rowsIn(items.map(({ id = 0 }) => id))).map((row) => [row.post_status, row.post_author])).toEqual(
      expected.map((status) => [status, ROLES[role]]),
    );
    expect([report.created, report.lost]).toEqual(
      expected.length > 0 ? [{ [kind]: statuses.length }, {}] : [{}, { [kind]: statuses.length }],
    );
    expect({ ...rehearsal, dryRun: false }).toEqual(report);
    if (expected.length > 0) expect(reasonsOf(report)).toEqual(writesPublished(role) ? [] : [['status-forbidden', 3]]);
  });

  it.each(Object.keys(ROLES) as Role[])('decide who publishes, trashes and gives away own drafts: %s', async (role) => {
    await addRecords('event', role);
    const [publishing, trashing] = [post('event', 1101, 'Changed'), post('event', 1102, 'Changed')];
    await taken(role, [
      { ...publishing, columns: { ...publishing.columns, post_status: 'publish' }, author: 'admin' },
      { ...trashing, columns: { ...trashing.columns, post_status: 'trash' }, complete: true },
    ]);
    const rows = await rowsIn([1101, 1102]);
    const author = (await db.from('users').where('user_login', 'admin').first('ID'))!.ID;
    expect(rows.map(({ post_status, post_author }) => [post_status, post_author])).toEqual([
      [writes(role) ? settled(role, 'publish') : 'draft', writesOthers(role) ? author : ROLES[role]],
      [writes(role) ? 'trash' : 'pending', ROLES[role]],
    ]);
  });

  it.each(Object.keys(ROLES) as Role[])('decide who puts new events before others, and names other authors: %s', async (role) => {
    const metas = [...WHEN, ...FEATURED];
    const report = await taken(role, [post('event', 1000, 'New', { metas, columns: { menu_order: -1 }, author: 'admin' })]);
    const [row] = await rowsIn([1000]);
    const featured = await db.from('postmeta').where({ post_id: 1000, meta_key: '_tribe_featured' });
    if (!writes(role)) return expect([row, featured]).toEqual([undefined, []]);
    expect([row?.menu_order, featured.length]).toEqual(writesPublished(role) ? [-1, 1] : [0, 0]);
    expect(row?.post_author).toBe(writesOthers(role) ? ROLES.admin : ROLES[role]);
    const lost = ['status-forbidden', 'promotion-forbidden'];
    expect(report.losses.map(({ reason }) => reason).sort()).toEqual(
      [...(writesPublished(role) ? [] : lost), ...(writesOthers(role) ? [] : ['author-kept'])].sort(),
    );
    return undefined;
  });

  it.each((['category', 'tag'] as const).flatMap((kind) => (Object.keys(ROLES) as Role[]).map((role) => [kind, role] as const)))(
    'decide who creates and changes a %s: %s',
    async (kind, role) => {
      await taken('admin', [term(kind, 'known')]);
      const items = [term(kind, 'known', { name: 'Renamed' }), term(kind, 'new')];
      const event = post('event', 1000, 'New', {
        terms: [
          { kind, sourceId: 'known', slug: 'known' },
          { kind, sourceId: 'new', slug: 'new' },
          { kind, sourceId: 'other', name: 'Other' },
        ],
      });
      const rehearsal = await taken(role, [...items, event], { dryRun: true });
      const report = await taken(role, [...items, event]);
      expect({ ...rehearsal, dryRun: false }).toEqual(report);
      const taxonomy = kind === 'tag' ? 'post_tag' : 'tribe_events_cat';
      const terms = await findTermsLike(db, taxonomy, { ids: [], slugs: ['known', 'new', 'other'], names: [] });
      expect(terms.map(({ name }) => name).sort()).toEqual(managesTerms(role, kind) ? ['Other', 'Renamed', 'new'] : ['known']);
      const linked = await db.from('term_relationships').where('object_id', 1000);
      expect(linked.length).toBe(managesTerms(role, kind) ? 3 : writes(role) ? 1 : 0);
      if (!managesTerms(role, kind)) expect(report.lost[kind]).toBe(2);
      const forbidden = report.losses.find(({ reason }) => reason === 'term-forbidden')?.count ?? 0;
      expect(forbidden).toBe(managesTerms(role, kind) || !writes(role) ? 0 : 2);
    },
  );

  it('let events name a venue of another user, which stays as it is', async () => {
    await addRecords('venue', 'auth');
    const link = { key: '_EventVenueID', kind: 'venue', sourceId: '1000' } as const;
    const report = await taken('auth', [post('venue', 1000, 'Changed'), post('event', 1200, 'New', { links: [link] })], {
      itemsPerBatch: 1,
    });
    expect([report.lost, report.created]).toEqual([{ venue: 1 }, { event: 1 }]);
    expect(await db.from('postmeta').where({ post_id: 1200, meta_key: '_EventVenueID' }).pluck('meta_value')).toEqual(['1000']);
    expect(await db.from('fasti_import_ids').where({ kind: 'venue' })).toEqual([]);
  });

  it('keep the links that an earlier import is waiting for from records of others', async () => {
    const link = { key: '_EventVenueID', kind: 'venue', sourceId: '1300' } as const;
    const event = post('event', 1200, 'Event', { links: [link] });
    await taken('admin', [event]);
    const report = await taken('auth', [event, post('venue', 1300, 'New')]);
    expect([report.created, reasonsOf(report)]).toEqual([{ venue: 1 }, [['record-forbidden', 1]]]);
    expect(await db.from('postmeta').where({ post_id: 1200, meta_key: '_EventVenueID' })).toEqual([]);
    await taken('admin', [event, post('venue', 1300, 'New')]);
    expect((await db.from('postmeta').where({ post_id: 1200, meta_key: '_EventVenueID' })).length).toBe(1);
  });

  it('keep what a user may not set for the next user who may, and leave the records as they are until then', async () => {
    const source = [
      post('event', 1500, 'New', { author: 'admin', columns: { post_status: 'publish', post_name: 'new', menu_order: -1 } }),
      post('event', 1501, 'Other', { columns: { post_status: 'publish', post_name: 'new' }, metas: [...WHEN, ...FEATURED] }),
      post('venue', 1502, 'Own', {
        author: 'admin',
        columns: { post_status: 'publish' },
        links: [{ key: '_thumbnail_id', kind: 'attachment', sourceId: 'none' }],
      }),
      post('event', 1101, 'Known', { columns: { post_status: 'publish' }, metas: [...WHEN, ...FEATURED] }),
    ];
    await addRecords('event', 'contrib');
    const reasons = [
      ['author-kept', 2],
      ['promotion-forbidden', 3],
      ['status-forbidden', 4],
    ];
    const withheld = (report: Report) =>
      reasonsOf(report)
        .filter(([reason]) => reasons.some(([known]) => known === reason))
        .sort();
    const state = async () =>
      (await rowsIn([1101, 1500, 1501, 1502])).map((row) => [row.post_status, row.post_author, row.menu_order, row.post_title]);
    const contributed = [
      ['pending', ROLES.contrib, 0, 'Known'],
      ['pending', ROLES.contrib, 0, 'New'],
      ['pending', ROLES.contrib, 0, 'Other'],
      ['pending', ROLES.contrib, 0, 'Own'],
    ];
    const first = await taken('contrib', source, { itemsPerBatch: 1 });
    expect(await state()).toEqual(contributed);
    // An edit made here stays until somebody imports the record who may set the values that were left out.
    await db.from('posts').where('ID', 1501).update({ post_title: 'Edited' });
    // The source contains a record twice; it is the same in one run.
    const second = await taken('contrib', [...source, source[0]!], { itemsPerBatch: 1 });
    const edited = contributed.map((row) => row.map((value) => (value === 'Other' ? 'Edited' : value)));
    expect([await state(), withheld(first), withheld(second)]).toEqual([edited, reasons, []]);
    expect([second.updated, second.lost]).toEqual([{}, {}]);

    await taken('admin', source);
    expect(await state()).toEqual([
      ['publish', ROLES.contrib, 0, 'Known'],
      ['publish', ROLES.admin, -1, 'New'],
      ['publish', ROLES.contrib, 0, 'Other'],
      ['publish', ROLES.admin, 0, 'Own'],
    ]);
    const featured = db.from('postmeta').where('meta_key', '_tribe_featured').whereIn('post_id', [1501, 1101]);
    expect((await featured).length).toBe(2);

    // Everything is set, so that what editors change here stays.
    await db.from('posts').whereIn('ID', [1101, 1500, 1501, 1502]).update({ post_title: 'Edited', post_author: ROLES.ed });
    expect((await taken('admin', source)).updated).toEqual({});
    expect((await rowsIn([1101, 1500, 1501, 1502])).map((row) => [row.post_title, row.post_author])).toEqual(
      Array(4).fill(['Edited', ROLES.ed]),
    );
  });

  it.each<[string, Partial<PostItem>]>([
    ['states no status', {}],
    ['states it for new records only', { columns: { post_status: 'publish' }, initial: ['post_status'] }],
  ])('leave it to editors to publish a record if its source %s', async (_name, status) => {
    const event = post('event', 1000, 'New', status);
    await taken('contrib', [event]);
    await db.from('posts').where('ID', 1000).update({ post_title: 'Edited' });
    expect((await taken('admin', [event])).updated).toEqual({});
    expect((await rowsIn([1000])).map((row) => [row.post_status, row.post_title])).toEqual([['pending', 'Edited']]);
  });

  it.each([
    ['the same records', {}],
    ['changed ones', { name: 'Changed', columns: { post_title: 'Changed' } }],
  ])('keep the references that an interrupted import is waiting for, after one of %s', async (_name, changes) => {
    const link = { key: '_EventVenueID', kind: 'venue', sourceId: '1300' } as const;
    const items = [term('category', 'child', { parent: 'above' }), post('event', 1200, 'Event', { links: [link] })];
    const interrupted = async function* () {
      // Items after the last whole batch are not written.
      yield* [...items, term('tag', 'last'), post('event', 1201, 'Last')];
      throw new Error('interrupted');
    };
    const admin = await importer('admin');
    const options = { source: 'other.example.org', itemsPerBatch: 1 };
    await expect(importItems(site, admin, interrupted(), options)).rejects.toThrow('interrupted');
    expect((await db.from('fasti_import_waiting')).length).toBe(2);

    await insertTerm(db, termKind('category'), { name: 'above', slug: 'above', description: '', parent: 0 });
    const rest = [term('category', 'above'), post('venue', 1300, 'New')];
    await taken('contrib', [...rest, ...items.map((item) => ({ ...item, ...changes }) as Entry)]);
    const linked = () => db.from('postmeta').where({ post_id: 1200, meta_key: '_EventVenueID' }).pluck('meta_value');
    const parentOf = async (slug: string) =>
      (await findTermsLike(db, 'tribe_events_cat', { ids: [], slugs: [slug], names: [] }))[0]!.parent;
    expect([await linked(), await parentOf('child')]).toEqual([[], 0]);
    await taken('admin', [...rest, ...items]);
    expect([await linked(), (await parentOf('child')) > 0]).toEqual([['1300'], true]);
  });

  it('decide who imports settings', async () => {
    await expect(taken('ed', [], { settings: true })).rejects.toMatchObject({ code: 'rest_forbidden' });
    await taken('admin', [], { settings: true });
  });

  it('decide who is offered imports, and their undo', async () => {
    const viewers = await Promise.all((Object.keys(ROLES) as Role[]).map(async (role) => (await importer(role)).viewer));
    expect(viewers.map(mayImportAnything)).toEqual([true, true, true, true, false]);
    expect(mayImportAnything((await callerOf(site, ROLES.ed)).viewer)).toBe(false);
    const routes = deskRoutes.filter(({ path }) => path.split('/')[1] === 'import');
    expect(routes.map(({ allow }) => viewers.map((viewer) => typeof allow === 'function' && allow(viewer)))).toEqual(
      routes.map(() => viewers.map(mayImportAnything)),
    );
    await taken('admin', [post('event', 1000, 'One'), post('event', 1001, 'Two'), post('venue', 1002, 'Three')]);
    await db.from('posts').whereIn('ID', [1000, 1002]).update({ post_author: ROLES.auth });
    const counts = await Promise.all(viewers.map(async (viewer) => (await undoableImport(site, viewer))?.counts));
    const all = new Map([['event', 2], ['venue', 1]]); // biome-ignore format: short
    const own = new Map([['event', 1], ['venue', 1]]); // biome-ignore format: short
    expect(counts).toEqual([all, all, own, undefined, undefined]);
  });

  const folder = mkdtempSync(join(tmpdir(), 'fasti-rights-'));
  const FILES: Readonly<Record<string, () => Promise<string>>> = {
    'a.csv': async () => 'Event Name,Event Start Date,Event Venue Name,Event Category\nNew,2031-05-01 20:00,Venue,Music\n',
    'b.csv': async () => 'Venue Name,Venue City\nNew,Rome\n',
    'a.ics': async () =>
      'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:a\r\nBEGIN:VEVENT\r\nUID:1@other.example\r\nDTSTART:20270501T200000Z\r\n' +
      'SUMMARY:New\r\nLOCATION:Venue\r\nCATEGORIES:Music\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n',
    'a.jsonl': () => textOfAll(writeJsonLines('https://other.example.org', streamOf([term('tag', 'new'), post('event', 1000, 'New')]))),
    'a.xml': () =>
      textOfAll(writeWxr(WXR_SITE, streamOf([term('tag', 'new'), post('event', 1000, 'New', { columns: { post_status: 'publish' } })]))),
    'a.html': async () =>
      '<script type="application/ld+json">{"@context":"https://schema.org","@type":"Event","name":"New",' +
      '"startDate":"2031-05-01T20:00:00Z","location":{"@type":"Place","name":"Venue"}}</script>',
  };
  const WXR_SITE = { home: 'https://other.example.org', title: 'Other', description: '', language: 'en', now: NOW };

  it.each(Object.keys(FILES))('apply to %s', async (name) => {
    const path = join(folder, name);
    writeFileSync(path, await FILES[name]!());
    const importFile = async (role: Role): Promise<Report> => {
      const caller = await importer(role);
      const source = await openSource([path], {
        caller,
        prefix: 'wp_',
        target: 'rights',
        ...(name.endsWith('.html') ? { format: 'jsonld' } : {}),
      });
      try {
        return await importItems(site, caller, source.entries(), { source: source.name() });
      } finally {
        await source.close();
      }
    };
    const tables = async () =>
      JSON.stringify(await Promise.all((['posts', 'postmeta', 'terms', 'term_relationships'] as const).map((table) => db.from(table))));
    const before = await tables();
    const report = await importFile('shop');
    expect([report.created, report.updated]).toEqual([{}, {}]);
    expect(report.losses.map(({ reason }) => reason)).toContain('record-forbidden');
    expect(await tables()).toBe(before);
    await importFile('admin');
    expect((await rowOf('New'))?.post_status).toBe('publish');
  });

  it('apply to the user whom the command names', async () => {
    const path = join(folder, 'command.csv');
    writeFileSync(path, 'Venue Name\nPiazza nuova\n');
    const key = `${db.prefix}user_roles`;
    const { option_value: roles } = (await db.from('options').where('option_name', key).first())!;
    const withImport = roles.replace(
      /(s:11:"contributor";a:2:\{s:4:"name";s:11:"Contributor";s:12:"capabilities";a:)(\d+):\{/,
      (_all, start, count) => `${start}${Number(count) + 1}:{s:6:"import";b:1;`,
    );
    expect(withImport).not.toBe(roles);
    await db.from('options').where('option_name', key).update({ option_value: withImport });
    const fasti = commandIn({ DATABASE_URL: urlOf(db), LOG_LEVEL: 'silent', UPLOADS_DIR: folder });
    const { login } = (await callerOf(site, ROLES.contrib)).viewer;
    expect(await fasti('import', path, `--user=${login}`)).toMatchObject({ code: 3 });
    expect((await rowOf('Piazza nuova'))?.post_status).toBe('pending');
    expect(readFileSync(path, 'utf8')).toContain('Piazza nuova');
  });
});
