import type { SiteSettings } from '../calendar/settings.ts';
import { servedNamespaces } from '../config/config.ts';
import { fail } from '../errors.ts';
import { CHANGES, MOST_CHANGES, USUAL_CHANGES } from '../kinds/changes-params.ts';
import { postsInLanguages, termsInLanguages } from '../kinds/content-language.ts';
import { OFFSET } from '../kinds/core-params.ts';
import { onSite } from '../kinds/custom-fields.ts';
import { RECURRENCE, SCOPE, SPAN } from '../kinds/event-recurrence.ts';
import { type Grammar, LENGTHS } from '../kinds/grammar.ts';
import { anyId, anything, oneOf, selector, text, unread } from '../kinds/grammars.ts';
import { kinds, postKinds, termKinds } from '../kinds/index.ts';
import type { Kind, PostKind, Rows, TermKind } from '../kinds/kind.ts';
import type { Param, Params, Values } from '../kinds/param.ts';
import { UPSERT } from '../kinds/post-fields.ts';
import { memoizeByObject } from '../memo.ts';
import type { Caller } from '../records/caller.ts';
import { changesSince } from '../records/changes.ts';
import { changeDate, changePost, createDate, createPost, deleteDate, trashPost, upsertPost } from '../records/post-writes.ts';
import { listPosts, mayChange, mayCreate, mayTrash, postIdOfSlug, readPost } from '../records/posts.ts';
import { changeTerm, createTerm, deleteTerm, listTerms, readTerm } from '../records/terms.ts';
import { lockPostVersion, lockTermVersion } from '../records/versions.ts';
import { mayManageTerms } from '../records/visibility.ts';
import type { Site } from '../site.ts';
import type { LookUp } from '../storage/engine/look-up-once.ts';
import type { ContentLanguages } from '../wordpress/content-languages.ts';
import { restUrl } from '../wordpress/links.ts';
import { sanitizeTextField } from '../wordpress/plain-text.ts';
import { EVERY_LANGUAGE } from './content-language.ts';
import { describeNamespace, describeSite } from './describe.ts';
import { endpoint, recordEndpoint, type ServedEndpoint, type ServedRoute } from './endpoint.ts';
import { openApiDocument } from './openapi.ts';
import { created, described, ok, postList, record, termList, written } from './reply.ts';
import { listingInContext, termInContext, withEmbedded } from './term-view.ts';
import { webhookRoutes } from './webhook-routes.ts';

/**
 * All routes of the namespace in the order in which the index shows them. `languages`: those an answer can be asked for
 * in; `roots`: routes outside all namespaces, which the documentation describes, too.
 */
export function createRoutes(languages: readonly string[], roots: () => readonly ServedRoute[] = () => []): readonly ServedRoute[] {
  const all: ServedRoute[] = [
    namespaceIndex(() => routes),
    documentation(() => routes, roots),
    ...postKinds.flatMap((kind) => [posts(kind), onePost(kind), onePostBySlug(kind), ...(kind.dated ? [datesOf(kind)] : [])]),
    ...termKinds.flatMap((kind) => [terms(kind), oneTerm(kind)]),
    changes,
    ...webhookRoutes,
  ];
  const routes = all.map((route) => inLanguages(route, languages));
  return routes;
}

/**
 * The root of the whole interface. `routes`: those of the namespaces, which exist unless the calendar's settings switch
 * them off; `others`: those of further namespaces; `roots`: those outside all namespaces.
 */
export function createIndex(
  routes: readonly ServedRoute[],
  languages: readonly string[],
  others: ReadonlyMap<string, readonly ServedRoute[]> = new Map(),
  roots: readonly ServedRoute[] = [],
): ServedRoute {
  const index = endpoint({
    methods: ['GET'],
    summary: 'site',
    params: { context: { grammar: anything(LENGTHS.word), fallback: 'view' } },
    mode: 'read',
    allow: 'anyone',
    run: async (site, caller) => {
      const served = caller.settings.calendar.restDisabled ? [] : routes;
      const description = describeSite(site, caller, served, { others, roots, secure: caller.home.startsWith('https:') });
      return { ...described(description), linksAreFields: true };
    },
  });
  return inLanguages({ pattern: '', endpoints: [index] }, languages);
}

/**
 * The root of the namespace; of another one of ours, if `namespace` says so. `routes` are all of them, this one
 * included.
 */
const namespaceIndex = (routes: () => readonly ServedRoute[]): ServedRoute => ({
  pattern: '',
  endpoints: [
    endpoint({
      methods: ['GET'],
      summary: 'namespace',
      params: { namespace: { grammar: anything(LENGTHS.word) }, context: { grammar: anything(LENGTHS.word), fallback: 'view' } },
      mode: 'read',
      allow: 'anyone',
      run: async (site, caller, { namespace = caller.namespace }) =>
        described(describeNamespace(site, { ...caller, namespace: served(site, namespace) }, routes())),
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

/** Throws rest_invalid_namespace for what is none of ours. */
const served = ({ config }: Site, namespace: unknown): string =>
  servedNamespaces(config).find((known) => known === namespace) ?? fail('rest_invalid_namespace');

const ID = { id: { grammar: anyId, required: true } } satisfies Params;
const SLUG = { slug: { grammar: text(LENGTHS.slug), required: true } } satisfies Params;
/**
 * What a list takes without declaring it: the context, with the effect that it has on WordPress's own routes, and
 * filters that only other lists have. The latter change nothing here, but the list's URLs carry them on.
 */
const undeclared = (kind: Kind): Params => {
  const names = kinds.flatMap((other) => Object.keys(other.filters)).filter((name) => !Object.hasOwn(kind.filters, name));
  return undescribed(['context', ...names]);
};

/** Parameters of these names, with any value. */
const undescribed = (names: readonly string[]): Params => Object.fromEntries(names.map((name) => [name, { grammar: unread }]));

/** What a new record keeps of parameters that are no fields. */
const extraMetasIn = ({ extraMetas }: PostKind, values: Values): Rows['metas'] =>
  Object.fromEntries(
    Object.entries(extraMetas).flatMap(([name, key]) => {
      const value = values[name];
      const kept = typeof value === 'string' || typeof value === 'number' ? sanitizeTextField(String(value)) : '';
      return kept === '' ? [] : [[key, [kept]]];
    }),
  );

/** Parameters that shape the list besides its filters: its URLs carry them too (decisions D21, D25). */
function carried({ settings, content }: Caller, kind: Kind, values: Values): Values {
  const own = only(CARRIED.get(kind) ?? {}, values);
  if (!settings.contentLanguages) return own;
  // What says the language of the records is carried as it came, unless the address says the same.
  const { translation_language: text, ...others } = own;
  const { parameter, chosen } = content;
  const isInAddress = chosen && parameter === undefined && text === content.code;
  return {
    ...others,
    ...(text === undefined || isInAddress ? {} : { translation_language: text }),
    ...(parameter ? Object.fromEntries([parameter]) : {}),
  };
}

const CARRIED = new Map(kinds.map((kind) => [kind, { ...undeclared(kind), translation_language: true, password: true }]));

/** How single records are read; `password` opens protected ones. */
const PASSWORD = { password: { grammar: text(LENGTHS.password) } } satisfies Params;
const READING = { ...PASSWORD, context: { grammar: anything(LENGTHS.word) } } satisfies Params;

/**
 * What asks for the rule of an event; described where events can recur. Values may be absent, so the type holds for
 * other kinds too.
 */
const recurrenceOf = ({ dated }: PostKind) => (dated ? RECURRENCE : {}) as typeof RECURRENCE;

/** The same for what says that a write is about one date alone. */
const scopeOf = ({ dated }: PostKind) => (dated ? SCOPE : {}) as typeof SCOPE;

// ------------------------------------------------------------------------------------------ events, venues, organizers
const posts = (kind: PostKind): ServedRoute => ({
  pattern: `/${kind.path}`,
  kind,
  endpoints: [
    endpoint({
      methods: ['GET'],
      summary: `${kind.name}.list`,
      params: kind.filters,
      unlisted: undeclared(kind),
      onSite: (settings) => added(kind.filters, listed(kind, settings).filters),
      mode: 'read',
      allow: 'anyone',
      run: async (site, caller, values) =>
        postList(caller, kind, await listPosts(site, caller, listed(kind, caller.settings), values), carried(caller, kind, values)),
    }),
    endpoint({
      methods: ['POST'],
      summary: `${kind.name}.create`,
      params: { ...kind.fields, ...UPSERT },
      unlisted: undescribed(Object.keys(kind.extraMetas)),
      onSite: (settings) => added(kind.fields, onSite(kind, settings).fields),
      mode: 'create',
      allow: (_look, caller) => mayCreate(caller, kind),
      run: async (site, caller, values) => {
        const own = onSite(kind, caller.settings);
        const change = { values: only(own.fields, values), extra: { metas: extraMetasIn(kind, values) } };
        if (values.upsert === undefined) return created(await createPost(site, caller, own, change.values, change.extra));
        const { isNew, ...shown } = await upsertPost(site, caller, own, { by: values.upsert, ...change });
        return (isNew ? created : written)(shown);
      },
    }),
  ],
});

/** A kind with everything that its list takes on a site. */
const listed = (kind: PostKind, settings: SiteSettings): PostKind => postsInLanguages(onSite(kind, settings), settings);

/** An id must be that of a record, unless the kind has problems of its own for ids that are not. */
const onePost = (kind: PostKind): ServedRoute => {
  const id = kind.problems.byId ? ID : existing(selector(kind.name));
  return {
    pattern: `/${kind.path}/(?P<id>\\d+)`,
    kind,
    lockVersion: lockPostVersion(kind),
    endpoints: singlePost(kind, '', id, kind.writesNamePassword ? { ...id, ...PASSWORD } : id),
  };
};

/** An event's update takes `slug` as its new slug (decision D6); elsewhere the name is the path's alone. */
const onePostBySlug = (kind: PostKind): ServedRoute => ({
  pattern: `/${kind.path}/by-slug/(?P<slug>[^/]+)`,
  kind,
  select: (site, slug, caller) => postIdOfSlug(site, kind, slug, caller),
  lockVersion: lockPostVersion(kind),
  endpoints: singlePost(kind, '-by-slug', SLUG, 'slug' in kind.fields ? {} : SLUG),
});

/**
 * `select`: the parameters that name the record when it is read or trashed; `selectToChange`: those when it is changed.
 */
function singlePost(kind: PostKind, suffix: string, select: Params, selectToChange: Params): ServedEndpoint[] {
  return [
    recordEndpoint({
      methods: ['GET'],
      summary: `${kind.name}.read${suffix}`,
      params: { ...select, ...READING },
      unlisted: recurrenceOf(kind),
      onSite: ({ recurrence }) => (recurrence ? recurrenceOf(kind) : {}),
      mode: 'read',
      allow: 'anyone',
      run: async (site, caller, values) => {
        const shown = await readPost(site, caller, kind, values.id, values);
        // Rules change without the tables that answers are remembered by.
        return values.recurrence ? written(shown) : record(shown, caller);
      },
    }),
    recordEndpoint({
      methods: ['DELETE'],
      summary: `${kind.name}.trash${suffix}`,
      params: { ...select, ...(kind.writesNamePassword ? PASSWORD : {}) },
      unlisted: scopeOf(kind),
      onSite: ({ recurrence }) => (recurrence ? scopeOf(kind) : {}),
      mode: 'read',
      allow: (lookUp, caller, { id }) => named(caller, kind, 'delete', id) ?? mayTrash(lookUp, caller, kind, id),
      run: async (site, caller, { id, scope }) => written(await (scope ? deleteDate : trashPost)(site, caller, kind, id)),
    }),
    recordEndpoint({
      methods: ['POST', 'PUT', 'PATCH'],
      summary: `${kind.name}.change${suffix}`,
      params: { ...selectToChange, ...optional(kind.fields) },
      unlisted: scopeOf(kind),
      onSite: (settings) => ({ ...added(kind.fields, onSite(kind, settings).fields), ...(settings.recurrence ? scopeOf(kind) : {}) }),
      mode: 'change',
      allow: (lookUp, caller, { id }) => named(caller, kind, 'edit', id) ?? mayChange(lookUp, caller, kind, id),
      run: async (site, caller, values) => {
        const own = onSite(kind, caller.settings);
        return written(await (values.scope ? changeDate : changePost)(site, caller, own, values.id, only(own.fields, values)));
      },
    }),
  ];
}

/** Further dates of events that recur. */
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
        created(await createDate(site, caller, kind, id, { start_date, end_date })),
    }),
  ],
});

/** Where the path names no record, WordPress asks for the general capability. */
const named = ({ viewer }: Caller, kind: PostKind, action: 'edit' | 'delete', id: number): boolean | undefined =>
  id === 0 ? viewer.can(`${action}_${kind.capabilities}`) : undefined;

// ------------------------------------------------------------------------------------------------- categories, tags
const terms = (kind: TermKind): ServedRoute => ({
  pattern: `/${kind.path}`,
  kind,
  endpoints: [
    endpoint({
      methods: ['GET'],
      summary: `${kind.name}.list`,
      params: kind.filters,
      // Tags take it, as in the reference, but the list's addresses count pages without it.
      unlisted: { ...undeclared(kind), ...(kind.hierarchical ? {} : OFFSET) },
      onSite: (settings) => added(kind.filters, termsInLanguages(kind, settings).filters),
      mode: 'read',
      allow: 'anyone',
      run: async (site, caller, values) => {
        const listing = listingInContext(caller, kind, await listTerms(site, caller, kind, values, values.offset), values.context);
        return termList(caller, kind, listing, carried(caller, kind, values));
      },
    }),
    endpoint({
      methods: ['POST'],
      summary: `${kind.name}.create`,
      params: kind.fields,
      unlisted: parent(kind),
      onSite: (settings) => added(kind.fields, onSite(kind, settings).fields),
      mode: 'create',
      allow: (_look, caller) => mayManageTerms(caller, kind),
      run: async (site, caller, values) => {
        const own = onSite(kind, caller.settings);
        const { id, ...term } = await createTerm(site, caller, own, only({ ...own.fields, ...parent(kind) }, values));
        return created(term, restUrl(caller, `wp/v2/${kind.restBase}/${id}`));
      },
    }),
  ],
});

const oneTerm = (kind: TermKind): ServedRoute => {
  const id = existing(selector(kind.name));
  const allow = (_look: LookUp, caller: Caller) => mayManageTerms(caller, kind);
  return {
    pattern: `/${kind.path}/(?P<id>\\d+)`,
    kind,
    lockVersion: lockTermVersion(kind),
    endpoints: [
      recordEndpoint({
        methods: ['GET'],
        summary: `${kind.name}.read`,
        params: { ...id, context: READING.context },
        unlisted: { _embed: { grammar: anything(LENGTHS.word) } },
        mode: 'read',
        allow: 'anyone',
        run: async (site, caller, { id, context, _embed }) => {
          const term = await readTerm(site, caller, kind, id);
          const shown = termInContext(await withEmbedded(site, caller, kind, term.record, _embed), context);
          return record({ ...term, record: shown }, caller);
        },
      }),
      recordEndpoint({
        methods: ['POST', 'PUT', 'PATCH'],
        summary: `${kind.name}.change`,
        params: { ...id, ...optional(kind.fields) },
        unlisted: parent(kind),
        onSite: (settings) => added(kind.fields, onSite(kind, settings).fields),
        mode: 'change',
        allow,
        run: async (site, caller, values) => {
          const own = onSite(kind, caller.settings);
          return written(await changeTerm(site, caller, own, values.id, only({ ...own.fields, ...parent(kind) }, values)));
        },
      }),
      recordEndpoint({
        methods: ['DELETE'],
        summary: `${kind.name}.delete`,
        params: id,
        mode: 'read',
        allow,
        run: async (site, caller, values) => ok(await deleteTerm(site, caller, kind, values.id)),
      }),
    ],
  };
};

/** Tags have no parent: the parameter is taken so that it can be refused (`rest_taxonomy_not_hierarchical`). */
const parent = (kind: TermKind): Params => (kind.hierarchical ? {} : { parent: { grammar: anything(LENGTHS.word) } });

// ------------------------------------------------------------------------------------------------- what has changed
const changes: ServedRoute = {
  pattern: '/changes',
  texts: 'changes',
  refusals: ['410'],
  endpoints: [
    endpoint({
      methods: ['GET'],
      summary: 'changes',
      params: CHANGES,
      mode: 'read',
      allow: 'anyone',
      run: async (site, caller, { since, kinds: names, include, limit = USUAL_CHANGES }) => {
        const following = { kinds: names, records: include === 'records', limit: Math.min(limit, MOST_CHANGES) };
        return { ...ok(await changesSince(site, caller, since, following)), timeliness: 'never' };
      },
    }),
  ],
};

// ------------------------------------------------------------------------------------------------- parameters
const existing = (grammar: Grammar): Params => ({ id: { grammar, required: true } });

/** What a site has besides these parameters. */
const added = (declared: Params, onSite: Params): Params =>
  declared === onSite ? {} : Object.fromEntries(Object.entries(onSite).filter(([name]) => !Object.hasOwn(declared, name)));

/** The same fields, none of them required: an update names what it changes. */
const optional = (fields: Params): Params =>
  Object.fromEntries(Object.entries(fields).map(([name, { required: _, ...field }]): [string, Param] => [name, field]));

/** Every handler takes the language of its texts; where content has languages, that of the records, too. */
export function inLanguages(route: ServedRoute, languages: readonly string[]): ServedRoute {
  const ofContent = memoizeByObject(
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
      onSite: (settings) => ({
        ...endpoint.onSite?.(settings),
        ...(settings.contentLanguages ? ofContent(settings.contentLanguages) : {}),
      }),
    })),
  };
}

const only = (fields: Readonly<Record<string, unknown>>, values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([name]) => Object.hasOwn(fields, name)));
