import { termKind } from '../../kinds/index.ts';
import type { TermKindName } from '../../kinds/kind-names.ts';
import { updateIndexAfterTermChange } from '../../records/list-index.ts';
import { makesLoop } from '../../records/term-writes.ts';
import { foldText } from '../../storage/engine/collation.ts';
import { isOwnId, takenIds } from '../../storage/rows/ids-in-use.ts';
import { forgetFormer } from '../../storage/rows/imports.ts';
import { lockNames, termNameLock, termSlugLock, termTreeLock } from '../../storage/rows/locks.ts';
import { insertTermAs } from '../../storage/rows/new-rows.ts';
import { differingTermMetas, writeTermMetas } from '../../storage/rows/term-metas.ts';
import { findTermsLike, isShared, updateTerm } from '../../storage/rows/terms.ts';
import { sanitizeTermDescription, sanitizeTermName } from '../../wordpress/content/kses.ts';
import { firstCharacters, hasVisibleText, stripControlCharacters } from '../../wordpress/content/plain-text.ts';
import type { Term } from '../../wordpress/rows.ts';
import { sanitizeTitle } from '../../wordpress/slug.ts';
import { cleanTermMetas, replaceLoneSurrogates } from '../items/clean.ts';
import type { TermItem, TermReference } from '../items/items.ts';
import { addLoss, addToCount } from '../items/report.ts';
import { digestOf } from '../items/versions.ts';
import { type KnownTerm, type KnownTerms, lookUpTerms } from './known-terms.ts';
import { ledgerKey } from './ledger.ts';
import { mayWriteTerms, reportForbidden } from './rights.ts';
import { forgetChange, type WantedReferences, type Work } from './run.ts';
import { findSameSlug } from './same-slug.ts';
import { newTermInLanguage, type PlacedTerm, termInLanguage } from './term-in-language.ts';

const MAX_LETTERS = 200;

/**
 * Imports categories and tags. A term with the same slug in the same taxonomy is the same term and is left unchanged,
 * unless it is in another language (`findSameSlug`). Known terms are recognised by their ids in the source.
 */
export async function writeTerms(work: Work, terms: readonly TermItem[]): Promise<void> {
  if (terms.some(({ kind }) => kind === 'category')) await lockCategoryTree(work);
  const known = await lookUpTerms(work, terms);
  for (const term of parentsFirst(terms)) await writeTerm(work, term, known);
}

/**
 * Must be called before categories are read that may get other parents (`termTreeLock`). Otherwise a concurrent request
 * could put one category below the other while the import does the opposite.
 */
export async function lockCategoryTree({ run, db }: Work): Promise<void> {
  if (!run.isDryRun) await lockNames(db, [termTreeLock(termKind('category').taxonomy)]);
}

/**
 * Returns the term that a reference means if no item of its name came: the term of this slug or name, or else a new
 * one.
 *
 * @returns its id, or undefined if the reference has neither slug nor name, or if the importing user may create none
 */
export async function termFromReference(work: Work, { kind, sourceId, name, slug, language }: TermReference): Promise<number | undefined> {
  const text = name ?? slug;
  if (text === undefined) return undefined;
  const place = () => placeTerm(work, { kind, sourceId, name: text, slug: slug ?? '', description: '' }, 0);
  const wantedTerm = { kind, name: text, language: language ?? work.run.language };
  const placed =
    slug === undefined
      ? await termInLanguage(work, { ...wantedTerm, terms: await findNamed(work, kind, text) }, place)
      : await newTermInLanguage(work, wantedTerm, place);
  if (!placed) return undefined;
  if (placed.created) addToCount(work.tally.created, kind);
  work.ledger.add({ item: ledgerKey(kind, sourceId), kind, target: placed.id, digest: '', run: work.run.number });
  return placed.id;
}

async function writeTerm(work: Work, term: TermItem, knownTerms: KnownTerms): Promise<void> {
  const { run, ledger, tally } = work;
  const item = ledgerKey(term.kind, term.sourceId);
  const digest = digestOf(term);
  const namedEntry = ledger.entry(item);
  if (namedEntry && namedEntry.run === run.number && namedEntry.digest === digest) return;
  if (namedEntry && namedEntry.digest !== digest) work.changed.push(item);
  const parent = term.parent === undefined ? 0 : ledger.target(term.kind, term.parent);
  const known = knownTerms.find(term);

  let target: number;
  let isCreated = false;
  let isComplete = true;
  if (known && !(await knownTerms.isOfOther(term, known.entry.target))) {
    target = known.entry.target;
    const isChanged = known.entry.digest !== digest;
    if (isChanged && !mayWriteTerms(run, term.kind)) {
      forgetChange(work, item);
      ledger.add({ ...known.entry, item, run: run.number });
      reportForbidden(work, term);
      return;
    }
    const columns = isChanged && known.row ? await changeTerm(work, known, known.row, { term, parent }) : UNCHANGED;
    const metas = isChanged && known.row ? await changeMetas(work, term, target) : UNCHANGED;
    isComplete = columns.isComplete && metas.isComplete;
    addToCount(columns.isChanged || metas.isChanged ? tally.updated : tally.unchanged, term.kind);
  } else {
    const placed = await placeTerm(work, term, parent ?? 0, knownTerms);
    if (!placed && !mayWriteTerms(run, term.kind)) {
      reportForbidden(work, term);
      return;
    }
    if (!placed) {
      addToCount(tally.lost, term.kind);
      addLoss(tally, { reason: 'term-without-name', kind: term.kind, of: term.sourceId, place: term.place });
      return;
    }
    target = placed.id;
    isCreated = placed.created;
    if (isCreated) isComplete = (await changeMetas(work, term, target)).isComplete;
    addToCount(isCreated ? tally.created : tally.unchanged, term.kind);
  }
  // Without a digest, the next import tries again what was left out.
  const noted = isComplete ? digest : '';
  ledger.add({ item, kind: term.kind, target, digest: noted, run: run.number, ...(isCreated ? { made: run.number } : {}) });
  await knownTerms.note(term, target);
  if (term.parent !== undefined && parent === undefined) {
    const wants: WantedReferences = { of: term.name, place: term.place, parent: term.parent };
    work.waiting.push({ item, kind: term.kind, target, wants: JSON.stringify(wants) });
  }
}

/** The outcome of a change of a term. `isComplete`: nothing was left out that a later import may write. */
interface TermChange {
  readonly isChanged: boolean;
  readonly isComplete: boolean;
}

const UNCHANGED: TermChange = { isChanged: false, isComplete: true };

/** Sets the metas of a term. */
async function changeMetas({ run, db, tally }: Work, term: TermItem, target: number): Promise<TermChange> {
  const metas = cleanTermMetas(term.metas ?? [], {
    isTrusted: run.isTrusted,
    reportLoss: (reason, detail) => addLoss(tally, { reason, kind: term.kind, of: term.name, place: term.place, detail }),
  });
  if (metas.length === 0) return UNCHANGED;
  const changes = await differingTermMetas(db, target, metas);
  if (!changes) {
    addLoss(tally, { reason: 'no-term-metas', kind: term.kind, of: term.name, place: term.place });
    return { isChanged: false, isComplete: false };
  }
  if (!run.isDryRun) await writeTermMetas(db, { term_id: target, taxonomy: termKind(term.kind).taxonomy }, changes);
  return { isChanged: changes.length > 0, isComplete: true };
}

async function findNamed({ db }: Work, kind: TermKindName, name: string): Promise<Term[]> {
  const storedName = sanitizeTermName(name);
  const terms = await findTermsLike(db, termKind(kind).taxonomy, { ids: [], slugs: [], names: [storedName] });
  return terms.filter((term) => foldText(term.name) === foldText(storedName));
}

/**
 * Returns the term of this slug, or a new one. Undefined if the name is empty, or if the importing user may create
 * none.
 */
async function placeTerm(
  work: Work,
  term: Pick<TermItem, 'kind' | 'sourceId' | 'name' | 'slug' | 'namesake' | 'description' | 'id' | 'taxonomyId' | 'place' | 'language'>,
  parent: number,
  known?: KnownTerms,
): Promise<PlacedTerm | undefined> {
  const { run, db, tally, touched } = work;
  const { taxonomy, hierarchical } = termKind(term.kind);
  const { name, description } = textsOf(term);
  if (!hasVisibleText(name)) return undefined;
  const sourceSlug = sanitizeTitle(term.slug) || sanitizeTitle(name);
  if (!run.isDryRun) await lockNames(db, [termNameLock(taxonomy, name), termSlugLock(sourceSlug)]);
  const { namesake = 0 } = term;
  const { term: namesakeTerm, slug } = await findSameSlug(work, term, sourceSlug, parent);
  const isOfOther = namesakeTerm !== undefined && (await known?.isOfOther(term, namesakeTerm.term_id));
  const sameTerm = isOfOther ? undefined : namesakeTerm;
  const rehearsal = `${taxonomy} ${slug} ${namesake}`;
  const rehearsed = run.dryNames.get(rehearsal);
  if (sameTerm || rehearsed !== undefined) return { id: sameTerm?.term_id ?? rehearsed!, created: false };
  if (!mayWriteTerms(run, term.kind)) return undefined;

  const id = await freeId(work, 'terms', term.id);
  if (term.id !== undefined && id === undefined) {
    addLoss(tally, { reason: 'id-taken', kind: term.kind, of: name, place: term.place, detail: String(term.id) });
  }
  if (run.isDryRun) {
    const dryId = run.nextDryId();
    run.dryParents.set(dryId, parent);
    run.dryNames.set(rehearsal, dryId);
    return { id: dryId, created: true };
  }
  const taxonomyId = id === undefined ? undefined : await freeId(work, 'term_taxonomy', term.taxonomyId ?? id);
  if (id !== undefined) await forgetFormer(db, 'terms', [id]);
  const inserted = await insertTermAs(db, taxonomy, { id, taxonomyId, name, slug, description, parent: Math.max(0, parent) });
  touched.any = true;
  if (hierarchical) touched.tree = true;
  return { id: inserted.id, created: true };
}

async function freeId({ db }: Work, of: 'terms' | 'term_taxonomy', id: number | undefined): Promise<number | undefined> {
  return isOwnId(id) && !(await takenIds(db, of, [id])).has(id) ? id : undefined;
}

async function changeTerm(
  work: Work,
  { isRenamed }: KnownTerm,
  existingTerm: Term,
  { term, parent }: { readonly term: TermItem; readonly parent: number | undefined },
): Promise<TermChange> {
  const { run, db, tally, touched } = work;
  const slug = isRenamed ? await freeSlug(work, term, existingTerm) : existingTerm.slug;
  const columns = { ...textsOf(term), slug, ...(parent === undefined ? {} : { parent }) };
  if (
    columns.parent !== undefined &&
    columns.parent !== existingTerm.parent &&
    (await makesLoop(db, existingTerm, columns.parent, run.dryParents))
  )
    return UNCHANGED;
  const changes: Partial<typeof columns> = Object.fromEntries(
    Object.entries(columns).filter(([column, value]) => existingTerm[column as keyof Term] !== value),
  );
  const isWithheld = (changes.name !== undefined || changes.slug !== undefined) && (await isShared(db, existingTerm));
  if (isWithheld) {
    addLoss(tally, { reason: 'term-shared', kind: term.kind, of: term.name, place: term.place });
    delete changes.name;
    delete changes.slug;
  }
  if (Object.keys(changes).length === 0) return { isChanged: false, isComplete: !isWithheld };
  if (!run.isDryRun) {
    await updateTerm(db, existingTerm, changes);
    await updateIndexAfterTermChange(db, await work.indexer(), existingTerm);
  } else if (columns.parent !== undefined) run.dryParents.set(existingTerm.term_id, columns.parent);
  touched.any = true;
  touched.tree ||= termKind(term.kind).hierarchical;
  return { isChanged: true, isComplete: !isWithheld };
}

/** Returns the new slug of a term that was renamed in the source, or its slug here if another term has the new one. */
async function freeSlug({ run, db, tally }: Work, term: TermItem, { taxonomy, term_id: id, slug: before }: Term): Promise<string> {
  const slug = sanitizeTitle(term.slug);
  if (slug === '' || slug === before) return before;
  if (!run.isDryRun) await lockNames(db, [termSlugLock(slug)]);
  const holders = await findTermsLike(db, taxonomy, { ids: [], slugs: [slug], names: [] });
  if (!holders.some(({ term_id: other }) => other !== id)) return slug;
  addLoss(tally, { reason: 'slug-taken', kind: term.kind, of: term.name, place: term.place, detail: `${slug} -> ${before}` });
  return before;
}

const textsOf = ({ name, description }: Pick<TermItem, 'name' | 'description'>) => ({
  name: sanitizeTermName(firstCharacters(stripControlCharacters(replaceLoneSurrogates(name)), MAX_LETTERS)),
  description: sanitizeTermDescription(stripControlCharacters(replaceLoneSurrogates(description))),
});

/** Sorts terms so that parents come before their children. */
function parentsFirst(terms: readonly TermItem[]): TermItem[] {
  const byName = new Map(terms.map((term) => [ledgerKey(term.kind, term.sourceId), term]));
  const sorted = new Set<TermItem>();
  const place = (term: TermItem, descendants: ReadonlySet<TermItem>): void => {
    const parent = term.parent === undefined ? undefined : byName.get(ledgerKey(term.kind, term.parent));
    if (parent && !sorted.has(parent) && !descendants.has(parent)) place(parent, new Set([...descendants, term]));
    sorted.add(term);
  };
  for (const term of terms) if (!sorted.has(term)) place(term, new Set());
  return [...sorted];
}
