import { costMeta } from '../../calendar/cost.ts';
import { isTruthy } from '../../calendar/settings.ts';
import type { Fault } from '../../errors.ts';
import { memoizeByObject } from '../../memo.ts';
import { isObject, objectOf } from '../../objects.ts';
import { storedTextField } from '../../wordpress/content/plain-text.ts';
import { numberText } from '../../wordpress/php/number.ts';
import { type StoredValue, storedTexts } from '../../wordpress/php/serialized.ts';
import { type Metas, metaOf, textsOf } from '../../wordpress/rows.ts';
import { normalizeWebUrl } from '../../wordpress/web-url.ts';
import { EVENT } from '../events/fields.ts';
import { COORDINATES, COST, DATES } from '../events/metas.ts';
import { metaBoolean, object, parseList, wholeNumber } from '../grammars/schema.ts';
import { addressMetas, postKinds } from '../index.ts';
import type { PostKind, Rows } from '../kind.ts';
import { ORGANIZER } from '../organizer.ts';
import type { Field, Param } from '../param.ts';
import { VENUE } from '../venue.ts';
import { FOOTNOTES, storedFootnotes } from './footnotes.ts';

/**
 * The type of a registered meta (`register_post_meta`), which determines how it is shown and stored; `ids`: one row for
 * each id.
 */
type MetaType = 'boolean' | 'string' | 'ids';

/** A registered meta: its type, and for each post type the calendar's field that it stands for. */
interface CoreMeta {
  readonly type: MetaType;
  readonly fields: ReadonlyMap<string, string>;
  /**
   * Whether WordPress does not have it. It is shown only if it has a value, so that clients get what they expect
   * otherwise.
   */
  readonly isAdditional?: boolean;
}

/**
 * The metas that The Events Calendar registers for posts of every type, in its order. Those that the kinds declare in
 * addition follow.
 */
const ORDER: readonly string[] = [
  DATES.allDay, DATES.timezone, DATES.start, DATES.end, DATES.startUtc, DATES.endUtc, EVENT.show_map, EVENT.show_map_link, EVENT.website,
  COST.amounts, '_EventCostDescription', COST.symbol, COST.code, COST.position, '_EventDateTimeSeparator', '_EventTimeRangeSeparator',
  EVENT.organizer, EVENT.venue, ORGANIZER.email, ORGANIZER.phone, ORGANIZER.website, VENUE.address, VENUE.city, VENUE.country, VENUE.province,
  VENUE.state, VENUE.zip, VENUE.phone, VENUE.website, VENUE.stateprovince, COORDINATES.lat, COORDINATES.lng, VENUE.show_map, VENUE.show_map_link,
]; // biome-ignore format: a list of names

/** The fields of all kinds that `wp/v2` shows as a meta. */
const DECLARED_METAS = postKinds.flatMap(({ postType, fields }) =>
  Object.entries<Field>(fields).flatMap(([name, field]) => {
    const key = field.names?.core ?? ('key' in field.place && field.place.key);
    return key ? [{ key, name, postType, field }] : [];
  }),
);

const COMMON_METAS: Readonly<Record<string, CoreMeta>> = Object.fromEntries(
  [...new Set([...ORDER, ...DECLARED_METAS.map(({ key }) => key)])].map((key): [string, CoreMeta] => {
    const owners = DECLARED_METAS.filter((one) => one.key === key);
    const [owner] = owners;
    return [
      key,
      {
        type: owner ? typeOf(owner.field) : 'string',
        fields: new Map(owners.map(({ postType, name }) => [postType, name])),
        isAdditional: owners.length > 0 && owners.every(({ field }) => field.isAdditional),
      },
    ];
  }),
);

function typeOf({ place, grammar }: Field): MetaType {
  if (place.in === 'links') return 'ids';
  return [grammar.json.type].flat().includes('boolean') ? 'boolean' : 'string';
}

const NO_FIELD: CoreMeta = { type: 'string', fields: new Map() };
const EVENT_METAS: Readonly<Record<string, CoreMeta>> = {
  _tribe_events_status: NO_FIELD,
  _tribe_events_status_reason: NO_FIELD,
};
/** WordPress's own metas of posts that are edited as blocks. */
const BLOCK_METAS: Readonly<Record<string, CoreMeta>> = { [FOOTNOTES]: NO_FIELD };

/**
 * Posts that are not records of the calendar: files (`attachment`), and blog posts and pages, which are written in
 * blocks (`blog`).
 */
type ForeignPost = 'attachment' | 'blog';

/** Returns the registered metas of a kind of records, or of posts that are not records. */
const registeredMetas = (kind: PostKind | ForeignPost): Readonly<Record<string, CoreMeta>> => {
  if (typeof kind === 'object') return metasOfKind(kind);
  return kind === 'blog' ? { ...COMMON_METAS, ...BLOCK_METAS } : COMMON_METAS;
};

const metasOfKind = memoizeByObject((kind: PostKind): Readonly<Record<string, CoreMeta>> => {
  const members = membersOf(kind).map(
    ([meta, { field }]) => [meta, { type: 'string', fields: new Map([[kind.postType, field]]) }] as const,
  );
  return { ...COMMON_METAS, ...(kind.hasDates ? EVENT_METAS : {}), ...BLOCK_METAS, ...Object.fromEntries(members) };
});

/** Returns the registered metas of a kind that hold texts. */
export const textMetasOf = (kind: PostKind): string[] =>
  Object.entries(metasOfKind(kind)).flatMap(([key, { type }]) => (type === 'string' ? key : []));

/** Members of fields with object values, by meta: the field, and the name and label of the member. */
const membersOf = ({ fields }: PostKind) =>
  Object.entries<Field>(fields).flatMap(([field, { members }]) =>
    [...(members ?? [])].map(([meta, member]) => [meta, { field, ...member }] as const),
  );

/**
 * Returns the registered metas of a post as WordPress's own routes show them (`WP_REST_Meta_Fields::get_value`): typed,
 * all of WordPress's, and ours only if they have a value. `locked`: for a record that a password protects, the site's
 * custom fields are hidden, as in all other answers, and so are the footnotes, which are part of its text.
 */
export function coreMeta(kind: PostKind | ForeignPost, metas: Metas | undefined, locked = false): Record<string, unknown> {
  const entries = Object.entries(registeredMetas(kind)).flatMap(([key, { type, isAdditional }]) =>
    isAdditional && (locked || !metaOf(metas, key)) ? [] : [[key, shownValue(type, textsOf(metas, key))] as const],
  );
  if (!locked) return Object.fromEntries(entries);
  const hiddenKeys = new Set([...Object.keys(BLOCK_METAS), ...(typeof kind === 'object' ? membersOf(kind).map(([meta]) => meta) : [])]);
  return Object.fromEntries(entries.map(([key, value]) => [key, hiddenKeys.has(key) ? '' : value]));
}

/** Returns the parameter `meta` of a kind, described by the site's custom fields; undefined if there are none. */
export function metaParam(kind: PostKind): Param<Readonly<Record<string, unknown>>> | undefined {
  const members = membersOf(kind);
  if (members.length === 0) return undefined;
  const properties = Object.fromEntries(members.map(([meta, { label }]) => [meta, { title: label, type: ['string', 'null'] }]));
  return { grammar: { ...object, json: { ...object.json, properties } } };
}

function shownValue(type: MetaType, texts: readonly string[]): unknown {
  if (type === 'boolean') return isTruthy(texts[0]);
  return type === 'ids' ? texts.map((value) => Number.parseInt(value, 10) || 0) : (texts[0] ?? '');
}

/**
 * Returns the parameter name for an error of a field that is sent as a meta, such as `meta._EventURL`. A field with
 * object values has one meta for each member, and the fault names the member.
 */
export function metaOfField(kind: PostKind, field: string, fault: Fault): string {
  const member = fault.stage === 'value' ? fault.values?.name : undefined;
  const key =
    membersOf(kind).find(([, one]) => one.field === field && one.name === member)?.[0] ??
    DECLARED_METAS.find((one) => one.postType === kind.postType && one.name === field)?.key;
  return key === undefined ? 'meta' : `meta.${key}`;
}

/**
 * The metas of a write: those that stand for fields of the calendar, as these fields, and the rows of all other metas.
 */
export interface MetaChange {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly metas: Rows['metas'];
  /** Metas that stay as they are stored, although they usually change with one of the fields. */
  readonly kept: readonly string[];
}

/**
 * Reads the metas of a write (`WP_REST_Meta_Fields::update_value`). Metas that stand for a field of the calendar are
 * changed as that field, so that everything that depends on it follows. Unchanged values are skipped, since clients
 * send back everything they were shown; null deletes the meta. Unknown metas are ignored. `isTrusted`: whether the user
 * may write any HTML.
 *
 * @returns the change, or the meta that has the wrong type or should be a URL but is none
 */
export function metaChange(
  kind: PostKind,
  sentMetas: Readonly<Record<string, unknown>>,
  { metas: storedMetas, isTrusted }: { readonly metas: Metas | undefined; readonly isTrusted: boolean },
): MetaChange | { wrong: WrongMeta } {
  const changedFields: Record<string, unknown> = {};
  const members = new Map(membersOf(kind));
  const metas: Record<string, readonly StoredValue[]> = {};
  for (const [key, { type, fields }] of Object.entries(registeredMetas(kind))) {
    if (!Object.hasOwn(sentMetas, key) || (sentMetas[key] === null && !storedMetas?.get(key)?.length)) continue;
    const value = sentMetas[key] === null ? null : valueOfType(type, sentMetas[key]);
    if (value === undefined || isFaultyItem(value)) return { wrong: wrongMeta(key, type, value) };
    if (value !== null && JSON.stringify(value) === JSON.stringify(shownValue(type, textsOf(storedMetas, key)))) continue;
    const field = fields.get(kind.postType);
    const member = members.get(key);
    if (member) changedFields[member.field] = { ...objectOf(changedFields[member.field]), [member.name]: value };
    else if (field !== undefined) {
      changedFields[field] = fieldValue(type, value);
      if (value === null && !REQUIRED_FIELDS.has(field)) metas[key] = [];
    } else {
      const rows = value === null ? [] : otherRows(key, value, isTrusted);
      if (!rows) return { wrong: { name: key, type: 'uri' } };
      metas[key] = storedTexts(rows);
    }
  }
  if (kind.hasDates) dropDerived(changedFields, metas, storedMetas);
  return { fields: changedFields, metas, kept: keptCurrency(changedFields.cost) };
}

/**
 * Returns the metas of the currency that a change of the cost leaves alone. WordPress writes each meta on its own, so
 * that a cost whose text has no currency keeps the stored one.
 */
const keptCurrency = (cost: unknown): string[] => (cost !== undefined && !costMeta(cost)?.symbol ? [COST.symbol, COST.position] : []);

/** Fields that every event has: null does not delete their rows. */
const REQUIRED_FIELDS = new Set(['all_day', 'start_date', 'end_date', 'timezone']);

/** A meta of the wrong type; if it is a list, the name contains the index of the wrong item. */
export interface WrongMeta {
  readonly name: string;
  readonly type: string;
}

/** The invalid item of a list. */
interface FaultyItem {
  readonly item: number;
}

const isFaultyItem = (value: boolean | string | number[] | FaultyItem | null): value is FaultyItem => isObject(value) && 'item' in value;

function wrongMeta(key: string, type: MetaType, fault: FaultyItem | undefined): WrongMeta {
  if (fault) return { name: `${key}[${fault.item}]`, type: 'integer' };
  return { name: key, type: type === 'ids' ? 'array' : type };
}

function valueOfType(type: MetaType, value: unknown): boolean | string | number[] | FaultyItem | undefined {
  if (type === 'boolean') return metaBoolean.read(value === '' ? false : value, () => false).value;
  if (type === 'string') return typeof value === 'number' ? numberText(value) : typeof value === 'string' ? value : undefined;
  const list = parseList(value);
  if (list === undefined) return undefined;
  const ids = list.map((item) => wholeNumber(item) ?? -1);
  const faultyIndex = ids.findIndex((id) => id < 0);
  return faultyIndex < 0 ? ids : { item: faultyIndex };
}

/** Whether the meta holds a URL. This also applies to kinds that have no field for it. */
const isAddress = (key: string): boolean => addressMetas.has(key);

/** Returns the rows of a meta that is no field; undefined if it should be a URL but is none. */
function otherRows(key: string, value: boolean | string | readonly number[], isTrusted: boolean): string[] | undefined {
  if (key === FOOTNOTES) return [storedFootnotes(String(value), isTrusted)];
  return isAddress(key) && value !== '' ? addressRows(String(value)) : rowsOf(value);
}

function addressRows(text: string): string[] | undefined {
  const address = normalizeWebUrl(text);
  return address === null ? undefined : [address];
}

const rowsOf = (value: boolean | string | readonly number[]): string[] =>
  typeof value === 'boolean' ? [value ? '1' : ''] : typeof value === 'string' ? [storedTextField(value)] : value.map(String);

/** Returns the value as the calendar's own routes take it for this field; an empty value clears the field. */
function fieldValue(type: MetaType, value: boolean | string | readonly number[] | null): unknown {
  if (value === null || value === '') return type === 'boolean' ? false : null;
  return typeof value === 'object' ? value.filter((id) => id > 0) : value;
}

/** Removes derived values: the UTC times follow from the local times and the time zone and cannot be set directly. */
function dropDerived(
  changedFields: Record<string, unknown>,
  metas: Record<string, readonly StoredValue[]>,
  storedMetas: Metas | undefined,
): void {
  delete metas[DATES.startUtc];
  delete metas[DATES.endUtc];
  for (const [field, key] of [
    ['start_date', DATES.start],
    ['end_date', DATES.end],
    ['timezone', DATES.timezone],
  ] as const) {
    if (changedFields[field] === null || metaOf(storedMetas, key) === changedFields[field]) delete changedFields[field];
  }
}
