import { termKind } from '../../kinds/index.ts';
import { languagesOf, membershipsOf } from '../../records/record-languages.ts';
import { freeSlug } from '../../records/term-writes.ts';
import { lockNames, termSlugLock } from '../../storage/rows/locks.ts';
import { findTermsLike } from '../../storage/rows/terms.ts';
import { languageOfCode } from '../../wordpress/content-languages.ts';
import type { Term } from '../../wordpress/rows.ts';
import { suffixedSlug } from '../../wordpress/slug.ts';
import type { TermItem } from '../items/items.ts';
import type { Work } from './run.ts';

/** The term here that an imported one may be, and the slug for a new one. */
interface SameSlug {
  readonly term: Term | undefined;
  readonly slug: string;
}

/**
 * Finds the term here with the slug of an imported one; of several, the one at the same place among them. If the source
 * states a language, a term in another one is another term: a new one gets a slug with its language (`music-it`), as in
 * a write. Those in other languages may be missing here, which changes its place.
 */
export async function findSameSlug(
  work: Work,
  { kind, namesake = 0, language: code }: Pick<TermItem, 'kind' | 'namesake' | 'language'>,
  slug: string,
  parent: number,
): Promise<SameSlug> {
  const { run, db } = work;
  const { taxonomy } = termKind(kind);
  const kindLanguages = languagesOf(run.caller, termKind(kind));
  const language = kindLanguages && languageOfCode(kindLanguages.languages, code);
  const slugInLanguage = language ? suffixedSlug(slug, `-${language.code}`) : slug;
  if (slugInLanguage !== slug && !run.isDryRun) await lockNames(db, [termSlugLock(slugInLanguage)]);
  const found = await findTermsLike(db, taxonomy, { ids: [], slugs: [...new Set([slug, slugInLanguage])], names: [] });
  const sameSlugTerms = found.filter((term) => term.slug === slug).toSorted((one, other) => one.term_id - other.term_id);
  const atPlace = sameSlugTerms[namesake];
  if (!kindLanguages || !language || sameSlugTerms.length === 0) return { term: atPlace, slug };
  const memberships = await membershipsOf(
    db,
    kindLanguages,
    found.map((term) => term.term_id),
  );
  const isInLanguage = (term: Term) => memberships.get(term.term_id)?.language === language.code;
  const ownTerms = sameSlugTerms.filter(isInLanguage);
  const ownTerm = ownTerms.find((term) => term === atPlace) ?? ownTerms[namesake] ?? (ownTerms.length === 1 ? ownTerms[0] : undefined);
  if (ownTerm || !atPlace || !memberships.has(atPlace.term_id)) return { term: ownTerm ?? atPlace, slug };
  const term = found.find((one) => one.slug === slugInLanguage && isInLanguage(one));
  if (term) return { term, slug };
  return { term, slug: run.isDryRun ? slugInLanguage : await freeSlug(db, termKind(kind), slugInLanguage, Math.max(0, parent), 0) };
}
