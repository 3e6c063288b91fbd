import { isImage, isLinks, valueIn } from '../../kinds/fields.ts';
import { isNewRecord, type LinkPlan } from '../../kinds/grammars/links.ts';
import type { PostKind, PostValues } from '../../kinds/kind.ts';
import type { Field } from '../../kinds/param.ts';
import { slugLock, titleLock } from '../../storage/rows/locks.ts';
import type { Post } from '../../wordpress/rows.ts';
import { isFloating } from '../../wordpress/status.ts';
import type { Caller } from '../caller.ts';
import { mayCreate } from '../posts.ts';
import { externalIdLocks } from './external-ids.ts';
import { errorOfField } from './linked-faults.ts';
import { type PostPlan, planPost } from './post-plan.ts';
import type { NewPost } from './write-context.ts';

/** The parts of a write that determine which names it takes. */
type NamedWrite = Pick<NewPost, 'kind' | 'values' | 'plan'>;

/**
 * Returns the locks for the names (slugs, titles) of a new record and of the records it brings along. They are taken
 * together, before anything else. Taken one after the other, they could deadlock with a request that takes them in a
 * different order.
 */
export function locksOfNew(
  caller: Caller,
  { kind, values, plan: { columns, metas, slug }, alwaysCreates = false }: NamedWrite & Pick<NewPost, 'alwaysCreates'>,
): string[] {
  return [
    ...externalIdLocks(kind, { metas }),
    ...(kind.reusesTitles && !alwaysCreates ? [titleLock(kind.postType, columns.post_title ?? '')] : []),
    ...(slug.unique && slug.slug !== '' ? [slugLock(kind.postType, slug.slug)] : []),
    ...locksOfLinkedRecords(caller, kind, values),
  ];
}

/** Returns the same for a change: the names of the records that it brings along, and a new slug. */
export const locksOfChange = (caller: Caller, { kind, values, plan }: NamedWrite, before: Post): string[] => [
  ...externalIdLocks(kind, plan),
  ...locksOfLinkedRecords(caller, kind, values),
  ...(isNewSlug(plan, before) ? [slugLock(kind.postType, plan.slug.slug)] : []),
];

/**
 * Whether a change gives a record a slug that must be unique: a new one, or that of a draft, which may have been
 * shared.
 */
export const isNewSlug = ({ slug: { slug, unique } }: PostPlan, row: Post): boolean =>
  unique && slug !== '' && (slug !== row.post_name || isFloating(row.post_status));

/** Returns the ids of existing records and images that a write names. */
export const referencedIds = (kind: PostKind, values: PostValues): number[] =>
  Object.entries(kind.fields).flatMap(([name, field]) => {
    if (isLinks(field)) return (valueIn(values, name, field) ?? []).flatMap((plan) => (isNewRecord(plan) ? [] : [plan.id]));
    const image = isImage(field) ? valueIn(values, name, field) : undefined;
    return typeof image === 'number' && image > 0 ? [image] : [];
  });

/** Throws the errors of `planPost` about the new venues and organizers in the values, as errors about their fields. */
const locksOfLinkedRecords = (caller: Caller, kind: PostKind, values: PostValues): string[] =>
  Object.entries(kind.fields).flatMap(([name, field]) =>
    isLinks(field) ? newRecords(caller, valueIn(values, name, field) ?? []).flatMap((one) => locksOfLinked(caller, one, name, field)) : [],
  );

function locksOfLinked(caller: Caller, record: NewLinked, name: string, field: Field): string[] {
  try {
    return locksOfNew(caller, { ...record, plan: planPost(caller, record.kind, record.values) });
  } catch (error) {
    throw errorOfField(error, name, field);
  }
}

type NewLinked = Pick<NewPost, 'kind' | 'values'>;

/** Returns the new venues and organizers that the caller may create. */
const newRecords = (caller: Caller, links: readonly LinkPlan[]): NewLinked[] =>
  links.filter(isNewRecord).filter((one) => mayCreate(caller, one.kind));
