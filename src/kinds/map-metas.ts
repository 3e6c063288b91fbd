import { storedTexts } from '../wordpress/php/serialized.ts';
import type { PostKind, Rows } from './kind.ts';
import type { Values } from './param.ts';

/** Fields that say whether a map and a link to it are shown, with the suffix of their metas. */
const MAP_FIELDS = [
  ['show_map', 'ShowMap'],
  ['show_map_link', 'ShowMapLink'],
] as const;

/**
 * In `wp/v2` and `tec/v1`, new venues have no such metas unless the request names them; the calendar's first interface
 * sets them.
 */
export const withoutMapMetas = (kind: Pick<PostKind, 'name'>, values: Values): Rows['metas'] =>
  kind.name === 'venue' ? unlessNamed(values, ['_Venue', '_Event'], []) : {};

/** In `tec/v1`, new events show maps unless the request says otherwise. */
export const withMapMetas = (kind: Pick<PostKind, 'name'>, values: Values): Rows['metas'] =>
  kind.name === 'event' ? unlessNamed(values, ['_Event'], ['1']) : withoutMapMetas(kind, values);

const unlessNamed = (values: Values, prefixes: readonly string[], texts: readonly string[]): Rows['metas'] =>
  Object.fromEntries(
    MAP_FIELDS.flatMap(([field, key]) =>
      field in values ? [] : prefixes.map((prefix) => [`${prefix}${key}`, storedTexts(texts)] as const),
    ),
  );
