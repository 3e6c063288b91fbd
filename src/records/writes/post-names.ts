import { isImage, isLinks, valueIn } from '../../kinds/fields.ts';
import type { LinkPlan } from '../../kinds/grammars/links.ts';
import type { Before, PostKind, PostValues, Rows } from '../../kinds/kind.ts';
import { EXTERNAL_ID } from '../../kinds/post-fields.ts';
import { externalIdLock, slugLock, titleLock } from '../../storage/rows/locks.ts';
import type { Post } from '../../wordpress/rows.ts';
import { isFloating } from '../../wordpress/status.ts';
import type { Caller } from '../caller.ts';
import { mayCreate } from '../posts.ts';
import { type PostPlan, planPost } from './post-plan.ts';
import { isNewRecord } from './prepared-images.ts';

/**
 * A new record that a request asks for. `anew`: it is made even where its kind reuses the record of the same title.
 * `brought`: it comes along with another record, which may then use one that exists.
 * `source`: the record that it is a translation of.
 */
export interface NewPost {
  readonly kind: PostKind;
  readonly values: PostValues;
  readonly plan: PostPlan;
  readonly anew?: boolean | undefined;
  readonly brought?: boolean;
  readonly source?: Before | undefined;
}

/**
 * The names (slugs, titles) that a new record and the records it brings along need. They are locked together, before
 * anything else: locking one after the other would deadlock with a request that does so in another order.
 */
export function namesOfNew(caller: Caller, { kind, values, plan: { columns, metas, slug }, anew = false }: NewPost): string[] {
  return [
    ...externalLocks(kind, metas),
    ...(kind.reusesTitles && !anew ? [titleLock(kind.postType, columns.post_title ?? '')] : []),
    ...(slug.unique && slug.slug !== '' ? [slugLock(kind.postType, slug.slug)] : []),
    ...namesOfBrought(caller, kind, values),
  ];
}

/** The same for a record that is changed: the names of what it brings along, and its own new slug. */
export const namesOfChange = (caller: Caller, { kind, values, plan }: NewPost, before: Post): string[] => [
  ...externalLocks(kind, plan.metas),
  ...namesOfBrought(caller, kind, values),
  ...(isNewSlug(plan, before) ? [slugLock(kind.postType, plan.slug.slug)] : []),
];

const externalLocks = ({ postType }: PostKind, metas: Rows['metas']): string[] =>
  (metas[EXTERNAL_ID] ?? []).map((externalId) => externalIdLock(postType, externalId));

/** Whether a change gives a record a slug that nobody else may have: a new one, or that of a draft, which is shared. */
export const isNewSlug = ({ slug: { slug, unique } }: PostPlan, row: Post): boolean =>
  unique && slug !== '' && (slug !== row.post_name || isFloating(row.post_status));

/** Ids of records and images that a write names, as far as they exist already. */
export const namedBy = (kind: PostKind, values: PostValues): number[] =>
  Object.entries(kind.fields).flatMap(([name, field]) => {
    if (isLinks(field)) return (valueIn(values, name, field) ?? []).flatMap((plan) => (isNewRecord(plan) ? [] : [plan.id]));
    const image = isImage(field) ? valueIn(values, name, field) : undefined;
    return typeof image === 'number' && image > 0 ? [image] : [];
  });

const namesOfBrought = (caller: Caller, kind: PostKind, values: PostValues): string[] =>
  broughtAlong(caller, kind, values).flatMap((one) => namesOfNew(caller, { ...one, plan: planPost(caller, one.kind, one.values) }));

/** The new venues and organizers in the values that the caller may create. */
const broughtAlong = (caller: Caller, kind: PostKind, values: PostValues) =>
  linksIn(kind, values)
    .filter(isNewRecord)
    .filter((one) => mayCreate(caller, one.kind));

/** The venues and organizers that the values name or bring along. */
const linksIn = (kind: PostKind, values: PostValues): LinkPlan[] =>
  Object.entries(kind.fields).flatMap(([name, field]) => (isLinks(field) ? (valueIn(values, name, field) ?? []) : []));
