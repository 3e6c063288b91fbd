import { postKindOfType, postTypes, taxonomiesOf } from '../kinds/index.ts';
import type { Site } from '../site.ts';
import { noteChange } from '../storage/journal/reported-changes.ts';
import { updateEdges } from '../storage/rows/calendar-edges.ts';
import { findDuePosts, lockPost, updatePost } from '../storage/rows/posts.ts';
import { moveCounts, termTaxonomyIdsOf } from '../storage/rows/term-links.ts';
import { preventUserRemoval } from '../storage/rows/users.ts';
import type { Post } from '../wordpress/rows.ts';
import { isRealDate, utcFromDate } from '../wordpress/time.ts';
import type { Viewer } from '../wordpress/viewer.ts';
import { localFromDate, type Zone } from '../wordpress/zones.ts';
import { callerFor } from './caller.ts';
import { updateIndex } from './list-index.ts';
import { countForLanguage } from './record-languages.ts';
import { sumOfEach } from './sum-of-each.ts';
import { publishNotedDrafts } from './writes/write-post.ts';

/** Viewer for scheduled tasks, which run without a user. The permission was checked when the record was scheduled. */
const SCHEDULER: Viewer = { id: 0, login: '', can: () => true };

/**
 * Publishes the scheduled records whose time has come, like WordPress's scheduler (`wp_publish_post`). Only the status
 * changes. The linked drafts of venues and organizers that were noted at scheduling are published too. Several
 * processes may run it at the same time. Returns the number of records published.
 */
export async function publishDuePosts(site: Site): Promise<number> {
  const settings = await site.settings();
  const { zone } = settings;
  const startedAt = site.clock();
  const dueIds = await findDuePosts(site.db, postTypes, { utc: utcFromDate(startedAt), local: localFromDate(startedAt, zone) });
  if (dueIds.length === 0) return 0;
  const language = site.texts.chooseLanguage({});
  return sumOfEach(site, dueIds, 'a scheduled record could not be published', (id) =>
    site.db.transaction(async (db) => {
      const row = await lockPost(db, id);
      const now = site.clock();
      if (row?.post_status !== 'future' || !isDue(row, now, zone)) return 0;
      const kind = postKindOfType(row.post_type)!;
      await updatePost(db, id, { post_status: 'publish' });
      // Without its author, a record is published in nobody's name.
      const viewer = (await preventUserRemoval(db, row.post_author)) ? { ...SCHEDULER, id: row.post_author } : SCHEDULER;
      await publishNotedDrafts({ db, caller: callerFor(site, settings, viewer, { language, now }), kind }, id);
      await countForLanguage(db, { settings }, kind, id, 'shown');
      await moveCounts(db, [], await termTaxonomyIdsOf(db, [id], taxonomiesOf(kind)));
      if (kind.hasDates && settings.occurrenceTables) await updateEdges(db, id);
      if (kind.hasDates) await updateIndex(db, { settings }, [id]);
      noteChange(db, { now });
      return 1;
    }),
  );
}

/** Whether the time of a scheduled post has come. If it has no date in UTC, its local date counts. */
function isDue({ post_date: local, post_date_gmt: utc }: Post, now: Date, zone: Zone): boolean {
  if (isRealDate(utc)) return utc <= utcFromDate(now);
  return isRealDate(local) && local <= localFromDate(now, zone);
}
