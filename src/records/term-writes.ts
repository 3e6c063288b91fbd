import { fail, failParam } from '../errors.ts';
import type { TermKind } from '../kinds/kind.ts';
import type { Database } from '../storage/engine/database.ts';
import { lockNames, termNameLock, termSlugLock, termTreeLock } from '../storage/rows/locks.ts';
import { deleteOption } from '../storage/rows/options.ts';
import { findTerm, findTermsLike, insertTerm, loadTree, slugsUpFrom, takenTermSlugs, updateTerm } from '../storage/rows/terms.ts';
import { sanitizeTermDescription, sanitizeTermName } from '../wordpress/content/kses.ts';
import { hasVisibleText, stripControlCharacters } from '../wordpress/content/plain-text.ts';
import type { Term } from '../wordpress/rows.ts';
import { sanitizeTitle, uniqueTermSlug } from '../wordpress/slug.ts';
import { trimAscii } from '../wordpress/trim.ts';

/** What a new term is made of; `slug` absent: it follows from the name. */
export interface TermDraft {
  readonly name: string;
  readonly slug?: string | undefined;
  readonly description: string;
  readonly parent: number;
  /** Where terms have languages: the one of this term, and which of others are taken for another language's. */
  readonly language?: TermLanguage | undefined;
}

/** The language of a term that is written. */
export interface TermLanguage {
  readonly code: string;
  /** Which of these terms are in another language. */
  readonly elsewhere: (terms: readonly Term[]) => Promise<ReadonlySet<number>>;
}

/**
 * Writes a new term with a slug of its own (`wp_insert_term`). Two requests at once never make the same term twice.
 *
 * @throws term_exists where the name is taken beside the same parent, and no other slug was asked for; empty_term_name,
 * invalid_term_name or rest_invalid_param for a name without text; rest_invalid_param for one longer than its column
 */
export async function createTermRow(db: Database, kind: TermKind, draft: TermDraft): Promise<{ id: number; slug: string }> {
  if (trimAscii(draft.name) === '') fail('empty_term_name');
  const name = storedName(draft.name, 'invalid_term_name');
  const sent = sanitizeTitle(draft.slug ?? '');
  const wished = sent || sanitizeTitle(name);
  await lockNames(db, [...namesOfTerm(kind, name, wished), ...(draft.parent > 0 ? [termTreeLock(kind.taxonomy)] : [])]);
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
  if (kind.hierarchical) await dropTree(db, kind);
  return { id, slug: slug || String(id) };
}

/** What a term asks for whose slug belongs to terms of other languages (Polylang). */
async function slugIn(db: Database, wished: string, language: TermLanguage | undefined): Promise<string> {
  const slug = `${wished}-${language?.code}`;
  await lockNames(db, [termSlugLock(slug)]);
  return slug;
}

/** The names that a new term is going to take. */
export const namesOfTerm = ({ taxonomy }: TermKind, name: string, slug = sanitizeTitle(name)): string[] => [
  termNameLock(taxonomy, name),
  termSlugLock(slug),
];

/**
 * Changes a term (`wp_update_term`): only what is named. Call it for another parent with the tree locked since before
 * the term was read (`termTreeLock`).
 *
 * @throws duplicate_term_slug where the slug belongs to another term of the language (decision D10: 400), but where it
 * follows from the name or the term gets another parent; empty_term_name, rest_invalid_param as `createTermRow`
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
  if (kind.hierarchical) await dropTree(db, kind);
}

/** The slug of a term that is asked for this one. */
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
  // Terms of several languages may share a slug. What is sent as it is stays.
  if (isElsewhere && wished === term.slug) return wished;
  if (holders.length > 0 && !isElsewhere && sent !== '' && parent === term.parent)
    fail('duplicate_term_slug', { values: { slug: wished } });
  return freeSlug(db, kind, isElsewhere ? await slugIn(db, wished, language) : wished, parent, term.term_id);
}

/**
 * Characters that a name has room for (`varchar(200)`), entities counted as they are stored; MySQL would cut off the
 * rest silently.
 */
const LONGEST_NAME = 200;

function storedName(given: string, nothing: 'empty_term_name' | 'invalid_term_name'): string {
  const name = sanitizeTermName(stripControlCharacters(given));
  if (name === '') fail(nothing);
  if (!hasVisibleText(name)) failParam('name', 'title-without-text');
  if ([...name].length > LONGEST_NAME) failParam('name', 'too-long');
  return name;
}

/**
 * The term that a new one would double: of the same name beside the same parent, unless a slug was chosen that none
 * has. Names are the same but for the case of ASCII letters: `Été` and `Ete` are two.
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

/** `strtolower` as of PHP 8. */
const lowerAscii = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** WordPress keeps the tree of a taxonomy in an option and builds it again when it is missing. */
export const dropTree = (db: Database, { taxonomy }: TermKind): Promise<void> => deleteOption(db, `${taxonomy}_children`);

/**
 * A slug that no other term has, made from the requested one as WordPress makes it. Call it with that one locked
 * (`termSlugLock`).
 */
export async function freeSlug(db: Database, kind: TermKind, wished: string, parent: number, exceptId: number): Promise<string> {
  const parents = kind.hierarchical && parent > 0 ? slugsUpFrom(parent, await loadTree(db, kind.taxonomy)) : [];
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
  // The slugs of its parents stand behind: somebody else may want all that as it is, and have it by now.
  await lockNames(db, [lock]);
  return found();
}

/** A term can't hang below itself: it goes to the root instead (`wp_check_term_hierarchy_for_loops`). */
async function withoutLoop(db: Database, term: Term, parent: number): Promise<number> {
  return (await makesLoop(db, term, parent)) ? 0 : parent;
}

/** Whether a term would hang below itself if it got this parent; 0: the root. `planned`: parents not stored yet. */
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

/** Throws where a parent is gone: it was looked up before the tree was locked. */
async function requireParent(db: Database, { taxonomy }: TermKind, parent: number): Promise<void> {
  if (parent > 0 && !(await findTerm(db, taxonomy, parent))) failParam('parent', 'id-unknown');
}
