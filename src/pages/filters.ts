import { toIsoDate } from '../calendar/day-first.ts';
import { plainLine } from '../exchange/items/event-record.ts';
import { type I18n, textOrder } from '../html/i18n.ts';
import type { feedFilters } from '../kinds/feed-list.ts';
import { flag } from '../kinds/grammars/flags.ts';
import { postKind, termKind } from '../kinds/index.ts';
import type { PostListValues } from '../kinds/kind.ts';
import type { LinkedKindName, TermKindName } from '../kinds/kind-names.ts';
import type { Values } from '../kinds/param.ts';
import type { Caller } from '../records/caller.ts';
import { listPosts } from '../records/posts.ts';
import { listTerms } from '../records/terms.ts';
import { type Site, withMaxPerPage } from '../site.ts';
import { typedEntries } from '../typed-keys.ts';
import { type Choice, chosenChoice } from './chosen-filters.ts';
import { i18nFor } from './i18n-for.ts';
import { nameOf } from './models.ts';
import type { QueryPairs } from './urls.ts';

/*
 * The inputs for filtering the calendar: one for each filter of pages, with its choices. An input without choices is
 * not shown.
 */

/**
 * The parameter that requests the filter inputs. Pages do not show them otherwise, unless filters are active: the
 * inputs take as much time as the rest of the page, and few visitors need them.
 */
export const SHOW_FILTERS = ['filters', 'open'] as const;

/** A filter of pages. */
export type FilterName = keyof typeof feedFilters;

/** A filter input; `value`: its present value, empty if there is none. */
export interface FilterBox {
  readonly name: FilterName;
  readonly value: string;
  /** Undefined: the input is a day or a checkbox. */
  readonly choices?: readonly Choice[] | undefined;
  readonly as: 'choice' | 'day' | 'tick';
}

/** The sources of choices, and the language of the page. */
interface ChoiceSources {
  readonly i18n: I18n;
  readonly categories: readonly Choice[];
  readonly tags: readonly Choice[];
  readonly venues: readonly Values[];
  readonly organizers: readonly Values[];
}

type InputDefinition = Pick<FilterBox, 'as'> & { readonly choices?: (sources: ChoiceSources) => readonly Choice[] };

/** The input of each filter; undefined: it is somewhere else on the page. */
const INPUT_DEFINITIONS: { readonly [Name in FilterName]: InputDefinition | undefined } = {
  search: undefined,
  until: { as: 'day' },
  categories: { as: 'choice', choices: ({ categories }) => categories },
  tags: { as: 'choice', choices: ({ tags }) => tags },
  venue: { as: 'choice', choices: ({ venues, i18n }) => choicesFromRecords(venues, 'venue', i18n) },
  organizer: { as: 'choice', choices: ({ organizers, i18n }) => choicesFromRecords(organizers, 'organizer', i18n) },
  city: { as: 'choice', choices: ({ venues, i18n }) => distinctTexts(venues, 'city', i18n) },
  state: { as: 'choice', choices: ({ venues, i18n }) => distinctTexts(venues, 'stateprovince', i18n) },
  country: { as: 'choice', choices: ({ venues, i18n }) => distinctTexts(venues, 'country', i18n) },
  featured: { as: 'tick' },
};

/** Maximum number of choices of each filter, by name. */
const MAX_CHOICES = 100;

/** Returns the filters in the query of a page that are not empty, as sent; days as ISO dates. */
export function readFilters(query: Values): QueryPairs {
  return typedEntries(INPUT_DEFINITIONS).flatMap(([name, definition]) => {
    const value = Object.hasOwn(query, name) ? [query[name]].flat().filter((one) => typeof one === 'string' && one !== '') : [];
    if (value.length === 0) return [];
    const text = value.join(',');
    return [[name, definition?.as === 'day' ? toIsoDate(text) : text] as const];
  });
}

/** A part of the calendar that visitors can filter further. */
export interface FilteredPart {
  readonly filters: QueryPairs;
  /** Filters that follow from other parts of the page's address. */
  readonly addressFilters: QueryPairs;
  /** Whether only upcoming events are listed. */
  readonly upcoming: boolean;
}

/** Returns the filter inputs of a page. */
export async function filterBoxes(site: Site, caller: Caller, { filters, addressFilters, upcoming }: FilteredPart): Promise<FilterBox[]> {
  const sources = await loadChoiceSources(site, caller, upcoming);
  const valuesByName = new Map([...addressFilters, ...filters]);
  const boxes = typedEntries(INPUT_DEFINITIONS).flatMap(([name, offer]): FilterBox[] => {
    if (!offer) return [];
    const value = valuesByName.get(name) ?? '';
    const choices = offer.choices?.(sources);
    return choices && choices.length < 2 && value === '' ? [] : [{ name, value, as: offer.as, choices }];
  });
  return Promise.all(boxes.map((box) => withPresentValue(site, caller, sources.i18n, box)));
}

/** Returns an input with its present value among its choices. */
async function withPresentValue(site: Site, caller: Caller, i18n: I18n, box: FilterBox): Promise<FilterBox> {
  const { name, value, choices } = box;
  const isOffered = (text: string) => choices?.some((choice) => choice.value === text);
  if (!choices || value === '' || isOffered(value)) return box;
  const chosen = await chosenChoice(site, caller, i18n, name, value);
  return { ...box, value: chosen.value, choices: isOffered(chosen.value) ? choices : [chosen, ...choices] };
}

async function loadChoiceSources(site: Site, caller: Caller, upcoming: boolean): Promise<ChoiceSources> {
  const i18n = i18nFor(site, caller);
  const loadLinked = async (name: LinkedKindName): Promise<readonly Values[]> => {
    const usageFilter = upcoming ? { only_with_upcoming: true } : { has_events: true };
    const values: PostListValues = { ...usageFilter, per_page: MAX_CHOICES, orderby: 'title', order: 'asc' };
    return (await listPosts(site, caller, postKind(name), values, MAX_CHOICES)).records;
  };
  const terms = async (name: TermKindName): Promise<Choice[]> => {
    const values = { per_page: MAX_CHOICES, hide_empty: true };
    const { records } = await listTerms(withMaxPerPage(site, MAX_CHOICES), caller, termKind(name), values);
    return records.map(({ slug, name: text }) => ({ value: slug, text: nameOf(text, i18n) }));
  };
  const [categories, tags] = [await terms('category'), await terms('tag')];
  const [venues, organizers] = [await loadLinked('venue'), await loadLinked('organizer')];
  return { i18n, categories, tags, venues, organizers };
}

const choicesFromRecords = (records: readonly Values[], title: string, i18n: I18n): Choice[] =>
  records.map((record) => ({ value: String(record.id), text: nameOf(String(record[title]), i18n) }));

/** Returns the distinct texts of a member of records, sorted. */
function distinctTexts(records: readonly Values[], member: string, i18n: I18n): Choice[] {
  const texts = records.map((record) => plainLine(String(record[member] ?? ''))).filter((text) => text !== '');
  return [...new Set(texts)].sort(textOrder(i18n)).map((text) => ({ value: text, text }));
}

/** Returns the text for the present value of an input. */
export const filterValueText = ({ value, choices }: FilterBox): string => choices?.find((choice) => choice.value === value)?.text ?? value;

/** Returns whether a checkbox is ticked: `featured=0` means no. */
export const isTicked = ({ value }: FilterBox): boolean => flag.read(value).value === true;
