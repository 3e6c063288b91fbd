import { basename } from 'node:path';
import { postKind } from '../../kinds/index.ts';
import type { PostKindName } from '../../kinds/kind-names.ts';
import { foldText } from '../../storage/engine/collation.ts';
import { firstCharacters, hasVisibleText } from '../../wordpress/content/plain-text.ts';
import { customRows } from '../items/custom-rows.ts';
import { rowsOfValues } from '../items/field-rows.ts';
import { type Entry, type PostItem, SourceFault, withTermLanguage } from '../items/items.ts';
import { asWholeRecord, type LossEntry, lossEntry } from '../items/report.ts';
import type { Source } from '../items/source.ts';
import type { CellPlace } from './dates.ts';
import { customColumns, type HeadingMap, isSameHeading, LAYOUTS, type MappedColumn, mapHeaders } from './layout.ts';
import {
  additionalValues,
  cellValue,
  clearedFields,
  clearedMetas,
  commentColumns,
  customValues,
  eventValues,
  imageOf,
  isMarkedPrivate,
  linksOf,
  organizerValues,
  type Row,
  type RowOptions,
  statedMoments,
  termsOf,
  unstatedTermKinds,
  venueValues,
  withCurrency,
} from './row-values.ts';
import { type CsvRow, openTable, type Table } from './rows.ts';

export interface CsvOptions extends RowOptions {
  readonly kind?: PostKindName | undefined;
  /** Maps headings to columns if their names do not identify the column. */
  readonly map?: HeadingMap | undefined;
  /** Skips unreadable rows instead of rejecting the file. */
  readonly skipBadRows?: boolean | undefined;
}

export interface CsvSource extends Source {
  /** Returns the column that each heading of each file is mapped to, with an example; known after a survey. */
  readonly mapping: () => readonly TableMapping[];
  /**
   * Reads the files again and yields the rows that were skipped because they cannot be read, or have no name or no
   * usable dates.
   */
  readonly rejected: () => AsyncGenerator<RejectedRow>;
}

/** Mapping of a file's headings to columns, with a sample cell for each. */
export interface TableMapping {
  readonly file: string;
  readonly kind: PostKindName;
  readonly columns: readonly (MappedColumn & { readonly example: string })[];
}

/** Whether a source consists of CSV files. */
export const isCsvSource = (source: Source): source is CsvSource => 'mapping' in source;

/** A row that was not imported, exactly as its file has it. */
export interface RejectedRow {
  readonly path: string;
  readonly delimiter: string;
  readonly headers: readonly string[];
  readonly cells: readonly string[];
}

/** The result of reading a row. */
interface Outcome {
  readonly entries: readonly Entry[];
  readonly rejected?: RejectedRow;
}

/**
 * Opens CSV files in the plugin's layouts. Records are matched by external ID, otherwise by name, events by name and
 * start. Rows may be shorter than the first line, and then state nothing about the cells that they lack; cells
 * beyond it are reported.
 *
 * @throws SourceFault naming file and line; `csv-map-column` if no file has a column of the map, `csv-map-field` if a
 * layout does not have a field of the map
 */
export function openCsv(paths: readonly string[], options: CsvOptions): CsvSource {
  const mapping = new Map<string, TableMapping>();
  return {
    name: () => 'csv',
    close: async () => undefined,
    hint: 'linked-files',
    mapping: () => [...mapping.values()],
    entries: async function* () {
      for await (const { entries } of readOutcomes(paths, options, (path, tableMapping) => mapping.set(path, tableMapping))) yield* entries;
    },
    rejected: async function* () {
      for await (const { rejected } of readOutcomes(paths, options, () => undefined)) if (rejected) yield rejected;
    },
  };
}

async function* readOutcomes(
  paths: readonly string[],
  options: CsvOptions,
  onMapping: (path: string, tableMapping: TableMapping) => void,
): AsyncGenerator<Outcome> {
  const seenNames = new Set<string>();
  const missingHeadings = new Set(options.map?.keys());
  let headings: readonly string[] = [];
  for (const path of paths) {
    const file = basename(path);
    const table = await openTable(path, (cells) => isHeaderLine(cells, options));
    const first = await table.rows.next();
    if (first.done) throw new SourceFault('empty', { file });
    headings = first.value.cells;
    const { kind, columns } = layoutOf(file, first.value, options);
    for (const mappedHeading of missingHeadings)
      if (headings.some((heading) => isSameHeading(heading, mappedHeading))) missingHeadings.delete(mappedHeading);
    const examples = columns.map(() => '');
    const reportMapping = () =>
      onMapping(path, { file, kind, columns: columns.map((column, rowPlace) => ({ ...column, example: examples[rowPlace]! })) });
    reportMapping();
    for await (const row of table.rows) {
      for (const place of examples.keys()) examples[place] ||= firstCharacters(row.cells[place] ?? '', MAX_EXAMPLE_LENGTH);
      const { entries, isImported } = rowOutcome(row, { file, kind, columns, options, seenNames });
      yield { entries, ...(isImported ? {} : { rejected: { path, delimiter: table.delimiter, headers: headings, cells: row.cells } }) };
    }
    reportMapping();
    yield { entries: [...unmappedColumnLosses(file, columns, { examples, map: options.map }), ...encodingLoss(file, table)] };
  }
  const [missingHeading] = missingHeadings;
  if (missingHeading !== undefined)
    throw new SourceFault('csv-map-column', { column: missingHeading, columns: headings.join(', ').slice(0, 200) });
}

const MAX_EXAMPLE_LENGTH = 60;

const mappingOf = (cells: readonly string[], { kind, map, caller }: CsvOptions) =>
  mapHeaders(cells, { kind, map, customLayout: customColumns(caller.settings.calendar.customFields) });

/** Whether cells are the header line of a table, rather than a title above it. */
function isHeaderLine(cells: readonly string[], options: CsvOptions): boolean {
  const mapped = mappingOf(cells, options);
  const knownColumns = mapped?.columns.filter(({ column }) => column !== undefined) ?? [];
  return knownColumns.length > 1 && (mapped?.kind !== 'event' || knownColumns.some(({ column }) => column === 'start_date'));
}

function layoutOf(file: string, { cells, line }: CsvRow, options: CsvOptions) {
  const mapped = mappingOf(cells, options);
  if (!mapped) throw new SourceFault('csv-headers', { file, line, headers: cells.join(', ').slice(0, 200) });
  const [unknown] = mapped.unknown;
  if (unknown !== undefined)
    throw new SourceFault('csv-map-field', { field: unknown, kind: mapped.kind, fields: Object.keys(LAYOUTS[mapped.kind]).join(', ') });
  return mapped;
}

/** Reports columns that contain data but are mapped to nothing, unless the map excludes them explicitly. */
function unmappedColumnLosses(
  file: string,
  columns: readonly MappedColumn[],
  { examples, map = new Map() }: { readonly examples: readonly string[]; readonly map: HeadingMap | undefined },
): Entry[] {
  const isSaid = (header: string) => [...map.keys()].some((heading) => isSameHeading(heading, header));
  return columns.flatMap(({ header, column }, index): Entry[] => {
    if (column !== undefined || examples[index]!.trim() === '' || isSaid(header)) return [];
    return [{ kind: 'loss', loss: { reason: 'column-unknown', kind: 'source', of: file, detail: header.trim() || String(index + 1) } }];
  });
}

/** Reports that the encoding of a file was assumed, since some letters may have been misread. */
const encodingLoss = (file: string, { encoding }: Table): Entry[] =>
  encoding() === 'windows-1252' ? [{ kind: 'loss', loss: { reason: 'encoding-assumed', kind: 'source', of: file } }] : [];

/** File, kind, columns and options that are needed to read a row. */
interface Reading {
  readonly file: string;
  readonly kind: PostKindName;
  readonly columns: readonly MappedColumn[];
  readonly options: CsvOptions;
  /** Names that have occurred already. */
  readonly seenNames: Set<string>;
}

/** Returns the entries of a row. `isImported` is false if the row was not imported. */
function rowOutcome({ cells, line }: CsvRow, reading: Reading): { entries: Entry[]; isImported: boolean } {
  const { file, kind, columns, options } = reading;
  // Cells that a short row lacks state nothing: a line break may have cut it.
  const row = Object.fromEntries(
    cells.slice(0, columns.length).flatMap((cell, index) => {
      const column = columns[index]?.column;
      return column === undefined ? [] : [[column, cellValue(column, cell)]];
    }),
  );
  const place = `${file}:${line}`;
  const makeLoss = (reason: string, detail?: string): LossEntry => lossEntry({ reason, kind, of: row.name || place, place, detail });
  const extraCells = cells.slice(columns.length).filter((cell) => cell.trim() !== '');
  const extraCellLosses = extraCells.length === 0 ? [] : [makeLoss('row-long', extraCells.join(', '))];
  try {
    const { entries, isImported } = entriesOf(row, { file, line }, reading, makeLoss);
    return { entries: [...extraCellLosses, ...entries], isImported };
  } catch (error) {
    if (!(error instanceof SourceFault) || !options.skipBadRows) throw error;
    const { column = '', value = '' } = error.values;
    return { entries: [asWholeRecord(makeLoss('row-unreadable', `${column}: ${value}`))], isImported: false };
  }
}

type MakeLoss = (reason: string, detail?: string) => LossEntry;

function entriesOf(
  row: Row,
  cellPlace: CellPlace,
  { kind, options, seenNames }: Reading,
  makeLoss: MakeLoss,
): { entries: Entry[]; isImported: boolean } {
  const place = `${cellPlace.file}:${cellPlace.line}`;
  const name = row.name ?? '';
  if (!hasVisibleText(name)) return { entries: [asWholeRecord(makeLoss('no-name'))], isImported: false };
  const { values, start } =
    kind === 'event'
      ? eventValues(row, cellPlace, options)
      : { values: kind === 'venue' ? venueValues(row) : organizerValues(row), start: '' };
  const allValues: Record<string, unknown> = { ...values, ...additionalValues(row, kind) };
  const { customFields } = options.caller.settings.calendar;
  const cleared = clearedFields(row, kind);
  const { columns, metas, absent, initial, refused } = rowsOfValues(postKind(kind), allValues, options.caller, cleared);
  const customResult = customRows(kind === 'event' ? customValues(row, customFields) : []);
  const entries: Entry[] = [
    ...refused.map((field) => makeLoss('value-refused', `${field}: ${String(allValues[field]).slice(0, 100)}`)),
    ...customResult.refused.map(({ field, value }) => makeLoss('value-refused', `${field.name}: ${value.slice(0, 100)}`)),
  ];
  if (kind === 'event' && (refused.includes('start_date') || refused.includes('end_date')))
    return { entries: [...entries, asWholeRecord(makeLoss('row-lost'))], isImported: false };
  const { language = '', image: picture = '' } = row;
  const [sourceId, ...otherIds] = namesOf(row, kind, `${start} ${foldText(name)}${language && ` ${language}`}`, seenNames);
  if (seenNames.has(sourceId)) return { entries: [...entries, makeLoss('row-twice')], isImported: true };
  for (const id of [sourceId, ...otherIds]) seenNames.add(id);
  const image = imageOf(picture, place);
  const imageId = /^[1-9]\d*$/.test(picture) ? picture : undefined;
  if (picture !== '' && !image && imageId === undefined) entries.push(makeLoss('value-refused', `image: ${picture}`));
  if (image && !seenNames.has(image.sourceId)) {
    seenNames.add(image.sourceId);
    entries.push(image);
  }
  const item: PostItem = {
    kind,
    sourceId,
    place,
    match: 'name',
    ...(language === '' ? {} : { language }),
    ...(row.translation_group && language ? { translation_group: row.translation_group } : {}),
    complete: false,
    absent: [...absent, ...clearedMetas(row, kind, customFields)],
    initial,
    columns: { ...columns, ...(isMarkedPrivate(row) ? { post_status: 'private' } : {}), ...commentColumns(row) },
    metas: [...withCurrency(metas, row), ...customResult.rows],
    links: [
      ...(imageId === undefined ? [] : [{ key: '_thumbnail_id', kind: 'attachment', name: imageId } as const]),
      ...(image ? [{ key: '_thumbnail_id', kind: 'attachment', sourceId: image.sourceId } as const] : []),
      ...(kind === 'event' ? linksOf(row) : []),
    ],
    ...(kind === 'event' ? { terms: withTermLanguage(language || undefined, termsOf(row)), ...unstatedTermKinds(row) } : {}),
    ...(kind === 'event' ? statedMoments(row) : {}),
  };
  return { entries: [...entries, item], isImported: true };
}

/**
 * Returns the names by which a record is matched, the preferred one first: its external ID, or its name if it has none
 * or another row has the same one (a recurring event has a row for each date).
 */
function namesOf(
  { external_id: externalId = '' }: Row,
  kind: PostKindName,
  name: string,
  seenNames: ReadonlySet<string>,
): [string, ...string[]] {
  const [byName, byExternalId] = [`${kind} ${name}`, `${kind} external ${externalId}`];
  return externalId === '' || seenNames.has(byExternalId) ? [byName] : [byExternalId, byName];
}
