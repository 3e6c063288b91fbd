import { servedNamespaces } from '../config/config.ts';
import { fail } from '../errors.ts';
import { CHANGES_PARAMS, DEFAULT_CHANGES, MAX_CHANGES } from '../kinds/changes-params.ts';
import { MAX_BYTES } from '../kinds/grammars/grammar.ts';
import { anything, oneOf } from '../kinds/grammars/grammars.ts';
import { postKinds, termKinds } from '../kinds/index.ts';
import type { Params } from '../kinds/param.ts';
import { memoizeByObject } from '../memo.ts';
import { changesSince } from '../records/changes.ts';
import type { Site } from '../site.ts';
import type { ContentLanguages } from '../wordpress/content-languages.ts';
import { changesShape } from './answer-shapes.ts';
import { EVERY_LANGUAGE } from './content-language.ts';
import { describeNamespace, describeSite } from './describe.ts';
import { endpoint, type ServedRoute } from './endpoint.ts';
import { openApiDocument } from './openapi.ts';
import { postRoutes } from './post-routes.ts';
import { descriptionReply, ok } from './reply.ts';
import { termRoutes } from './term-routes.ts';
import { webhookRoutes } from './webhook-routes.ts';

/**
 * Creates all routes of the namespace, in the order of the index. `languages`: those in which answers are available;
 * `roots`: routes outside all namespaces, which the documentation also describes.
 */
export function createRoutes(languages: readonly string[], roots: () => readonly ServedRoute[] = () => []): readonly ServedRoute[] {
  const baseRoutes: ServedRoute[] = [
    namespaceIndex(() => routes),
    documentation(() => routes, roots),
    ...postKinds.flatMap(postRoutes),
    ...termKinds.flatMap(termRoutes),
    changes,
    changeStream,
    ...webhookRoutes,
  ];
  const routes = baseRoutes.map((route) => inLanguages(route, languages));
  return routes;
}

/**
 * Creates the root route of the whole API. `routes`: those of our namespaces, unless the calendar's settings switch
 * them off; `otherRoutes`: those of further namespaces; `roots`: those outside all namespaces.
 */
export function createIndex(
  routes: readonly ServedRoute[],
  languages: readonly string[],
  otherRoutes: ReadonlyMap<string, readonly ServedRoute[]> = new Map(),
  roots: readonly ServedRoute[] = [],
): ServedRoute {
  const index = endpoint({
    methods: ['GET'],
    summary: 'site',
    params: { context: { grammar: anything(MAX_BYTES.word), fallback: 'view' } },
    mode: 'read',
    allow: 'anyone',
    run: async (site, caller) => {
      const servedRoutes = caller.settings.calendar.restDisabled ? [] : routes;
      const description = describeSite(site, caller, servedRoutes, { otherRoutes, roots, secure: caller.home.startsWith('https:') });
      return { ...descriptionReply(description), linksAreFields: true };
    },
  });
  return inLanguages({ pattern: '', endpoints: [index] }, languages);
}

/**
 * Creates the index of the namespace, or of another of our namespaces if `namespace` names one. `routes` are all
 * routes, including this one.
 */
const namespaceIndex = (routes: () => readonly ServedRoute[]): ServedRoute => ({
  pattern: '',
  endpoints: [
    endpoint({
      methods: ['GET'],
      summary: 'namespace',
      params: { namespace: { grammar: anything(MAX_BYTES.word) }, context: { grammar: anything(MAX_BYTES.word), fallback: 'view' } },
      mode: 'read',
      allow: 'anyone',
      run: async (site, caller, { namespace = caller.namespace }) =>
        descriptionReply(describeNamespace(site, { ...caller, namespace: requireServed(site, namespace) }, routes())),
    }),
  ],
});

const documentation = (routes: () => readonly ServedRoute[], roots: () => readonly ServedRoute[]): ServedRoute => ({
  pattern: '/doc',
  endpoints: [
    endpoint({
      methods: ['GET'],
      summary: 'doc',
      params: {},
      mode: 'read',
      allow: 'anyone',
      run: async (site, caller) => ok(openApiDocument(site, caller, routes(), roots())),
    }),
  ],
});

/** Returns the namespace if it is one of ours. Throws rest_invalid_namespace otherwise. */
const requireServed = ({ config }: Site, namespace: unknown): string =>
  servedNamespaces(config).find((name) => name === namespace) ?? fail('rest_invalid_namespace');

// ------------------------------------------------------------------------------------------------- changes
const changes: ServedRoute = {
  pattern: '/changes',
  texts: 'changes',
  refusals: ['410'],
  endpoints: [
    endpoint({
      methods: ['GET'],
      summary: 'changes',
      answer: changesShape,
      params: CHANGES_PARAMS,
      mode: 'read',
      allow: 'anyone',
      run: async (site, caller, { since, kinds: names, include, limit = DEFAULT_CHANGES }) => {
        const options = { kinds: names, records: include === 'records', limit: Math.min(limit, MAX_CHANGES) };
        return { ...ok(await changesSince(site, caller, since, options)), timeliness: 'never' };
      },
    }),
  ],
};

/**
 * The stream of changes, described like the other routes. Its requests never get here: `change-stream.ts` answers them,
 * except for a POST that another method replaces.
 */
const changeStream: ServedRoute = {
  pattern: '/changes/stream',
  texts: 'changes',
  refusals: ['410'],
  endpoints: [
    endpoint({
      methods: ['GET'],
      summary: 'changes-stream',
      streams: true,
      params: CHANGES_PARAMS,
      mode: 'read',
      allow: 'anyone',
      run: async () => fail('rest_no_route'),
    }),
  ],
};

/**
 * Adds the language parameter to every handler. It selects the language of the texts and, if the content has languages,
 * that of the records.
 */
export function inLanguages(route: ServedRoute, languages: readonly string[]): ServedRoute {
  const paramsForContent = memoizeByObject(
    (content: ContentLanguages): Params => ({
      translation_language: {
        grammar: oneOf([...new Set([...languages, ...content.languages.map(({ code }) => code), EVERY_LANGUAGE])], 'enum'),
      },
    }),
  );
  return {
    ...route,
    endpoints: route.endpoints.map((endpoint) => ({
      ...endpoint,
      params: { ...endpoint.params, translation_language: { grammar: oneOf(languages, 'enum') } },
      siteParams: (settings) => ({
        ...endpoint.siteParams?.(settings),
        ...(settings.contentLanguages ? paramsForContent(settings.contentLanguages) : {}),
      }),
    })),
  };
}
