import { fail, failParam } from '../errors.ts';
import type { TermCondition } from '../kinds/condition.ts';
import { termsInLanguages } from '../kinds/content-language.ts';
import { termLinks } from '../kinds/core/term.ts';
import { type Methods, methodsFor } from '../kinds/core/view.ts';
import { event as EVENT } from '../kinds/event.ts';
import { mergeConditions, narrow } from '../kinds/filter.ts';
import type { TermKind, TermListValues, TermValues } from '../kinds/kind.ts';
import type { TermRecord } from '../kinds/shapes.ts';
import { termOrder } from '../kinds/term-list.ts';
import { termLink, termRecord } from '../kinds/term-record.ts';
import { type Translation, termLanguage } from '../kinds/translations.ts';
import type { Site } from '../site.ts';
import type { Database } from '../storage/engine/database.ts';
import { noteChange } from '../storage/journal/reported-changes.ts';
import { formOf } from '../storage/languages/forms.ts';
import { findTerms } from '../storage/lists/term-list.ts';
import { lockNames, termTreeLock } from '../storage/rows/locks.ts';
import { findTerm, loadTerms, loadTree, lockTerm, slugsToRoot } from '../storage/rows/terms.ts';
import { type ContentLanguage, type ContentLanguages, isTranslated } from '../wordpress/content-languages.ts';
import { restUrl } from '../wordpress/links.ts';
import type { Term } from '../wordpress/rows.ts';
import type { Caller } from './caller.ts';
import { languageOfList, withTermTranslations } from './content-lists.ts';
import { removeTermWithIndexRows, updateIndexAfterTermChange } from './list-index.ts';
import { type Listing, pageSize, termsShownIn } from './posts.ts';
import {
  deleteLanguageData,
  languageOfChange,
  languageOfNew,
  languagesOf,
  languagesOfRecords,
  languageValues,
} from './record-languages.ts';
import { createTermInLanguage, toTermLanguage } from './term-languages.ts';
import { changeTermRow, dropTreeCache } from './term-writes.ts';
import { placeInLanguage } from './translation-groups.ts';
import { type VersionedRecord, versionOfTerm } from './versions.ts';
import { mayManageTerms } from './visibility.ts';

/**
 * Lists the terms that match a request. A page past the last one is empty. `offset`: number of terms to skip, instead
 * of the page.
 */
export async function listTerms(
  site: Site,
  caller: Caller,
  kind: TermKind,
  values: TermListValues,
  offset?: number,
): Promise<Listing<TermRecord>> {
  const { page = 1 } = values;
  const perPage = pageSize(site, caller, values);
  const { conditions, echo, timeliness } = narrow(termsInLanguages(kind, caller.settings).filters, values, caller);
  const { terms, total, tree } = await findTerms(site.db, {
    kind,
    ...(await termConditions(site, caller, kind, mergeConditions(conditions), values.language_fallback)),
    ...termOrder(values),
    limit: perPage,
    offset: offset === undefined ? (page - 1) * perPage : Math.max(0, offset),
  });
  const render = await translatedTerms(site.db, caller, kind, terms, tree);
  return {
    records: terms.map((term) => render(term)),
    total,
    pages: Math.ceil(total / perPage),
    page,
    timeliness,
    query: [...(values.per_page === undefined ? [] : [['per_page', String(perPage)] as const]), ...echo],
  };
}

/** Reads one term, with the links that WordPress's own routes give it. */
export const readTerm = async (site: Site, caller: Caller, kind: TermKind, id: number): Promise<Required<VersionedRecord<TermRecord>>> =>
  (await readTermIfExists(site, caller, kind, id)) ?? failParam('id', 'id-unknown');

/** Does the same; undefined if there is no such term. */
export async function readTermIfExists(
  { db }: Site,
  caller: Caller,
  kind: TermKind,
  id: number,
): Promise<Required<VersionedRecord<TermRecord>> | undefined> {
  const term = await findTerm(db, kind.taxonomy, id);
  if (!term) return undefined;
  const render = await translatedTerms(db, caller, kind, [term]);
  const record = {
    ...render(term),
    _links: termLinks(term, kind, caller, termMethods(caller, kind)),
  };
  return { record, version: versionOfTerm(caller, term) };
}

/** Returns the methods that the caller may use on the term's route in `wp/v2`. */
export function termMethods(caller: Caller, kind: Pick<TermKind, 'manage'>): Methods {
  const manages = mayManageTerms(caller, kind);
  return methodsFor({ edits: manages, deletes: manages });
}

/**
 * Creates a term. Returns its record and id.
 *
 * @throws rest_taxonomy_not_hierarchical for the parent of a tag; see `createTermRow`
 */
export async function createTerm(
  site: Site,
  caller: Caller,
  kind: TermKind,
  values: TermValues,
): Promise<Required<VersionedRecord<TermRecord>> & { id: number }> {
  const { name = '', slug, description, parent } = values;
  if (!kind.hierarchical && parent !== undefined) fail('rest_taxonomy_not_hierarchical');
  const id = await site.db.transaction(async (trx) => {
    const newTerm = { name, slug, description: description ?? '', parent: parent ?? 0 };
    const language = await languageOfNewTerm(trx, caller, kind, values);
    const termId = await createTermInLanguage(trx, caller, kind, newTerm, { language, values: languageValues(values) });
    noteChange(trx, caller);
    return termId;
  });
  return { id, ...(await readTerm(site, caller, kind, id)) };
}

/**
 * Changes the fields of a term that the values name.
 *
 * @throws rest_taxonomy_not_hierarchical for the parent of a tag; rest_invalid_param for an unknown id
 */
export async function changeTerm(
  site: Site,
  caller: Caller,
  kind: TermKind,
  id: number,
  values: TermValues,
): Promise<VersionedRecord<TermRecord>> {
  const { name, slug, description, parent } = values;
  if (!kind.hierarchical && parent !== undefined) fail('rest_taxonomy_not_hierarchical');
  await site.db.transaction(async (trx) => {
    // Locked before the term is read: its old parent decides which events move with it.
    if (parent !== undefined) await lockNames(trx, [termTreeLock(kind.taxonomy)]);
    await lockTerm(trx, id);
    const term = await requireTerm(trx, kind, id);
    if (!Object.keys(values).some((name) => name in kind.fields)) return;
    const language = await languageOfChange(trx, caller, kind, id, values);
    const kindLanguages = languagesOf(caller, kind);
    await changeTermRow(trx, kind, term, {
      ...(name === undefined ? {} : { name }),
      ...(slug === undefined ? {} : { slug }),
      ...(description === undefined ? {} : { description: description ?? '' }),
      ...(parent === undefined ? {} : { parent: parent ?? 0 }),
      ...(kindLanguages && language ? { language: toTermLanguage(trx, kindLanguages, language.language) } : {}),
    });
    if (language) await placeInLanguage(trx, caller, kind, { id, ...language }, language.values);
    await updateIndexAfterTermChange(trx, caller, term);
    noteChange(trx, caller);
  });
  return readTerm(site, caller, kind, id);
}

/** Deletes a term permanently. Its children move up, and posts lose it. Returns the record as it was before. */
export async function deleteTerm({ db }: Site, caller: Caller, kind: TermKind, id: number): Promise<TermRecord> {
  return db.transaction(async (trx) => {
    // Children move up to the parent that the term has at that moment.
    if (kind.hierarchical) await lockNames(trx, [termTreeLock(kind.taxonomy)]);
    const term = await requireTerm(trx, kind, id);
    const record = (await translatedTerms(trx, caller, kind, [term]))(term);
    await deleteLanguageData(trx, caller, kind, { id, isCounted: false });
    await removeTermWithIndexRows(trx, caller, term);
    if (kind.hierarchical) await dropTreeCache(trx, kind);
    noteChange(trx, caller);
    return record;
  });
}

/** Returns the language of a new term; by default that of its parent. */
async function languageOfNewTerm(db: Database, caller: Caller, kind: TermKind, values: TermValues): Promise<ContentLanguage | undefined> {
  const kindLanguages = languagesOf(caller, kind);
  const { parent } = values;
  const parentLanguage = kindLanguages && parent ? (await languagesOfRecords(db, kindLanguages, [parent])).get(parent) : undefined;
  return languageOfNew(caller, kind, values, { parent: parentLanguage });
}

type Tree = ReadonlyMap<number, { readonly parent: number; readonly slug: string }>;

/** Returns a function that renders these terms, with their languages and translations if their kind has any. */
export async function translatedTerms(
  db: Database,
  caller: Caller,
  kind: TermKind,
  terms: readonly Term[],
  loadedTree?: Tree,
): Promise<(term: Term) => TermRecord> {
  const { contentLanguages: languages } = caller.settings;
  const languageData = isTranslated(languages, kind.taxonomy) ? await termLanguages(db, languages, kind, terms) : undefined;
  const isNested = [...terms, ...(languageData?.members.values() ?? [])].some(({ parent }) => parent > 0);
  const tree = loadedTree ?? (isNested ? await loadTree(db, kind.taxonomy) : new Map());
  return (term) => {
    const membership = languageData?.memberships.get(term.term_id);
    const record = termRecord(term, kind, ancestors(term, tree), caller, membership?.language);
    if (!languageData) return record;
    const translations = [...(membership?.members ?? [])].flatMap(([code, id]): [string, Translation][] => {
      const member = languageData.members.get(id);
      if (!member) return [];
      const rest_url = restUrl(caller, `${caller.namespace}/${kind.path}/${member.term_id}`);
      return [[code, { id: member.term_id, url: termLink(member, ancestors(member, tree), caller, code), rest_url }]];
    });
    return { ...record, ...termLanguage(term, membership, caller), translations: Object.fromEntries(translations) };
  };
}

/** A term, with the slugs from the root down to its parent. */
export interface PlacedTerm {
  readonly term: Term;
  readonly ancestors: readonly string[];
}

/** Returns a term and its translations by language; undefined if it has no language. */
export async function termsByLanguage(
  db: Database,
  { settings }: Pick<Caller, 'settings'>,
  kind: TermKind,
  term: Term,
): Promise<ReadonlyMap<string, PlacedTerm> | undefined> {
  const { contentLanguages: languages } = settings;
  if (!isTranslated(languages, kind.taxonomy)) return undefined;
  const { memberships, members } = await termLanguages(db, languages, kind, [term]);
  const membership = memberships.get(term.term_id);
  if (!membership?.language) return undefined;
  const tree = await loadTree(db, kind.taxonomy);
  const group = new Map([...membership.members, [membership.language, term.term_id]]);
  return new Map(
    [...group].flatMap(([code, id]): [string, PlacedTerm][] => {
      const member = members.get(id);
      return member ? [[code, { term: member, ancestors: ancestors(member, tree) }]] : [];
    }),
  );
}

/** Returns terms with each replaced by its translation into the language that the request chooses, if there is one. */
export async function inChosenLanguage(db: Database, caller: Caller, kind: TermKind, terms: readonly Term[]): Promise<Term[]> {
  const { contentLanguages: languages } = caller.settings;
  const { code } = caller.content;
  if (!isTranslated(languages, kind.taxonomy) || code === undefined || terms.length === 0) return [...terms];
  const { memberships, members } = await termLanguages(db, languages, kind, terms);
  return terms.map((term) => members.get(memberships.get(term.term_id)?.members.get(code) ?? 0) ?? term);
}

/** Returns a function that finds the language code of these terms, of any taxonomy; null if a term has none. */
export async function languagesOfTerms(
  db: Database,
  { settings }: Pick<Caller, 'settings'>,
  terms: readonly Term[],
): Promise<(term: Term) => string | null> {
  const { contentLanguages: languages } = settings;
  const termsWithLanguages = terms.filter(({ taxonomy }) => isTranslated(languages, taxonomy));
  if (!languages || termsWithLanguages.length === 0) return () => null;
  const { terms: memberships } = await formOf(languages).memberships(db, languages, { posts: [], terms: termsWithLanguages });
  return ({ term_id: id }) => memberships.get(id)?.language ?? null;
}

/** Loads the languages and groups of terms of a kind, and the rows of all members. */
async function termLanguages(db: Database, languages: ContentLanguages, { taxonomy }: TermKind, terms: readonly Term[]) {
  const { terms: memberships } = await formOf(languages).memberships(db, languages, { posts: [], terms });
  const termsById = new Map(terms.map((term) => [term.term_id, term]));
  const otherIds = [...memberships.values()].flatMap(({ members }) => [...members.values()]).filter((id) => !termsById.has(id));
  return { memberships, members: new Map([...termsById, ...(await loadTerms(db, taxonomy, otherIds))]) };
}

/**
 * Returns the conditions of a list of terms in the requested language. The terms of one event are listed in any
 * language, as the event shows them. A parent also matches its translations, and a term is in use if an event of the
 * language has a translation of it.
 */
async function termConditions(
  site: Site,
  caller: Caller,
  kind: TermKind,
  conditions: Partial<TermCondition>,
  fallback: boolean | undefined,
): Promise<Partial<TermCondition>> {
  const language = languageOfList(caller, kind.taxonomy, fallback);
  if (!language) return conditions;
  const { post, parent, ...otherConditions } = conditions;
  const parentCondition = parent ? { parents: await withTermTranslations(site.db, language.languages, kind.taxonomy, [parent]) } : {};
  const listedIn = post === undefined ? languageOfList(caller, EVENT.postType, fallback) : undefined;
  const usesInGroups = { languages: language.languages, listedIn };
  const narrowedConditions = { ...otherConditions, usesInGroups, ...(parent === 0 ? { parent } : parentCondition) };
  if (post === undefined) return { ...narrowedConditions, language };
  return { ...narrowedConditions, include: intersectIds(otherConditions.include, await termsShownIn(site, caller, kind, post)) };
}

/** Returns the ids that are in both lists; undefined means all ids. */
const intersectIds = (otherIds: readonly number[] | undefined, ids: readonly number[]): readonly number[] =>
  otherIds === undefined ? ids : otherIds.filter((id) => ids.includes(id));

async function requireTerm(db: Database, kind: TermKind, id: number): Promise<Term> {
  return (await findTerm(db, kind.taxonomy, id)) ?? failParam('id', 'id-unknown');
}

/** Returns the slugs from the root down to the parent of a term; empty if it has none. */
export async function ancestorsOf(db: Database, kind: TermKind, term: Term): Promise<string[]> {
  return term.parent === 0 ? [] : ancestors(term, await loadTree(db, kind.taxonomy));
}

/** Returns the terms with these ids, with their places. */
export async function placedTerms(db: Database, kind: TermKind, ids: readonly number[]): Promise<PlacedTerm[]> {
  const terms = [...(await loadTerms(db, kind.taxonomy, ids)).values()];
  const tree: Tree = terms.some(({ parent }) => parent > 0) ? await loadTree(db, kind.taxonomy) : new Map();
  return terms.map((term) => ({ term, ancestors: ancestors(term, tree) }));
}

/** Returns the slugs from the root down to the term's parent. */
export const ancestors = ({ parent }: Term, tree: ReadonlyMap<number, { parent: number; slug: string }>): string[] =>
  slugsToRoot(parent, tree).reverse();
