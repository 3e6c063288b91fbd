import { isObject } from '../objects.ts';
/** The reason that the warning names. */
export const LOST_PARENT = 'parent-below-itself';

/**
 * Whether a category stands at the top level after a write that names a parent: a parent below the category itself
 * counts as none (`wp_check_term_hierarchy_for_loops`). `record`: as answered.
 */
export const hasLostParent = (parent: unknown, record: unknown): boolean =>
  Number(parent) > 0 && isObject(record) && 'taxonomy' in record && 'parent' in record && record.parent === 0;
