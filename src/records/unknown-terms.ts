import { isTerms } from '../kinds/fields.ts';
import { type RequestedTerm, requestedTerms } from '../kinds/grammars/lists.ts';
import type { Kind } from '../kinds/kind.ts';
import { isObject } from '../objects.ts';
import { sanitizeTitle } from '../wordpress/slug.ts';
import { shorten } from './explanation.ts';

/** Maximum number of unknown terms reported for a request. */
const MAX_REPORTED = 10;

/** A term in a write that does not exist, with the parameter that names it. */
export interface UnknownTerm {
  readonly param: string;
  readonly sent: string;
}

/**
 * Returns the terms that a write names by id or slug but that do not exist, at most 10. They are left out, as in
 * WordPress (`wp_set_object_terms`). `record`: as answered after the write; nothing is reported for a refusal, nor for
 * a record in a language, where translations replace terms.
 */
export function unknownTerms(kind: Kind, raw: Readonly<Record<string, unknown>>, record: unknown): UnknownTerm[] {
  if (kind.is !== 'post' || typeof memberOf(record, 'language') === 'string') return [];
  return Object.entries(kind.fields)
    .flatMap(([param, field]) =>
      isTerms(field) && Object.hasOwn(raw, param)
        ? leftOut(raw[param], memberOf(record, param)).map((term) => ({ param, sent: shorten(String(term.id ?? term.slug)) }))
        : [],
    )
    .slice(0, MAX_REPORTED);
}

const memberOf = (record: unknown, name: string): unknown =>
  isObject(record) ? Object.getOwnPropertyDescriptor(record, name)?.value : undefined;

function leftOut(value: unknown, shownTerms: unknown): RequestedTerm[] {
  if (!Array.isArray(shownTerms)) return [];
  const terms = distinct(requestedTerms.read(value, () => false).value ?? []);
  const missingTerms = terms.filter((term) => isExistingOnly(term) && !shownTerms.some((shown) => isNamed(term, shown)));
  // In a language, terms are replaced by their translations: then there are as many as were named. The same goes for a
  // number that is a name, in the routes whose records only show ids.
  return missingTerms.length > terms.length - shownTerms.length ? [] : missingTerms;
}

const distinct = (terms: readonly RequestedTerm[]): RequestedTerm[] => [
  ...new Map(terms.map((term) => [JSON.stringify(term), term])).values(),
];

/** Whether a term is looked up but never created: only a name creates one. */
const isExistingOnly = ({ id, slug }: RequestedTerm): boolean => id !== undefined || slug !== undefined;

/** `shown`: a term of a record, or its id. Slugs in requests may be written in any way that gives the stored one. */
const isNamed = ({ id, slug, name }: RequestedTerm, shown: unknown): boolean =>
  (id !== undefined && [shown, memberOf(shown, 'id')].includes(id)) ||
  sanitizeTitle(slug ?? name ?? '') === memberOf(shown, 'slug') ||
  (name !== undefined && memberOf(shown, 'name') === name);
