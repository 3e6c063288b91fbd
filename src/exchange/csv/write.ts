import { stringify } from 'csv-stringify';
import type { CustomField } from '../../calendar/custom-fields.ts';
import { lastWholeDay } from '../../calendar/schedule.ts';
import { isAllDay } from '../../kinds/events/dates.ts';
import { EVENT } from '../../kinds/events/fields.ts';
import { COST, DATES } from '../../kinds/events/metas.ts';
import { postKind } from '../../kinds/index.ts';
import type { PostKindName, TermKindName } from '../../kinds/kind-names.ts';
import type { Field } from '../../kinds/param.ts';
import { VENUE } from '../../kinds/venue.ts';
import { decodeEntities } from '../../wordpress/content/entities.ts';
import { metaOf, textsOf } from '../../wordpress/rows.ts';
import { type Item, isPostItem, isTermItem, type PostItem } from '../items/items.ts';
import { metaMap } from '../items/meta-map.ts';
import { CSV_FORM } from './csv-form.ts';
import { looksGuarded } from './formulas.ts';
import { customColumns, LANGUAGE_COLUMNS, LAYOUTS } from './layout.ts';
import { quoteName, toListedName } from './name-lists.ts';

/**
 * Writes the records of one kind as CSV in the plugin's layout (RFC 4180, UTF-8 with a BOM, so that spreadsheets
 * recognize it), in chunks. The venues, organizers, terms and images that they name must come before them in the
 * stream. Cells that a spreadsheet would evaluate as a formula get an apostrophe as prefix.
 */
export async function* writeCsv(
  kind: PostKindName,
  items: AsyncIterable<Item>,
  { customFields = [], hasLanguages = false }: { readonly customFields?: readonly CustomField[]; readonly hasLanguages?: boolean } = {},
): AsyncGenerator<string> {
  const names = new Map<string, string>();
  const customLayout = kind === 'event' ? customColumns(customFields) : {};
  const values = [...COLUMNS[kind], ...Object.keys(customLayout).map((key) => [key, ({ meta }: RowSource) => meta(key)] as const)];
  const columns = Object.entries({ ...LAYOUTS[kind], ...customLayout }).flatMap(([key, [header]]) =>
    hasLanguages || !Object.hasOwn(LANGUAGE_COLUMNS, key) ? [{ key, header }] : [],
  );
  const rows = async function* () {
    for await (const item of items) {
      if (isTermItem(item)) names.set(`${item.kind} ${item.sourceId}`, decodeEntities(item.name));
      else if (isPostItem(item) && item.kind === kind) yield doubleGuards(rowOf(item, values, names));
      else if (isPostItem(item)) names.set(`${item.kind} ${item.sourceId}`, item.kind === 'attachment' ? (item.url ?? '') : titleOf(item));
    }
  };
  const writer = stringify({ ...CSV_FORM, header: true, columns, bom: true, escape_formulas: true });
  writer.setEncoding('utf8');
  const feeding = feedRows(writer, rows());
  for await (const text of writer as AsyncIterable<string>) yield text;
  await feeding;
}

async function feedRows(writer: ReturnType<typeof stringify>, rows: AsyncIterable<Row>): Promise<void> {
  try {
    for await (const row of rows) if (!writer.write(row)) await new Promise((resolve) => writer.once('drain', resolve));
    writer.end();
  } catch (error) {
    writer.destroy(error instanceof Error ? error : new Error(String(error)));
  }
}

type Row = Readonly<Record<string, string>>;

/**
 * Doubles an apostrophe that the text itself has before a formula character, because readers remove one as the guard.
 */
const doubleGuards = (row: Row): Row =>
  Object.fromEntries(Object.entries(row).map(([key, text]) => [key, looksGuarded(text) ? `'${text}` : text]));

const columnOf = ({ columns }: PostItem, name: string): string => String((columns as Readonly<Record<string, unknown>>)[name] ?? '');

const titleOf = ({ columns }: PostItem): string => columns.post_title ?? '';

const rowOf = (item: PostItem, columns: readonly Column[], names: ReadonlyMap<string, string>): Row => {
  const source = rowSource(item, names);
  return Object.fromEntries(columns.map(([column, value]) => [column, value(source)]));
};

/** The data from which a column's value is read. */
interface RowSource {
  readonly item: PostItem;
  /** Returns the first value of a meta, or the empty string if it is absent. */
  readonly meta: (key: string) => string;
  /** Returns all values of a meta, separated by commas. */
  readonly allValues: (key: string) => string;
  /** Returns whether a map is shown as `yes` or `no`; records without such a meta show it. */
  readonly flag: (key: string) => string;
  /** Returns a text for each venue or organizer that a meta links, made from its name and its id. */
  readonly linkedTexts: (key: string, show: (name: string | undefined, id: string) => string) => string[];
  /** Returns the names of terms, separated by commas. */
  readonly terms: (kind: TermKindName) => string;
  /** Returns the URL of the featured image. */
  readonly image: () => string;
}

function rowSource(item: PostItem, names: ReadonlyMap<string, string>): RowSource {
  const metas = metaMap(item.metas);
  const meta = (key: string): string => metaOf(metas, key) ?? '';
  const [image] = item.links.filter((link) => link.kind === 'attachment');
  return {
    item,
    meta,
    allValues: (key) => textsOf(metas, key).join(', '),
    flag: (key) => yesOrNo(!metas.has(key) || isYes(meta(key))),
    linkedTexts: (key, show) =>
      item.links.flatMap((link) =>
        link.key === key ? ['sourceId' in link ? show(names.get(`${link.kind} ${link.sourceId}`), link.sourceId) : link.name] : [],
      ),
    terms: (kind) =>
      (item.terms ?? [])
        .flatMap((term) => (term.kind === kind ? [toListedName(names.get(`${kind} ${term.sourceId}`) ?? term.name ?? term.sourceId)] : []))
        .join(','),
    image: () => (image && 'sourceId' in image ? (names.get(`attachment ${image.sourceId}`) ?? '') : ''),
  };
}

const yesOrNo = (value: boolean): string => (value ? 'yes' : 'no');
/**
 * Returns the end of an event. All-day events end on their last whole day, even if the day's cutoff is after midnight:
 * otherwise the end would be read as one more day.
 */
function endOf(meta: RowSource['meta']): string {
  const end = meta(DATES.end);
  const lastDay = isAllDay(meta(DATES.allDay)) ? lastWholeDay(meta(DATES.start), end) : end.slice(0, 10);
  return end.startsWith(lastDay) ? end : `${lastDay} 23:59:59`;
}

const isYes = (value: string): boolean => /^(1|yes|true)$/i.test(value);

type Value = (source: RowSource) => string;
type Column = readonly [name: string, value: Value];

/** Columns that do not simply hold the field of the same name. */
const OWN_VALUES: Readonly<Record<PostKindName, Readonly<Record<string, Value>>>> = {
  event: {
    start_date: ({ meta }) => meta(DATES.start).slice(0, 10),
    start_time: ({ meta }) => meta(DATES.start).slice(11),
    end_date: ({ meta }) => endOf(meta).slice(0, 10),
    end_time: ({ meta }) => endOf(meta).slice(11),
    timezone: ({ meta }) => meta(DATES.timezone),
    all_day: ({ meta }) => yesOrNo(isAllDay(meta(DATES.allDay))),
    hide: ({ meta }) => yesOrNo(meta(EVENT.hide_from_listings) === 'yes'),
    sticky: ({ item }) => yesOrNo(item.columns.menu_order === -1),
    featured: ({ meta }) => yesOrNo(meta(EVENT.featured) === '1'),
    venue: ({ linkedTexts }) => linkedTexts(EVENT.venue, nameOrId)[0] ?? '',
    organizers: ({ linkedTexts }) => linkedTexts(EVENT.organizer, listedNameOrId).join(','),
    cost: ({ allValues }) => allValues(COST.amounts),
    currency_symbol: ({ meta }) => meta(COST.symbol),
    currency_position: ({ meta }) => meta(COST.position),
    currency_code: ({ meta }) => meta(COST.code),
    categories: ({ terms }) => terms('category'),
    tags: ({ terms }) => terms('tag'),
    comments: ({ item }) => yesOrNo(item.columns.comment_status === 'open'),
    pings: ({ item }) => yesOrNo(item.columns.ping_status === 'open'),
  },
  venue: {
    address2: () => '',
    state: ({ meta }) => meta(VENUE.stateprovince) || meta(VENUE.state) || meta(VENUE.province),
  },
  organizer: {},
};

/** Columns of every kind. */
const COMMON_VALUES: Readonly<Record<string, Value>> = {
  name: ({ item }) => titleOf(item),
  image: ({ image }) => image(),
  language: ({ item }) => item.language ?? '',
  translation_group: ({ item }) => item.translation_group ?? '',
};

/** Columns of each kind's layout, with the functions that compute their values. */
const COLUMNS: Readonly<Record<PostKindName, readonly Column[]>> = {
  event: columnsOf('event'),
  venue: columnsOf('venue'),
  organizer: columnsOf('organizer'),
};

function columnsOf(name: PostKindName): Column[] {
  const values = { ...COMMON_VALUES, ...OWN_VALUES[name] };
  return Object.keys(LAYOUTS[name]).map((column) => [column, values[column] ?? fieldReader(column, postKind(name).fields[column])]);
}

/**
 * Returns the function that reads the field of a column's name. Throws if there is no such field, since the column
 * would stay empty.
 */
function fieldReader(column: string, field: Field | undefined): Value {
  const place = field?.place;
  if (place?.in === 'column') return ({ item }) => columnOf(item, place.column);
  if (place?.in === 'meta') return ({ meta, flag }) => (field?.empty === 'false' ? flag : meta)(place.key);
  throw new Error(`nothing says what the column ${column} holds`);
}

/**
 * Returns the name of a record even if it looks like an id, since in another database the id belongs to something else;
 * the id if there is no name.
 */
const nameOrId = (name: string | undefined, id: string): string => name || id;

/** Returns the same as `nameOrId`, as an entry of a list of names. */
const listedNameOrId = (name: string | undefined, id: string): string =>
  name && /^[\d\s]+$/.test(name) ? quoteName(name) : toListedName(nameOrId(name, id));
