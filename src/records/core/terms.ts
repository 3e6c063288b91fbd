import { fail, failParam, type Verdict } from '../../errors.ts';
import type { ContextValues, Removal } from '../../kinds/core/params.ts';
import { type CoreTaxonomy, coreTerm } from '../../kinds/core/term.ts';
import { type CoreTermFieldValues, type CoreTermListValues, termFilters } from '../../kinds/core/term-params.ts';
import { carriesTerms } from '../../kinds/core/types.ts';
import type { Methods } from '../../kinds/core/view.ts';
import { conditionsOf, mergeConditions } from '../../kinds/filter.ts';
import type { TermKind, TermValues } from '../../kinds/kind.ts';
import type { Selected } from '../../kinds/param.ts';
import type { Site } from '../../site.ts';
import { type LookUp, lookUpOnce } from '../../storage/engine/look-up-once.ts';
import { findTerms } from '../../storage/lists/term-list.ts';
import { findPost } from '../../storage/rows/posts.ts';
import { findTerm, loadTerms, loadTree } from '../../storage/rows/terms.ts';
import type { Term } from '../../wordpress/rows.ts';
import { isPublic } from '../../wordpress/status.ts';
import type { Caller } from '../caller.ts';
import { languageOfList } from '../content-lists.ts';
import { postOfAnyRecord } from '../occurrences.ts';
import { ancestors, changeTerm, createTerm, deleteTerm, languagesOfTerms, termMethods } from '../terms.ts';
import { metasInTrash } from '../trashed-metas.ts';
import { type VersionedRecord, versionOfTerm } from '../versions.ts';
import { accessRow, mayManageTerms, mayRead } from '../visibility.ts';
import { type CorePage, type CoreRecord, paging, viewOf } from './lists.ts';

/*
 * Categories and tags as WordPress's own routes (`wp/v2`) list, show and write them, built on the functions of
 * `terms.ts`. Blog categories are read-only.
 */

/**
 * Lists the requested terms (`WP_REST_Terms_Controller::get_items`), including empty ones; the terms of one post in any
 * language. A page past the last one is empty.
 */
export async function listCoreTerms(site: Site, caller: Caller, kind: CoreTaxonomy, givenValues: CoreTermListValues): Promise<CorePage> {
  const { post } = givenValues;
  const values = post ? { ...givenValues, post: await postOfAnyRecord(lookUpOnce(site.db), caller, post) } : givenValues;
  const { limit, offset, page, skip } = paging(values);
  // Like Polylang, which only filters lists by language if a language is requested.
  const language = !post && caller.content.isChosen ? languageOfList(caller, kind.taxonomy, undefined) : undefined;
  const { terms, total, tree } = await findTerms(site.db, {
    kind,
    ...(language ? { language } : {}),
    ...mergeConditions(conditionsOf(termFilters(kind), values, caller)),
    order: values.orderby ?? 'name',
    descending: values.order === 'desc',
    limit,
    offset,
  });
  const viewOptions = { view: viewOf(values), methods: methodsOn(caller, kind) };
  const languageOf = await languagesOfTerms(site.db, caller, terms);
  const records = terms.map((term) => coreTerm(term, kind, ancestors(term, tree), caller, { ...viewOptions, language: languageOf(term) }));
  return { records, total, page, pages: Math.ceil(total / limit), skip, timeliness: 'never' };
}

/** Reads one term. Throws rest_term_invalid. */
export async function readCoreTerm(
  { db }: Site,
  caller: Caller,
  kind: CoreTaxonomy,
  id: number,
  values: ContextValues,
): Promise<VersionedRecord> {
  const term = (await findTerm(db, kind.taxonomy, id)) ?? fail('rest_term_invalid');
  const tree = term.parent === 0 ? new Map() : await loadTree(db, kind.taxonomy);
  const language = (await languagesOfTerms(db, caller, [term]))(term);
  const viewOptions = { view: viewOf(values), methods: methodsOn(caller, kind), language };
  const record = coreTerm(term, kind, ancestors(term, tree), caller, viewOptions);
  return { record, version: versionOfTerm(caller, term) };
}

/** Returns the methods that the caller may use on the route of a term. */
const methodsOn = (caller: Caller, kind: CoreTaxonomy): Methods => (kind.readOnly ? ['GET'] : termMethods(caller, kind));

/** Returns terms in their embedded form, by id. */
export async function embeddedTerms(
  { db }: Site,
  caller: Caller,
  kind: CoreTaxonomy,
  ids: readonly number[],
): Promise<Map<number, CoreRecord>> {
  if (ids.length === 0) return new Map();
  const [terms, tree] = await Promise.all([loadTerms(db, kind.taxonomy, ids), kind.hierarchical ? loadTree(db, kind.taxonomy) : new Map()]);
  const viewOptions = { view: 'embed', methods: methodsOn(caller, kind) } as const;
  const languageOf = await languagesOfTerms(db, caller, [...terms.values()]);
  const record = (term: Term) => coreTerm(term, kind, ancestors(term, tree), caller, { ...viewOptions, language: languageOf(term) });
  return new Map([...terms].map(([id, term]) => [id, record(term)]));
}

// ------------------------------------------------------------------------------------------------- writes
/** Creates a term. Returns its id. */
export async function createCoreTerm(site: Site, caller: Caller, kind: TermKind, values: CoreTermFieldValues): Promise<number> {
  return (await createTerm(site, caller, kind, await termValues(site, kind, values))).id;
}

/** Changes the fields of a term that the values name. */
export async function changeCoreTerm(site: Site, caller: Caller, kind: TermKind, id: number, values: CoreTermFieldValues): Promise<void> {
  await changeTerm(site, caller, kind, id, await termValues(site, kind, values));
}

/** Deletes a term permanently. Throws rest_trash_not_supported without `force`. */
export async function removeCoreTerm(site: Site, caller: Caller, kind: TermKind, { id, force }: Removal): Promise<VersionedRecord> {
  if (!force) fail('rest_trash_not_supported');
  const { record } = await readCoreTerm(site, caller, kind, id, {});
  const { _links: _, ...previous } = record;
  await deleteTerm(site, caller, kind, id);
  return { record: { deleted: true, previous } };
}

/** Returns the values in the form that `terms.ts` takes. The parent must exist; 0 is the root. */
async function termValues({ db }: Site, kind: TermKind, { name, slug, description, parent }: CoreTermFieldValues): Promise<TermValues> {
  if (kind.hierarchical && parent !== undefined && parent !== 0 && !(await findTerm(db, kind.taxonomy, parent)))
    fail('rest_term_invalid', { status: 400 });
  if (name === '') failParam('name', 'name-needed');
  return {
    ...(name === undefined ? {} : { name }),
    ...(slug === undefined || slug === '' ? {} : { slug }),
    ...(description === undefined ? {} : { description }),
    ...(parent === undefined ? {} : { parent }),
  };
}

// ------------------------------------------------------------------------------------------------- permissions
/**
 * Whether a list may be requested. `context=edit` needs the permission to manage terms; the terms of a post need the
 * permission to read it.
 *
 * @throws rest_post_invalid_id if that post does not exist
 */
export async function mayListCoreTerms(
  lookUp: LookUp,
  caller: Caller,
  kind: CoreTaxonomy,
  { context, post }: CoreTermListValues,
): Promise<Verdict> {
  if (context === 'edit' && !mayManageTerms(caller, kind)) return 'rest_forbidden_context';
  if (post === undefined || post === 0) return true;
  const row = await lookUp(findPost, await postOfAnyRecord(lookUp, caller, post));
  if (!row) fail('rest_post_invalid_id', { status: 400 });
  if (!carriesTerms(row.post_type, kind.taxonomy)) return 'rest_forbidden_context';
  if (isPublic(row.post_status)) return true;
  return mayRead(caller.viewer, accessRow(row, await metasInTrash(lookUp, row))) ? true : 'rest_forbidden_context';
}

/** Whether the caller may read a term in this context. */
export async function mayReadCoreTerm(
  lookUp: LookUp,
  caller: Caller,
  kind: CoreTaxonomy,
  { id, context }: Selected & ContextValues,
): Promise<Verdict> {
  if (!(await lookUp(findTerm, kind.taxonomy, id))) return 'rest_term_invalid';
  return context === 'edit' && !mayManageTerms(caller, kind) ? 'rest_forbidden_context' : true;
}

/** Whether the caller may create terms of this kind, by the capability that WordPress asks for. */
export const mayCreateCoreTerm = ({ viewer }: Caller, { coreCapabilities }: TermKind): Verdict =>
  viewer.can(coreCapabilities.create) ? true : 'rest_cannot_create';

/** Whether the caller may change or delete a term; `refusal` is the answer to others. */
export async function mayWriteCoreTerm(
  lookUp: LookUp,
  caller: Caller,
  kind: TermKind,
  id: number,
  refusal: 'rest_cannot_update' | 'rest_cannot_delete',
): Promise<Verdict> {
  if (!(await lookUp(findTerm, kind.taxonomy, id))) return 'rest_term_invalid';
  return mayManageTerms(caller, kind) ? true : refusal;
}
