import { describe, expect, it } from '@jest/globals';
import { type EventLd, eventJsonLd, obfuscateEmail, organizerJsonLd, venueJsonLd } from '../../src/calendar/json-ld.ts';

const post = { title: 'New year concert', content: '', excerpt: '', status: 'publish', protected: false };
const venue = {
  ...post,
  title: 'Teatro Rossi',
  content: '<p>An old theatre.</p>',
  street: 'Via Roma 1',
  city: 'Pisa',
  region: 'PI',
  zip: '56126',
  country: 'Italy',
  phone: '+39 050 123456',
  website: 'https://teatro.example.test/',
};
const organizer = {
  ...post,
  title: 'ACME Events',
  content: '<p>We <em>organize</em>.</p>',
  phone: '+1 555 0100',
  website: 'https://acme.example.test/',
  email: 'info@acme.example.test',
};
const event: EventLd = {
  ...post,
  url: 'http://example.test/event/new-year-concert/',
  start: '2030-01-01T11:00:00+01:00',
  end: '2030-01-01T13:00:00+01:00',
  eventStatus: '',
  location: false,
  organizer: false,
  cost: '',
  costs: [],
  currencyCode: 'USD',
  published: '2022-01-13 09:00:00',
};

describe('eventJsonLd', () => {
  it('contains the data of an event in the order of the reference', () => {
    const full = eventJsonLd({
      ...event,
      image: 'http://example.test/wide.png',
      location: venueJsonLd(venue),
      organizer: organizerJsonLd(organizer),
      cost: '€10',
      costs: ['€10'],
    });
    expect(Object.entries(full)).toEqual([
      ['@context', 'http://schema.org'],
      ['@type', 'Event'],
      ['name', 'New year concert'],
      ['description', ''],
      ['image', 'http://example.test/wide.png'],
      ['url', 'http://example.test/event/new-year-concert/'],
      ['eventAttendanceMode', 'https://schema.org/OfflineEventAttendanceMode'],
      ['eventStatus', 'https://schema.org/EventScheduled'],
      ['startDate', '2030-01-01T11:00:00+01:00'],
      ['endDate', '2030-01-01T13:00:00+01:00'],
      ['location', venueJsonLd(venue)],
      ['organizer', organizerJsonLd(organizer)],
      [
        'offers',
        {
          '@type': 'Offer',
          price: '10',
          priceCurrency: 'USD',
          url: 'http://example.test/event/new-year-concert/',
          category: 'primary',
          availability: 'inStock',
          validFrom: '2022-01-13T00:00:00+00:00',
        },
      ],
      ['performer', 'Organization'],
    ]);
  });

  it('omits members for which the event has no value', () => {
    const bare = eventJsonLd(event);
    for (const member of ['image', 'location', 'organizer', 'offers']) expect(bare).not.toHaveProperty(member);
  });

  it.each([
    [['10€'], '10€', '10'],
    [['Free'], 'Free', '0'],
    [['0'], 'Free', '0'],
    [['Donation, 5, 7.50'], '$5 – $7.50', '5 – 7.50'],
  ])('offers %j without the currency', (costs, cost, price) =>
    expect(eventJsonLd({ ...event, costs, cost })).toMatchObject({ offers: { price } }),
  );

  it.each([
    ['', 'EventScheduled'],
    ['scheduled', 'EventScheduled'],
    ['canceled', 'EventCancelled'],
    ['postponed', 'EventPostponed'],
  ])('maps the status %j to %s', (eventStatus, shown) =>
    expect(eventJsonLd({ ...event, eventStatus }).eventStatus).toBe(`https://schema.org/${shown}`),
  );

  it('spells the address of an unpublished event as the reference does', () => {
    const url = 'http://example.test/?post_type=tribe_events&p=85';
    expect(eventJsonLd({ ...event, status: 'future', url }).url).toBe(`${url}%2F/`);
    expect(eventJsonLd({ ...event, url: 'http://example.test/?tribe_events=x' }).url).toBe('http://example.test/?tribe_events=x');
  });
});

describe('name and description', () => {
  const texts = (change: Partial<EventLd>) => {
    const { name, description } = eventJsonLd({ ...event, ...change });
    return { name, description };
  };
  it.each([
    ['Café & crème “quoted” <b>bold</b>', 'Café &#038; crème “quoted” &lt;b&gt;bold&lt;/b&gt;'],
    ['</script><script>alert(1)', '&lt;/script&gt;&lt;script&gt;alert(1)'],
  ])('show the title %j as %j', (title, name) => expect(texts({ title }).name).toBe(name));
  it('mark protected and private events', () => {
    expect(texts({ protected: true }).name).toBe('Protected: New year concert');
    expect(texts({ status: 'private' }).name).toBe('Private: New year concert');
  });
  it.each([
    [
      'an excerpt with its markup',
      { excerpt: 'Short <em>excerpt</em>', content: 'x' },
      '&lt;p&gt;Short &lt;em&gt;excerpt&lt;/em&gt;&lt;/p&gt;\\n',
    ],
    ['the content without', { content: 'ライブ <em>日本</em>' }, '&lt;p&gt;ライブ 日本&lt;/p&gt;\\n'],
    ['nothing', {}, ''],
    ['nothing of shortcodes', { content: '[gallery ids="1"]' }, ''],
    [
      'nothing of what stands in brackets',
      { content: 'one [two] three [\nfour] [] [five]six' },
      '&lt;p&gt;one three [ four] six&lt;/p&gt;\\n',
    ],
    ['nothing of comments', { content: '<!-- wp:paragraph -->\n<p>Text</p>\n<!-- /wp:paragraph -->' }, '&lt;p&gt;Text&lt;/p&gt;\\n'],
  ])('show %s', (_, change, description) => expect(texts(change).description).toBe(description));
  it('show only the first thirty words of a long content', () => {
    const words = (count: number) => Array.from({ length: count }, (_, index) => `w${index}`).join(' ');
    expect(texts({ content: words(31) }).description).toBe(`&lt;p&gt;${words(30)} [&hellip;]&lt;/p&gt;\\n`);
    expect(texts({ content: words(30) }).description).toBe(`&lt;p&gt;${words(30)}&lt;/p&gt;\\n`);
  });
});

describe('venueJsonLd', () => {
  it('contains the address of a venue', () => {
    expect(venueJsonLd({ ...venue, image: 'http://example.test/tiny.png' })).toEqual({
      '@type': 'Place',
      name: 'Teatro Rossi',
      description: '&lt;p&gt;An old theatre.&lt;/p&gt;\\n',
      image: 'http://example.test/tiny.png',
      url: '',
      address: {
        '@type': 'PostalAddress',
        streetAddress: 'Via Roma 1',
        addressLocality: 'Pisa',
        addressRegion: 'PI',
        postalCode: '56126',
        addressCountry: 'Italy',
      },
      telephone: '+39 050 123456',
      sameAs: 'https://teatro.example.test/',
    });
  });
  it('omits only empty parts of the address', () => {
    const bare = venueJsonLd({ ...venue, street: '', city: '', region: '', zip: '', country: '', phone: '', website: '' });
    expect(bare).toMatchObject({ address: { '@type': 'PostalAddress' }, telephone: '', sameAs: '' });
    expect(Object.keys(bare.address as object)).toEqual(['@type']);
  });
  it('escapes the address', () =>
    expect(venueJsonLd({ ...venue, street: "1 O'Hara <St>" })).toMatchObject({ address: { streetAddress: '1 O&#039;Hara &lt;St&gt;' } }));
});

describe('organizerJsonLd', () => {
  it('contains the contact data of an organizer', () => {
    expect(organizerJsonLd(organizer)).toEqual({
      '@type': 'Person',
      name: 'ACME Events',
      description: '&lt;p&gt;We organize.&lt;/p&gt;\\n',
      url: 'https://acme.example.test/',
      telephone: '+1 555 0100',
      email: obfuscateEmail('info@acme.example.test'),
      sameAs: 'https://acme.example.test/',
    });
  });
  it.each([
    ['a@b.c', '&#97;&#64;&#98;&#46;&#99;'],
    ['ü', '&#252;'],
    ['', ''],
  ])('encodes %j as %j', (address, spelled) => expect(obfuscateEmail(address)).toBe(spelled));
});
