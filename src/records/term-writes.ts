import { fail, failParam } from '../errors.ts';
import type { TermKind } from '../kinds/kind.ts';
import type { Database } from '../storage/engine/database.ts';
import { lockNames, termNameLock, termSlugLock, termTreeLock } from '../storage/rows/locks.ts';
import { deleteOption } from '../storage/rows/options.ts';
import { findTerm, findTermsLike, insertTerm, loadTree, slugsToRoot, takenTermSlugs, updateTerm } from '../storage/rows/terms.ts';
import { sanitizeTermDescription, sanitizeTermName } from '../wordpress/content/kses.ts';
import { hasVisibleText, stripControlCharacters } from '../wordpress/content/plain-text.ts';
import type { Term } from '../wordpress/rows.ts';
import { sanitizeTitle, uniqueTermSlug } from '../wordpress/slug.ts';
import { trimAscii } from '../wordpress/trim.ts';

/** Data of a new term. If `slug` is absent, it is derived from the name. */
export interface TermDraft {
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
  readonly elsewhere: (terms: readonly Term[]) => Promise<ReadonlySet<number>>;
}

/**
 * Creates a term with a unique slug (`wp_insert_term`). Concurrent requests never create the same term twice.
 *
 * @throws term_exists if a term with the same parent has the name and no other slug was requested; empty_term_name,
 * invalid_term_name or rest_invalid_param for a name without text; rest_invalid_param for one longer than its column
 */
export async function createTermRow(db: Database, kind: TermKind, draft: TermDraft): Promise<{ id: number; slug: string }> {
  if (trimAscii(draft.name) === '') fail('empty_term_name');
  const name = storedName(draft.name, 'invalid_term_name');
  const sent = sanitizeTitle(draft.slug ?? '');
  const wished = sent || sanitizeTitle(name);
  await lockNames(db, [...locksOfTerm(kind, name, wished), ...(draft.parent > 0 ? [termTreeLock(kind.taxonomy)] : [])]);
  await requireParent(db, kind, draft.parent);

  const found = await findTermsLike(db, kind.taxonomy, { ids: [], slugs: [wished], names: [name] });
  const elsewhere = (await draft.language?.elsewhere(found)) ?? new Set<number>();
  const alike = found.filter((term) => !elsewhere.has(term.term_id));
  const clash = clashingTerm(alike, { name, slug: wished, chosen: sent !== '', parent: draft.parent, hierarchical: kind.hierarchical });
  if (clash) fail('term_exists', { data: { term_id: clash.term_id }, extraMembers: { additional_data: [clash.term_id, clash.term_id] } });

  const taken = found.some((term) => term.slug === wished && elsewhere.has(term.term_id));
  const slug = await freeSlug(db, kind, taken ? await slugIn(db, wished, draft.language) : wished, draft.parent, 0);
  const description = sanitizeTermDescription(stripControlCharacters(draft.description));
  const id = await insertTerm(db, kind, { name, slug, description, parent: draft.parent });
  if (kind.hierarchical) await dropTreeCache(db, kind);
  return { id, slug: slug || String(id) };
}

/** Returns the slug of a term whose requested slug belongs to terms of other languages (Polylang). */
async function slugIn(db: Database, wished: string, language: TermLanguage | undefined): Promise<string> {
  const slug = `${wished}-${language?.code}`;
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
  changes: Partial<Omit<TermDraft, 'parent'>> & { parent?: number },
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
  asked: string,
  { name = term.name, parent = term.parent, language }: Partial<Pick<TermDraft, 'name' | 'parent' | 'language'>>,
): Promise<string> {
  const sent = sanitizeTitle(asked);
  const wished = sent || sanitizeTitle(name) || String(term.term_id);
  await lockNames(db, [termSlugLock(wished)]);
  const taken = await takenTermSlugs(db, wished, term.term_id);
  const holders = taken.filter(({ slug, taxonomy }) => slug === wished && taxonomy === kind.taxonomy);
  const elsewhere = (await language?.elsewhere(holders)) ?? new Set<number>();
  const isElsewhere = holders.length > 0 && holders.every(({ term_id: id }) => elsewhere.has(id));
  // Terms of several languages may share a slug, so an unchanged one stays.
  if (isElsewhere && wished === term.slug) return wished;
  if (holders.length > 0 && !isElsewhere && sent !== '' && parent === term.parent)
    fail('duplicate_term_slug', { values: { slug: wished } });
  return freeSlug(db, kind, isElsewhere ? await slugIn(db, wished, language) : wished, parent, term.term_id);
}

/**
 * Maximum length of a name in characters (`varchar(200)`), with entities as they are stored. MySQL would silently
 * truncate longer ones.
 */
const MAX_NAME_LENGTH = 200;

function storedName(given: string, problemIfEmpty: 'empty_term_name' | 'invalid_term_name'): string {
  const name = sanitizeTermName(stripControlCharacters(given));
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
  alike: readonly Term[],
  { name, slug, chosen, parent, hierarchical }: { name: string; slug: string; chosen: boolean; parent: number; hierarchical: boolean },
): Term | undefined {
  const siblings = alike.filter((term) => term.parent === parent);
  const sameName = siblings.find((term) => lowerAscii(term.name) === lowerAscii(name));
  const sameSlug = alike.find((term) => term.slug === slug);
  if (!sameName || (chosen && !sameSlug)) return undefined;
  if (!hierarchical) return sameName;
  if ((!chosen || sameName.slug === slug) && siblings.some((term) => term.name === name)) return sameName;
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
export async function freeSlug(db: Database, kind: TermKind, wished: string, parent: number, exceptId: number): Promise<string> {
  const parents = kind.hierarchical && parent > 0 ? slugsToRoot(parent, await loadTree(db, kind.taxonomy)) : [];
  const found = async (): Promise<string> => {
    const taken = await takenTermSlugs(db, wished, exceptId);
    return uniqueTermSlug(wished, {
      parents,
      here: new Set(taken.filter((term) => term.taxonomy === kind.taxonomy).map((term) => term.slug)),
      anywhere: new Set(taken.map((term) => term.slug)),
    });
  };
  const slug = await found();
  const lock = termSlugLock(slug);
  if (lock === termSlugLock(wished)) return slug;
  // The slug was extended by those of its parents. Another request may have taken the extended slug, so it is locked
  // and checked again.
  await lockNames(db, [lock]);
  return found();
}

/** Replaces a parent that would make the term its own ancestor by the root (`wp_check_term_hierarchy_for_loops`). */
async function withoutLoop(db: Database, term: Term, parent: number): Promise<number> {
  return (await makesLoop(db, term, parent)) ? 0 : parent;
}

/** Whether this parent would make a term its own ancestor; 0: the root. `planned`: parents that are not stored yet. */
export async function makesLoop(
  db: Database,
  { term_id: id, taxonomy }: Pick<Term, 'term_id' | 'taxonomy'>,
  parent: number,
  planned: ReadonlyMap<number, number> = new Map(),
): Promise<boolean> {
  if (parent === 0) return false;
  const tree = await loadTree(db, taxonomy);
  const above = new Set<number>();
  for (let at = parent; at !== 0 && !above.has(at); at = planned.get(at) ?? tree.get(at)?.parent ?? 0) above.add(at);
  return above.has(id);
}

/** Throws if the parent does not exist any more: it was looked up before the tree was locked. */
async function requireParent(db: Database, { taxonomy }: TermKind, parent: number): Promise<void> {
  if (parent > 0 && !(await findTerm(db, taxonomy, parent))) failParam('parent', 'id-unknown');
}
