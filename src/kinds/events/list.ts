import { LOCAL_DATES, listWindow } from '../../calendar/window.ts';
import { failParam } from '../../errors.ts';
import { tableOf } from '../../wordpress/table.ts';
import { category } from '../category.ts';
import type { Condition } from '../condition.ts';
import { MAX_LATITUDE, MAX_LONGITUDE } from '../coordinates.ts';
import { byExternalId, EXTERNAL_ID_PARAM } from '../external-id.ts';
import { control, filter, group } from '../filter.ts';
import { flag, strictness } from '../grammars/flags.ts';
import { MAX_BYTES } from '../grammars/grammar.ts';
import { anyText, decimal, droppedSearch, idOf } from '../grammars/grammars.ts';
import { existingTerms, ids, listStatus } from '../grammars/lists.ts';
import { time } from '../grammars/times.ts';
import type { Filter, Orders } from '../list-param.ts';
import { byLinks, byMeta, byParent, bySearch, byTerms, byTickets } from '../narrowing.ts';
import type { ValuesOf } from '../param.ts';
import { additions, paging } from '../post-fields.ts';
import type { RuleContext } from '../rendering.ts';
import { tag } from '../tag.ts';
import { type Timeliness, timelinessOfBounds } from '../timeliness.ts';
import { VENUE } from '../venue.ts';
import { FEATURED_META, HIDDEN_META, ORGANIZER_LINK, VENUE_LINK } from './metas.ts';

const GUARDED = { guarded: true } as const;

/**
 * Events that the request names are listed whatever their dates are, and even if they are hidden from lists; their
 * records say so (`hide_from_listings`).
 */
const idFilters = group({
  params: { include: { grammar: ids() }, external_id: EXTERNAL_ID_PARAM },
  narrows: ({ include: ids, external_id: external }): Condition[] => [
    ...(ids ? [{ by: 'id', ids } as const] : []),
    ...(external === undefined ? [] : byExternalId(external)),
    ...(ids || external !== undefined ? [] : [{ by: 'meta', key: HIDDEN_META, isPresent: false, guarded: false } as const]),
  ],
});

// ------------------------------------------------------------------------------------------------- the window of dates
const DATES = {
  start_date: { grammar: time },
  end_date: { grammar: time },
  starts_before: { grammar: time },
  starts_after: { grammar: time },
  ends_before: { grammar: time },
  ends_after: { grammar: time },
  strict_dates: { grammar: strictness, fallback: false },
};
type Dates = ValuesOf<typeof DATES & typeof idFilters>;

const dates = group({
  params: DATES,
  alsoReads: idFilters,
  narrows: (values, context) => momentConditions(windowOf(values, context), context),
  echo: (values, context) => {
    const echo = Object.entries(windowOf(values, context).echo);
    // The values are in the site's local time. If the next page read them as UTC, it would begin elsewhere.
    return values.strict_dates && echo.length > 0 ? [...echo, ['strict_dates', LOCAL_DATES]] : echo;
  },
  ages: datesAge,
});

type Window = ReturnType<typeof listWindow>;

/** Returns the window of a list according to the site's settings. */
const windowOf = (values: Dates, { settings, now }: RuleContext): Window =>
  listWindow(values.external_id === undefined ? values : { ...values, include: [] }, {
    siteZone: settings.zone,
    cutoff: settings.calendar.cutoff,
    now,
    mode: settings.calendar.timezoneMode,
  });

/** Returns the bounds of a window as conditions. */
const momentConditions = ({ filters }: Window, { settings }: RuleContext): Condition[] =>
  filters.map((bound) => ({ by: 'moment', utc: settings.calendar.timezoneMode === 'site', ...bound }));

/**
 * Returns when a list changes by itself: every day if it begins today, every second if a bound is relative (such as
 * `now`) or the default window is strict.
 */
function datesAge({
  include,
  external_id: external,
  strict_dates: strict,
  start_date: start,
  end_date: end,
  ...relative
}: Dates): Timeliness {
  if (include || external !== undefined) return 'never';
  const bounds = [relative.starts_before, relative.starts_after, relative.ends_before, relative.ends_after];
  if (timelinessOfBounds(start, end, ...bounds) === 'always') return 'always';
  const hasDefaultBounds = (start === undefined || end === undefined) && bounds.every((value) => value === undefined);
  return hasDefaultBounds ? (strict ? 'always' : 'daily') : 'never';
}

// ------------------------------------------------------------------------------------------------- places
const PLACE = {
  geoloc: { grammar: flag, ignoresEmpty: true },
  geoloc_lat: { grammar: decimal, ignoresEmpty: true },
  geoloc_lng: { grammar: decimal, ignoresEmpty: true },
  geoloc_radius: { grammar: decimal, ignoresEmpty: true },
} as const;
type Coordinates = ValuesOf<typeof PLACE>;

const placeFilters = group({
  params: PLACE,
  isLast: true,
  narrows: (values): Condition[] => {
    const area = nearOf(values);
    if (area) return [{ by: 'near', link: VENUE_LINK, ...area }];
    return values.geoloc === undefined ? [] : [{ by: 'placed', link: VENUE_LINK, isPlaced: values.geoloc }];
  },
  echo: (values) => {
    const near = nearOf(values);
    if (!near) return values.geoloc === undefined ? [] : [['geoloc', String(values.geoloc)]];
    return [
      ['geoloc_lat', String(near.lat)],
      ['geoloc_lng', String(near.lng)],
      ...(values.geoloc_radius === undefined ? [] : ([['geoloc_radius', String(near.km)]] as const)),
      ...(values.geoloc ? ([['geoloc', 'true']] as const) : []),
    ];
  },
});

const DEFAULT_RADIUS_KM = 25;

/** Reads the coordinates; latitude and longitude must be sent together (decision D27). */
function nearOf({ geoloc_lat: lat, geoloc_lng: lng, geoloc_radius: km = DEFAULT_RADIUS_KM }: Coordinates) {
  if (lat === undefined && lng === undefined) return undefined;
  if (lat === undefined) return failParam('geoloc_lat', 'pair-missing');
  if (lng === undefined) return failParam('geoloc_lng', 'pair-missing');
  if (Math.abs(lat) > MAX_LATITUDE) failParam('geoloc_lat', 'latitude-invalid');
  if (Math.abs(lng) > MAX_LONGITUDE) failParam('geoloc_lng', 'longitude-invalid');
  if (km <= 0) failParam('geoloc_radius', 'radius-invalid');
  return { lat, lng, km };
}

/** Events at a venue whose meta `key` has this value. */
const byVenue = (key: string): Filter<string> =>
  filter({
    grammar: anyText(MAX_BYTES.word),
    narrows: (value) => [{ by: 'linkedMeta', link: VENUE_LINK, key, value }],
    ignoresEmpty: true,
    isAdditional: true,
  });

// ------------------------------------------------------------------------------------------------- the list
/**
 * Orders of a list of events. The default order is by start; with `include` by date of publication, and near a place by
 * distance.
 */
export const eventOrders: Orders = {
  names: tableOf({
    event_date: 'start', start_date: 'start', end_date: 'end', date: 'date', title: 'title', modified: 'modified', id: 'id', slug: 'slug', include: 'include', post__in: 'include',
  } as const), // biome-ignore format: pairs
  defaultOrder: ({ include, geoloc_lat: lat }) => ({ by: include ? 'date' : lat === undefined ? 'start' : 'distance', descending: false }),
};

/** Parameters of a list of events. */
export const eventFilters = {
  ...paging,
  ...dates,
  search: filter({ grammar: droppedSearch, narrows: bySearch() }),
  categories: filter({ grammar: existingTerms('category'), narrows: byTerms(category.taxonomy, GUARDED) }),
  tags: filter({ grammar: existingTerms('tag'), narrows: byTerms(tag.taxonomy, GUARDED) }),
  venue: filter({ grammar: ids('venue'), narrows: byLinks(VENUE_LINK, GUARDED) }),
  organizer: filter({ grammar: ids('organizer'), narrows: byLinks(ORGANIZER_LINK, GUARDED) }),
  featured: filter({ grammar: flag, narrows: byMeta(FEATURED_META, GUARDED), echo: (isFeatured) => (isFeatured ? '1' : '0') }),
  status: control(listStatus('tribe_events')),
  ...placeFilters,
  ...idFilters,
  post_parent: filter({ grammar: idOf('event'), narrows: byParent }),
  ticketed: filter({ grammar: flag, ...byTickets }),
  city: byVenue(VENUE.city),
  country: byVenue(VENUE.country),
  state: byVenue(VENUE.stateprovince),
  ...additions(eventOrders),
};
