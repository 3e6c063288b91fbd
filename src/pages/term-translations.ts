import { termKind } from '../kinds/index.ts';
import type { TermKind } from '../kinds/kind.ts';
import type { Caller } from '../records/caller.ts';
import { languagesOfTerms, type PlacedTerm, placedTerms, termsByLanguage } from '../records/terms.ts';
import type { Site } from '../site.ts';
import type { Term } from '../wordpress/rows.ts';
import type { PageContent, WithTranslations } from './pages.tsx';
import { type CalendarTarget, calendarUrl, listUrlInLanguage } from './urls.ts';

/*
 * Pages of a category or a tag in the languages in which it exists.
 */

/** The term of a page and its translations. */
export interface TermTranslations {
  readonly group: ReadonlyMap<string, PlacedTerm>;
  /** The term that the page shows: the one in the language of the page, else the requested one. */
  readonly shownTerm: PlacedTerm;
  /** The language of that term. */
  readonly code: string;
}

/** Returns the kind of a term that pages list by. */
export const kindOf = ({ taxonomy }: Pick<Term, 'taxonomy'>): TermKind => termKind(taxonomy === 'post_tag' ? 'tag' : 'category');

/** Returns the term of a page with its translations. Undefined if the page has no term or the term has no language. */
export async function findTermTranslations({ db }: Site, caller: Caller, term: Term | undefined): Promise<TermTranslations | undefined> {
  const group = term && (await termsByLanguage(db, caller, kindOf(term), term));
  if (!group) return undefined;
  const ownEntry = [...group].find(([, one]) => one.term.term_id === term.term_id);
  const pageCode = caller.content.code ?? '';
  const translation = group.get(pageCode);
  if (translation) return { group, shownTerm: translation, code: pageCode };
  return ownEntry && { group, shownTerm: ownEntry[1], code: ownEntry[0] };
}

/** Returns the list with the term that the page shows instead of the requested one. */
export const withShownTerm = <List extends { readonly terms: readonly Term[] }>(list: List, group: TermTranslations | undefined): List =>
  group ? { ...list, terms: [group.shownTerm.term, ...list.terms.slice(1)] } : list;

/** Returns the URL of a page of the calendar, and the translations of its term. */
export function urlAndTranslations(
  caller: Caller,
  target: CalendarTarget,
  group: TermTranslations | undefined,
): Pick<PageContent, 'address' | 'first' | 'record'> {
  const urlOf = (page: CalendarTarget) => (group ? calendarUrlInLanguage(caller, group.code, page) : calendarUrl(caller, page));
  const firstPage = { ...target, number: 1 };
  return {
    address: urlOf(target),
    first: target.number === undefined || target.number === 1 ? undefined : urlOf(firstPage),
    record: group && termTranslations(caller, group, firstPage),
  };
}

/** Returns the URL of a page of the calendar in a content language. */
const calendarUrlInLanguage = (caller: Caller, code: string, target: CalendarTarget): string =>
  listUrlInLanguage(caller, code, (home) => calendarUrl({ settings: caller.settings, home }, target));

/** Returns the URLs of the lists of these terms by id, as their pages name themselves. */
export async function listsOfTerms({ db }: Site, caller: Caller, kind: TermKind, ids: readonly number[]): Promise<Map<number, string>> {
  const places = await placedTerms(db, kind, ids);
  const languageOf = await languagesOfTerms(db, caller, places.map(({ term }) => term)); // biome-ignore format: short
  const { content, settings } = caller;
  const listOf = (place: PlacedTerm): string => {
    // A term without a language has a page in each.
    const code = languageOf(place.term) ?? content.code ?? settings.contentLanguages?.defaultCode;
    const target: CalendarTarget = { view: 'list', term: place };
    return code === undefined ? calendarUrl(caller, target) : calendarUrlInLanguage(caller, code, target);
  };
  return new Map(places.map((place) => [place.term.term_id, listOf(place)]));
}

/** Returns the language of the page of a term, and its URL in each language. */
const termTranslations = (caller: Caller, { group, code }: TermTranslations, target: CalendarTarget): WithTranslations => ({
  language: code,
  translations: Object.fromEntries(
    [...group].map(([otherCode, term]) => [otherCode, { url: calendarUrlInLanguage(caller, otherCode, { ...target, term }) }]),
  ),
});
