import { fail, failParam } from '../errors.ts';
import type { TermKind } from '../kinds/kind.ts';
import { foldText } from '../storage/collation.ts';
import { type Database, lockNames } from '../storage/database.ts';
import { termNameLock, termSlugLock } from '../storage/lock-names.ts';
import { deleteOption } from '../storage/options.ts';
import { findTermsLike, insertTerm, loadTree, takenTermSlugs, updateTerm } from '../storage/terms.ts';
import { sanitizeTermDescription, sanitizeTermName } from '../wordpress/kses.ts';
import { hasVisibleText, stripControlCharacters } from '../wordpress/plain-text.ts';
import type { Term } from '../wordpress/rows.ts';
import { sanitizeTitle, uniqueTermSlug } from '../wordpress/slug.ts';

/** What a new term is made of; `slug` absent: it follows from the name. */
export interface TermDraft {
  readonly name: string;
  readonly slug?: string | undefined;
  readonly description: string;
  readonly parent: number;
}

/**
 * Writes a new term with a slug of its own (`wp_insert_term`). Two requests at once never make the same term twice.
 *
 * @throws term_exists where the name is taken beside the same parent, and no other slug was asked for; rest_invalid_param for a name
 * without text, or longer than its column
 */
export async function createTermRow(db: Database, kind: TermKind, draft: TermDraft): Promise<{ id: number; slug: string }> {
  const name = storedName(draft.name);
  const wished = sanitizeTitle(draft.slug ?? '') || sanitizeTitle(draft.name) || sanitizeTitle(name);
  await lockNames(db, [termNameLock(kind.taxonomy, name), termSlugLock(wished)]);

  const siblings = (await findTermsLike(db, kind.taxonomy, { ids: [], slugs: [wished], names: [name] })).filter(
    (term) => !kind.hierarchical || term.parent === draft.parent,
  );
  const sameName = siblings.find((term) => foldText(term.name) === foldText(name));
  const clash =
    sameName && (draft.slug === undefined || siblings.some((term) => term.slug === wished))
      ? (siblings.find((term) => term.slug === wished) ?? sameName)
      : undefined;
  if (clash) fail('term_exists', { data: { term_id: clash.term_id }, besides: { additional_data: [clash.term_id, clash.term_id] } });

  const slug = await freeSlug(db, kind, wished, draft.parent, 0);
  const id = await insertTerm(db, kind, {
    name,
    slug,
    description: sanitizeTermDescription(stripControlCharacters(draft.description)),
    parent: draft.parent,
  });
  if (kind.hierarchical) await dropTree(db, kind);
  return { id, slug };
}

/**
 * Changes a term (`wp_update_term`): only what is named.
 *
 * @throws duplicate_term_slug where the slug belongs to another term (decision D10: 400); rest_invalid_param as `createTermRow`
 */
export async function changeTermRow(
  db: Database,
  kind: TermKind,
  term: Term,
  changes: Partial<Omit<TermDraft, 'parent'>> & { parent?: number },
): Promise<void> {
  const rows: Partial<Record<'name' | 'slug' | 'description', string>> & { parent?: number } = {};
  if (changes.name !== undefined) rows.name = storedName(changes.name);
  if (changes.description !== undefined) rows.description = sanitizeTermDescription(stripControlCharacters(changes.description));
  if (changes.slug !== undefined) {
    const slug = sanitizeTitle(changes.slug) || sanitizeTitle(rows.name ?? term.name);
    await lockNames(db, [termSlugLock(slug)]);
    const owner = (await takenTermSlugs(db, slug, term.term_id)).find((other) => other.slug === slug && other.taxonomy === kind.taxonomy);
    if (owner) fail('duplicate_term_slug', { values: { slug } });
    rows.slug = slug;
  }
  if (changes.parent !== undefined) rows.parent = await withoutLoop(db, kind, term, changes.parent);
  await updateTerm(db, term, rows);
  if (kind.hierarchical) await dropTree(db, kind);
}

/** Characters that a name has room for (`varchar(200)`), entities counted as they are stored; MySQL would cut off the rest without a word. */
const LONGEST_NAME = 200;

function storedName(given: string): string {
  const name = sanitizeTermName(stripControlCharacters(given));
  if (!hasVisibleText(name)) failParam('name');
  if ([...name].length > LONGEST_NAME) failParam('name', { stage: 'value', reason: 'too-long' });
  return name;
}

/** WordPress keeps the tree of a taxonomy in an option and builds it anew when it is missing. */
export const dropTree = (db: Database, { taxonomy }: TermKind): Promise<void> => deleteOption(db, `${taxonomy}_children`);

async function freeSlug(db: Database, kind: TermKind, wished: string, parent: number, exceptId: number): Promise<string> {
  const taken = await takenTermSlugs(db, wished, exceptId);
  const parents: string[] = [];
  if (kind.hierarchical && parent > 0) {
    const tree = await loadTree(db, kind.taxonomy);
    for (let node = tree.get(parent); node && parents.length < tree.size; node = tree.get(node.parent)) parents.push(node.slug);
  }
  return uniqueTermSlug(wished, {
    parents,
    here: new Set(taken.filter((term) => term.taxonomy === kind.taxonomy).map((term) => term.slug)),
    anywhere: new Set(taken.map((term) => term.slug)),
  });
}

/** A term can't hang below itself: it goes to the root instead (`wp_check_term_hierarchy_for_loops`). */
async function withoutLoop(db: Database, kind: TermKind, term: Term, parent: number): Promise<number> {
  if (parent === 0) return 0;
  const tree = await loadTree(db, kind.taxonomy);
  const above = new Set<number>();
  for (let id = parent; id > 0 && !above.has(id); id = tree.get(id)?.parent ?? 0) above.add(id);
  return above.has(term.term_id) ? 0 : parent;
}
