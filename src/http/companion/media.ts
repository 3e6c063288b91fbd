import { MEDIA_FIELDS, MEDIA_FILTERS } from '../../kinds/core/media-params.ts';
import { CONTEXT, EMBED, FORCE_PARAM, ID } from '../../kinds/core/params.ts';
import { EXISTING_ID } from '../../kinds/core/post-params.ts';
import {
  changeMedia,
  listMedia,
  mayChangeMedia,
  mayDeleteMedia,
  mayListMedia,
  mayReadOneMedia,
  mayUploadMedia,
  prepareMedia,
  readMedia,
  removeMedia,
  uploadMedia,
} from '../../records/core/media.ts';
import { lockPostVersion } from '../../records/versions.ts';
import { coreUrl } from '../../wordpress/links.ts';
import { endpoint, recordEndpoint, type ServedRoute, uploadEndpoint } from '../endpoint.ts';
import { createdReply, writtenReply } from '../reply.ts';
import { sentFile } from '../upload.ts';
import { pageWithEmbeds, recordWithEmbeds } from './embeds.ts';

const EDIT_CONTEXT = { context: 'edit' } as const;

/** Members that WordPress's media controller adds only if `_fields` names them as a whole. */
const INDIVISIBLE_MEMBERS = ['description', 'caption', 'media_details'];

/** WordPress's own routes of the media library: the list, which also takes uploads, and the single file. */
export const mediaRoutes: readonly ServedRoute[] = [
  {
    pattern: '/media',
    texts: 'core',
    indivisibleMembers: INDIVISIBLE_MEMBERS,
    endpoints: [
      endpoint({
        methods: ['GET'],
        summary: 'media.list',
        params: MEDIA_FILTERS,
        unlistedParams: EMBED,
        mode: 'read',
        allow: (_look, caller, values) => mayListMedia(caller, values),
        run: async (site, caller, values) => {
          const page = await listMedia(site, caller, values);
          return pageWithEmbeds(site, caller, page, values._embed);
        },
      }),
      uploadEndpoint({
        methods: ['POST'],
        summary: 'media.upload',
        params: MEDIA_FIELDS,
        unlistedParams: EXISTING_ID,
        store: (site, caller, upload, values) => prepareMedia(site, caller, sentFile(upload), values),
        mode: 'create',
        allow: mayUploadMedia,
        run: async (site, caller, { upload, ...values }) => {
          const id = await uploadMedia(site, caller, upload, values);
          return createdReply(await readMedia(site, caller, id, EDIT_CONTEXT), coreUrl(caller, `media/${id}`));
        },
      }),
    ],
  },
  {
    pattern: '/media/(?P<id>\\d+)',
    texts: 'core',
    indivisibleMembers: INDIVISIBLE_MEMBERS,
    lockVersion: lockPostVersion({ postType: 'attachment', terms: [] }),
    endpoints: [
      recordEndpoint({
        methods: ['GET'],
        summary: 'media.read',
        params: { ...ID, ...CONTEXT },
        unlistedParams: EMBED,
        mode: 'read',
        allow: mayReadOneMedia,
        run: async (site, caller, values) => {
          const versionedRecord = await readMedia(site, caller, values.id, values);
          return recordWithEmbeds(site, caller, versionedRecord, { embed: values._embed, hasPage: true });
        },
      }),
      recordEndpoint({
        methods: ['POST', 'PUT', 'PATCH'],
        summary: 'media.change',
        params: { ...ID, ...MEDIA_FIELDS },
        mode: 'read',
        allow: mayChangeMedia,
        run: async (site, caller, values) => {
          await changeMedia(site, caller, values.id, values);
          return writtenReply(await readMedia(site, caller, values.id, EDIT_CONTEXT));
        },
      }),
      recordEndpoint({
        methods: ['DELETE'],
        summary: 'media.delete',
        params: { ...ID, ...FORCE_PARAM },
        mode: 'read',
        allow: mayDeleteMedia,
        run: async (site, caller, values) => {
          const { afterCommit, ...removedRecord } = await removeMedia(site, caller, values);
          return { ...writtenReply(removedRecord), afterCommit };
        },
      }),
    ],
  },
];
