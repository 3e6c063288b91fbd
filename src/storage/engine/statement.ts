import { memoize } from '../../memo.ts';
import { isObject } from '../../objects.ts';
import type { Sql } from './dialect.ts';

/** A value that a statement binds at one placeholder. */
export type Value = string | number | null;

/**
 * A value that may be interpolated into a statement: a single value, a list of values, the values of several rows, or a
 * piece of SQL with its own values.
 */
export type TemplateValue = Value | readonly Value[] | Rows | Piece;

/** The values of rows of `width` columns, one row after the other, for interpolation into a statement. */
export class Rows {
  readonly width: number;
  readonly values: readonly Value[];

  constructor(width: number, values: readonly Value[]) {
    this.width = width;
    this.values = values;
  }
}

/** A piece of SQL, from a dialect or chosen at run time, for interpolation into a statement. */
export class Piece {
  readonly sql: string;
  readonly values: readonly Value[];
  /** The table, if the piece only names a table. */
  readonly table: string | undefined;

  constructor([sql, bindings]: Sql, table?: string) {
    this.table = table;
    const remaining = [...bindings] as Value[];
    const values: Value[] = [];
    this.sql = sql.replace(/\?\??/g, (mark) => {
      const value = remaining.shift() ?? null;
      if (mark === '??') return quoted(String(value));
      values.push(value);
      return mark;
    });
    this.values = values;
  }
}

/** A piece of SQL without bindings. */
export const verbatim = memoize((sql) => new Piece([sql, []]));

/** A statement as sent to the database. */
export interface Statement {
  /** The first table that the statement names, without the prefix. If it writes, this is the table that it changes. */
  readonly table: string | undefined;
  readonly sql: string;
  readonly bindings: readonly Value[];
}

/** Maximum number of cached forms of one template: lists of ids have many lengths. */
const MAX_CACHED_FORMS = 100;

/** Longer lists of ids are written into the SQL text: SQLite binds 32,766 values at most. */
const MAX_BOUND_VALUES = 1000;

/**
 * Compiles statements that are written as templates, for the queries of every request: building one with knex takes as
 * long as SQLite takes to run it. The SQL text is built once for each form of the interpolated values. `{posts}` is
 * replaced by the table name with its prefix. A list becomes `?, ?` and rows become `(?, ?), (?, ?)`. An empty
 * list becomes NULL, which equals nothing. A long list of ids is written out.
 */
export function statements(
  prefixOf: (table: string) => string,
): (text: TemplateStringsArray, places: readonly TemplateValue[]) => Statement {
  const templates = new WeakMap<TemplateStringsArray, Template>();
  const templateOf = (text: TemplateStringsArray): Template => {
    const template = { table: tableIn(text), forms: new Map<string, string>() };
    templates.set(text, template);
    return template;
  };
  return (text, places) => {
    const { table, forms } = templates.get(text) ?? templateOf(text);
    const bindings: Value[] = [];
    let form = '';
    let isLasting = true;
    for (const place of places)
      if (isLongList(place)) isLasting = false;
      else form += `${bind(place, bindings)}|`;
    const sql = (isLasting ? forms.get(form) : undefined) ?? renderSql(text, places, prefixOf);
    if (isLasting && forms.size < MAX_CACHED_FORMS) forms.set(form, sql);
    const [first] = places;
    return { table: table ?? (first instanceof Piece ? first.table : undefined), sql, bindings };
  };
}

/** Cached data of a template: the first table in it, and its SQL text for each form. */
interface Template {
  readonly table: string | undefined;
  readonly forms: Map<string, string>;
}

const tableIn = (text: TemplateStringsArray): string | undefined => /\{(\w+)\}/.exec(text.join(' '))?.[1];

/**
 * Adds the values of an interpolation to the bindings, and returns the part of the form that the SQL text depends on.
 */
function bind(place: TemplateValue, bindings: Value[]): string | number {
  if (!isObject(place)) {
    bindings.push(place);
    return '';
  }
  const values = place instanceof Piece || place instanceof Rows ? place.values : place;
  for (const value of values) bindings.push(value);
  return place instanceof Piece ? place.sql : values.length;
}

function renderSql(text: TemplateStringsArray, places: readonly TemplateValue[], prefixOf: (table: string) => string): string {
  const parts = text.map((part) =>
    part.replace(/\n\s*/g, ' ').replace(/\{(\w+)\}/g, (_, table: string) => quoted(prefixOf(table) + table)),
  );
  return String.raw({ raw: parts }, ...places.map(placeholdersFor)).trim();
}

const isLongList = (place: TemplateValue): place is readonly number[] =>
  Array.isArray(place) && place.length > MAX_BOUND_VALUES && place.every((value) => Number.isSafeInteger(value));

function placeholdersFor(place: TemplateValue): string {
  if (isLongList(place)) return place.join(', ');
  if (place instanceof Piece) return place.sql;
  if (place instanceof Rows) return listOf(place.values.length / place.width, `(${listOf(place.width, '?')})`);
  if (!isObject(place)) return '?';
  return place.length === 0 ? 'NULL' : listOf(place.length, '?');
}

const listOf = (length: number, item: string) => Array.from({ length }, () => item).join(', ');
const quoted = (name: string) =>
  name
    .split('.')
    .map((part) => `\`${part}\``)
    .join('.');
