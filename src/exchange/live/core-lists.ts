import { postKind } from '../../kinds/index.ts';
import { addDays, utcFromDate } from '../../wordpress/time.ts';
import { validEntries } from './answers.ts';
import { KINDS, type PostStage } from './record-losses.ts';
import { type CoreRecord, coreRecord } from './records.ts';
import { isJsonObject, type JsonObject, type Query } from './site-client.ts';
import type { Walk } from './walk.ts';

/** Maximum size of a page of WordPress's own lists. */
export const CORE_PAGE_SIZE = 100;

/**
 * Requests records with these ids from one of WordPress's own lists. If the site lacks the list or denies it to us, it
 * is not requested again; after other failures, the next ids are tried.
 */
export async function coreList({ site, unavailableRoutes }: Walk, route: string, ids: readonly number[], query: Query): Promise<unknown[]> {
  if (ids.length === 0) return [];
  const views = ['edit', 'view']
    .map((context) => [context, `${route} ${context}`] as const)
    .filter(([context, name]) => !unavailableRoutes.has(name) && (context === 'view' || site.credentials !== undefined));
  for (const [context, name] of views) {
    const answer = await site.request(`wp/v2/${route}`, {
      include: ids.join(','),
      per_page: CORE_PAGE_SIZE,
      context,
      ...query,
      ...(context === 'edit' && route.startsWith('tribe') ? { status: 'any' } : {}),
    });
    if (answer.status === 200 && Array.isArray(answer.body)) return answer.body;
    if (answer.status >= 400 && answer.status < 500) unavailableRoutes.add(name);
  }
  return [];
}

/** Returns what WordPress's own routes say about these records, by their ids. */
export async function coreRecords(walk: Walk, stage: PostStage, list: readonly JsonObject[]): Promise<Map<number, CoreRecord>> {
  const route = postKind(KINDS[stage]).postType;
  const query = { _fields: 'id,guid,title,content,excerpt,password,meta,comment_status,ping_status' };
  const ids = list.map(({ id }) => Number(id));
  const listed = await coreList(walk, route, ids, query);
  const found = new Map(validEntries(coreRecord, listed).map((record) => [record.id, record]));
  for (const record of await pastRecords(
    walk,
    route,
    list.filter(({ id }) => !found.has(Number(id))),
    query,
  ))
    found.set(record.id, record);
  return found;
}

/**
 * Requests each event that is over from its own URL, as somebody who may edit it: the plugin leaves past events out of
 * WordPress's list, even if they are named.
 */
async function pastRecords({ site, options, unavailableRoutes }: Walk, route: string, list: readonly JsonObject[], query: Query) {
  // A day is more than the difference of two zones: the plugin compares in the zone of the site.
  const tomorrow = addDays(utcFromDate(options.now), 1);
  const past = list.filter(({ utc_end_date: end }) => typeof end === 'string' && end !== '' && end < tomorrow);
  if (site.credentials === undefined || unavailableRoutes.has(`${route} edit`)) return [];
  const answers = await Promise.all(past.map(({ id }) => site.request(`wp/v2/${route}/${String(id)}`, { context: 'edit', ...query })));
  return validEntries(
    coreRecord,
    answers.flatMap(({ status, body }, index) => (status === 200 && isJsonObject(body) && body.id === past[index]?.id ? [body] : [])),
  );
}
