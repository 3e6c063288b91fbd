import { fail, type ProblemName, refuse } from '../../errors.ts';
import { CONTEXT } from '../../kinds/core/params.ts';
import { coreTaxonomies, coreTypes, editableTaxonomies, editableTypes } from '../../kinds/core/types.ts';
import type { View } from '../../kinds/core/view.ts';
import { type Can, MAX_BYTES } from '../../kinds/grammars/grammar.ts';
import { anyString } from '../../kinds/grammars/schema.ts';
import type { Param } from '../../kinds/param.ts';
import type { Caller } from '../../records/caller.ts';
import { viewOf } from '../../records/core/lists.ts';
import type { Site } from '../../site.ts';
import { endpoint, type ServedRoute } from '../endpoint.ts';
import type { Reply } from '../route.ts';

/** Parameters by name, all of them texts, including the context. */
type TextParams = Readonly<Record<string, Param<string>>> & typeof CONTEXT;
type LoadAll = (site: Site, caller: Caller, view: View, type?: string | undefined) => ReadonlyMap<string, Record<string, unknown>>;

/** Returns the function for names and labels. WordPress has them in the language of the site, whoever asks. */
const say =
  (site: Site, { recordLanguage }: Caller) =>
  (key: string, words: Readonly<Record<string, string>> = {}) =>
    site.texts.t(recordLanguage, `site:${key}`, words);
const types: LoadAll = (site, caller, view) => coreTypes(caller, view, say(site, caller));
const taxonomies: LoadAll = (site, caller, view, type) => coreTaxonomies(caller, view, say(site, caller), type);

const staticReply = (body: unknown): Reply => ({ status: 200, body, timeliness: 'never' });

interface Described {
  readonly name: 'types' | 'taxonomies';
  readonly one: 'type' | 'taxonomy';
  readonly loadAll: LoadAll;
  /** Returns the slugs of those that a caller may see with `context=edit`; `type`: as in the list. */
  readonly editable: (can: Can, type?: string | undefined) => readonly string[];
  readonly unknownProblem: ProblemName;
  readonly filters: TextParams;
}

const selector = (one: string): TextParams => ({ [one]: { grammar: anyString(MAX_BYTES.word), required: true }, ...CONTEXT });

const listAndSingle = ({ name, one, loadAll, editable, unknownProblem, filters }: Described): ServedRoute[] => [
  {
    pattern: `/${name}`,
    texts: 'core',
    endpoints: [
      endpoint({
        methods: ['GET'],
        summary: `${name}.list`,
        params: filters,
        mode: 'read',
        allow: (_look, { viewer }, { context, type }) => context !== 'edit' || editable(viewer.can, type).length > 0 || 'rest_cannot_view',
        run: async (site, caller, values) => {
          const records = [...loadAll(site, caller, viewOf(values), values.type)];
          const slugs = values.context === 'edit' ? editable(caller.viewer.can) : undefined;
          return staticReply(Object.fromEntries(slugs ? records.filter(([slug]) => slugs.includes(slug)) : records));
        },
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
          const slug = values[one] ?? '';
          const record = loadAll(site, caller, viewOf(values)).get(slug) ?? fail(unknownProblem);
          const isAllowed = values.context !== 'edit' || editable(caller.viewer.can).includes(slug);
          return isAllowed ? staticReply(record) : refuse(caller.viewer, 'rest_forbidden_context');
        },
      }),
    ],
  },
];

/** WordPress's own routes that describe the types of records and their taxonomies. */
export const typeRoutes: readonly ServedRoute[] = [
  ...listAndSingle({
    name: 'types',
    one: 'type',
    loadAll: types,
    editable: editableTypes,
    unknownProblem: 'rest_type_invalid',
    filters: CONTEXT,
  }),
  ...listAndSingle({
    name: 'taxonomies',
    one: 'taxonomy',
    loadAll: taxonomies,
    editable: editableTaxonomies,
    unknownProblem: 'rest_taxonomy_invalid',
    filters: { ...CONTEXT, type: { grammar: anyString(MAX_BYTES.word) } },
  }),
];
