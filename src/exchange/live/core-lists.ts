import { postKind } from '../../kinds/index.ts';
import { codeOf, isRecord } from '../../objects.ts';
import { addDays, utcFromDate } from '../../wordpress/time.ts';
import { type LossEntry, lossEntry } from '../items/report.ts';
import { validEntries } from './answers.ts';
import { KINDS, type PostStage } from './record-losses.ts';
import { type CoreRecord, coreRecord } from './records.ts';
import type { JsonObject, Query, RemoteSite, SiteAnswer } from './site-client.ts';
import type { Walk } from './walk.ts';

/** Maximum size of a page of WordPress's own lists. */
export const CORE_PAGE_SIZE = 100;

/** A part of one of WordPress's own lists. */
export interface CoreList {
  readonly list: readonly unknown[];
  /** Whether the site did not show to us the texts as they are stored, although it has the list. */
  readonly hidesStored: boolean;
  readonly losses: readonly LossEntry[];
}

/**
 * Requests records with these ids from one of WordPress's own lists. If the site lacks the list or denies it to us, it
 * is not requested again; after other failures, the next ids are tried. With credentials, the texts are requested as
 * they are stored; if that fails, it is reported, and the texts come as visitors see them.
 */
export async function coreList(walk: Walk, route: string, ids: readonly number[], query: Query): Promise<CoreList> {
  const { site, unavailableRoutes } = walk;
  if (ids.length === 0) return { list: [], hidesStored: false, losses: [] };
  const losses: LossEntry[] = [];
  let editStatus = unavailableRoutes.get(`${route} edit`);
  for (const context of site.credentials === undefined ? ['view'] : ['edit', 'view']) {
    const name = `${route} ${context}`;
    if (unavailableRoutes.has(name)) continue;
    const answer = await site.request(`wp/v2/${route}`, {
      include: ids.join(','),
      per_page: CORE_PAGE_SIZE,
      context,
      ...query,
      ...(context === 'edit' && route.startsWith('tribe') ? { status: 'any' } : {}),
    });
    if (answer.status === 200 && Array.isArray(answer.body)) return { list: answer.body, hidesStored: isDenied(editStatus), losses };
    if (answer.status >= 400 && answer.status < 500) unavailableRoutes.set(name, answer.status);
    if (context !== 'edit') continue;
    editStatus = answer.status;
    if (isDenied(editStatus)) losses.push(unreadTextsLoss(site, route, answer));
  }
  return { list: [], hidesStored: isDenied(editStatus), losses };
}

/** Whether a request for stored texts has failed otherwise than because the site lacks the list. */
const isDenied = (status: number | undefined): boolean => status !== undefined && status !== 404;

const unreadTextsLoss = ({ home }: RemoteSite, route: string, { status, body }: SiteAnswer): LossEntry =>
  lossEntry({ reason: 'site-texts-unread', kind: 'source', of: home, detail: `wp/v2/${route} ${status} ${codeOf(body)}`.trim() });

/** Records as WordPress's own routes show them. */
export interface CoreRecords {
  readonly byId: ReadonlyMap<number, CoreRecord>;
  /** Ids of records whose stored texts could not be read, although the site has them. */
  readonly withoutStored: ReadonlySet<number>;
  readonly losses: readonly LossEntry[];
}

/** Returns what WordPress's own routes say about these records. */
export async function coreRecords(walk: Walk, stage: PostStage, list: readonly JsonObject[]): Promise<CoreRecords> {
  const route = postKind(KINDS[stage]).postType;
  const query = { _fields: 'id,guid,title,content,excerpt,password,meta,comment_status,ping_status' };
  const ids = list.map(({ id }) => Number(id));
  const { list: listed, hidesStored, losses } = await coreList(walk, route, ids, query);
  const byId = new Map(validEntries(coreRecord, listed).map((record) => [record.id, record]));
  const unlisted = list.filter(({ id }) => !byId.has(Number(id)));
  const { records, failures } = await pastRecords(walk, route, unlisted, query);
  for (const record of records) byId.set(record.id, record);
  const isWithout = (id: number) => (hidesStored && byId.get(id)?.content?.raw === undefined) || failures.has(id);
  return {
    byId,
    withoutStored: new Set(ids.filter(isWithout)),
    losses: [...losses, ...Array.from(failures.values(), (answer) => unreadTextsLoss(walk.site, route, answer))],
  };
}

/**
 * Requests each event that is over from its own URL, as somebody who may edit it: the plugin leaves past events out of
 * WordPress's list, even if they are named. `failures`: other answers than the record or that there is none, by id.
 */
async function pastRecords({ site, options, unavailableRoutes }: Walk, route: string, list: readonly JsonObject[], query: Query) {
  // A day is more than the difference of two zones: the plugin compares in the zone of the site.
  const tomorrow = addDays(utcFromDate(options.now), 1);
  const past = list.filter(({ utc_end_date: end }) => typeof end === 'string' && end !== '' && end < tomorrow);
  const failures = new Map<number, SiteAnswer>();
  if (site.credentials === undefined || unavailableRoutes.has(`${route} edit`)) return { records: [], failures };
  const answers = await Promise.all(past.map(({ id }) => site.request(`wp/v2/${route}/${String(id)}`, { context: 'edit', ...query })));
  const shown = answers.flatMap((answer, index) => {
    const { status, body } = answer;
    const id = past[index]?.id;
    if (status !== 200 && status !== 404) failures.set(Number(id), answer);
    return status === 200 && isRecord(body) && body.id === id ? [body] : [];
  });
  return { records: validEntries(coreRecord, shown), failures };
}
