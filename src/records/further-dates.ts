import type { Site } from '../site.ts';
import { noteChange } from '../storage/journal/reported-changes.ts';
import { recomputeEdges } from '../storage/rows/calendar-edges.ts';
import { lockPost } from '../storage/rows/posts.ts';
import { endlessRulesGeneratedBefore, extendRule } from '../storage/rows/rule-dates.ts';
import { addDays, addMonths, utcFromDate } from '../wordpress/time.ts';
import { updateIndex } from './list-index.ts';
import { sumOfEach } from './sum-of-each.ts';

/** Further dates are added for at least this many days at a time. */
const MIN_STEP_DAYS = 31;
const HOUR_MS = 3_600_000;
const BATCH_SIZE = 50;

/** Time of the last check, by site. */
const lastChecks = new WeakMap<Site, number>();

/**
 * Adds further dates to endless recurrence rules, for the number of months ahead in the site's settings. Runs once an
 * hour, and only if no WordPress does it. Several processes may run it at the same time. Returns the number of dates
 * added.
 */
export async function addFurtherDates(site: Site): Promise<number> {
  const now = site.clock();
  const age = now.getTime() - (lastChecks.get(site) ?? Number.NEGATIVE_INFINITY);
  // The age is negative if the clock was set back.
  if (age >= 0 && age < HOUR_MS) return 0;
  const settings = await site.settings();
  if (!settings.recurrence || settings.shared) return 0;
  const until = addMonths(utcFromDate(now), settings.calendar.monthsAhead);
  let count = 0;
  for await (const ids of endlessRulesGeneratedBefore(site.db, addDays(until, -MIN_STEP_DAYS), BATCH_SIZE)) {
    count += await sumOfEach(site, ids, 'a recurring event could not be given further dates', (id) =>
      site.db.transaction(async (db) => {
        if (!(await lockPost(db, id))) return 0;
        const addedCount = await extendRule(db, id, { until, updatedAt: utcFromDate(now) });
        if (addedCount === 0) return 0;
        await updateIndex(db, { settings }, [id]);
        await recomputeEdges(db);
        noteChange(db, { now });
        return addedCount;
      }),
    );
  }
  lastChecks.set(site, now.getTime());
  return count;
}
