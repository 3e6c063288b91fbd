import { expect, it } from '@jest/globals';
import { companionNamespaces } from '../../src/http/companion/namespaces.ts';
import { describeRequests, type Json } from '../support/site-client.ts';

/** Routes that WordPress's responses, and therefore ours, link to, but that are not served. */
const NOT_SERVED = [/\/wp\/v2\/comments\?post=\d+$/, /\/wp\/v2\/tec_calendar_embed\?/];
/** A route that accepts only writes. */
const WRITTEN = /\/batch\/v1$/;
/** A route whose answer does not end. */
const ENDLESS = /\/changes\/stream$/;
/** Routes only for users who are signed in. */
const SIGNED_IN = /\/users\/me$|\/revisions(\/\d+)?$|\/webhooks$/;
/** Lists of records without `_links`. */
const TEC_LIST = /\/tec\/v1\/(events|venues|organizers)$/;

/** Every route without a selector in the companion namespaces. */
const STARTS = [...companionNamespaces()].flatMap(([namespace, routes]) =>
  routes
    .filter(({ pattern, endpoints }) => !pattern.includes('(?P<') && endpoints.some(({ methods }) => methods.includes('GET')))
    .map(({ pattern }) => `/wp-json/${namespace}${pattern}`),
);

/** URLs in the `_links` of a record and of nested records. */
function linksIn(body: Json): string[] {
  if (body === null || typeof body !== 'object') return [];
  return Object.entries(body).flatMap(([name, value]: [string, Json]) => {
    if (name !== '_links') return linksIn(value);
    const links: Json[] = Object.values(value as object).flat();
    return links.flatMap(({ href, templated }) => (templated || typeof href !== 'string' ? [] : [href]));
  });
}

describeRequests('links in responses of the companion namespaces', (ask) => {
  it.each([undefined, 'admin'] as const)('lead to served routes for the user %s', async (as) => {
    const home = (await ask.send('GET', '/wp-json/')).body.home as string;
    const known = new Set(STARTS);
    const faults: string[] = [];
    let linked = 0;
    for (const path of known) {
      const { status, body } = await ask.send('GET', path, as ? { as } : {});
      if (status !== 200 && !(status === 401 && !as && SIGNED_IN.test(path))) faults.push(`${status} ${path}`);
      if (TEC_LIST.test(path)) for (const { id } of body) known.add(`${path}/${id}`);
      for (const href of linksIn(body).filter((link) => link.startsWith(`${home}/wp-json/`))) {
        linked += 1;
        const next = href.slice(home.length);
        if (![...NOT_SERVED, WRITTEN, ENDLESS].some((pattern) => pattern.test(next))) known.add(next);
      }
    }
    expect(faults).toEqual([]);
    expect([linked > 500, known.size > 200]).toEqual([true, true]);
    expect([...known].filter((path) => /\/tec\/v1\/\w+\/\d+$/.test(path)).length).toBeGreaterThan(20);
  });

  it.each(NOT_SERVED.map((pattern) => [pattern]))('return 404 if they match the exception %s', async (pattern) => {
    const pages = await Promise.all(['tribe_events', 'tags', 'media'].map((list) => ask.send('GET', `/wp-json/wp/v2/${list}`)));
    const links = pages.flatMap(({ body }) => linksIn(body));
    const home = (await ask.send('GET', '/wp-json/')).body.home as string;
    const [link = ''] = links.map((href) => href.slice(home.length)).filter((path) => pattern.test(path));
    expect((await ask.send('GET', link)).status).toBe(404);
  });
});
