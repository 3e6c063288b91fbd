import type { PostKind, Rows, StoredPost } from '../../kinds/kind.ts';
import type { Field, Values } from '../../kinds/param.ts';
import type { RuleContext } from '../../kinds/rendering.ts';
import { stripControlCharacters } from '../../wordpress/content/plain-text.ts';
import { type StoredValue, storedTexts } from '../../wordpress/php/serialized.ts';
import type { Post } from '../../wordpress/rows.ts';
import { columnText, type HtmlTrust } from '../clean-text.ts';

/** Numeric columns. */
const NUMERIC_COLUMNS = new Set(['post_author', 'menu_order', 'post_parent']);

/**
 * Returns the columns and metas that store the named fields. Other columns that change with them are returned by the
 * kind's `derivedRows`. Links, terms and the image are resolved elsewhere.
 *
 * @throws rest_invalid_param for a text that is longer than its column
 */
export function fieldRows(kind: PostKind, values: Values, trust: HtmlTrust): Rows {
  const columns: Record<string, string | number> = {};
  const metas: Record<string, readonly StoredValue[]> = {};
  for (const [name, value] of Object.entries(values)) {
    const field: Field | undefined = kind.fields[name];
    if (!field) continue;
    const texts = (field.store?.(value === null ? '' : value) ?? []).map(stripControlCharacters);
    if (field.place.in === 'column') {
      const text = texts[0] ?? '';
      const { column } = field.place;
      columns[column] = NUMERIC_COLUMNS.has(column) ? Number(text) : columnText(name, column, text, trust);
    } else if (field.place.in === 'meta') metas[field.place.key] = storedTexts(texts);
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
