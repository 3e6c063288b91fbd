import { termsInLanguages } from '../kinds/content-language.ts';
import { OFFSET } from '../kinds/core/params.ts';
import { kindOnSite } from '../kinds/custom-fields.ts';
import { MAX_BYTES } from '../kinds/grammars/grammar.ts';
import { anything, selector } from '../kinds/grammars/grammars.ts';
import type { TermKind } from '../kinds/kind.ts';
import type { Params } from '../kinds/param.ts';
import type { Caller } from '../records/caller.ts';
import { changeTerm, createTerm, deleteTerm, listTerms, readTerm } from '../records/terms.ts';
import { lockTermVersion } from '../records/versions.ts';
import { mayManageTerms } from '../records/visibility.ts';
import type { LookUp } from '../storage/engine/look-up-once.ts';
import { coreUrl } from '../wordpress/links.ts';
import { endpoint, recordEndpoint, type ServedRoute } from './endpoint.ts';
import { createdReply, ok, recordReply, termListReply, writtenReply } from './reply.ts';
import { addedBySite, optional, paramsToCarry, pickValues, READ_PARAMS, requiredId, undeclaredListParams } from './route-params.ts';
import { listingInContext, termInContext, withEmbedded } from './term-view.ts';

/** Returns the routes of categories or tags. */
export const termRoutes = (kind: TermKind): readonly ServedRoute[] => [terms(kind), oneTerm(kind)];

const terms = (kind: TermKind): ServedRoute => ({
  pattern: `/${kind.path}`,
  kind,
  endpoints: [
    endpoint({
      methods: ['GET'],
      summary: `${kind.name}.list`,
      params: kind.filters,
      // Tags take `offset`, as in the reference, but the page numbers in the list's URLs ignore it.
      unlistedParams: { ...undeclaredListParams(kind), ...(kind.hierarchical ? {} : OFFSET) },
      siteParams: (settings) => addedBySite(kind.filters, termsInLanguages(kind, settings).filters),
      mode: 'read',
      allow: 'anyone',
      run: async (site, caller, values) => {
        const listing = listingInContext(caller, kind, await listTerms(site, caller, kind, values, values.offset), values.context);
        return termListReply(caller, kind, listing, paramsToCarry(caller, kind, values));
      },
    }),
    endpoint({
      methods: ['POST'],
      summary: `${kind.name}.create`,
      params: kind.fields,
      unlistedParams: parent(kind),
      siteParams: (settings) => addedBySite(kind.fields, kindOnSite(kind, settings).fields),
      mode: 'create',
      allow: (_look, caller) => mayManageTerms(caller, kind),
      run: async (site, caller, values) => {
        const siteKind = kindOnSite(kind, caller.settings);
        const { id, ...term } = await createTerm(site, caller, siteKind, pickValues({ ...siteKind.fields, ...parent(kind) }, values));
        return createdReply(term, coreUrl(caller, `${kind.restBase}/${id}`));
      },
    }),
  ],
});

const oneTerm = (kind: TermKind): ServedRoute => {
  const id = requiredId(selector(kind.name));
  const allow = (_look: LookUp, caller: Caller) => mayManageTerms(caller, kind);
  return {
    pattern: `/${kind.path}/(?P<id>\\d+)`,
    kind,
    lockVersion: lockTermVersion(kind),
    endpoints: [
      recordEndpoint({
        methods: ['GET'],
        summary: `${kind.name}.read`,
        params: { ...id, context: READ_PARAMS.context },
        unlistedParams: { _embed: { grammar: anything(MAX_BYTES.word) } },
        mode: 'read',
        allow: 'anyone',
        run: async (site, caller, { id, context, _embed }) => {
          const term = await readTerm(site, caller, kind, id);
          const record = termInContext(await withEmbedded(site, caller, kind, term.record, _embed), context);
          return recordReply({ ...term, record }, caller);
        },
      }),
      recordEndpoint({
        methods: ['POST', 'PUT', 'PATCH'],
        summary: `${kind.name}.change`,
        params: { ...id, ...optional(kind.fields) },
        unlistedParams: parent(kind),
        siteParams: (settings) => addedBySite(kind.fields, kindOnSite(kind, settings).fields),
        mode: 'change',
        allow,
        run: async (site, caller, values) => {
          const siteKind = kindOnSite(kind, caller.settings);
          return writtenReply(
            await changeTerm(site, caller, siteKind, values.id, pickValues({ ...siteKind.fields, ...parent(kind) }, values)),
          );
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

/** Tags have no parent. The parameter is accepted only so that it can be refused (`rest_taxonomy_not_hierarchical`). */
const parent = (kind: TermKind): Params => (kind.hierarchical ? {} : { parent: { grammar: anything(MAX_BYTES.word) } });
