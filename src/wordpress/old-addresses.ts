import { type StoredValue, storedTexts } from './php/serialized.ts';
import { type Metas, type Post, textsOf } from './rows.ts';

/*
 * Metas in which WordPress stores the previous slug or date of a published post, so that old URLs still lead to it
 * (`wp_check_for_changed_slugs`, `wp_check_for_changed_dates`).
 */

type AddressColumns = Pick<Post, 'post_name' | 'post_date' | 'post_status'>;

const ZERO_DAY = '0000-00-00';
/** Statuses of published posts. Files in the library inherit the status of the post that they are attached to. */
const PUBLISHED_STATUSES = new Set(['publish', 'inherit']);

/** Returns the metas that change, with all their values. */
export function oldAddresses(
  metas: Metas | undefined,
  before: AddressColumns,
  after: AddressColumns,
): Record<string, readonly StoredValue[]> {
  if (!PUBLISHED_STATUSES.has(after.post_status)) return {};
  const [dayBefore, day] = [before.post_date.slice(0, 10), after.post_date.slice(0, 10)];
  const isRenamed = PUBLISHED_STATUSES.has(before.post_status) && before.post_name !== after.post_name && before.post_name !== '';
  return {
    ...(isRenamed ? { _wp_old_slug: withPrevious(textsOf(metas, '_wp_old_slug'), before.post_name, after.post_name) } : {}),
    ...(dayBefore !== day && dayBefore !== ZERO_DAY ? { _wp_old_date: withPrevious(textsOf(metas, '_wp_old_date'), dayBefore, day) } : {}),
  };
}

/** Returns the old values including the previous one, and without the current one. */
const withPrevious = (old: readonly string[], before: string, now: string): StoredValue[] =>
  storedTexts([...old.filter((value) => value !== now && value !== before), before]);
