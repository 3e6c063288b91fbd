import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { calendarEntries } from '../../src/exchange/ical/read.ts';
import { importItems } from '../../src/exchange/import/importer.ts';
import type { ImportOptions } from '../../src/exchange/import/options.ts';
import { importProgress } from '../../src/exchange/import/progress.ts';
import { undoableImport, undoImport } from '../../src/exchange/import/undo.ts';
import type { Entry, Item, PostItem, TermItem } from '../../src/exchange/items/items.ts';
import { withOverrides } from '../../src/exchange/items/overrides.ts';
import { isIncomplete, type Report } from '../../src/exchange/items/report.ts';
import { postKind, termKind } from '../../src/kinds/index.ts';
import { SUGGESTION_META } from '../../src/kinds/suggestion.ts';
import type { Caller } from '../../src/records/caller.ts';
import { listPosts } from '../../src/records/posts.ts';
import { createTerm, deleteTerm } from '../../src/records/terms.ts';
import type { Site } from '../../src/site.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { joinWriters } from '../../src/storage/journal/reported-changes.ts';
import { lockNames, slugLock, termTreeLock, USERS_LOCK } from '../../src/storage/rows/locks.ts';
import { insertPost, lockPost, removePost } from '../../src/storage/rows/posts.ts';
import { recount, setTermsOf } from '../../src/storage/rows/term-links.ts';
import { findTermsLike, loadTermsOf, updateTerm } from '../../src/storage/rows/terms.ts';
import { insertUser } from '../../src/storage/rows/users.ts';
import { ZERO_DATE } from '../../src/wordpress/time.ts';
import { describeDatabases } from '../support/databases.ts';
import { forgetImports, resetSite } from '../support/site.ts';
import { calendarOf, callerOf, metaRows, siteOf, streamOf } from './sites.ts';

/** Returns a minimal event, venue or organizer of a source. */
const post = (kind: PostItem['kind'], id: number, more: Partial<PostItem> = {}): PostItem => ({
  kind,
  sourceId: String(id),
  id,
  columns: {
    post_title: `${kind} ${id}`,
    post_name: `${kind}-${id}`,
    post_status: 'publish',
    post_date: '2026-01-01 10:00:00',
    guid: `https://other.example.org/?p=${id}`,
  },
  metas: kind === 'event' ? WHEN : [],
  links: [],
  terms: [],
  complete: true,
  ...more,
});

const WHEN = metaRows([
  ['_EventStartDate', '2031-05-01 20:00:00'],
  ['_EventEndDate', '2031-05-01 22:00:00'],
  ['_EventStartDateUTC', '2031-05-01 18:00:00'],
  ['_EventEndDateUTC', '2031-05-01 20:00:00'],
  ['_EventDuration', '7200'],
  ['_EventTimezone', 'Europe/Rome'],
  ['_EventTimezoneAbbr', 'CEST'],
]);

const category = (slug: string, more: Partial<TermItem> = {}): TermItem => ({
  kind: 'category',
  sourceId: slug,
  name: slug,
  slug,
  description: '',
  ...more,
});
const titled = (title: string) => ({ ...post('event', 500).columns, post_title: title });

describeDatabases('import into a site with existing records', (open) => {
  let db: Database;
  let site: Site;
  let caller: Caller;
  beforeAll(async () => {
    db = await open();
    site = await siteOf(db);
  });
  beforeEach(async () => {
    await resetSite(db);
    await forgetImports(site.db);
    caller = await callerOf(site);
  });
  afterAll(() => site.close());

  const taken = (entries: readonly Entry[], options: Partial<ImportOptions> = {}): Promise<Report> =>
    importItems(site, caller, streamOf(entries), { source: 'other.example.org', ...options });
  const row = async (title: string) => (await site.db.from('posts').where('post_title', title).whereNot('post_type', 'revision').first())!;
  const metasOf = async (id: number, key: string) =>
    (await site.db.from('postmeta').where({ post_id: id, meta_key: key }).orderBy('meta_id')).map((meta) => meta.meta_value);

  it('is undone record by record, each completely or not at all, if the process ends in the middle', async () => {
    const items = [600, 601, 602].map((id) => post('event', id));
    await taken(items);
    let pieces = 0;
    const transaction: Database['transaction'] = async (work) => {
      pieces += 1;
      if (pieces > 2) throw new Error('killed');
      return site.db.transaction(work);
    };
    const { id, run } = (await undoableImport(site, caller.viewer))!;
    await expect(undoImport({ ...site, db: { ...site.db, transaction } }, caller, { id, run, most: 3 })).rejects.toThrow('killed');
    const trashed = await site.db
      .from('posts')
      .where({ post_type: 'tribe_events', post_status: 'trash' })
      .whereIn('ID', [600, 601, 602])
      .pluck('ID');
    expect(trashed.length).toBe(2);
    const known = await site.db.from('fasti_import_ids').where({ import_id: id, kind: 'event' }).pluck('target');
    expect(known).toEqual([600, 601, 602].filter((one) => !trashed.includes(one)));
    await taken(items);
    expect(await site.db.from('posts').whereIn('ID', [600, 601, 602]).pluck('post_status')).toEqual(['publish', 'publish', 'publish']);
  });

  it('is undone in parts, also if there are records that the caller may not delete', async () => {
    await taken([...[600, 601, 602, 603].map((id) => post('event', id)), post('venue', 610)]);
    await site.db.from('posts').whereIn('ID', [600, 601]).update({ post_author: 2 });
    const last = (await undoableImport(site, caller.viewer))!;
    const can = (capability: string) => capability !== 'delete_others_tribe_events' && caller.viewer.can(capability);
    const undo = () => undoImport(site, { ...caller, viewer: { ...caller.viewer, can } }, { ...last, most: 2 });
    const trashed = async () =>
      site.db.from('posts').where('post_status', 'trash').whereIn('ID', [600, 601, 602, 603, 610]).orderBy('ID').pluck('ID');
    expect([await undo(), await trashed()]).toEqual([{ moved: 2, kept: 2 }, [602, 603]]);
    expect([await undo(), await trashed()]).toEqual([{ moved: 1, kept: 2 }, [602, 603, 610]]);
    expect([await undo(), (await undoableImport(site, caller.viewer))?.counts]).toEqual([{ moved: 0, kept: 2 }, new Map([['event', 2]])]);
  });

  it('can be undone completely, including records with missing links', async () => {
    const links = [
      { key: '_EventVenueID', kind: 'venue', sourceId: 'nowhere' },
      { key: '_thumbnail_id', kind: 'attachment', sourceId: 'https://other.example.org/none.png' },
    ] as const;
    await taken([post('event', 600), ...links.map((link, place) => post('event', 601 + place, { links: [link] }))]);
    expect((await undoableImport(site, caller.viewer))?.counts).toEqual(new Map([['event', 3]]));
  });

  it('reports in a dry run that a deleted category will be created again', async () => {
    const items = [category('kept'), category('dropped', { parent: 'kept' })];
    await taken(items);
    const [dropped] = await site.db.from('terms').where('slug', 'dropped').pluck('term_id');
    await deleteTerm(site, caller, termKind('category'), dropped!);
    const expected = { created: { category: 1 }, unchanged: { category: 1 } };
    expect(await taken(items, { dryRun: true })).toMatchObject(expected);
    expect(await taken(items)).toMatchObject(expected);
  });

  it('gives unused IDs to records without an ID or with a duplicate one', async () => {
    const nameless = (name: string, more: Partial<PostItem> = {}): PostItem => {
      const { id: _, ...item } = post('event', 0, { ...more, sourceId: name });
      return { ...item, columns: { ...item.columns, post_title: name, post_name: name, guid: `https://other.example.org/${name}` } };
    };
    const items = [
      post('event', 600),
      nameless('one'),
      nameless('two'),
      post('event', 601),
      { ...nameless('twin'), id: 601 },
      post('event', 603),
    ];
    const rehearsed = await taken(items, { highestId: 603, dryRun: true });
    const report = await taken(items, { highestId: 603 });
    expect([rehearsed.created, report.created]).toEqual([{ event: 6 }, { event: 6 }]);
    expect([rehearsed, report].map(({ losses }) => losses.map(({ reason, count }) => [reason, count]))).toEqual([
      [['id-taken', 1]],
      [['id-taken', 1]],
    ]);
    const ids = await Promise.all(
      ['event 600', 'event 601', 'event 603', 'one', 'two', 'twin'].map(async (title) => (await row(title)).ID),
    );
    expect(ids).toEqual([600, 601, 603, 604, 605, 606]);
  });

  it('leaves a record alone that has got the ID of a deleted record of another source', async () => {
    const former = post('event', 600, { links: [{ key: '_EventVenueID', kind: 'venue', sourceId: '610' }] });
    await taken([former]);
    await removePost(site.db, 600);
    await taken([post('event', 600, { columns: { ...titled('other'), post_name: 'other' } })], { source: 'third.example.org' });
    expect((await row('other')).ID).toBe(600);
    const changed = [{ ...former, columns: { ...former.columns, post_title: 'changed' } }, post('venue', 610)];
    const rehearsed = await taken(changed, { dryRun: true });
    const report = await taken(changed);
    expect([rehearsed.created, report.created, report.updated]).toEqual([{ event: 1, venue: 1 }, { event: 1, venue: 1 }, {}]);
    expect([(await row('other')).ID, (await row('changed')).ID === 600, await metasOf(600, '_EventVenueID')]).toEqual([600, false, []]);
  });

  it('leaves a term alone that has got the ID of a deleted term of another source', async () => {
    await taken([category('one', { id: 700 })]);
    await deleteTerm(site, caller, termKind('category'), 700);
    await taken([category('other', { id: 700 })], { source: 'third.example.org' });
    const report = await taken([category('one', { id: 700, name: 'changed' })]);
    expect([report.created, report.updated]).toEqual([{ category: 1 }, {}]);
    const terms = await findTermsLike(site.db, 'tribe_events_cat', { ids: [], slugs: ['one', 'other'], names: [] });
    expect(terms.map(({ slug, name, term_id: id }) => [slug, name, id === 700]).sort()).toEqual([
      ['one', 'changed', false],
      ['other', 'other', true],
    ]);
  });

  it('gives no record, term or user an ID after which later ones would no longer be exact numbers', async () => {
    const id = Number.MAX_SAFE_INTEGER;
    const person = (name: string) =>
      ({ kind: 'author', sourceId: name, id, login: name, email: `${name}@example.org`, displayName: name, metas: [] }) as const;
    const items = [post('event', 600, { id }), category('one', { id }), category('two', { id: 900, taxonomyId: id }), person('anna')];
    const report = await taken(items);
    expect(report.losses.filter(({ reason }) => reason === 'id-taken')).toMatchObject([{ count: 2 }]);
    const terms = await findTermsLike(site.db, 'tribe_events_cat', { ids: [], slugs: ['one', 'two'], names: [] });
    const user = (await site.db.from('users').where('user_login', 'anna').first())!;
    const ids = [(await row('event 600')).ID, user.ID, ...terms.flatMap((term) => [term.term_id, term.term_taxonomy_id])];
    expect(ids.length).toBe(6);
    expect(ids.filter((one) => one > 10_000)).toEqual([]);
  });

  it('gives a new user nothing that a deleted user with the same ID has left', async () => {
    const left = { wp_capabilities: 'a:1:{s:13:"administrator";b:1;}', wp_2_user_level: '10', _application_passwords: 'a:0:{}' };
    await db.from('usermeta').insert(Object.entries(left).map(([meta_key, meta_value]) => ({ user_id: 700, meta_key, meta_value })));
    await taken([{ kind: 'author', sourceId: 'anna', id: 700, login: 'anna', email: 'anna@example.org', displayName: 'Anna', metas: [] }]);
    const user = (await site.db.from('users').where('user_login', 'anna').first())!;
    const metas = await site.db.from('usermeta').where('user_id', user.ID).orderBy('meta_key').select('meta_key', 'meta_value');
    expect([user.ID, metas]).toEqual([
      700,
      [
        { meta_key: 'nickname', meta_value: 'anna' },
        { meta_key: 'wp_capabilities', meta_value: 'a:1:{s:10:"subscriber";b:1;}' },
        { meta_key: 'wp_user_level', meta_value: '0' },
      ],
    ]);
  });

  it('gives a new category no metas and records of a deleted one with the same ID, and no ID that a row without a term names', async () => {
    await db.from('termmeta').insert({ term_id: 700, meta_key: 'colour', meta_value: 'red' });
    await db.from('term_relationships').insert({ object_id: 36, term_taxonomy_id: 700, term_order: 0 });
    const row = { term_taxonomy_id: 810, term_id: 650, taxonomy: 'tribe_events_cat', description: '', parent: 0, count: 0 };
    await db.from('term_taxonomy').insert(row);
    const report = await taken([category('one', { id: 700 }), category('two', { id: 650 })]);
    expect(report.losses).toMatchObject([{ reason: 'id-taken', examples: [{ of: 'two' }] }]);
    const [one, two] = await findTermsLike(site.db, 'tribe_events_cat', { ids: [], slugs: ['one', 'two'], names: [] });
    expect([one!.term_id, two!.term_id === 650]).toEqual([700, false]);
    expect(await site.db.from('termmeta').where('term_id', 700)).toEqual([]);
    expect(await site.db.from('term_relationships').where('term_taxonomy_id', one!.term_taxonomy_id)).toEqual([]);
  });

  it('is undone except for venues and organizers that other events refer to', async () => {
    const links = [
      { key: '_EventVenueID', kind: 'venue', sourceId: '610' },
      { key: '_EventVenueID', kind: 'venue', sourceId: '611' },
      { key: '_EventOrganizerID', kind: 'organizer', sourceId: '612' },
    ] as const;
    await taken([post('venue', 610), post('venue', 611), post('organizer', 612), post('event', 600, { links })]);
    await site.db.from('postmeta').insert([
      { post_id: 38, meta_key: '_EventVenueID', meta_value: '610' },
      { post_id: 38, meta_key: '_EventOrganizerID', meta_value: '612' },
    ]);
    const last = (await undoableImport(site, caller.viewer))!;
    expect(last.counts).toEqual(new Map([['event', 1], ['venue', 1]])); // biome-ignore format: short
    expect(await undoImport(site, caller, { ...last, most: 3 })).toEqual({ moved: 2, kept: 0 });
    const statuses = await site.db.from('posts').whereIn('ID', [600, 610, 611, 612]).orderBy('ID').pluck('post_status');
    expect(statuses).toEqual(['trash', 'publish', 'trash', 'publish']);
    expect(await undoableImport(site, caller.viewer)).toBeUndefined();
  });

  /** Imports entries while another transaction holds a name and is about to commit a row with that name. */
  async function takenBeside(
    name: string,
    entries: readonly Entry[],
    write: (tx: Database) => Promise<unknown>,
    options: Partial<ImportOptions> = {},
  ): Promise<void> {
    return takenDuring(async (tx) => {
      await lockNames(tx, [name]);
      await write(tx);
    }, entries, options); // biome-ignore format: short
  }

  /** Imports entries while another transaction has written something and is about to commit it. */
  async function takenDuring(
    write: (tx: Database) => Promise<unknown>,
    entries: readonly Entry[],
    options: Partial<ImportOptions> = {},
  ): Promise<void> {
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const other = site.db.transaction(async (tx) => {
      await write(tx);
      begin();
      await sleep(300);
      joinWriters(tx);
    });
    await begun;
    await Promise.all([other, taken(entries, options)]);
  }

  it('creates no user with a login that is created concurrently', async () => {
    const anna = { kind: 'author', sourceId: 'a', login: 'anna', email: 'anna@example.org', displayName: 'Anna', metas: [] } as const;
    const row = {
      ...{ user_login: 'anna', user_pass: '', user_nicename: 'anna', user_email: 'anna@example.org', user_url: '' },
      ...{ user_registered: '2026-01-01 00:00:00', user_activation_key: '', user_status: 0, display_name: 'Anna' },
    };
    await takenBeside(USERS_LOCK, [anna], (tx) => insertUser(tx, row, {}));
    expect(await site.db.from('users').where('user_login', 'anna').pluck('user_nicename')).toEqual(['anna']);
  });

  it('gives no record a slug that is created concurrently', async () => {
    await taken([post('event', 600)]);
    const moved = post('event', 600, { columns: { ...post('event', 600).columns, post_name: 'wanted' } });
    await takenBeside(slugLock('tribe_events', 'wanted'), [moved], (tx) =>
      insertPost(tx, { post_type: 'tribe_events', post_status: 'publish', post_title: 'Other', post_name: 'wanted' }),
    );
    expect(await site.db.from('posts').where('post_name', 'wanted').pluck('post_title')).toEqual(['Other']);
  });

  it('keeps what an editor adds to a record while it is imported', async () => {
    const [tag] = await findTermsLike(db, 'post_tag', { ids: [11], slugs: [], names: [] });
    const inCategory = (slug: string) =>
      post('event', 500, { complete: false, unsaid: ['tag'], terms: [{ kind: 'category', sourceId: slug }] });
    const categories = [category('one'), category('two')];
    await taken([...categories, inCategory('one')]);
    await takenDuring(async (tx) => {
      await lockPost(tx, 500);
      await recount(tx, await setTermsOf(tx, 500, 'post_tag', [11]));
    }, [...categories, inCategory('two')]); // biome-ignore format: short
    const names = ((await loadTermsOf(db, [500])).get(500) ?? []).map(({ name }) => name);
    expect(names.sort()).toEqual(['two', tag!.name].sort());
  });

  it('keeps who suggested an event, which exports leave out, unless the source says so too', async () => {
    const sender = (name: string) => metaRows([[SUGGESTION_META, `{"name":"${name}"}`]]);
    await taken([post('event', 500, { metas: [...WHEN, ...sender('Carla')] })]);
    expect((await taken([post('event', 500, { columns: titled('Fair') })])).updated).toEqual({ event: 1 });
    const { ID } = await row('Fair');
    expect(await metasOf(ID, SUGGESTION_META)).toEqual(['{"name":"Carla"}']);
    await taken([post('event', 500, { metas: [...WHEN, ...sender('Dora')] })]);
    expect(await metasOf(ID, SUGGESTION_META)).toEqual(['{"name":"Dora"}']);
  });

  it('writes nothing for a record that an editor deletes while it is imported', async () => {
    await taken([post('event', 500)]);
    const moved = post('event', 500, { metas: [...WHEN, ...metaRows([['_EventURL', 'https://moved.example/']])] });
    await takenDuring(async (tx) => {
      await lockPost(tx, 500);
      await removePost(tx, 500);
      await tx.from('tec_occurrences').where('post_id', 500).delete();
      await tx.from('tec_events').where('post_id', 500).delete();
    }, [moved]); // biome-ignore format: short
    // On SQLite, the import begins after the deletion, and creates the record again.
    const isThere = (await db.from('posts').where('ID', 500)).length > 0;
    for (const table of ['postmeta', 'tec_events', 'tec_occurrences'] as const)
      expect((await db.from(table).where('post_id', 500)).length > 0).toBe(isThere);
    expect((await taken([moved])).created).toEqual(isThere ? {} : { event: 1 });
    expect(await metasOf((await row('event 500')).ID, '_EventURL')).toEqual(['https://moved.example/']);
  });

  it('keeps unused IDs, and replaces used ones by IDs above all IDs of the source', async () => {
    const report = await taken([post('event', 36), post('event', 500), post('venue', 40)], { highestId: 500 });
    expect((await row('event 500')).ID).toBe(500);
    expect([(await row('event 36')).ID, (await row('venue 40')).ID].sort()).toEqual([501, 502]);
    expect(report.losses).toMatchObject([{ reason: 'id-taken', count: 2 }]);
  });

  it('follows links to records that got another ID', async () => {
    const link = { key: '_EventVenueID', kind: 'venue', sourceId: '40' } as const;
    await taken([post('venue', 40), post('event', 500, { links: [link] })], { highestId: 500 });
    expect(await metasOf(500, '_EventVenueID')).toEqual([String((await row('venue 40')).ID)]);
  });

  it('resolves links, parents, authors and terms that come later in the source, in their order', async () => {
    const links = [601, 602, 603].map((id) => ({ key: '_EventOrganizerID', kind: 'organizer', sourceId: String(id) }) as const);
    const late: Item[] = [
      post('event', 500, { links, author: 'zoe', terms: [{ kind: 'category', sourceId: 'inner' }] }),
      category('inner', { parent: 'outer' }),
      post('organizer', 603),
      post('organizer', 601),
      { kind: 'author', sourceId: 'zoe', id: 70, login: 'zoe', email: 'zoe@example.org', displayName: 'Zoe', metas: [] },
      post('organizer', 602),
      category('outer'),
    ];
    const report = await taken(late, { itemsPerBatch: 1 });
    expect(await metasOf(500, '_EventOrganizerID')).toEqual(['601', '602', '603']);
    expect((await row('event 500')).post_author).toBe(70);
    const terms = await site.db.from('terms').whereIn('slug', ['inner', 'outer']).orderBy('slug');
    const [inner, outer] = terms;
    expect((await site.db.from('term_taxonomy').where('term_id', inner!.term_id).first())?.parent).toBe(outer!.term_id);
    expect((await site.db.from('term_taxonomy').where('term_id', inner!.term_id).first())?.count).toBe(1);
    expect(report.losses.map(({ reason }) => reason)).toEqual(['author-without-role']);
  });

  it('reports missing references and keeps the rest', async () => {
    const links = [
      { key: '_EventVenueID', kind: 'venue', sourceId: '999' },
      { key: '_EventOrganizerID', kind: 'organizer', sourceId: '601' },
    ] as const;
    const report = await taken([
      post('event', 500, { links, parent: '998', author: 'nobody-of-that-name' }),
      post('organizer', 601),
      category('lone', { parent: 'gone' }),
    ]);
    expect(Object.fromEntries(report.losses.map(({ reason, examples }) => [reason, examples.map(({ detail }) => detail).sort()]))).toEqual({
      'author-missing': ['nobody-of-that-name'],
      'link-missing': ['999'],
      'parent-missing': ['998', 'gone'],
    });
    expect(await metasOf(500, '_EventVenueID')).toEqual([]);
    expect(await metasOf(500, '_EventOrganizerID')).toEqual(['601']);
    expect((await row('event 500')).post_author).toBe(1);
  });

  it('attaches files to imported records, and reports nothing if their parent is not part of a calendar', async () => {
    const file = (parent: string | undefined) =>
      post('attachment', 610, {
        parent,
        metas: metaRows([['_wp_attached_file', '2026/01/a.pdf']]),
        columns: { post_title: 'A', post_mime_type: 'application/pdf' },
      });
    const parentOf = async () => (await site.db.from('posts').where('ID', 610).first())?.post_parent;
    expect((await taken([file('998')])).losses).toEqual([]);
    expect(await parentOf()).toBe(0);
    await taken([file('998'), post('event', 998)]);
    expect(await parentOf()).toBe(998);
    await taken([file(undefined), post('event', 998)]);
    expect(await parentOf()).toBe(0);
  });

  it('does not create cycles of categories', async () => {
    const report = await taken(
      [category('one', { parent: 'two' }), category('two', { parent: 'three' }), category('three', { parent: 'one' })],
      { itemsPerBatch: 1 },
    );
    expect(report.losses.map(({ reason, count }) => [reason, count])).toEqual([['parent-loop', 1]]);
  });

  it.each([
    ['when they come', [category('upper', { sourceId: 'u' }), category('lower', { parent: 'u' })]],
    ['at the end', [category('lower', { parent: 'u' }), category('upper', { sourceId: 'u' })]],
  ])('does not create cycles with a category that is moved concurrently, if parents are known %s', async (_when, items) => {
    await taken([category('lower')]);
    // The import does not know this category yet, so that its children wait for it.
    await createTerm(site, caller, termKind('category'), { name: 'upper' });
    const named = async (slug: string) => (await findTermsLike(site.db, 'tribe_events_cat', { ids: [], slugs: [slug], names: [] }))[0]!;
    const [lower, upper] = [await named('lower'), await named('upper')];
    const move = (tx: Database) => updateTerm(tx, upper, { parent: lower.term_id });
    await takenBeside(termTreeLock('tribe_events_cat'), items, move, { itemsPerBatch: 1 });
    expect([(await named('lower')).parent, (await named('upper')).parent]).toEqual([0, lower.term_id]);
  });

  it('changes a slug that is taken, and derives a missing slug from the title', async () => {
    const same = { ...post('event', 500).columns, post_name: (await site.db.from('posts').where('ID', 36).first())!.post_name };
    const report = await taken([
      post('event', 500, { columns: same }),
      post('event', 501, { columns: { ...same, post_name: '', post_title: 'Fête à la Mairie' } }),
    ]);
    expect((await site.db.from('posts').where('ID', 500).first())?.post_name).toBe(`${same.post_name}-2`);
    expect((await site.db.from('posts').where('ID', 501).first())?.post_name).toBe('fete-a-la-mairie');
    expect(report.losses.map(({ reason }) => reason)).toEqual(['slug-taken']);
  });

  it('lets records exchange their slugs, or take those that others give up, in any batch', async () => {
    const named = (id: number, slug: string, columns = {}) =>
      post('event', id, { columns: { ...post('event', id).columns, post_name: slug, ...columns } });
    const slugs = async () =>
      Object.fromEntries(
        (await site.db.from('posts').whereIn('ID', [500, 501, 502, 503, 504]).orderBy('ID')).map(({ ID, post_name }) => [ID, post_name]),
      );
    await taken([named(500, 'one'), named(501, 'two'), named(502, 'three'), named(503, 'four')]);
    // 504 is new and comes first; 502 wants the slug of a record that is not in the source.
    const items = [named(504, 'four'), named(500, 'two'), named(501, 'one'), named(502, 'four-2'), named(503, 'three')];
    const before = [await taken(items, { dryRun: true, itemsPerBatch: 1 }), await taken(items, { dryRun: true })];
    const report = await taken(items, { itemsPerBatch: 1 });
    expect(before).toEqual([
      { ...report, dryRun: true },
      { ...report, dryRun: true },
    ]);
    expect(await slugs()).toEqual({ 500: 'two', 501: 'one', 502: 'four-2', 503: 'three', 504: 'four' });
    expect(report.losses).toEqual([]);
    expect(report.created.event).toBe(1);
    expect(await taken(items)).toMatchObject({ created: {}, updated: {}, unchanged: { event: 5 }, losses: [] });
    const held = (await site.db.from('posts').where('ID', 36).first())!.post_name;
    const blocked = await taken([named(500, held), named(501, 'two'), ...items.slice(3)]);
    expect(blocked.losses).toMatchObject([{ reason: 'slug-taken', count: 2 }]);
    expect(await slugs()).toMatchObject({ 500: 'two', 501: 'one' });
    expect((await taken([named(500, held), named(501, 'two'), ...items.slice(3)])).losses).toEqual([]);
    await site.db.from('posts').where('ID', 36).delete();
    expect((await taken([named(500, held, { post_title: 'New' }), named(501, 'two', { post_title: 'New' })])).losses).toEqual([]);
    expect(await slugs()).toMatchObject({ 500: held, 501: 'two' });
  });

  it('truncates names that are too long for their columns, without splitting emoji', async () => {
    await taken([
      category('long', { name: `x${'🎷'.repeat(300)}` }),
      { kind: 'author', sourceId: 'anna', login: 'anna', email: 'anna@example.org', displayName: '🎷'.repeat(300), metas: [] },
    ]);
    expect(await db.from('terms').where('slug', 'long').first('name')).toEqual({ name: `x${'🎷'.repeat(199)}` });
    expect(await db.from('users').where('user_login', 'anna').first('display_name')).toEqual({ display_name: '🎷'.repeat(250) });
  });

  it('sanitizes a slug that contains a path', async () => {
    await taken([post('event', 500, { columns: { ...post('event', 500).columns, post_name: '../../etc/passwd\0.php' } })]);
    expect((await site.db.from('posts').where('ID', 500).first())?.post_name).toMatch(/^[a-z0-9-]+$/);
  });

  it('updates records that changed in the source and leaves others unchanged', async () => {
    await taken([post('venue', 600), post('event', 500), post('event', 501)]);
    await site.db.from('posts').where('ID', 501).update({ post_title: 'Changed here' });
    const links = [{ key: '_EventVenueID', kind: 'venue', sourceId: '600' }] as const;
    const changed = post('event', 500, {
      columns: titled('Changed there'),
      links,
      metas: metaRows(WHEN.map(([key, value]) => [key, value.replace('2031', '2032')])),
    });
    const report = await taken([post('venue', 600), changed, post('event', 501)]);
    expect(report).toMatchObject({ created: {}, updated: { event: 1 }, unchanged: { venue: 1, event: 1 } });
    expect((await row('Changed there')).ID).toBe(500);
    expect((await row('Changed here')).ID).toBe(501);
    expect(await metasOf(500, '_EventVenueID')).toEqual(['600']);
    expect((await site.db.from('tec_occurrences').where('post_id', 500).first())?.start_date).toBe('2032-05-01 20:00:00');
  });

  /** Imports entries as `fasti import --status` does. */
  const takenAs = (status: string, entries: readonly Entry[]) =>
    importItems(
      site,
      caller,
      withOverrides({ name: () => 'a', close: async () => undefined, entries: () => streamOf(entries) }, { status }).entries(),
      {
        source: 'other.example.org',
      },
    );
  it('gives a status only to new records, since editors may have published known ones', async () => {
    await takenAs('draft', [post('event', 500), post('venue', 600)]);
    expect([await row('event 500'), await row('venue 600')]).toMatchObject([{ post_status: 'draft' }, { post_status: 'draft' }]);
    await db.from('posts').where('ID', 500).update({ post_status: 'publish' });
    const changed = [post('event', 500, { columns: titled('Changed') }), post('venue', 600), post('event', 501)];
    expect(await takenAs('draft', changed)).toMatchObject({ created: { event: 1 }, updated: { event: 1 }, unchanged: { venue: 1 } });
    expect([await row('Changed'), await row('venue 600'), await row('event 501')]).toMatchObject([
      { post_status: 'publish' },
      { post_status: 'draft' },
      { post_status: 'draft' },
    ]);
    // A status that is not public comes from the source.
    await takenAs('draft', [post('event', 500, { columns: { ...titled('Changed'), post_status: 'private' } })]);
    expect(await row('Changed')).toMatchObject({ post_status: 'private' });
  });

  it('keeps what editors have changed of an event about which its calendar says nothing', async () => {
    const imported = async (...lines: string[]) => {
      const event = ['BEGIN:VEVENT', 'UID:one', 'SUMMARY:Concert', 'DTSTART:20310501T180000Z', 'LOCATION:Hall', ...lines, 'END:VEVENT'];
      const file = ['BEGIN:VCALENDAR', ...event, 'END:VCALENDAR', ''].join('\r\n');
      const bytes = async function* () {
        yield Buffer.from(file);
      };
      const entries = calendarEntries(bytes, { file: 'a.ics', settings: caller.settings, now: caller.now });
      return importItems(site, caller, entries, { source: 'a.ics' });
    };
    const shown = async () => {
      const { ID: id, post_status: status, post_content: text } = await row('Concert');
      const metas = await Promise.all(['_EventURL', '_EventShowMap', '_EventShowMapLink'].map((key) => metasOf(id, key)));
      return [status, text, ...metas.flat()];
    };
    await imported('DESCRIPTION:First');
    expect(await shown()).toEqual(['publish', 'First', '', '1', '1']);
    for (const title of ['Concert', 'Hall']) {
      const { ID: id } = await row(title);
      await db.from('posts').where('ID', id).update({ post_status: 'draft' });
      await db.from('postmeta').where('post_id', id).whereIn('meta_key', ['_EventShowMap', '_VenueShowMap']).update({ meta_value: '' });
      await db.from('postmeta').where({ post_id: id, meta_key: '_EventURL' }).update({ meta_value: 'https://t.example/' });
    }
    expect(await imported('DESCRIPTION:Second', 'GEO:45;11')).toMatchObject({ created: {}, updated: { event: 1, venue: 1 } });
    expect(await shown()).toEqual(['draft', 'Second', 'https://t.example/', '', '1']);
    const venue = await row('Hall');
    expect([venue.post_status, ...(await metasOf(venue.ID, '_VenueShowMap'))]).toEqual(['draft', '']);
    // The calendar's own statements count.
    await imported('DESCRIPTION:Third', 'CLASS:PRIVATE', 'URL:https://u.example/');
    expect(await shown()).toEqual(['private', 'Third', 'https://u.example/', '', '1']);
  });

  it('has stopped though it was heard of last by a clock that was ahead', async () => {
    await taken([post('event', 500)]);
    for (const [touched, stopped] of [
      ['2026-11-21 08:59:00', false],
      ['2026-11-21 08:57:00', true],
      ['2036-11-21 09:00:00', true],
    ] as const) {
      await db.from('fasti_imports').update({ open: 1, touched_at: touched });
      expect(await importProgress(site, 'other.example.org')).toMatchObject({ open: true, stopped });
    }
  });

  it('uses a venue again that somebody else makes meanwhile', async () => {
    const venue = (name: string): PostItem => {
      const { id: _id, ...item } = post('venue', 0, { sourceId: name, columns: { post_title: name }, complete: false, match: 'details' });
      return item;
    };
    const other = { source: 'another.example.org' };
    const entries = async function* (): AsyncGenerator<Entry> {
      yield venue('First hall');
      yield venue('Second hall');
      await importItems(site, caller, streamOf([venue('Third hall')]), other);
      yield venue('THIRD HALL');
    };
    const report = await importItems(site, caller, entries(), { source: 'other.example.org', itemsPerBatch: 1 });
    expect(report).toMatchObject({ created: { venue: 2 }, updated: { venue: 1 } });
    expect(await db.from('posts').where('post_type', 'tribe_venue').whereIn('post_title', ['Third hall', 'THIRD HALL'])).toHaveLength(1);
  });

  it('uses a venue again whose ID was assigned before that of another, but which was committed after it', async () => {
    const venue = (name: string): PostItem => {
      const { id: _id, ...item } = post('venue', 0, { sourceId: name, columns: { post_title: name }, complete: false, match: 'details' });
      return item;
    };
    const commit = async (ID: number, post_title: string) => {
      const { ID: _, ...row } = (await db.from('posts').where('post_type', 'tribe_venue').first())!;
      await db.from('posts').insert({ ...row, ID, post_title, post_name: `hall-${ID}` });
    };
    const entries = async function* (): AsyncGenerator<Entry> {
      await commit(701, 'Fast hall');
      yield venue('FAST HALL');
      yield venue('Second hall');
      await commit(700, 'Slow hall');
      yield venue('SLOW HALL');
    };
    const report = await importItems(site, caller, entries(), { source: 'other.example.org', itemsPerBatch: 1 });
    expect(report).toMatchObject({ created: { venue: 1 }, updated: { venue: 2 } });
  });

  it('stores the old slug if the source renames a record without sending its metas', async () => {
    const named = (slug: string) => post('event', 500, { complete: false, columns: { ...post('event', 500).columns, post_name: slug } });
    await taken([named('first-name')]);
    await taken([named('second-name')]);
    expect([(await site.db.from('posts').where('ID', 500).first())?.post_name, await metasOf(500, '_wp_old_slug')]).toEqual([
      'second-name',
      ['first-name'],
    ]);
    await taken([named('first-name')]);
    expect(await metasOf(500, '_wp_old_slug')).toEqual(['second-name']);
  });

  it('omits an external ID that another record has, and reports it', async () => {
    const called = (id: number, externalId: string) =>
      post('event', id, { metas: [...WHEN, ...metaRows([['_fasti_external_id', externalId]])] });
    await db.from('postmeta').insert({ post_id: 38, meta_key: '_fasti_external_id', meta_value: 'crm 1' });
    const entries = [
      called(500, 'crm 1'),
      called(501, 'crm 2'),
      called(502, 'crm 2'),
      post('venue', 503, { metas: metaRows([['_fasti_external_id', 'crm 2']]) }),
    ];
    const losses = (report: Report) =>
      report.losses.map(({ reason, examples }) => [reason, examples.map(({ of, detail }) => `${of}: ${detail}`)]);
    const expected = [['external-id-taken', ['event 500: crm 1', 'event 502: crm 2']]];
    expect(losses(await taken(entries, { dryRun: true }))).toEqual(expected);
    expect(losses(await taken(entries))).toEqual(expected);
    expect(await db.from('postmeta').where('meta_key', '_fasti_external_id').orderBy('post_id').select('post_id', 'meta_value')).toEqual([
      { post_id: 38, meta_value: 'crm 1' },
      { post_id: 501, meta_value: 'crm 2' },
      { post_id: 503, meta_value: 'crm 2' },
    ]);
    expect(losses(await taken([called(501, 'crm 1'), called(500, 'crm 3')]))).toEqual([['external-id-taken', ['event 501: crm 1']]]);
    expect([await metasOf(501, '_fasti_external_id'), await metasOf(500, '_fasti_external_id')]).toEqual([[], ['crm 3']]);
  });

  it('keeps external IDs apart that differ only in escapes or tags, and finds a record that has one without them', async () => {
    const [ka, de] = ['https://x.ru/e/%d0%ba/', 'https://x.ru/e/%d0%b4/'];
    await db.from('postmeta').insert({ post_id: 38, meta_key: '_fasti_external_id', meta_value: 'https://x.ru/e//' });
    const entries = [` ${ka}\u0007`, de, '<4711@host>', '<4712@host>'].map((externalId, index): PostItem => {
      const { id: _id, ...item } = post('event', 500 + index, { metas: [...WHEN, ...metaRows([['_fasti_external_id', externalId]])] });
      return item;
    });
    for (const [created, updated] of [
      [{ event: 3 }, { event: 1 }],
      [{}, {}],
    ])
      expect(await taken(entries, { filterHtml: true })).toMatchObject({ created, updated, losses: [] });
    const rows = await db.from('postmeta').where('meta_key', '_fasti_external_id').orderBy('post_id').select('post_id', 'meta_value');
    expect(rows.map(({ meta_value }) => meta_value)).toEqual([ka, de, '<4711@host>', '<4712@host>']);
    expect(rows[0]!.post_id).toBe(38);
  });

  it('finds a record by the former form of its external ID even if the transaction is repeated', async () => {
    await db.from('postmeta').insert({ post_id: 38, meta_key: '_fasti_external_id', meta_value: 'https://x.ru/e//' });
    const { id: _id, ...item } = post('event', 500, { metas: [...WHEN, ...metaRows([['_fasti_external_id', 'https://x.ru/e/%d0%ba/']])] });
    const transaction: Database['transaction'] = async (work) => {
      const undone = site.db.transaction(async (tx) => {
        await work(tx);
        throw new Error('again');
      });
      await expect(undone).rejects.toThrow('again');
      return site.db.transaction(work);
    };
    const repeating = { ...site, db: { ...site.db, transaction } };
    const report = await importItems(repeating, await callerOf(site), streamOf([item]), { source: 'repeated' });
    expect([report.created, report.losses]).toEqual([{}, []]);
  });

  it('creates a record again that was permanently deleted', async () => {
    await taken([post('event', 500)]);
    await site.db.from('posts').where('ID', 500).del();
    expect((await taken([post('event', 500)])).created).toEqual({ event: 1 });
  });

  it('completes the dates of old events without a zone', async () => {
    await taken([
      post('event', 500, {
        metas: metaRows([
          ['_EventStartDate', '2031-07-01 20:00:00'],
          ['_EventEndDate', '2031-07-01 22:00:00'],
        ]),
      }),
    ]);
    expect(await metasOf(500, '_EventStartDateUTC')).toEqual(['2031-07-01 18:00:00']);
    expect(await metasOf(500, '_EventTimezone')).toEqual(['Europe/Rome']);
    expect(await site.db.from('tec_occurrences').where('post_id', 500)).toHaveLength(1);
  });

  it('keeps an event with contradictory dates, and reports that no list shows it', async () => {
    const report = await taken([
      post('event', 500, {
        metas: metaRows(WHEN.map(([key, value]) => [key, key.startsWith('_EventEndDate') ? '2030-01-01 00:00:00' : value])),
      }),
    ]);
    expect(report.losses.map(({ reason }) => reason)).toEqual(['dates-unsound']);
    expect(await site.db.from('tec_occurrences').where('post_id', 500)).toEqual([]);
  });

  const dated = (changes: Readonly<Record<string, string>>, id = 500) =>
    post('event', id, {
      metas: metaRows(WHEN.map(([key, value]) => [key, changes[key] ?? value])).filter(([, value]) => value !== '-'),
    });

  it.each<[string, Readonly<Record<string, string>>]>([
    ['without an end', { _EventEndDate: '-' }],
    ['that ends before it starts', { _EventEndDate: '2030-01-01 00:00:00' }],
    ['in a zone that is none', { _EventTimezone: 'Atlantis' }],
    ['on a day that no calendar has', { _EventStartDate: '2031-13-45 20:00:00' }],
  ])('reports in a dry run that lists will not show a new or updated event %s', async (_, changes) => {
    for (const before of [[], [dated({})]]) {
      await resetSite(db);
      await site.db.from('fasti_import_ids').del();
      await taken(before);
      const rehearsal = await taken([dated(changes)], { dryRun: true });
      expect(rehearsal.losses.map(({ reason, count }) => [reason, count])).toEqual([['dates-unsound', 1]]);
      expect({ ...(await taken([dated(changes)])), dryRun: true }).toEqual(rehearsal);
    }
  });

  it('reports in a dry run changed parents and slugs and lost languages, in any batch', async () => {
    const titled = (id: number) => post('event', id, { columns: { ...post('event', id).columns, post_name: 'the-same' } });
    const items = [
      ...[category('one', { parent: 'two' }), category('two', { parent: 'three' }), category('three', { parent: 'one' })],
      ...[titled(500), titled(501), post('event', 502, { language: 'it' })],
    ];
    const rehearsal = await taken(items, { dryRun: true, itemsPerBatch: 1 });
    expect(rehearsal.losses.map(({ reason, count }) => [reason, count]).sort()).toEqual([
      ['language-lost', 1],
      ['parent-loop', 1],
      ['slug-taken', 1],
    ]);
    const { losses, ...counts } = await taken(items, { itemsPerBatch: 1 });
    expect(counts).toEqual({ ...rehearsal, losses: undefined, dryRun: false });
    expect(losses.map(({ reason, count }) => [reason, count])).toEqual(rehearsal.losses.map(({ reason, count }) => [reason, count]));
  });

  it('counts authors and terms with several names once in a dry run', async () => {
    const person = (sourceId: string, email: string) =>
      ({ kind: 'author', sourceId, login: sourceId, email, displayName: sourceId, metas: [] }) as const;
    const items = [
      ...[person('anna', 'anna@example.org'), person('annina', 'ANNA@example.org')],
      ...[category('Open Air', { slug: 'open-air' }), category('open-air')],
    ];
    const rehearsal = await taken(items, { dryRun: true });
    expect(rehearsal).toMatchObject({ created: { author: 1, category: 1 }, unchanged: { author: 1, category: 1 } });
    expect({ ...(await taken(items)), dryRun: true }).toEqual(rehearsal);
  });

  it('assumes in a dry run that files can be fetched', async () => {
    const image = post('attachment', 500, { url: 'https://other.example.org/a.png' });
    const fetchFile = async (item: PostItem) => ({ item: { ...item, metas: metaRows([['_wp_attached_file', '2026/01/a.png']]) } });
    const rehearsal = await taken([image], { dryRun: true, fetchFile });
    expect(rehearsal).toMatchObject({ created: { attachment: 1 }, lost: {}, losses: [] });
    expect({ ...(await taken([image], { fetchFile })), dryRun: true }).toEqual(rehearsal);
    expect((await taken([post('attachment', 501, { url: image.url })], { dryRun: true })).lost).toEqual({ attachment: 1 });
  });

  it('shows imported events in lists immediately', async () => {
    await taken([post('event', 500)]);
    const { records } = await listPosts(site, await callerOf(site, 0), postKind('event'), {
      start_date: '2031-05-01',
      end_date: '2031-05-02',
    });
    expect(records.map(({ id }) => id)).toContain(500);
  });

  it('keeps serialized values byte for byte, including PHP objects, without creating objects', async () => {
    const value = 'O:8:"Evil\0Obj":1:{s:1:"a";R:1;}';
    await taken([
      post('event', 500, {
        metas: [
          ...WHEN,
          ...metaRows([
            ['custom', value],
            ['list', 'a:1:{i:0;s:2:"é";}'],
          ]),
        ],
      }),
    ]);
    expect(await metasOf(500, 'custom')).toEqual([value]);
    expect(await metasOf(500, 'list')).toEqual(['a:1:{i:0;s:2:"é";}']);
  });

  it('omits URLs with executable schemes, and metas of the editor', async () => {
    const report = await taken([
      post('event', 500, {
        metas: [
          ...WHEN,
          ...metaRows([
            ['_EventURL', ' java\tscript:alert(1)'],
            ['_EventURL', 'javascript:alert(1)'],
            ['_edit_lock', '1:1'],
          ]),
        ],
      }),
      post('venue', 600, {
        metas: metaRows([
          ['_VenueURL', 'www.example.org:8080/x'],
          ['_VenueURL', 'https://example.org'],
        ]),
      }),
    ]);
    expect(await metasOf(500, '_EventURL')).toEqual([]);
    expect(await metasOf(500, '_edit_lock')).toEqual([]);
    expect(await metasOf(600, '_VenueURL')).toEqual(['www.example.org:8080/x', 'https://example.org']);
    expect(report.losses).toMatchObject([{ reason: 'url-refused', count: 2 }]);
  });

  it('removes scripts with filterHtml', async () => {
    const columns = { ...titled('With script'), post_content: '<p>Hi</p><script>alert(1)</script>' };
    await taken([post('event', 500, { columns })], { filterHtml: true });
    expect((await row('With script')).post_content).toBe('<p>Hi</p>alert(1)');
  });

  it('gives new users from a file neither password nor role', async () => {
    const mallory: Item = {
      kind: 'author', sourceId: 'mallory', login: 'mallory', email: 'm@example.org', displayName: 'M', columns: { user_pass: '$wp$2y$10$abc' },
      metas: [['capabilities', 'a:1:{s:13:"administrator";b:1;}'], ['user_level', '10'], ['_application_passwords', 'a:0:{}']],
    }; // biome-ignore format: short
    await taken([mallory]);
    const user = (await site.db.from('users').where('user_login', 'mallory').first())!;
    expect(user.user_pass).toBe('*');
    const metas = await site.db.from('usermeta').where('user_id', user.ID).select('meta_key', 'meta_value');
    expect(metas.find(({ meta_key: key }) => key === 'wp_capabilities')?.meta_value).toBe('a:1:{s:10:"subscriber";b:1;}');
    expect(metas.map(({ meta_key: key }) => key)).not.toContain('_application_passwords');
  });

  it('makes no users for those who may not create users, until somebody who may imports the source', async () => {
    const person = (login: string): Item => ({
      kind: 'author', sourceId: login, login, email: `${login}@elsewhere.example`, displayName: login, metas: [],
    }); // biome-ignore format: short
    const items = [person('anna'), person('ed'), post('event', 600, { author: 'anna' }), post('event', 601, { author: 'ed' })];
    const authorsOf = async () => (await site.db.from('posts').whereIn('ID', [600, 601]).orderBy('ID')).map((event) => event.post_author);
    const limited = { ...caller, viewer: { ...caller.viewer, can: (name: string) => name !== 'create_users' && caller.viewer.can(name) } };
    const importedBy = (importer: Caller, dryRun: boolean) => importItems(site, importer, streamOf(items), { source: 'x', dryRun });
    for (const dryRun of [true, false]) {
      const { created, lost, losses } = await importedBy(limited, dryRun);
      expect([created, lost]).toEqual([{ event: 2 }, { author: 1 }]);
      expect(losses.map(({ reason, examples }) => [reason, examples.map(({ of }) => of)])).toContainEqual(['author-forbidden', ['anna']]);
    }
    expect(await site.db.from('users').where('user_login', 'anna')).toEqual([]);
    expect(await authorsOf()).toEqual([1, 2]);
    expect((await importedBy(caller, false)).created).toEqual({ author: 1 });
    expect(await authorsOf()).toEqual([(await site.db.from('users').where('user_login', 'anna').first())!.ID, 2]);
    const withPasswords = { source: 'database', trustedAccounts: true };
    expect((await importItems(site, limited, streamOf([person('berta')]), withPasswords)).created).toEqual({ author: 1 });
  });

  it('reports coordinates of venues that do not exist, and keeps them', async () => {
    const at = (id: number, lat: string, lng: string) => post('venue', id, { metas: metaRows([['_VenueLat', lat], ['_VenueLng', lng]]) }); // biome-ignore format: short
    const report = await taken([at(501, '999', '7.68'), at(502, '45.07', 'east'), at(503, '', ''), at(504, '-45.07', '1.8e2')]);
    expect(report.losses.map(({ reason, examples }) => [reason, examples.map(({ detail }) => detail)])).toEqual([
      ['coordinates-wrong', ['_VenueLat: 999', '_VenueLng: east']],
    ]);
    expect(isIncomplete(report)).toBe(false);
    expect([await metasOf(501, '_VenueLat'), await metasOf(502, '_VenueLng')]).toEqual([['999'], ['east']]);
  });

  it('corrects a duration that contradicts start and end', async () => {
    const lasting = (id: number, seconds: string) =>
      post('event', id, { metas: metaRows(WHEN.map(([key, value]) => [key, key === '_EventDuration' ? seconds : value])) });
    const report = await importItems(site, caller, streamOf([lasting(501, '9000'), lasting(502, '-5'), lasting(503, '3600')]), {
      source: 'other.example.org',
    });
    expect(report.losses.map(({ reason, examples }) => [reason, examples.map(({ detail }) => detail)])).toEqual([
      ['duration-mended', ['9000 -> 7200', '-5 -> 7200']],
    ]);
    expect(isIncomplete(report)).toBe(false);
    const stored = await db.from('postmeta').whereIn('post_id', [501, 502, 503]).where('meta_key', '_EventDuration').orderBy('post_id');
    expect(stored.map(({ meta_value }) => meta_value)).toEqual(['7200', '7200', '3600']);
    expect(await db.from('tec_occurrences').whereIn('post_id', [501, 502, 503])).toHaveLength(3);
  });

  it('computes missing UTC times of all-day events from their local times, at any cutoff', async () => {
    const { settings } = caller;
    const late = { ...caller, settings: { ...settings, calendar: { ...settings.calendar, cutoff: '04:00' } } };
    const metas = metaRows([
      ['_EventStartDate', '2031-05-01 00:00:00'],
      ['_EventEndDate', '2031-05-01 23:59:59'],
      ['_EventAllDay', 'yes'],
    ]);
    await importItems(site, late, streamOf([post('event', 500, { metas })]), { source: 'other.example.org' });
    expect(await metasOf(500, '_EventStartDateUTC')).toEqual(['2031-04-30 22:00:00']);
    expect(await metasOf(500, '_EventEndDateUTC')).toEqual(['2031-05-01 21:59:59']);
    expect(await metasOf(500, '_EventDuration')).toEqual([]);
  });

  it('corrects UTC times that contradict the local time, except for those that the calendar stores for offsets', async () => {
    const offset = { _EventTimezone: 'UTC+5:30', _EventTimezoneAbbr: 'UTC+5:30' };
    const report = await taken([dated({ _EventStartDateUTC: '2031-05-01 08:00:00' }), dated(offset, 501)]);
    expect(report.losses.map(({ reason, examples }) => [reason, examples.map(({ detail }) => detail)])).toEqual([
      ['utc-mended', ['2031-05-01 08:00:00 -> 2031-05-01 18:00:00']],
    ]);
    expect(isIncomplete(report)).toBe(false);
    expect(await metasOf(500, '_EventStartDateUTC')).toEqual(['2031-05-01 18:00:00']);
    expect(await metasOf(501, '_EventStartDateUTC')).toEqual(['2031-05-01 18:00:00']);
  });

  it.each([
    ['at the later of two moments', '01:30', '01:45', '06:30', '06:45', '900'],
    ['from the earlier of two moments to the later one', '01:30', '01:15', '05:30', '06:15', '2700'],
  ])('keeps an event %s with the same local time', async (_, start, end, startUtc, endUtc, duration) => {
    const times = { _EventStartDate: start, _EventEndDate: end, _EventStartDateUTC: startUtc, _EventEndDateUTC: endUtc };
    const metas = Object.fromEntries(Object.entries(times).map(([key, time]) => [key, `2027-11-07 ${time}:00`]));
    const zone = { _EventTimezone: 'America/New_York', _EventTimezoneAbbr: 'EST', _EventDuration: duration };
    expect((await taken([dated({ ...metas, ...zone })])).losses).toEqual([]);
    expect(await metasOf(500, '_EventStartDateUTC')).toEqual([`2027-11-07 ${startUtc}:00`]);
    expect(await db.from('tec_occurrences').where('post_id', 500)).toMatchObject([{ end_date_utc: `2027-11-07 ${endUtc}:00` }]);
  });

  it.each<[string, Partial<PostItem['columns']>, string, string]>([
    ['the other one', { post_date: ZERO_DATE, post_date_gmt: '2026-07-01 08:00:00' }, '2026-07-01 10:00:00', '2026-07-01 08:00:00'],
    ['the other one', { post_date: '2026-07-01 10:00:00', post_date_gmt: ZERO_DATE }, '2026-07-01 10:00:00', '2026-07-01 08:00:00'],
    ['the moment of the import', { post_date: ZERO_DATE, post_date_gmt: ZERO_DATE }, '2026-11-21 10:00:00', '2026-11-21 09:00:00'],
    [
      'nothing, for a draft',
      { post_status: 'draft', post_date: '2026-07-01 10:00:00', post_date_gmt: ZERO_DATE },
      '2026-07-01 10:00:00',
      ZERO_DATE,
    ],
  ])('dates a published record without a publication date from %s', async (_, columns, local, utc) => {
    const report = await taken([post('event', 500, { columns: { ...post('event', 500).columns, ...columns } })]);
    expect(report.losses.map(({ reason }) => reason)).toEqual(columns.post_status === 'draft' ? [] : ['date-mended']);
    expect(isIncomplete(report)).toBe(false);
    expect(await row('event 500')).toMatchObject({ post_date: local, post_date_gmt: utc });
  });

  it.each([1, 200])('creates no cycles of records (%s at once)', async (itemsAtOnce) => {
    const items = [post('event', 500, { parent: '500' }), post('event', 501, { parent: '502' }), post('event', 502, { parent: '501' })];
    const report = await taken(items, { itemsPerBatch: itemsAtOnce });
    expect(report.losses.map(({ reason, examples }) => [reason, examples.map(({ detail }) => detail)])).toEqual([
      ['parent-loop', ['500', '501']],
    ]);
    expect(await site.db.from('posts').whereIn('ID', [500, 501, 502]).orderBy('ID').pluck('post_parent')).toEqual([0, 502, 0]);
    expect((await taken(items, { itemsPerBatch: itemsAtOnce })).unchanged).toEqual({ event: 3 });
  });

  it('moves a record to the top below a thousand levels', async () => {
    const chain = Array.from({ length: 1003 }, (_, level) =>
      post('venue', 1000 + level, level === 0 ? {} : { parent: String(999 + level) }),
    );
    const { losses } = await taken(chain);
    expect(losses.map(({ reason, examples }) => [reason, examples.map(({ detail }) => detail)])).toEqual([['parent-loop', ['2000']]]);
  });

  it.each([
    ['a:3:{s:5:"rules";a:0:{}s:10:"exclusions";a:0:{}s:11:"description";N;}', []],
    ['a:0:{}', []],
    ['', []],
    ['a:1:{s:5:"rules";a:1:{i:0;a:1:{s:4:"type";s:10:"Every Week";}}}', ['recurrence']],
  ])('reports recurrence only if an event has a rule (%s)', async (rule, told) => {
    const report = await importItems(
      site,
      caller,
      streamOf([post('event', 504, { metas: [...WHEN, ...metaRows([['_EventRecurrence', rule]])] })]),
      {
        source: 'other.example.org',
      },
    );
    expect(report.losses.map(({ reason }) => reason)).toEqual(told);
  });

  it('is refused to users who may not import', async () => {
    const before = await calendarOf(site.db);
    await expect(importItems(site, await callerOf(site, 2), streamOf([post('event', 500)]), { source: 'x' })).rejects.toMatchObject({
      problem: 'rest_forbidden',
    });
    expect(await calendarOf(site.db)).toEqual(before);
  });

  it('does not resume an import that was not started', async () => {
    await expect(taken([post('event', 500)], { resume: true })).rejects.toMatchObject({ fault: 'nothing-to-resume' });
  });

  it('stops if the same source is imported again in the meantime', async () => {
    const first = async function* () {
      yield post('event', 500);
      yield post('event', 501);
      await taken([post('event', 502)]);
      yield post('event', 503);
      yield post('event', 504);
    };
    await expect(importItems(site, caller, first(), { source: 'other.example.org', itemsPerBatch: 2 })).rejects.toMatchObject({
      fault: 'superseded',
    });
  });

  it('counts the published events of a term, including existing ones', async () => {
    const terms = [{ kind: 'category', sourceId: 'music', slug: 'music', name: 'Music' }] as const;
    const countOf = async () => Number((await db.from('term_taxonomy').where('term_id', 2).first())?.count);
    const before = await countOf();
    const draft = { ...post('event', 501).columns, post_status: 'draft' };
    await taken([category('music'), post('event', 500, { terms }), post('event', 501, { terms, columns: draft })], { itemsPerBatch: 1 });
    expect(await countOf()).toBe(before + 1);
  });
});
