import { fail, type ProblemName, refuse } from '../../errors.ts';
import { CONTEXT, type ContextValues } from '../../kinds/core/params.ts';
import { coreTaxonomies, coreTypes } from '../../kinds/core/types.ts';
import type { View } from '../../kinds/core/view.ts';
import { MAX_BYTES } from '../../kinds/grammars/grammar.ts';
import { anyString } from '../../kinds/grammars/schema.ts';
import type { Param } from '../../kinds/param.ts';
import type { Caller } from '../../records/caller.ts';
import { viewOf } from '../../records/core/lists.ts';
import type { Site } from '../../site.ts';
import { endpoint, type ServedRoute } from '../endpoint.ts';
import type { Reply, Rule } from '../route.ts';

/** Parameters by name, all of them texts, including the context. */
type TextParams = Readonly<Record<string, Param<string>>> & typeof CONTEXT;
type LoadAll = (site: Site, caller: Caller, view: View, type?: string | undefined) => ReadonlyMap<string, Record<string, unknown>>;

const say =
  (site: Site, { language }: Caller) =>
  (key: string, words: Readonly<Record<string, string>> = {}) =>
    site.texts.t(language, `site:${key}`, words);
const types: LoadAll = (site, caller, view) => coreTypes(caller, view, say(site, caller));
const taxonomies: LoadAll = (site, caller, view, type) => coreTaxonomies(caller, view, say(site, caller), type);

const staticReply = (body: unknown): Reply => ({ status: 200, body, timeliness: 'never' });
/** Whether a list may be requested. `context=edit` is for users who can edit posts. */
const mayList: Rule<ContextValues> = (_look, caller, values) => mayUseContext(caller, values) || 'rest_cannot_view';
const mayUseContext = ({ viewer }: Caller, { context }: ContextValues): boolean => context !== 'edit' || viewer.can('edit_posts');

interface Described {
  readonly name: 'types' | 'taxonomies';
  readonly one: 'type' | 'taxonomy';
  readonly all: LoadAll;
  readonly unknown: ProblemName;
  readonly filters: TextParams;
}

const selector = (one: string): TextParams => ({ [one]: { grammar: anyString(MAX_BYTES.word), required: true }, ...CONTEXT });

const listAndSingle = ({ name, one, all, unknown, filters }: Described): ServedRoute[] => [
  {
    pattern: `/${name}`,
    texts: 'core',
    endpoints: [
      endpoint({
        methods: ['GET'],
        summary: `${name}.list`,
        params: filters,
        mode: 'read',
        allow: mayList,
        run: async (site, caller, values) => staticReply(Object.fromEntries(all(site, caller, viewOf(values), values.type))),
      }),
    ],
  },
  {
    pattern: `/${name}/(?P<${one}>[\\w-]+)`,
    texts: 'core',
    endpoints: [
      endpoint({
        methods: ['GET'],
        summary: `${name}.read`,
        params: selector(one),
        mode: 'read',
        allow: 'anyone',
        run: async (site, caller, values) => {
          const record = all(site, caller, viewOf(values)).get(values[one] ?? '') ?? fail(unknown);
          return mayUseContext(caller, values) ? staticReply(record) : refuse(caller.viewer, 'rest_forbidden_context');
        },
      }),
    ],
  },
];

/** WordPress's own routes that describe the types of records and their taxonomies. */
export const typeRoutes: readonly ServedRoute[] = [
  ...listAndSingle({ name: 'types', one: 'type', all: types, unknown: 'rest_type_invalid', filters: CONTEXT }),
  ...listAndSingle({
    name: 'taxonomies',
    one: 'taxonomy',
    all: taxonomies,
    unknown: 'rest_taxonomy_invalid',
    filters: { ...CONTEXT, type: { grammar: anyString(MAX_BYTES.word) } },
  }),
];
