import type { SiteSettings } from '../../calendar/settings.ts';
import { FORCE_PARAM } from '../../kinds/core/params.ts';
import { kindOnSite } from '../../kinds/custom-fields.ts';
import { anyId } from '../../kinds/grammars/grammars.ts';
import { postKind, postKinds } from '../../kinds/index.ts';
import type { PostKind } from '../../kinds/kind.ts';
import type { Params } from '../../kinds/param.ts';
import { TEC_FIELDS, TEC_PASSWORD, tecFields, tecFilters } from '../../kinds/tec/params.ts';
import { type TecRecord, withLinkedLimited } from '../../kinds/tec/record.ts';
import { mayCreate } from '../../records/posts.ts';
import {
  changeTecPost,
  createTecPost,
  listTecPosts,
  mayChangeTec,
  mayDeleteTec,
  mayReadTec,
  readTecPost,
  readWrittenTecPost,
  removeTecPost,
} from '../../records/tec-posts.ts';
import { lockPostVersion } from '../../records/versions.ts';
import { endpoint, recordEndpoint, type ServedEndpoint, type ServedRoute } from '../endpoint.ts';
import { fieldNames } from '../protocol.ts';
import { createdReply, ok, writtenReply } from '../reply.ts';
import type { Reply } from '../route.ts';
import { corePage } from './core-reply.ts';
import { tecDocument } from './tec-document.ts';

/** The header by which a client acknowledges that the API may change; requests without it are refused. */
const ACKNOWLEDGEMENT = 'X-TEC-EEA';

const ID = { id: { grammar: anyId, required: true } } satisfies Params;

/** Returns the routes of the calendar's newer API: events, venues and organizers, and its OpenAPI document. */
export const tecRoutes = (): ServedRoute[] => {
  const routes = [...postKinds.flatMap((kind) => [list(kind), singleRoute(kind)])];
  const documentation: ServedRoute = {
    pattern: '/docs',
    texts: 'tec',
    endpoints: [
      endpoint({
        methods: ['GET'],
        summary: 'doc',
        params: {},
        mode: 'read',
        allow: 'anyone',
        run: async (site, caller): Promise<Reply> => ok(tecDocument(site, caller, [...routes, documentation])),
      }),
    ],
  };
  return [...routes, documentation];
};

const list = (kind: PostKind): ServedRoute => ({
  pattern: `/${kind.path}`,
  texts: 'tec',
  kind,
  endpoints: withAcknowledgement([
    endpoint({
      methods: ['GET'],
      summary: `${kind.name}.list`,
      params: tecFilters(kind),
      unlistedParams: { ...TEC_PASSWORD, ...TEC_FIELDS },
      mode: 'read',
      allow: 'anyone',
      run: async (site, caller, values) => {
        const page = await listTecPosts(site, caller, kind, values);
        return corePage({ ...page, records: page.records.map(trimLinkedRecords(values._fields)) });
      },
    }),
    endpoint({
      methods: ['POST'],
      summary: `${kind.name}.create`,
      params: tecFields(kind, postKind('event')),
      siteParams: siteFields(kind),
      mode: 'create',
      allow: (_look, caller) => mayCreate(caller, kind),
      run: async (site, caller, values) =>
        createdReply(await readWrittenTecPost(site, caller, kind, await createTecPost(site, caller, kind, values))),
    }),
  ]),
});

const singleRoute = (kind: PostKind): ServedRoute => ({
  pattern: `/${kind.path}/(?P<id>\\d+)`,
  texts: 'tec',
  kind,
  lockVersion: lockPostVersion(kind),
  endpoints: withAcknowledgement([
    recordEndpoint({
      methods: ['GET'],
      summary: `${kind.name}.read`,
      params: ID,
      unlistedParams: { ...TEC_PASSWORD, ...TEC_FIELDS },
      mode: 'read',
      allow: (lookUp, caller, { id }) => mayReadTec(lookUp, caller, kind, id),
      run: async (site, caller, values) => {
        const { record, version } = await readTecPost(site, caller, kind, values.id, values);
        return writtenReply({ record: trimLinkedRecords(values._fields)(record), ...(version === undefined ? {} : { version }) });
      },
    }),
    recordEndpoint({
      methods: ['PUT', 'PATCH'],
      summary: `${kind.name}.change`,
      params: { ...ID, ...tecFields(kind, postKind('event')) },
      siteParams: siteFields(kind),
      mode: 'change',
      allow: (lookUp, caller, { id }) => mayChangeTec(lookUp, caller, kind, id),
      run: async (site, caller, values) => {
        await changeTecPost(site, caller, kind, values.id, values);
        return writtenReply(await readWrittenTecPost(site, caller, kind, values.id));
      },
    }),
    recordEndpoint({
      methods: ['DELETE'],
      summary: `${kind.name}.trash`,
      params: { ...ID, ...FORCE_PARAM },
      mode: 'read',
      allow: (lookUp, caller, { id }) => mayDeleteTec(lookUp, caller, kind, id),
      run: async (site, caller, { id }) => {
        await removeTecPost(site, caller, kind, id);
        return ok([]);
      },
    }),
  ]),
});

/** Returns the additional fields of a site. */
const siteFields =
  (kind: PostKind) =>
  (settings: SiteSettings): Params => {
    const commonFields = tecFields(kind, postKind('event'));
    const fieldsOnSite = tecFields(kindOnSite(kind, settings), postKind('event'));
    return Object.fromEntries(Object.entries(fieldsOnSite).filter(([name]) => !Object.hasOwn(commonFields, name)));
  };

/** Reduces the records within a record to the members that `_fields` names. */
const trimLinkedRecords = (fields: unknown) => {
  const names = fieldNames(fields).map((path) => path.split('.')[0]!);
  return (record: TecRecord) => (names.length === 0 ? record : withLinkedLimited(record, new Set(names)));
};

const withAcknowledgement = (endpoints: readonly ServedEndpoint[]): ServedEndpoint[] =>
  endpoints.map((endpoint) => ({ ...endpoint, acknowledgementHeader: ACKNOWLEDGEMENT }));
