import { codeOf, isRecord } from '../../objects.ts';
import { SourceFault } from '../items/items.ts';
import type { JsonObject, Query, RemoteSite } from '../live/site-client.ts';
import { IN_ALL_LANGUAGES, OF_ALL_TIMES } from '../live/walk.ts';
import { collectRecords, KINDS, type KindPath, type RecordCollector } from './collected-records.ts';
import { type DifferingValue, differencesOf } from './compare.ts';
import { type AnswerPair, type Described, type Difference, decisionOf } from './decisions.ts';
import { describedMembers, describedPaths, describedRoutes, languagesIn } from './describe.ts';
import { plannedRequests, type Request } from './plan.ts';

/** A difference, and the decision that explains it if it is deliberate. */
export interface Finding extends Difference {
  readonly decision: string | undefined;
  /**
   * The record that it concerns, however it was requested (`venues/12`), its title or name, and the member
   * (`json_ld.address`); undefined if it concerns a list as a whole.
   */
  readonly record?: { readonly route: string; readonly name: string; readonly member: string } | undefined;
}

export interface VerifyOptions {
  /** Number of records of each kind that are requested individually, by id and by slug; all by default. */
  readonly sample?: number | undefined;
  /** Whether to run the plan of filters. */
  readonly filters: boolean;
  /** Maximum number of concurrent requests to each site. */
  readonly concurrency: number;
  readonly onFinding: (finding: Finding) => void;
  /** Called with the phase, the number of its finished requests, and their total. */
  readonly onProgress?: (phase: Phase, count: number, total: number) => void;
}

export type Phase = 'description' | 'lists' | 'records' | 'filters';

/** The result of a verification. */
export interface VerifySummary {
  /** Number of requests that were compared. */
  readonly compared: number;
  /** Number of records of each kind in the lists of each site. */
  readonly records: Readonly<Record<string, { readonly old: number; readonly new: number }>>;
  /** Number of unexplained differences, and of requests that have any. */
  readonly differences: number;
  readonly requests: number;
  /** Deliberate differences, by decision. */
  readonly deliberate: Readonly<Record<string, number>>;
}

/**
 * Compares the responses of two sites: the description of the namespace, every page of every list, each record by id
 * and by slug, and a plan of filters made from the lists. It only reads.
 *
 * @throws SourceFault if a site cannot be reached any more, or if neither shows a list
 */
export async function verifySites(before: RemoteSite, after: RemoteSite, options: VerifyOptions): Promise<VerifySummary> {
  const pair = { old: before, new: after };
  const tally = { compared: 0, differences: 0, requests: 0, deliberate: {} as Record<string, number> };

  let described: Described | undefined;
  const report = (answers: AnswerPair, request: Request, places: readonly DifferingValue[]): void => {
    let isCounted = false;
    for (const place of places) {
      const difference: Difference = { ...place, ...request };
      const decision = decisionOf(difference, answers, described);
      if (decision === undefined) {
        tally.differences += 1;
        if (!isCounted) tally.requests += 1;
        isCounted = true;
      } else tally.deliberate[decision] = (tally.deliberate[decision] ?? 0) + 1;
      options.onFinding({ ...difference, decision, record: recordOf(answers, difference) });
    }
  };
  const ask = async (route: string, query: Query): Promise<AnswerPair> => {
    const [one, other] = await Promise.all([before.get(route, query), after.get(route, query)]);
    tally.compared += 1;
    return { old: one, new: other };
  };
  const compare = async (request: Request, reduce: (body: unknown) => unknown = (body) => body): Promise<AnswerPair> => {
    const answers = await ask(request.route, request.query);
    report(answers, request, placesOf(answers, pair, request.query, reduce));
    return answers;
  };

  options.onProgress?.('description', 0, 2);
  const roots = await compare({ route: '', query: {} }, describedRoutes);
  described = { old: describedMembers(roots.old.body), new: describedMembers(roots.new.body) };
  await compare({ route: 'doc', query: {} }, describedPaths);

  const records: Record<string, { old: number; new: number }> = {};
  const collector = collectRecords();
  for (const kind of KINDS)
    records[kind] = await walk(kind, { ask, pair, report, collector, ...(options.onProgress ? { progress: options.onProgress } : {}) });

  const singles = KINDS.flatMap((kind) => collector.singlePaths(kind, options.sample));
  await inParallel(singles, options, 'records', (route) => compare({ route, query: {} }));
  // Only Fasti filters all lists by language, so that both sites must name the languages.
  const newLanguages = languagesIn(roots.new.body);
  const languages = languagesIn(roots.old.body).filter((code) => newLanguages.includes(code));
  const planned = options.filters ? plannedRequests(collector.knownRecords(), languages) : [];
  await inParallel(planned, options, 'filters', (request) => compare(request));
  return { ...tally, records };
}

/** Parameters with which lists contain everything; sites without languages ignore the one for these. */
const WHOLE_LIST_QUERIES: Readonly<Record<KindPath, Query>> = {
  events: { ...IN_ALL_LANGUAGES, ...OF_ALL_TIMES },
  venues: IN_ALL_LANGUAGES,
  organizers: IN_ALL_LANGUAGES,
  categories: { ...IN_ALL_LANGUAGES, hide_empty: 'false' },
  tags: { ...IN_ALL_LANGUAGES, hide_empty: 'false' },
};
const PAGE_SIZE = 50;

type Homes = Parameters<typeof differencesOf>[2];

/**
 * Returns the differences between two responses. If their statuses differ, only these are reported, since the bodies
 * add nothing.
 */
function placesOf(answers: AnswerPair, pair: Homes, query: Query, reduce: (body: unknown) => unknown): DifferingValue[] {
  const { old: before, new: after } = answers;
  if (before.status !== after.status) return [{ path: 'status', old: statusOf(before), new: statusOf(after) }];
  return differencesOf(reduce(before.body), reduce(after.body), pair, query);
}

const statusOf = ({ status, body }: AnswerPair['old']): number | string => (codeOf(body) === '' ? status : `${status} ${codeOf(body)}`);

// ------------------------------------------------------------------------------------------------- lists
interface Walk {
  readonly ask: (route: string, query: Query) => Promise<AnswerPair>;
  readonly pair: Homes;
  readonly report: (answers: AnswerPair, request: Request, places: readonly DifferingValue[]) => void;
  readonly collector: RecordCollector;
  readonly progress?: VerifyOptions['onProgress'];
}

/**
 * Compares a list, page by page on both sites. Records are compared as soon as both sites have shown them, so that only
 * those in a different order are kept in memory.
 */
async function walk(kind: KindPath, { ask, pair, report, collector, progress }: Walk): Promise<{ old: number; new: number }> {
  const unpaired = { old: new Map<number, JsonObject>(), new: new Map<number, JsonObject>() };
  const order: { readonly old: string[]; readonly new: string[] } = { old: [], new: [] };
  const counts = { old: 0, new: 0 };
  let pages = 1;
  for (let page = 1; page <= pages; page += 1) {
    const query = { ...WHOLE_LIST_QUERIES[kind], per_page: PAGE_SIZE, page };
    const answers = await ask(kind, query);
    requireAnswer(answers, pair.old.home, page);
    const { old: before, new: after } = answers;
    const withoutRecords = { old: responseFrame(before, kind), new: responseFrame(after, kind) };
    report(
      answers,
      { route: kind, query },
      placesOf(withoutRecords, pair, query, (body) => body),
    );
    for (const side of ['old', 'new'] as const) {
      for (const record of recordsIn(answers[side].body, kind)) {
        counts[side] += 1;
        collector.add(kind, record);
        order[side].push(`${orderKeyOf(record)} ${String(record.id)}`);
        const otherSide = unpaired[side === 'old' ? 'new' : 'old'];
        const id = Number(record.id);
        const counterpart = otherSide.get(id);
        if (!counterpart) unpaired[side].set(id, record);
        else {
          otherSide.delete(id);
          const [one, two] = side === 'old' ? [record, counterpart] : [counterpart, record];
          const single = { old: { status: 200, body: one }, new: { status: 200, body: two } };
          report(single, { route: `${kind}/${id}`, query: {} }, differencesOf(one, two, pair));
        }
      }
    }
    pages = Math.max(...[before, after].map(({ body }) => (isRecord(body) ? Number(body.total_pages ?? 0) : 0)));
    progress?.('lists', page, pages);
  }
  const query = { ...WHOLE_LIST_QUERIES[kind], per_page: PAGE_SIZE };
  const emptyAnswers: AnswerPair = { old: { status: 200, body: {} }, new: { status: 200, body: {} } };
  for (const [id, record] of unpaired.old)
    report(emptyAnswers, { route: `${kind}/${id}`, query: {} }, [{ path: '$', old: record, new: undefined }]);
  for (const [id, record] of unpaired.new)
    report(emptyAnswers, { route: `${kind}/${id}`, query: {} }, [{ path: '$', old: undefined, new: record }]);
  report(emptyAnswers, { route: kind, query }, orderDifferences(order, unpaired));
  return counts;
}

/**
 * Throws if neither site shows a list, since then nothing was compared. Beyond the first page, the list may have become
 * shorter in the meantime.
 *
 * @throws SourceFault `site-refused`
 */
function requireAnswer({ old: before, new: after }: AnswerPair, site: string, page: number): void {
  const isSilent = ({ status }: AnswerPair['old']) => status !== 200 && (page === 1 || status !== 404);
  if (isSilent(before) && isSilent(after))
    throw new SourceFault('site-refused', { site, status: before.status, code: codeOf(before.body) });
}

/** Returns the response for a page of a list without its records, which are compared individually. */
const responseFrame = ({ status, body }: AnswerPair['old'], kind: KindPath): AnswerPair['old'] => ({
  status,
  body: isRecord(body) ? { ...body, [kind]: [] } : body,
});

const recordsIn = (body: unknown, kind: KindPath): JsonObject[] =>
  isRecord(body) && Array.isArray(body[kind]) ? body[kind].filter(isRecord) : [];

/** Returns the sort key of a record; records with equal keys may be in any order. */
const orderKeyOf = ({ utc_start_date: start, start_date: local, date, name }: JsonObject): string =>
  String(local ?? start ?? date ?? name ?? '').replaceAll(' ', '_');

/** Compares the order of the lists. Records that begin at the same moment may be in any order. */
function orderDifferences(
  order: Readonly<Record<'old' | 'new', readonly string[]>>,
  unpaired: Readonly<Record<'old' | 'new', ReadonlyMap<number, unknown>>>,
): DifferingValue[] {
  const idIn = (entry: string) => Number(entry.slice(entry.lastIndexOf(' ') + 1));
  const [before, after] = (['old', 'new'] as const).map((side) => order[side].filter((entry) => !unpaired[side].has(idIn(entry))));
  const firstDifference = before!.findIndex((entry, index) => entry !== after![index]);
  if (firstDifference < 0) return [];
  const keysOf = (entries: readonly string[]) => entries.map((entry) => entry.slice(0, entry.lastIndexOf(' '))).join('\n');
  const path = keysOf(before!) === keysOf(after!) ? '$.ties.order' : '$.sequence';
  const idsNear = (entries: readonly string[]) => entries.slice(firstDifference, firstDifference + 5).map(idIn);
  return [{ path, old: idsNear(before!), new: idsNear(after!) }];
}

/** Returns the record that a difference concerns: one of a list, or the one that was requested. */
function recordOf({ old: before, new: after }: AnswerPair, { route, path, old: one, new: other }: Difference): Finding['record'] {
  const [kind = ''] = route.split('/');
  const isList = !route.includes('/');
  const [, listedId, rest = ''] = (isList ? /^\$\.\w+\[(\d+)\]\.?(.*)$/.exec(path) : undefined) ?? [];
  if (listedId === undefined && isList) return undefined;
  const records = [before.body, after.body, one, other].flatMap((body) =>
    isRecord(body) ? [body, ...Object.values(body).filter(Array.isArray).flat()] : [],
  );
  const record = records.find(
    (item): item is JsonObject => isRecord(item) && (listedId === undefined ? 'id' in item : String(item.id) === listedId),
  );
  const id = listedId ?? (record ? String(record.id) : /^\w+\/(\d+)$/.exec(route)?.[1]);
  if (id === undefined) return undefined;
  const member = listedId === undefined ? path.replace(/^\$\.?/, '') : rest;
  return termOf(record, member) ?? { route: `${kind}/${id}`, name: nameOf(record), member };
}

/** Returns the category or tag whose member a record shows: it differs in all records that have the term. */
function termOf(record: JsonObject | undefined, path: string): Finding['record'] {
  const [, kind = '', id, member = ''] = /^(categories|tags)\[(\d+)\]\.(.+)$/.exec(path) ?? [];
  if (id === undefined) return undefined;
  const terms = Array.isArray(record?.[kind]) ? record[kind].filter(isRecord) : [];
  return { route: `${kind}/${id}`, name: nameOf(terms.find((term) => String(term.id) === id)), member };
}

const nameOf = (record: JsonObject | undefined): string =>
  [record?.title, record?.organizer, record?.venue, record?.name].find((text) => typeof text === 'string') ?? '';

/** Runs a task for each item of a list, several at a time. */
async function inParallel<T>(
  list: readonly T[],
  { concurrency, onProgress }: VerifyOptions,
  phase: Phase,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  let nextIndex = 0;
  let count = 0;
  const runWorker = async (): Promise<void> => {
    while (nextIndex < list.length) {
      const item = list[nextIndex]!;
      nextIndex += 1;
      await work(item);
      count += 1;
      onProgress?.(phase, count, list.length);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, list.length) }, runWorker));
}
