import { describe, expect, it } from '@jest/globals';
import { feedAddress } from '../../src/http/feed-address.ts';
import { parseQuery } from '../../src/http/input.ts';

const PLACE = { base: '', languages: ['en', 'it'], eventsSlug: 'events', singleEventSlug: 'event', tagBase: 'tag' };
const found = (target: string, place: Partial<typeof PLACE> = {}) => {
  const [path = '', query = ''] = target.split('?');
  return feedAddress(path, parseQuery(query), { ...PLACE, ...place });
};

describe('the address of a feed', () => {
  it.each([
    ['/?ical=1', 'ical list '],
    ['/events/?ical=1', 'ical list '],
    ['/events?ical=1', 'ical list '],
    ['/events/list/?ical=1', 'ical list '],
    ['/events/?outlook-ical=1', 'ical list '],
    ['/events/ical/', 'ical list '],
    ['/index.php/events/?ical=1', 'ical list '],
    ['/?post_type=tribe_events&ical=1&eventDisplay=list', 'ical list '],
    ['/event/summer-concert/?ical=1', 'ical event summer-concert'],
    ['/event/summer-concert/ical/', 'ical event summer-concert'],
    ['/event/caf%C3%A9/?ical=1', 'ical event café'],
    ['/?tribe_events=summer-concert&ical=1', 'ical event summer-concert'],
    ['/event/summer-concert/2031-07-10/?ical=1', 'ical event summer-concert on 2031-07-10'],
    ['/event/summer-concert/2031-07-10/2/ical/', 'ical event summer-concert on 2031-07-10 2'],
    ['/event/summer-concert/all/?ical=1', 'ical event summer-concert'],
    ['/?tribe_events=summer-concert&eventDate=2031-07-10&eventSequence=2&ical=1', 'ical event summer-concert on 2031-07-10 2'],
    ['/events/category/music/?ical=1', 'ical category music'],
    ['/events/category/music/jazz/?ical=1', 'ical category jazz'],
    ['/events/category/music/jazz/list/?ical=1', 'ical category jazz'],
    ['/?tribe_events_cat=music&ical=1', 'ical category music'],
    ['/events/tag/outdoor/?ical=1', 'ical tag outdoor'],
    ['/tag/outdoor/?ical=1', 'ical tag outdoor'],
    ['/events/feed/', 'rss list '],
    ['/events/feed', 'rss list '],
    ['/events/feed/rss2/', 'rss list '],
    ['/events/category/music/feed/', 'rss category music'],
    ['/events/tag/outdoor/feed/', 'rss tag outdoor'],
    ['/?post_type=tribe_events&feed=rss2', 'rss list '],
    ['/event/summer-concert/?format=jsonld', 'jsonld event summer-concert'],
  ])('%s is %s', (target, expected) => {
    const address = found(target);
    const { date, number } = address?.on ?? {};
    const on = date === undefined ? '' : ` on ${[date, number].filter(Boolean).join(' ')}`;
    expect(`${address?.form} ${address?.of} ${address?.slug}${on}`).toBe(expected);
  });

  it.each([
    '/',
    '/events/',
    '/event/summer-concert/',
    '/?ical=',
    '/?ical=0',
    '/feed/',
    '/?feed=rss2',
    '/about/?ical=1',
    '/event/a/b/?ical=1',
    '/event/?ical=1',
    '/events/category/?ical=1',
    '/events/?format=jsonld',
    '/event/summer-concert/feed/',
    '/events/%E0%A4/?ical=1',
    '/wp-json/calendar/events/v1/events?ical=1',
  ])('%s is none', (target) => expect(found(target)).toBeUndefined());

  it('lies below the home, and is found when a proxy has taken that off', () => {
    expect(found('/cms/events/?ical=1', { base: '/cms' })?.of).toBe('list');
    expect(found('/cms/?ical=1', { base: '/cms' })?.of).toBe('list');
    expect(found('/events/?ical=1', { base: '/cms' })?.of).toBe('list');
  });
  it('may name a language', () => expect(found('/it/events/?ical=1')).toMatchObject({ of: 'list', language: 'it' }));
  it('goes by the slugs of the settings', () => {
    expect(found('/termine/?ical=1', { eventsSlug: 'termine' })?.of).toBe('list');
    expect(found('/events/?ical=1', { eventsSlug: 'termine' })).toBeUndefined();
    expect(found('/termin/x/?ical=1', { singleEventSlug: 'termin' })?.slug).toBe('x');
  });
  it('asks for what is past', () => expect(found('/events/?ical=1&eventDisplay=past')?.past).toBe(true));
});
