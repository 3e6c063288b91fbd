import type { PostItem } from './items.ts';

/*
 * Venues, organizers and images that only private events of a calendar name, which must not be more public than these.
 */

/** Returns such a record: private. */
export const hiddenForm = (item: PostItem): PostItem => ({ ...item, columns: { ...item.columns, post_status: 'private' } });

/** Returns the record as it would be if a public event named it; undefined if it is not such a record. */
export function shownForm(item: PostItem): PostItem | undefined {
  if (!isLinkedByName(item) || item.columns.post_status !== 'private') return undefined;
  return { ...item, columns: { ...item.columns, post_status: item.kind === 'attachment' ? 'inherit' : 'publish' } };
}

/** Whether a record is known only because events name it. */
export const isLinkedByName = ({ kind, complete, match, initial = [] }: PostItem): boolean =>
  kind !== 'event' && !complete && (kind === 'attachment' || match === 'details') && initial.includes('post_status');
