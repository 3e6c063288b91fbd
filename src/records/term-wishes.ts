import { ApiError, failParam, refuse } from '../errors.ts';
import type { TermWish } from '../kinds/grammars/lists.ts';
import { termKind } from '../kinds/index.ts';
import type { TermKind } from '../kinds/kind.ts';
import type { TermKindName } from '../kinds/kind-names.ts';
import type { Database } from '../storage/engine/database.ts';
import { lockNames } from '../storage/rows/locks.ts';
import type { ContentLanguage } from '../wordpress/content-languages.ts';
import { sanitizeTitle } from '../wordpress/slug.ts';
import type { Caller } from './caller.ts';
import { termLookUp } from './references.ts';
import { createTermInLanguage, termsInLanguage, termsOfLanguage } from './term-languages.ts';
import { locksOfTerm } from './term-writes.ts';
import { mayManageTerms } from './visibility.ts';

/**
 * Returns the ids of the terms that a write asks for, in order and without duplicates: existing ones by id, slug or
 * name, and new ones created from names (decision D4). With a language, a name finds the term of that language first,
 * and terms of other languages are replaced by their translations. Unknown ids are kept here and left out when the
 * terms are assigned, as in WordPress.
 *
 * @throws rest_forbidden for a new name by a caller who may not create terms of that taxonomy; rest_invalid_param for a
 * name that is too long
 */
export async function resolveTermWishes(
  db: Database,
  caller: Caller,
  name: TermKindName,
  wishes: readonly TermWish[],
  language?: ContentLanguage,
): Promise<number[]> {
  const kind = termKind(name);
  const lookUp = await termLookUp(
    db,
    name,
    wishes.flatMap(({ id, slug, name: termName }) => (id === undefined ? [slug ?? termName ?? ''] : [])),
    language && ((terms) => termsOfLanguage(db, caller, kind, terms, language)),
  );
  const unknownNames = wishes.flatMap(({ id, slug, name: termName }) =>
    id === undefined && termName !== undefined && !lookUp.byToken(slug ?? termName) ? [termName] : [],
  );
  // With several names, locks must be taken together, since two requests may name the same ones in a different order.
  if (unknownNames.length > 1)
    await lockNames(
      db,
      unknownNames.flatMap((termName) => locksOfTerm(kind, termName)),
    );
  const ids: number[] = [];
  const idsBySlug = new Map<string, number>();
  for (const wish of wishes) {
    const termId = wish.id ?? lookUp.byToken(wish.slug ?? wish.name ?? '')?.term_id;
    if (termId !== undefined) ids.push(termId);
    else if (wish.name !== undefined) {
      if (!mayManageTerms(caller, kind)) refuse(caller.viewer);
      // Names with the same slug are one term, as with existing terms.
      const slug = sanitizeTitle(wish.name);
      const id = idsBySlug.get(slug) ?? (await createOrFindTerm(db, caller, kind, wish.name, language));
      if (slug !== '') idsBySlug.set(slug, id);
      ids.push(id);
    }
  }
  return termsInLanguage(db, caller, kind, [...new Set(ids)], language);
}

/**
 * Creates a version of `resolveTermWishes` for records that are written together: equal lists of ids are resolved only
 * once.
 */
export function createTermWishResolver(): typeof resolveTermWishes {
  const idsByKey = new Map<string, Promise<number[]>>();
  return (db, caller, name, wishes, language) => {
    const ids = wishes.map(({ id }) => id);
    // The meaning of a name may change with each term that is created.
    if (ids.includes(undefined)) return resolveTermWishes(db, caller, name, wishes, language);
    const key = JSON.stringify([name, ids, language?.code]);
    const pendingIds = idsByKey.get(key) ?? resolveTermWishes(db, caller, name, wishes, language);
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
    if (error instanceof ApiError && error.details.faults?.has('name')) failParam(kind.path, 'too-long');
    throw error;
  }
}
