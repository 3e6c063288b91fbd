import { BLOG_BASES } from '../../kinds/core/blog.ts';
import { CONTEXT, EMBED, ID } from '../../kinds/core/params.ts';
import type { RevisedType } from '../../kinds/core/revision.ts';
import { PARENT_ID, REVISION_FILTERS } from '../../kinds/core/revision-params.ts';
import { postKinds } from '../../kinds/index.ts';
import { listRevisions, mayReadRevisions, readRevision } from '../../records/core/revisions.ts';
import { endpoint, recordEndpoint, type ServedRoute } from '../endpoint.ts';
import { ok } from '../reply.ts';
import { corePage } from './core-reply.ts';

const revisionsOf = (type: RevisedType): ServedRoute[] => {
  const pattern = `/${type.base}/(?P<parent>\\d+)/revisions`;
  return [
    {
      pattern,
      texts: 'core',
      endpoints: [
        endpoint({
          methods: ['GET'],
          summary: 'revisions.list',
          params: { ...PARENT_ID, ...REVISION_FILTERS },
          unlistedParams: EMBED,
          mode: 'read',
          allow: (lookUp, caller, { parent = 0 }) => mayReadRevisions(lookUp, caller, type, { parent }),
          run: async (site, caller, { parent = 0, ...values }) => corePage(await listRevisions(site, caller, type, { ...values, parent })),
        }),
      ],
    },
    {
      pattern: `${pattern}/(?P<id>\\d+)`,
      texts: 'core',
      endpoints: [
        recordEndpoint({
          methods: ['GET'],
          summary: 'revisions.read',
          params: { ...PARENT_ID, ...ID, ...CONTEXT },
          unlistedParams: EMBED,
          mode: 'read',
          allow: (lookUp, caller, { parent = 0 }) => mayReadRevisions(lookUp, caller, type, { parent }),
          run: async (site, caller, { parent = 0, ...values }) => ({
            ...ok(await readRevision(site, caller, type, { ...values, parent })),
            timeliness: 'always',
          }),
        }),
      ],
    },
  ];
};

const BLOG: readonly RevisedType[] = Object.entries(BLOG_BASES).map(([postType, base]) => ({ postType, base }));
const RECORDS: readonly RevisedType[] = postKinds.map((kind) => ({ postType: kind.postType, base: kind.postType, kind }));

/** WordPress's own routes of the revisions of posts, pages and calendar records; read-only. */
export const revisionRoutes: readonly ServedRoute[] = [...BLOG, ...RECORDS].flatMap(revisionsOf);
