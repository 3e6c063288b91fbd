import type { SiteSettings } from '../calendar/settings.ts';
import { postsInLanguages } from '../kinds/content-language.ts';
import { kindOnSite } from '../kinds/custom-fields.ts';
import { RECURRENCE, SCOPE, SPAN } from '../kinds/events/recurrence.ts';
import { MAX_BYTES } from '../kinds/grammars/grammar.ts';
import { anyId, selector, text } from '../kinds/grammars/grammars.ts';
import type { PostKind, Rows } from '../kinds/kind.ts';
import type { Params, Values } from '../kinds/param.ts';
import { upsertParam } from '../kinds/post-fields.ts';
import type { Caller } from '../records/caller.ts';
import { listPosts, mayChange, mayCreate, mayTrash, postIdOfSlug, readPost } from '../records/posts.ts';
import { lockPostVersion } from '../records/versions.ts';
import {
  changeDate,
  changePost,
  createDate,
  createPost,
  createPosts,
  deleteDate,
  type NewRecord,
  trashPost,
} from '../records/writes/post-writes.ts';
import { upsertPost } from '../records/writes/upsert.ts';
import { isIndependent } from '../records/writes/write-post.ts';
import { storedTextField } from '../wordpress/content/plain-text.ts';
import { storedText } from '../wordpress/php/serialized.ts';
import { endpoint, recordEndpoint, type ServedEndpoint, type ServedRoute } from './endpoint.ts';
import { createdReply, postListReply, recordReply, writtenReply } from './reply.ts';
import {
  addedBySite,
  optional,
  PASSWORD_PARAM,
  paramsToCarry,
  pickValues,
  READ_PARAMS,
  requiredId,
  undeclaredListParams,
  undescribedParams,
} from './route-params.ts';

/** Returns the routes of events, venues or organizers, in the order of the index. */
export const postRoutes = (kind: PostKind): readonly ServedRoute[] => [
  posts(kind),
  onePost(kind),
  onePostBySlug(kind),
  ...(kind.hasDates ? [datesOf(kind)] : []),
];

const ID = { id: { grammar: anyId, required: true } } satisfies Params;
const SLUG = { slug: { grammar: text(MAX_BYTES.slug), required: true } } satisfies Params;
/** Returns the metas of a new record that come from parameters that are not fields. */
const extraMetasIn = ({ extraMetas }: PostKind, values: Values): Rows['metas'] =>
  Object.fromEntries(
    Object.entries(extraMetas).flatMap(([name, key]) => {
      const value = values[name];
      const text = typeof value === 'string' || typeof value === 'number' ? storedTextField(String(value)) : '';
      return text === '' ? [] : [[key, [storedText(text)]]];
    }),
  );

const newRecord = (kind: PostKind, values: Values): NewRecord => ({
  values: pickValues(kind.fields, values),
  extraRows: { metas: extraMetasIn(kind, values) },
});

/**
 * Returns the parameter that asks for the recurrence rule of an event. It is described if events can recur. Its values
 * may be absent, so the type holds for other kinds too.
 */
const recurrenceParam = ({ hasDates }: PostKind) => (hasDates ? RECURRENCE : {}) as typeof RECURRENCE;

/** Returns the parameter that limits a write to one date, likewise. */
const scopeParam = ({ hasDates }: PostKind) => (hasDates ? SCOPE : {}) as typeof SCOPE;

const posts = (kind: PostKind): ServedRoute => ({
  pattern: `/${kind.path}`,
  kind,
  endpoints: [
    endpoint({
      methods: ['GET'],
      summary: `${kind.name}.list`,
      params: kind.filters,
      unlistedParams: undeclaredListParams(kind),
      siteParams: (settings) => addedBySite(kind.filters, listKind(kind, settings).filters),
      mode: 'read',
      allow: 'anyone',
      run: async (site, caller, values) =>
        postListReply(
          caller,
          kind,
          await listPosts(site, caller, listKind(kind, caller.settings), values),
          paramsToCarry(caller, kind, values),
        ),
    }),
    endpoint({
      methods: ['POST'],
      summary: `${kind.name}.create`,
      params: { ...kind.fields, ...upsertParam(kind) },
      unlistedParams: undescribedParams(Object.keys(kind.extraMetas)),
      siteParams: (settings) => addedBySite(kind.fields, kindOnSite(kind, settings).fields),
      mode: 'create',
      allow: (_look, caller) => mayCreate(caller, kind),
      run: async (site, caller, values) => {
        const siteKind = kindOnSite(kind, caller.settings);
        const record = newRecord(siteKind, values);
        if (values.upsert === undefined) return createdReply(await createPost(site, caller, siteKind, record.values, record.extraRows));
        const { isNew, ...versionedRecord } = await upsertPost(site, caller, siteKind, { by: values.upsert, ...record });
        return (isNew ? createdReply : writtenReply)(versionedRecord);
      },
      runTogether: {
        accepts: (values) => values.upsert === undefined && isIndependent(kind, values),
        run: async (site, caller, changes) => {
          const siteKind = kindOnSite(kind, caller.settings);
          const records = changes.map((values) => newRecord(siteKind, values));
          return (await createPosts(site, caller, siteKind, records)).map((versionedRecord) => createdReply(versionedRecord));
        },
      },
    }),
  ],
});

/** Returns a kind with all list parameters that it takes on a site. */
const listKind = (kind: PostKind, settings: SiteSettings): PostKind => postsInLanguages(kindOnSite(kind, settings), settings);

/** Creates the route by id. The id must belong to a record, unless the kind has its own errors for invalid ids. */
const onePost = (kind: PostKind): ServedRoute => {
  const id = kind.problems.byId ? ID : requiredId(selector(kind.name));
  return {
    pattern: `/${kind.path}/(?P<id>\\d+)`,
    kind,
    lockVersion: lockPostVersion(kind),
    endpoints: singlePost(kind, '', id, kind.describesWritePassword ? { ...id, ...PASSWORD_PARAM } : id),
  };
};

/**
 * Creates the route by slug. An event's update takes `slug` as its new slug (decision D6); for other kinds `slug` is
 * only in the path.
 */
const onePostBySlug = (kind: PostKind): ServedRoute => ({
  pattern: `/${kind.path}/by-slug/(?P<slug>[^/]+)`,
  kind,
  select: (site, slug, caller) => postIdOfSlug(site, kind, slug, caller),
  lockVersion: lockPostVersion(kind),
  endpoints: singlePost(kind, '-by-slug', SLUG, 'slug' in kind.fields ? {} : SLUG),
});

/**
 * Returns the endpoints of a single record. `select`: the parameters that name the record when it is read or trashed;
 * `selectToChange`: those when it is changed.
 */
function singlePost(kind: PostKind, suffix: string, select: Params, selectToChange: Params): ServedEndpoint[] {
  return [
    recordEndpoint({
      methods: ['GET'],
      summary: `${kind.name}.read${suffix}`,
      params: { ...select, ...READ_PARAMS },
      unlistedParams: recurrenceParam(kind),
      siteParams: ({ recurrence }) => (recurrence ? recurrenceParam(kind) : {}),
      mode: 'read',
      allow: 'anyone',
      run: async (site, caller, values) => {
        const versionedRecord = await readPost(site, caller, kind, values.id, values);
        // Rules can change without a write to the tables that cached answers depend on.
        return values.recurrence ? writtenReply(versionedRecord) : recordReply(versionedRecord, caller);
      },
    }),
    recordEndpoint({
      methods: ['DELETE'],
      summary: `${kind.name}.trash${suffix}`,
      params: { ...select, ...(kind.describesWritePassword ? PASSWORD_PARAM : {}) },
      unlistedParams: scopeParam(kind),
      siteParams: ({ recurrence }) => (recurrence ? scopeParam(kind) : {}),
      mode: 'read',
      allow: (lookUp, caller, { id }) => mayWithoutRecord(caller, kind, 'delete', id) ?? mayTrash(lookUp, caller, kind, id),
      run: async (site, caller, { id, scope }) => writtenReply(await (scope ? deleteDate : trashPost)(site, caller, kind, id)),
    }),
    recordEndpoint({
      methods: ['POST', 'PUT', 'PATCH'],
      summary: `${kind.name}.change${suffix}`,
      params: { ...selectToChange, ...optional(kind.fields) },
      unlistedParams: scopeParam(kind),
      siteParams: (settings) => ({
        ...addedBySite(kind.fields, kindOnSite(kind, settings).fields),
        ...(settings.recurrence ? scopeParam(kind) : {}),
      }),
      mode: 'change',
      allow: (lookUp, caller, { id }) => mayWithoutRecord(caller, kind, 'edit', id) ?? mayChange(lookUp, caller, kind, id),
      run: async (site, caller, values) => {
        const siteKind = kindOnSite(kind, caller.settings);
        return writtenReply(
          await (values.scope ? changeDate : changePost)(site, caller, siteKind, values.id, pickValues(siteKind.fields, values)),
        );
      },
    }),
  ];
}

/** Creates the route for further dates of recurring events. */
const datesOf = (kind: PostKind): ServedRoute => ({
  pattern: `/${kind.path}/(?P<id>\\d+)/dates`,
  kind,
  lockVersion: lockPostVersion(kind),
  endpoints: [
    recordEndpoint({
      methods: ['POST'],
      summary: `${kind.name}.create-date`,
      params: { ...ID, ...SPAN },
      mode: 'create',
      allow: (lookUp, caller, { id }) => mayChange(lookUp, caller, kind, id),
      run: async (site, caller, { id, start_date, end_date }) =>
        createdReply(await createDate(site, caller, kind, id, { start_date, end_date })),
    }),
  ],
});

/**
 * Whether the caller may act if the path names no record: WordPress then requires the general capability. Undefined if
 * it names one.
 */
const mayWithoutRecord = ({ viewer }: Caller, kind: PostKind, action: 'edit' | 'delete', id: number): boolean | undefined =>
  id === 0 ? viewer.can(`${action}_${kind.capabilities}`) : undefined;
