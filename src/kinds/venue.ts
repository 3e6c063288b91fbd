import { z } from 'zod';
import { venueJsonLd } from '../calendar/json-ld.ts';
import { isTruthy } from '../calendar/settings.ts';
import { type Fault, fail } from '../errors.ts';
import { type StoredValue, storedText } from '../wordpress/php/serialized.ts';
import { metaOf } from '../wordpress/rows.ts';
import { MAX_LATITUDE, MAX_LONGITUDE, storedPlace } from './coordinates.ts';
import { EVENT } from './events/fields.ts';
import { COORDINATES, ORIGIN, VENUE_LINK, VENUE_ORIGIN } from './events/metas.ts';
import { externalIdField } from './external-id.ts';
import { featuredImage, flagMeta, metaKeysOf, rule, searchedTexts, shownTexts, textMeta } from './fields.ts';
import { flagText } from './grammars/flags.ts';
import { MAX_BYTES } from './grammars/grammar.ts';
import { decimal, textOrNumber, url } from './grammars/grammars.ts';
import { featuredImageUrl } from './image-record.ts';
import type { LinkedFromEvents, PostKind, Rows, StoredPost } from './kind.ts';
import { linkedFilters, linkedOrders } from './linked-list.ts';
import type { ValuesOf } from './param.ts';
import { authorField, dateField, dateUtcField, statusField, textColumn, titleField } from './post-fields.ts';
import { isLocked, linkedRecord, postJsonLd } from './post-record.ts';
import type { Bundle, RenderContext } from './rendering.ts';
import { linkedShape, optionalTextShape } from './shapes.ts';

/** Texts of a venue, in the order in which its record shows them. */
const texts = {
  address: textMeta('_VenueAddress'),
  city: textMeta('_VenueCity'),
  country: textMeta('_VenueCountry', { searched: false }),
  province: textMeta('_VenueProvince', { names: { csv: false } }),
  state: textMeta('_VenueState'),
  zip: textMeta('_VenueZip', { grammar: textOrNumber(MAX_BYTES.text) }),
  phone: textMeta('_VenuePhone'),
  website: textMeta('_VenueURL', { grammar: url, searched: false, store: (value) => [value] }),
  stateprovince: textMeta('_VenueStateProvince', { names: { tec: 'state_province', csv: false } }),
  external_id: externalIdField,
};
const { website, stateprovince, ...otherTexts } = texts;

const fields = {
  author: authorField,
  date: dateField,
  date_utc: dateUtcField,
  venue: titleField(),
  description: textColumn('post_content'),
  status: statusField,
  show_map: flagMeta('_VenueShowMap', { on: '1', off: '' }, { grammar: flagText, names: { tec: false } }),
  show_map_link: flagMeta('_VenueShowMapLink', { on: '1', off: '' }, { grammar: flagText, names: { tec: false } }),
  ...otherTexts,
  stateprovince,
  website,
  image: featuredImage(),
  geo_lat: rule(decimal, { names: { core: COORDINATES.lat, tec: false } }),
  geo_lng: rule(decimal, { names: { core: COORDINATES.lng, tec: false } }),
};

/** The coordinates, with the limit of their degrees. */
const DEGREES = [
  { field: 'geo_lat', key: COORDINATES.lat, max: MAX_LATITUDE, reason: 'latitude-invalid' },
  { field: 'geo_lng', key: COORDINATES.lng, max: MAX_LONGITUDE, reason: 'longitude-invalid' },
] as const;

/** Metas of a venue that store a single field, by field name. */
export const VENUE = metaKeysOf(fields);

/** Texts shown in the record: name -> meta. */
export const venueTexts = shownTexts(texts);

const linkedFromEvents: LinkedFromEvents = { link: VENUE_LINK, searchedMetas: searchedTexts(texts) };

/** The published venue. */
export const venueRecord = z
  .object({
    ...linkedShape,
    venue: z.string(),
    ...optionalTextShape(venueTexts),
    geo_lat: z.number().optional(),
    geo_lng: z.number().optional(),
    show_map: z.boolean().nullable(),
    show_map_link: z.boolean().nullable(),
  })
  .meta({ id: 'Venue' });
export type VenueRecord = z.output<typeof venueRecord>;

export const venue: PostKind<typeof fields, VenueRecord> = {
  is: 'post',
  name: 'venue',
  path: 'venues',
  postType: 'tribe_venue',
  capabilities: 'tribe_venues',
  titleField: 'venue',
  fields,
  filters: linkedFilters('tribe_venues', linkedFromEvents),
  orders: linkedOrders,
  // As with organizers, the plugin stores the id sent for a new venue as one more text.
  extraMetas: { id: '_VenueVenueID' },
  links: {},
  linkedFromEvents,
  terms: [],
  hasDates: false,
  problems: {
    notAccessible: 'venue-not-accessible',
    isInTrash: 'venue-is-in-trash',
    noSuchPage: 'venue-archive-page-not-found',
    noTitle: 'could-not-create-venue',
  },
  reusesTitles: true,
  draftsGetSlugs: true,
  showsProtectedAfterWrite: false,
  describesWritePassword: false,

  derivedRows: (values, before) => {
    const metas: Record<string, readonly StoredValue[]> = {
      ...(before ? {} : { [VENUE_ORIGIN]: [storedText(ORIGIN)] }),
      ...stateProvince(values, before),
      ...mapFlags(values, before),
      ...coordinates(values),
    };
    return { columns: {}, metas };
  },

  record: venueRecord,
  render: renderVenue,
};

/** Returns the published venue. */
export function renderVenue(id: number, bundle: Bundle, context: RenderContext): VenueRecord {
  const metas = bundle.metas.get(id);
  const row = bundle.posts.get(id)!;
  const locked = isLocked(row, context);
  const mapFlag = (key: string) => (locked ? null : metaOf(metas, key) === undefined ? true : isTruthy(metaOf(metas, key)));
  const place = locked ? undefined : storedPlace(metas);
  return linkedRecord(id, bundle, context, {
    name: 'venue',
    texts: venueTexts,
    between: {
      ...(place ? { geo_lat: place.lat, geo_lng: place.lng } : {}),
      ...(context.withJsonLd && !locked ? { json_ld: venueLd(id, bundle, context) } : {}),
    },
    after: { show_map: mapFlag(VENUE.show_map), show_map_link: mapFlag(VENUE.show_map_link) },
  });
}

/** Returns the structured data of a venue. */
function venueLd(id: number, bundle: Bundle, context: RenderContext): Record<string, unknown> {
  const metas = bundle.metas.get(id);
  const value = (key: string) => metaOf(metas, key) ?? '';
  return venueJsonLd({
    ...postJsonLd(id, bundle),
    image: featuredImageUrl(id, bundle, context),
    street: value(VENUE.address),
    city: value(VENUE.city),
    region: value(VENUE.stateprovince),
    zip: value(VENUE.zip),
    country: value(VENUE.country),
    phone: value(VENUE.phone),
    website: value(VENUE.website),
  });
}

type Change = ValuesOf<typeof fields>;

/**
 * Returns the meta in which the calendar stores the displayed state or province. It follows the fields `state` and
 * `province` unless it was set explicitly.
 */
function stateProvince(values: Change, before: StoredPost | undefined): Rows['metas'] {
  const valueAfter = (field: 'country' | 'state' | 'province', change: Change) =>
    (field in change ? change[field] : metaOf(before?.metas, VENUE[field])) ?? '';
  const deriveFrom = (change: Change) =>
    ['', 'US', 'United States'].includes(valueAfter('country', change)) && valueAfter('state', change)
      ? valueAfter('state', change)
      : valueAfter('province', change);
  if ('stateprovince' in values) return values.stateprovince === null ? { [VENUE.stateprovince]: [storedText('')] } : {};
  if (!before) return { [VENUE.stateprovince]: [storedText(deriveFrom(values))] };
  const storedState = metaOf(before.metas, VENUE.stateprovince) ?? '';
  const follows = storedState === deriveFrom({}) && ['country', 'state', 'province'].some((field) => field in values);
  return follows ? { [VENUE.stateprovince]: [storedText(deriveFrom(values))] } : {};
}

/**
 * Returns the metas of the map flags. On create both default to true. They are stored a second time under the names
 * that events use.
 */
function mapFlags(values: Change, before: StoredPost | undefined): Rows['metas'] {
  const metas: Record<string, readonly StoredValue[]> = {};
  for (const field of ['show_map', 'show_map_link'] as const) {
    if (!(field in values) && before) continue;
    const isShown = !(field in values) || values[field] === true;
    for (const key of [VENUE[field], EVENT[field]]) metas[key] = [storedText(isShown ? '1' : '')];
  }
  return metas;
}

/**
 * Returns the coordinates in the metas of The Events Calendar's paid extension (decision D27).
 *
 * @throws rest_invalid_param for degrees that do not exist
 */
function coordinates(values: Change): Rows['metas'] {
  const metas: Record<string, readonly StoredValue[]> = {};
  const faults = new Map<string, Fault>();
  for (const { field, key, max, reason } of DEGREES) {
    if (!(field in values)) continue;
    if (Math.abs(Number(values[field])) > max) faults.set(field, { stage: 'value', reason });
    metas[key] = values[field] === null ? [] : [storedText(String(values[field]))];
  }
  if (faults.size > 0) fail('rest_invalid_param', { faults });
  return metas;
}
