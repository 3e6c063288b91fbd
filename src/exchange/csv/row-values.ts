import type { CustomField } from '../../calendar/custom-fields.ts';
import { metasOf } from '../../kinds/custom-fields.ts';
import { COST, ORGANIZER_LINK, VENUE_LINK } from '../../kinds/events/metas.ts';
import { postKind } from '../../kinds/index.ts';
import type { PostKindName } from '../../kinds/kind-names.ts';
import type { Caller } from '../../records/caller.ts';
import { foldText } from '../../storage/engine/collation.ts';
import { addDaysTo } from '../../wordpress/time.ts';
import { isoAt, parseZone, type Zone } from '../../wordpress/zones.ts';
import type { CustomValue } from '../items/custom-rows.ts';
import { type Link, type PostItem, SourceFault, type TermReference, textMetas } from '../items/items.ts';
import { unambiguousZone } from '../items/unambiguous-zone.ts';
import { type CellPlace, type DateOrder, isTimestamp, type Moment, momentIn, readMoment, readTime, toClockOf } from './dates.ts';
import { removeGuard } from './formulas.ts';
import { additionalTexts } from './layout.ts';
import { namesIn } from './name-lists.ts';
import { readMoments, readTimes } from './ranges.ts';

/** Options that the values of a row depend on. */
export interface RowOptions {
  readonly caller: Caller;
  /** Stated by the user, never guessed. Without it, only unambiguous dates are accepted. */
  readonly dateOrder?: DateOrder | undefined;
}

/** The cells of a row by their columns, as `cellValue` returns them. */
export type Row = Readonly<Record<string, string | undefined>>;

/** Columns whose texts keep the blanks around them, as the API stores them. */
const TEXT_COLUMNS: ReadonlySet<string> = new Set(['name', 'description', 'excerpt']);

/** Returns the value of a cell, without its guard against formulas and the blanks around it. Blanks are no value. */
export function cellValue(column: string, cell: string): string {
  if (cell.trim() === '') return '';
  return TEXT_COLUMNS.has(column) ? removeGuard(cell) : removeGuard(cell).trim();
}

/**
 * Returns start and end of an event, `YYYY-MM-DD HH:MM:SS`, and whether it is all-day: the file says so, or it gives
 * only days and does not deny it. A time in its own column takes precedence over a time next to the date.
 */
function momentsOf(
  row: Row,
  zone: Zone,
  cellPlace: CellPlace,
  dateOrder: DateOrder | undefined,
): { start: string; end: string; allDay: boolean } {
  const cell = (column: string): string => toClockOf(zone, row[column] ?? '');
  const columnPlace = (column: string) => ({ ...cellPlace, column });
  const days = readMoments(cell('start_date'), dateOrder, columnPlace('start_date'));
  const times = readTimes(cell('start_time'), columnPlace('start_time'));
  const end = readMoment(cell('end_date'), dateOrder, columnPlace('end_date')) ?? days?.to;
  const from: Partial<Moment> = { ...days?.from, time: times?.from ?? days?.from.time };
  const to: Partial<Moment> = { ...end, time: readTime(cell('end_time'), columnPlace('end_time')) ?? end?.time ?? times?.to };
  if (from.day === undefined) throw new SourceFault('csv-no-date', { ...cellPlace, column: 'start_date', value: '' });
  const isUnstated = (row.all_day ?? '') === '' && from.time === undefined && to.time === undefined;
  const allDay = isUnstated || isYes(row.all_day);
  // In Microsoft's calendars, all-day events end at the beginning of the next day.
  if (allDay && from.time === MIDNIGHT && to.time === MIDNIGHT && to.day !== undefined && to.day > from.day)
    return { start: `${from.day} ${MIDNIGHT}`, end: `${addDaysTo(to.day, -1)} 23:59:59`, allDay };
  const startTime = from.time ?? MIDNIGHT;
  const endTime = allDay && (to.time ?? END_OF_DAY) === END_OF_DAY ? '23:59:59' : (to.time ?? startTime);
  // If the end has no day and its time is before the start, the event ends after midnight.
  const endDay = to.day ?? (endTime < startTime ? addDaysTo(from.day, 1) : from.day);
  return { start: toWallTime(from.day, startTime), end: toWallTime(endDay, endTime), allDay };
}

/**
 * Returns start and end of an event with the offsets of its zone, if the row states moments that its clock shows twice.
 */
function repeatedTimes(
  { all_day, start_time, end_time, start_date, end_date }: Row,
  zone: Zone,
): { start: string; end: string } | undefined {
  const start = momentIn(start_date ?? '');
  const end = end_date ? momentIn(end_date) : start;
  if (start === undefined || end === undefined || start_time || end_time || isYes(all_day)) return undefined;
  return unambiguousZone(zone, [start, end]) === zone ? undefined : { start: isoAt(start, zone), end: isoAt(end, zone) };
}

const MIDNIGHT = '00:00:00';
const END_OF_DAY = '24:00:00';

/** Returns a time on a day; the end of the day is the midnight at which the next one begins. */
const toWallTime = (day: string, time: string): string => (time === END_OF_DAY ? `${addDaysTo(day, 1)} ${MIDNIGHT}` : `${day} ${time}`);

/**
 * Returns the values of an event, as `rowsOfValues` takes them, and its start, `YYYY-MM-DD HH:MM:SS`.
 *
 * @throws SourceFault for dates and times that cannot be read, or that can be read in two ways
 */
export function eventValues(row: Row, cellPlace: CellPlace, options: RowOptions): { values: Record<string, unknown>; start: string } {
  const zone = parseZone(row.timezone ?? '') ?? options.caller.settings.zone;
  const { start, end, allDay } = momentsOf(row, zone, cellPlace, options.dateOrder);
  const times = repeatedTimes(row, zone) ?? { start, end };
  return {
    start,
    values: {
      title: row.name,
      description: row.description,
      excerpt: row.excerpt,
      start_date: times.start,
      end_date: times.end,
      timezone: row.timezone,
      all_day: allDay,
      cost: row.cost,
      website: webAddress(row.website),
      ...flagValue('show_map', row.show_map),
      ...flagValue('show_map_link', row.show_map_link),
      ...flagValue('hide_from_listings', row.hide),
      ...flagValue('sticky', row.sticky),
      ...flagValue('featured', row.featured),
    },
  };
}

/** Returns the values of a venue. */
export const venueValues = (row: Row): Record<string, unknown> => ({
  venue: row.name,
  description: row.description,
  country: row.country,
  address: [row.address, row.address2].filter(Boolean).join(' '),
  city: row.city,
  ...(/^(US|United States)?$/i.test(row.country ?? '') ? { state: row.state } : { province: row.state }),
  zip: row.zip,
  phone: row.phone,
  website: webAddress(row.website),
  ...flagValue('show_map', row.show_map),
  ...flagValue('show_map_link', row.show_map_link),
});

/** Returns the values of an organizer. */
export const organizerValues = (row: Row): Record<string, unknown> => ({
  organizer: row.name,
  description: row.description,
  email: row.email,
  website: webAddress(row.website),
  phone: row.phone,
});

/**
 * Returns the fields whose cells are empty, so that an update clears them, as the API does. Dates, zone and flags
 * cannot be empty, and an external ID is how a record is found.
 */
export function clearedFields(row: Row, kind: PostKindName): string[] {
  const isCleared = (...columns: readonly string[]): boolean =>
    columns.some((column) => row[column] !== undefined) && columns.every((column) => (row[column] ?? '') === '');
  const fields = [...CLEARED_FIELDS[kind], ...additionalTexts(postKind(kind)).filter((name) => name !== 'external_id')];
  const cleared = fields.filter((name) => isCleared(...(name === 'address' ? ['address', 'address2'] : [name])));
  // A cell for either of them is empty if there is neither.
  return cleared.flatMap((name) => (name === 'state' ? ['state', 'province'] : [name]));
}

const CLEARED_FIELDS: Readonly<Record<PostKindName, readonly string[]>> = {
  event: ['description', 'excerpt', 'cost', 'website'],
  venue: ['description', 'country', 'address', 'city', 'state', 'zip', 'phone', 'website'],
  organizer: ['description', 'email', 'website', 'phone'],
};

/** Returns the metas whose cells are empty: of links, the image, the currency and the site's own fields. */
export function clearedMetas(row: Row, kind: PostKindName, fields: readonly CustomField[]): string[] {
  const isCleared = (column: string): boolean => row[column] === '';
  const columns = [['image', '_thumbnail_id'], ...(kind === 'event' ? EVENT_METAS : [])] as const;
  return [
    ...columns.flatMap(([column, key]) => (isCleared(column) ? [key] : [])),
    ...(kind === 'event' ? fields.flatMap((field) => (isCleared(field.meta) ? metasOf(field) : [])) : []),
  ];
}

const EVENT_METAS = [
  ['venue', VENUE_LINK],
  ['organizers', ORGANIZER_LINK],
  ['currency_symbol', COST.symbol],
  ['currency_position', COST.position],
  ['currency_code', COST.code],
] as const;

/** Returns the values of the site's own fields. */
export const customValues = (row: Row, fields: readonly CustomField[]): CustomValue[] =>
  fields.flatMap((field) => {
    const value = row[field.meta];
    return value ? [{ field, value }] : [];
  });

/** Prepends `https://` to an address that begins with `www.`. */
const webAddress = (cell: string | undefined): string | undefined => (/^www\./i.test(cell ?? '') ? `https://${cell}` : cell);

/** Returns the values of the texts that the plugin has no columns for. */
export const additionalValues = (row: Row, kind: PostKindName): Record<string, unknown> =>
  Object.fromEntries(additionalTexts(postKind(kind)).map((name) => [name, row[name]]));

const isYes = (cell: string | undefined): boolean => /^(1|y|yes|true|on|x|s|si|sì|vero|j|ja|wahr|ein)$/i.test(cell ?? '');

/** Whether an event is marked as private in a calendar of Google's or Microsoft's. */
export const isMarkedPrivate = (row: Row): boolean =>
  isYes(row.private) ||
  /^(?:private|confidential|personal|privat[oa]?|riservat[oa]|personale|vertraulich|persönlich)$/i.test(row.private ?? '');

const flagValue = (name: string, cell: string | undefined): Record<string, boolean> => ((cell ?? '') === '' ? {} : { [name]: isYes(cell) });

/** Returns the comment settings, if the file has them. */
export function commentColumns(row: Row): PostItem['columns'] {
  const commentStatus = (cell: string) => (isYes(cell) || /^open$/i.test(cell) ? 'open' : 'closed');
  return {
    ...(row.comments ? { comment_status: commentStatus(row.comments) } : {}),
    ...(row.pings ? { ping_status: commentStatus(row.pings) } : {}),
  };
}

/** Overrides the currency that was read from the cost with the currency columns, if they are set. */
export function withCurrency(metas: PostItem['metas'], row: Row): PostItem['metas'] {
  const position = (row.currency_position ?? '').toLowerCase();
  const statedMetas = textMetas([
    [COST.symbol, row.currency_symbol ?? ''],
    [COST.position, /^(prefix|before)$/.test(position) ? 'prefix' : /^(suffix|postfix|after)$/.test(position) ? 'postfix' : ''],
    [COST.code, row.currency_code ?? ''],
  ]).filter(([, value]) => value !== '');
  return [...metas.filter(([key]) => !statedMetas.some(([name]) => name === key)), ...statedMetas];
}

/** Returns the links of an event to its venue and its organizers, by their names. */
export function linksOf(row: Row): Link[] {
  const { venue = '', language = '' } = row;
  const languageMember = language === '' ? {} : { language };
  return [
    ...(venue === '' ? [] : [{ key: VENUE_LINK, kind: 'venue', name: venue, ...languageMember } as const]),
    ...organizersOf(row.organizers).map((name) => ({ key: ORGANIZER_LINK, kind: 'organizer', name, ...languageMember }) as const),
  ];
}

/** Splits names at commas; ids may also be separated by blanks. */
const organizersOf = (cell: string | undefined): string[] =>
  /^[\d\s,;]+$/.test(cell ?? '') ? namesIn((cell ?? '').replace(/[\s;]+/g, ',')) : namesIn(cell ?? '');

/** Returns the categories and tags of an event, by their names. */
export const termsOf = (row: Row): TermReference[] => [
  ...namesIn(row.categories ?? '').map((name) => ({ kind: 'category', sourceId: `name ${foldText(name)}`, name }) as const),
  ...namesIn(row.tags ?? '').map((name) => ({ kind: 'tag', sourceId: `name ${foldText(name)}`, name }) as const),
];

/** Marks an event whose row states the moment at which it starts instead of a local time. */
export const statedMoments = (row: Row): Pick<PostItem, 'statesMoments'> =>
  isTimestamp(row.start_date ?? '') && (row.start_time ?? '') === '' ? { statesMoments: true } : {};

/** Returns the kinds of terms that the table has no column for. */
export const unstatedTermKinds = ({ categories, tags }: Row): Pick<PostItem, 'unsaid'> => ({
  unsaid: [...(categories === undefined ? (['category'] as const) : []), ...(tags === undefined ? (['tag'] as const) : [])],
});

/** Returns the attachment to fetch from an image URL, if it is one. */
export function imageOf(url: string, place: string): PostItem | undefined {
  if (!/^https?:\/\//i.test(url)) return undefined;
  return { kind: 'attachment', sourceId: url, place, url, columns: { guid: url }, metas: [], links: [], complete: false };
}
