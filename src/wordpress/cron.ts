import { isObject, objectOf } from '../objects.ts';
import { parseSerialized } from './php/serialized.ts';

/** The option in which WordPress keeps what it will do at certain times (`_get_cron_array`). */
export const CRON_OPTION = 'cron';

/** The hook of a scheduled post, whose only argument is its id (`_future_post_hook`). */
const PUBLISH_HOOK = 'publish_future_post';

/**
 * Returns the ids of the posts that WordPress publishes when it next looks at its schedule: those whose time there has
 * come. It does not look for scheduled posts in any other way. Undefined if the schedule cannot be read, for example
 * because it contains an object of a plugin.
 *
 * @param text option `cron`: Unix time -> hook -> key -> `{args}`
 * @param now Unix seconds
 */
export function postsDueInCron(text: string | undefined, now: number): ReadonlySet<number> | undefined {
  const schedule = parseSerialized(text ?? '');
  if (text && !isObject(schedule)) return undefined;
  const due = Object.entries(objectOf(schedule)).filter(([time]) => Number(time) <= now);
  const jobs = due.flatMap(([, hooks]) => Object.values(objectOf(objectOf(hooks)[PUBLISH_HOOK])));
  return new Set(jobs.flatMap((job) => Object.values(objectOf(objectOf(job).args)).map(Number)));
}
