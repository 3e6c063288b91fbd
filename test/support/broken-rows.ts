import fc, { type Arbitrary } from 'fast-check';
import type { Fixture } from './site-data.mjs';

/*
 * Broken rows as in an old WordPress: partly restored, left behind by removed plugins, truncated, with dangling
 * references.
 */

/** Damage to one row of the sample site. `row` and `column` are taken modulo the number of rows and columns. */
export interface Damage {
  readonly what: 'change' | 'remove' | 'repeat';
  readonly table: string;
  readonly row: number;
  readonly column: number;
  readonly text: string | null;
  readonly number: number;
}

type Value = string | number | null;

/** Weights of the tables. Tables of users stay intact where the tests sign in. */
const TABLES: Readonly<Record<string, number>> = {
  postmeta: 8,
  posts: 5,
  options: 4,
  term_taxonomy: 3,
  term_relationships: 2,
  terms: 2,
  tec_events: 2,
  tec_occurrences: 3,
  usermeta: 1,
  users: 1,
};
/** Further columns that must be unique, besides the first column of each table, which is its key. */
const UNIQUE: Readonly<Record<string, readonly string[]>> = {
  options: ['option_name'],
  term_taxonomy: ['term_id'],
  term_relationships: ['object_id', 'term_taxonomy_id'],
  tec_events: ['post_id', 'hash'],
  tec_occurrences: ['hash'],
  users: ['user_login', 'user_pass'],
};
const NULLABLE = new Set(['meta_value']);

// biome-ignore format: lists
const SERIALIZED = [
  'a:2:{s:1:"a";i:1', 'a:0:{}', 'a:1:{i:0;O:8:"stdClass":0:{}}', 'O:8:"Recorder":1:{s:1:"x";R:1;}', 'b:0;', 'N;', 's:4:"cut', 'i:99999999999999999999;',
  'a:3:{s:5:"rules";a:1:{i:0;s:4:"none";}s:10:"exclusions";N;s:11:"description";i:3;}', 'a:1:{s:5:"rules";a:1:{i:0;a:1:{s:4:"type";i:7;}}}',
  'a:2:{i:0;s:1:"x";i:1;a:1:{s:1:"k";s:1:"v";}}', 'a:1:{s:5:"width";s:3:"big";}', 'd:NAN;', 'a:1:{s:5:"sizes";s:3:"all";}', 'C:3:"Abc":0:{}',
  'a:1:{s:5:"sizes";a:2:{s:6:"medium";N;i:0;s:1:"x";}}', 'a:2:{s:5:"width";i:9007199254740993;s:10:"image_meta";N;}',
];
// biome-ignore format: lists
const DATES = [
  '0000-00-00 00:00:00', '2026-13-45 99:99:99', '9999-12-31 23:59:59', '1000-01-01 00:00:00', '2026-02-30 10:00:00', '2026-11-20', '10:00', '20/11/2026 10:00',
  '2026-03-29 02:30:00', '2026-11-20T10:00:00Z', '-0001-11-30 00:00:00', 'tomorrow', '2026-11-20 10:00:00.123456', '10000-01-01 00:00:00',
];
// biome-ignore format: lists
const TEXTS = [
  '', ' ', '0', 'null', 'undefined', '[object Object]', 'NaN', '-1', '1e400', '12abc', '0x1f', 'yes', '\u0001\u001f', '\ufffd\ufffd', '\u202e', 'é'.repeat(300),
  'Europe/Nowhere', 'UTC+99', 'UTC-0.3', '+25:00', 'GMT', '%', '%E4%F6', '<', '<!--', '&#0;', '&#xD800;', '[gallery', '[caption]', '<!-- wp:block {"a":} -->', '{"a":', '[]',
  'http://', 'javascript:1', '//', '../../etc/passwd', '2026/11/none.png', 'draft', 'auto-draft', 'inherit', 'acf-disabled', 'tribe_events', 'revision', 'category', '__proto__',
  'constructor', '12', '44', '12,44', '999999', '1,234.56', '€', '90', '180.5', '-91',
];
const NUMBERS = [0, -1, 1, 2, 3, 5, 11, 12, 13, 44, 45, 92, 999_999, 2 ** 31 - 1];

/** Random damage to rows of a site. */
export const arbitraryDamage: Arbitrary<readonly Damage[]> = fc.array(
  fc.record({
    what: fc.oneof(
      { weight: 6, arbitrary: fc.constant('change' as const) },
      fc.constant('remove' as const),
      fc.constant('repeat' as const),
    ),
    table: fc.oneof(...Object.entries(TABLES).map(([name, weight]) => ({ weight, arbitrary: fc.constant(name) }))),
    row: fc.nat(5000),
    column: fc.nat(50),
    text: fc.oneof(fc.constantFrom(...SERIALIZED), fc.constantFrom(...DATES), fc.constantFrom(...TEXTS), fc.constant(null)),
    number: fc.constantFrom(...NUMBERS),
  }),
  { minLength: 1, maxLength: 60 },
);

/** The damaged site, and the posts that the damage affects. */
export function applyDamage(fixture: Fixture, damages: readonly Damage[]): { readonly site: Fixture; readonly posts: ReadonlySet<number> } {
  const site = structuredClone(fixture);
  const posts = new Set<number>();
  const columnOf = (table: string, name: string) => site[table]!.columns.indexOf(name);
  for (const { what, table, row, column, text, number } of damages) {
    const { columns, rows } = site[table]!;
    const place = row % rows.length;
    const damagedRow = rows[place] as Value[];
    for (const name of ['ID', 'post_id', 'object_id']) {
      const id = damagedRow[columns.indexOf(name)];
      if ((name !== 'ID' || table === 'posts') && id !== undefined) posts.add(Number(id));
    }
    if (what === 'remove' && rows.length > 1) rows.splice(place, 1);
    else if (what === 'repeat' && table.endsWith('meta')) {
      const lastId = Math.max(...rows.map(([id]) => Number(id)));
      rows.push([lastId + 1, ...damagedRow.slice(1, columnOf(table, 'meta_value')), text]);
    } else {
      const freeColumns = columns.map((_, index) => index).filter((index) => index > 0 && !UNIQUE[table]?.includes(columns[index]!));
      const changedColumn = freeColumns[column % freeColumns.length];
      if (changedColumn === undefined) continue;
      const isNumber = typeof damagedRow[changedColumn] === 'number';
      damagedRow[changedColumn] = isNumber ? number : text === null && !NULLABLE.has(columns[changedColumn]!) ? '' : text;
    }
  }
  return { site, posts };
}
