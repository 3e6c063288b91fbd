import type { LossEntry } from '../items/report.ts';
import { namesakesOf, termName } from '../items/term-names.ts';
import { bodyOf, countIn, listIn, validEntries } from './answers.ts';
import { termItem } from './items.ts';
import { type LiveTerm, liveTerm } from './records.ts';
import { EMPTY_PAGE, endlessListLoss, IN_ALL_LANGUAGES, isEndless, MAX_STEPS_BACK, PAGE_SIZE, type Page, type Walk } from './walk.ts';

/**
 * Reads all terms at once, since they reference their parents by id.
 *
 * @throws SourceFault `site-refused`, `site-not-json`
 */
export async function readTerms(walk: Walk, stage: 'categories' | 'tags', first: number): Promise<Page> {
  if (first > 1) return EMPTY_PAGE;
  const { site } = walk;
  const losses: LossEntry[] = [];
  const termsById = new Map<number, LiveTerm>();
  let [before, steps] = [0, 0];
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const answer = await site.get(stage, { ...IN_ALL_LANGUAGES, per_page: PAGE_SIZE, page, hide_empty: 'false' });
    const isGone = answer.status === 404 && page > 1;
    const body = isGone ? {} : bodyOf(site, answer);
    const list = listIn(body, stage);
    for (const term of validEntries(liveTerm, list)) termsById.set(term.id, term);
    const total = countIn(body, 'total') ?? 0;
    const isShorter = total < before && steps < MAX_STEPS_BACK;
    [before, pages] = [total, isShorter ? 1 : (countIn(body, 'total_pages') ?? 0)];
    if (isEndless(walk, page, list.length, termsById.size) && page < pages) {
      losses.push(endlessListLoss(walk, stage));
      break;
    }
    if (isShorter) [page, steps] = [0, steps + 1];
  }
  const kind = stage === 'tags' ? 'tag' : 'category';
  // Terms that share a slug are matched in order, so that the first one has to come first.
  const terms = [...termsById.values()].sort((one, other) => one.id - other.id);
  const namesakes = namesakesOf(terms);
  const namesakeOf = ({ id }: LiveTerm): number => namesakes.get(id) ?? 0;
  const nameOf = (term: LiveTerm | undefined): string | undefined => term && termName(term.slug, namesakeOf(term));
  return {
    entries: [
      ...terms.map((term) => termItem(kind, term, { namesake: namesakeOf(term), parent: nameOf(termsById.get(term.parent)) })),
      ...losses,
    ],
    isLast: true,
  };
}
