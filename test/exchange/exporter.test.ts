import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ExportOptions, exportEntries } from '../../src/exchange/exporter.ts';
import { type Entry, isItem, isPostItem, type PostItem } from '../../src/exchange/items/items.ts';
import { postKind, postKinds } from '../../src/kinds/index.ts';
import type { PostKindName } from '../../src/kinds/kind-names.ts';
import { SUGGESTION_META } from '../../src/kinds/suggestion.ts';
import { acceptParams } from '../../src/records/input.ts';
import { listPosts } from '../../src/records/posts.ts';
import { createPost } from '../../src/records/writes/post-writes.ts';
import type { Site } from '../../src/site.ts';
import { SETTABLE_STATUSES } from '../../src/wordpress/status.ts';
import { describeDatabases } from '../support/databases.ts';
import { loadSite } from '../support/site.ts';
import { allOf, callerOf, siteOf } from './sites.ts';

/** User IDs of the sample site: administrator, editor, author, contributor, subscriber; 0 is anonymous. */
const USERS = { admin: 1, ed: 2, auth: 3, contrib: 4, sub: 5, nobody: 0 } as const;

describeDatabases('export', (openDatabase) => {
  let site: Site;
  beforeAll(async () => {
    const db = await loadSite(await openDatabase());
    site = await siteOf(db);
  });
  afterAll(() => site.close());

  const out = async (user: keyof typeof USERS, options: ExportOptions = {}): Promise<Entry[]> =>
    allOf(exportEntries(site, await callerOf(site, USERS[user]), options));
  const posts = (entries: readonly Entry[], kind: PostItem['kind']) =>
    entries
      .filter(isItem)
      .filter(isPostItem)
      .filter((item) => item.kind === kind);
  const ids = (entries: readonly Entry[], kind: PostItem['kind']) =>
    posts(entries, kind)
      .map(({ id }) => id!)
      .sort((a, b) => a - b);

  /** Returns the IDs that lists show to a user, in all statuses and at all times. */
  const listed = async (user: keyof typeof USERS, kind: PostKindName): Promise<{ ids: number[]; locked: number[] }> => {
    const caller = await callerOf(site, USERS[user]);
    const rows = await site.db.from('posts').where('post_type', postKind(kind).postType).select('ID', 'post_password');
    // Hidden events are listed if they are requested by ID.
    const values = kind === 'event' ? { include: rows.map(({ ID }) => ID) } : {};
    const { records } = await listPosts({ ...site, config: { ...site.config, maxPerPage: 1000 } }, caller, postKind(kind), {
      ...values,
      status: SETTABLE_STATUSES,
      per_page: 1000,
    });
    return {
      ids: records.map(({ id }) => Number(id)).sort((a, b) => a - b),
      locked: rows.filter(({ post_password: password }) => password !== '').map(({ ID }) => ID),
    };
  };

  describe.each(Object.keys(USERS) as (keyof typeof USERS)[])('for the user %s', (user) => {
    it.each(postKinds.map(({ name }) => name))('contains the %ss that lists show, except protected ones of other authors', async (kind) => {
      const entries = await out(user, { kinds: [kind] });
      const { ids: shown, locked } = await listed(user, kind);
      const stayed = entries.filter(
        (entry) => entry.kind === 'loss' && entry.loss.reason === 'protected' && entry.loss.kind === kind,
      ).length;
      const missing = shown.filter((id) => !ids(entries, kind).includes(id));
      expect(ids(entries, kind)).not.toEqual([]);
      expect(ids(entries, kind).filter((id) => !shown.includes(id))).toEqual([]);
      expect(missing.filter((id) => !locked.includes(id))).toEqual([]);
      expect(missing).toHaveLength(stayed);
    });
  });

  it('contains no passwords, private metas, settings or email address of the administrator for anonymous visitors', async () => {
    const entries = await out('nobody');
    const texts = JSON.stringify(entries);
    for (const secret of ['admin@example.test', 'eventpass', 'venuepass', 'orgpass', '$wp$2y', '_tribe_modified_fields', 'a_custom_field'])
      expect(texts).not.toContain(secret);
    expect(entries.filter((entry) => entry.kind === 'settings')).toEqual([]);
    const authors = entries.filter((entry) => entry.kind === 'author');
    expect(authors.length).toBeGreaterThan(0);
    expect(authors.filter(({ email }) => email !== '')).toEqual([]);
  });

  it('leaves out an event that is made private while others are exported', async () => {
    const published = ids(await out('nobody'), 'event');
    const entries: Entry[] = [];
    const withdrawn = published.at(-1)!;
    const setStatus = (post_status: string) => site.db.from('posts').where('ID', withdrawn).update({ post_status });
    try {
      for await (const entry of exportEntries(site, await callerOf(site, USERS.nobody), {})) {
        if (entry.kind === 'venue') await setStatus('private');
        entries.push(entry);
      }
    } finally {
      await setStatus('publish');
    }
    expect(ids(entries, 'event')).toEqual(published.filter((id) => id !== withdrawn));
  });

  it('contains nothing about the people who suggested events, and says so of those that are not published yet', async () => {
    const events = (await site.db.from('posts').where('post_type', 'tribe_events').orderBy('ID')).filter(
      ({ post_status: status }) => status === 'publish' || status === 'draft',
    );
    const meta = { meta_key: SUGGESTION_META, meta_value: '{"name":"Carla","email":"carla@example.net"}' };
    for (const { ID: post_id } of events) await site.db.from('postmeta').insert({ post_id, ...meta });
    const entries = await out('admin', { kinds: ['event'], statuses: SETTABLE_STATUSES });
    await site.db.from('postmeta').where(meta).delete();
    expect(ids(entries, 'event')).toEqual(expect.arrayContaining(events.map(({ ID }) => ID)));
    expect(JSON.stringify(entries)).not.toContain('carla@example.net');
    const reported = entries.flatMap((entry) => (entry.kind === 'loss' && entry.loss.reason === 'sender-left-out' ? [entry.loss.of] : []));
    const drafts = events.filter(({ post_status: status }) => status === 'draft').map(({ post_title: title }) => title);
    expect([drafts.length > 0, reported]).toEqual([true, drafts]);
  });

  it('contains everything for the administrator, including the trash', async () => {
    const entries = await out('admin');
    const rows = await site.db.from('posts').whereIn('post_type', ['tribe_events', 'tribe_venue', 'tribe_organizer', 'attachment']);
    expect(entries.filter(isItem).filter(isPostItem)).toHaveLength(rows.length);
    expect(entries.filter((entry) => entry.kind === 'loss')).toEqual([]);
    expect(entries.filter((entry) => entry.kind === 'settings')).toHaveLength(1);
    expect(JSON.stringify(entries)).not.toContain('$wp$2y');
  });

  it('applies the filters of lists without their default date range', async () => {
    const caller = await callerOf(site);
    const accepted = (raw: Record<string, unknown>) => acceptParams(site, caller, postKind('event').filters, raw, 'read');
    const everything = ids(await out('admin', { kinds: ['event'] }), 'event');
    const sport = await out('admin', { kinds: ['event'], filters: await accepted({ categories: 'sport' }) });
    const related = await site.db.from('term_relationships').where('term_taxonomy_id', 5).select('object_id');
    // As in lists, filters do not reveal data of protected records.
    const open = new Set((await site.db.from('posts').where('post_password', '').select('ID')).map(({ ID }) => ID));
    expect(ids(sport, 'event')).toEqual(
      related
        .map((row) => row.object_id)
        .filter((id) => everything.includes(id) && open.has(id))
        .sort((a, b) => a - b),
    );
    const early = await out('admin', { kinds: ['event'], filters: await accepted({ end_date: '2021-01-01' }) });
    expect(posts(early, 'event').every(({ metas }) => new Map(metas).get('_EventEndDate')! < '2021-01-02')).toBe(true);
    expect(ids(early, 'event').length).toBeGreaterThan(0);
  });

  it('contains, with a filter, events of all times that can be stored', async () => {
    const caller = await callerOf(site, 1);
    const kind = postKind('event');
    for (const [start_date, end_date] of [
      ['1000-01-01', '1000-01-01'],
      ['2026-01-01', '9999-12-31'],
    ]) {
      const values = { title: 'Permanent show', start_date, end_date, all_day: true, timezone: 'UTC', status: 'publish' };
      await createPost(site, caller, kind, await acceptParams(site, caller, kind.fields, values, 'create'));
    }
    const filters = await acceptParams(site, caller, kind.filters, { search: 'Permanent show' }, 'read');
    expect(posts(await out('admin', { kinds: ['event'], filters }), 'event')).toHaveLength(2);
    expect(posts(await out('admin', { kinds: ['event'], filters, eachDate: true }), 'event')).toHaveLength(2);
  });

  it('includes venues, organizers, images, terms and authors of its events, each before it is referred to', async () => {
    const caller = await callerOf(site);
    const filters = await acceptParams(site, caller, postKind('event').filters, { venue: '12' }, 'read');
    const entries = (await out('admin', { kinds: ['event'], filters })).filter(isItem);
    const seen = new Set<string>();
    for (const item of entries) {
      if (isPostItem(item)) {
        for (const link of item.links) if ('sourceId' in link) expect(seen).toContain(`${link.kind} ${link.sourceId}`);
        for (const term of item.terms ?? []) expect(seen).toContain(`${term.kind} ${term.sourceId}`);
        expect(seen).toContain(`author ${item.author}`);
      }
      seen.add(`${item.kind} ${item.sourceId}`);
    }
    expect(ids(entries, 'venue')).toContain(12);
    expect(ids(entries, 'event').length).toBeLessThan(ids(await out('admin'), 'event').length);
  });
});
