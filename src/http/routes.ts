import { servedNamespaces } from '../config.ts';
import { fail } from '../errors.ts';
import { anyId, anything, type Grammar, LENGTHS, oneOf, selector, text, unread } from '../kinds/grammar.ts';
import { kinds, postKinds, termKinds } from '../kinds/index.ts';
import type { Kind, Param, PostKind, Rows, TermKind, Values } from '../kinds/kind.ts';
import type { Caller } from '../records/caller.ts';
import { changePost, createPost, trashPost } from '../records/post-writes.ts';
import { listPosts, mayChange, mayCreate, mayTrash, postIdOfSlug, readPost } from '../records/posts.ts';
import { changeTerm, createTerm, deleteTerm, listTerms, readTerm } from '../records/terms.ts';
import { type LockVersion, lockPostVersion, lockTermVersion } from '../records/versions.ts';
import { mayManageTerms } from '../records/visibility.ts';
import type { Site } from '../site.ts';
import { restUrl } from '../wordpress/links.ts';
import { sanitizeTextField } from '../wordpress/plain-text.ts';
import { describeNamespace, describeSite } from './describe.ts';
import { openApiDocument } from './openapi.ts';
import { created, described, ok, postList, record, termList, written } from './reply.ts';
import type { Endpoint, Route } from './route.ts';
import { listingInContext, termInContext, withEmbedded } from './term-view.ts';

/**
 * A handler as it is served. `unlisted`: parameters that it accepts though no description names them. `upload`: it gets
 * the uploaded file as value `upload`. `acknowledged`: a header that every request must have. `prepare`: what must
 * happen before the transaction because it is slow or not in the database.
 */
export interface ServedEndpoint extends Endpoint {
  readonly unlisted?: Params;
  readonly upload?: true;
  readonly prepare?: (site: Site, caller: Caller, values: Values) => Promise<Values>;
  readonly acknowledged?: string;
}

/**
 * A route as it is served. `select` finds the id of the record that the path names by slug; absent if the path names no
 * record or has the id itself. `lockVersion` is for writes with preconditions (`If-Match`): every route must have it
 * whose path names a record that can be written.
 */
export interface ServedRoute extends Route {
  readonly endpoints: readonly ServedEndpoint[];
  readonly select?: (site: Site, slug: string) => Promise<number | undefined>;
  readonly lockVersion?: LockVersion;
}

type Params = Endpoint['params'];

/** All routes of the namespace in the order in which the index shows them. `languages`: those an answer can be asked for in. */
export function createRoutes(languages: readonly string[]): readonly ServedRoute[] {
  const all: ServedRoute[] = [
    namespaceIndex(() => routes),
    documentation(() => routes),
    ...postKinds.flatMap((kind) => [posts(kind), onePost(kind), onePostBySlug(kind)]),
    ...termKinds.flatMap((kind) => [terms(kind), oneTerm(kind)]),
  ];
  const routes = all.map((route) => inLanguages(route, languages));
  return routes;
}

/**
 * The root of the whole interface. `routes`: those of the namespaces, which exist unless the calendar's settings switch them off; `others`: those of
 * further namespaces.
 */
export function createIndex(
  routes: readonly ServedRoute[],
  languages: readonly string[],
  others: ReadonlyMap<string, readonly ServedRoute[]> = new Map(),
): ServedRoute {
  const run: Endpoint['run'] = async (site, caller) => {
    const served = caller.settings.calendar.restDisabled ? [] : routes;
    return described(describeSite(site, caller, served, { others, secure: caller.home.startsWith('https:') }));
  };
  const params = { context: { grammar: anything(LENGTHS.word), fallback: 'view' } };
  return inLanguages(
    { pattern: '', endpoints: [{ methods: ['GET'], summary: 'site', params, mode: 'read', allow: 'anyone', run }] },
    languages,
  );
}

/** The root of the namespace; of another one of ours, if `namespace` says so. `routes` are all of them, this one included. */
const namespaceIndex = (routes: () => readonly ServedRoute[]): ServedRoute => ({
  pattern: '',
  endpoints: [
    {
      methods: ['GET'],
      summary: 'namespace',
      params: { namespace: { grammar: anything(LENGTHS.word) }, context: { grammar: anything(LENGTHS.word), fallback: 'view' } },
      mode: 'read',
      allow: 'anyone',
      run: async (site, caller, { namespace = caller.namespace }) =>
        described(describeNamespace(site, { ...caller, namespace: served(site, namespace) }, routes())),
    },
  ],
});

const documentation = (routes: () => readonly ServedRoute[]): ServedRoute => ({
  pattern: '/doc',
  endpoints: [
    {
      methods: ['GET'],
      summary: 'doc',
      params: {},
      mode: 'read',
      allow: 'anyone',
      run: async (site, caller) => ok(openApiDocument(site, caller, routes())),
    },
  ],
});

/** Throws rest_invalid_namespace for what is none of ours. */
const served = ({ config }: Site, namespace: unknown): string =>
  servedNamespaces(config).find((known) => known === namespace) ?? fail('rest_invalid_namespace');

const ID: Params = { id: { grammar: anyId, required: true } };
const SLUG: Params = { slug: { grammar: text(LENGTHS.slug), required: true } };
/**
 * What a list takes without declaring it: the context, heeded as by WordPress's own routes, and filters that only other lists have. The latter
 * change nothing here, but the list's URLs carry them on.
 */
const undeclared = (kind: Kind): Params => {
  const names = kinds.flatMap((other) => Object.keys(other.filters)).filter((name) => !Object.hasOwn(kind.filters, name));
  return undescribed(['context', ...names]);
};

/** Parameters of these names, with any value. */
const undescribed = (names: readonly string[]): Params => Object.fromEntries(names.map((name) => [name, { grammar: unread }]));

/** What a new record keeps of parameters that are no fields. */
const strayMetas = ({ strays }: PostKind, values: Values): Rows['metas'] =>
  Object.fromEntries(
    Object.entries(strays).flatMap(([name, key]) => {
      const value = values[name];
      const kept = typeof value === 'string' || typeof value === 'number' ? sanitizeTextField(String(value)) : '';
      return kept === '' ? [] : [[key, [kept]]];
    }),
  );

/** Parameters that shape the list besides its filters: its URLs carry them too (decisions D21, D25). */
const carried = (kind: Kind, values: Values): Values => only(CARRIED.get(kind) ?? {}, values);

const CARRIED = new Map(kinds.map((kind) => [kind, { ...undeclared(kind), translation_language: true, password: true }]));

/** How single records are read; `password` opens protected ones. */
const READING: Params = { password: { grammar: text(LENGTHS.password) }, context: { grammar: anything(LENGTHS.word) } };

// ------------------------------------------------------------------------------------------------- events, venues, organizers
const posts = (kind: PostKind): ServedRoute => ({
  pattern: `/${kind.path}`,
  endpoints: [
    {
      methods: ['GET'],
      summary: `${kind.name}.list`,
      params: kind.filters,
      unlisted: undeclared(kind),
      mode: 'read',
      allow: 'anyone',
      run: async (site, caller, values) => postList(caller, kind, await listPosts(site, caller, kind, values), carried(kind, values)),
    },
    {
      methods: ['POST'],
      summary: `${kind.name}.create`,
      params: kind.fields,
      unlisted: undescribed(Object.keys(kind.strays)),
      mode: 'create',
      allow: (_site, caller) => mayCreate(caller, kind),
      run: async (site, caller, values) =>
        created(await createPost(site, caller, kind, only(kind.fields, values), { metas: strayMetas(kind, values) })),
    },
  ],
});

/** The id of an event need not be one's: what it is told by the handler. The id of a venue or organizer must exist. */
const onePost = (kind: PostKind): ServedRoute => {
  const id = kind.name === 'event' ? ID : existing(selector(kind.name));
  return {
    pattern: `/${kind.path}/(?P<id>\\d+)`,
    lockVersion: lockPostVersion(kind),
    endpoints: singlePost(kind, '', id, kind.name === 'event' ? { ...id, password: READING.password! } : id),
  };
};

/** An event's update takes `slug` as its new slug (decision D6); elsewhere the name is the path's alone. */
const onePostBySlug = (kind: PostKind): ServedRoute => ({
  pattern: `/${kind.path}/by-slug/(?P<slug>[^/]+)`,
  select: (site, slug) => postIdOfSlug(site, kind, slug),
  lockVersion: lockPostVersion(kind),
  endpoints: singlePost(kind, '-by-slug', SLUG, 'slug' in kind.fields ? {} : SLUG),
});

/** `select`: the parameters that name the record when it is read or trashed; `selectToChange`: those when it is changed. */
function singlePost(kind: PostKind, suffix: string, select: Params, selectToChange: Params): Endpoint[] {
  return [
    {
      methods: ['GET'],
      summary: `${kind.name}.read${suffix}`,
      params: { ...select, ...READING },
      mode: 'read',
      allow: 'anyone',
      run: async (site, caller, values) => record(await readPost(site, caller, kind, Number(values.id), values)),
    },
    {
      methods: ['DELETE'],
      summary: `${kind.name}.trash${suffix}`,
      params: { ...select, ...(kind.name === 'event' ? { password: READING.password! } : {}) },
      mode: 'read',
      allow: (site, caller, { id }) => named(caller, kind, 'delete', id) ?? mayTrash(site, caller, kind, Number(id)),
      run: async (site, caller, values) => written(await trashPost(site, caller, kind, Number(values.id))),
    },
    {
      methods: ['POST', 'PUT', 'PATCH'],
      summary: `${kind.name}.change${suffix}`,
      params: { ...selectToChange, ...optional(kind.fields) },
      mode: 'change',
      allow: (site, caller, { id }) => named(caller, kind, 'edit', id) ?? mayChange(site, caller, kind, Number(id)),
      run: async (site, caller, values) => written(await changePost(site, caller, kind, Number(values.id), only(kind.fields, values))),
    },
  ];
}

/** Where the path names no record, WordPress asks for the general capability. */
const named = ({ viewer }: Caller, kind: PostKind, action: 'edit' | 'delete', id: unknown): boolean | undefined =>
  id === 0 ? viewer.can(`${action}_${kind.capabilities}`) : undefined;

// ------------------------------------------------------------------------------------------------- categories, tags
const terms = (kind: TermKind): ServedRoute => ({
  pattern: `/${kind.path}`,
  endpoints: [
    {
      methods: ['GET'],
      summary: `${kind.name}.list`,
      params: kind.filters,
      unlisted: undeclared(kind),
      mode: 'read',
      allow: 'anyone',
      run: async (site, caller, values) => {
        const listing = listingInContext(caller, kind, await listTerms(site, caller, kind, values), values.context);
        return termList(caller, kind, listing, carried(kind, values));
      },
    },
    {
      methods: ['POST'],
      summary: `${kind.name}.create`,
      params: kind.fields,
      unlisted: parent(kind),
      mode: 'create',
      allow: (_site, caller) => mayManageTerms(caller, kind),
      run: async (site, caller, values) => {
        const { id, ...term } = await createTerm(site, caller, kind, only({ ...kind.fields, ...parent(kind) }, values));
        return created(term, restUrl(caller, `wp/v2/${kind.restBase}/${id}`));
      },
    },
  ],
});

const oneTerm = (kind: TermKind): ServedRoute => {
  const id = existing(selector(kind.name));
  const allow: Endpoint['allow'] = (_site, caller) => mayManageTerms(caller, kind);
  return {
    pattern: `/${kind.path}/(?P<id>\\d+)`,
    lockVersion: lockTermVersion(kind),
    endpoints: [
      {
        methods: ['GET'],
        summary: `${kind.name}.read`,
        params: { ...id, context: READING.context! },
        unlisted: { _embed: { grammar: anything(LENGTHS.word) } },
        mode: 'read',
        allow: 'anyone',
        run: async (site, caller, { id, context, _embed }) => {
          const term = await readTerm(site, caller, kind, Number(id));
          return record({ ...term, record: termInContext(await withEmbedded(site, caller, kind, term.record, _embed), context) });
        },
      },
      {
        methods: ['POST', 'PUT', 'PATCH'],
        summary: `${kind.name}.change`,
        params: { ...id, ...optional(kind.fields) },
        unlisted: parent(kind),
        mode: 'change',
        allow,
        run: async (site, caller, values) =>
          written(await changeTerm(site, caller, kind, Number(values.id), only({ ...kind.fields, ...parent(kind) }, values))),
      },
      {
        methods: ['DELETE'],
        summary: `${kind.name}.delete`,
        params: id,
        mode: 'read',
        allow,
        run: async (site, caller, values) => ok(await deleteTerm(site, caller, kind, Number(values.id))),
      },
    ],
  };
};

/** Terms that can't hang under one another are no place for a parent: it is heeded to be refused (`rest_taxonomy_not_hierarchical`). */
const parent = (kind: TermKind): Params => (kind.hierarchical ? {} : { parent: { grammar: anything(LENGTHS.word) } });

// ------------------------------------------------------------------------------------------------- parameters
const existing = (grammar: Grammar): Params => ({ id: { grammar, required: true } });

/** The same fields, none of them required: an update names what it changes. */
const optional = (fields: Params): Params =>
  Object.fromEntries(Object.entries(fields).map(([name, { required: _, ...field }]): [string, Param] => [name, field]));

/** Every handler takes the language of its texts. */
const inLanguages = (route: ServedRoute, languages: readonly string[]): ServedRoute => ({
  ...route,
  endpoints: route.endpoints.map((endpoint) => ({
    ...endpoint,
    params: { ...endpoint.params, translation_language: { grammar: oneOf(languages, 'enum') } },
  })),
});

const only = (fields: Readonly<Record<string, unknown>>, values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([name]) => Object.hasOwn(fields, name)));
