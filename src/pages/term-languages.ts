import { termKind } from '../kinds/index.ts';
import type { TermKind } from '../kinds/kind.ts';
import type { Caller } from '../records/caller.ts';
import { type PlacedTerm, termsByLanguage } from '../records/terms.ts';
import type { Site } from '../site.ts';
import type { Term } from '../wordpress/rows.ts';
import { calendarUrl, listUrlIn, type Target } from './addresses.ts';
import type { Content, Translated } from './pages.tsx';

/*
 * The pages of a category or a tag in the languages that it is there in.
 */

/** The term of a page and its translations. */
export interface TermGroup {
  readonly group: ReadonlyMap<string, PlacedTerm>;
  /** What the page shows: the term in the language of the page, else the one that was asked for. */
  readonly shown: PlacedTerm;
  /** The language of that. */
  readonly code: string;
}

export const kindOf = ({ taxonomy }: Pick<Term, 'taxonomy'>): TermKind => termKind(taxonomy === 'post_tag' ? 'tag' : 'category');

/** Undefined where a page is of no term, or of one without a language. */
export async function termGroup({ db }: Site, caller: Caller, term: Term | undefined): Promise<TermGroup | undefined> {
  const group = term && (await termsByLanguage(db, caller, kindOf(term), term));
  if (!group) return undefined;
  const own = [...group].find(([, one]) => one.term.term_id === term.term_id);
  const wanted = caller.content.code ?? '';
  const translation = group.get(wanted);
  if (translation) return { group, shown: translation, code: wanted };
  return own && { group, shown: own[1], code: own[0] };
}

/** The same list, with the term that the page shows in the place of the one that was asked for. */
export const withTerm = <List extends { readonly terms: readonly Term[] }>(list: List, group: TermGroup | undefined): List =>
  group ? { ...list, terms: [group.shown.term, ...list.terms.slice(1)] } : list;

/** Where a page of the calendar is, and what it says of the languages of its term. */
export function placeOf(caller: Caller, target: Target, group: TermGroup | undefined): Pick<Content, 'address' | 'first' | 'record'> {
  const urlOf = (page: Target) => (group ? calendarUrlIn(caller, group.code, page) : calendarUrl(caller, page));
  const begin = { ...target, number: 1 };
  return {
    address: urlOf(target),
    first: target.number === undefined || target.number === 1 ? undefined : urlOf(begin),
    record: group && translationsOf(caller, group, begin),
  };
}

/** The address of a page of the calendar in a language of the content. */
const calendarUrlIn = (caller: Caller, code: string, target: Target): string =>
  listUrlIn(caller, code, (home) => calendarUrl({ settings: caller.settings, home }, target));

/** The language of the page of a term, and its address in each. */
const translationsOf = (caller: Caller, { group, code }: TermGroup, target: Target): Translated => ({
  language: code,
  translations: Object.fromEntries([...group].map(([other, term]) => [other, { url: calendarUrlIn(caller, other, { ...target, term }) }])),
});
