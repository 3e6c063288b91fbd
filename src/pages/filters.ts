import { plainLine } from '../exchange/items/event-record.ts';
import type { I18n } from '../html/i18n.ts';
import { feedFilters } from '../kinds/feed-list.ts';
import { postKind, termKind } from '../kinds/index.ts';
import type { PostListValues } from '../kinds/kind.ts';
import type { Values } from '../kinds/param.ts';
import type { Caller } from '../records/caller.ts';
import { listPosts } from '../records/posts.ts';
import { listTerms } from '../records/terms.ts';
import type { Site } from '../site.ts';
import { typedEntries } from '../typed-keys.ts';
import type { Pairs } from './addresses.ts';
import { i18nFor } from './i18n-for.ts';
import { nameOf } from './models.ts';

/*
 * The inputs for filtering the calendar: one for each filter of pages, with its choices. An input without choices is
 * not shown.
 */

/**
 * The parameter that requests the filter inputs. Pages do not show them otherwise, unless filters are active: the
 * inputs take as much time as the rest of the page, and few visitors need them.
 */
export const BOXES = ['filters', 'open'] as const;

/** A filter of pages. */
export type FilterName = keyof typeof feedFilters;

export interface Choice {
  readonly value: string;
  readonly text: string;
}

/** A filter input; `value`: its present value, empty if there is none. */
export interface FilterBox {
  readonly name: FilterName;
  readonly value: string;
  /** Undefined: the input is a day or a checkbox. */
  readonly choices?: readonly Choice[] | undefined;
  readonly as: 'choice' | 'day' | 'tick';
}

/** The sources of choices, and the language of the page. */
interface Known {
  readonly i18n: I18n;
  readonly categories: readonly Choice[];
  readonly tags: readonly Choice[];
  readonly venues: readonly Values[];
  readonly organizers: readonly Values[];
}

type Offer = Pick<FilterBox, 'as'> & { readonly choices?: (known: Known) => readonly Choice[] };

/** The input of each filter; undefined: it is somewhere else on the page. */
const OFFERS: { readonly [Name in FilterName]: Offer | undefined } = {
  search: undefined,
  until: { as: 'day' },
  categories: { as: 'choice', choices: ({ categories }) => categories },
  tags: { as: 'choice', choices: ({ tags }) => tags },
  venue: { as: 'choice', choices: ({ venues, i18n }) => choicesFrom(venues, 'venue', i18n) },
  organizer: { as: 'choice', choices: ({ organizers, i18n }) => choicesFrom(organizers, 'organizer', i18n) },
  city: { as: 'choice', choices: ({ venues }) => distinctTexts(venues, 'city') },
  state: { as: 'choice', choices: ({ venues }) => distinctTexts(venues, 'stateprovince') },
  country: { as: 'choice', choices: ({ venues }) => distinctTexts(venues, 'country') },
  featured: { as: 'tick' },
};

/** Maximum number of choices of each filter, by name. */
const MOST_CHOICES = 100;

/** Returns the filters in the query of a page that are not empty, as sent. */
export function filtersIn(query: Values): Pairs {
  return Object.keys(feedFilters).flatMap((name) => {
    const value = Object.hasOwn(query, name) ? [query[name]].flat().filter((one) => typeof one === 'string' && one !== '') : [];
    return value.length === 0 ? [] : [[name, value.join(',')] as const];
  });
}

/** A part of the calendar that visitors can filter further. */
export interface Narrowed {
  readonly filters: Pairs;
  /** Filters that follow from the path of the page. */
  readonly fixed: Pairs;
  /** Whether only upcoming events are listed. */
  readonly upcoming: boolean;
}

/** Returns the filter inputs of a page. */
export async function filterBoxes(site: Site, caller: Caller, { filters, fixed, upcoming }: Narrowed): Promise<FilterBox[]> {
  const known = await knownChoices(site, caller, upcoming);
  const said = new Map([...fixed, ...filters]);
  return typedEntries(OFFERS).flatMap(([name, offer]): FilterBox[] => {
    if (!offer) return [];
    const value = said.get(name) ?? '';
    const choices = offer.choices?.(known);
    if (choices && choices.length < 2 && value === '') return [];
    const isThere = value === '' || choices?.some((choice) => choice.value === value);
    return [{ name, value, as: offer.as, choices: isThere || !choices ? choices : [{ value, text: value }, ...choices] }];
  });
}

async function knownChoices(site: Site, caller: Caller, upcoming: boolean): Promise<Known> {
  const i18n = i18nFor(site, caller);
  const linked = async (name: 'venue' | 'organizer'): Promise<readonly Values[]> => {
    const used = upcoming ? { only_with_upcoming: true } : { has_events: true };
    const values = { ...used, per_page: MOST_CHOICES, orderby: 'title', order: 'asc' } as PostListValues;
    return (await listPosts(site, caller, postKind(name), values, MOST_CHOICES)).records;
  };
  const terms = async (name: 'category' | 'tag'): Promise<Choice[]> => {
    const { records } = await listTerms(site, caller, termKind(name), { per_page: MOST_CHOICES, hide_empty: true });
    return records.map((record) => ({ value: String(record.slug), text: nameOf(String(record.name), i18n) }));
  };
  const [categories, tags] = [await terms('category'), await terms('tag')];
  const [venues, organizers] = [await linked('venue'), await linked('organizer')];
  return { i18n, categories, tags, venues, organizers };
}

const choicesFrom = (records: readonly Values[], title: string, i18n: I18n): Choice[] =>
  records.map((record) => ({ value: String(record.id), text: nameOf(String(record[title]), i18n) }));

/** Returns the distinct texts of a member of records, sorted. */
function distinctTexts(records: readonly Values[], member: string): Choice[] {
  const texts = records.map((record) => plainLine(String(record[member] ?? ''))).filter((text) => text !== '');
  return [...new Set(texts)].sort((one, other) => one.localeCompare(other)).map((text) => ({ value: text, text }));
}

/** Returns the text for the present value of an input. */
export const textOfBox = ({ value, choices }: FilterBox): string => choices?.find((choice) => choice.value === value)?.text ?? value;
