import { z } from 'zod';
import { type CostOptions, type CurrencyMetas, costMeta, costOf } from '../calendar/cost.ts';
import { type EventDates, eventDates } from '../calendar/dates.ts';
import { eventJsonLd } from '../calendar/json-ld.ts';
import { isTruthy } from '../calendar/settings.ts';
import { listWindow } from '../calendar/window.ts';
import { failParam } from '../errors.ts';
import { escHtml } from '../wordpress/entities.ts';
import { restUrl } from '../wordpress/links.ts';
import { type Metas, metaOf, type Post } from '../wordpress/rows.ts';
import { parseSearch } from '../wordpress/search.ts';
import { dateParts, isoWithOffset, parseZone } from '../wordpress/time.ts';
import { column, featuredImage, flagMeta, links, meta, rule, terms } from './fields.ts';
import {
  anyText,
  anything,
  decimal,
  existingTerms,
  flag,
  idOf,
  ids,
  listStatus,
  strictness,
  text,
  time,
  timeText,
  timezone,
  url,
} from './grammar.ts';
import { imageAddress, imageRecord, thumbnailOf } from './image-record.ts';
import type { Before, Bundle, Condition, Narrowed, PostKind, RenderContext, Rows, RuleContext, Values } from './kind.ts';
import { additionsEcho, MODIFIED, modifiedConditions } from './linked-list.ts';
import { organizer, organizerLd, renderOrganizer } from './organizer.ts';
import { additions, authorField, dateField, orderOf, paging, statusField, textColumn, titleField } from './post-fields.ts';
import { globalIds, isLocked, permalink, postLd, postMembers, renderedTexts } from './post-record.ts';
import { costDetails, dateDetails, embeddedTerm, image, jsonLd, postShape, stamp } from './shapes.ts';
import { embeddedTermRecord } from './term-record.ts';
import { areAbsolute, type Timeliness } from './timeliness.ts';
import { renderVenue, venue, venueLd } from './venue.ts';

const VENUE_LINK = '_EventVenueID';
const ORGANIZER_LINK = '_EventOrganizerID';

/** Metas that the dates, the zone and the all-day flag rest in. */
const DATES = {
  start: '_EventStartDate',
  end: '_EventEndDate',
  startUtc: '_EventStartDateUTC',
  endUtc: '_EventEndDateUTC',
  duration: '_EventDuration',
  timezone: '_EventTimezone',
  abbreviation: '_EventTimezoneAbbr',
  allDay: '_EventAllDay',
} as const;

/** Orders that a list of events can be asked for. */
const ORDERS = {
  event_date: 'start', start_date: 'start', end_date: 'end', date: 'date', title: 'title', modified: 'modified', id: 'id', slug: 'slug', include: 'include', post__in: 'include',
} as const; // biome-ignore format: pairs

export const event: PostKind = {
  is: 'post',
  name: 'event',
  path: 'events',
  postType: 'tribe_events',
  capabilities: 'tribe_events',
  titleField: 'title',
  fields: {
    author: authorField,
    status: statusField,
    date: dateField,
    date_utc: dateField,
    title: titleField(),
    description: textColumn('post_content'),
    slug: rule(text, { empty: 'refused' }),
    excerpt: textColumn('post_excerpt'),
    timezone: rule(timezone),
    all_day: rule(flag, { empty: 'false', fallback: false }),
    start_date: rule(timeText, { required: true, empty: 'refused' }),
    end_date: rule(timeText, { required: true, empty: 'refused' }),
    image: featuredImage(),
    cost: rule(anything),
    website: meta('_EventURL', url, { fallback: null, store: (value) => [value === null ? '' : String(value)] }),
    show_map: flagMeta('_EventShowMap', { on: '1', off: '' }),
    show_map_link: flagMeta('_EventShowMapLink', { on: '1', off: '' }),
    hide_from_listings: flagMeta('_EventHideFromUpcoming', { on: 'yes', off: undefined }),
    sticky: column('menu_order', flag, { empty: 'false', store: (value) => [value === true ? '-1' : '0'] }),
    featured: flagMeta('_tribe_featured', { on: '1', off: undefined }),
    categories: terms('category'),
    tags: terms('tag'),
    venue: links(VENUE_LINK, 'venue'),
    organizer: links(ORGANIZER_LINK, 'organizer'),
  },
  filters: {
    ...paging,
    start_date: { grammar: time },
    end_date: { grammar: time },
    starts_before: { grammar: time },
    starts_after: { grammar: time },
    ends_before: { grammar: time },
    ends_after: { grammar: time },
    strict_dates: { grammar: strictness, fallback: false },
    search: { grammar: text },
    categories: { grammar: existingTerms('category') },
    tags: { grammar: existingTerms('tag') },
    venue: { grammar: ids('venue') },
    organizer: { grammar: ids('organizer') },
    featured: { grammar: flag },
    status: { grammar: listStatus('tribe_events') },
    geoloc: { grammar: flag },
    geoloc_lat: { grammar: decimal },
    geoloc_lng: { grammar: decimal },
    geoloc_radius: { grammar: decimal },
    include: { grammar: ids() },
    post_parent: { grammar: idOf('event') },
    ticketed: { grammar: flag },
    city: { grammar: anyText },
    country: { grammar: anyText },
    state: { grammar: anyText },
    ...additions,
  },
  strays: {},
  links: { [VENUE_LINK]: 'venue', [ORGANIZER_LINK]: 'organizer' },
  terms: ['category', 'tag'],
  dated: true,

  narrow,

  follows: (values, before, context) => {
    const metas: Record<string, readonly string[]> = { ...datesChange(values, before, context), ...costChange(values, before) };
    if (!before) {
      metas._EventOrigin = ['events-calendar'];
      for (const [field, key] of [
        ['show_map', '_EventShowMap'],
        ['show_map_link', '_EventShowMapLink'],
      ] as const)
        if (!(field in values)) metas[key] = [''];
    }
    return { columns: {}, metas };
  },

  record: z
    .object({
      ...postShape,
      rest_url: z.url(),
      title: z.string(),
      description: z.string(),
      excerpt: z.string(),
      slug: z.string(),
      image: z.union([image, z.literal(false)]),
      all_day: z.boolean().nullable(),
      start_date: stamp,
      start_date_details: dateDetails,
      end_date: stamp,
      end_date_details: dateDetails,
      utc_start_date: stamp,
      utc_start_date_details: dateDetails,
      utc_end_date: stamp,
      utc_end_date_details: dateDetails,
      timezone: z.string(),
      timezone_abbr: z.string(),
      cost: z.string(),
      cost_details: costDetails,
      website: z.string(),
      show_map: z.boolean().nullable(),
      show_map_link: z.boolean().nullable(),
      hide_from_listings: z.boolean().nullable(),
      sticky: z.boolean().nullable(),
      featured: z.boolean().nullable(),
      categories: z.array(embeddedTerm),
      tags: z.array(embeddedTerm),
      venue: z.union([venue.record, z.array(venue.record)]),
      organizer: z.array(organizer.record),
      custom_fields: z.union([z.array(z.unknown()).max(0), z.record(z.string(), z.object({ label: z.string(), value: z.string() }))]),
      json_ld: jsonLd.optional(),
    })
    .meta({ id: 'Event' }),

  render,
};

// ------------------------------------------------------------------------------------------------- lists
function narrow(values: Values, context: RuleContext): Narrowed {
  const { settings, now } = context;
  const window = listWindow(values, {
    siteZone: settings.zone,
    cutoff: settings.calendar.cutoff,
    now,
    mode: settings.calendar.timezoneMode,
  });
  const utc = settings.calendar.timezoneMode === 'site';
  const conditions: Condition[] = window.filters.map((filter) => ({ by: 'moment', utc, ...filter }));
  const echo: [string, string][] = Object.entries(window.echo);
  if (values.strict_dates === true && echo.length > 0) echo.push(['strict_dates', 'true']);
  const add = (condition: Condition, name?: string, value?: string) => {
    conditions.push(condition);
    if (name !== undefined) echo.push([name, value ?? String(values[name])]);
  };
  const list = (name: string) => (values[name] as readonly number[] | undefined)?.join(',');

  if (typeof values.search === 'string')
    add(
      {
        by: 'words',
        terms: parseSearch(values.search),
        columns: ['post_title', 'post_excerpt', 'post_content'],
        metas: [],
        together: false,
      },
      'search',
    );
  for (const [name, kind] of [
    ['categories', 'category'],
    ['tags', 'tag'],
  ] as const) {
    if (values[name]) add({ by: 'terms', kind, ids: values[name] as number[] }, name, list(name));
  }
  for (const [name, key] of [
    ['venue', VENUE_LINK],
    ['organizer', ORGANIZER_LINK],
  ] as const) {
    if (values[name]) add({ by: 'links', key, ids: values[name] as number[] }, name, list(name));
  }
  if (typeof values.featured === 'boolean')
    add({ by: 'meta', key: '_tribe_featured', present: values.featured, blanked: true }, 'featured', values.featured ? '1' : '0');
  if (values.include) add({ by: 'id', ids: values.include as number[] }, 'include', list('include'));
  else add({ by: 'meta', key: '_EventHideFromUpcoming', present: false });
  if (typeof values.post_parent === 'number') add({ by: 'parent', id: values.post_parent }, 'post_parent');
  if (typeof values.ticketed === 'boolean') add({ by: 'ticketed', wanted: values.ticketed }, 'ticketed');
  for (const [name, key] of [
    ['city', '_VenueCity'],
    ['country', '_VenueCountry'],
    ['state', '_VenueStateProvince'],
  ] as const) {
    if (typeof values[name] === 'string' && values[name] !== '')
      add({ by: 'linkedMeta', link: VENUE_LINK, key, value: values[name] }, name);
  }
  const near = nearby(values);
  if (near) {
    add({ by: 'near', link: VENUE_LINK, ...near }, 'geoloc_lat');
    echo.push(
      ['geoloc_lng', String(near.lng)],
      ...(values.geoloc_radius === undefined ? [] : [['geoloc_radius', String(near.km)] as [string, string]]),
    );
    if (values.geoloc === true) echo.push(['geoloc', 'true']);
  } else if (typeof values.geoloc === 'boolean') add({ by: 'placed', link: VENUE_LINK, wanted: values.geoloc }, 'geoloc');
  conditions.push(...modifiedConditions(values, context));

  const standard = values.include
    ? ({ by: 'date', descending: false } as const)
    : near
      ? ({ by: 'distance', descending: false } as const)
      : ({ by: 'start', descending: false } as const);
  return {
    conditions,
    order: orderOf(values, ORDERS, standard),
    echo: [...echo, ...additionsEcho(values)],
    timeliness: timelinessOf(values),
  };
}

const BOUNDS = ['start_date', 'end_date'] as const;
const RELATIVE_BOUNDS = ['starts_before', 'starts_after', 'ends_before', 'ends_after'] as const;

/** A list moves on with the day where it begins today, and with the second where a bound is told in words or the default is meant exactly. */
function timelinessOf(values: Values): Timeliness {
  if (!areAbsolute(values, MODIFIED)) return 'always';
  if (values.include) return 'never';
  if (!areAbsolute(values, [...BOUNDS, ...RELATIVE_BOUNDS])) return 'always';
  const standard = BOUNDS.some((name) => values[name] === undefined) && RELATIVE_BOUNDS.every((name) => values[name] === undefined);
  return standard ? (values.strict_dates === true ? 'always' : 'daily') : 'never';
}

const DEFAULT_RADIUS_KM = 25;

/** Latitude and longitude go together (decision D27). */
function nearby({ geoloc_lat: lat, geoloc_lng: lng, geoloc_radius: km }: Values): { lat: number; lng: number; km: number } | undefined {
  if (lat === undefined && lng === undefined) return undefined;
  if (typeof lat !== 'number') return failParam('geoloc_lat', { stage: 'value', reason: 'pair-missing' });
  if (typeof lng !== 'number') return failParam('geoloc_lng', { stage: 'value', reason: 'pair-missing' });
  if (Math.abs(lat) > 90) failParam('geoloc_lat');
  if (Math.abs(lng) > 180) failParam('geoloc_lng');
  if (typeof km === 'number' && km <= 0) failParam('geoloc_radius');
  return { lat, lng, km: typeof km === 'number' ? km : DEFAULT_RADIUS_KM };
}

// ------------------------------------------------------------------------------------------------- changes
/** Metas of the dates after a change of start, end, zone or all-day flag. Throws 400 where the end comes before the start (D2, D3). */
function datesChange(values: Values, before: Before | undefined, { settings, now }: RuleContext): Rows['metas'] {
  if (!['start_date', 'end_date', 'timezone', 'all_day'].some((name) => name in values)) return {};
  const stored = before && storedDates(before);
  const dates = eventDates(
    {
      start: values.start_date as string | undefined,
      end: values.end_date as string | undefined,
      timezone: values.timezone as string | null | undefined,
      allDay: 'all_day' in values ? values.all_day === true : undefined,
    },
    stored,
    { siteZone: settings.timezone, cutoff: settings.calendar.cutoff, now },
  );
  if ('problem' in dates) return failParam(dates.field, { stage: 'value', reason: dates.problem });
  return {
    [DATES.start]: [dates.start],
    [DATES.end]: [dates.end],
    [DATES.startUtc]: [dates.startUtc],
    [DATES.endUtc]: [dates.endUtc],
    [DATES.timezone]: [dates.timezone],
    [DATES.abbreviation]: [dates.abbreviation],
    ...(dates.duration === null ? {} : { [DATES.duration]: [String(dates.duration)] }),
    ...(dates.allDay ? { [DATES.allDay]: ['1'] } : stored ? { [DATES.allDay]: [''] } : {}),
  };
}

/** The dates of an event as its metas hold them; missing ones are empty texts. */
export function storedDates({ metas }: Pick<Before, 'metas'>): EventDates {
  const value = (key: string) => metaOf(metas, key) ?? '';
  const duration = value(DATES.duration);
  return {
    start: value(DATES.start),
    end: value(DATES.end),
    startUtc: value(DATES.startUtc),
    endUtc: value(DATES.endUtc),
    timezone: value(DATES.timezone),
    abbreviation: value(DATES.abbreviation),
    allDay: isAllDay(value(DATES.allDay)),
    duration: duration === '' ? null : Number(duration),
  };
}

const isAllDay = (stored: string) => /^(yes|1|true)$/i.test(stored);

/** A cost is kept as sent, a row for each amount, with the symbol and its place beside it (decisions D30, D37). */
function costChange(values: Values, before: Before | undefined): Rows['metas'] {
  if (!('cost' in values)) return {};
  const cleared = before ? [''] : [];
  if (values.cost === null) return { _EventCost: [], _EventCurrencySymbol: cleared, _EventCurrencyPosition: cleared };
  const read = costMeta(values.cost);
  if (read === null) return failParam('cost');
  return {
    _EventCost: read.costs,
    _EventCurrencySymbol: read.symbol === null ? cleared : [read.symbol],
    _EventCurrencyPosition: read.position === null ? cleared : [read.position],
  };
}

// ------------------------------------------------------------------------------------------------- record
function render(id: number, bundle: Bundle, context: RenderContext, single: boolean): Record<string, unknown> {
  const row = bundle.posts.get(id)!;
  const metas = bundle.metas.get(id);
  const value = (key: string) => metaOf(metas, key) ?? '';
  const locked = isLocked(row, context);
  const rendered = renderedTexts(row, bundle, context);
  const dates = storedDates({ metas: metas ?? new Map() });
  const cost = locked ? NO_COST : costRecord(id, bundle, context);
  const flag = (read: () => boolean) => (locked ? null : read());
  const shown = (key: string) => metaOf(metas, key) === undefined || !['', '0'].includes(value(key));
  const venues = locked ? [] : linked(id, VENUE_LINK, bundle, context);
  const organizers = locked ? [] : linked(id, ORGANIZER_LINK, bundle, context);
  const website = metaOf(metas, '_EventURL');
  const venueRecords = venues.map((venueId) => renderVenue(venueId, bundle, context, single));

  return {
    id,
    ...globalIds(id, bundle, context),
    ...postMembers(row, context),
    rest_url: restUrl(context, `${context.namespace}/events/${id}`),
    title: rendered.title(),
    description: locked ? '' : rendered.description(),
    excerpt: locked ? '' : rendered.excerpt(),
    slug: row.post_name,
    image: locked ? false : imageRecord(thumbnailOf(id, bundle), bundle, context),
    all_day: flag(() => dates.allDay),
    start_date: dates.start,
    start_date_details: dateParts(dates.start),
    end_date: dates.end,
    end_date_details: dateParts(dates.end),
    utc_start_date: dates.startUtc,
    utc_start_date_details: dateParts(dates.startUtc),
    utc_end_date: dates.endUtc,
    utc_end_date_details: dateParts(dates.endUtc),
    timezone: dates.timezone,
    timezone_abbr: dates.abbreviation,
    ...cost,
    website: locked ? '' : website === undefined ? permalink(row, context) : escHtml(website),
    show_map: flag(() => shown('_EventShowMap')),
    show_map_link: flag(() => shown('_EventShowMapLink')),
    hide_from_listings: flag(() => value('_EventHideFromUpcoming') === 'yes'),
    sticky: flag(() => row.menu_order === -1),
    featured: flag(() => isTruthy(value('_tribe_featured'))),
    categories: locked ? [] : termsOf(id, 'tribe_events_cat', bundle, context),
    tags: locked ? [] : termsOf(id, 'post_tag', bundle, context),
    venue: venueRecords.length === 1 ? venueRecords[0] : venueRecords,
    organizer: organizers.map((organizerId) => renderOrganizer(organizerId, bundle, context, single)),
    custom_fields: locked ? [] : customFields(id, bundle, context),
    ...(single && row.post_password === ''
      ? { json_ld: eventLd(row, bundle, context, { venues, organizers, dates, cost: cost.cost }) }
      : {}),
  };
}

const NO_COST = { cost: '', cost_details: { currency_symbol: '', currency_code: '', currency_position: '', values: [] as string[] } };

function costRecord(id: number, bundle: Bundle, context: RenderContext) {
  const metas = bundle.metas.get(id);
  return costOf(metas?.get('_EventCost') ?? [], currencyOf(metas), costOptions(context));
}

/** What an event says of its currency. */
export const currencyOf = (metas: Metas | undefined): CurrencyMetas => ({
  symbol: metaOf(metas, '_EventCurrencySymbol') ?? '',
  position: metaOf(metas, '_EventCurrencyPosition') ?? '',
  code: metaOf(metas, '_EventCurrencyCode') ?? '',
});

/** How the site shows costs. */
export const costOptions = ({ settings, free }: Pick<RenderContext, 'settings' | 'free'>): CostOptions => ({
  defaultCurrencySymbol: settings.calendar.currencySymbol,
  reverseCurrencyPosition: settings.calendar.currencyAfter,
  freeText: free,
});

/** Linked records that exist, are not in the trash and may be read by the caller (decision D15), in the order of their rows. */
function linked(id: number, key: string, bundle: Bundle, { mayRead }: RenderContext): number[] {
  const wanted = new Set((bundle.metas.get(id)?.get(key) ?? []).map(Number));
  return [...wanted].filter((linkedId) => {
    const row = bundle.posts.get(linkedId);
    return row !== undefined && row.post_status !== 'trash' && mayRead(row);
  });
}

function termsOf(id: number, taxonomy: string, bundle: Bundle, context: RenderContext) {
  return (bundle.terms.get(id) ?? []).filter((term) => term.taxonomy === taxonomy).map((term) => embeddedTermRecord(term, context));
}

function customFields(id: number, bundle: Bundle, { settings }: RenderContext): Record<string, { label: string; value: string }> | never[] {
  const metas = bundle.metas.get(id);
  const filled = settings.calendar.customFields.flatMap(({ name, label }) => {
    const value = metaOf(metas, name);
    return value ? [[name, { label, value }] as const] : [];
  });
  return filled.length > 0 ? Object.fromEntries(filled) : [];
}

interface LdParts {
  readonly venues: readonly number[];
  readonly organizers: readonly number[];
  readonly dates: EventDates;
  readonly cost: string;
}

function eventLd(row: Post, bundle: Bundle, context: RenderContext, { venues, organizers, dates, cost }: LdParts): Record<string, unknown> {
  const metas = bundle.metas.get(row.ID);
  const zone = parseZone(dates.timezone) ?? context.settings.zone;
  const { calendar } = context.settings;
  const open = (id: number | undefined) => id !== undefined && !isLocked(bundle.posts.get(id)!, context);
  return eventJsonLd({
    ...postLd(row.ID, bundle),
    image: imageAddress(row.ID, bundle, context),
    url: permalink(row, context),
    start: isoWithOffset(dates.start, zone),
    end: isoWithOffset(dates.end, zone),
    eventStatus: metaOf(metas, '_tribe_events_status') ?? '',
    location: open(venues[0]) ? venueLd(venues[0]!, bundle, context) : false,
    organizer: open(organizers[0]) ? organizerLd(organizers[0]!, bundle, context) : false,
    cost,
    costs: metas?.get('_EventCost') ?? [],
    currencyCode: metaOf(metas, '_EventCurrencyCode') || calendar.currencyCode || 'USD',
    published: row.post_date,
  });
}
