import type { PostItem } from './items.ts';

/*
 * Venues, organizers and images that only private events of a calendar name, which must not be more public than these.
 */

/** Returns such a record: private. */
export const hiddenForm = (item: PostItem): PostItem => ({ ...item, isHidden: true, columns: { ...item.columns, post_status: 'private' } });

/** Returns a record as it would be if a public event named it. */
export function shownForm(item: PostItem): PostItem {
  if (!item.isHidden) return item;
  const { isHidden: _hidden, ...shown } = item;
  return { ...shown, columns: { ...item.columns, post_status: item.kind === 'attachment' ? 'inherit' : 'publish' } };
}
