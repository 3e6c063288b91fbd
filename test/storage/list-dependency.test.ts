import { describe, expect, it } from '@jest/globals';
import { DATES } from '../../src/kinds/events/metas.ts';
import type { EntryRow } from '../../src/storage/engine/own-tables.ts';
import { ALL_EVENTS, facetOf } from '../../src/storage/index/event-index-rows.ts';
import {
  DATES_PART,
  effectiveIndexChange,
  type IndexChange,
  type OwnChange,
  partsOfMeta,
  TERMS_PART,
} from '../../src/storage/journal/own-changes.ts';
import type { Span } from '../../src/storage/lists/event-index-list.ts';
import type { IndexRange, ListedLanguage } from '../../src/storage/lists/index-range.ts';
import { affectsPage, isInRange, listDependency, partsOf, sourcesIn } from '../../src/storage/lists/list-dependency.ts';
import type { PostQuery } from '../../src/storage/lists/post-query.ts';

const MARCH = 20_270_301_000_000;
const APRIL = 20_270_401_000_000;
const at = (day: number, month = MARCH): number => month + (day - 1) * 1_000_000 + 100_000;

const row = (start_at: number, more: Partial<EntryRow> = {}): EntryRow => ({
  facet: ALL_EVENTS,
  start_at,
  posted_at: 20_260_101_000_000,
  post_id: 1,
  end_at: start_at + 20_000,
  status: 1,
  hidden: 0,
  locked: 0,
  featured: 0,
  occurrence_id: 0,
  language: 0,
  stands_in: '',
  ...more,
});
const RANGE: IndexRange = {
  facets: [ALL_EVENTS],
  from: MARCH,
  to: APRIL,
  endFrom: 0,
  endTo: 99_999_999_999_999,
  pastFrom: 0,
  statuses: [1],
  listedOnly: true,
  openOnly: false,
  unfeaturedOnly: false,
  language: undefined,
  postConditions: [],
  descending: false,
};
const ITALIAN: ListedLanguage = { number: 2, shares: ['own'] };
const moved = (gone: readonly EntryRow[], fresh: readonly EntryRow[]): Pick<OwnChange, 'indexChange'> => ({
  indexChange: { deleted: gone, inserted: fresh },
});

describe('isInRange', () => {
  it.each<[string, EntryRow, Partial<IndexRange>, boolean]>([
    ['on the first moment', row(MARCH), {}, true],
    ['before the first moment', row(MARCH - 1), {}, false],
    ['on the last moment', row(APRIL), {}, true],
    ['after the last moment', row(APRIL + 1), {}, false],
    ['that ends too early', row(at(2)), { endFrom: at(3) }, false],
    ['that ends at a moment which it must last past', row(at(2), { end_at: at(3) }), { endFrom: at(3), pastFrom: at(3) }, false],
    ['that starts and ends at that moment', row(at(3), { end_at: at(3) }), { endFrom: at(3), pastFrom: at(3) }, true],
    ['that lasts past that moment', row(at(2), { end_at: at(3) + 1 }), { endFrom: at(3), pastFrom: at(3) }, true],
    ['that ends too late', row(at(4)), { endTo: at(3) }, false],
    ['under another heading', row(at(2), { facet: facetOf('tag', 5) }), {}, false],
    ['under the heading', row(at(2), { facet: facetOf('tag', 5) }), { facets: [facetOf('tag', 4), facetOf('tag', 5)] }, true],
    ['of another status', row(at(2), { status: 3 }), {}, false],
    ['of any status', row(at(2), { status: 3 }), { statuses: undefined }, true],
    ['that is hidden', row(at(2), { hidden: 1 }), {}, false],
    ['that is hidden, where these are listed', row(at(2), { hidden: 1 }), { listedOnly: false }, true],
    ['with a password', row(at(2), { locked: 1 }), { openOnly: true }, false],
    ['that is featured', row(at(2), { featured: 1 }), { unfeaturedOnly: true }, false],
    ['of another language', row(at(2), { language: 1, stands_in: ',2,' }), { language: ITALIAN }, false],
    ['of the language', row(at(2), { language: 2 }), { language: ITALIAN }, true],
    ['of no language', row(at(2)), { language: { ...ITALIAN, shares: ['own', 'standIns'] } }, false],
    ['of no language, where these are listed', row(at(2)), { language: { ...ITALIAN, shares: ['own', 'neutral'] } }, true],
    ['that stands in', row(at(2), { language: 1, stands_in: ',12,2,' }), { language: { ...ITALIAN, shares: ['own', 'standIns'] } }, true],
    [
      'that stands in for another',
      row(at(2), { language: 1, stands_in: ',12,' }),
      { language: { ...ITALIAN, shares: ['own', 'standIns'] } },
      false,
    ],
  ])('knows whether a range contains a row %s', (_, one, range, is) => {
    expect(isInRange(one, { ...RANGE, ...range })).toBe(is);
  });
});

describe('page from the list index', () => {
  const SPAN: Span = { first: at(10), last: at(20) };
  it.each<[string, IndexChange | undefined, Span | undefined, boolean]>([
    ['changes if it is unknown what was moved', undefined, SPAN, true],
    ['stays if nothing was moved', { deleted: [], inserted: [] }, SPAN, false],
    ['stays after a move outside of the range', { deleted: [row(at(1, APRIL))], inserted: [row(at(2, APRIL))] }, SPAN, false],
    ['stays after a move behind it', { deleted: [row(at(21))], inserted: [row(at(25))] }, SPAN, false],
    ['stays after a move before it', { deleted: [row(at(2))], inserted: [row(at(9))] }, SPAN, false],
    ['changes after a move across it', { deleted: [row(at(9))], inserted: [row(at(21))] }, SPAN, true],
    ['changes after a move into it', { deleted: [row(at(25))], inserted: [row(at(15))] }, SPAN, true],
    ['changes after a move out of it', { deleted: [row(at(15))], inserted: [row(at(25))] }, SPAN, true],
    ['may change after a move to its first moment', { deleted: [row(at(2))], inserted: [row(at(10))] }, SPAN, true],
    ['may change after a move to its last moment', { deleted: [row(at(25))], inserted: [row(at(20))] }, SPAN, true],
    ['has another total after an event was added', { deleted: [], inserted: [row(at(25))] }, SPAN, true],
    ['has another total after an event was removed', { deleted: [row(at(25))], inserted: [] }, SPAN, true],
    [
      'may change after a move behind it if it is the last page',
      { deleted: [row(at(21))], inserted: [row(at(25))] },
      { ...SPAN, last: undefined },
      true,
    ],
    ['may change after any move if it has no records', { deleted: [row(at(21))], inserted: [row(at(25))] }, undefined, true],
    ['stays if an event that is not on it becomes hidden', { deleted: [], inserted: [row(at(15), { hidden: 1 })] }, SPAN, false],
  ])('%s', (_, what, span, is) => {
    expect(affectsPage({ indexChange: what }, RANGE, span)).toBe(is);
  });

  it.each<[string, number, number, boolean]>([
    ['stays after a move behind it', 9, 2, false],
    ['stays after a move before it', 21, 25, false],
    ['changes after a move across it', 9, 21, true],
  ])('in descending order %s', (_, from, to, is) => {
    const span = { first: SPAN.last!, last: SPAN.first };
    expect(affectsPage(moved([row(at(from))], [row(at(to))]), { ...RANGE, descending: true }, span)).toBe(is);
  });
});

describe('dependency of a list', () => {
  const query = (more: Partial<PostQuery> = {}): PostQuery => ({
    kind: { postType: 'tribe_events', hasDates: true },
    visible: { viewer: 0, all: ['publish'], others: [], own: [] },
    visibleEvents: { viewer: 0, all: ['publish'], others: [], own: [] },
    opened: { password: undefined, editable: undefined },
    conditions: [],
    order: { by: 'start', descending: false },
    limit: 10,
    offset: 0,
    occurrences: true,
    ...more,
  });
  const own = (...parts: string[]): OwnChange => ({ parts: new Set(parts), indexChange: { deleted: [], inserted: [] } });
  const isAffected = (asked: PostQuery, change: OwnChange, isOf = true, range?: IndexRange, span?: Span) =>
    listDependency(asked, range, span).isAffectedBy(change, isOf);

  it.each<[string, string, string, boolean]>([
    ['changes if an event starts to stand in for a translation', '', ',2,', true],
    ['changes if an event stops standing in for a translation', ',2,', '', true],
    ['stays if an event stands in for a translation in another language', '', ',3,', false],
    ['stays if an event that stands in is moved before it', ',2,', ',2,', false],
  ])('for a page of a tag in a language with stand-ins: the page %s', (_, before, after, is) => {
    const range = {
      ...RANGE,
      facets: [facetOf('tag', 4)] as const,
      language: { ...ITALIAN, shares: ['own', 'standIns'] },
    } satisfies IndexRange;
    const rowOf = (stands_in: string, day: number) => row(at(day), { facet: facetOf('tag', 4), language: 1, stands_in });
    const { isAffectedBy } = listDependency(query(), range, { first: at(10), last: at(20) });
    expect(isAffectedBy({ parts: new Set(), indexChange: { deleted: [rowOf(before, 3)], inserted: [rowOf(after, 2)] } }, false)).toBe(is);
  });

  it.each<[string, Partial<PostQuery>, readonly string[], boolean]>([
    ['the text, where it is not searched', {}, ['post_content', 'post_modified'], false],
    [
      'the text, where it is searched',
      { conditions: [{ by: 'words', terms: [], columns: ['post_content'], metas: [], together: true }] },
      ['post_content'],
      true,
    ],
    ['the title, where it is the order', { order: { by: 'title', descending: false } }, ['post_title'], true],
    ['the title, where it is not', {}, ['post_title'], false],
    ['the time of the change, where it is the order', { order: { by: 'modified', descending: true } }, ['post_modified'], true],
    ['the status', {}, ['post_status'], true],
    ['the password', {}, ['post_password'], true],
    ['the dates', {}, [DATES_PART], true],
    ['the dates, as metas', {}, partsOfMeta(DATES.start), true],
    [
      'the dates, of what has none',
      { kind: { postType: 'tribe_venue', hasDates: false }, order: { by: 'title', descending: false } },
      [DATES_PART],
      false,
    ],
    ['a meta that is asked for', { conditions: [{ by: 'meta', key: '_x', isPresent: true, guarded: false }] }, partsOfMeta('_X'), true],
    [
      'a meta that the database may take for it',
      { conditions: [{ by: 'meta', key: '_x', isPresent: true, guarded: false }] },
      partsOfMeta('_ẍ'),
      true,
    ],
    ['another meta', { conditions: [{ by: 'meta', key: '_x', isPresent: true, guarded: false }] }, partsOfMeta('_y'), false],
    ['terms that are asked for', { conditions: [{ by: 'terms', taxonomy: 'post_tag', ids: [4], guarded: true }] }, [TERMS_PART], true],
    ['terms that are not', {}, [TERMS_PART], false],
    ['anything, where it goes by languages', { conditions: [{ by: 'ticketed', hasTickets: true }] }, ['post_content'], true],
  ])('knows whether it is affected by a change of %s', (_, asked, parts, is) => {
    expect(isAffected(query(asked), own(...parts))).toBe(is);
  });

  it('ignores posts of another type and is affected by an unknown change of its own type', () => {
    expect(isAffected(query(), own('post_status'), false)).toBe(false);
    expect(isAffected(query(), { parts: undefined, indexChange: { deleted: [], inserted: [] } })).toBe(true);
  });

  it('consists only of the index if the list is read from the index alone', () => {
    const span = { first: at(10), last: at(20) };
    expect(isAffected(query(), { parts: undefined, indexChange: { deleted: [], inserted: [] } }, true, RANGE, span)).toBe(false);
    // This holds whichever object the entry names: a change of a category moves rows of its events.
    expect(isAffected(query(), { parts: undefined, ...moved([row(at(15))], []) } as OwnChange, false, RANGE, span)).toBe(true);
  });

  it('includes the posts if the list also queries them, and then any moved row in the range', () => {
    const range: IndexRange = { ...RANGE, postConditions: [{ by: 'author', ids: [1] }] };
    const span = { first: at(10), last: at(20) };
    expect(isAffected(query(), own('post_author'), true, range, span)).toBe(true);
    expect(isAffected(query(), own('post_content'), true, range, span)).toBe(false);
    expect(isAffected(query(), { parts: new Set(), ...moved([row(at(21))], [row(at(25))]) } as OwnChange, true, range, span)).toBe(true);
  });

  it('includes any moved row if an event may have rows under several of the facets', () => {
    const range: IndexRange = { ...RANGE, facets: [facetOf('tag', 4), facetOf('tag', 5)] };
    const change = moved([row(at(21), { facet: facetOf('tag', 4) })], [row(at(25), { facet: facetOf('tag', 4) })]);
    expect(isAffected(query(), { parts: new Set(), ...change } as OwnChange, true, range, { first: at(10), last: at(20) })).toBe(true);
  });

  it('is known for every order', () => {
    const orders = [
      'start',
      'end',
      'date',
      'modified',
      'title',
      'id',
      'include',
      'distance',
      'slug',
      'slugs',
      'author',
      'parent',
      'menu',
    ] as const;
    for (const by of orders) expect(partsOf(query({ order: { by, descending: false } }))).toBeInstanceOf(Set);
  });
});

describe('effectiveMoves', () => {
  const [one, other, third] = [row(at(1)), row(at(2)), row(at(3))];
  it.each<[string, IndexChange, IndexChange]>([
    ['nothing for a row that was put back', { deleted: [one], inserted: [one] }, { deleted: [], inserted: [] }],
    ['one move for several moves in a row', { deleted: [one, other], inserted: [other, third] }, { deleted: [one], inserted: [third] }],
    [
      'one move for moves there, back and there again',
      { deleted: [one, other, one], inserted: [other, one, other] },
      { deleted: [one], inserted: [other] },
    ],
  ])('reduces moves to their net effect: %s', (_, all, left) => {
    expect(effectiveIndexChange(all)).toEqual(left);
  });

  it('returns undefined for very many rows', () => {
    expect(
      effectiveIndexChange({ deleted: [], inserted: Array.from({ length: 600 }, (_, place) => row(at(1), { post_id: place })) }),
    ).toBeUndefined();
  });
});

describe('sourcesIn', () => {
  const TAGGED = { by: 'terms', taxonomy: 'post_tag', ids: [3], guarded: false } as const;
  it.each<[string, PostQuery['conditions'][number], ReturnType<typeof sourcesIn>]>([
    ['nothing for a search', { by: 'words', terms: [], columns: ['post_title'], metas: [], together: false }, []],
    ['all terms of the taxonomy', TAGGED, ['terms post_tag']],
    ['the event whose records are listed', { by: 'linkedFrom', key: '_EventVenueID', event: 7 }, [7]],
    [
      'those of all alternatives',
      { by: 'either', conditions: [TAGGED, { by: 'linkedFrom', key: '_EventVenueID', event: 7 }] },
      ['terms post_tag', 7],
    ],
    ['anything if it is for one of them', { by: 'either', conditions: [TAGGED, { by: 'ticketed', hasTickets: true }] }, undefined],
  ])('is %s', (_, condition, sources) => {
    expect(sourcesIn(condition)).toEqual(sources);
  });

  it('is the events that change a link', () => {
    const sources = sourcesIn({ by: 'linkedFromAny', key: '_EventVenueID', isLinked: true }) ?? [];
    const affects = (parts: OwnChange['parts']) =>
      sources.map((source) => typeof source === 'object' && source.isAffectedBy({ parts, indexChange: undefined }, true));
    expect(affects(new Set(partsOfMeta('_EventVenueID')))).toEqual([true]);
    expect(affects(new Set(['post_title']))).toEqual([false]);
  });
});
