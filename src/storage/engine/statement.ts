import { memoize } from '../../memo.ts';
import type { Sql } from './dialect.ts';

/** What a statement binds at one place. */
export type Value = string | number | null;

/**
 * What may stand at a place of a statement: a value, a list of values, the values of several rows, or a piece of SQL
 * with its own.
 */
export type TemplateValue = Value | readonly Value[] | Rows | Piece;

/** The values of rows of `width` columns, one row after the other, as a place of a statement. */
export class Rows {
  readonly width: number;
  readonly values: readonly Value[];

  constructor(width: number, values: readonly Value[]) {
    this.width = width;
    this.values = values;
  }
}

/** A piece of SQL that a dialect or a choice gives, as a place of a statement. */
export class Piece {
  readonly sql: string;
  readonly values: readonly Value[];
  /** The table that it names, if that is all it is for. */
  readonly table: string | undefined;

  constructor([sql, bindings]: Sql, table?: string) {
    this.table = table;
    const left = [...bindings] as Value[];
    const values: Value[] = [];
    this.sql = sql.replace(/\?\??/g, (mark) => {
      const value = left.shift() ?? null;
      if (mark === '??') return quoted(String(value));
      values.push(value);
      return mark;
    });
    this.values = values;
  }
}

/** A piece of SQL that binds nothing. */
export const verbatim = memoize((sql) => new Piece([sql, []]));

/** A statement as it is sent. */
export interface Statement {
  /** The first table that it names, which is the one that it changes; without the prefix. */
  readonly table: string | undefined;
  readonly sql: string;
  readonly bindings: readonly Value[];
}

/** How many forms of one statement are kept: lists of ids come in many lengths. */
const FORMS = 100;

/** Longer lists of ids are written into the text: SQLite binds 32,766 values at most. */
const MOST_BOUND = 1000;

/**
 * Puts statements together that are written out as templates, for what every request asks: knex takes as long to build
 * one as SQLite to run it. The text is made once for each form that its places take. `{posts}` stands for the table
 * with the site's prefix; a list becomes `?, ?`, rows `(?, ?), (?, ?)`; an empty list becomes NULL, which nothing
 * equals, and a long one of ids the ids themselves.
 */
export function statements(prefix: string): (text: TemplateStringsArray, places: readonly TemplateValue[]) => Statement {
  const known = new WeakMap<TemplateStringsArray, Template>();
  const learn = (text: TemplateStringsArray): Template => {
    const template = { table: tableIn(text), forms: new Map<string, string>() };
    known.set(text, template);
    return template;
  };
  return (text, places) => {
    const { table, forms } = known.get(text) ?? learn(text);
    const bindings: Value[] = [];
    let form = '';
    let isLasting = true;
    for (const place of places)
      if (isLongList(place)) isLasting = false;
      else form += `${bind(place, bindings)}|`;
    const sql = (isLasting ? forms.get(form) : undefined) ?? writeOut(text, places, prefix);
    if (isLasting && forms.size < FORMS) forms.set(form, sql);
    const [first] = places;
    return { table: table ?? (first instanceof Piece ? first.table : undefined), sql, bindings };
  };
}

/** What is known of a template: the first table in it, and its text for each form. */
interface Template {
  readonly table: string | undefined;
  readonly forms: Map<string, string>;
}

const tableIn = (text: TemplateStringsArray): string | undefined => /\{(\w+)\}/.exec(text.join(' '))?.[1];

/** Adds what a place binds, and gives what its text depends on besides. */
function bind(place: TemplateValue, bindings: Value[]): string | number {
  if (place === null || typeof place !== 'object') {
    bindings.push(place);
    return '';
  }
  const values = place instanceof Piece || place instanceof Rows ? place.values : place;
  for (const value of values) bindings.push(value);
  return place instanceof Piece ? place.sql : values.length;
}

function writeOut(text: TemplateStringsArray, places: readonly TemplateValue[], prefix: string): string {
  const parts = text.map((part) => part.replace(/\n\s*/g, ' ').replace(/\{(\w+)\}/g, (_, table: string) => quoted(prefix + table)));
  return String.raw({ raw: parts }, ...places.map(marksOf)).trim();
}

const isLongList = (place: TemplateValue): place is readonly number[] =>
  Array.isArray(place) && place.length > MOST_BOUND && place.every((value) => Number.isSafeInteger(value));

function marksOf(place: TemplateValue): string {
  if (isLongList(place)) return place.join(', ');
  if (place instanceof Piece) return place.sql;
  if (place instanceof Rows) return listOf(place.values.length / place.width, `(${listOf(place.width, '?')})`);
  if (place === null || typeof place !== 'object') return '?';
  return place.length === 0 ? 'NULL' : listOf(place.length, '?');
}

const listOf = (length: number, item: string) => Array.from({ length }, () => item).join(', ');
const quoted = (name: string) =>
  name
    .split('.')
    .map((part) => `\`${part}\``)
    .join('.');
