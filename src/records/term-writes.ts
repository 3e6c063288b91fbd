import { fail, failParam } from '../errors.ts';
import type { TermKind } from '../kinds/kind.ts';
import type { Database } from '../storage/engine/database.ts';
import { lockNames, termNameLock, termSlugLock, termTreeLock } from '../storage/rows/locks.ts';
import { deleteOption } from '../storage/rows/options.ts';
import { findTerm, findTermsLike, insertTerm, loadTree, slugsToRoot, takenTermSlugs, updateTerm } from '../storage/rows/terms.ts';
import { sanitizeTermDescription, sanitizeTermName } from '../wordpress/content/kses.ts';
import { hasVisibleText, stripControlCharacters } from '../wordpress/content/plain-text.ts';
import type { Term } from '../wordpress/rows.ts';
import { sanitizeTitle, suffixedSlug, uniqueTermSlug } from '../wordpress/slug.ts';
import { trimAscii } from '../wordpress/trim.ts';

/** Data of a new term. If `slug` is absent, it is derived from the name. */
export interface NewTerm {
  readonly name: string;
  readonly slug?: string | undefined;
  readonly description: string;
  readonly parent: number;
  /** If terms have languages: that of this term, with a function that finds terms of other languages. */
  readonly language?: TermLanguage | undefined;
}

/** The language of a term that is written. */
export interface TermLanguage {
  readonly code: string;
  /** Returns those of these terms that are in another language. */
  readonly termsElsewhere: (terms: readonly Term[]) => Promise<ReadonlySet<number>>;
}

/**
 * Creates a term with a unique slug (`wp_insert_term`). Concurrent requests never create the same term twice.
 *
 * @throws term_exists if a term with the same parent has the name and no other slug was requested; empty_term_name,
 * invalid_term_name or rest_invalid_param for a name without text; rest_invalid_param for one longer than its column
 */
export async function createTermRow(db: Database, kind: TermKind, newTerm: NewTerm): Promise<{ id: number; slug: string }> {
  if (trimAscii(newTerm.name) === '') fail('empty_term_name');
  const name = storedName(newTerm.name, 'invalid_term_name');
  const requestedSlug = sanitizeTitle(newTerm.slug ?? '');
  const desiredSlug = requestedSlug || sanitizeTitle(name);
  await lockNames(db, [...locksOfTerm(kind, name, desiredSlug), ...(newTerm.parent > 0 ? [termTreeLock(kind.taxonomy)] : [])]);
  await requireParent(db, kind, newTerm.parent);

  const similarTerms = await findTermsLike(db, kind.taxonomy, { ids: [], slugs: [desiredSlug], names: [name] });
  const otherLanguageIds = (await newTerm.language?.termsElsewhere(similarTerms)) ?? new Set<number>();
  const candidates = similarTerms.filter((term) => !otherLanguageIds.has(term.term_id));
  const clash = clashingTerm(candidates, {
    name,
    slug: desiredSlug,
    isChosen: requestedSlug !== '',
    parent: newTerm.parent,
    hierarchical: kind.hierarchical,
  });
  if (clash) fail('term_exists', { data: { term_id: clash.term_id }, extraMembers: { additional_data: [clash.term_id, clash.term_id] } });

  const isTaken = similarTerms.some((term) => term.slug === desiredSlug && otherLanguageIds.has(term.term_id));
  const slug = await freeSlug(db, kind, isTaken ? await slugIn(db, desiredSlug, newTerm.language) : desiredSlug, newTerm.parent, 0);
  const description = sanitizeTermDescription(stripControlCharacters(newTerm.description));
  const id = await insertTerm(db, kind, { name, slug, description, parent: newTerm.parent });
  if (kind.hierarchical) await dropTreeCache(db, kind);
  return { id, slug: slug || String(id) };
}

/** Returns the slug of a term whose requested slug belongs to terms of other languages (Polylang). */
async function slugIn(db: Database, desiredSlug: string, language: TermLanguage | undefined): Promise<string> {
  const slug = suffixedSlug(desiredSlug, `-${language?.code}`);
  await lockNames(db, [termSlugLock(slug)]);
  return slug;
}

/** Returns the locks for the name and the slug of a new term. */
export const locksOfTerm = ({ taxonomy }: TermKind, name: string, slug = sanitizeTitle(name)): string[] => [
  termNameLock(taxonomy, name),
  termSlugLock(slug),
];

/**
 * Changes the named fields of a term (`wp_update_term`). For a new parent, the tree must have been locked before the
 * term was read (`termTreeLock`).
 *
 * @throws duplicate_term_slug if the slug belongs to another term of the language (decision D10: 400), unless it is
 * derived from the name or the parent changes too; empty_term_name, rest_invalid_param as in `createTermRow`
 */
export async function changeTermRow(
  db: Database,
  kind: TermKind,
  term: Term,
  changes: Partial<Omit<NewTerm, 'parent'>> & { parent?: number },
): Promise<void> {
  const rows: Partial<Record<'name' | 'slug' | 'description', string>> & { parent?: number } = {};
  if (changes.name !== undefined) rows.name = storedName(changes.name, 'empty_term_name');
  if (changes.description !== undefined) rows.description = sanitizeTermDescription(stripControlCharacters(changes.description));
  if (changes.parent !== undefined) {
    await requireParent(db, kind, changes.parent);
    rows.parent = await withoutLoop(db, term, changes.parent);
  }
  if (changes.slug !== undefined) rows.slug = await changedSlug(db, kind, term, changes.slug, { ...changes, ...rows });
  await updateTerm(db, term, rows);
  if (kind.hierarchical) await dropTreeCache(db, kind);
}

/** Returns the new slug of a term for a requested one. */
async function changedSlug(
  db: Database,
  kind: TermKind,
  term: Term,
  slugText: string,
  { name = term.name, parent = term.parent, language }: Partial<Pick<NewTerm, 'name' | 'parent' | 'language'>>,
): Promise<string> {
  const requestedSlug = sanitizeTitle(slugText);
  const desiredSlug = requestedSlug || sanitizeTitle(name) || String(term.term_id);
  await lockNames(db, [termSlugLock(desiredSlug)]);
  const takenTerms = await takenTermSlugs(db, desiredSlug, term.term_id);
  const holders = takenTerms.filter(({ slug, taxonomy }) => slug === desiredSlug && taxonomy === kind.taxonomy);
  const otherLanguageIds = (await language?.termsElsewhere(holders)) ?? new Set<number>();
  const isElsewhere = holders.length > 0 && holders.every(({ term_id: id }) => otherLanguageIds.has(id));
  // Terms of several languages may share a slug, so an unchanged one stays.
  if (isElsewhere && desiredSlug === term.slug) return desiredSlug;
  if (holders.length > 0 && !isElsewhere && requestedSlug !== '' && parent === term.parent)
    fail('duplicate_term_slug', { values: { slug: desiredSlug } });
  return freeSlug(db, kind, isElsewhere ? await slugIn(db, desiredSlug, language) : desiredSlug, parent, term.term_id);
}

/**
 * Maximum length of a name in characters (`varchar(200)`), with entities as they are stored. MySQL would silently
 * truncate longer ones.
 */
const MAX_NAME_LENGTH = 200;

function storedName(text: string, problemIfEmpty: 'empty_term_name' | 'invalid_term_name'): string {
  const name = sanitizeTermName(stripControlCharacters(text));
  if (name === '') fail(problemIfEmpty);
  if (!hasVisibleText(name)) failParam('name', 'title-without-text');
  if ([...name].length > MAX_NAME_LENGTH) failParam('name', 'too-long');
  return name;
}

/**
 * Returns the existing term that a new one would duplicate: with the same name and parent, unless an unused slug was
 * requested. Names are compared ignoring the case of ASCII letters only: `Été` and `Ete` differ.
 */
function clashingTerm(
  candidates: readonly Term[],
  { name, slug, isChosen, parent, hierarchical }: { name: string; slug: string; isChosen: boolean; parent: number; hierarchical: boolean },
): Term | undefined {
  const siblings = candidates.filter((term) => term.parent === parent);
  const sameName = siblings.find((term) => lowerAscii(term.name) === lowerAscii(name));
  const sameSlug = candidates.find((term) => term.slug === slug);
  if (!sameName || (isChosen && !sameSlug)) return undefined;
  if (!hierarchical) return sameName;
  if ((!isChosen || sameName.slug === slug) && siblings.some((term) => term.name === name)) return sameName;
  return siblings.find((term) => term.slug === slug);
}

/** Lower-cases ASCII letters, like `strtolower` since PHP 8. */
const lowerAscii = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Deletes the cached tree of a taxonomy. WordPress keeps it in an option and rebuilds it if it is missing. */
export const dropTreeCache = (db: Database, { taxonomy }: TermKind): Promise<void> => deleteOption(db, `${taxonomy}_children`);

/**
 * Returns a slug that no other term has, derived from the requested one as in WordPress. Call it with the requested one
 * locked (`termSlugLock`).
 */
export async function freeSlug(db: Database, kind: TermKind, desiredSlug: string, parent: number, exceptId: number): Promise<string> {
  const parents = kind.hierarchical && parent > 0 ? slugsToRoot(parent, await loadTree(db, kind.taxonomy)) : [];
  const findFree = async (): Promise<string> => {
    const takenTerms = await takenTermSlugs(db, desiredSlug, exceptId);
    return uniqueTermSlug(desiredSlug, {
      parents,
      takenInTaxonomy: new Set(takenTerms.filter((term) => term.taxonomy === kind.taxonomy).map((term) => term.slug)),
      takenOnSite: new Set(takenTerms.map((term) => term.slug)),
    });
  };
  const slug = await findFree();
  const lock = termSlugLock(slug);
  if (lock === termSlugLock(desiredSlug)) return slug;
  // The slug was extended by those of its parents. Another request may have taken the extended slug, so it is locked
  // and checked again.
  await lockNames(db, [lock]);
  return findFree();
}

/** Replaces a parent that would make the term its own ancestor by the root (`wp_check_term_hierarchy_for_loops`). */
async function withoutLoop(db: Database, term: Term, parent: number): Promise<number> {
  return (await makesLoop(db, term, parent)) ? 0 : parent;
}

/** Whether this parent would make a term its own ancestor; 0: the root. `plannedParents`: those not stored yet. */
export async function makesLoop(
  db: Database,
  { term_id: id, taxonomy }: Pick<Term, 'term_id' | 'taxonomy'>,
  parent: number,
  plannedParents: ReadonlyMap<number, number> = new Map(),
): Promise<boolean> {
  if (parent === 0) return false;
  const tree = await loadTree(db, taxonomy);
  const ancestorIds = new Set<number>();
  for (
    let ancestorId = parent;
    ancestorId !== 0 && !ancestorIds.has(ancestorId);
    ancestorId = plannedParents.get(ancestorId) ?? tree.get(ancestorId)?.parent ?? 0
  )
    ancestorIds.add(ancestorId);
  return ancestorIds.has(id);
}

/** Throws if the parent does not exist any more: it was looked up before the tree was locked. */
async function requireParent(db: Database, { taxonomy }: TermKind, parent: number): Promise<void> {
  if (parent > 0 && !(await findTerm(db, taxonomy, parent))) failParam('parent', 'id-unknown');
}
