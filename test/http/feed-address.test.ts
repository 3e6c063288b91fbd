import { describe, expect, it } from '@jest/globals';
import { type FeedAddress, feedAddress } from '../../src/http/feeds/address.ts';
import { parseQuery } from '../../src/http/input.ts';
import { FEED_PATH_ENDINGS, type PathPart, SECTIONS } from '../../src/kinds/feed-pages.ts';

const PLACE = { base: '', languages: ['en', 'it'], slugs: { events: ['events'], event: ['event'], tag: ['tag'] } };
const found = (target: string, place: Partial<typeof PLACE> = {}) => {
  const [path = '', query = ''] = target.split('?');
  return feedAddress(path, parseQuery(query), { ...PLACE, ...place });
};

/** A feed address on one line: its format, its subject and everything that differs from the default. */
function told({ format: form, page }: FeedAddress): string {
  const on = (page.of === 'event' && page.occurrence && ['on', page.occurrence.date, page.occurrence.number]) || [];
  if (page.of === 'event') return [form, 'event', page.slug ?? page.id, ...on].filter(Boolean).join(' ');
  if (page.of === 'ids') return [form, 'ids', page.ids].join(' ');
  if (page.of === 'linked') return [form, 'other'].join(' ');
  const { view = 'standard', date, chosenDate: from, number, featured, categories, tags, search, archive } = page;
  const more = { date, from, search, page: number > 1 ? number : undefined, category: categories.join('+'), tag: tags.join('+') };
  const named = Object.entries(more).flatMap(([name, value]) => (value ? [`${name}=${value}`] : []));
  return [form, view, ...(featured ? ['featured'] : []), ...(archive ? ['archive'] : []), ...named].join(' ');
}

const EXAMPLES: Readonly<Record<PathPart, string>> = {
  category: 'music/jazz',
  tag: 'outdoor',
  event: 'summer-concert',
  linked: 'teatro-rossi',
  month: '2030-06',
  day: '2030-08-05',
  number: '2',
  page: '3',
};
const exampleOf = (path: string) => path.replace(/\{(\w+)\}/g, '$1').replace(/:(\w+)/g, (_, part: PathPart) => EXAMPLES[part]);

describe('feedAddress', () => {
  it.each([
    ['/?ical=1', 'ical standard'],
    ['/events/?ical=1', 'ical standard'],
    ['/events?ical=1', 'ical standard'],
    ['/events/?ical', 'ical standard'],
    ['/events/?ical=0', 'ical standard'],
    ['/events/?outlook-ical=1', 'ical standard'],
    ['/index.php/events/?ical=1', 'ical standard'],
    ['/events/list/?ical=1', 'ical list'],
    ['/events/list/?ical=1&eventDisplay=past', 'ical past'],
    ['/?post_type=tribe_events&ical=1&eventDisplay=list', 'ical list'],
    ['/events/list/?ical=1&tribe-bar-date=2027-07-01', 'ical list from=2027-07-01'],
    ['/events/list/?ical=1&tribe-bar-date=2027-07', 'ical list from=2027-07-01'],
    ['/events/list/?ical=1&tribe-bar-date=01/07/2027', 'ical list'],
    ['/events/list/?ical=1&tribe-bar-date=nonsense', 'ical list'],
    ['/events/month/2030-06/?ical=1', 'ical month date=2030-06'],
    ['/events/2030-06/?ical=1&eventDisplay=list', 'ical list date=2030-06'],
    ['/events/?ical=1&eventDisplay=day&eventDate=2030-08-05', 'ical day date=2030-08-05'],
    ['/events/list/?ical=1&paged=4', 'ical list page=4'],
    ['/events/?ical=1&tribe-bar-search=jazz', 'ical standard search=jazz'],
    ['/events/?ical=1&s=jazz', 'ical standard search=jazz'],
    ['/events/category/music/jazz/list/?ical=1', 'ical list category=jazz'],
    ['/events/category/list/?ical=1', 'ical standard category=list'],
    ['/events/category/music/?ical=1&tag=outdoor', 'ical standard category=music tag=outdoor'],
    ['/events/?ical=1&tribe_events_cat[]=sport&tribe_events_cat[]=music', 'ical standard category=sport,music'],
    ['/event/?ical=1', 'ical standard'],
    ['/event/page/2/?ical=1', 'ical list page=2'],
    ['/event/feed/', 'rss2 list'],
    ['/event/feed/atom/', 'atom list'],
    ['/event/rdf/', 'rdf list'],
    ['/event/ical/', 'event ical'],
    ['/event/summer-concert/2/', 'event summer-concert'],
    ['/events/category/sport/?ical=1&tribe_events_cat=music', 'ical standard category=music'],
    ['/events/category/sport/?ical=1&tribe_events_cat=', 'ical standard category=sport'],
    ['/?tribe_events_cat=music/jazz&ical=1', 'ical standard category=jazz'],
    ['/?tribe_events_cat=music/jazz,sport&ical=1', 'ical standard category=jazz,sport'],
    ['/events/?ical=1&tag=outdoor,%20indoor', 'ical standard tag=outdoor,indoor'],
    ['/events/category/sport,music/list/?ical=1', 'ical list category=sport,music'],
    ['/?event_ids[]=38&event_ids[]=39,40&ical=1', 'ical ids 38,39,40'],
    ['/?event_ids=&ical=1', 'ical ids '],
    ['/event/summer-concert/?ical=1', 'ical event summer-concert'],
    ['/event/summer-concert/ical/', 'ical event summer-concert'],
    ['/event/caf%C3%A9/?ical=1', 'ical event café'],
    ['/?tribe_events=summer-concert&ical=1', 'ical event summer-concert'],
    ['/event/summer-concert/2031-07-10/?ical=1', 'ical event summer-concert on 2031-07-10'],
    ['/event/summer-concert/2031-07-10/2/ical/', 'ical event summer-concert on 2031-07-10 2'],
    ['/event/summer-concert/all/?ical=1', 'ical event summer-concert'],
    ['/?tribe_events=summer-concert&eventDate=2031-07-10&eventSequence=2&ical=1', 'ical event summer-concert on 2031-07-10 2'],
    ['/?post_type=tribe_events&name=summer-concert&ical=1', 'ical event summer-concert'],
    ['/?p=38&post_type=tribe_events&ical=1', 'ical event 38'],
    ['/?event_ids=38,39,x,38&ical=1', 'ical ids 38,39'],
    ['/event/summer-concert/?format=jsonld', 'jsonld event summer-concert'],
    ['/events/feed', 'rss2 list'],
    ['/events/rss/', 'rss2 list'],
    ['/events/atom/', 'atom list'],
    ['/events/?feed=rdf', 'rdf list'],
    ['/events/category/music/feed/?paged=2', 'rss2 list page=2 category=music'],
    ['/?post_type=tribe_events&feed=rss2', 'rss2 list'],
    ['/?feed=rss2&tribe_events_cat=sport', 'rss2 list archive category=sport'],
    ['/tag/outdoor/feed/', 'rss2 list archive tag=outdoor'],
    ['/events/tag/outdoor/feed/', 'rss2 list tag=outdoor'],
  ])('reads %s as %s', (target, expected) => expect(told(found(target)!)).toBe(expected));

  it.each(['/?tribe_events_cat=sport+music&ical=1', '/?tribe_events_cat=sport%2Bmusic&ical=1', '/events/category/sport+music/?ical=1'])(
    'reads %s as terms of which an event must have all',
    (target) => expect(found(target)?.page).toMatchObject({ of: 'list', categories: [['sport'], ['music']] }),
  );

  it.each(
    SECTIONS.flatMap((section) =>
      section.pages.map((page) => [`/${exampleOf([section.path, page.path].filter(Boolean).join('/'))}/`, section, page] as const),
    ),
  )('reads %s as a page and finds each of its feeds', (path, { feeds }, { view, featured = false }) => {
    const page = found(path)!;
    expect(page.format).toBeUndefined();
    if (page.page.of === 'list') expect([page.page.view ?? 'standard', page.page.featured]).toEqual([view, featured]);
    for (const [ending, form] of FEED_PATH_ENDINGS) {
      // There, `ical` is the slug of an event.
      if (feeds === 'news' && form === 'ical') continue;
      const wanted = feeds === 'all' || feeds === form || feeds === 'news' ? form : undefined;
      expect([ending, found(`${path}${ending}/`)?.format]).toEqual([ending, wanted]);
    }
    expect(found(`${path}?ical=1`)?.format).toBe(feeds === 'none' ? undefined : 'ical');
  });

  it.each(['/', '/events/', '/event/summer-concert/', '/venue/teatro-rossi/', '/venue/teatro-rossi/?ical=1', '/events/?feed=json'])(
    'reads %s as a page without a feed',
    (target) => expect([found(target) !== undefined, found(target)?.format]).toEqual([true, undefined]),
  );

  it.each([
    '/feed/',
    '/?feed=rss2',
    '/about/?ical=1',
    '/event/a/b/?ical=1',
    '/events/category/?ical=1',
    '/events/week/?ical=1',
    '/events/photo/?ical=1',
    '/events/2036-13/?ical=1',
    '/events/2030-02-30/?ical=1',
    '/events/page/x/?ical=1',
    '/events/?format=jsonld',
    '/event/summer-concert/feed/',
    '/events/%E0%A4/?ical=1',
    '/wp-json/calendar/events/v1/events?ical=1',
  ])('returns undefined for %s', (target) => expect(found(target)).toBeUndefined());

  it('finds feeds below the base path, also if a proxy has removed it', () => {
    for (const target of ['/cms/events/?ical=1', '/cms/?ical=1', '/events/?ical=1'])
      expect(found(target, { base: '/cms' })?.format).toBe('ical');
  });
  it('finds the language in the path', () => expect(found('/it/events/?ical=1')).toMatchObject({ format: 'ical', language: 'it' }));
  it('uses the slugs of the settings', () => {
    const slugs = { events: ['termine'], event: ['termin'], tag: ['blog', 'thema'] };
    expect(told(found('/termine/2030-06/?ical=1', { slugs })!)).toBe('ical month date=2030-06');
    expect(found('/events/?ical=1', { slugs })).toBeUndefined();
    expect(told(found('/termin/x/?ical=1', { slugs })!)).toBe('ical event x');
    expect(told(found('/blog/thema/x/?ical=1', { slugs })!)).toBe('ical standard tag=x');
  });

  it('accepts a deep category path with non-Latin slugs, but not a path that is too long', () => {
    const slugs = Array.from({ length: 8 }, () => encodeURIComponent('м'.repeat(30)).toLowerCase());
    expect(found(`/events/category/${slugs.join('/')}/?ical=1`)?.page).toMatchObject({ categories: [['м'.repeat(30)]] });
    expect(found(`/events/category/${'x'.repeat(4000)}/?ical=1`)).toBeUndefined();
  });
});
