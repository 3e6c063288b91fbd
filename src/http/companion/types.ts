import { fail, type ProblemName } from '../../errors.ts';
import { CONTEXT } from '../../kinds/core-params.ts';
import { coreTaxonomies, coreTypes } from '../../kinds/core-types.ts';
import type { View } from '../../kinds/core-view.ts';
import { LENGTHS } from '../../kinds/grammar.ts';
import type { Param, Values } from '../../kinds/kind.ts';
import { anyString } from '../../kinds/schema-grammar.ts';
import type { Caller } from '../../records/caller.ts';
import { viewOf } from '../../records/core-posts.ts';
import type { Site } from '../../site.ts';
import type { Endpoint, Reply } from '../route.ts';
import type { ServedRoute } from '../routes.ts';

type All = (site: Site, caller: Caller, view: View, values: Values) => ReadonlyMap<string, Record<string, unknown>>;

const say =
  (site: Site, { language }: Caller) =>
  (name: string) =>
    site.texts.t(language, `site:words.${name}`);
const types: All = (site, caller, view) => coreTypes(caller, view, say(site, caller));
const taxonomies: All = (site, caller, view, { type }) => coreTaxonomies(caller, view, say(site, caller), type as string | undefined);

const still = (body: unknown): Reply => ({ status: 200, body, timeliness: 'never' });
/** The form for editing is for those who edit anything. */
const allow: Endpoint['allow'] = (_site, { viewer }, { context }) =>
  context === 'edit' && !viewer.can('edit_posts') ? 'rest_forbidden_context' : true;

const described = (
  name: 'types' | 'taxonomies',
  one: 'type' | 'taxonomy',
  all: All,
  unknown: ProblemName,
  filters: Record<string, Param>,
): ServedRoute[] => [
  {
    pattern: `/${name}`,
    texts: 'core',
    endpoints: [
      {
        methods: ['GET'],
        summary: `${name}.list`,
        params: { ...CONTEXT, ...filters },
        mode: 'read',
        allow,
        run: async (site, caller, values) => still(Object.fromEntries(all(site, caller, viewOf(values), values))),
      },
    ],
  },
  {
    pattern: `/${name}/(?P<${one}>[\\w-]+)`,
    texts: 'core',
    endpoints: [
      {
        methods: ['GET'],
        summary: `${name}.read`,
        params: { [one]: { grammar: anyString(LENGTHS.word), required: true }, ...CONTEXT },
        mode: 'read',
        allow,
        run: async (site, caller, values) => still(all(site, caller, viewOf(values), {}).get(String(values[one])) ?? fail(unknown)),
      },
    ],
  },
];

/** WordPress's own routes that describe the types of records and their taxonomies. */
export const typeRoutes: readonly ServedRoute[] = [
  ...described('types', 'type', types, 'rest_type_invalid', {}),
  ...described('taxonomies', 'taxonomy', taxonomies, 'rest_taxonomy_invalid', { type: { grammar: anyString(LENGTHS.word) } }),
];
