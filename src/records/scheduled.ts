import { postKindOfType, postTypes, taxonomiesOf } from '../kinds/index.ts';
import type { Site } from '../site.ts';
import { noteChange } from '../storage/journal/touched.ts';
import { noteEdges } from '../storage/rows/calendar-edges.ts';
import { findDuePosts, lockPost, updatePost } from '../storage/rows/posts.ts';
import { shiftCounts, termTaxonomyIdsOf } from '../storage/rows/terms.ts';
import { nowUtc } from '../wordpress/time.ts';
import type { Viewer } from '../wordpress/viewer.ts';
import { callerFor } from './caller.ts';
import { sumOfEach } from './each-alone.ts';
import { keepIndexOf } from './list-index.ts';
import { countForLanguage } from './record-languages.ts';
import { publishNoted } from './writes/write-post.ts';

/** Viewer for scheduled tasks, which run without a user. The permission was checked when the record was scheduled. */
const CLOCK: Viewer = { id: 0, login: '', can: () => true };

/**
 * Publishes the scheduled records whose time has come, like WordPress's scheduler (`wp_publish_post`). Only the status
 * changes. The linked drafts of venues and organizers that were noted at scheduling are published too. Several
 * processes may run it at the same time. Returns the number of records published.
 */
export async function publishDue(site: Site): Promise<number> {
  const due = await findDuePosts(site.db, postTypes, nowUtc(site.clock()));
  if (due.length === 0) return 0;
  const settings = await site.settings();
  const language = site.texts.chooseLanguage({});
  return sumOfEach(site, due, 'a scheduled record could not be published', (id) =>
    site.db.transaction(async (db) => {
      const row = await lockPost(db, id);
      const now = site.clock();
      if (row?.post_status !== 'future' || row.post_date_gmt > nowUtc(now)) return 0;
      const kind = postKindOfType(row.post_type)!;
      await updatePost(db, id, { post_status: 'publish' });
      const viewer = { ...CLOCK, id: row.post_author };
      await publishNoted({ db, caller: callerFor(site, settings, viewer, { language, now }), kind }, id);
      await countForLanguage(db, { settings }, kind, id, 'shown');
      await shiftCounts(db, [], await termTaxonomyIdsOf(db, [id], taxonomiesOf(kind)));
      if (kind.dated && settings.occurrenceTables) await noteEdges(db, id);
      if (kind.dated) await keepIndexOf(db, { settings }, [id]);
      noteChange(db, { now });
      return 1;
    }),
  );
}
