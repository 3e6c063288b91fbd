import { listWindow } from '../calendar/window.ts';
import { failParam } from '../errors.ts';
import { parseSearch } from '../wordpress/search.ts';
import { tableOf } from '../wordpress/table.ts';
import { FEATURED_META, HIDDEN_META, ORGANIZER_LINK, VENUE_LINK } from './event-metas.ts';
import type { Condition, Narrowed, RuleContext, Values } from './kind.ts';
import { additionsEcho, MODIFIED, modifiedConditions } from './linked-list.ts';
import { orderOf } from './post-fields.ts';
import { areAbsolute, type Timeliness } from './timeliness.ts';

/** Orders that a list of events can be asked for. */
const ORDERS = tableOf({
  event_date: 'start', start_date: 'start', end_date: 'end', date: 'date', title: 'title', modified: 'modified', id: 'id', slug: 'slug', include: 'include', post__in: 'include',
} as const); // biome-ignore format: pairs

/** Conditions, order and URL parameters of a list of events. */
export function eventConditions(values: Values, context: RuleContext): Narrowed {
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

  if (typeof values.search === 'string') add(wordsCondition(values.search), 'search');
  for (const [name, kind] of [
    ['categories', 'category'],
    ['tags', 'tag'],
  ] as const) {
    if (values[name]) add({ by: 'terms', kind, ids: values[name] as number[], guarded: true }, name, list(name));
  }
  for (const [name, key] of [
    ['venue', VENUE_LINK],
    ['organizer', ORGANIZER_LINK],
  ] as const) {
    if (values[name]) add({ by: 'links', key, ids: values[name] as number[], guarded: true }, name, list(name));
  }
  if (typeof values.featured === 'boolean')
    add({ by: 'meta', key: FEATURED_META, present: values.featured, guarded: true }, 'featured', values.featured ? '1' : '0');
  if (values.include) add({ by: 'id', ids: values.include as number[] }, 'include', list('include'));
  // Whether an event is hidden from lists is told by the lists themselves.
  else add({ by: 'meta', key: HIDDEN_META, present: false, guarded: false });
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

/** A search of WordPress's (`WP_Query::parse_search`): each term in the title, the excerpt or the content. */
export const wordsCondition = (search: string): Extract<Condition, { by: 'words' }> => ({
  by: 'words',
  terms: parseSearch(search),
  columns: ['post_title', 'post_excerpt', 'post_content'],
  metas: [],
  together: false,
});
