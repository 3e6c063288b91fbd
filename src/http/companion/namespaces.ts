import { MAX_BYTES } from '../../kinds/grammars/grammar.ts';
import { anything } from '../../kinds/grammars/grammars.ts';
import { postKinds, termKinds } from '../../kinds/index.ts';
import { describeNamespace } from '../describe.ts';
import type { ServedRoute } from '../endpoint.ts';
import { descriptionReply } from '../reply.ts';
import { passwordRoutes } from './application-passwords.ts';
import { blogRoutes } from './blog.ts';
import { mediaRoutes } from './media.ts';
import { peopleRoutes } from './people.ts';
import { corePostRoutes } from './posts.ts';
import { revisionRoutes } from './revisions.ts';
import { searchRoute } from './search.ts';
import { tecRoutes } from './tec.ts';
import { coreTermRoutes } from './terms.ts';
import { typeRoutes } from './types.ts';

/**
 * Returns the namespaces that clients use in addition to the calendar's own, each with its routes in the order of its
 * index.
 */
export const companionNamespaces = (): ReadonlyMap<string, readonly ServedRoute[]> =>
  new Map([
    withIndex('wp/v2', [
      ...blogRoutes,
      ...mediaRoutes,
      ...postKinds.flatMap(corePostRoutes),
      ...revisionRoutes,
      ...typeRoutes,
      ...termKinds.flatMap(coreTermRoutes),
      ...peopleRoutes,
      ...passwordRoutes,
      searchRoute,
    ]),
    withIndex('tec/v1', tecRoutes()),
  ]);

function withIndex(namespace: string, routes: readonly ServedRoute[]): [string, readonly ServedRoute[]] {
  const index: ServedRoute = {
    pattern: '',
    texts: 'core',
    endpoints: [
      {
        methods: ['GET'],
        summary: 'namespace',
        params: {
          namespace: { grammar: anything(MAX_BYTES.word), fallback: namespace },
          context: { grammar: anything(MAX_BYTES.word), fallback: 'view' },
        },
        mode: 'read',
        allow: 'anyone',
        run: async (site, caller) => descriptionReply(describeNamespace(site, caller, allRoutes, namespace)),
      },
    ],
  };
  const allRoutes = [index, ...routes];
  return [namespace, allRoutes];
}
