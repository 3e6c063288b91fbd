import { bodyOf, countIn, listIn } from './answers.ts';
import { entriesOf } from './record-entries.ts';
import type { PostStage } from './record-losses.ts';
import type { Query } from './site-client.ts';
import { EMPTY_PAGE, endlessListLoss, IN_ALL_LANGUAGES, isEndless, OF_ALL_TIMES, PAGE_SIZE, type Page, type Walk } from './walk.ts';

/** Parameters for whole lists. Events after this period come with the hidden ones (`hiddenEventsPage`). */
const WHOLE_LIST_QUERIES: Readonly<Record<PostStage, Query>> = {
  venues: {},
  organizers: {},
  events: OF_ALL_TIMES,
};

/**
 * Reads a page of a list of venues, organizers or events, without records that were read already.
 *
 * @throws SourceFault `site-refused`, `site-not-json`
 */
export async function readRecords(walk: Walk, stage: PostStage, page: number): Promise<Page> {
  const { site, seenRecords } = walk;
  const answer = await site.get(stage, { ...WHOLE_LIST_QUERIES[stage], ...IN_ALL_LANGUAGES, per_page: PAGE_SIZE, page });
  if (answer.status === 404 && page > 1) return { ...EMPTY_PAGE, isGone: true };
  const body = bodyOf(site, answer);
  const list = listIn(body, stage);
  const unseenRecords = list.filter(({ id }) => !seenRecords.has(`${stage}/${String(id)}`));
  const isLast = page >= (countIn(body, 'total_pages') ?? 0);
  const total = countIn(body, 'total');
  const records = await entriesOf(walk, stage, unseenRecords);
  // Only a list that brings nothing new can be endless without filling the memory.
  const known = unseenRecords.length > 0 ? page : seenCount(walk, stage);
  const hasNoEnd = isEndless(walk, page, list.length, known) && !isLast;
  return {
    entries: hasNoEnd ? [...records, endlessListLoss(walk, stage)] : records,
    isLast: isLast || hasNoEnd,
    length: list.length,
    ...(total === undefined || hasNoEnd ? {} : { total }),
  };
}

/** Returns the number of records of a stage that were read. */
function seenCount({ seenRecords }: Walk, stage: PostStage): number {
  let count = 0;
  for (const place of seenRecords) if (place.startsWith(`${stage}/`)) count += 1;
  return count;
}
