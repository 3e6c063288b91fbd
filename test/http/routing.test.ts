import { describe, expect, it } from '@jest/globals';
import { createIndex, createRoutes } from '../../src/http/routes.ts';
import { createRouter } from '../../src/http/routing.ts';

const NS = 'tribe/events/v1';
const routes = createRoutes(['en', 'it']);
const router = createRouter(['calendar/events/v1', NS], new Map([['/', createIndex(routes, ['en', 'it'])]]), routes);
const found = (path: string, method: string) => router.find(path, method)?.endpoint?.summary;

describe('routes', () => {
  it('are in the order of the index', () => {
    expect(routes.map(({ pattern }) => pattern)).toEqual([
      '',
      '/doc',
      '/events',
      '/events/(?P<id>\\d+)',
      '/events/by-slug/(?P<slug>[^/]+)',
      '/events/(?P<id>\\d+)/dates',
      '/venues',
      '/venues/(?P<id>\\d+)',
      '/venues/by-slug/(?P<slug>[^/]+)',
      '/organizers',
      '/organizers/(?P<id>\\d+)',
      '/organizers/by-slug/(?P<slug>[^/]+)',
      '/categories',
      '/categories/(?P<id>\\d+)',
      '/tags',
      '/tags/(?P<id>\\d+)',
      '/changes',
      '/changes/stream',
      '/webhooks',
      '/webhooks/(?P<id>\\d+)',
      '/webhooks/(?P<id>\\d+)/test',
      '/webhooks/(?P<id>\\d+)/retry',
      '/webhooks/(?P<id>\\d+)/deliveries',
    ]);
  });

  it.each([
    ['/events', 'GET, POST'],
    ['/events/(?P<id>\\d+)', 'GET, DELETE, POST, PUT, PATCH'],
    ['/venues/by-slug/(?P<slug>[^/]+)', 'GET, DELETE, POST, PUT, PATCH'],
    ['/tags/(?P<id>\\d+)', 'GET, POST, PUT, PATCH, DELETE'],
    ['/doc', 'GET'],
  ])('%s has the methods %s in the order of registration', (pattern, methods) => {
    const route = routes.find((one) => one.pattern === pattern);
    expect(route?.endpoints.flatMap((endpoint) => endpoint.methods).join(', ')).toBe(methods);
  });

  it('all accept translation_language', () => {
    const without = routes.flatMap((route) => route.endpoints).filter(({ params }) => params.translation_language === undefined);
    expect(without).toEqual([]);
  });

  it('allow anonymous reads but no anonymous writes, and neither for webhooks', () => {
    const isOpen = ({ pattern }: (typeof routes)[number]) => !pattern.startsWith('/webhooks');
    const closedEndpoints = routes.filter((route) => !isOpen(route)).flatMap((route) => route.endpoints);
    const openEndpoints = routes.filter(isOpen).flatMap((route) => route.endpoints);
    expect(Math.min(closedEndpoints.length, openEndpoints.length)).toBeGreaterThan(3);
    for (const endpoint of closedEndpoints) expect(endpoint.allow).not.toBe('anyone');
    for (const endpoint of openEndpoints) expect(endpoint.allow === 'anyone').toBe(endpoint.methods[0] === 'GET');
  });

  it('require the slug of the path, except for changes that may set a new slug', () => {
    const required = (path: string, method: string) => router.find(`/${NS}${path}`, method)?.endpoint?.params.slug?.required ?? false;
    expect(['GET', 'DELETE', 'PUT'].map((method) => required('/events/by-slug/x', method))).toEqual([true, true, false]);
    expect(['GET', 'DELETE', 'PUT'].map((method) => required('/venues/by-slug/x', method))).toEqual([true, true, true]);
  });
});

describe('router', () => {
  it.each([
    [`/${NS}/events`, 'GET', 'event.list'],
    ['/calendar/events/v1/events', 'GET', 'event.list'],
    [`/${NS}/Events`, 'HEAD', 'event.list'],
    ['/Tribe/Events/V1/events', 'POST', 'event.create'],
    [`/${NS}/events/00044`, 'GET', 'event.read'],
    [`/${NS}/events/44`, 'PATCH', 'event.change'],
    [`/${NS}/venues/by-slug/%f0%9f%8e%b8`, 'DELETE', 'venue.trash-by-slug'],
    [`/${NS}/tags/5`, 'DELETE', 'tag.delete'],
    [`/${NS}`, 'GET', 'namespace'],
    [`/${NS}/doc`, 'GET', 'doc'],
    ['/', 'GET', 'site'],
  ])('maps %s with %s to %s', (path, method, summary) => {
    expect(found(path, method)).toBe(summary);
  });

  it.each([
    [`/${NS}/events/-1`, 'GET'],
    [`/${NS}/events/44abc`, 'GET'],
    [`/${NS}/events//44`, 'GET'],
    [`/${NS}/events/44.json`, 'GET'],
    [`/${NS}/events/%34%34`, 'GET'],
    [`/${NS}/events/1e1`, 'GET'],
    [`/${NS}/events/by-slug`, 'GET'],
    [`/${NS}/venue`, 'GET'],
    [`/${NS}/categories/by-slug/x`, 'GET'],
    [`/${NS}/events`, 'PUT'],
    [`/${NS}/events`, 'PROPFIND'],
    [`/${NS}/events/44`, ''],
    ['/tribe/events/v2', 'GET'],
    ['/tribe/events/v1x', 'GET'],
    [`${NS}/events`, 'GET'],
    ['/', 'POST'],
  ])('has no endpoint for %s with %j', (path, method) => {
    expect(found(path, method)).toBeUndefined();
  });

  it('finds the route of a path without a method', () => {
    expect(router.find(`/${NS}/events/44`)?.route.pattern).toBe('/events/(?P<id>\\d+)');
    expect(router.find(`/${NS}/nope`)).toBeUndefined();
  });
});
