import { describe, expect, it } from '@jest/globals';
import { listingInContext, termInContext } from '../../src/http/term-view.ts';
import { category } from '../../src/kinds/category.ts';
import type { Caller } from '../../src/records/caller.ts';

const LINKS = { self: [{ href: 'x' }] };
const TERM = {
  id: 4,
  count: 2,
  description: 'd',
  name: 'Jazz',
  slug: 'jazz',
  taxonomy: 'tribe_events_cat',
  parent: 3,
  meta: [],
  url: 'u',
  urls: { self: 's', collection: 'c', up: 'p' },
};
const caller = (can: boolean) => ({ viewer: { id: 1, login: 'x', can: () => can } }) as unknown as Caller;
const page = { timeliness: 'never' as const, records: [TERM], total: 1, pages: 1, page: 1, query: [] };

describe('term in a context', () => {
  it.each([undefined, '', 'view', 'edit'])('is complete in context %s', (context) => {
    expect(termInContext(TERM, context)).toEqual(TERM);
  });

  it('has few members in context embed', () => {
    expect(termInContext({ ...TERM, _links: LINKS }, 'embed')).toEqual({
      id: 4,
      name: 'Jazz',
      slug: 'jazz',
      taxonomy: 'tribe_events_cat',
      url: 'u',
      urls: { self: 's', collection: 'c' },
      _links: LINKS,
    });
  });

  it.each(['bogus', ['embed']])('has only its links in context %j', (context) => {
    expect(termInContext({ ...TERM, _links: LINKS }, context)).toEqual({ _links: LINKS });
    expect(termInContext(TERM, context)).toEqual([]);
  });

  it('is listed in context edit only for users who may edit it', () => {
    expect(listingInContext(caller(true), category, page, 'edit').records).toEqual([TERM]);
    expect(listingInContext(caller(false), category, page, 'edit').records).toEqual([]);
    expect(listingInContext(caller(false), category, page, undefined).records).toEqual([TERM]);
  });
});
