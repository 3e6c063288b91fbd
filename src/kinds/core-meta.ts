import { isTruthy } from '../calendar/settings.ts';
import { sanitizeTextField } from '../wordpress/plain-text.ts';
import { type Metas, metaOf } from '../wordpress/rows.ts';
import { normalizeWebUrl } from '../wordpress/web-url.ts';
import type { Rows } from './kind.ts';
import { parseList, truth, wholeNumber } from './schema-grammar.ts';

/** How a registered meta is shown and stored (`register_post_meta`); `ids`: one row for each. */
type MetaType = 'boolean' | 'string' | 'ids';

/** A registered meta: its type, and for each post type the calendar's field that it is another name of. */
interface CoreMeta {
  readonly type: MetaType;
  readonly fields?: Readonly<Record<string, string>>;
}

const event = (type: MetaType, field?: string): CoreMeta => ({ type, ...(field === undefined ? {} : { fields: { tribe_events: field } }) });
const venue = (field: string, type: MetaType = 'string'): CoreMeta => ({ type, fields: { tribe_venue: field } });
const organizer = (field: string): CoreMeta => ({ type: 'string', fields: { tribe_organizer: field } });

/** The metas that the calendar registers for posts of every type, in its order. */
const EVERYWHERE: Readonly<Record<string, CoreMeta>> = {
  _EventAllDay: event('boolean', 'all_day'),
  _EventTimezone: event('string', 'timezone'),
  _EventStartDate: event('string', 'start_date'),
  _EventEndDate: event('string', 'end_date'),
  _EventStartDateUTC: event('string'),
  _EventEndDateUTC: event('string'),
  _EventShowMap: event('boolean', 'show_map'),
  _EventShowMapLink: event('boolean', 'show_map_link'),
  _EventURL: event('string', 'website'),
  _EventCost: event('string', 'cost'),
  _EventCostDescription: event('string'),
  _EventCurrencySymbol: event('string'),
  _EventCurrencyCode: event('string'),
  _EventCurrencyPosition: event('string'),
  _EventDateTimeSeparator: event('string'),
  _EventTimeRangeSeparator: event('string'),
  _EventOrganizerID: event('ids', 'organizer'),
  _EventVenueID: event('ids', 'venue'),
  _OrganizerEmail: organizer('email'),
  _OrganizerPhone: organizer('phone'),
  _OrganizerWebsite: organizer('website'),
  _VenueAddress: venue('address'),
  _VenueCity: venue('city'),
  _VenueCountry: venue('country'),
  _VenueProvince: venue('province'),
  _VenueState: venue('state'),
  _VenueZip: venue('zip'),
  _VenuePhone: venue('phone'),
  _VenueURL: venue('website'),
  _VenueStateProvince: venue('stateprovince'),
  _VenueLat: venue('geo_lat'),
  _VenueLng: venue('geo_lng'),
  _VenueShowMap: venue('show_map', 'boolean'),
  _VenueShowMapLink: venue('show_map_link', 'boolean'),
};
const ON_EVENTS: Readonly<Record<string, CoreMeta>> = {
  _tribe_events_status: { type: 'string' },
  _tribe_events_status_reason: { type: 'string' },
};
/** WordPress's own, of posts that are edited as blocks. */
const ON_BLOCKS: Readonly<Record<string, CoreMeta>> = { footnotes: { type: 'string' } };

function registered(postType: string): Readonly<Record<string, CoreMeta>> {
  return { ...EVERYWHERE, ...(postType === 'tribe_events' ? ON_EVENTS : {}), ...(postType === 'attachment' ? {} : ON_BLOCKS) };
}

/** The registered metas of a post as WordPress's own routes show them (`WP_REST_Meta_Fields::get_value`): all of them, typed. */
export function coreMeta(postType: string, metas: Metas | undefined): Record<string, unknown> {
  return Object.fromEntries(Object.entries(registered(postType)).map(([key, { type }]) => [key, shown(type, metas?.get(key) ?? [])]));
}

function shown(type: MetaType, stored: readonly string[]): unknown {
  if (type === 'boolean') return isTruthy(stored[0]);
  return type === 'ids' ? stored.map((value) => Number.parseInt(value, 10) || 0) : (stored[0] ?? '');
}

/** What writing metas comes to: the calendar's fields as they may be sent there, and rows of what is no field. */
export interface MetaChange {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly metas: Rows['metas'];
}

/**
 * Reads metas that are written (`WP_REST_Meta_Fields::update_value`). Those that the calendar knows by a field are changed as that field, so that what depends
 * on it follows; those that are as they were change nothing, since clients send back all they were shown; null removes. Unknown ones are passed over.
 *
 * @returns the change, or what is wrong with the type of a meta, or with one that must be an address and is none
 */
export function metaChange(
  postType: string,
  sent: Readonly<Record<string, unknown>>,
  stored: Metas | undefined,
): MetaChange | { wrong: WrongMeta } {
  const changed: Record<string, unknown> = {};
  const metas: Record<string, readonly string[]> = {};
  for (const [key, { type, fields }] of Object.entries(registered(postType))) {
    if (!Object.hasOwn(sent, key)) continue;
    const value = sent[key] === null ? null : typed(type, sent[key]);
    if (value === undefined || isFaulty(value)) return { wrong: wrongMeta(key, type, value) };
    if (value !== null && JSON.stringify(value) === JSON.stringify(shown(type, stored?.get(key) ?? []))) continue;
    const field = fields?.[postType];
    if (field !== undefined) {
      changed[field] = fieldValue(field, value);
      if (value === null && !KEPT_FIELDS.has(field)) metas[key] = [];
      continue;
    }
    const rows = value === null ? [] : isAddress(key) && value !== '' ? addressRows(String(value)) : rowsOf(value);
    if (!rows) return { wrong: { name: key, type: 'uri' } };
    metas[key] = rows;
  }
  if (postType === 'tribe_events') dropDerived(changed, metas, stored);
  return { fields: changed, metas };
}

/** Fields that no event is without: null changes them, and their rows stay. */
const KEPT_FIELDS = new Set(['all_day', 'start_date', 'end_date', 'timezone']);

/** A meta whose type is wrong, with the number of the member where it is a list. */
export interface WrongMeta {
  readonly name: string;
  readonly type: string;
}

/** The member of a list that is wrong. */
interface FaultyItem {
  readonly item: number;
}

const isFaulty = (value: boolean | string | number[] | FaultyItem | null): value is FaultyItem =>
  value !== null && typeof value === 'object' && 'item' in value;

function wrongMeta(key: string, type: MetaType, fault: FaultyItem | undefined): WrongMeta {
  if (fault) return { name: `${key}[${fault.item}]`, type: 'integer' };
  return { name: key, type: type === 'ids' ? 'array' : type };
}

function typed(type: MetaType, value: unknown): boolean | string | number[] | FaultyItem | undefined {
  if (type === 'boolean') return truth.read(value === '' ? false : value, () => false).value;
  if (type === 'string') return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
  const list = parseList(value);
  if (list === undefined) return undefined;
  const ids = list.map((item) => wholeNumber(item) ?? -1);
  const wrong = ids.findIndex((id) => id < 0);
  return wrong < 0 ? ids : { item: wrong };
}

/** Also with records that have no field for it an address stays one. */
const isAddress = (key: string): boolean => ADDRESSES.has(key);
const ADDRESSES = new Set(
  Object.entries(EVERYWHERE).flatMap(([key, { fields }]) => (Object.values(fields ?? {}).includes('website') ? [key] : [])),
);

function addressRows(text: string): string[] | undefined {
  const address = normalizeWebUrl(text);
  return address === null ? undefined : [address];
}

const rowsOf = (value: boolean | string | readonly number[]): string[] =>
  typeof value === 'boolean' ? [value ? '1' : ''] : typeof value === 'string' ? [sanitizeTextField(value)] : value.map(String);

/** The value as the calendar's own routes take it for this field; an empty one clears. */
function fieldValue(field: string, value: boolean | string | readonly number[] | null): unknown {
  if (value === null || value === '') return ['all_day', 'show_map', 'show_map_link'].includes(field) ? false : null;
  return typeof value === 'object' ? value.filter((id) => id > 0) : value;
}

/** The UTC times follow from the local ones and the zone, and are never taken over by themselves. */
function dropDerived(changed: Record<string, unknown>, metas: Record<string, readonly string[]>, stored: Metas | undefined): void {
  delete metas._EventStartDateUTC;
  delete metas._EventEndDateUTC;
  for (const [field, key] of [
    ['start_date', '_EventStartDate'],
    ['end_date', '_EventEndDate'],
    ['timezone', '_EventTimezone'],
  ] as const) {
    if (changed[field] === null || metaOf(stored, key) === changed[field]) delete changed[field];
  }
}
