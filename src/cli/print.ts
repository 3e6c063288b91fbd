import { stringify } from 'csv-stringify/sync';
import { CSV_FORM } from '../exchange/csv/csv-form.ts';
import { isFormula } from '../exchange/csv/formulas.ts';
import { isOpenDescriptor } from '../exchange/items/atomic-file.ts';
import { isObject } from '../objects.ts';
import { decodeEntities } from '../wordpress/content/entities.ts';
import { stripAllTags } from '../wordpress/content/plain-text.ts';
import { CliError, EXIT_CODE, type Io } from './io.ts';
import { padEndTo, truncateTo, widthOf } from './width.ts';

/** Output formats of records, as in wp-cli. */
export const FORMATS = ['table', 'json', 'csv', 'ids', 'count'] as const;
export type Format = (typeof FORMATS)[number];

export type Item = Readonly<Record<string, unknown>>;

export interface OutputShape {
  readonly format: Format;
  /** Members to show; a dot selects a nested member (`venue.city`). Undefined: `columns`, in JSON all members. */
  readonly fields: readonly string[] | undefined;
  /** The only member to print, one line for each record. */
  readonly field: string | undefined;
  /** Members that are shown by default. */
  readonly columns: readonly string[];
  /** Whether the texts are HTML, as those of records; tables show it as text. */
  readonly html?: true;
  /** Members that records lack if they are empty. */
  readonly optional?: readonly string[];
}

/**
 * Formats a list, including the line break at the end. Without items, `ids` and, except in JSON, a single field yield
 * an empty text.
 *
 * @param hasFrame for people, with frames and aligned columns; otherwise, tables are separated by tabs
 * @throws CliError `unknown-field` if no item has such a member
 */
export function formatList(items: readonly Item[], shape: OutputShape, hasFrame: boolean): string {
  const { format, field, fields, columns, html, optional } = shape;
  checkFields(items, format === 'ids' ? ['id'] : field === undefined ? (fields ?? []) : [field], optional);
  if (format === 'count') return `${items.length}\n`;
  if (format === 'ids') return items.length === 0 ? '' : `${items.map(({ id }) => id).join(' ')}\n`;
  if (field !== undefined)
    return formatValues(
      items.map((item) => memberOf(item, field)),
      format,
    );
  if (format === 'json')
    return formatJson(
      items.map((item) => (fields ? pickFields(item, fields) : item)),
      indentOf(hasFrame),
    );
  const columnNames = fields ?? columns;
  const rows = items.map((item) => columnNames.map((name) => memberOf(item, name)));
  if (format === 'csv') return formatCsv([columnNames, ...rows]);
  return formatTable(columnNames, readableRows(rows, html), hasFrame);
}

/** Formats one record with a line for each of its members. Throws CliError `unknown-field`. */
export function formatItem(item: Item, shape: OutputShape, hasFrame: boolean): string {
  const { format, field, fields, html, optional } = shape;
  if (field !== undefined || format === 'ids' || format === 'count') return formatList([item], shape, hasFrame);
  checkFields([item], fields ?? [], optional);
  if (format === 'json') return formatJson(fields ? pickFields(item, fields) : item, indentOf(hasFrame));
  const rows = (fields ?? Object.keys(item)).map((name) => [name, memberOf(item, name)]);
  return format === 'csv' ? formatCsv([ITEM_HEAD, ...rows]) : formatTable(ITEM_HEAD, readableRows(rows, html), hasFrame);
}

/** Prints on standard output. */
export const print = (io: Io, text: string): void => io.out(text);

/** Prints a message about a file that was written: on standard error if the file may be standard output itself. */
export const printAboutFile = async (io: Io, file: string, text: string): Promise<void> =>
  (await isOpenDescriptor(file)) ? io.err(text) : io.out(text);

/** Returns a text on one line, without control characters that would affect the terminal. */
export const oneLine = (text: string): string =>
  text
    .replace(/\s+/g, ' ')
    .replace(/[\p{Cc}\p{Bidi_Control}]/gu, '')
    .trim();

const ITEM_HEAD = ['Field', 'Value'];

/** Checks the fields against the members of the records; an empty list accepts all. */
function checkFields(items: readonly Item[], fields: readonly string[], optional: readonly string[] = []): void {
  for (const name of fields) {
    const [first = ''] = name.split('.');
    if (items.length === 0 || optional.includes(first) || items.some((item) => Object.hasOwn(item, first))) continue;
    throw new CliError('unknown-field', { field: name, fields: Object.keys(items[0]!).join(', ') }, EXIT_CODE.usage);
  }
}

function memberOf(item: Item, name: string): unknown {
  let value: unknown = item;
  for (const part of name.split('.')) value = isObject(value) && Object.hasOwn(value, part) ? (value as Item)[part] : undefined;
  return value;
}

const pickFields = (item: Item, fields: readonly string[]): Item =>
  Object.fromEntries(fields.map((name) => [name, memberOf(item, name) ?? null]));

const formatJson = (value: unknown, indent?: number): string => `${JSON.stringify(value, null, indent)}\n`;

/** Indents output for people. */
const indentOf = (hasFrame: boolean): number | undefined => (hasFrame ? 2 : undefined);

function formatValues(values: readonly unknown[], format: Format): string {
  if (format === 'json') return formatJson(values);
  return values.map((value) => `${formatExactly(value)}\n`).join('');
}

/** Formats a value without loss: lists and objects as JSON. */
function formatExactly(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

// ------------------------------------------------------------------------------------------------- CSV
/**
 * Formats CSV (RFC 4180). Texts that a spreadsheet would evaluate as a formula get an apostrophe as prefix; numbers do
 * not.
 */
const formatCsv = (rows: readonly (readonly unknown[])[]): string =>
  stringify(
    rows.map((row) => row.map(csvText)),
    CSV_FORM,
  );

/** Returns the text of a cell; one that a spreadsheet would evaluate as a formula gets an apostrophe as prefix. */
function csvText(value: unknown): string {
  const text = formatExactly(value);
  return typeof value !== 'number' && isFormula(text) ? `'${text}` : text;
}

// ------------------------------------------------------------------------------------------------- tables
/** Maximum width in terminal columns. */
const MAX_CELL_WIDTH = 60;

function formatTable(headings: readonly string[], rows: readonly (readonly string[])[], hasFrame: boolean): string {
  const cells = [headings, ...rows];
  if (!hasFrame) return cells.map((row) => `${row.join('\t')}\n`).join('');
  const shownRows = cells.map((row) => row.map((cell) => truncateTo(cell, MAX_CELL_WIDTH)));
  const widths = headings.map((_, column) => shownRows.reduce((width, row) => Math.max(width, widthOf(row[column] ?? '')), 0));
  const rule = `+${widths.map((width) => '-'.repeat(width + 2)).join('+')}+`;
  const lines = shownRows.map((row) => `|${row.map((cell, column) => ` ${padEndTo(cell, widths[column]!)} `).join('|')}|`);
  return `${[rule, lines[0], rule, ...lines.slice(1), ...(rows.length > 0 ? [rule] : [])].join('\n')}\n`;
}

/** Formats the cells of a table. */
const readableRows = (rows: readonly (readonly unknown[])[], html: OutputShape['html']): string[][] =>
  rows.map((row) => row.map((value) => oneLine(formatForPeople(value, html ? (text) => decodeEntities(stripAllTags(text)) : String))));

/** Formats a value for people: linked records and terms by name. `textOf` formats a text. */
function formatForPeople(value: unknown, textOf: (text: string) => string): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return textOf(value);
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return value.map((one) => formatForPeople(one, textOf)).join(', ');
  const { name, title, venue, organizer, url } = value as Item;
  const label = [name, title, venue, organizer, url].find((text) => typeof text === 'string');
  return label === undefined ? JSON.stringify(value) : formatForPeople(label, textOf);
}
