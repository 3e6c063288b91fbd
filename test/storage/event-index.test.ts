import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { loadViewer } from '../../src/accounts/viewer.ts';
import { ApiError } from '../../src/errors.ts';
import type { FeedSpan } from '../../src/kinds/feed-list.ts';
import { postKind, termKind } from '../../src/kinds/index.ts';
import type { PostKindName } from '../../src/kinds/kind-names.ts';
import { TEC_PASSWORD, tecFilters } from '../../src/kinds/tec/params.ts';
import { type Caller, callerFor } from '../../src/records/caller.ts';
import { listEditable } from '../../src/records/editing.ts';
import { type FeedQuery, loadFeedEvents } from '../../src/records/feed-events.ts';
import { acceptParams } from '../../src/records/input.ts';
import { canUseIndex, dropStaleIndex, hasIndex } from '../../src/records/list-index.ts';
import { listPosts } from '../../src/records/posts.ts';
import { listTecPosts } from '../../src/records/tec-posts.ts';
import { changeTerm, createTerm, deleteTerm } from '../../src/records/terms.ts';
import { changePost, createPost, deletePost, trashPost } from '../../src/records/writes/post-writes.ts';
import type { Site } from '../../src/site.ts';
import { indexState } from '../../src/storage/audit/audit.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { insertRows } from '../../src/storage/engine/insert.ts';
import { disableIndex, enableIndex, indexEvents, isIndexOutdated, isIndexUpToDate } from '../../src/storage/index/event-index.ts';
import { hasWrongCounts, reindexEvents } from '../../src/storage/index/event-index-rebuild.ts';
import { joinWriters, reportPostChanged, reportUser } from '../../src/storage/journal/reported-changes.ts';
import { MAX_LINKED_RECORDS } from '../../src/storage/lists/linked-records.ts';
import { changedAt } from '../../src/storage/rows/changes.ts';
import { findTerm, updateTerm } from '../../src/storage/rows/terms.ts';
import { migrate, missingTables, tableDefinitions } from '../../src/storage/schema/migrate.ts';
import { siteOf } from '../exchange/sites.ts';
import { describeDatabases } from '../support/databases.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite, resetSite, setOptions, snapshotTables } from '../support/site.ts';

const NOW = new Date('2026-11-20T12:00:00Z');
const [ADMIN, EDITOR, AUTHOR, CONTRIBUTOR] = [1, 2, 3, 4];

/**
 * Event lists of many shapes: the default, every bound alone and in combination, every filter that the index supports,
 * some that it does not, and pages beyond the end.
 */
const EVENT_LISTS: readonly Record<string, string>[] = [
  {},
  { per_page: '3', page: '2' },
  { per_page: '2', page: '40' },
  { order: 'desc', per_page: '7' },
  { start_date: '2026-11-21', end_date: '2026-12-31' },
  { start_date: '2026-11-21', end_date: '2026-11-21' },
  { start_date: '2026-12-01', end_date: '2026-12-03' },
  { start_date: '2027-03-01', end_date: '2026-03-01' },
  { start_date: '2026-10-31', end_date: '2027-02-01' },
  { start_date: '2026-11-01', end_date: '2027-01-31', order: 'desc' },
  { start_date: '1990-01-01', end_date: '2090-01-01', per_page: '5', page: '3' },
  { start_date: '2026-11-22 20:00:00', end_date: '2026-12-05 21:00:00', strict_dates: 'true' },
  { start_date: '2026-11-25 19:00:00', end_date: '2026-11-25 23:00:00', strict_dates: 'true' },
  { strict_dates: 'true' },
  { starts_after: '2026-11-20', per_page: '4' },
  { starts_before: '2026-12-01' },
  { ends_after: '2026-11-30' },
  { ends_after: '2026-11-30', order: 'desc', per_page: '4', page: '2' },
  { ends_after: '2026-12-02', per_page: '2', page: '2' },
  { ends_after: '2026-12-02', starts_before: '2026-12-02' },
  { ends_after: '2026-12-02 10:00:00', strict_dates: 'true', starts_before: '2026-12-20' },
  { ends_before: '2026-12-02' },
  { ends_after: '2026-11-22', ends_before: '2026-12-24' },
  { starts_after: '2026-11-22', ends_before: '2026-12-24', order: 'desc' },
  { categories: '2' },
  { categories: '3', start_date: '2026-01-01' },
  { categories: '4', ends_after: '2026-11-30' },
  { categories: '2,5' },
  { tags: '12', start_date: '2020-01-01' },
  { tags: '12,13' },
  { venue: '12', start_date: '2020-01-01' },
  { venue: '12,13' },
  { organizer: '24' },
  { organizer: '24', tags: '12', start_date: '2020-01-01' },
  { categories: '2', venue: '12', start_date: '2020-01-01' },
  { categories: '2', password: 'secret' },
  { featured: 'true' },
  { featured: 'false', per_page: '4' },
  { featured: 'true', password: 'secret', start_date: '2020-01-01' },
  { search: 'a' },
  { search: 'a', categories: '2' },
  { include: '38,39,40' },
  { orderby: 'title' },
  { orderby: 'end_date', per_page: '5' },
  { modified_after: '2026-11-19' },
  { ticketed: 'false' },
  { geoloc: 'true' },
  { geoloc: 'false', per_page: '4' },
  { geoloc_lat: '40.8', geoloc_lng: '-73.9', geoloc_radius: '20', start_date: '2020-01-01' },
  { geoloc_lat: '40.8', geoloc_lng: '-73.9', geoloc_radius: '20', start_date: '2020-01-01', orderby: 'start_date' },
  { city: 'new york', start_date: '2020-01-01' },
  { city: 'nowhere' },
  { country: 'united states', venue: '12,13', start_date: '2020-01-01', order: 'desc', per_page: '4' },
  { categories: '2,3,4', start_date: '2020-01-01', per_page: '3', page: '2' },
  { categories: '2,4', tags: '12,13', ends_after: '2026-11-30' },
  { categories: '2,5', featured: 'true', start_date: '2020-01-01' },
  { categories: '2,5', password: 'secret' },
  { organizer: '24,25', start_date: '2020-01-01', order: 'desc', per_page: '3', page: '2' },
  { venue: '12,13', ends_after: '2026-11-30', per_page: '2' },
  { venue: '12,999' },
  { venue: '12', organizer: '24', start_date: '2020-01-01' },
  { venue: '12,13', organizer: '24,25', start_date: '2020-01-01', geoloc: 'false' },
];
/** Lists of `tec/v1`, which show each event once. */
const TEC_LISTS: readonly Record<string, string>[] = [
  { per_page: '3', page: '2' },
  { order: 'DESC', per_page: '7' },
  { ends_after: '2026-11-30', starts_before: '2026-12-20', per_page: '4' },
  { venue: '12,13', organizer: '24,25', order: 'DESC' },
  { venue: '12', password: 'secret' },
  { featured: 'true' },
  { featured: 'false', per_page: '4' },
  { search: 'a' },
];
const LINKED_LISTS: readonly Record<string, string>[] = [
  { only_with_upcoming: 'true' },
  { has_events: 'true' },
  { has_events: 'false', per_page: '3' },
  { only_with_upcoming: 'true', has_events: 'true', per_page: '2', page: '2' },
];

/** Lists of events to edit, such as a month of the desk. */
const DESK_LISTS: readonly Record<string, string>[] = [
  {},
  { status: 'publish', start_date: '2026-12-01', end_date: '2026-12-31', order: 'asc' },
  { status: 'publish', per_page: '5', page: '2' },
  { start_date: '2026-11-01' },
];

/** Days and months of the calendar; events that last until midnight are not on the day that begins then. */
const SPANS: readonly FeedSpan[] = [
  { view: 'day', date: '2026-11-22' },
  { view: 'day', date: '2026-12-02' },
  { view: 'month', date: '2026-12' },
  { view: 'month' },
  { view: 'list', date: '2026-12-02' },
];

describeDatabases('list index', (open, engine) => {
  let db: Database;
  let running: RunningSite;
  let site: Site;
  let putBack: () => Promise<void>;

  beforeAll(async () => {
    db = await loadSite(await open());
    running = await serveDatabase(db, { env: { SHARED_WITH_WORDPRESS: 'off' }, clock: () => NOW });
    site = running.site;
    await reindexEvents(site.db, () => NOW, { marksComplete: true });
    putBack = await snapshotTables(db);
  });
  afterAll(() => running.close());
  beforeEach(() => putBack());

  const callerOf = async (id: number): Promise<Caller> => {
    const settings = await site.settings();
    const nobody = { id: 0, can: () => false } as unknown as Caller['viewer'];
    return callerFor(site, settings, id === 0 ? nobody : ((await loadViewer(db, settings, id)) ?? nobody), { language: 'en' });
  };

  const listOf = async (caller: Caller, name: PostKindName, raw: Record<string, string>): Promise<unknown> => {
    const kind = postKind(name);
    return answerOf(async () => listPosts(site, caller, kind, await acceptParams(site, caller, kind.filters, raw, 'read')));
  };
  const tecListOf = async (caller: Caller, raw: Record<string, string>): Promise<unknown> => {
    const kind = postKind('event');
    const params = { ...tecFilters(kind), ...TEC_PASSWORD };
    return answerOf(async () => listTecPosts(site, caller, kind, await acceptParams(site, caller, params, raw, 'read')));
  };
  const deskListOf = (caller: Caller, raw: Record<string, string>, each: 'event' | 'occurrence'): Promise<unknown> =>
    answerOf(async () => {
      const { rows, ...list } = await listEditable(site, caller, postKind('event'), raw, { each });
      return { ...list, records: rows };
    });
  const feedOf = async (caller: Caller, span: FeedSpan, options: Pick<FeedQuery, 'filters' | 'withoutHidden' | 'limit' | 'offset'>) => {
    const { events, total } = await loadFeedEvents(site, caller, { span, terms: [], archive: false, ...options });
    return { ids: events.map(({ id }) => id), total };
  };
  const answerOf = async (
    list: () => Promise<{ records: readonly { id?: unknown }[]; total: number; pages: number }>,
  ): Promise<unknown> => {
    try {
      const { records, total, pages } = await list();
      return { ids: records.map(({ id }) => id), total, pages };
    } catch (error) {
      if (error instanceof ApiError) return error.code;
      throw error;
    }
  };

  /** Every list for several callers, read from the index and from WordPress's tables. */
  const bothWays = async (): Promise<{ indexed: unknown[]; plain: unknown[] }> => {
    const [indexed, plain]: [unknown[], unknown[]] = [[], []];
    for (const id of [0, EDITOR, AUTHOR, CONTRIBUTOR]) {
      const caller = await callerOf(id);
      expect(hasIndex(caller.settings)).toBe(true);
      const unindexed = { ...caller, settings: { ...caller.settings, shared: true } };
      const plan = [
        ...EVENT_LISTS.map((raw) => ['event', raw] as const),
        ...(id === 0 ? [] : [['event', { status: 'draft,pending,trash', start_date: '2020-01-01' }] as const]),
        ...LINKED_LISTS.flatMap((raw) => [['venue', raw] as const, ['organizer', raw] as const]),
      ];
      for (const [name, raw] of plan) {
        indexed.push([id, name, raw, await listOf(caller, name, raw)]);
        plain.push([id, name, raw, await listOf(unindexed, name, raw)]);
      }
      for (const raw of [...TEC_LISTS, ...(id === 0 ? [] : [{ status: 'draft,pending,private' }])]) {
        indexed.push([id, 'tec/v1', raw, await tecListOf(caller, raw)]);
        plain.push([id, 'tec/v1', raw, await tecListOf(unindexed, raw)]);
      }
      for (const [index, span] of SPANS.entries())
        for (const filters of [{}, { categories: '2' }]) {
          const limits = { withoutHidden: index % 2 === 0, limit: 5, offset: index };
          indexed.push([id, span, filters, await feedOf(caller, span, { filters, ...limits })]);
          plain.push([id, span, filters, await feedOf(unindexed, span, { filters, ...limits })]);
        }
      for (const each of ['event', 'occurrence'] as const)
        for (const raw of DESK_LISTS) {
          indexed.push([id, each, raw, await deskListOf(caller, raw, each)]);
          plain.push([id, each, raw, await deskListOf(unindexed, raw, each)]);
        }
    }
    return { indexed, plain };
  };

  /** All rows of the index, without counts that are zero. */
  const rowsOf = async () => ({
    entries: await db.from('fasti_entries').orderBy(['facet', 'start_at', 'posted_at', 'post_id', 'end_at']),
    days: await db
      .from('fasti_days')
      .where((some) => some.whereNot('n', 0).orWhereNot('running', 0))
      .orderBy(['facet', 'day']),
  });

  it.each<[string, () => Promise<unknown>]>([
    ['as it is', async () => undefined],
    [
      'with every other event protected',
      async () => db.from('posts').where('post_type', 'tribe_events').whereRaw('ID % 2 = 0').update({ post_password: 'secret' }),
    ],
    ['with private and hidden events', hideSome],
    ['with the days beginning at six', async () => setOptions(db, { tribe_events_calendar_options: { multiDayCutoff: '06:00' } })],
    [
      'compared in the zone of the site',
      async () => setOptions(db, { tribe_events_calendar_options: { tribe_events_timezone_mode: 'site' } }),
    ],
  ])('returns the same lists as the WordPress tables for the sample site %s', async (_, change) => {
    await change();
    await reindexEvents(site.db, () => NOW, { marksComplete: true });
    const { indexed, plain } = await bothWays();
    expect(indexed).toEqual(plain);
    // Empty lists would prove nothing.
    expect(plain.filter((answer) => /"total":[1-9]/.test(JSON.stringify(answer))).length).toBeGreaterThan(plain.length / 2);
  });

  async function hideSome(): Promise<void> {
    await db.from('posts').where('post_type', 'tribe_events').whereRaw('ID % 3 = 0').update({ post_status: 'private' });
    const ids: number[] = await db.from('posts').where('post_type', 'tribe_events').whereRaw('ID % 3 = 1').pluck('ID');
    await db.from('postmeta').insert(ids.map((post_id) => ({ post_id, meta_key: '_EventHideFromUpcoming', meta_value: 'yes' })));
  }

  it('stays in step with the WordPress tables and returns the same lists after random writes', async () => {
    await fc.assert(
      fc
        .asyncProperty(fc.array(command, { minLength: 4, maxLength: 14 }), async (commands) => {
          for (const one of commands) await run(one);
          const kept = await rowsOf();
          await reindexEvents(site.db, () => NOW, { marksComplete: true });
          expect(kept).toEqual(await rowsOf());
          const { indexed, plain } = await bothWays();
          expect(indexed).toEqual(plain);
        })
        .beforeEach(() => putBack()),
      { numRuns: Number(process.env.INDEX_RUNS ?? 6), interruptAfterTimeLimit: 240_000 },
    );
  }, 300_000);

  /** Runs a command through the record functions; a command that the site refuses changes nothing. */
  const run = async (one: Command): Promise<void> => {
    const caller = await callerOf(one.by ?? ADMIN);
    const event = postKind('event');
    const some = async (type: string, place: number) => {
      const ids: number[] = await db.from('posts').where('post_type', type).orderBy('ID').pluck('ID');
      return ids[place % ids.length] ?? 0;
    };
    const terms = async (taxonomy: string) =>
      (await db.from('term_taxonomy').where('taxonomy', taxonomy).orderBy('term_id').pluck('term_id')) as number[];
    try {
      if (one.do === 'create') await createPost(site, caller, event, await acceptParams(site, caller, event.fields, one.fields, 'create'));
      if (one.do === 'change')
        await changePost(
          site,
          caller,
          event,
          await some('tribe_events', one.place),
          await acceptParams(site, caller, event.fields, one.fields, 'change'),
        );
      if (one.do === 'trash') await trashPost(site, caller, event, await some('tribe_events', one.place));
      if (one.do === 'trashVenue') await trashPost(site, caller, postKind('venue'), await some('tribe_venue', one.place));
      if (one.do === 'deleteVenue') await deletePost(site, caller, postKind('venue'), await some('tribe_venue', one.place));
      if (one.do === 'term') await createTerm(site, caller, termKind('category'), { name: `Term ${one.place}`, parent: one.parent });
      if (one.do === 'deleteTerm') {
        const ids = await terms(one.taxonomy);
        await deleteTerm(site, caller, termKind(one.taxonomy === 'post_tag' ? 'tag' : 'category'), ids[one.place % ids.length] ?? 0);
      }
      if (one.do === 'move') {
        const ids = await terms('tribe_events_cat');
        const parent = one.parent === 0 ? 0 : ids[one.parent % ids.length];
        await changeTerm(site, caller, termKind('category'), ids[one.place % ids.length] ?? 0, { parent });
      }
      if (one.do === 'protect') {
        const id = await some('tribe_events', one.place);
        await site.db.transaction(async (trx) => {
          await trx.from('posts').where('ID', id).update({ post_password: 'secret' });
          await indexEvents(trx, [id], undefined);
          reportPostChanged(trx, id);
          joinWriters(trx);
        });
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  };

  it.each([
    ['venue', 12, '_EventVenueID'],
    ['organizer', 24, '_EventOrganizerID'],
  ] as const)('loses a deleted %s, as the events that link to it do', async (name, id, meta_key) => {
    const links = () => db.from('postmeta').where({ meta_key, meta_value: String(id) });
    const others = async () => (await db.from('postmeta').select('meta_key', 'meta_value')).length - (await links()).length;
    const kind = postKind(name);
    await trashPost(site, await callerOf(ADMIN), kind, id);
    expect((await links()).length).toBeGreaterThan(4);
    const [before, own] = [await others(), (await db.from('postmeta').where('post_id', id)).length];
    await deletePost(site, await callerOf(ADMIN), kind, id);
    expect([await links(), await others()]).toEqual([[], before - own]);
    const kept = await rowsOf();
    await reindexEvents(site.db, () => NOW, { marksComplete: true });
    expect(kept).toEqual(await rowsOf());
  });

  it('has an event that ends in an hour which its zone repeats, and returns the same lists as the tables around it', async () => {
    // From 01:30 in daylight saving time of New York to 01:15 in standard time.
    const dates = { start_date: '01:30', end_date: '01:15', start_date_utc: '05:30', end_date_utc: '06:15' };
    const row = Object.fromEntries(Object.entries(dates).map(([name, time]) => [name, `2027-11-07 ${time}:00`]));
    await db.from('tec_occurrences').where('post_id', 38).update(row);
    expect(await reindexEvents(site.db, () => NOW, { marksComplete: true })).toMatchObject({ unindexable: [] });
    const caller = await callerOf(0);
    expect(hasIndex(caller.settings)).toBe(true);
    const unindexed = { ...caller, settings: { ...caller.settings, shared: true } };
    for (const time of ['01:00', '01:10', '01:35', '01:40'])
      for (const bound of ['starts_after', 'starts_before', 'ends_after', 'ends_before', 'start_date', 'end_date']) {
        const asked = { [bound]: `2027-11-07 ${time}:00`, strict_dates: 'local', per_page: '50' };
        const found = await listOf(caller, 'event', asked);
        expect([asked, found]).toEqual([asked, await listOf(unindexed, 'event', asked)]);
        const contains = (found as { ids?: number[] }).ids?.includes(38) === true;
        if (bound === 'ends_after') expect([asked, contains]).toEqual([asked, time < '01:30']);
      }
  });

  describe('trust in the index', () => {
    it('is lost when an event ends before it starts, until the event is repaired and the index rebuilt', async () => {
      await db.from('tec_occurrences').where('post_id', 38).update({ end_date: '2001-01-01 00:00:00' });
      const unfit = site.db.transaction(async (trx) => {
        joinWriters(trx);
        return indexEvents(trx, [38], undefined);
      });
      expect(await unfit).toEqual([38]);
      expect(hasIndex(await site.settings())).toBe(false);
      expect(await reindexEvents(site.db, () => NOW, { marksComplete: true })).toMatchObject({ unindexable: [38] });
      expect(hasIndex(await site.settings())).toBe(false);
      await resetSite(db);
      expect(await reindexEvents(site.db, () => NOW, { marksComplete: true })).toMatchObject({ unindexable: [] });
      expect(hasIndex(await site.settings())).toBe(true);
    });

    /** Rebuilds the index. `interrupt`: runs in each attempt after the events have been indexed. */
    const rebuildWith = (interrupt: (attempt: number) => Promise<unknown>) => {
      let attempts = 0;
      let due = false;
      const transaction: Database['transaction'] = async (work) => {
        if (due) await interrupt(attempts);
        due = false;
        return site.db.transaction(work);
      };
      const onProgress = () => {
        attempts += 1;
        due = true;
      };
      return reindexEvents({ ...site.db, transaction }, () => NOW, { marksComplete: true, onProgress });
    };
    const giveUp = (work: (trx: Database) => Promise<void> = async () => undefined) =>
      site.db.transaction(async (trx) => {
        await work(trx);
        await disableIndex(trx);
        joinWriters(trx);
      });

    it('is restored only by a rebuild that began after it was given up', async () => {
      // Category 3 moves to the top level, with more events than one transaction may update.
      const move = async (trx: Database) => {
        const term = await findTerm(trx, 'tribe_events_cat', 3);
        if (term) await updateTerm(trx, term, { parent: 0 });
      };
      const result = await rebuildWith(async (attempt) => attempt === 1 && giveUp(move));
      expect(result).toMatchObject({ isGivenUp: false });
      expect(hasIndex(await site.settings())).toBe(true);
      const rows = await rowsOf();
      await reindexEvents(site.db, () => NOW, { marksComplete: true });
      expect(await rowsOf()).toEqual(rows);
    });

    it('is not restored if it is given up during each attempt to rebuild it', async () => {
      expect(await rebuildWith(() => giveUp())).toMatchObject({ unindexable: [], isGivenUp: true });
      expect(hasIndex(await site.settings())).toBe(false);
    });

    it('is restored by several rebuilds at once', async () => {
      await disableIndex(db);
      const rebuild = () => reindexEvents(site.db, () => NOW, { marksComplete: true });
      for (const result of await Promise.all([rebuild(), rebuild()])) expect(result).toMatchObject({ isGivenUp: false });
      expect(hasIndex(await site.settings())).toBe(true);
      expect(await hasWrongCounts(db)).toBe(false);
    });

    it('requires that all changes by WordPress have been taken over, if WordPress writes to the same tables', async () => {
      const own = { settings: await site.settings(), receivedAt: 0 };
      const shared = { ...own, settings: { ...own.settings, shared: true } };
      expect(await canUseIndex(site, own)).toBe(true);
      expect(await canUseIndex({ ...site, takenOverSince: async () => undefined }, shared)).toBe(false);
      expect(await canUseIndex({ ...site, takenOverSince: async () => ({ state: undefined }) }, shared)).toBe(true);
      // Taking over changes may have ended the trust in the index.
      const inState = (state: string | undefined) => canUseIndex({ ...site, takenOverSince: async () => ({ state }) }, shared);
      expect(await inState('1')).toBe(true);
      await disableIndex(db);
      expect(await inState(undefined)).toBe(false);
      expect(await inState('2')).toBe(false);
    });

    it('is queried once per state of the database if WordPress writes to the same tables', async () => {
      const asking = { settings: { ...(await site.settings()), shared: true }, receivedAt: 0 };
      const queriesIn = async (state: string | undefined) => {
        const before = site.db.queries();
        expect(await canUseIndex({ ...site, takenOverSince: async () => ({ state }) }, asking)).toBe(true);
        return site.db.queries() - before;
      };
      expect([await queriesIn('a'), await queriesIn('a'), await queriesIn('b'), await queriesIn('a')]).toEqual([1, 0, 1, 1]);
      expect([await queriesIn(undefined), await queriesIn(undefined)]).toEqual([1, 1]);
    });

    const create = async () => {
      const caller = await callerOf(ADMIN);
      const raw = { title: 'Twice', start_date: '2026-12-01 10:00', end_date: '2026-12-01 12:00', status: 'publish' };
      return createPost(site, caller, postKind('event'), await acceptParams(site, caller, postKind('event').fields, raw, 'create'));
    };

    const move = async () => {
      const caller = await callerOf(ADMIN);
      const raw = { start_date: '2026-12-05 10:00', end_date: '2026-12-05 12:00' };
      await changePost(site, caller, postKind('event'), 38, await acceptParams(site, caller, postKind('event').fields, raw, 'change'));
    };

    it('is lost when a new event has an id with leftover entries, after the WordPress tables were restored', async () => {
      const entries = () => db.from('fasti_entries').orderBy('facet');
      await create();
      const all = await entries();
      await resetSite(db);
      expect(await entries()).toEqual(all);
      // The option may have been restored together with the tables of WordPress.
      await db.transaction((trx) => enableIndex(trx, undefined));
      await create();
      expect(await entries()).toEqual(all);
      expect(hasIndex(await site.settings())).toBe(false);
    });

    it('survives a write of a site that is shared with WordPress', async () => {
      const caller = await callerOf(ADMIN);
      await trashPost(site, { ...caller, settings: { ...caller.settings, shared: true } }, postKind('event'), 38);
      expect(hasIndex(await site.settings())).toBe(true);
      expect(await isIndexUpToDate(db, [38], undefined)).toBe(true);
    });

    it('is questioned once the calendar plugin has saved after Fasti', async () => {
      expect(await isIndexOutdated(db)).toBe(false);
      await setOptions(db, { tribe_last_save_post: String(NOW.getTime() / 1000 + 60) });
      expect(await isIndexOutdated(db)).toBe(true);
      await disableIndex(db);
      expect(await isIndexOutdated(db)).toBe(false);
    });

    it('is trusted if somebody signs in after a clock that was ahead at the last save has been set right', async () => {
      await db.from('fasti_changes').update({ changed_at: '2099-01-01 00:00:00' });
      await setOptions(db, { tribe_last_save_post: String(Date.parse('2099-01-01T00:00:00Z') / 1000) });
      await db.transaction(async (trx) => reportUser(trx, 1, 'changed'));
      expect(await isIndexOutdated(db)).toBe(false);
      await create();
      expect([await isIndexOutdated(db), await changedAt(db)]).toEqual([false, '2026-11-20 12:00:00']);
    });

    it.each<[string, () => PromiseLike<unknown>]>([
      ['its rows are gone', () => db.from('fasti_entries').delete()],
      ['rows of an event are gone', () => db.from('fasti_entries').where('post_id', 38).delete()],
      ['an event had another status', () => db.from('posts').where('ID', 38).update({ post_status: 'draft' })],
      ['an event was on another day', () => db.from('tec_occurrences').where('post_id', 38).update({ start_date: '2026-11-01 10:00:00' })],
      ['an event did not exist', () => db.from('tec_occurrences').where('post_id', 38).delete()],
    ])('is given up at the start if tables were replaced by others, in which %s', async (_what, replace) => {
      expect(await dropStaleIndex(site)).toBeUndefined();
      await replace();
      expect(await dropStaleIndex(site)).toBe('missing');
      expect(hasIndex(await site.settings())).toBe(false);
    });

    it('is kept at the start if another process writes while it is checked', async () => {
      const rows = async <Row>(...statement: Parameters<Database['rows']>): Promise<Row[]> => {
        const found = await site.db.rows<Row>(...statement);
        await create();
        return found;
      };
      expect(await dropStaleIndex({ ...site, db: { ...site.db, rows } })).toBeUndefined();
      expect(hasIndex(await site.settings())).toBe(true);
    });

    it.each(['tec_occurrences', 'fasti_days'])(
      'is not called wrong by an audit if another process writes after it has read %s',
      async (table) => {
        const beforeMove = <Query extends PromiseLike<unknown>>(query: Query): Query => {
          const thenOfQuery = (...after: Parameters<Query['then']>) => query.then((rows) => move().then(() => rows)).then(...after);
          return new Proxy(query, { get: (target, key) => (key === 'then' ? thenOfQuery : Reflect.get(target, key)) });
        };
        const from: Database['from'] = (name, alias) =>
          name === table ? beforeMove(site.db.from(name, alias)) : site.db.from(name, alias);
        expect(await indexState({ ...site.db, from }, undefined)).toBe('trusted');
      },
    );

    it('is not taken for complete if its tables are created again in a database that says so', async () => {
      const names = (await missingTables(db)).length === 0 ? tableDefinitions().map(({ name }) => name) : [];
      for (const name of names.filter((one) => one.startsWith('fasti_'))) await db.knex.schema.dropTable(db.prefix + name);
      for (const name of ['fasti_migrations', 'fasti_migrations_lock']) await db.knex.schema.dropTableIfExists(db.prefix + name);
      expect(hasIndex(await site.settings())).toBe(true);
      await migrate(db);
      const fresh = await siteOf(db);
      expect(hasIndex(await fresh.settings())).toBe(false);
      await fresh.close();
      await reindexEvents(db, () => NOW, { marksComplete: true, languages: undefined });
      expect(await dropStaleIndex(site)).toBeUndefined();
    });

    it('is checked when the service starts, with the reason why lists do not use the index', async () => {
      expect(await dropStaleIndex(site)).toBeUndefined();
      await setOptions(db, { tribe_last_save_post: String(NOW.getTime() / 1000 + 60) });
      expect(await dropStaleIndex(site)).toBe('missing');
      expect(hasIndex(await site.settings())).toBe(false);
      expect(await dropStaleIndex(site)).toBe('missing');
      await enableIndex(site.db, undefined);
      expect(await dropStaleIndex({ ...site, settings: async () => ({ ...(await site.settings()), shared: true }) })).toBe('shared');
      expect(hasIndex(await site.settings())).toBe(false);
    });
  });

  describe('queries without the index', () => {
    /** Aliases of the tables that the statement for a whole list reads, in the order of the query plan. */
    const readInOrder = async (name: PostKindName, raw: Record<string, string>): Promise<string[]> => {
      const caller = await callerOf(0);
      const seen: { sql: string; bindings: readonly unknown[] }[] = [];
      const watch = (query: (typeof seen)[number]) => seen.push(query);
      const stop = site.db.driver.listen(watch);
      await listOf({ ...caller, settings: { ...caller.settings, shared: true } }, name, raw);
      stop();
      // The statement that finds linked records, else the one that counts, else the one that finds a page.
      const counted =
        seen.find(({ sql }) => /^select distinct/.test(sql)) ??
        seen.find(({ sql }) => /^select count/.test(sql)) ??
        seen.find(({ sql }) => /^select `p`\.`ID`.* order by /s.test(sql));
      if (engine === 'MySQL') {
        const [rows] = (await db.knex.raw(`EXPLAIN ${counted?.sql}`, (counted?.bindings ?? []) as never)) as [{ table: string }[]];
        return rows.map(({ table }) => table);
      }
      const rows = (await db.knex.raw(`EXPLAIN QUERY PLAN ${counted?.sql}`, (counted?.bindings ?? []) as never)) as { detail: string }[];
      return rows.map(({ detail }) => /^(?:SCAN|SEARCH) (\w+)/.exec(detail)?.[1] ?? '');
    };

    it('find the same events near a place however many venues match', async () => {
      const caller = await callerOf(0);
      const places = [
        { geoloc: 'true', start_date: '2020-01-01' },
        { geoloc_lat: '40.8', geoloc_lng: '-73.9', geoloc_radius: '20', start_date: '2020-01-01' },
      ];
      const lists = async () => [await listOf(caller, 'event', places[0]!), await listOf(caller, 'event', places[1]!)];
      const before = await lists();
      expect(before).toEqual(places.map(() => expect.objectContaining({ ids: expect.arrayContaining([expect.any(Number)]) })));
      const venue = await db.from('posts').where('ID', 12).first();
      const many = Array.from({ length: MAX_LINKED_RECORDS + 1 }, (_, place) => ({
        ...venue!,
        ID: 50_000 + place,
        post_name: `hall-${place}`,
      }));
      await insertRows(db, 'posts', many);
      for (const [meta_key, meta_value] of Object.entries({ _VenueLat: '40.8', _VenueLng: '-73.9' }))
        await insertRows(
          db,
          'postmeta',
          many.map(({ ID }) => ({ post_id: ID, meta_key, meta_value })),
        );
      expect(await lists()).toEqual(before);
    });

    it.each<[string, PostKindName, Record<string, string>, string[]]>([
      ['reads a list between dates from the occurrences, then their events', 'event', {}, ['d', 'p']],
      ['reads a list with a search or a venue in the same order', 'event', { search: 'a', venue: '12' }, ['d', 'p']],
      ['reads a list of a category from its events, then their dates', 'event', { categories: '2' }, ['p', 'd']],
      [
        'reads a list of given events in the same order, for the page and for the total',
        'event',
        { include: '38,39' },
        ['p', 'd', 'p', 'd'],
      ],
      ['reads venues with events from the links to them', 'venue', { has_events: 'true' }, ['l', 'ev']],
      ['reads venues with upcoming events from the links, then their dates', 'venue', { only_with_upcoming: 'true' }, ['l', 'ev', 'd']],
    ])('%s', async (_, name, raw, order) => {
      expect((await readInOrder(name, raw)).filter((table) => order.includes(table))).toEqual(order);
    });
  });

  it.each([
    ['a small index', {}],
    ['an index that is counted facet by facet', { maxRowsAtOnce: 0 }],
  ])('removes rows of deleted events and repairs wrong counts when rebuilding: %s', async (_, size) => {
    const right = await rowsOf();
    await db
      .from('fasti_entries')
      .insert({ facet: 0, start_at: 20261201100000, posted_at: 1, post_id: 999, end_at: 20261201110000, status: 1 });
    await db.from('fasti_days').update({ n: 7 });
    await db.from('fasti_days').insert([20261201, -202613].map((day) => ({ facet: 8001, day, n: 2, running: 1 })));
    await db.from('fasti_entries').where('post_id', 38).del();
    await reindexEvents(site.db, () => NOW, { marksComplete: true, ...size });
    expect(await rowsOf()).toEqual(right);
  });

  it.each<[string, (of: Database) => PromiseLike<unknown>, boolean]>([
    ['no fault', async () => undefined, false],
    ['an empty day that still has its row', (of) => of.from('fasti_days').insert({ facet: 0, day: 20990101, n: 0, running: 0 }), false],
    ['a wrong number of events on a day', (of) => of.from('fasti_days').where('facet', 0).where('day', '>', 0).update({ n: 7 }), true],
    ['a wrong number of continuing events', (of) => of.from('fasti_days').where('running', '>', 0).update({ running: 0 }), true],
    ['a wrong number of events in a month', (of) => of.from('fasti_days').where('facet', 0).where('day', '<', 0).update({ n: 7 }), true],
    ['missing days of a facet', (of) => of.from('fasti_days').where('facet', 5).del(), true],
    ['missing months', (of) => of.from('fasti_days').where('day', '<', 0).del(), true],
    ['a facet without entries', (of) => of.from('fasti_days').insert({ facet: 8001, day: 20261201, n: 2, running: 0 }), true],
  ])('detects wrong counts in a small index and in one read facet by facet: %s', async (_, spoil, wrong) => {
    await spoil(db);
    expect([await hasWrongCounts(db), await hasWrongCounts(db, 0)]).toEqual([wrong, wrong]);
  });

  it('derives the counts of months from the counts of days in migration 006', async () => {
    const right = await rowsOf();
    expect(right.days.filter(({ day }) => day < 0).length).toBeGreaterThan(0);
    await db.from('fasti_days').where('day', '<', 0).del();
    await setOptions(db, { fasti_index: '1' });
    expect(hasIndex(await site.settings())).toBe(false);
    await db.knex(`${db.prefix}fasti_migrations`).where('name', '006-months').del();
    expect(await migrate(db)).toEqual(['006-months']);
    expect(await rowsOf()).toEqual(right);
    expect(hasIndex(await site.settings())).toBe(true);
  });

  it('counts the events of a list by days and months, not one by one', async () => {
    const seen: string[] = [];
    site.db.driver.listen(({ sql }: { sql: string }) => seen.push(sql));
    await listOf(await callerOf(0), 'event', {});
    expect(seen.filter((sql) => /SUM\(c.n\)/.test(sql))).toHaveLength(1);
    expect(seen.filter((sql) => /count\(\*\) as .total.|tec_occurrences/.test(sql))).toEqual([]);
  });
});

// ------------------------------------------------------------------------------------------------- writes
type Command =
  | { do: 'create'; by: number; fields: Record<string, unknown> }
  | { do: 'change'; by: number; place: number; fields: Record<string, unknown> }
  | { do: 'trash' | 'trashVenue' | 'deleteVenue' | 'protect'; by?: number; place: number }
  | { do: 'term' | 'move'; by?: number; place: number; parent: number }
  | { do: 'deleteTerm'; by?: number; taxonomy: string; place: number };

const SECOND = 1000;
const DAY = 86_400 * SECOND;
/**
 * Durations: within a day, past midnight, several days, exactly the limit of a short event, a second more, a season.
 */
const LENGTHS = [0, 2 * 3600 * SECOND, 10 * 3600 * SECOND, DAY, 3 * DAY, 31 * DAY, 31 * DAY + SECOND, 80 * DAY];
const written = (moment: number) => new Date(moment).toISOString().slice(0, 19).replace('T', ' ');
const dates = fc
  .record({ day: fc.integer({ min: -40, max: 60 }), hour: fc.constantFrom(0, 5, 13, 21, 23), length: fc.constantFrom(...LENGTHS) })
  .map(({ day, hour, length }) => {
    const start = Date.UTC(2026, 10, 20) + day * DAY + hour * 3600 * SECOND;
    return { start_date: written(start), end_date: written(start + length) };
  });
const place = fc.nat(200);
const optional = {
  status: fc.constantFrom('publish', 'publish', 'publish', 'draft', 'pending', 'private', 'future'),
  hide_from_listings: fc.boolean(),
  featured: fc.boolean(),
  all_day: fc.boolean(),
  categories: fc.subarray([2, 3, 4, 5, 6]),
  tags: fc.subarray([12, 13, 14]),
  venue: fc.constantFrom(12, 13),
  organizer: fc.subarray([24, 25]),
  timezone: fc.constantFrom('Europe/Rome', 'America/New_York', 'Pacific/Auckland'),
};
const by = fc.constantFrom(ADMIN, ADMIN, EDITOR, AUTHOR);
const fields = fc.record(optional, { requiredKeys: [] });
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('create' as const),
      by,
      fields: fc.tuple(dates, fields).map(([when, rest]) => ({ title: 'An evening', ...when, ...rest })),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('change' as const),
      by,
      place,
      fields: fc.tuple(fc.option(dates, { nil: {} }), fields).map(([when, rest]) => ({ ...when, ...rest })),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('trash' as const, 'protect' as const, 'trashVenue' as const, 'deleteVenue' as const),
      place,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('term' as const, 'move' as const), place, parent: fc.nat(8) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('deleteTerm' as const), taxonomy: fc.constantFrom('tribe_events_cat', 'post_tag'), place }),
  },
);
