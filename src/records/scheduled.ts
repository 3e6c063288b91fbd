import type { SiteSettings } from '../calendar/settings.ts';
import { postKindOfType, postTypes, taxonomiesOf } from '../kinds/index.ts';
import type { Site } from '../site.ts';
import type { Database } from '../storage/engine/database.ts';
import { noteChange } from '../storage/journal/reported-changes.ts';
import { updateEdges } from '../storage/rows/calendar-edges.ts';
import { readOptions } from '../storage/rows/options.ts';
import { findDuePosts, lockPost, updatePost } from '../storage/rows/posts.ts';
import { moveCounts, termTaxonomyIdsOf } from '../storage/rows/term-links.ts';
import { preventUserRemoval } from '../storage/rows/users.ts';
import { CRON_OPTION, postsDueInCron } from '../wordpress/cron.ts';
import type { Post } from '../wordpress/rows.ts';
import { isRealDate, unixFromDate, utcFromDate } from '../wordpress/time.ts';
import { ANONYMOUS, type Viewer } from '../wordpress/viewer.ts';
import { localFromDate, type Zone } from '../wordpress/zones.ts';
import { callerFor } from './caller.ts';
import { updateIndex } from './list-index.ts';
import { countForLanguage } from './record-languages.ts';
import { sumOfEach } from './sum-of-each.ts';
import { publishDraftsOfAuthor, publishNotedDrafts } from './writes/write-post.ts';

/** Viewer for scheduled tasks, which run without a user. The permission was checked when the record was scheduled. */
const SCHEDULER: Viewer = { id: 0, login: '', can: () => true };

/**
 * Time that WordPress has for publishing what it has scheduled itself, in milliseconds. Its scheduler may only run when
 * somebody visits.
 */
const WORDPRESS_DELAY_MS = 600_000;

/** Returns the user with an id, with the rights that these settings give; undefined if there is none. */
type LoadViewer = (db: Database, settings: SiteSettings, id: number) => Promise<Viewer | undefined>;

/**
 * Publishes the scheduled records whose time has come, like WordPress's scheduler (`wp_publish_post`). Only the status
 * changes. Linked drafts of venues and organizers are published too: those noted at scheduling, and those that the
 * record's author may publish if WordPress scheduled it. Records that a WordPress beside this server is about to
 * publish are left to it for ten minutes, so that its plugins notice. Several processes may run it at the same time.
 * Returns the number of records published.
 */
export async function publishDuePosts(site: Site, loadViewer: LoadViewer): Promise<number> {
  const settings = await site.settings();
  const { zone } = settings;
  const startedAt = site.clock();
  const dueIds = await findDuePosts(site.db, postTypes, { utc: utcFromDate(startedAt), local: localFromDate(startedAt, zone) });
  if (dueIds.length === 0) return 0;
  const dueInWordpress = await readPostsDueInCron(site.db, startedAt);
  const language = site.texts.chooseLanguage({});
  return sumOfEach(site, dueIds, 'a scheduled record could not be published', (id) =>
    site.db.transaction(async (db) => {
      const row = await lockPost(db, id);
      const now = site.clock();
      const isOfWordpress = dueInWordpress ? dueInWordpress.has(id) : settings.shared;
      const latestDue = isOfWordpress && settings.shared ? new Date(now.getTime() - WORDPRESS_DELAY_MS) : now;
      if (row?.post_status !== 'future' || !isDue(row, latestDue, zone)) return 0;
      const kind = postKindOfType(row.post_type)!;
      await updatePost(db, id, { post_status: 'publish' });
      // Without its author, a record is published in nobody's name.
      const hasAuthor = await preventUserRemoval(db, row.post_author);
      const author = hasAuthor ? await loadViewer(db, settings, row.post_author) : undefined;
      const asCaller = (viewer: Viewer) => callerFor(site, settings, viewer, { language, now });
      const write = { db, caller: asCaller({ ...SCHEDULER, id: author?.id ?? SCHEDULER.id }), kind };
      await publishNotedDrafts(write, id);
      if (isOfWordpress) await publishDraftsOfAuthor({ ...write, caller: asCaller(author ?? ANONYMOUS) }, id);
      await countForLanguage(db, { settings }, kind, id, 'shown');
      await moveCounts(db, [], await termTaxonomyIdsOf(db, [id], taxonomiesOf(kind)));
      if (kind.hasDates && settings.occurrenceTables) await updateEdges(db, id);
      if (kind.hasDates) await updateIndex(db, { settings }, [id]);
      noteChange(db, { now });
      return 1;
    }),
  );
}

const readPostsDueInCron = async (db: Database, now: Date): Promise<ReadonlySet<number> | undefined> =>
  postsDueInCron((await readOptions(db, [CRON_OPTION])).get(CRON_OPTION), unixFromDate(now));

/** Whether the time of a scheduled post has come. If it has no date in UTC, its local date counts. */
function isDue({ post_date: local, post_date_gmt: utc }: Post, now: Date, zone: Zone): boolean {
  if (isRealDate(utc)) return utc <= utcFromDate(now);
  return isRealDate(local) && local <= localFromDate(now, zone);
}
