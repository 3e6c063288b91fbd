import { basename } from 'node:path';
import type { CustomField } from '../../calendar/custom-fields.ts';
import { customFieldRows, storedValue } from '../../kinds/custom-fields.ts';
import { COST, ORGANIZER_LINK, VENUE_LINK } from '../../kinds/event-metas.ts';
import { postKind } from '../../kinds/index.ts';
import type { PostKindName } from '../../kinds/kind.ts';
import type { Caller } from '../../records/caller.ts';
import { foldText } from '../../storage/engine/collation.ts';
import { hasVisibleText } from '../../wordpress/plain-text.ts';
import { rowsOfValues } from '../items/field-rows.ts';
import { type Entry, type Link, type PostItem, SourceFault, type TermReference } from '../items/items.ts';
import type { Loss } from '../items/report.ts';
import type { Source } from '../items/source.ts';
import { type DateOrder, readDate, readTime, type Where } from './dates.ts';
import { customColumns, furtherTexts, type MappedColumn, mapHeaders } from './layout.ts';
import { rowsOf } from './rows.ts';

export interface CsvOptions {
  readonly caller: Caller;
  /** Stated by whoever knows the file, never guessed: without it only dates that begin with the year are taken. */
  readonly dateOrder?: DateOrder | undefined;
  readonly kind?: PostKindName | undefined;
  /** What the records become; the files don't say it. */
  readonly status?: string | undefined;
}

export interface CsvSource extends Source {
  /** What each column of each file is taken for, with an example; known after a survey. */
  readonly mapping: () => readonly {
    readonly file: string;
    readonly kind: PostKindName;
    readonly columns: readonly (MappedColumn & { readonly example: string })[];
  }[];
}

/**
 * Reads CSV files in the plugin's layouts, separated by commas, semicolons or tabs. Records are known again by their names, events by name and start.
 *
 * @throws SourceFault naming file and line
 */
export function openCsv(paths: readonly string[], options: CsvOptions): CsvSource {
  const mapping = new Map<string, ReturnType<CsvSource['mapping']>[number]>();
  return {
    name: () => 'csv',
    close: async () => undefined,
    mapping: () => [...mapping.values()],
    entries: async function* () {
      const seen = new Set<string>();
      for (const path of paths) {
        const file = basename(path);
        let columns: MappedColumn[] | undefined;
        let kind: PostKindName = 'event';
        for await (const { cells, line } of rowsOf(path)) {
          if (!columns) {
            const mapped = mapHeaders(cells, options.kind, customColumns(options.caller.settings.calendar.customFields));
            if (!mapped) throw new SourceFault('csv-headers', { file, line, headers: cells.join(', ').slice(0, 200) });
            ({ kind, columns } = mapped);
            mapping.set(path, { file, kind, columns: columns.map((column) => ({ ...column, example: '' })) });
            continue;
          }
          const known = mapping.get(path)!;
          mapping.set(path, {
            ...known,
            columns: known.columns.map((column, place) =>
              column.example === '' ? { ...column, example: (cells[place] ?? '').slice(0, 60) } : column,
            ),
          });
          const row = Object.fromEntries(
            columns.flatMap(({ column }, place) => (column === undefined ? [] : [[column, unescaped(cells[place] ?? '')]])),
          );
          yield* entriesOf(row, kind, { file, line }, options, seen);
        }
        if (!columns) throw new SourceFault('empty', { file });
      }
    },
  };
}

/** The apostrophe that keeps spreadsheets from computing is no part of the text. */
const unescaped = (cell: string): string => (/^'+[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/.test(cell) ? cell.slice(1) : cell);

type Row = Readonly<Record<string, string | undefined>>;
function* entriesOf(row: Row, kind: PostKindName, where: Where, options: CsvOptions, seen: Set<string>): Generator<Entry> {
  const place = `${where.file}:${where.line}`;
  const name = row.name ?? '';
  const lose = (reason: string, detail?: string): Entry => ({
    kind: 'loss',
    loss: { reason, kind, of: name || place, place, ...(detail === undefined ? {} : { detail }) } satisfies Loss,
  });
  if (!hasVisibleText(name)) {
    yield lose('no-name');
    return;
  }
  const { values, start } =
    kind === 'event' ? eventValues(row, where, options) : { values: kind === 'venue' ? venueValues(row) : organizerValues(row), start: '' };
  const { columns, metas, refused } = rowsOfValues(postKind(kind), { ...values, ...furtherValues(row, kind) }, options.caller);
  for (const field of refused) yield lose('value-refused', `${field}: ${String(values[field]).slice(0, 100)}`);
  const custom = kind === 'event' ? customRows(row, options.caller.settings.calendar.customFields) : { rows: [], refused: [] };
  for (const { name: field, meta } of custom.refused) yield lose('value-refused', `${field}: ${String(row[meta]).slice(0, 100)}`);
  if (kind === 'event' && (refused.includes('start_date') || refused.includes('end_date'))) {
    yield lose('row-lost');
    return;
  }
  const sourceId = `${kind} ${start} ${foldText(name)}`;
  if (seen.has(sourceId)) {
    yield lose('row-twice');
    return;
  }
  seen.add(sourceId);
  const image = imageOf(row.image ?? '', place);
  if (image && !seen.has(image.sourceId)) {
    seen.add(image.sourceId);
    yield image;
  }
  const item: PostItem = {
    kind,
    sourceId,
    place,
    match: 'name',
    complete: false,
    columns: { ...columns, ...openness(row), ...(options.status === undefined ? {} : { post_status: options.status }) },
    metas: [...withCurrency(metas, row), ...custom.rows],
    links: [
      ...(image ? [{ key: '_thumbnail_id', kind: 'attachment', sourceId: image.sourceId } as const] : []),
      ...(kind === 'event' ? linksOf(row) : []),
    ],
    ...(kind === 'event' ? { terms: termsOf(row) } : {}),
  };
  yield item;
}

function eventValues(row: Row, where: Where, { dateOrder }: CsvOptions): { values: Record<string, unknown>; start: string } {
  const allDay = isYes(row.all_day);
  const date = (column: 'start_date' | 'end_date') => readDate(row[column] ?? '', dateOrder, { ...where, column });
  const time = (column: 'start_time' | 'end_time') => readTime(row[column] ?? '', { ...where, column });
  const startDay = date('start_date');
  if (startDay === undefined) throw new SourceFault('csv-no-date', { ...where, column: 'start_date' });
  const start = `${startDay} ${time('start_time') ?? '00:00:00'}`;
  const end = `${date('end_date') ?? startDay} ${time('end_time') ?? (allDay ? '23:59:59' : start.slice(11))}`;
  return {
    start,
    values: {
      title: row.name,
      description: row.description,
      excerpt: row.excerpt,
      start_date: start,
      end_date: end,
      timezone: row.timezone,
      all_day: allDay,
      cost: row.cost,
      website: row.website,
      ...flagValue('show_map', row.show_map),
      ...flagValue('show_map_link', row.show_map_link),
      ...(isYes(row.hide) ? { hide_from_listings: true } : {}),
      ...(isYes(row.sticky) ? { sticky: true } : {}),
      ...(isYes(row.featured) ? { featured: true } : {}),
    },
  };
}

const venueValues = (row: Row): Record<string, unknown> => ({
  venue: row.name,
  description: row.description,
  country: row.country,
  address: [row.address, row.address2].filter(Boolean).join(' '),
  city: row.city,
  ...(/^(US|United States)?$/i.test((row.country ?? '').trim()) ? { state: row.state } : { province: row.state }),
  zip: row.zip,
  phone: row.phone,
  website: row.website,
  ...flagValue('show_map', row.show_map),
  ...flagValue('show_map_link', row.show_map_link),
});

const organizerValues = (row: Row): Record<string, unknown> => ({
  organizer: row.name,
  description: row.description,
  email: row.email,
  website: row.website,
  phone: row.phone,
});

/** Metas of the fields that the site defines, and the fields whose value is none. */
function customRows(row: Row, fields: readonly CustomField[]): { rows: [string, string][]; refused: CustomField[] } {
  const sent = fields.flatMap((field) => (row[field.meta] ? [{ field, stored: storedValue(field, row[field.meta]) }] : []));
  return {
    rows: sent.flatMap(({ field, stored }) => (stored ? customFieldRows(field, stored) : [])),
    refused: sent.flatMap(({ field, stored }) => (stored ? [] : [field])),
  };
}

/** Texts that the plugin has no columns for. */
const furtherValues = (row: Row, kind: PostKindName): Record<string, unknown> =>
  Object.fromEntries(furtherTexts(postKind(kind)).map((name) => [name, row[name]]));

const isYes = (cell: string | undefined): boolean => /^(1|y|yes|true|on|x|si|sì)$/i.test((cell ?? '').trim());
const flagValue = (name: string, cell: string | undefined): Record<string, boolean> =>
  (cell ?? '').trim() === '' ? {} : { [name]: isYes(cell) };

/** Whether comments are allowed, where the file says it. */
function openness(row: Row): PostItem['columns'] {
  const open = (cell: string) => (isYes(cell) ? 'open' : 'closed');
  return { ...(row.comments ? { comment_status: open(row.comments) } : {}), ...(row.pings ? { ping_status: open(row.pings) } : {}) };
}

/** What columns of their own say of the currency counts more than what the cost says. */
function withCurrency(metas: PostItem['metas'], row: Row): PostItem['metas'] {
  const position = (row.currency_position ?? '').trim().toLowerCase();
  const given = [
    [COST.symbol, row.currency_symbol?.trim() ?? ''],
    [COST.position, /^(prefix|before)$/.test(position) ? 'prefix' : /^(suffix|postfix|after)$/.test(position) ? 'postfix' : ''],
    [COST.code, row.currency_code?.trim() ?? ''],
  ].filter(([, value]) => value !== '') as [string, string][];
  return [...metas.filter(([key]) => !given.some(([name]) => name === key)), ...given];
}

function linksOf(row: Row): Link[] {
  const venue = (row.venue ?? '').trim();
  return [
    ...(venue === '' ? [] : [{ key: VENUE_LINK, kind: 'venue', name: venue } as const]),
    ...listed(row.organizers).map((name) => ({ key: ORGANIZER_LINK, kind: 'organizer', name }) as const),
  ];
}

const termsOf = (row: Row): TermReference[] => [
  ...listed(row.categories).map((name) => ({ kind: 'category', sourceId: `name ${foldText(name)}`, name }) as const),
  ...listed(row.tags).map((name) => ({ kind: 'tag', sourceId: `name ${foldText(name)}`, name }) as const),
];

const listed = (cell: string | undefined): string[] => [
  ...new Set(
    (cell ?? '')
      .split(',')
      .map((name) => name.trim())
      .filter(Boolean),
  ),
];

/** An address is a file to fetch; a number is the id of an image that is here. */
function imageOf(cell: string, place: string): PostItem | undefined {
  const url = cell.trim();
  if (!/^https?:\/\//i.test(url)) return undefined;
  return { kind: 'attachment', sourceId: url, place, url, columns: { guid: url }, metas: [], links: [], complete: false };
}
