import { ApiError, fail, refuse } from '../errors.ts';
import { MAX_NEW_ITEMS, TOO_MANY_NEW } from '../kinds/grammars/grammar.ts';
import type { RequestedTerm } from '../kinds/grammars/lists.ts';
import { termKind } from '../kinds/index.ts';
import type { TermKind } from '../kinds/kind.ts';
import type { TermKindName } from '../kinds/kind-names.ts';
import { keyText } from '../memo.ts';
import type { Database } from '../storage/engine/database.ts';
import { lockNames } from '../storage/rows/locks.ts';
import type { ContentLanguage } from '../wordpress/content-languages.ts';
import { sanitizeTitle } from '../wordpress/slug.ts';
import type { Caller } from './caller.ts';
import { countNewTerms } from './new-term-limit.ts';
import { type TermLookUp, termLookUp } from './references.ts';
import { createTermInLanguage, termsInLanguage, termsOfLanguage } from './term-languages.ts';
import { locksOfTerm } from './term-writes.ts';
import { mayManageTerms } from './visibility.ts';

/**
 * Returns the ids of the terms that a write asks for, in order and without duplicates: existing ones by id, slug or
 * name, and new ones created from names (decision D4). With a language, a name finds the term of that language first,
 * and terms of other languages are replaced by their translations. Unknown ids are kept here; when the terms are
 * assigned, they are replaced by `termsOfNumbers` or left out, as in WordPress.
 *
 * @throws rest_forbidden for a new name by a caller who may not create terms of that taxonomy; rest_invalid_param for a
 * name that is too long or has no visible text, and for too many new names
 */
export async function resolveRequestedTerms(
  db: Database,
  caller: Caller,
  name: TermKindName,
  terms: readonly RequestedTerm[],
  language?: ContentLanguage,
): Promise<number[]> {
  const kind = termKind(name);
  const lookUp = await termLookUp(
    db,
    name,
    terms.flatMap(({ id, slug, name: termName }) => (id === undefined ? [slug ?? termName ?? ''] : [])),
    language && ((found) => termsOfLanguage(db, caller, kind, found, language)),
  );
  const unknownNames = terms.flatMap((term) => (term.name !== undefined && idOf(term, lookUp) === undefined ? [term.name] : []));
  if (unknownNames.length > 0 && !mayManageTerms(caller, kind)) refuse(caller.viewer);
  if (unknownNames.length > MAX_NEW_ITEMS) fail('rest_invalid_param', { faults: new Map([[kind.path, TOO_MANY_NEW]]) });
  countNewTerms(db, kind.path, unknownNames.length);
  // With several names, locks must be taken together, since two requests may name the same ones in a different order.
  if (unknownNames.length > 1)
    await lockNames(
      db,
      unknownNames.flatMap((termName) => locksOfTerm(kind, termName)),
    );
  const ids: number[] = [];
  const idsBySlug = new Map<string, number>();
  for (const term of terms) {
    const termId = idOf(term, lookUp);
    if (termId !== undefined) ids.push(termId);
    else if (term.name !== undefined) {
      // Names with the same slug are one term, as with existing terms.
      const slug = sanitizeTitle(term.name);
      const id = idsBySlug.get(slug) ?? (await createOrFindTerm(db, caller, kind, term.name, language));
      if (slug !== '') idsBySlug.set(slug, id);
      ids.push(id);
    }
  }
  return termsInLanguage(db, caller, kind, [...new Set(ids)], language);
}

/** Returns the id that a requested term states, or that of the term with its slug or name, which is never an id. */
const idOf = ({ id, slug, name = '' }: RequestedTerm, { bySlug, byName }: TermLookUp): number | undefined =>
  id ?? (slug === undefined ? byName(name) : bySlug(slug))?.term_id;

/** A number by which a request names a term: an id, or else the slug or the name of a term, as it was sent: `007`. */
export interface BareNumber {
  readonly id: number;
  readonly text: string;
}

/**
 * Returns the ids of existing terms that have one of these numbers as their slug or name: `2030`. For numbers that are
 * not the id of any term; numbers that name nothing are left out.
 */
export async function termsOfNumbers(
  { db, caller }: { readonly db: Database; readonly caller: Caller },
  name: TermKindName,
  numbers: readonly BareNumber[],
  language: ContentLanguage | undefined,
): Promise<number[]> {
  if (numbers.length === 0) return [];
  const kind = termKind(name);
  const { byId, byToken } = await termLookUp(
    db,
    name,
    numbers.map(({ text }) => text),
    language && ((found) => termsOfLanguage(db, caller, kind, found, language)),
  );
  // The id of a term that its translation has replaced is not unknown.
  const ids = numbers.flatMap(({ id, text }) => (byId(id) ? [] : (byToken(text)?.term_id ?? [])));
  return termsInLanguage(db, caller, kind, [...new Set(ids)], language);
}

/**
 * Creates a version of `resolveRequestedTerms` for records that are written together: equal lists of ids are resolved
 * only once.
 */
export function createTermResolver(): typeof resolveRequestedTerms {
  const idsByKey = new Map<string, Promise<number[]>>();
  return (db, caller, name, terms, language) => {
    const ids = terms.map(({ id }) => id);
    // The meaning of a name may change with each term that is created.
    if (ids.includes(undefined)) return resolveRequestedTerms(db, caller, name, terms, language);
    const key = keyText([name, ids, language?.code]);
    const pendingIds = idsByKey.get(key) ?? resolveRequestedTerms(db, caller, name, terms, language);
    idsByKey.set(key, pendingIds);
    return pendingIds;
  };
}

/**
 * Creates a term with this name, or returns the one that was created in the meantime, earlier in the list or by another
 * request.
 */
async function createOrFindTerm(
  db: Database,
  caller: Caller,
  kind: TermKind,
  name: string,
  language: ContentLanguage | undefined,
): Promise<number> {
  try {
    return await createTermInLanguage(db, caller, kind, { name, description: '', parent: 0 }, { language });
  } catch (error) {
    if (error instanceof ApiError && error.problem === 'term_exists') return Number(error.details.data?.term_id);
    // In the record, the error belongs to the parameter that names the term.
    const fault = error instanceof ApiError ? error.details.faults?.get('name') : undefined;
    if (fault) fail('rest_invalid_param', { faults: new Map([[kind.path, fault]]) });
    throw error;
  }
}
