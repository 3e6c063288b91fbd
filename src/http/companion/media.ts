import { CONTEXT, EMBED, FORCE, ID, MEDIA_FIELDS, MEDIA_FILTERS } from '../../kinds/core-params.ts';
import type { PreparedImage } from '../../media/images.ts';
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
} from '../../records/media.ts';
import { lockPostVersion } from '../../records/versions.ts';
import { restUrl } from '../../wordpress/links.ts';
import { created, written } from '../reply.ts';
import type { ServedRoute } from '../routes.ts';
import { sentFile, type Upload } from '../upload.ts';
import { pageWithEmbeds, recordWithEmbeds } from './embeds.ts';

const EDITED = { context: 'edit' };

/** WordPress's own routes of the library: the list, where files are uploaded too, and the single file. */
export const mediaRoutes: readonly ServedRoute[] = [
  {
    pattern: '/media',
    texts: 'core',
    endpoints: [
      {
        methods: ['GET'],
        summary: 'media.list',
        params: MEDIA_FILTERS,
        unlisted: EMBED,
        mode: 'read',
        allow: (_site, caller, values) => mayListMedia(caller, values),
        run: async (site, caller, values) => {
          const page = await listMedia(site, caller, values);
          return pageWithEmbeds(site, caller, page, values._embed);
        },
      },
      {
        methods: ['POST'],
        summary: 'media.upload',
        params: MEDIA_FIELDS,
        upload: true,
        prepare: async (site, caller, { upload, ...values }) => ({
          ...values,
          upload: await prepareMedia(site, caller, sentFile(upload as Upload), values),
        }),
        mode: 'create',
        allow: mayUploadMedia,
        run: async (site, caller, { upload, ...values }) => {
          const id = await uploadMedia(site, caller, upload as PreparedImage, values);
          return created(await readMedia(site, caller, id, EDITED), restUrl(caller, `wp/v2/media/${id}`));
        },
      },
    ],
  },
  {
    pattern: '/media/(?P<id>\\d+)',
    texts: 'core',
    lockVersion: lockPostVersion({ postType: 'attachment', terms: [] }),
    endpoints: [
      {
        methods: ['GET'],
        summary: 'media.read',
        params: { ...ID, ...CONTEXT },
        unlisted: EMBED,
        mode: 'read',
        allow: mayReadOneMedia,
        run: async (site, caller, values) => {
          const shown = await readMedia(site, caller, Number(values.id), values);
          return recordWithEmbeds(site, caller, shown, values._embed, true);
        },
      },
      {
        methods: ['POST', 'PUT', 'PATCH'],
        summary: 'media.change',
        params: { ...ID, ...MEDIA_FIELDS },
        mode: 'read',
        allow: mayChangeMedia,
        run: async (site, caller, values) => {
          await changeMedia(site, caller, Number(values.id), values);
          return written(await readMedia(site, caller, Number(values.id), EDITED));
        },
      },
      {
        methods: ['DELETE'],
        summary: 'media.delete',
        params: { ...ID, ...FORCE },
        mode: 'read',
        allow: mayDeleteMedia,
        run: async (site, caller, { id, force }) => {
          const { afterwards, ...removed } = await removeMedia(site, caller, Number(id), force === true);
          return { ...written(removed), afterwards };
        },
      },
    ],
  },
];
