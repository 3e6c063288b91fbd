import type { Metas, Post } from './rows.ts';

/*
 * What WordPress notes of a published post whose slug or date changes, so that addresses with the old one still lead to
 * it (`wp_check_for_changed_slugs`, `wp_check_for_changed_dates`).
 */

type Addressed = Pick<Post, 'post_name' | 'post_date' | 'post_status'>;

const ZERO_DAY = '0000-00-00';
/** Files of the library have the status of what they are attached to. */
const SHOWN = new Set(['publish', 'inherit']);

/** The metas that change, with all their values. */
export function oldAddresses(metas: Metas | undefined, before: Addressed, after: Addressed): Record<string, readonly string[]> {
  if (!SHOWN.has(after.post_status)) return {};
  const known = (key: string) => metas?.get(key) ?? [];
  const [dayBefore, day] = [before.post_date.slice(0, 10), after.post_date.slice(0, 10)];
  const renamed = SHOWN.has(before.post_status) && before.post_name !== after.post_name && before.post_name !== '';
  return {
    ...(renamed ? { _wp_old_slug: outdated(known('_wp_old_slug'), before.post_name, after.post_name) } : {}),
    ...(dayBefore !== day && dayBefore !== ZERO_DAY ? { _wp_old_date: outdated(known('_wp_old_date'), dayBefore, day) } : {}),
  };
}

/** The old values with another one; what is in force again is old no longer. */
const outdated = (old: readonly string[], before: string, now: string): string[] => [
  ...old.filter((value) => value !== now && value !== before),
  before,
];
