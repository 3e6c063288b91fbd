import { failParam } from '../../errors.ts';
import type { PostKind, Rows, StoredPost } from '../../kinds/kind.ts';
import type { Field, Values } from '../../kinds/param.ts';
import type { RuleContext } from '../../kinds/rendering.ts';
import { ksesPost, ksesTitle, storedContent } from '../../wordpress/content/kses.ts';
import { stripControlCharacters } from '../../wordpress/content/plain-text.ts';
import type { Post } from '../../wordpress/rows.ts';
import { tableOf } from '../../wordpress/table.ts';

/**
 * Size of WordPress's columns of these names, in bytes (`TEXT`). MySQL would silently truncate longer texts; `wpdb`
 * refuses such a row.
 */
const COLUMN_BYTES: ReadonlyMap<string, number> = tableOf({ post_title: 65_535, post_excerpt: 65_535 });

/** Numeric columns. */
const NUMERIC_COLUMNS = new Set(['post_author', 'menu_order', 'post_parent']);

/** Whether the caller may write any HTML; for others, scripts and the like are removed. */
export interface HtmlTrust {
  readonly isTrusted: boolean;
}

/**
 * Returns the columns and metas that store the named fields. Other columns that change with them are returned by the
 * kind's `derivedRows`. Links, terms and the image are resolved elsewhere.
 *
 * @throws rest_invalid_param for a text that is longer than its column
 */
export function fieldRows(kind: PostKind, values: Values, { isTrusted }: HtmlTrust): Rows {
  const columns: Record<string, string | number> = {};
  const metas: Record<string, readonly string[]> = {};
  for (const [name, value] of Object.entries(values)) {
    const field: Field | undefined = kind.fields[name];
    if (!field) continue;
    const texts = (field.store?.(value === null ? '' : value) ?? []).map(stripControlCharacters);
    if (field.place.in === 'column') {
      const text = texts[0] ?? '';
      const columnValue = NUMERIC_COLUMNS.has(field.place.column) ? Number(text) : filterHtml(field.place.column, text, isTrusted);
      if (Buffer.byteLength(String(columnValue)) > (COLUMN_BYTES.get(field.place.column) ?? Number.POSITIVE_INFINITY))
        failParam(name, 'too-long');
      columns[field.place.column] = columnValue;
    } else if (field.place.in === 'meta') metas[field.place.key] = texts;
  }
  // The type holds: places name columns of `posts`, and the columns in `NUMERIC_COLUMNS` get numbers, all others texts.
  return { columns: columns as Partial<Post>, metas };
}

/**
 * Returns the other columns and metas that change with the named fields (`derivedRows` of the kind). The rules get
 * texts in their stored form, so that a text copied into another meta is as clean as the field itself.
 */
export function deriveRows(kind: PostKind, values: Values, before: StoredPost | undefined, context: RuleContext): Rows {
  const storedValues = Object.entries(values).map(([name, value]) => {
    const field: Field | undefined = kind.fields[name];
    const isText = field?.place.in === 'meta' && typeof value === 'string';
    return [name, isText ? (field.store?.(value)[0] ?? '') : value] as const;
  });
  return kind.derivedRows(Object.fromEntries(storedValues), before, context);
}

function filterHtml(column: string, text: string, isTrusted: boolean): string {
  if (column === 'post_title') return (isTrusted ? text : ksesTitle(text)).trim();
  return storedContent(isTrusted ? text : ksesPost(text));
}
