import type { JSX } from 'preact';
import { type TermChoice, termText } from '../forms/control.ts';
import { idIn, searchIn, textIn } from '../forms/form-values.ts';
import { MAX_TREE_TERMS, termPageOf } from '../forms/term-choices.ts';
import { Link } from '../html/links.tsx';
import type { TermKind } from '../kinds/kind.ts';
import { foundInWords, Pagination } from './lists.tsx';
import { SearchForm } from './search-form.tsx';
import { deskUrl, type Visit } from './visit.ts';

/*
 * The list of categories or tags, with a search.
 */

/** A page of the terms of a kind. */
export interface TermListModel {
  readonly terms: readonly TermChoice[];
  readonly total: number;
  readonly page: number;
  readonly search: string;
}

/** Number of terms on a page. */
const PAGE_SIZE = 200;

/**
 * Returns the page that the URL names. `tree`: all terms in the order of their tree, or as many as one page may show;
 * empty for tags. Categories are in that order, unless they are searched or there are too many.
 */
export async function loadTermList(visit: Visit, kind: TermKind, tree: readonly TermChoice[]): Promise<TermListModel> {
  const { query } = visit.request;
  const search = searchIn(query, 'search');
  const page = idIn(textIn(query, 'page')) || 1;
  if (kind.hierarchical && search === '' && tree.length < MAX_TREE_TERMS) {
    const start = (page - 1) * PAGE_SIZE;
    return { terms: tree.slice(start, start + PAGE_SIZE), total: tree.length, page, search };
  }
  return { ...(await termPageOf(visit, kind.name, { search, page, size: PAGE_SIZE })), page, search };
}

interface TermListProps {
  readonly visit: Visit;
  readonly kind: TermKind;
  readonly list: TermListModel;
}

/** A page of the list of categories or tags, with its search. */
export function TermList({ visit, kind, list: { terms, total, page, search } }: TermListProps): JSX.Element {
  const pages = Math.ceil(total / PAGE_SIZE);
  return (
    <>
      {(search !== '' || total > 0) && <SearchForm visit={visit} path={`/${kind.path}`} search={search} />}
      <p class="quiet">{foundInWords(visit, total, search !== '')}</p>
      <ul class="terms">
        {terms.map((term) => (
          <li key={term.id} class={`depth-${Math.min(term.depth, 4)}`}>
            <Link href={deskUrl(visit, `/${kind.path}/${term.id}`)}>{termText(term)}</Link>
          </li>
        ))}
      </ul>
      <Pagination visit={visit} kind={kind} page={page} pages={pages} />
    </>
  );
}
