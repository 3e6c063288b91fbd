import { isDeepStrictEqual } from 'node:util';
import type { Rows, StoredPost } from '../../kinds/kind.ts';
import type { MetasAndTerms } from './metas-and-terms.ts';
import { isNewSlug } from './name-locks.ts';
import type { PostPlan } from './post-plan.ts';

/*
 * Comparison of what a write plans with what is stored.
 */

/** Returns those metas whose values differ from the stored ones. */
export const changedMetas = ({ metas: storedMetas }: Pick<StoredPost, 'metas'>, metas: Rows['metas']): [string, Rows['metas'][string]][] =>
  Object.entries(metas).filter(([key, values]) => !isDeepStrictEqual(storedMetas.get(key) ?? [], values));

/**
 * Whether a record without links has everything already that a change would give it, apart from the time of the change.
 * Terms count as a difference.
 */
export function isStored(before: StoredPost, plan: PostPlan, { metas, terms }: MetasAndTerms): boolean {
  const { row } = before;
  const { post_modified: _local, post_modified_gmt: _utc, ...columns } = plan.columns;
  const { slug, unique } = plan.slug;
  return (
    terms.size === 0 &&
    isDeepStrictEqual({ ...row, ...columns }, { ...row }) &&
    !isNewSlug(plan, row) &&
    row.post_name === slugOrId(slug, unique, row.ID) &&
    changedMetas(before, { ...plan.metas, ...metas }).length === 0
  );
}

/** Returns the slug under which a record is stored: its id, if it must have a slug and has none. */
export const slugOrId = (slug: string, isRequired: boolean, id: number): string => slug || (isRequired ? String(id) : '');
