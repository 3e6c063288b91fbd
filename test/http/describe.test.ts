import { describe, expect, it } from '@jest/globals';
import { describeNamespace, describeRoute, describeSite } from '../../src/http/describe.ts';
import type { Route } from '../../src/http/route.ts';
import { callerOf, describedSite, LANGUAGES, routes } from './describing.ts';

type Args = Record<string, Record<string, unknown>>;
interface Described {
  readonly methods: string[];
  readonly endpoints: { methods: string[]; args: Args }[];
  readonly _links?: { self: { href: string }[] };
}

const site = await describedSite();
const routeAt = (pattern: string): Route => routes.find((route) => route.pattern === pattern)!;
const described = (pattern: string, caller = callerOf()) => describeRoute(site, caller, routeAt(pattern)) as unknown as Described;
const argsOf = (pattern: string, method: string, caller = callerOf()) =>
  described(pattern, caller).endpoints.find(({ methods }) => methods.includes(method))!.args;
const requiredOf = (args: Args) => Object.keys(args).filter((name) => args[name]!.required);

describe('OPTIONS description of a route', () => {
  it('names all methods for every caller', () =>
    expect(described('/events/(?P<id>\\d+)').methods).toEqual(['GET', 'DELETE', 'POST', 'PUT', 'PATCH']));
  it('links to itself', () =>
    expect(described('/venues')._links).toEqual({ self: [{ href: 'https://example.com:8443/town/wp-json/calendar/events/v1/venues' }] }));
  it('has no self link if the path has a selector', () => expect(described('/venues/(?P<id>\\d+)')).not.toHaveProperty('_links'));
  it('uses the language segment and the namespace of the request', () =>
    expect(described('/tags', callerOf({ language: 'it', namespace: 'tribe/events/v1' }))._links?.self[0]?.href).toBe(
      'https://example.com:8443/town/it/wp-json/tribe/events/v1/tags',
    ));
  it('shows an empty set of arguments as an empty list, as PHP does', () => {
    const bare: Route = {
      pattern: '/bare',
      endpoints: [
        { methods: ['GET'], summary: 'doc', params: {}, mode: 'read', allow: 'anyone', run: async () => ({ status: 200, body: null }) },
      ],
    };
    expect(describeRoute(site, callerOf(), bare).endpoints).toEqual([{ methods: ['GET'], args: [] }]);
  });
});

describe('argument in a description', () => {
  it.each([
    ['/events', 'POST', ['title', 'start_date', 'end_date']],
    ['/events', 'GET', []],
    ['/venues', 'POST', ['venue']],
    ['/organizers', 'POST', ['organizer']],
    ['/categories', 'POST', ['name']],
    ['/events/(?P<id>\\d+)', 'GET', ['id']],
    ['/events/(?P<id>\\d+)', 'PATCH', ['id']],
    ['/venues/by-slug/(?P<slug>[^/]+)', 'PUT', ['slug']],
    ['/tags/(?P<id>\\d+)', 'DELETE', ['id']],
  ])('of %s %s is required only if it is mandatory', (pattern, method, required) =>
    expect(requiredOf(argsOf(pattern, method)).sort()).toEqual([...required].sort()),
  );

  it('is not required if a field has the name of the selector: the slug of an event may change', () =>
    expect(argsOf('/events/by-slug/(?P<slug>[^/]+)', 'POST')).toHaveProperty('slug.required', false));

  it.each([
    ['/events', 'GET', 'page', 1],
    ['/events', 'GET', 'per_page', '10'],
    ['/events', 'GET', 'start_date', '2026-11-20 00:00:00'],
    ['/events', 'GET', 'end_date', '2028-11-20 23:59:59'],
    ['/events', 'POST', 'all_day', false],
    ['/events', 'POST', 'website', null],
    ['/events', 'POST', 'categories', null],
    ['/categories', 'GET', 'hide_empty', true],
    ['', 'GET', 'namespace', 'calendar/events/v1'],
    ['', 'GET', 'context', 'view'],
  ])('of %s %s shows its default: %s', (pattern, method, name, value) =>
    expect(argsOf(pattern, method)).toHaveProperty(`${name}.default`, value),
  );

  it('shows the page size of the calendar, not of the blog, as the default of per_page', () => {
    const caller = callerOf({ options: { tribe_events_calendar_options: 'a:1:{s:14:"posts_per_page";i:7;}' } });
    expect(argsOf('/events', 'GET', caller)).toHaveProperty('per_page.default', '7');
  });
  it('shows no default if none is declared', () => expect(argsOf('/events', 'GET').search).not.toHaveProperty('default'));
  it('has its type', () =>
    expect(argsOf('/events', 'GET').categories).toMatchObject({ type: 'array', items: { type: ['integer', 'string'] } }));
  it('lists its enum values', () =>
    expect(argsOf('/doc', 'GET').translation_language).toMatchObject({ type: 'string', enum: LANGUAGES, required: false }));
  it.each([
    ['en', 'The name of the venue.'],
    ['it', 'Il nome del luogo.'],
  ])('is described in the language of the request: %s', (language, description) =>
    expect(argsOf('/venues', 'POST', callerOf({ language })).venue).toMatchObject({ description }),
  );
  it('has one description as a filter and another as a field', () => {
    expect(argsOf('/events', 'GET').venue!.description).toBe('Only events at one of these venues, given by id.');
    expect(argsOf('/events', 'POST').venue!.description).toBe('Where it takes place: ids of venues, or the fields of new ones.');
  });
});

describe('index of a namespace', () => {
  const index = describeNamespace(site, callerOf(), routes) as { namespace: string; routes: Record<string, Described>; _links: unknown };
  it('lists the routes in their order', () =>
    expect(Object.keys(index.routes)).toEqual(routes.map(({ pattern }) => `/calendar/events/v1${pattern}`)));
  it('links up to the root', () => expect(index._links).toEqual({ up: [{ href: 'https://example.com:8443/town/wp-json/' }] }));
  it('can describe another namespace than that of the request', () =>
    expect(describeNamespace(site, callerOf(), routes, 'tribe/events/v1')).toMatchObject({
      namespace: 'tribe/events/v1',
      routes: { '/tribe/events/v1/doc': { namespace: 'tribe/events/v1' } },
    }));
});

describe('index of the site', () => {
  const index = (options = {}, besides = {}) =>
    describeSite(site, callerOf({ options }), routes, besides) as Record<string, unknown> & { routes: Record<string, unknown> };
  it('describes the site', () =>
    expect(index()).toMatchObject({
      name: 'Town calendar',
      description: 'What is on',
      url: 'https://example.com:8443/town',
      home: 'https://example.com:8443/town',
      gmt_offset: 1,
      timezone_string: 'Europe/Rome',
      page_for_posts: 0,
      page_on_front: 0,
      show_on_front: 'posts',
      site_logo: 0,
      site_icon: 0,
      site_icon_url: '',
    }));
  it('returns gmt_offset as stored if no time zone is named', () =>
    expect(index({ timezone_string: '', gmt_offset: '5.5' })).toMatchObject({ gmt_offset: '5.5', timezone_string: '' }));
  it('names both namespaces and shows the routes of each', () => {
    expect(index().namespaces).toEqual(['calendar/events/v1', 'tribe/events/v1']);
    expect(Object.keys(index().routes)).toEqual(expect.arrayContaining(['/', '/calendar/events/v1/events', '/tribe/events/v1/events']));
  });
  it('includes further namespaces', () => {
    const otherRoutes = new Map([['wp/v2', [{ pattern: '/media', endpoints: [] }]]]);
    expect(index({}, { otherRoutes })).toMatchObject({
      namespaces: ['calendar/events/v1', 'tribe/events/v1', 'wp/v2'],
      routes: { '/wp/v2/media': { namespace: 'wp/v2' } },
    });
  });
  it('gives the URL for creating application passwords', () =>
    expect(index().authentication).toEqual({
      'application-passwords': { endpoints: { authorization: 'https://example.com:8443/town/wp-admin/authorize-application.php' } },
    }));
  it('has no authentication methods if application passwords are not in use', () =>
    expect(index({ using_application_passwords: '0' }).authentication).toEqual([]));
});
