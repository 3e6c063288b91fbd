import { termKind } from '../../kinds/index.ts';
import type { TermKindName } from '../../kinds/kind-names.ts';
import { type LanguagesOfKind, languagesOf } from '../../records/record-languages.ts';
import { termsInLanguage, termsOfLanguage } from '../../records/term-languages.ts';
import { placeInLanguage } from '../../records/translation-groups.ts';
import { formOf } from '../../storage/languages/forms.ts';
import { loadTerms } from '../../storage/rows/terms.ts';
import { type ContentLanguage, languageOfCode } from '../../wordpress/content-languages.ts';
import type { Term } from '../../wordpress/rows.ts';
import { sanitizeTitle } from '../../wordpress/slug.ts';
import type { Work } from './run.ts';

/** The id of a term, and whether it was created for the reference. */
export interface PlacedTerm {
  readonly id: number;
  readonly created: boolean;
}

/** A term name in a language, and the existing terms of that name. */
interface NamedTerm {
  readonly kind: TermKindName;
  readonly name: string;
  /** Language code, if the source has one. */
  readonly language: string | undefined;
  /** Terms of this name, the oldest first. */
  readonly terms: readonly Term[];
}

/**
 * Returns the term that a name means in a language: a term of that language; otherwise the translation of a term of
 * another language, which is created if it is missing, as a write of an event does; otherwise a new term. If the site
 * does not have the language, any term of the name.
 *
 * @param place returns the term of this slug, or a new one
 */
export async function termInLanguage(
  work: Work,
  { kind, name, language: code, terms }: NamedTerm,
  place: () => Promise<PlacedTerm | undefined>,
): Promise<PlacedTerm | undefined> {
  const { run, db } = work;
  const kindLanguages = languagesOf(run.caller, termKind(kind));
  const language = kindLanguages && languageOfCode(kindLanguages.languages, code);
  const [first] = terms;
  if (!kindLanguages || !language) return first ? { id: first.term_id, created: false } : place();
  const [match] = await termsOfLanguage(db, run.caller, termKind(kind), terms, language);
  if (match) return { id: match.term_id, created: false };
  const placed = first ? { id: first.term_id, created: false } : await place();
  if (!placed) return undefined;
  const wantedTerm = { kindLanguages, kind, language, slug: sanitizeTitle(name) };
  if (run.isDryRun) return termInDryRun(work, wantedTerm, placed);
  if (!placed.created) return translationOf(work, wantedTerm, placed.id);
  await placeInLanguage(db, run.caller, termKind(kind), { id: placed.id, before: null, isNew: true, language }, {});
  return placed;
}

/**
 * Returns the term that a slug means. An existing one is the same term in whatever language; a new one gets the
 * language of the record that refers to it.
 */
export async function newTermInLanguage(
  { run, db }: Work,
  { kind, language: code }: Omit<NamedTerm, 'terms'>,
  place: () => Promise<PlacedTerm | undefined>,
): Promise<PlacedTerm | undefined> {
  const placed = await place();
  const kindLanguages = languagesOf(run.caller, termKind(kind));
  const language = kindLanguages && languageOfCode(kindLanguages.languages, code);
  if (placed?.created && language && !run.isDryRun)
    await placeInLanguage(db, run.caller, termKind(kind), { id: placed.id, before: null, isNew: true, language }, {});
  return placed;
}

interface WantedTerm {
  readonly kindLanguages: LanguagesOfKind;
  readonly kind: TermKindName;
  readonly language: ContentLanguage;
  readonly slug: string;
}

/** Returns the translation of an existing term, which is created if it is missing. */
async function translationOf(work: Work, wantedTerm: WantedTerm, id: number): Promise<PlacedTerm> {
  const { run, db, touched } = work;
  const knownId = await knownTranslation(work, wantedTerm, id);
  if (knownId !== undefined) return { id: knownId, created: false };
  const [createdId = id] = await termsInLanguage(db, run.caller, termKind(wantedTerm.kind), [id], wantedTerm.language);
  touched.any = true;
  touched.tree ||= termKind(wantedTerm.kind).hierarchical;
  return { id: createdId, created: createdId !== id };
}

/**
 * Returns the existing translation of a term; the term itself if it has no language, or if the site creates no
 * translations. Undefined if a translation has to be created.
 */
async function knownTranslation(
  { db }: Pick<Work, 'db'>,
  { kindLanguages: { languages }, kind, language }: WantedTerm,
  id: number,
): Promise<number | undefined> {
  const { taxonomy } = termKind(kind);
  const { terms } = await formOf(languages).memberships(db, languages, { posts: [], terms: [{ term_id: id, taxonomy }] });
  const membership = terms.get(id);
  if (!membership || membership.language === null) return id;
  const translationId = membership.members.get(language.code);
  if (translationId !== undefined && (await loadTerms(db, taxonomy, [translationId])).has(translationId)) return translationId;
  return languages.form === 'polylang' ? undefined : id;
}

/** Returns the term that a name would become in a language. `placed`: the term of that name in any language. */
async function termInDryRun(work: Work, wantedTerm: WantedTerm, placed: PlacedTerm): Promise<PlacedTerm> {
  const { run } = work;
  const { kindLanguages, kind, language, slug } = wantedTerm;
  const nameIn = (code: string) => `${kind} ${slug} in ${code}`;
  const note = (id: number): PlacedTerm => {
    run.dryNames.set(nameIn(language.code), id);
    return { id, created: true };
  };
  const rehearsed = run.dryNames.get(nameIn(language.code));
  if (rehearsed !== undefined) return { id: rehearsed, created: false };
  if (placed.created) return note(placed.id);
  if (placed.id > 0) {
    const knownId = await knownTranslation(work, wantedTerm, placed.id);
    return knownId === undefined ? note(run.nextDryId()) : { id: knownId, created: false };
  }
  const isSpoken = kindLanguages.languages.languages.some(({ code }) => run.dryNames.has(nameIn(code)));
  return isSpoken && kindLanguages.languages.form === 'polylang' ? note(run.nextDryId()) : placed;
}
