import type { SiteSettings } from '../../calendar/settings.ts';
import { metaParam } from '../../kinds/core/meta.ts';
import { EMBED, FORCE_PARAM, ID } from '../../kinds/core/params.ts';
import { isViewable } from '../../kinds/core/post.ts';
import { EXISTING_ID, POST_READ_PARAMS, postFields, postFilters } from '../../kinds/core/post-params.ts';
import { kindOnSite } from '../../kinds/custom-fields.ts';
import type { PostKind } from '../../kinds/kind.ts';
import type { Params } from '../../kinds/param.ts';
import { mayChangeCore, mayCreateCore, mayDeleteCore, mayListCore, mayReadCore } from '../../records/core/post-permissions.ts';
import { changeCorePost, createCorePost, removeCorePost } from '../../records/core/post-writes.ts';
import { listCorePosts, readCorePost } from '../../records/core/posts.ts';
import { lockPostVersion } from '../../records/versions.ts';
import { coreUrl } from '../../wordpress/links.ts';
import { endpoint, recordEndpoint, type ServedRoute } from '../endpoint.ts';
import { createdReply, writtenReply } from '../reply.ts';
import { pageWithEmbeds, recordWithEmbeds } from './embeds.ts';

/** Returns the additional parameters of writes on a site: its custom fields among the metas. */
const siteParams =
  (kind: PostKind) =>
  (settings: SiteSettings): Params => {
    const meta = metaParam(kindOnSite(kind, settings));
    return meta ? { meta } : {};
  };

const EDIT_CONTEXT = { context: 'edit' } as const;

/** Returns WordPress's own routes of events, venues or organizers: the list and the single record. */
export const corePostRoutes = (kind: PostKind): ServedRoute[] => [list(kind), singleRoute(kind)];

const list = (kind: PostKind): ServedRoute => ({
  pattern: `/${kind.postType}`,
  texts: 'core',
  kind,
  endpoints: [
    endpoint({
      methods: ['GET'],
      summary: `${kind.name}.list`,
      params: postFilters(kind),
      unlistedParams: EMBED,
      mode: 'read',
      allow: (_look, caller, values) => mayListCore(caller, kind, values),
      run: async (site, caller, values) => {
        const page = await listCorePosts(site, caller, kind, values);
        return pageWithEmbeds(site, caller, page, values._embed);
      },
    }),
    endpoint({
      methods: ['POST'],
      summary: `${kind.name}.create`,
      params: postFields(kind),
      unlistedParams: EXISTING_ID,
      siteParams: siteParams(kind),
      mode: 'create',
      allow: (lookUp, caller, values) => mayCreateCore(lookUp, caller, kind, values),
      run: async (site, caller, values) => {
        const id = await createCorePost(site, caller, kind, values);
        return createdReply(await readCorePost(site, caller, kind, id, EDIT_CONTEXT), coreUrl(caller, `${kind.postType}/${id}`));
      },
    }),
  ],
});

const singleRoute = (kind: PostKind): ServedRoute => ({
  pattern: `/${kind.postType}/(?P<id>\\d+)`,
  texts: 'core',
  kind,
  lockVersion: lockPostVersion(kind),
  endpoints: [
    recordEndpoint({
      methods: ['GET'],
      summary: `${kind.name}.read`,
      params: { ...ID, ...POST_READ_PARAMS },
      unlistedParams: EMBED,
      mode: 'read',
      allow: (lookUp, caller, values) => mayReadCore(lookUp, caller, kind, values),
      run: async (site, caller, values) => {
        const versionedRecord = await readCorePost(site, caller, kind, values.id, values);
        return recordWithEmbeds(site, caller, versionedRecord, { embed: values._embed, hasPage: isViewable(kind.postType) });
      },
    }),
    recordEndpoint({
      methods: ['POST', 'PUT', 'PATCH'],
      summary: `${kind.name}.change`,
      params: { ...ID, ...postFields(kind) },
      siteParams: siteParams(kind),
      mode: 'read',
      allow: (lookUp, caller, values) => mayChangeCore(lookUp, caller, kind, values),
      run: async (site, caller, values) => {
        await changeCorePost(site, caller, kind, values.id, values);
        return writtenReply(await readCorePost(site, caller, kind, values.id, EDIT_CONTEXT));
      },
    }),
    recordEndpoint({
      methods: ['DELETE'],
      summary: `${kind.name}.trash`,
      params: { ...ID, ...FORCE_PARAM },
      mode: 'read',
      allow: (lookUp, caller, values) => mayDeleteCore(lookUp, caller, kind, values),
      run: async (site, caller, values) => writtenReply(await removeCorePost(site, caller, kind, values)),
    }),
  ],
});
