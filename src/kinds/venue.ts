import { z } from 'zod';
import { venueJsonLd } from '../calendar/json-ld.ts';
import { isTruthy } from '../calendar/settings.ts';
import { metaOf } from '../wordpress/rows.ts';
import { VENUE_LINK } from './event-metas.ts';
import { featuredImage, flagMeta, meta, rule } from './fields.ts';
import { decimal, flagText, LENGTHS, textOrNumber, url } from './grammar.ts';
import { imageAddress } from './image-record.ts';
import type { Before, Bundle, Linked, PostKind, RenderContext, Rows, ValuesOf } from './kind.ts';
import { linkedFilters, linkedOrders } from './linked-list.ts';
import { authorField, dateField, statusField, textColumn, titleField } from './post-fields.ts';
import { isLocked, linkedRecord, postLd } from './post-record.ts';
import { linkedShape } from './shapes.ts';

/** Metas that hold text about a venue, in the order in which the record shows them. */
const TEXTS = {
  address: '_VenueAddress',
  city: '_VenueCity',
  country: '_VenueCountry',
  province: '_VenueProvince',
  state: '_VenueState',
  zip: '_VenueZip',
  phone: '_VenuePhone',
  website: '_VenueURL',
  stateprovince: '_VenueStateProvince',
} as const;

const fields = {
  author: authorField,
  date: dateField,
  date_utc: dateField,
  venue: titleField(),
  description: textColumn('post_content'),
  status: statusField,
  show_map: flagMeta('_VenueShowMap', { on: '1', off: '' }, { grammar: flagText }),
  show_map_link: flagMeta('_VenueShowMapLink', { on: '1', off: '' }, { grammar: flagText }),
  address: meta(TEXTS.address),
  city: meta(TEXTS.city),
  country: meta(TEXTS.country),
  province: meta(TEXTS.province),
  state: meta(TEXTS.state),
  zip: meta(TEXTS.zip, textOrNumber(LENGTHS.text)),
  phone: meta(TEXTS.phone),
  stateprovince: meta(TEXTS.stateprovince),
  website: meta(TEXTS.website, url, { store: (value) => [value] }),
  image: featuredImage(),
  geo_lat: rule(decimal),
  geo_lng: rule(decimal),
};

const linked: Linked = { link: VENUE_LINK, searched: Object.values(TEXTS).filter((key) => key !== TEXTS.country && key !== TEXTS.website) };

export const venue: PostKind<typeof fields> = {
  is: 'post',
  name: 'venue',
  path: 'venues',
  postType: 'tribe_venue',
  capabilities: 'tribe_venues',
  titleField: 'venue',
  fields,
  filters: linkedFilters('tribe_venues', linked),
  orders: linkedOrders,
  // As of organizers: the plugin takes the id of a venue that is only to be made for one more text about it.
  strays: { id: '_VenueVenueID' },
  links: {},
  linked,
  terms: [],
  dated: false,
  problems: {
    notAccessible: 'venue-not-accessible',
    isInTrash: 'venue-is-in-trash',
    noSuchPage: 'venue-archive-page-not-found',
    noTitle: 'could-not-create-venue',
  },
  reusesTitles: true,
  draftsGetSlugs: true,
  shownWholeAfterWrite: false,
  writesNamePassword: false,

  follows: (values, before) => {
    const metas: Record<string, readonly string[]> = {
      ...(before ? {} : { _VenueOrigin: ['events-calendar'] }),
      ...stateProvince(values, before),
      ...mapFlags(values, before),
      ...coordinates(values),
    };
    return { columns: {}, metas };
  },

  record: z
    .object({
      ...linkedShape,
      venue: z.string(),
      address: z.string().optional(),
      city: z.string().optional(),
      country: z.string().optional(),
      province: z.string().optional(),
      state: z.string().optional(),
      zip: z.string().optional(),
      stateprovince: z.string().optional(),
      geo_lat: z.number().optional(),
      geo_lng: z.number().optional(),
      show_map: z.boolean().nullable(),
      show_map_link: z.boolean().nullable(),
    })
    .meta({ id: 'Venue' }),

  render: renderVenue,
};

/** The published venue; `withLd`: with its JSON-LD, as single GETs carry it. */
export function renderVenue(id: number, bundle: Bundle, context: RenderContext, withLd: boolean): Record<string, unknown> {
  const metas = bundle.metas.get(id);
  const row = bundle.posts.get(id)!;
  const locked = isLocked(row, context);
  const shown = (key: string) => (locked ? null : metaOf(metas, key) === undefined ? true : isTruthy(metaOf(metas, key)));
  const [lat, lng] = [Number(metaOf(metas, '_VenueLat')), Number(metaOf(metas, '_VenueLng'))];
  const placed =
    !locked && Boolean(metaOf(metas, '_VenueLat')) && Boolean(metaOf(metas, '_VenueLng')) && Number.isFinite(lat) && Number.isFinite(lng);
  return linkedRecord(id, bundle, context, {
    name: 'venue',
    texts: TEXTS,
    between: { ...(placed ? { geo_lat: lat, geo_lng: lng } : {}), ...(withLd && !locked ? { json_ld: venueLd(id, bundle, context) } : {}) },
    after: { show_map: shown('_VenueShowMap'), show_map_link: shown('_VenueShowMapLink') },
  });
}

/** Structured data of a venue. */
function venueLd(id: number, bundle: Bundle, context: RenderContext): Record<string, unknown> {
  const metas = bundle.metas.get(id);
  const value = (key: string) => metaOf(metas, key) ?? '';
  return venueJsonLd({
    ...postLd(id, bundle),
    image: imageAddress(id, bundle, context),
    street: value(TEXTS.address),
    city: value(TEXTS.city),
    region: value(TEXTS.stateprovince),
    zip: value(TEXTS.zip),
    country: value(TEXTS.country),
    phone: value(TEXTS.phone),
    website: value(TEXTS.website),
  });
}

type Change = ValuesOf<typeof fields>;

/** The calendar keeps what is shown of state and province in a meta of its own, and follows either as long as nobody set it by hand. */
function stateProvince(values: Change, before: Before | undefined): Rows['metas'] {
  const merged = (field: 'country' | 'state' | 'province', change: Change) =>
    (field in change ? change[field] : metaOf(before?.metas, TEXTS[field])) ?? '';
  const derived = (change: Change) =>
    ['', 'US', 'United States'].includes(merged('country', change)) && merged('state', change)
      ? merged('state', change)
      : merged('province', change);
  if ('stateprovince' in values) return values.stateprovince === null ? { [TEXTS.stateprovince]: [''] } : {};
  if (!before) return { [TEXTS.stateprovince]: [derived(values)] };
  const stored = metaOf(before.metas, TEXTS.stateprovince) ?? '';
  const follows = stored === derived({}) && ['country', 'state', 'province'].some((field) => field in values);
  return follows ? { [TEXTS.stateprovince]: [derived(values)] } : {};
}

/** Both flags default to yes on create, and stand a second time under the names that events use. */
function mapFlags(values: Change, before: Before | undefined): Rows['metas'] {
  const metas: Record<string, readonly string[]> = {};
  for (const [field, key] of [
    ['show_map', 'ShowMap'],
    ['show_map_link', 'ShowMapLink'],
  ] as const) {
    if (!(field in values) && before) continue;
    const stored = !(field in values) || values[field] === true ? '1' : '';
    metas[`_Venue${key}`] = [stored];
    metas[`_Event${key}`] = [stored];
  }
  return metas;
}

/** Coordinates rest as the calendar's premium extension keeps them (decision D27). */
function coordinates(values: Change): Rows['metas'] {
  const metas: Record<string, readonly string[]> = {};
  for (const [field, key] of [
    ['geo_lat', '_VenueLat'],
    ['geo_lng', '_VenueLng'],
  ] as const) {
    if (field in values) metas[key] = values[field] === null ? [] : [String(values[field])];
  }
  return metas;
}
