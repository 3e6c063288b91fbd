import { CONTEXT, EMBED, FORCE_PARAM, ID } from '../../kinds/core/params.ts';
import { newTermFields, termFields, termFilters, unlistedTermFields } from '../../kinds/core/term-params.ts';
import type { TermKind } from '../../kinds/kind.ts';
import {
  changeCoreTerm,
  createCoreTerm,
  listCoreTerms,
  mayCreateCoreTerm,
  mayListCoreTerms,
  mayReadCoreTerm,
  mayWriteCoreTerm,
  readCoreTerm,
  removeCoreTerm,
} from '../../records/core/terms.ts';
import { lockTermVersion } from '../../records/versions.ts';
import { coreUrl } from '../../wordpress/links.ts';
import { endpoint, recordEndpoint, type ServedRoute } from '../endpoint.ts';
import { createdReply, writtenReply } from '../reply.ts';
import { pageWithEmbeds, recordWithEmbeds } from './embeds.ts';

/** Returns WordPress's own routes of categories or tags: the list and the single term. */
export const coreTermRoutes = (kind: TermKind): ServedRoute[] => [list(kind), singleRoute(kind)];

const list = (kind: TermKind): ServedRoute => ({
  pattern: `/${kind.restBase}`,
  texts: 'core',
  kind,
  endpoints: [
    endpoint({
      methods: ['GET'],
      summary: `${kind.name}.list`,
      params: termFilters(kind),
      unlistedParams: EMBED,
      mode: 'read',
      allow: (lookUp, caller, values) => mayListCoreTerms(lookUp, caller, kind, values),
      run: async (site, caller, values) => {
        const page = await listCoreTerms(site, caller, kind, values);
        return pageWithEmbeds(site, caller, page, values._embed);
      },
    }),
    endpoint({
      methods: ['POST'],
      summary: `${kind.name}.create`,
      params: newTermFields(kind),
      unlistedParams: unlistedTermFields(kind),
      mode: 'create',
      allow: (_look, caller) => mayCreateCoreTerm(caller, kind),
      run: async (site, caller, values) => {
        const id = await createCoreTerm(site, caller, kind, values);
        return createdReply(await readCoreTerm(site, caller, kind, id, {}), coreUrl(caller, `${kind.restBase}/${id}`));
      },
    }),
  ],
});

const singleRoute = (kind: TermKind): ServedRoute => ({
  pattern: `/${kind.restBase}/(?P<id>\\d+)`,
  texts: 'core',
  kind,
  lockVersion: lockTermVersion(kind),
  endpoints: [
    recordEndpoint({
      methods: ['GET'],
      summary: `${kind.name}.read`,
      params: { ...ID, ...CONTEXT },
      unlistedParams: EMBED,
      mode: 'read',
      allow: (lookUp, caller, values) => mayReadCoreTerm(lookUp, caller, kind, values),
      run: async (site, caller, values) => {
        const versionedRecord = await readCoreTerm(site, caller, kind, values.id, values);
        return recordWithEmbeds(site, caller, versionedRecord, { embed: values._embed, hasPage: false });
      },
    }),
    recordEndpoint({
      methods: ['POST', 'PUT', 'PATCH'],
      summary: `${kind.name}.change`,
      params: { ...ID, ...termFields(kind) },
      unlistedParams: unlistedTermFields(kind),
      mode: 'read',
      allow: (lookUp, caller, { id }) => mayWriteCoreTerm(lookUp, caller, kind, id, 'rest_cannot_update'),
      run: async (site, caller, values) => {
        await changeCoreTerm(site, caller, kind, values.id, values);
        return writtenReply(await readCoreTerm(site, caller, kind, values.id, {}));
      },
    }),
    recordEndpoint({
      methods: ['DELETE'],
      summary: `${kind.name}.delete`,
      params: { ...ID, ...FORCE_PARAM },
      mode: 'read',
      allow: (lookUp, caller, { id }) => mayWriteCoreTerm(lookUp, caller, kind, id, 'rest_cannot_delete'),
      run: async (site, caller, values) => writtenReply(await removeCoreTerm(site, caller, kind, values)),
    }),
  ],
});
