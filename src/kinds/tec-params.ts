import { listWindow } from '../calendar/window.ts';
import { tableOf } from '../wordpress/table.ts';
import { toLocal } from '../wordpress/time.ts';
import { wordsCondition } from './event-list.ts';
import { FEATURED_META, ORGANIZER_LINK, VENUE_LINK } from './event-metas.ts';
import { anyText, flagAnything, LENGTHS, oneOf } from './grammar.ts';
import type { Condition, Field, Narrowed, Param, PostKind, RuleContext, Values } from './kind.ts';
import { anyString, droppedString, idsArgument, integer, momentArgument, positiveArgument, strings, truth } from './schema-grammar.ts';

/*
 * What the calendar's newer interface (`tec/v1`) takes: other names for the filters and fields of the kinds, checked in its own way.
 */

/** The longest page. */
export const LONGEST_PAGE = 100;

const PAGING: Record<string, Param> = { page: { grammar: positiveArgument, fallback: 1 }, per_page: { grammar: positiveArgument } };
const MOMENTS = ['starts_before', 'starts_after', 'ends_before', 'ends_after'] as const;
const DATES = ['start_date', 'end_date', ...MOMENTS] as const;

const EVENT_FILTERS: Record<string, Param> = {
  ...PAGING,
  start_date: { grammar: momentArgument },
  end_date: { grammar: momentArgument },
  search: { grammar: droppedString },
  categories: { grammar: idsArgument(false) },
  tags: { grammar: idsArgument(false) },
  venue: { grammar: { ...idsArgument(true), refers: 'venue' } },
  organizer: { grammar: { ...idsArgument(true), refers: 'organizer' } },
  featured: { grammar: truth },
  status: { grammar: strings },
  post_parent: { grammar: { ...positiveArgument, refers: 'event' } },
  ...Object.fromEntries(MOMENTS.map((name) => [name, { grammar: momentArgument }])),
  ticketed: { grammar: truth },
  orderby: { grammar: oneOf(['date', 'event_date', 'title', 'menu_order', 'modified'], 'value'), fallback: 'event_date' },
  order: { grammar: oneOf(['ASC', 'DESC'], 'value'), fallback: 'ASC' },
};

const LINKED_FILTERS: Record<string, Param> = {
  ...PAGING,
  search: { grammar: droppedString },
  event: { grammar: { ...positiveArgument, refers: 'event' } },
  has_events: { grammar: flagAnything },
  only_with_upcoming: { grammar: flagAnything },
  status: { grammar: strings },
};

export const tecFilters = ({ name }: PostKind): Readonly<Record<string, Param>> => (name === 'event' ? EVENT_FILTERS : LINKED_FILTERS);

const ORDERS = tableOf({ date: 'date', event_date: 'start', title: 'title', menu_order: 'menu', modified: 'modified' } as const);

/**
 * Conditions and order of a list. Events have no bounds but those that are asked for; categories and tags are
 * checked and shape nothing, as in the reference. Links are not guarded: as there, protected events are found by
 * their venues, which WordPress's own routes tell everybody.
 */
export function narrowTec(kind: PostKind, values: Values, context: RuleContext): Pick<Narrowed, 'conditions' | 'order'> {
  if (kind.name !== 'event') {
    const { conditions, order } = kind.narrow(values, context);
    return {
      order,
      conditions: conditions.map((condition) => (condition.by === 'words' ? asWordPressSearches(condition, values) : condition)),
    };
  }
  const { settings, now } = context;
  const { cutoff, timezoneMode: mode } = settings.calendar;
  const window = listWindow(values, { siteZone: settings.zone, cutoff, now, mode });
  const asked = Object.keys(window.echo).map((name) => DATES.includes(name as never) && values[name] !== undefined);
  const conditions: Condition[] = window.filters.flatMap((filter, place) =>
    asked[place] ? [{ by: 'moment' as const, utc: mode === 'site', ...filter }] : [],
  );
  if (typeof values.search === 'string' && values.search !== '') conditions.push(wordsCondition(values.search));
  if (values.venue) conditions.push({ by: 'links', key: VENUE_LINK, ids: values.venue as number[], guarded: false });
  if (values.organizer) conditions.push({ by: 'links', key: ORGANIZER_LINK, ids: values.organizer as number[], guarded: false });
  if (typeof values.featured === 'boolean') conditions.push({ by: 'meta', key: FEATURED_META, present: values.featured, guarded: true });
  if (typeof values.post_parent === 'number') conditions.push({ by: 'parent', id: values.post_parent });
  if (typeof values.ticketed === 'boolean') conditions.push({ by: 'ticketed', wanted: values.ticketed });
  const by = ORDERS.get(String(values.orderby)) ?? 'start';
  return { conditions, order: { by, descending: values.order === 'DESC' } };
}

/**
 * The search of venues and organizers here is WordPress's, which passes over protected ones for visitors; it looks
 * into the same metas as the plugin's.
 */
const asWordPressSearches = ({ metas }: Extract<Condition, { by: 'words' }>, { search }: Values): Condition => ({
  ...wordsCondition(String(search)),
  metas,
});

/** What the fields of each kind are called here. */
const COMMON = {
  date: 'date', date_gmt: 'date_utc', slug: 'slug', status: 'status', content: 'description', excerpt: 'excerpt', author: 'author', featured_media: 'image',
} as const; // biome-ignore format: pairs

const NAMES: Readonly<Record<PostKind['name'], Readonly<Record<string, string>>>> = {
  event: {
    ...COMMON, title: 'title', sticky: 'sticky', tags: 'tags', tribe_events_cat: 'categories', start_date: 'start_date', end_date: 'end_date',
    timezone: 'timezone', all_day: 'all_day', featured: 'featured', cost: 'cost', organizers: 'organizer', venues: 'venue', website: 'website',
  },
  venue: {
    ...COMMON, title: 'venue', address: 'address', country: 'country', city: 'city', state_province: 'stateprovince', state: 'state', province: 'province',
    zip: 'zip', phone: 'phone', website: 'website',
  },
  organizer: { ...COMMON, title: 'organizer', phone: 'phone', website: 'website', email: 'email' },
}; // biome-ignore format: pairs

/** Fields that the reference lists and that mean nothing for the calendar's kinds. */
const IDLE: Readonly<Record<string, Param>> = {
  comment_status: { grammar: anyString(LENGTHS.word) },
  ping_status: { grammar: anyString(LENGTHS.word) },
  format: { grammar: anyString(LENGTHS.word) },
  template: { grammar: anyString(LENGTHS.word) },
};

/** Fields of an event that lead to others: UTC times to local ones, a duration in seconds to the end. */
const DERIVED: Readonly<Record<string, Param>> = {
  start_date_utc: { grammar: anyText(LENGTHS.date) },
  end_date_utc: { grammar: anyText(LENGTHS.date) },
  duration: { grammar: integer({ minimum: 0 }) },
};

/** The fields of a kind by the names they have here, none of them required. Those that its own routes don't write keep the kind's slug and excerpt. */
export function tecFields(kind: PostKind, standIn: PostKind): Readonly<Record<string, Param | Field>> {
  const fields = Object.entries(NAMES[kind.name]).map(([name, field]) => {
    const { required: _, fallback: __, ...declared } = (kind.fields[field] ?? standIn.fields[field])!;
    return [name, declared] as const;
  });
  return {
    ...Object.fromEntries(fields),
    ...IDLE,
    ...(kind.name === 'event' ? DERIVED : { sticky: { grammar: truth }, tags: { grammar: strings } }),
  };
}

/** Accepted values by the kind's own names; the site's zone turns UTC times of events into local ones where no other zone is named. */
export function kindValues(kind: PostKind, values: Values, zoneOf: (name: string | undefined) => RuleContext['settings']['zone']): Values {
  const names = NAMES[kind.name];
  const named = Object.entries(values).flatMap(([name, value]) => (Object.hasOwn(names, name) ? [[names[name]!, value] as const] : []));
  const fields: Record<string, unknown> = Object.fromEntries(named);
  if (kind.name !== 'event') return fields;
  const zone = zoneOf(typeof values.timezone === 'string' ? values.timezone : undefined);
  for (const [utc, own] of [
    ['start_date_utc', 'start_date'],
    ['end_date_utc', 'end_date'],
  ] as const) {
    const sent = values[utc];
    if (fields[own] === undefined && typeof sent === 'string' && /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?$/.test(sent))
      fields[own] = toLocal(sent.replace('T', ' ').padEnd(19, ':00'), zone);
  }
  return fields;
}
